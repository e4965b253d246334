"""Pages of runs that judged only a part, fell into islands, could not tell, or have an earlier one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cabling.verdict import Options, Verdict
from fabricctl.cabling.verify import verify
from fabricctl.discovery.model import Observation
from fabricctl.discovery.recognise import parse_any
from fabricctl.errors import InputError
from fabricctl.identity.model import Ambiguity, Hypothesis, Identification
from fabricctl.picture.data import picture_data
from fabricctl.picture.extras import Extras
from fabricctl.picture.former import compared, read_former
from fabricctl.picture.page import render
from fabricctl.picture.svg import render_svg
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.report.causes_words import summary
from fabricctl.report.json_report import to_json
from fabricctl.workflows.picture_extras import check_former, picture_extras
from fabricctl.workflows.verify_cabling import Intent, Request, judge, load_intent, observe
from tests.cabling.fabrics import guid, plan, seen, two_tier, without
from tests.conftest import ROOT
from tests.picture.conftest import DEMO, Browser, write_page
from tests.picture.test_page_in_browser import items, settled
from tests.picture.test_svg import texts
from tests.report.report_samples import MADE
from tests.sim.netgen import SHAPES, Net, Wiring, build, discovery_lines

Demo = tuple[Verdict, Extras]
Narrow = tuple[Intent, Observation, Verdict]


def observed(net: Net) -> Any:
    return parse_any("\n".join(discovery_lines(net)), "seen")


@pytest.fixture(scope="session")
def narrow() -> tuple[Intent, Observation, Verdict]:
    """The demo, judged for scalable unit 4 alone."""
    request = Request(
        plan=str(DEMO / "cabling.csv.gz"),
        site=str(ROOT / "inventory" / "site.yaml"),
        discovered=[str(DEMO / "ibnetdiscover-faulty.txt.gz")],
        only="su:4",
    )
    intent = load_intent(request, lambda _: None)
    observation = observe(request, intent.viewers, lambda _: None)
    return intent, observation, judge(intent, observation)


@pytest.fixture(scope="session")
def only_page(narrow: Narrow, tmp_path_factory: pytest.TempPathFactory) -> Path:
    intent, _, verdict = narrow
    return write_page(
        tmp_path_factory.mktemp("only") / "only.html", verdict, picture_extras(intent, verdict, made=MADE)
    )


# -- what was not judged ------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_page", [False, True])
def test_the_command_itself_calls_nothing_gone_that_it_did_not_look_at(
    narrow: Narrow, demo: Demo, as_page: bool
) -> None:
    intent, observation, verdict = narrow
    text = render(picture_data(*demo)) if as_page else to_json(demo[0])
    former = read_former(text, "whole")
    assert len(former.where) == 26  # of every finding, from the JSON report too
    check_former(former, verdict, "whole")
    extras = picture_extras(intent, verdict, made=MADE, former=former, observation=observation)
    change = picture_data(verdict, extras)["compare"]
    assert (change["status"], change["gone"], len(change["unlooked"])) == ([0, 0, 0], [], 23)
    assert "23 not looked at" in render(picture_data(verdict, extras))
    again = read_former(render(picture_data(verdict, extras)), "narrow")
    assert compared(again, [one["id"] for one in former.findings])["status"] == [0] * 26


def test_an_unseen_device_hides_a_finding_and_a_repaired_cable_is_gone() -> None:
    """An uplink of leaf1 and one of leaf2 were out; then leaf2 and spine2 are not discovered, leaf1's is repaired."""
    cables = two_tier()
    first, other = (next(c for c in cables if (c[0], c[2]) == (f"leaf{n}", f"spine{n}")) for n in (1, 2))
    before = verify(plan(cables), seen(without(cables, first, other)))
    former = read_former(to_json(before), "before.json")
    observation = seen([c for c in cables if not {"leaf2", "spine2"} & {c[0], c[2]}])
    now = verify(plan(cables), observation)
    intent = Intent(plan(cables), Options())
    extras = picture_extras(intent, now, made=MADE, former=former, observation=observation)
    change = picture_data(now, extras)["compare"]
    place = {one["id"]: str(former.where[one["id"]]) for one in former.findings}
    assert any(text.startswith("leaf1/") for text in (place[one["id"]] for one in change["gone"]))
    assert any(text.startswith("leaf2/") for text in (place[one["id"]] for one in change["unlooked"]))
    assert not any("leaf2" in place[one["id"]] for one in change["gone"])


