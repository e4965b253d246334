// The map under pointer and keys.

const redrawMap = redrawer(drawMap);

function hitAt(x, y) {
  for (let i = boxesHit.length - 1; i >= 0; i--) {
    const b = boxesHit[i];
    if (x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1) return b;
  }
  let best = null, near = 5;
  for (const band of linesHit) {
    if (x < Math.min(band.x1, band.x2) - 6 || x > Math.max(band.x1, band.x2) + 6) continue;
    const d = distance(x, y, band);
    if (d < near) { near = d; best = band; }
  }
  return best;
}

function distance(x, y, s) {
  const dx = s.x2 - s.x1, dy = s.y2 - s.y1, long = dx * dx + dy * dy;
  const t = long ? clamp(((x - s.x1) * dx + (y - s.y1) * dy) / long, 0, 1) : 0;
  return Math.hypot(x - s.x1 - t * dx, y - s.y1 - t * dy);
}

/** What stands under the pointer, in words. */
function hitWords(hit) {
  if (hit.port !== undefined) {
    const id = Math.floor(hit.port / 8192), port = hit.port % 8192;
    return [endFull(id, port), ...portWords(id, port)];
  }
  if (hit.device !== undefined) return [nameOf(hit.device), ...portWords(hit.device, 1)];
  if (hit.cell !== undefined) return cellWords(hit.cell);
  if (hit.link !== undefined) return [linkText(hit.link), linkWords(hit.link)];
  if (hit.stray !== undefined) return [strayText(hit.stray), STRAYS[links.stray[hit.stray][4]]];
  const band = hit.band ?? hit;
  if (band.pair) {
    const [a, b] = band.level === 0 ? [groups[band.pair.a].title, groups[band.pair.b].title] : [nameOf(band.pair.a), nameOf(band.pair.b)];
    return [`${a} \u2013 ${b}`, pairWords(band.pair)];
  }
  const g = groups[hit.group];
  return [`${g.title} (${TIERS[g.tier] ?? "switches"})`, plural(g.n, g.tier ? "switch" : "host", g.tier ? "switches" : "hosts"), "double-click to open"];
}

function cellWords(cell) {
  const lines = [nameOf(cell), placeOf(cell)], what = stateOf(cell);
  if (what !== SEEN) lines.push(STATES[what]);
  if (ambiguityOf.has(cell)) lines.push("which device this is cannot be told from here");
  if (manyIslands && islandOf(cell) >= 0) lines.push(`island ${letter(islandOf(cell))}`);
  const n = (findingsOfCell.get(cell) ?? []).length;
  if (n) lines.push(plural(n, "finding") + ": " + F[findingsOfCell.get(cell)[0]].headline);
  return lines;
}

/** What a click on it selects. */
function hitSel(hit) {
  if (hit.port !== undefined) {
    const l = linkAt.get(hit.port), s = strayAt.get(hit.port);
    return l !== undefined ? {l} : s !== undefined ? {s} : {d: Math.floor(hit.port / 8192)};
  }
  if (hit.device !== undefined) return {d: hit.device};
  if (hit.cell !== undefined) return {d: hit.cell};
  if (hit.link !== undefined) return {l: hit.link};
  if (hit.stray !== undefined) return {s: hit.stray};
  const band = hit.band ?? hit;
  if (band.pair) return band.level === 0 ? {g: byTier(band.pair.a, band.pair.b)[0]} : {p: [band.pair.a, band.pair.b]};
  return {g: hit.group};
}

function zoomBy(factor, px) {
  const before = zoomNow(), k = clamp(before * factor, 1, maxZoom());
  const s0 = fitScale() * before, s1 = fitScale() * k;
  const left0 = clamp(state.x, 0, 1) * Math.max(0, worldWidth - plotWidth() / s0);
  const at = left0 + (px - GUTTER() - inset(s0)) / s0;
  setLeft(at - (px - GUTTER() - inset(s1)) / s1, k);
}

function setLeft(left, k) {
  stir();
  const room = worldWidth - plotWidth() / (fitScale() * k);
  update({k, x: room > 1e-9 ? clamp(left / room, 0, 1) : 0});
}

const panBy = dx => {
  const s = fitScale() * zoomNow(), left = state.x * Math.max(0, worldWidth - plotWidth() / s);
  setLeft(left - dx / s, zoomNow());
};

/** Bring a stretch of the world into view. */
function showWorld(x0, x1, share = 0.8, most = maxZoom()) {
  const k = clamp(plotWidth() * share / Math.max(0.5, x1 - x0) / fitScale(), 1, most);
  setLeft((x0 + x1) / 2 - plotWidth() / (fitScale() * k) / 2, k);
}

