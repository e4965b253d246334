// Pairs of switches as cells: planned against found. A fabric in islands, or a rotated leaf, shows at once.

const matrixBox = {w: 0, h: 0, left: 92, top: 62, right: 14, bottom: 14};
let matrixNow = null, matrixHover = null, matrixFocus = null;

/** Pairs of tiers that have cables, the most telling first. */
const tierPairs = (() => {
  const seen = new Map();
  for (const pair of groupPairs.values()) {
    const [low, high] = byTier(pair.a, pair.b);
    if (groups[low].tier === groups[high].tier) continue;
    const key = `${groups[low].tier}-${groups[high].tier}`;
    seen.set(key, (seen.get(key) ?? 0) + pair.planned + pair.strays + pair.outside);
  }
  const rank = key => key === "1-2" ? 0 : key === "2-3" ? 1 : key.startsWith("0") ? 9 : 5;
  return [...seen.keys()].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
})();
const tierPairWords = key => key.split("-").map(t => TIERS[t] ?? `tier ${t}`).join(" \u00d7 ");
const matrixPair = () => tierPairs.includes(state.mp) ? state.mp : tierPairs[0] ?? "";

const cellsOfTier = tier => { const all = []; for (const g of groups) if (g.tier === tier) for (let i = 0; i < g.n; i++) all.push(g.first + i); return all; };
const withinGroup = cell => cell - groups[groupOf[cell]].first;

function sorted(cells) {
  const by = state.ms, natural = new Intl.Collator("en", {numeric: true});
  const rank = {
    unit: null,
    rail: (a, b) => withinGroup(a) - withinGroup(b) || groupOf[a] - groupOf[b],
    name: (a, b) => natural.compare(nameOf(a), nameOf(b)),
    rack: (a, b) => natural.compare(placeOf(a), placeOf(b)),
    island: (a, b) => islandOf(a) - islandOf(b) || a - b,
  }[by];
  return rank ? cells.sort(rank) : cells;
}

/** Where a line parts the cells of one kind from the next. */
function breaks(cells) {
  const by = state.ms;
  const of = by === "rail" ? withinGroup : by === "rack" ? rackOf : by === "island" ? islandOf : by === "unit" ? cell => groupOf[cell] : () => 0;
  const title = cell => by === "rail" ? (sw.rail[cell] ? `rail ${sw.rail[cell]}` : `no. ${withinGroup(cell) + 1}`)
    : by === "rack" ? rackOf(cell) || "no rack" : by === "island" ? (islandOf(cell) < 0 ? "unseen" : `island ${letter(islandOf(cell))}`)
    : by === "unit" ? groups[groupOf[cell]].title : "";
  const parts = [];
  cells.forEach((cell, n) => {
    if (!parts.length || of(cell) !== parts.at(-1).key) parts.push({key: of(cell), from: n, to: n + 1, title: title(cell), short: by === "unit" ? groups[groupOf[cell]].short : title(cell).replace(/^[^0-9]*/, "")});
    else parts.at(-1).to = n + 1;
  });
  return parts;
}

function makeMatrix() {
  const key = matrixPair(), stamp = `${key} ${state.ms}`;
  if (matrixNow?.stamp === stamp) return matrixNow;
  const [low, high] = key.split("-").map(Number);
  const rows = sorted(cellsOfTier(low)), cols = sorted(cellsOfTier(high));
  const rowAt = new Map(rows.map((c, n) => [c, n])), colAt = new Map(cols.map((c, n) => [c, n]));
  const cells = [];
  for (const pair of pairs.values()) {
    const [a, b] = rowAt.has(pair.a) ? [pair.a, pair.b] : [pair.b, pair.a];
    if (rowAt.has(a) && colAt.has(b)) cells.push({row: rowAt.get(a), col: colAt.get(b), pair});
  }
  const most = cells.reduce((max, c) => Math.max(max, c.pair.planned, found(c.pair)), 1);
  return matrixNow = {stamp, rows, cols, rowAt, colAt, cells, most, rowParts: breaks(rows), colParts: breaks(cols), at: new Map(cells.map(c => [c.row * cols.length + c.col, c]))};
}

