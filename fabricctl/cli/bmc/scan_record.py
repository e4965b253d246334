"""``fabricctl bmc scan --record``: service tags that were learned go into the node records."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabricctl.cli.changing import consent
from fabricctl.cli.state_options import Format
from fabricctl.words import many

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabricctl.site.schema import Site


def record_learned(
    learned: Mapping[str, str], site: Site, state: str, format: Format, *, yes: bool, each: bool
) -> None:
    """Show what would be recorded, ask, record. A host that has a tag is never among them."""
    from fabricctl.workflows.state_place import locate, operator
    from provision.report.common import SHOWN
    from provision.workflows.scan import record_tags

    if not learned:
        _tell("no service tag to record: every host has one, or its BMC told none", format)
        return
    shown = list(learned.items()) if each else list(learned.items())[:SHOWN]
    for host, tag in shown:
        _tell(f"{host}  service tag (nothing) -> {tag}", format)
    if len(shown) < len(learned):
        _tell(f"and {len(learned) - len(shown):,} more: --each lists them", format)
    _tell(
        f"record {many(len(learned), 'service tag')}: check the labels of some machines first, for crossed BMC "
        "cables look the same from here",
        format,
    )
    consent(len(learned), yes=yes)
    record_tags(locate(site, state), site.name, learned, who=operator(), now=datetime.now(UTC))
    _tell(f"{many(len(learned), 'service tag')} recorded", format)


def _tell(text: str, format: Format) -> None:
    from fabricctl.cli.console import print_lines, say

    if format is Format.TEXT:
        print_lines([((text, ""),)])
    else:
        say(text)
