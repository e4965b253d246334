"""How fluid the page is and how big it may get: figures are printed with ``-s``; limits are ratios, not seconds.

Frames are drawn by software here. What can be judged anywhere is how a frame with the fabric compares with a frame that
only clears a canvas of the same size, in the same browser, one after the other.
"""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from fabricctl.cabling.verdict import Verdict
from fabricctl.cabling.verify import verify
from fabricctl.discovery.recognise import parse_any
from fabricctl.picture.data import picture_data
from fabricctl.picture.extras import Extras
from fabricctl.picture.page import render
from fabricctl.picture.svg import render_svg
from fabricctl.plan.snapshot import plan_from_observation
from tests.picture.conftest import Browser, write_page
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, Wiring, build, discovery_lines

FRAMES = """async ([id, still]) => {
  const canvas = document.getElementById(id), box = canvas.getBoundingClientRect(), times = [];
  const blank = document.createElement("canvas"), ctx = blank.getContext("2d", {alpha: false});
  if (still) {
    blank.width = canvas.width; blank.height = canvas.height;
    Object.assign(blank.style, {position: "fixed", zIndex: 99});
    for (const side of ["left", "top", "width", "height"]) blank.style[side] = box[side] + "px";
    document.body.append(blank);
  }
  const frame = () => new Promise(requestAnimationFrame);
  let last = await frame();
  for (let i = 0; i < 90; i++) {
    if (still) { ctx.fillStyle = i % 2 ? "#fff" : "#eee"; ctx.fillRect(0, 0, blank.width, blank.height); }
    else {
      const zoom = i < 30 ? -60 : i < 60 ? 0 : 60, way = {deltaY: zoom, deltaX: zoom ? 0 : 40};
      const at = {clientX: box.left + box.width / 2, clientY: box.top + 200};
      canvas.dispatchEvent(new WheelEvent("wheel", {bubbles: true, cancelable: true, ...way, ...at}));
    }
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  blank.remove();
  return times.slice(5);
}"""
"""Ninety frames: thirty of zooming in, thirty of panning, thirty of zooming out; or of clearing an empty canvas."""


def frames(page: Any, canvas: str) -> tuple[list[float], list[float]]:
    """Durations in ms of frames with the fabric, and of frames of an empty canvas of the same size."""
    return tuple(page.evaluate(FRAMES, [canvas, still]) for still in (False, True))  # type: ignore[return-value]


def figures(times: list[float]) -> str:
    return f"median {statistics.median(times):.1f} ms, 95th percentile {statistics.quantiles(times, n=20)[18]:.1f} ms"


def faulty_page(kind: str, path: Path) -> Path:
    """320 switches in eight islands, or with 3,500 bad cables."""
    islands, faults = kind == "islands", ("dead-spine", "swap:800", "host-swap:600", "missing:700")
    planned, real = build(SHAPES["hall"]), build(SHAPES["hall"], Wiring.PLANES if islands else None)
    if not islands:
        inject(real, faults, random.Random(1))
    plan, seen = (parse_any("\n".join(discovery_lines(net)), "x") for net in (planned, real))
    verdict = verify(plan_from_observation(plan), seen)
    assert verdict.counts.bad > 3000
    return write_page(path / f"{kind}.html", verdict)


@pytest.mark.slow  # not beside another worker: frames want the processor to themselves
@pytest.mark.parametrize("kind", ["demo", "islands", "bad"])
@pytest.mark.parametrize("canvas", ["map", "matrix"])
def test_zooming_and_panning_stay_fluid(
    browser: Browser, demo_page: Path, tmp_path: Path, canvas: str, kind: str
) -> None:
    page = browser.open(demo_page if kind == "demo" else faulty_page(kind, tmp_path), f"v={canvas}")
    page.wait_for_timeout(500)
    for _ in range(4):  # other processes may take the processor for a moment
        drawn, empty = frames(page, canvas)
        median, tail = statistics.median(drawn), statistics.quantiles(drawn, n=20)[18]
        usual = statistics.median(empty)
        print(f"\n{kind} {canvas}: {figures(drawn)}; empty canvas: {figures(empty)}")
        if median < 2.5 * usual and tail < 8 * usual:
            return
    pytest.fail(
        f"{kind} {canvas}: {median / usual:.1f} and {tail / usual:.1f} times the frame of an empty canvas"
    )


def test_320_switches_take_little_room(demo: tuple[Verdict, Extras]) -> None:
    start = process_time()
    data = picture_data(*demo)
    made = process_time()
    page, picture = render(data), render_svg(data)
    drawn = process_time()
    print(
        f"\ndata {made - start:.2f} s, page and svg {drawn - made:.2f} s, {len(page):,} and {len(picture):,} bytes"
    )
    assert len(page.encode()) < 1_500_000


@pytest.mark.slow
def test_eight_thousand_switches_can_be_drawn_and_opened(browser: Browser, tmp_path: Path) -> None:
    planned, real = build(SHAPES["campus"]), build(SHAPES["campus"])
    inject(real, ("dead-spine", "swap:20", "missing:40", "dead-core"), random.Random(3))
    plan, seen = (parse_any("\n".join(discovery_lines(net)), "x") for net in (planned, real))
    verdict = verify(plan_from_observation(plan), seen)
    start = process_time()
    data = picture_data(verdict)
    page, picture = render(data), render_svg(data)
    print(f"\n{process_time() - start:.1f} s, {len(page):,} and {len(picture):,} bytes")
    assert len(page) < 12_000_000
    assert len(picture) < 1_000_000
    opened = browser.open(write_page(tmp_path / "campus.html", verdict))
    assert "307,200" in opened.inner_text("#counts")
    opened.keyboard.press("j")
    assert opened.inner_text("#detail h2")
    for canvas in ("map", "matrix"):
        opened.click(f"#tab-{canvas}")
        drawn, _ = frames(opened, canvas)
        print(f"{canvas}: {figures(drawn)}")
        assert statistics.median(drawn) < 2000