/** Bring the selection into view: only as far as needed. */
function showFocus() {
  const sets = focus();
  if (!sets || !sets.cells.size || !hasMap) return;
  let low = Infinity, high = -Infinity;
  for (const cell of sets.cells) {
    const g = groups[groupOf[cell]];
    if (sharedRows.has(g.tier) && sets.cells.size > 1) continue;
    low = Math.min(low, g.x + g.w * (cell - g.first) / g.n);
    high = Math.max(high, g.x + g.w * (cell - g.first + 1) / g.n);
  }
  if (low > high) return;
  const s = fitScale() * zoomNow(), left = state.x * Math.max(0, worldWidth - plotWidth() / s);
  const inside = low >= left && high <= left + plotWidth() / s;
  if (!inside) showWorld(low, high, 0.6, Math.max(zoomNow(), 1));
}

function initMap() {
  const canvas = $("map");
  gestures(canvas, {
    zoom: (factor, x) => zoomBy(factor, x),
    pan: dx => panBy(dx),
    hover: (x, y) => {
      const hit = x < 0 ? null : hitAt(x, y);
      if (hit !== hovered) { hovered = hit; redrawMap(); }
      tip(hit ? hitWords(hit) : null, x, y, canvas);
      canvas.style.cursor = hit ? "pointer" : "";
    },
    click: (x, y) => {
      const hit = hitAt(x, y);
      if (hit && hit.cell !== undefined) mapFocus = hit.cell;
      update({sel: hit ? hitSel(hit) : null});
    },
    twice: (x, y) => {
      const hit = hitAt(x, y);
      const cell = hit?.cell ?? (hit?.device !== undefined ? cellOf(hit.device) : undefined);
      if (hit?.group !== undefined) openGroup(hit.group);
      else if (cell !== undefined && cellPx(groups[groupOf[cell]]) < 60) openGroup(groupOf[cell]);
      else zoomBy(2, x);
    },
  });
  canvas.addEventListener("keydown", mapKey);
  canvas.addEventListener("blur", () => { mapFocus = -1; redrawMap(); });
  new ResizeObserver(redrawMap).observe(canvas);
}

function openGroup(n) {
  const g = groups[n];
  if (sharedRows.has(g.tier)) showWorld(g.x - g.w * 0.1, g.x + g.w * 1.1);
  else showWorld(g.x, g.x + g.w, 0.92);
}

function mapKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key, at = mapFocus >= 0 ? mapFocus : state.sel?.d !== undefined ? cellOf(state.sel.d) : groups.find(g => g.tier)?.first ?? 0;
  const g = groups[groupOf[at]];
  const go = cell => {
    mapFocus = cell;
    const one = groups[groupOf[cell]], mid = one.x + one.w * (cell - one.first + 0.5) / one.n;
    const x = cellX(cell);
    if (x < GUTTER() + 20 || x > mapBox.w - 20) setLeft(mid - plotWidth() / (fitScale() * zoomNow()) / 2, zoomNow());
    say(cellWords(cell).filter(Boolean).join(", "));
    redrawMap();
  };
  if (event.shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) panBy(key === "ArrowLeft" ? 120 : -120);
  else if (key === "ArrowLeft" || key === "ArrowRight") {
    const next = at + (key === "ArrowLeft" ? -1 : 1);
    go(mapFocus < 0 ? at : next >= 0 && next < C && tierOf(next) === tierOf(at) ? next : at);
  } else if (key === "ArrowUp" || key === "ArrowDown") {
    const row = rowsUp[rowsUp.indexOf(g.tier) + (key === "ArrowUp" ? 1 : -1)];
    if (row === undefined) return go(at);
    const x = cellX(at);
    let best = -1, near = Infinity;
    for (const other of groups) if (other.tier === row) for (let i = other.first; i < other.first + other.n; i++) {
      const d = Math.abs(cellX(i) - x);
      if (d < near) { near = d; best = i; }
    }
    if (best >= 0) go(best);
  } else if (key === "+" || key === "=") zoomBy(1.5, mapFocus >= 0 ? cellX(mapFocus) : mapBox.w / 2);
  else if (key === "-") zoomBy(1 / 1.5, mapFocus >= 0 ? cellX(mapFocus) : mapBox.w / 2);
  else if (key === "0") update({k: 1, x: 0});
  else if (key === "Enter" || key === " ") { mapFocus = at; update({sel: {d: at}}); }
  else return;
  event.preventDefault();
}
