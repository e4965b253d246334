// The fabric: a row per tier, columns fixed by the plan. Zoom stretches the columns; rows stay in view.
// Group -> switch -> port: bands between groups open to bands between switches, then to single cables.

const GUTTER = () => mapBox.w < 560 ? 8 : 64;
const OPEN = 9, PORTS = 150;  // a switch this many pixels wide is drawn as a box of its own; with its ports
const mapBox = {w: 0, h: 0};
const rowsUp = [...new Set(groups.map(g => g.tier))].sort((a, b) => a - b);
const sharedRows = new Set(hasMap ? D.map.shared : []);
const worldWidth = hasMap ? D.map.width : 1;
// While the map moves a heavy frame is drawn light: fewer lines, none of them dashed, no words on them. It is drawn
// whole as soon as it rests.
const HEAVY = 450, MOST_FAULTS = 90, REST_MS = 140;
let light = false, moving = false, resting = 0;
let boxesHit = [], linesHit = [], chipsTaken = [], hovered = null, mapFocus = -1;

const plotWidth = () => Math.max(50, mapBox.w - GUTTER() - 14);
const WIDEST = 190;
const fitScale = () => Math.min(plotWidth() / worldWidth, WIDEST);
/** A fabric of a few switches stands in the middle. */
const inset = s => Math.max(0, (plotWidth() - worldWidth * s) / 2);
const maxZoom = () => Math.max(8, 420 / fitScale());
const zoomNow = () => clamp(state.k || 1, 1, maxZoom());

const smallest = {};
for (const g of groups) smallest[g.tier] = Math.min(smallest[g.tier] ?? 99, g.w / g.n);

/** Pixels per unit of a row. What serves all columns opens only until its switches can be told apart. */
function rowScale(tier) {
  const whole = fitScale(), k = whole * zoomNow();
  return sharedRows.has(tier) ? clamp(Math.min(k, 17 / smallest[tier]), whole, k) : k;
}

function rowLeft(tier) {
  const s = rowScale(tier);
  return clamp(state.x, 0, 1) * Math.max(0, worldWidth - plotWidth() / s);
}

const xOf = (tier, wx) => { const s = rowScale(tier); return GUTTER() + inset(s) + (wx - rowLeft(tier)) * s; };
const cellX = cell => { const g = groups[groupOf[cell]]; return xOf(g.tier, g.x + g.w * (cell - g.first + 0.5) / g.n); };
const cellPx = g => rowScale(g.tier) * g.w / g.n;

function rowBox(tier) {
  const n = rowsUp.length, at = n - 1 - rowsUp.indexOf(tier);
  const top = 34, bottom = mapBox.h - 26, high = tier === 0 ? 30 : 38;
  const step = n > 1 ? (bottom - top - high) / (n - 1) : 0;
  const y = n > 1 ? top + step * at : (top + bottom - high) / 2;
  return {y, high};
}

// -- drawing ----------------------------------------------------------------------------------------------

function drawMap() {
  if (!hasMap || state.view !== "map") return;
  const {ctx, w, h} = sharpen($("map"));
  mapBox.w = w; mapBox.h = h;
  boxesHit = []; linesHit = []; chipsTaken = [];
  ctx.fillStyle = ink.bg;
  ctx.fillRect(0, 0, w, h);
  ctx.lineCap = "butt";
  const dimmed = focus();
  const bands = bandsOfFrame();
  drawHealthy(ctx, bands, dimmed);
  drawFaulty(ctx, bands, dimmed);
  if (dimmed) drawFocus(ctx, dimmed);
  drawBoxes(ctx, dimmed);
  drawChips(ctx, bands, dimmed);
  drawGutter(ctx);
  if (hovered) outline(ctx, hovered);
}

/** The map moves: until it rests, frames may be light. */
function stir() {
  moving = true;
  clearTimeout(resting);
  resting = setTimeout(() => { moving = false; redrawMap(); }, REST_MS);
}

const weigh = bands => bands.reduce((sum, band) => sum + (isFaulty(band) ? 4 : 1), 0);
const isFaulty = band => band.pair ? wrongIn(band.pair) + band.pair.strays > 0 : band.link === undefined || classOf(band.link) !== OK;

/** All bands; of a heavy frame in motion those of the devices in view, of one still too heavy those of the groups. */
function bandsOfFrame() {
  const whole = collectBands(openGroups());
  light = moving && weigh(whole) > HEAVY;
  if (!light) return whole;
  const near = whole.filter(band => band.level === 0 || band.near);
  const some = near.length > HEAVY ? collectBands(groups.map(() => false)) : near;
  const faulty = some.filter(isFaulty);
  if (faulty.length <= MOST_FAULTS) return some;
  const much = band => band.pair ? wrongIn(band.pair) + band.pair.strays : 1;
  const kept = new Set(faulty.sort((a, b) => much(b) - much(a)).slice(0, MOST_FAULTS));
  return some.filter(band => kept.has(band) || (band.pair && band.pair.by[OK] && !isFaulty(band)));
}

