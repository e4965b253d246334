// What the canvases share: colours of the theme, hatching, sharp pixels, motion by frames.

let ink = {};
function readInk() {
  const style = getComputedStyle(document.documentElement);
  const get = name => style.getPropertyValue("--" + name).trim();
  ink = Object.fromEntries(["bg", "card", "ink", "dim", "line", "faint", "soft", "link", "ok", "missing", "miswired",
    "swapped", "degraded", "unknown", "stray", "sans"].map(name => [name, get(name)]));
  ink.islands = [1, 2, 3, 4, 5, 6, 7, 8].map(n => get("island" + n));
  ink.hatch = null;
}

/** Unknown is hatched, everywhere. */
function hatch(ctx) {
  if (ink.hatch) return ink.hatch;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const c = tile.getContext("2d");
  c.fillStyle = ink.soft; c.fillRect(0, 0, 6, 6);
  c.strokeStyle = ink.unknown; c.lineWidth = 1;
  c.beginPath(); c.moveTo(-1, 7); c.lineTo(7, -1); c.moveTo(-1, 1); c.lineTo(1, -1); c.moveTo(5, 7); c.lineTo(7, 5); c.stroke();
  return ink.hatch = ctx.createPattern(tile, "repeat");
}

/** Make a canvas as fine as the screen; returns its context and its size in CSS pixels. */
function sharpen(canvas) {
  const ratio = Math.min(devicePixelRatio || 1, 2), w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const ctx = canvas.getContext("2d", {alpha: false});
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  return {ctx, w, h};
}

/** Draw at most once a frame. */
function redrawer(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/** Wheel, drag, two fingers: what a canvas needs of them. */
function gestures(canvas, {zoom, pan, hover, click, twice}) {
  const fingers = new Map();
  let moved = 0, last = null, spread = 0;
  const at = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const dx = event.deltaX * unit, dy = event.deltaY * unit;
    if (event.shiftKey && !dx) pan(-dy, 0);
    else if (Math.abs(dx) > Math.abs(dy)) pan(-dx, 0);
    else zoom(Math.exp(-clamp(dy, -240, 240) * 0.0022), ...at(event));
  }, {passive: false});
  canvas.addEventListener("pointerdown", event => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    moved = 0; last = at(event); spread = 0;
  });
  canvas.addEventListener("pointermove", event => {
    const here = at(event);
    if (!fingers.has(event.pointerId)) { hover(...here); return; }
    fingers.set(event.pointerId, here);
    if (fingers.size === 2) {
      const [p, q] = [...fingers.values()], wide = Math.max(20, Math.hypot(p[0] - q[0], p[1] - q[1]));
      const mid = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
      if (spread) { zoom(wide / spread, ...mid); pan(mid[0] - last[0], mid[1] - last[1]); }
      spread = wide; last = mid; moved = 99;
      return;
    }
    moved += Math.abs(here[0] - last[0]) + Math.abs(here[1] - last[1]);
    if (moved > 4) { canvas.classList.add("dragging"); pan(here[0] - last[0], here[1] - last[1]); hover(-1, -1); }
    last = here;
  });
  const up = event => {
    if (fingers.delete(event.pointerId) && event.type === "pointerup" && moved <= 4) click(...at(event));
    canvas.classList.remove("dragging");
    spread = 0;
    if (fingers.size) last = [...fingers.values()][0];
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => { if (!fingers.size) hover(-1, -1); });
  canvas.addEventListener("dblclick", event => { event.preventDefault(); twice(...at(event)); });
}

/** The box beside the pointer. */
function tip(lines, x, y, canvas) {
  const box = $("tip");
  if (!lines) { box.hidden = true; return; }
  box.replaceChildren(...lines.filter(Boolean).map((text, n) => el(n ? "span" : "b", {text})));
  box.hidden = false;
  const stage = canvas.getBoundingClientRect();
  const left = clamp(stage.left + x + 14, 4, innerWidth - box.offsetWidth - 4);
  const below = stage.top + y + 16;
  const top = below + box.offsetHeight > innerHeight - 4 ? stage.top + y - box.offsetHeight - 10 : below;
  box.style.left = left + "px";
  box.style.top = Math.max(4, top) + "px";
}