/** Size of a cell in pixels: up to twice as wide as high, so that a matrix uses the room there is. */
function matrixGrid(mz = state.mz) {
  const m = makeMatrix(), wide = matrixBox.w - matrixBox.left - matrixBox.right, high = matrixBox.h - matrixBox.top - matrixBox.bottom;
  const wholeY = Math.min(high / m.rows.length, 2 * wide / m.cols.length, 30), wholeX = Math.min(wide / m.cols.length, 2 * wholeY, 60);
  const zoom = clamp(mz, 1, Math.max(1, 34 / wholeY)), sx = wholeX * zoom, sy = wholeY * zoom;
  const roomX = Math.max(0, sx * m.cols.length - wide), roomY = Math.max(0, sy * m.rows.length - high);
  return {zoom, sx, sy, wide, high, roomX, roomY, x0: matrixBox.left - roomX * clamp(state.mx, 0, 1), y0: matrixBox.top - roomY * clamp(state.my, 0, 1)};
}

function drawMatrix() {
  if (!hasMap || state.view !== "matrix") return;
  const {ctx, w, h} = sharpen($("matrix"));
  matrixBox.w = w; matrixBox.h = h;
  matrixBox.left = w < 560 ? 56 : 104;
  ctx.fillStyle = ink.bg;
  ctx.fillRect(0, 0, w, h);
  if (!tierPairs.length) { ctx.fillStyle = ink.dim; ctx.font = `14px ${ink.sans}`; ctx.fillText("No two tiers of switches are cabled to each other.", 20, 40); return; }
  const m = makeMatrix(), grid = matrixGrid(), {sx, sy, x0, y0} = grid;
  ctx.save();
  ctx.beginPath();
  ctx.rect(matrixBox.left, matrixBox.top, Math.min(grid.wide, sx * m.cols.length) + 1, Math.min(grid.high, sy * m.rows.length) + 1);
  ctx.clip();
  ctx.fillStyle = ink.card;
  ctx.fillRect(x0, y0, sx * m.cols.length, sy * m.rows.length);
  unseenStripes(ctx, m, grid);
  const dimmed = focus();
  const late = [];
  for (const cell of m.cells) {
    const x = x0 + cell.col * sx, y = y0 + cell.row * sy;
    if (x + sx < matrixBox.left || y + sy < matrixBox.top || x > w || y > h) continue;
    const wrong = wrongIn(cell.pair) || cell.pair.strays;
    if (wrong && sy < 5) late.push([cell.pair, x, y]); else matrixCell(ctx, cell.pair, x, y, sx, sy, dimmed);
  }
  matrixLines(ctx, m, grid);
  for (const [pair, x, y] of late) matrixCell(ctx, pair, x, y, sx, sy, dimmed);
  focusFrames(ctx, m, grid, dimmed);
  ctx.restore();
  matrixTitles(ctx, m, grid);
}

/** Rows and columns of what was not seen are hatched: nothing is known there. */
function unseenStripes(ctx, m, {sx, sy, x0, y0}) {
  m.rows.forEach((cell, n) => { if (stateOf(cell) !== SEEN) { ctx.fillStyle = hatch(ctx); ctx.fillRect(x0, y0 + n * sy, sx * m.cols.length, sy); } });
  m.cols.forEach((cell, n) => { if (stateOf(cell) !== SEEN) { ctx.fillStyle = hatch(ctx); ctx.fillRect(x0 + n * sx, y0, sx, sy * m.rows.length); } });
}