const onScreen = (x0, x1) => x1 > 0 && x0 < mapBox.w;

/** Groups whose switches are drawn one by one. */
function openGroups() {
  return groups.map(g => cellPx(g) >= (g.tier === 0 ? 5 : OPEN));
}

/** Straight lines between boxes: [x1, y1, x2, y2, pair, groupLevel]; drawn later, by kind. */
function collectBands(opened) {
  const bands = [];
  const wanted = new Set();
  for (const pair of groupPairs.values()) {
    const [low, high] = byTier(pair.a, pair.b);
    const either = opened[low] || opened[high];
    if (either && cellBandsOf(low, high)) { wanted.add(pair); continue; }
    const band = groupBand(pair, low, high);
    if (band) bands.push(band);
  }
  if (wanted.size) for (const pair of cellPairs(wanted)) cellBands(pair, bands);
  return bands;
}

const byTier = (a, b) => groups[a].tier <= groups[b].tier ? [a, b] : [b, a];
/** Hosts alone do not open the bands above them: those open with the leaves. */
const cellBandsOf = (low, high) => cellPx(groups[high]) >= OPEN && cellPx(groups[low]) >= (groups[low].tier ? OPEN : 3);

let pairsByGroups = null;
function cellPairs(wanted) {
  if (!pairsByGroups) {
    pairsByGroups = new Map();
    for (const pair of pairs.values()) push(pairsByGroups, pairOf(groupPairs, groupOf[pair.a], groupOf[pair.b]), pair);
  }
  const all = [];
  for (const one of wanted) {
    const ga = groups[one.a], gb = groups[one.b];
    const ends = [ga, gb].map(g => [xOf(g.tier, g.x), xOf(g.tier, g.x + g.w)]);
    if (!onScreen(Math.min(ends[0][0], ends[1][0]), Math.max(ends[0][1], ends[1][1]))) continue;
    for (const pair of pairsByGroups.get(one) ?? []) all.push(pair);
  }
  return all;
}

const fans = new Map();
/** Where along its edge a box meets another one: in the order of the others, so that bands fan out. */
function fanAt(g, other) {
  const key = g * 65536 + other;
  if (!fans.size) for (const pair of groupPairs.values()) {
    for (const [one, two] of [[pair.a, pair.b], [pair.b, pair.a]]) fans.set(one * 65536 + two, 0);
  }
  const cached = fans.get(key);
  if (cached) return cached;
  const up = groups[other].tier > groups[g].tier;
  const others = [...groupPairs.values()].flatMap(p => p.a === g ? [p.b] : p.b === g ? [p.a] : [])
    .filter(o => o !== g && (groups[o].tier > groups[g].tier) === up)
    .sort((p, q) => groups[p].x + groups[p].w / 2 - groups[q].x - groups[q].w / 2);
  others.forEach((o, i) => fans.set(g * 65536 + o, others.length === 1 ? 0.5 : 0.12 + 0.76 * i / (others.length - 1)));
  return fans.get(key) ?? 0.5;
}

function groupBand(pair, low, high) {
  const a = groups[low], b = groups[high];
  if (low === high) return null;
  const ra = rowBox(a.tier), rb = rowBox(b.tier);
  const x1 = xOf(a.tier, a.x + a.w * fanAt(low, high)), x2 = xOf(b.tier, b.x + b.w * fanAt(high, low));
  if (!onScreen(Math.min(x1, x2), Math.max(x1, x2))) return null;
  const same = a.tier === b.tier;
  return {x1, y1: ra.y, x2, y2: same ? rb.y : rb.y + rb.high, same, pair, level: 0, wide: clamp(Math.sqrt(pair.planned + pair.strays + pair.outside) / 4, 1, 5)};
}

/** Zoomed in, healthy cables are drawn of the devices in view; what only passes by would cover them. */
const isNear = (g, x) => {
  const half = cellPx(g) / 2;
  return x + half > GUTTER() && x - half < mapBox.w && (!sharedRows.has(g.tier) || sharedRows.size >= rowsUp.length - 1);
};

