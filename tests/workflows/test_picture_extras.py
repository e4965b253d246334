"""What the picture shows beside the verdict comes from the site file."""

from __future__ import annotations

from datetime import UTC, date, datetime

from fabricctl.site.load import load_site
from fabricctl.workflows.picture_extras import picture_extras
from fabricctl.workflows.site_context import SiteContext
from fabricctl.workflows.verify_cabling import Intent, judge
from tests.cabling.fabrics import Cable as Wire
from tests.cabling.fabrics import guid, plan, seen
from tests.site.site_texts import SMALL


def test_serials_are_those_of_devices_a_site_file_declares_by_one() -> None:
    text = SMALL + f"identities:\n  MT2123X00001: leaf1\n  {guid('leaf2')}: leaf2\n"
    site = load_site(text, "site.yaml")
    cables: list[Wire] = [("leaf1", 1, "spine1", 1), ("leaf2", 1, "spine1", 2)]
    options = SiteContext(site).options("one", {}, date(2026, 1, 1))
    intent = Intent(plan(cables), options, site=site)
    extras = picture_extras(intent, judge(intent, seen(cables)), made=datetime(2026, 1, 1, tzinfo=UTC))
    assert extras.serials == {"leaf1": "MT2123X00001"}