/** Outline: planned. Filled from below: found. Off the plan: a diamond. Right pair, wrong ports: a slash. */
function matrixCell(ctx, pair, x, y, sx, sy, dimmed) {
  const small = Math.min(sx, sy), pad = small > 8 ? 1 : small > 3 ? 0.5 : 0, w = Math.max(0.7, sx - 2 * pad), h = Math.max(0.7, sy - 2 * pad);
  const here = found(pair), bad = wrongIn(pair), right = pair.by[OK] + pair.by[4];
  const away = dimmed && !(dimmed.cells.has(pair.a) && dimmed.cells.has(pair.b));
  ctx.globalAlpha = away ? 0.3 : 1;
  x += pad; y += pad;
  if (notAsked(pair)) {  // outside --only
    const dot = Math.max(1, Math.min(w, h) * 0.22);
    ctx.fillStyle = ink.unknown; ctx.globalAlpha = away ? 0.3 : 0.75;
    ctx.fillRect(x + (w - dot) / 2, y + (h - dot) / 2, dot, dot);
    ctx.globalAlpha = 1;
    return;
  }
  if (!pair.planned && !pair.strays) {  // to a device outside the plan, or outside of what was asked
    if (!pair.outside) ctx.globalAlpha *= 0.5;
    ctx.strokeStyle = ink.dim; ctx.lineWidth = 1; ctx.setLineDash([2, 1]);
    ctx.strokeRect(x + 0.5, y + 0.5, Math.max(1, w - 1), Math.max(1, h - 1));
    ctx.setLineDash([]);
  } else if (!bad && !pair.strays) {
    ctx.fillStyle = pair.by[5] ? hatch(ctx) : ink.faint;
    ctx.fillRect(x, y, w, h);
  } else if (small < 5) {
    const worst = WORST.find(c => pair.by[c]), side = Math.max(small * 1.15, 2.4);
    ctx.fillStyle = ink[(pair.planned && worst ? LOOK[worst] : STRAY_LOOK).css];
    ctx.fillRect(x + w / 2 - Math.max(side, w) / 2, y + h / 2 - side / 2, Math.max(side, w), side);
  } else if (!pair.planned) {
    ctx.fillStyle = ink.stray;
    ctx.beginPath(); ctx.moveTo(x + w / 2, y); ctx.lineTo(x + w, y + h / 2); ctx.lineTo(x + w / 2, y + h); ctx.lineTo(x, y + h / 2); ctx.fill();
  } else {
    const worst = WORST.find(c => pair.by[c]), look = worst ? LOOK[worst] : STRAY_LOOK, share = clamp(here / pair.planned, 0, 1);
    ctx.fillStyle = ink.card; ctx.fillRect(x, y, w, h);
    ctx.fillStyle = ink[look.css];
    ctx.fillRect(x, y + h * (1 - share), w, h * share);
    ctx.strokeStyle = ink[look.css]; ctx.lineWidth = small > 12 ? 2 : 1.2;
    ctx.setLineDash(look.css === "missing" ? [3, 2] : []);
    ctx.strokeRect(x + 0.6, y + 0.6, w - 1.2, h - 1.2);
    ctx.setLineDash([]);
    if (share > 0 && right < here) { ctx.strokeStyle = ink.card; ctx.beginPath(); ctx.moveTo(x + 1, y + h - 1); ctx.lineTo(x + w - 1, y + 1); ctx.stroke(); }
  }
  if (sy >= 15 && (pair.planned || pair.strays)) cellNumber(ctx, pair, here, x, y, w, h, sy);
  ctx.globalAlpha = 1;
}

function cellNumber(ctx, pair, here, x, y, w, h, sy) {
  const text = pair.planned === here ? String(here) : `${here}/${pair.planned}`, plain = pair.planned && !wrongIn(pair) && !pair.strays;
  ctx.font = `${sy > 22 ? 11 : 9.5}px ${ink.sans}`;
  ctx.textAlign = "center";
  const wide = ctx.measureText(text).width;
  if (wide > w + 2) return;
  if (!plain) { ctx.fillStyle = ink.card; ctx.fillRect(x + w / 2 - wide / 2 - 2, y + h / 2 - 6, wide + 4, 12); }
  ctx.fillStyle = plain ? ink.dim : ink.ink;
  ctx.fillText(text, x + w / 2, y + h / 2 + 3.5);
}

function matrixLines(ctx, m, {sx, sy, x0, y0}) {
  const wide = sx * m.cols.length, high = sy * m.rows.length;
  ctx.strokeStyle = ink.line; ctx.lineWidth = 1;
  ctx.beginPath();
  for (const part of m.rowParts) if ((part.to - part.from) * sy > 5) { const y = Math.round(y0 + part.from * sy) + 0.5; ctx.moveTo(x0, y); ctx.lineTo(x0 + wide, y); }
  for (const part of m.colParts) if ((part.to - part.from) * sx > 5) { const x = Math.round(x0 + part.from * sx) + 0.5; ctx.moveTo(x, y0); ctx.lineTo(x, y0 + high); }
  ctx.moveTo(x0, Math.round(y0 + high) - 0.5); ctx.lineTo(x0 + wide, Math.round(y0 + high) - 0.5);
  ctx.moveTo(Math.round(x0 + wide) - 0.5, y0); ctx.lineTo(Math.round(x0 + wide) - 0.5, y0 + high);
  ctx.stroke();
}

