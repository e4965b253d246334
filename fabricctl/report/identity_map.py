"""Identities as an ib-node-name-map: ``0xGUID "name"``, for ibnetdiscover, iblinkinfo, ibqueryerrors and OpenSM.

What is not certain is a comment (rdma-core ``util/node_name_map.c`` skips lines that start with ``#``).
"""

from __future__ import annotations

from fabricctl.hostset import natural_key
from fabricctl.identity.model import Identification
from fabricctl.words import clean, printable


def render(found: Identification) -> str:
    """The file's text."""
    lines = ["# switches identified by fabricctl; what is not certain is a comment"]
    if found.refusal is not None:
        lines += [f"# {_one_line(text)}" for text in found.refusal.evidence]
        return "\n".join(lines) + "\n"
    lines += [f"# assumed: {_one_line(text)}" for text in found.assumed]
    for key, name in sorted(found.names.items(), key=lambda item: (natural_key(item[1]), item[0])):
        lines.append(f'{key} "{_quoted(name)}"')
    for number, ambiguity in enumerate(found.ambiguities, 1):
        for index, hypothesis in enumerate(ambiguity.hypotheses, 1):
            lines.append(f"# ambiguity {number}, hypothesis {index}: {_one_line(hypothesis.words)}")
            lines += [f'# {seen} "{_quoted(found.name(planned))}"' for seen, planned in hypothesis.names]
    lines += [f"# {key} fits no place of the plan" for key in found.unplaced]
    lines += [f"# not found: {found.name(key)}" for key in found.unfilled]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(printable(clean(text)).split())


def _quoted(name: str) -> str:
    return _one_line(name).replace('"', "'")
