"""Which If-Match a PATCH carries, and which one next when the BMC refuses it."""

from __future__ import annotations

from collections.abc import Iterator


def ladder(first: str, anew: str) -> Iterator[str]:
    """If-Match values to try one after the other, each once; an empty one means none is sent.

    The exact value first; on a 412 the one read anew (https://github.com/dell/iDRAC-Redfish-Scripting/issues/354: the
    tag changes between a read and the PATCH); then without the weak mark, as services compare strongly (RFC 9110
    wants that) while handing out weak tags; then none, for services that cannot match their own.

    :param first: the tag known when the PATCH was refused; :param anew: the one of a fresh read.
    """
    seen = {first}
    for tag in (anew, strong(anew), ""):
        if tag not in seen:
            seen.add(tag)
            yield tag


def strong(tag: str) -> str:
    """The tag without the mark of a weak one."""
    return tag[2:] if tag.startswith("W/") else tag