function focusFrames(ctx, m, {sx, sy, x0, y0}, dimmed) {
  ctx.strokeStyle = ink.link;
  ctx.lineWidth = 2;
  if (matrixHover) {
    ctx.globalAlpha = 0.14; ctx.fillStyle = ink.link;
    ctx.fillRect(x0, y0 + matrixHover.row * sy, sx * m.cols.length, sy);
    ctx.fillRect(x0 + matrixHover.col * sx, y0, sx, sy * m.rows.length);
    ctx.globalAlpha = 1;
  }
  const one = matrixFocus ?? (state.sel?.p ? pairPlace(m, state.sel.p) : null);
  if (one) ctx.strokeRect(x0 + one.col * sx - 1.5, y0 + one.row * sy - 1.5, sx + 3, sy + 3);
  if (dimmed && state.sel.p === undefined) for (const cell of m.cells) {
    const {pair} = cell;
    if (!pair.links.some(i => dimmed.links.has(i)) && !pair.strayIds.some(i => dimmed.strays.has(i))) continue;
    ctx.lineWidth = sy > 6 ? 1.5 : 1;
    ctx.strokeRect(x0 + cell.col * sx - 1, y0 + cell.row * sy - 1, sx + 2, sy + 2);
  }
}

const pairPlace = (m, [a, b]) => {
  const [low, high] = m.rowAt.has(a) ? [a, b] : [b, a];
  return m.rowAt.has(low) && m.colAt.has(high) ? {row: m.rowAt.get(low), col: m.colAt.get(high)} : null;
};

function matrixTitles(ctx, m, grid) {
  const {sx, sy, x0, y0, wide, high} = grid, [low, high2] = matrixPair().split("-");
  const right = matrixBox.left + Math.min(wide, sx * m.cols.length), bottom = matrixBox.top + Math.min(high, sy * m.rows.length);
  ctx.fillStyle = ink.bg;
  ctx.fillRect(0, 0, matrixBox.w, matrixBox.top - 1);
  ctx.fillRect(0, 0, matrixBox.left - 1, matrixBox.h);
  ctx.fillStyle = ink.ink; ctx.font = `600 12px ${ink.sans}`; ctx.textAlign = "left";
  ctx.fillText(`${TIERS[high2] ?? "tier " + high2} \u2192`, 8, 18);
  ctx.fillText(`${TIERS[low] ?? "tier " + low} \u2193`, 8, 36);
  ctx.fillStyle = ink.dim; ctx.font = `11px ${ink.sans}`;
  const labels = (cells, parts, single) => single ? cells.map((cell, n) => ({from: n, to: n + 1, title: nameOf(cell)})) : parts;
  let last = -99;
  ctx.textAlign = "right";
  for (const part of labels(m.rows, m.rowParts, sy >= 12)) {
    const y = y0 + (part.from + part.to) / 2 * sy + 4;
    if (y < matrixBox.top + 4 || y > bottom || y - last < 11) continue;
    const text = shorten(ctx, part.title, matrixBox.left - 12);
    ctx.fillText(text, matrixBox.left - 6, y); last = y;
  }
  last = -99;
  ctx.textAlign = "left";
  for (const part of labels(m.cols, m.colParts, sx >= 13)) {
    const x = x0 + (part.from + part.to) / 2 * sx;
    if (x < matrixBox.left || x > right || x - last < 14) continue;
    const room = (part.to - part.from) * sx - 2;
    const short = fitted(ctx, [part.title, part.short ?? ""], room);
    if (short) { ctx.textAlign = "center"; ctx.fillText(short, x, matrixBox.top - 8); ctx.textAlign = "left"; }
    else { ctx.save(); ctx.translate(x + 4, matrixBox.top - 6); ctx.rotate(-Math.PI / 3.2); ctx.fillText(shorten(ctx, part.short && part.short.length < 9 ? part.short : part.title, 58), 0, 0); ctx.restore(); }
    last = x;
  }
}

/** Keep the end of a name: that is where names differ. */
function shorten(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let cut = text;
  while (cut.length > 2 && ctx.measureText("\u2026" + cut).width > room) cut = cut.slice(1);
  return "\u2026" + cut;
}

// -- pointer and keys ---------------------------------------------------------------------------------------

const redrawMatrix = redrawer(drawMatrix);

function matrixAt(x, y) {
  const m = makeMatrix(), {sx, sy, x0, y0} = matrixGrid();
  const col = Math.floor((x - x0) / sx), row = Math.floor((y - y0) / sy);
  const inside = x >= matrixBox.left && y >= matrixBox.top && col >= 0 && row >= 0 && col < m.cols.length && row < m.rows.length;
  return inside ? {row, col} : null;
}