def test_the_command_refuses_a_report_of_another_fabric(narrow: Narrow) -> None:
    cables = two_tier()
    former = read_former(to_json(verify(plan(cables), seen(cables[1:]))), "other.json")
    with pytest.raises(
        InputError, match=r"^other\.json: expected a report of this fabric or plan, found one"
    ):
        check_former(former, narrow[2], "other.json")


def test_outside_only_nothing_is_called_gone(
    browser: Browser, only_page: Path, demo: Demo, demo_page: Path, tmp_path: Path
) -> None:
    """Of the 26 findings of the whole fabric two are of unit 4; the 24 others are not looked at, not repaired."""
    as_json = tmp_path / "whole.json"
    as_json.write_text(to_json(demo[0]), encoding="utf-8")
    page = browser.open(only_page, "v=changes")
    for file in (as_json, demo_page):
        page.set_input_files("#earlier", file)
        page.wait_for_selector("#changed")
        words = page.inner_text("#changed").lower()
        assert " gone" not in words
        assert words.endswith("23 not looked at, 3 still there"), words


def test_a_cable_that_was_judged_and_is_right_is_gone(
    browser: Browser, only_page: Path, demo_page: Path, tmp_path: Path
) -> None:
    """A finding of unit 4 that the narrow run would have shown."""
    text = demo_page.read_text("utf-8")
    start = text.index('id="data">') + len('id="data">')
    data = json.loads(text[start : text.index("</script>", start)])
    cable = {
        "id": "F-000000000001",
        "kind": "missing",
        "headline": "was out",
        "w": [[[["ibl-p04-r1", 33]]], []],
    }
    far = {
        "id": "F-000000000002",
        "kind": "missing",
        "headline": "far away",
        "w": [[[["ibl-p05-r1", 33]]], []],
    }
    data["findings"] = [cable, far]
    earlier = tmp_path / "earlier.html"
    earlier.write_text(
        f'<script type="application/json" id="data">{json.dumps(data)}</script>', encoding="utf-8"
    )
    page = browser.open(only_page, "v=changes")
    page.set_input_files("#earlier", earlier)
    page.wait_for_selector("#changed")
    assert page.inner_text("#changed").lower() == "3 new, 1 gone, 1 not looked at, 0 still there"


def test_a_report_of_another_fabric_is_refused_in_words(
    browser: Browser, demo_page: Path, tmp_path: Path
) -> None:
    cables = two_tier()
    other = tmp_path / "other.json"
    other.write_text(to_json(verify(plan(cables), seen(cables[1:]))), encoding="utf-8")
    page = browser.open(demo_page, "v=changes")
    page.set_input_files("#earlier", other)
    page.wait_for_selector("#changes [role=alert]")
    assert "another fabric or plan: 0 of its 4 switches are among the 320 here" in page.inner_text("#changes")


def test_only_is_in_the_legends_and_the_rest_is_not_drawn_healthy(browser: Browser, only_page: Path) -> None:
    page = browser.open(only_page, "p=&s=p%3Aibl-p05-r1%7Cibs-p05-s1")
    assert "outside su:4: not judged" in page.inner_text("#legend")
    assert "planned 4: not asked, so not judged" in page.inner_text("#detail dl")
    page.click("#tab-matrix")
    assert "outside su:4: not asked" in page.inner_text("#matrixbar")


def test_an_unasked_cable_that_lies_elsewhere_is_no_fault() -> None:
    """gpu3 and gpu4 are exchanged, only gpu1 is asked for."""
    cables = two_tier()
    wrong = without(cables, *(c for c in cables if c[0] in ("gpu3 mlx5_0", "gpu4 mlx5_0")))
    ends = {c[0]: c for c in cables if c[0] in ("gpu3 mlx5_0", "gpu4 mlx5_0")}
    a, b = ends["gpu3 mlx5_0"], ends["gpu4 mlx5_0"]
    wrong += [(a[0], a[1], *b[2:]), (b[0], b[1], *a[2:])]
    data = picture_data(verify(plan(cables), seen(wrong), Options(only="gpu1")))
    assert {stray[4] for stray in data["links"]["stray"]} == {4}
    assert data["findings"] == []
    said = texts(render_svg(data))
    assert any("outside gpu1: not judged" in text for text in said)
    assert not any(text.startswith("+2") or text == "+1" for text in said)


# -- one count of causes ------------------------------------------------------------------------------------