function cellBands(pair, bands) {
  const [low, high] = tierOf(pair.a) <= tierOf(pair.b) ? [pair.a, pair.b] : [pair.b, pair.a];
  const x1 = cellX(low), x2 = cellX(high);
  if (!onScreen(Math.min(x1, x2), Math.max(x1, x2)) || low === high) return;
  const a = groups[groupOf[low]], b = groups[groupOf[high]], ra = rowBox(a.tier), rb = rowBox(b.tier);
  const same = a.tier === b.tier, y2 = same ? rb.y : rb.y + rb.high;
  const near = isNear(a, x1) || isNear(b, x2);
  if (!near && !wrongIn(pair) && !pair.strays) return;
  if (near && links.whole && (cellPx(a) >= PORTS || cellPx(b) >= PORTS)) {
    for (const i of pair.links) {
      const [p, q] = cellOf(links.a[i]) === low ? [portX(low, links.a[i], links.ap[i]), portX(high, links.b[i], links.bp[i])]
        : [portX(low, links.b[i], links.bp[i]), portX(high, links.a[i], links.ap[i])];
      bands.push({x1: p, y1: ra.y, x2: q, y2, same, link: i, near, level: 2, wide: 1.2});
    }
    for (const i of pair.strayIds) {
      const s = links.stray[i], flip = cellOf(s[0]) !== low;
      const p = flip ? portX(low, s[2], s[3]) : portX(low, s[0], s[1]), q = flip ? portX(high, s[0], s[1]) : portX(high, s[2], s[3]);
      bands.push({x1: p, y1: ra.y, x2: q, y2, same, stray: i, near, level: 2, wide: 1.6});
    }
    return;
  }
  bands.push({x1, y1: ra.y, x2, y2, same, pair, near, level: 1, wide: pair.planned + pair.strays < 2 ? 0.6 : clamp(Math.sqrt(pair.planned + pair.strays) / 2, 0.8, 4)});
}

const portOrder = new Map();
/** Ports of a switch by the edge they leave at: up or down, each in the order of their numbers. */
function portsOf(cell) {
  let order = portOrder.get(cell);
  if (!order) {
    order = {up: [], down: [], at: new Map()};
    const seenPorts = new Map();
    for (const i of linksOf.get(cell) ?? []) for (const [id, port, far] of [[links.a[i], links.ap[i], links.b[i]], [links.b[i], links.bp[i], links.a[i]]])
      if (cellOf(id) === cell) seenPorts.set(portKey(id, port), tierOf(far) > tierOf(cell));
    for (const i of straysOf.get(cell) ?? []) {
      const s = links.stray[i];
      for (const [id, port, far] of [[s[0], s[1], s[2]], [s[2], s[3], s[0]]])
        if (cellOf(id) === cell && !seenPorts.has(portKey(id, port))) seenPorts.set(portKey(id, port), tierOf(far) > tierOf(cell));
    }
    for (const [key, up] of [...seenPorts].sort((p, q) => p[0] - q[0])) (up ? order.up : order.down).push(key);
    for (const list of [order.up, order.down]) list.forEach((key, n) => order.at.set(key, (n + 0.5) / list.length));
    portOrder.set(cell, order);
  }
  return order;
}

function portX(cell, id, port) {
  const g = groups[groupOf[cell]], px = cellPx(g);
  if (px < 24) return cellX(cell);
  return cellX(cell) + (portsOf(cell).at.get(portKey(id, port)) - 0.5 || 0) * (px - 8);
}

const bandClass = band => {
  if (band.link !== undefined) return [classOf(band.link)];
  if (band.stray !== undefined) return isAside(band.stray) ? [] : [-1];
  const by = band.pair.by, classes = WORST.filter(c => by[c]);
  return band.pair.strays ? [...classes, -1] : classes;
};

/** Only what is in view is stroked: dashes of a line that runs far outside cost more than all the rest. */
function line(ctx, band, shift = 0) {
  let {x1, y1, x2, y2} = band;
  if (shift) {
    const long = Math.hypot(x2 - x1, y2 - y1) || 1, dx = -(y2 - y1) / long * shift, dy = (x2 - x1) / long * shift;
    x1 += dx; x2 += dx; y1 += dy; y2 += dy;
  }
  const low = -20, high = mapBox.w + 20;
  if (band.same) {
    ctx.moveTo(clamp(x1, low, high), y1);
    ctx.quadraticCurveTo(clamp((x1 + x2) / 2, low, high), y1 - 30, clamp(x2, low, high), y2);
    return;
  }
  if (x1 < low || x1 > high || x2 < low || x2 > high) {
    const slope = (y2 - y1) / (x2 - x1 || 1e-9), at = x => y1 + (x - x1) * slope;
    const [p, q] = [clamp(x1, low, high), clamp(x2, low, high)];
    if (p === q) return;
    [x1, y1, x2, y2] = [p, p === x1 ? y1 : at(p), q, q === x2 ? y2 : at(q)];
  }
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
}