const pairAt = (m, {row, col}) => m.at.get(row * m.cols.length + col)?.pair ?? makePair(m.rows[row], m.cols[col]);

function matrixWords(m, place) {
  const pair = pairAt(m, place);
  return [`${nameOf(m.rows[place.row])} \u2013 ${nameOf(m.cols[place.col])}`,
    pair.planned || pair.strays || pair.unasked || pair.unsure ? pairWords(pair) : "no cable planned, none found"];
}

function matrixMove(factor, x, y, dx = 0, dy = 0) {
  const before = matrixGrid(), after = matrixGrid(before.zoom * factor);
  const u = (x - before.x0) / before.sx, v = (y - before.y0) / before.sy;
  update({
    mz: after.zoom,
    mx: after.roomX ? clamp((matrixBox.left - (x - u * after.sx) - dx) / after.roomX, 0, 1) : 0,
    my: after.roomY ? clamp((matrixBox.top - (y - v * after.sy) - dy) / after.roomY, 0, 1) : 0,
  });
}

function initMatrix() {
  const canvas = $("matrix");
  gestures(canvas, {
    zoom: (factor, x, y) => matrixMove(factor, x, y),
    pan: (dx, dy) => matrixMove(1, 0, 0, dx, dy),
    hover: (x, y) => {
      const place = x < 0 || !tierPairs.length ? null : matrixAt(x, y);
      if (place?.row !== matrixHover?.row || place?.col !== matrixHover?.col) { matrixHover = place; redrawMatrix(); }
      tip(place ? matrixWords(makeMatrix(), place) : null, x, y, canvas);
    },
    click: (x, y) => {
      const place = tierPairs.length ? matrixAt(x, y) : null, m = makeMatrix();
      matrixFocus = place;
      update({sel: place ? {p: [m.rows[place.row], m.cols[place.col]]} : null});
    },
    twice: (x, y) => matrixMove(2.5, x, y),
  });
  canvas.addEventListener("keydown", matrixKey);
  new ResizeObserver(redrawMatrix).observe(canvas);
  fillMatrixBar();
}

function fillMatrixBar() {
  const sorts = [["unit", "unit"], ["rail", "rail"], ["name", "name"], ["rack", "rack"], ...(manyIslands ? [["island", "island"]] : [])];
  const pick = (label, options, value, key) => el("label", {}, label, " ",
    el("select", {id: "m-" + key, onchange: event => { matrixFocus = null; update({[key]: event.target.value, mz: 1, mx: 0, my: 0}); }},
      options.map(([v, text]) => el("option", {value: v, text, selected: v === value}))));
  $("matrixbar").replaceChildren(
    pick("Tiers", tierPairs.map(key => [key, tierPairWords(key)]), matrixPair(), "mp"),
    pick("Sorted by", sorts, state.ms, "ms"),
    el("span", {class: "legend"}, "a cell is a pair; its filling is found of planned: ",
      el("i", {class: "cellmark full"}), " as planned ", el("i", {class: "cellmark part"}), " fewer found ",
      el("i", {class: "cellmark stray"}), " not planned there ", el("i", {class: "cellmark none"}), " not seen or not judged ", R.only ? [el("i", {class: "cellmark dot"}), ` outside ${R.only}: not asked`] : []));
}

function matrixKey(event) {
  const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
  if (!tierPairs.length || event.ctrlKey || event.metaKey || event.altKey) return;
  const m = makeMatrix();
  if (step) {
    matrixFocus = matrixFocus
      ? {row: clamp(matrixFocus.row + step[0], 0, m.rows.length - 1), col: clamp(matrixFocus.col + step[1], 0, m.cols.length - 1)}
      : {row: 0, col: 0};
    say(matrixWords(m, matrixFocus).join(", "));
    redrawMatrix();
  } else if ((event.key === "Enter" || event.key === " ") && matrixFocus) update({sel: {p: [m.rows[matrixFocus.row], m.cols[matrixFocus.col]]}});
  else if (event.key === "+" || event.key === "=") matrixMove(1.5, matrixBox.w / 2, matrixBox.h / 2);
  else if (event.key === "-") matrixMove(1 / 1.5, matrixBox.w / 2, matrixBox.h / 2);
  else if (event.key === "0") update({mz: 1, mx: 0, my: 0});
  else return;
  event.preventDefault();
}
