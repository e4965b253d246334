"""A headless Chromium for the pages, and the pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cabling.verdict import Verdict
from fabricctl.picture.data import picture_data
from fabricctl.picture.extras import Extras
from fabricctl.picture.page import render
from fabricctl.workflows.picture_extras import picture_extras
from fabricctl.workflows.verify_cabling import Request, judge, load_intent, observe
from tests.conftest import ROOT
from tests.report.report_samples import MADE

DEMO = ROOT / "tests" / "data" / "demo"


def demo_verdict() -> tuple[Verdict, Extras]:
    """The 320-switch fabric with faults, with the example site."""
    request = Request(
        plan=str(DEMO / "cabling.csv.gz"),
        site=str(ROOT / "inventory" / "site.yaml"),
        discovered=[str(DEMO / "ibnetdiscover-faulty.txt.gz")],
    )
    intent = load_intent(request, lambda _: None)
    verdict = judge(intent, observe(request, intent.viewers, lambda _: None))
    return verdict, picture_extras(intent, verdict, made=MADE)


@pytest.fixture(scope="session")
def demo() -> tuple[Verdict, Extras]:
    return demo_verdict()


@pytest.fixture(scope="session")
def demo_page(demo: tuple[Verdict, Extras], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("demo") / "report.html", *demo)


def write_page(path: Path, verdict: Verdict, extras: Extras | None = None) -> Path:
    path.write_text(render(picture_data(verdict, extras)), encoding="utf-8")
    return path


@dataclass
class Browser:
    """Opens pages and remembers what they complained about and asked for."""

    chromium: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, path: Path, anchor: str = "", *, ready: bool = True, **context: Any) -> Any:
        """A page in a context of its own. :param ready: wait until the script has drawn it."""
        context.setdefault("viewport", {"width": 1280, "height": 800})
        page = self.chromium.new_context(**context).new_page()
        page.on(
            "console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri() + (f"#{anchor}" if anchor else ""))
        if ready:
            page.wait_for_selector("html.live")
        return page


@pytest.fixture
def browser(chromium: Any) -> Iterator[Browser]:
    """A page that complains fails its test."""
    one = Browser(chromium)
    yield one
    for context in list(chromium.contexts):
        context.close()
    assert one.complaints == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in one.requests)