/** Everything that is as planned, faint; a few paths per width. */
function drawHealthy(ctx, bands, dimmed) {
  const paths = new Map(), beside = [], aside = [];
  for (const band of bands) {
    if (band.link !== undefined ? classOf(band.link) === NOT_ASKED : band.pair && notAsked(band.pair)) { aside.push(band); linesHit.push(band); continue; }
    if (band.link !== undefined && classOf(band.link) !== OK) continue;
    if (band.stray !== undefined || (band.pair && !band.pair.by[OK])) { if (isOutside(band)) beside.push(band); continue; }
    const wide = Math.max(0.6, Math.round(band.wide * 2) / 2);
    push(paths, wide, band);
    linesHit.push(band);
  }
  ctx.setLineDash([]);
  ctx.strokeStyle = ink.faint;
  ctx.globalAlpha = dimmed ? 0.35 : clamp(1500 / bands.length, 0.2, 0.9);
  for (const [wide, list] of paths) {
    ctx.lineWidth = wide;
    ctx.beginPath();
    for (const band of list) line(ctx, band);
    ctx.stroke();
  }
  ctx.strokeStyle = ink.unknown;
  ctx.lineWidth = 1;
  ctx.globalAlpha = dimmed ? 0.25 : clamp(300 / (aside.length || 1), 0.25, 0.7);
  ctx.setLineDash(LOOK[NOT_ASKED].dash);
  ctx.beginPath();
  for (const band of aside) line(ctx, band);
  ctx.stroke();
  ctx.strokeStyle = ink.faint;
  ctx.setLineDash([5, 3]);
  ctx.beginPath();
  for (const band of beside) { line(ctx, band); linesHit.push(band); }
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

/** Cables to devices outside the plan or outside of what was asked: counted, no fault. */
const isOutside = band => band.stray !== undefined ? isAside(band.stray) : band.pair.outside + band.pair.unasked + band.pair.unsure > 0;

/** What is wrong at full ink: the intended as a dashed ghost beside what is there, both on the same edge. */
function drawFaulty(ctx, bands, dimmed) {
  const paths = new Map();
  for (const band of bands) for (const cls of light ? bandClass(band).slice(0, 1) : bandClass(band)) {
    if (cls === OK || cls === NOT_ASKED) continue;
    push(paths, cls, band);
    if (cls !== OK) linesHit.push(band);
  }
  for (const cls of [5, 4, 3, 2, 1, -1]) {
    const look = cls < 0 ? STRAY_LOOK : LOOK[cls];
    const list = paths.get(cls);
    if (!list) continue;
    ctx.strokeStyle = ink[look.css];
    ctx.globalAlpha = dimmed ? 0.2 : clamp(90 / list.length, 0.25, 1);
    ctx.setLineDash(light ? [] : look.dash);
    ctx.lineWidth = list.length > 90 ? 1.1 : cls < 0 ? 1.6 : cls === 5 ? 1 : 1.7;
    ctx.beginPath();
    const shift = cls < 0 ? -3 : cls === 4 || cls === 5 ? 0 : 3;
    for (const band of list) line(ctx, band, band.level === 2 ? shift / 3 : shift);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

/** Cables of the selection, one by one, whatever the zoom. */
function drawFocus(ctx, sets) {
  const draw = (a, ap, b, bp, look, ghost) => {
    const ca = cellOf(a), cb = cellOf(b);
    if (ca === cb) return;
    const [low, lid, lp, high, hid, hp] = tierOf(ca) <= tierOf(cb) ? [ca, a, ap, cb, b, bp] : [cb, b, bp, ca, a, ap];
    const rl = rowBox(groups[groupOf[low]].tier), rh = rowBox(groups[groupOf[high]].tier);
    const same = tierOf(low) === tierOf(high);
    const band = {x1: portX(low, lid, lp), y1: rl.y, x2: portX(high, hid, hp), y2: same ? rh.y : rh.y + rh.high, same};
    ctx.strokeStyle = ink[look.css];
    ctx.setLineDash(look.dash);
    const fine = look.css === "ok";
    ctx.lineWidth = fine ? 1 : ghost ? 1.4 : sets.strays.size > 24 ? 1.4 : 2.2;
    ctx.globalAlpha = (fine ? 0.5 : 0.95) * (sets.links.size > 400 ? 0.4 : 1);
    ctx.beginPath();
    line(ctx, band, ghost ? 2 : 0);
    ctx.stroke();
  };
  for (const i of sets.links) {
    const cls = classOf(i);
    draw(links.a[i], links.ap[i], links.b[i], links.bp[i], cls === OK ? {css: "ok", dash: []} : LOOK[cls], cls !== OK && cls !== 4);
  }
  for (const i of sets.strays) { const s = links.stray[i]; draw(s[0], s[1], s[2], s[3], STRAY_LOOK, false); }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}