def test_page_paper_and_svg_count_causes_as_the_screen(
    browser: Browser, demo_page: Path, demo: Demo, tmp_path: Path
) -> None:
    explanation = demo[0].explanation
    assert explanation is not None
    assert len(explanation.systematic) == 1
    assert len(explanation.swaps) == 5
    page = browser.open(demo_page)
    facts = page.inner_text("#facts")
    assert "1 cause" in facts
    assert "10 links are plain exchanges of two" in facts
    page.select_option("#f-cause", "swap")
    assert len(items(page)) == 5
    data = picture_data(*demo)
    assert summary(explanation) in render(data)
    assert (
        sum("links)" in text and "10 links are plain exchanges" in text for text in texts(render_svg(data)))
        == 1
    )


# -- keys and links -----------------------------------------------------------------------------------------


def test_slash_leaves_a_finding_and_escape_first_clears_then_leaves(
    browser: Browser, demo_page: Path
) -> None:
    page = browser.open(demo_page)
    page.keyboard.press("j")
    assert page.locator("body.selected").count() == 1
    page.keyboard.press("/")
    assert page.locator("body.selected").count() == 0
    page.keyboard.type("D10")
    settled(page, lambda text: " of " in text, "document.querySelector('#count').textContent")
    focused = "document.activeElement.id"
    page.keyboard.press("Escape")
    assert (page.input_value("#q"), page.evaluate(focused)) == ("", "q")
    settled(page, lambda text: text.startswith("26 findings"), "document.querySelector('#count').textContent")
    page.keyboard.press("Escape")
    assert page.evaluate(focused) != "q"


def test_a_link_to_a_finding_that_is_not_there_says_so(browser: Browser, demo_page: Path) -> None:
    page = browser.open(demo_page, "F-0123456789ab")
    assert page.inner_text("#lost") == "F-0123456789ab is not in this report (repaired, or another run)"
    page.keyboard.press("j")
    assert not page.is_visible("#lost")


# -- search and filters -------------------------------------------------------------------------------------


def test_filters_for_rail_and_cause(browser: Browser, demo_page: Path, demo: Demo) -> None:
    page = browser.open(demo_page)
    page.select_option("#f-rail", "rail 3")
    found = items(page)
    told = [f.headline for f in demo[0].findings if "gpu173 mlx5_2" in f.devices]
    assert len(told) == 1
    assert told[0] in found  # HCA mlx5_2 is rail 3 of the example site
    page.click("#clear")
    page.select_option("#f-cause", "0")
    assert all("ibl-p08-r5" in text for text in items(page))
    assert len(items(page)) >= 1


def test_search_finds_cables_by_label_and_serial_and_devices_by_serial(
    browser: Browser, tmp_path: Path
) -> None:
    lines = ["a,a_port,b,b_port,cable,serial"]
    lines += [f"{a},{ap},{b},{bp},L{n:03},MT99X{n:04}" for n, (a, ap, b, bp) in enumerate(two_tier())]
    source = tmp_path / "plan.csv"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    from fabricctl.workflows.load_plan import load_plan_file

    intended = load_plan_file(str(source), None, None)
    leaf = next(key for key, node in intended.fabric.nodes.items() if node.name == "leaf2")
    extras = Extras(serials={leaf: "MTSERIAL77"})
    page = browser.open(write_page(tmp_path / "page.html", verify(intended, seen(two_tier()[1:])), extras))
    count = "document.querySelector('#list').textContent"
    for typed, told in (("l003", "L003: "), ("mt99x0003", "L003: "), ("mtserial77", "leaf2")):
        page.fill("#q", typed)
        settled(page, lambda text, told=told: told in text, count)
    page.fill("#q", "l000")  # the label of the cable that is missing
    settled(page, lambda text: text.startswith("1 of "), "document.querySelector('#count').textContent")


def test_serials_of_the_site_reach_the_page(demo: Demo) -> None:
    from dataclasses import replace

    request = Request(
        plan=str(DEMO / "cabling.csv.gz"),
        site=str(ROOT / "inventory" / "site.yaml"),
        discovered=[str(DEMO / "ibnetdiscover-faulty.txt.gz")],
    )
    intent = load_intent(request, lambda _: None)
    assert intent.site is not None
    site = intent.site.model_copy(
        update={"identities": {"MT1234X00001": "ibc-01", "0x0c42a10300000001": "ibl-p01-r1"}}
    )
    data = picture_data(demo[0], picture_extras(replace(intent, site=site), demo[0], made=MADE))
    cores = data["nodes"]["switches"]["name"].index("ibc-01")
    assert data["nodes"]["serials"] == {str(cores): "MT1234X00001"}


# -- islands ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def islands() -> Verdict:
    """Leaves cabled per rail: eight islands where one is planned."""
    wired = build(SHAPES["hall"], Wiring.PLANES)
    return verify(plan_from_observation(observed(build(SHAPES["hall"]))), observed(wired))


def test_islands_have_letters_and_a_legend_on_page_and_svg(
    browser: Browser, islands: Verdict, tmp_path: Path
) -> None:
    number = len(islands.islands.seen)
    assert number > 1
    letters = "ABCDEFGHIJ"[: min(number, 9)]
    page = browser.open(write_page(tmp_path / "islands.html", islands))
    assert page.locator("#legend .island i").all_text_contents() == list(letters)
    said = texts(render_svg(picture_data(islands)))
    assert all(said.count(one) >= 4 for one in letters)  # core, spine, leaf, legend
    assert sum("island of" in text for text in said) == len(letters)
    assert any(re.fullmatch(r"A.[A-Z]|[A-Z]", text) for text in said)


# -- what cannot be told apart ------------------------------------------------------------------------------


def unsure() -> tuple[Verdict, Extras]:
    cables = two_tier()
    known = Identification(
        ambiguities=[
            Ambiguity(
                (guid("leaf1"), guid("leaf2")),
                (
                    Hypothesis("the host bundles are exchanged", ((guid("leaf1"), "leaf1"),), 8, 0),
                    Hypothesis("they stand in each other's place", ((guid("leaf1"), "leaf2"),), 8, 2),
                ),
                ("read the serial at B07 U31",),
            )
        ]
    )
    return replace(verify(plan(cables), seen(cables)), identification=known), Extras()


def test_an_ambiguity_stands_in_the_list_and_on_paper(browser: Browser, tmp_path: Path) -> None:
    verdict, extras = unsure()
    page = browser.open(write_page(tmp_path / "page.html", verdict, extras))
    assert page.inner_text("#count") == "0 findings, 1 ambiguity"
    entry = page.inner_text("#list .item")
    for words in (
        "the host bundles are exchanged (8 moves)",
        "each other's place",
        "read the serial at B07 U31",
    ):
        assert words in entry
    page.click("#list .item")
    assert "What decides" in page.inner_text("#detail")
    settled(page, lambda text: text == "s=a%3A0")
    paper = page.inner_html("#paper")
    assert "Switches that cannot be told apart" in paper
    assert "read the serial at B07 U31" in paper


# -- sizes and paper ----------------------------------------------------------------------------------------


def test_a_phone_shows_counts_and_causes_whole(browser: Browser, demo_page: Path) -> None:
    page = browser.open(demo_page, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (
        page.evaluate(
            "document.querySelector('#counts').scrollWidth - document.querySelector('#counts').clientWidth"
        )
        <= 0
    )
    assert page.is_visible("#made")


def test_the_header_names_what_was_read(browser: Browser, demo_page: Path) -> None:
    for width in (1280, 900, 390):
        page = browser.open(demo_page, viewport={"width": width, "height": 800})
        shown = page.inner_text("#made")
        assert "plan cabling.csv.gz" in shown
        assert "found ibnetdiscover-faulty.txt.gz" in shown


def test_a_long_name_is_shortened_with_an_ellipsis(browser: Browser, tmp_path: Path) -> None:
    cables = two_tier()
    observation = seen(cables)
    verdict = verify(plan(cables), observation)
    verdict.plan_path = "plans/" + "long-name-" * 12 + ".csv"
    page = browser.open(write_page(tmp_path / "page.html", verdict))
    box = "[...document.querySelectorAll('#made span')].find(s => s.textContent.includes('long-name'))"
    assert page.evaluate(f"getComputedStyle({box}).textOverflow") == "ellipsis"
    assert page.evaluate(f"{box}.scrollWidth > {box}.clientWidth && {box}.clientWidth > 100")


def test_words_of_the_causes_are_not_broken_and_the_work_order_is_named(
    browser: Browser, demo_page: Path
) -> None:
    page = browser.open(
        demo_page, ready=False, java_script_enabled=False, viewport={"width": 720, "height": 900}
    )
    assert "fabricctl work-order make" in page.inner_text("#paper")
    word = page.locator("#paper td.word").first
    assert word.inner_text() in ("certain", "likely")
    assert word.bounding_box()["height"] > 0
    assert page.locator("#paper td.word").first.evaluate("e => getComputedStyle(e).whiteSpace") == "nowrap"
