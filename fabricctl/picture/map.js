// The fabric: a row per tier, columns fixed by the plan. Zoom stretches the columns; rows stay in view.
// Group -> switch -> port: bands between groups open to bands between switches, then to single cables.

const GUTTER = () => mapBox.w < 560 ? 8 : 64;
const OPEN = 9, PORTS = 150;  // a switch this many pixels wide is drawn as a box of its own; with its ports
const mapBox = {w: 0, h: 0};
const rowsUp = [...new Set(groups.map(g => g.tier))].sort((a, b) => a - b);
const sharedRows = new Set(hasMap ? D.map.shared : []);
const worldWidth = hasMap ? D.map.width : 1;
let boxesHit = [], linesHit = [], chipsTaken = [], hovered = null, mapFocus = -1;

const plotWidth = () => Math.max(50, mapBox.w - GUTTER() - 14);
const fitScale = () => plotWidth() / worldWidth;
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

const xOf = (tier, wx) => GUTTER() + (wx - rowLeft(tier)) * rowScale(tier);
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
  const opened = openGroups();
  const bands = collectBands(opened);
  drawHealthy(ctx, bands, dimmed);
  drawFaulty(ctx, bands, dimmed);
  if (dimmed) drawFocus(ctx, dimmed);
  drawBoxes(ctx, dimmed);
  drawChips(ctx, bands, dimmed);
  drawGutter(ctx);
  if (hovered) outline(ctx, hovered);
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
  return {x1, y1: ra.y, x2, y2: same ? rb.y : rb.y + rb.high, same, pair, level: 0, wide: clamp(Math.sqrt(pair.planned + pair.strays) / 4, 1, 5)};
}

function cellBands(pair, bands) {
  const [low, high] = tierOf(pair.a) <= tierOf(pair.b) ? [pair.a, pair.b] : [pair.b, pair.a];
  const x1 = cellX(low), x2 = cellX(high);
  if (!onScreen(Math.min(x1, x2), Math.max(x1, x2)) || low === high) return;
  const a = groups[groupOf[low]], b = groups[groupOf[high]], ra = rowBox(a.tier), rb = rowBox(b.tier);
  const same = a.tier === b.tier, y2 = same ? rb.y : rb.y + rb.high;
  if (links.whole && (cellPx(a) >= PORTS || cellPx(b) >= PORTS)) {
    for (const i of pair.links) {
      const [p, q] = cellOf(links.a[i]) === low ? [portX(low, links.a[i], links.ap[i]), portX(high, links.b[i], links.bp[i])]
        : [portX(low, links.b[i], links.bp[i]), portX(high, links.a[i], links.ap[i])];
      bands.push({x1: p, y1: ra.y, x2: q, y2, same, link: i, level: 2, wide: 1.2});
    }
    for (const i of pair.strayIds) {
      const s = links.stray[i], flip = cellOf(s[0]) !== low;
      const p = flip ? portX(low, s[2], s[3]) : portX(low, s[0], s[1]), q = flip ? portX(high, s[0], s[1]) : portX(high, s[2], s[3]);
      bands.push({x1: p, y1: ra.y, x2: q, y2, same, stray: i, level: 2, wide: 1.6});
    }
    return;
  }
  bands.push({x1, y1: ra.y, x2, y2, same, pair, level: 1, wide: pair.planned + pair.strays < 2 ? 0.6 : clamp(Math.sqrt(pair.planned + pair.strays) / 2, 0.8, 4)});
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
  if (band.stray !== undefined) return [-1];
  const by = band.pair.by, classes = WORST.filter(c => by[c]);
  return band.pair.strays ? [...classes, -1] : classes;
};

function line(ctx, band, shift = 0) {
  const long = Math.hypot(band.x2 - band.x1, band.y2 - band.y1) || 1;
  const dx = -(band.y2 - band.y1) / long * shift, dy = (band.x2 - band.x1) / long * shift;
  ctx.moveTo(band.x1 + dx, band.y1 + dy);
  if (band.same) ctx.quadraticCurveTo((band.x1 + band.x2) / 2, band.y1 - 30, band.x2 + dx, band.y2 + dy);
  else ctx.lineTo(band.x2 + dx, band.y2 + dy);
}

/** Everything that is as planned, faint; one path per width. */
function drawHealthy(ctx, bands, dimmed) {
  const paths = new Map();
  for (const band of bands) {
    if (band.link !== undefined && classOf(band.link) !== OK) continue;
    if (band.stray !== undefined || (band.pair && !band.pair.by[OK] && !band.pair.by[NOT_ASKED])) continue;
    const wide = Math.max(0.6, Math.round(band.wide * 2) / 2);
    push(paths, wide, band);
    linesHit.push(band);
  }
  ctx.setLineDash([]);
  ctx.strokeStyle = ink.faint;
  ctx.globalAlpha = dimmed ? 0.35 : bands.length > 3000 ? 0.45 : 0.9;
  for (const [wide, list] of paths) {
    ctx.lineWidth = wide;
    ctx.beginPath();
    for (const band of list) line(ctx, band);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

/** What is wrong at full ink: the intended as a dashed ghost beside what is there, both on the same edge. */
function drawFaulty(ctx, bands, dimmed) {
  const paths = new Map();
  for (const band of bands) for (const cls of bandClass(band)) {
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
    ctx.setLineDash(look.dash);
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
    ctx.lineWidth = ghost ? 1.4 : 2.2;
    ctx.beginPath();
    line(ctx, band, ghost ? 2 : 0);
    ctx.stroke();
  };
  ctx.globalAlpha = sets.links.size > 400 ? 0.35 : 0.95;
  for (const i of sets.links) {
    const cls = classOf(i);
    draw(links.a[i], links.ap[i], links.b[i], links.bp[i], cls === OK ? {css: "ok", dash: []} : LOOK[cls], cls !== OK && cls !== 4);
  }
  for (const i of sets.strays) { const s = links.stray[i]; draw(s[0], s[1], s[2], s[3], STRAY_LOOK, false); }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

// -- boxes ------------------------------------------------------------------------------------------------

function drawBoxes(ctx, dimmed) {
  ctx.textAlign = "center";
  groups.forEach((g, n) => {
    const {y, high} = rowBox(g.tier), x0 = xOf(g.tier, g.x), x1 = xOf(g.tier, g.x + g.w);
    if (!onScreen(x0, x1)) return;
    const px = cellPx(g);
    ctx.fillStyle = ink.card;
    ctx.strokeStyle = ink.line;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.roundRect(x0 - 2.5, y - 2.5, x1 - x0 + 5, high + 5, 4);
    ctx.fill(); ctx.stroke();
    boxesHit.push({x0: x0 - 3, y0: y - 3, x1: x1 + 3, y1: y + high + 3, group: n});
    if (px >= 1.6) for (let i = 0; i < g.n; i++) drawCell(ctx, g, g.first + i, px, y, high, dimmed);
    else if (g.n) drawCrowd(ctx, g, x0, x1, y, high);
    groupTitle(ctx, g, n, x0, x1, y, high);
  });
}

/** Too small to tell apart: one ground, and a stroke where each device with a finding stands. */
function drawCrowd(ctx, g, x0, x1, y, high) {
  ctx.fillStyle = ink.soft;
  ctx.fillRect(x0, y, Math.max(1, x1 - x0), high);
  const step = (x1 - x0) / g.n;
  for (let i = 0; i < g.n; i++) {
    const cell = g.first + i, what = stateOf(cell);
    if (what === SEEN && !findingsOfCell.has(cell) && !manyIslands) continue;
    const x = x0 + step * i, wide = Math.max(step, 1.6), flagged = findingsOfCell.has(cell);
    if (what !== SEEN && what !== ABSENT) { ctx.fillStyle = hatch(ctx); ctx.fillRect(x, y, wide, high); }
    if (what === ABSENT) { ctx.fillStyle = ink.missing; ctx.fillRect(x, y, wide, high); }
    else if (flagged) { ctx.fillStyle = ink[worstLook(cell).css]; ctx.fillRect(x, y + high * 0.6, wide, high * 0.4); }
    if (manyIslands && islandOf(cell) >= 0) { ctx.fillStyle = ink.islands[islandOf(cell) % 8]; ctx.fillRect(x, y, Math.max(step, 0.5), high * 0.45); }
  }
}

function groupTitle(ctx, g, n, x0, x1, y, high) {
  const room = Math.min(x1, mapBox.w) - Math.max(x0, GUTTER());
  if (room < 30) return;
  const mid = (Math.min(x1, mapBox.w) + Math.max(x0, GUTTER())) / 2;
  ctx.font = `11px ${ink.sans}`;
  ctx.fillStyle = ink.dim;
  const text = fitted(ctx, [g.title, g.short], room);
  if (!text) return;
  const top = g.tier === rowsUp.at(-1), base = g.tier === 0 ? y + high + 16 : y - 8 - (top ? 3 : 0);
  if (g.tier && !top) {
    const wide = ctx.measureText(text).width + 6;
    ctx.globalAlpha = 0.88; ctx.fillStyle = ink.bg;
    ctx.fillRect(mid - wide / 2, base - 10, wide, 13);
    ctx.globalAlpha = 1; ctx.fillStyle = ink.dim;
  }
  ctx.fillText(text, mid, base);
}

const fitted = (ctx, texts, room) => texts.find(text => ctx.measureText(text).width <= room) ?? "";

function drawCell(ctx, g, cell, px, y, high, dimmed) {
  const mid = cellX(cell);
  if (mid + px / 2 < GUTTER() - 8 || mid - px / 2 > mapBox.w) return;
  const gap = px > 6 ? Math.min(4, px * 0.14) : px > 3 ? 0.6 : 0.2, x0 = mid - px / 2 + gap / 2, wide = Math.max(0.8, px - gap);
  const what = stateOf(cell), away = dimmed && !dimmed.cells.has(cell);
  ctx.globalAlpha = away ? 0.35 : 1;
  ctx.fillStyle = what === UNSEEN || what === UNREAD ? hatch(ctx) : what === ABSENT ? ink.bg : ink.soft;
  ctx.fillRect(x0, y, wide, high);
  if (px >= 5) {
    ctx.lineWidth = 1;
    ctx.strokeStyle = what === ABSENT ? ink.missing : ink.edge ?? ink.dim;
    ctx.setLineDash(what === ABSENT || what === UNPLANNED ? [3, 2] : []);
    ctx.strokeRect(x0 + 0.5, y + 0.5, Math.max(0, wide - 1), high - 1);
    ctx.setLineDash([]);
  }
  if (what === ABSENT) cross(ctx, x0, y, wide, high);
  else if (findingsOfCell.has(cell)) flag(ctx, cell, x0, y, wide, high, px);
  if (manyIslands) islandBar(ctx, cell, x0, y, wide, high, px);
  if (g.tier === 0 && px >= 18) drawCards(ctx, cell, x0, y, wide, high);
  else if (g.tier && px >= PORTS && links.whole) drawPorts(ctx, cell, mid, px, y, high);
  if (px >= (g.tier ? 26 : 60)) cellName(ctx, g, cell, mid, wide, y, high, px);
  ctx.globalAlpha = 1;
  if (px >= 3) boxesHit.push({x0, y0: y, x1: x0 + wide, y1: y + high, cell});
  if (mapFocus === cell) { ctx.strokeStyle = ink.link; ctx.lineWidth = 2.5; ctx.strokeRect(x0 - 2, y - 2, wide + 4, high + 4); }
  if (dimmed && dimmed.cells.has(cell) && dimmed.cells.size < 60 && px >= 4) { ctx.strokeStyle = ink.ink; ctx.lineWidth = px > 14 ? 1.6 : 1; ctx.strokeRect(x0 - 0.5, y - 0.5, wide + 1, high + 1); }
}

function cross(ctx, x, y, w, h) {
  ctx.strokeStyle = ink.missing;
  ctx.lineWidth = w > 5 ? 1.8 : 1.2;
  ctx.beginPath();
  ctx.moveTo(x, y); ctx.lineTo(x + w, y + h);
  if (w > 3) { ctx.moveTo(x + w, y); ctx.lineTo(x, y + h); }
  ctx.stroke();
}

/** A device that a finding names: a corner, and the sign of the worst class where there is room. */
function flag(ctx, cell, x, y, w, h, px) {
  const look = worstLook(cell);
  ctx.fillStyle = ink[look.css];
  if (px < 12) { ctx.fillRect(x, y + h - Math.min(h, 9), Math.max(1.5, w), Math.min(h, 9)); return; }
  const size = Math.min(13, w * 0.6);
  ctx.beginPath(); ctx.moveTo(x + w, y); ctx.lineTo(x + w - size, y); ctx.lineTo(x + w, y + size); ctx.fill();
}

const worstCache = new Map();
function worstLook(cell) {
  if (!worstCache.has(cell)) {
    const classes = findingsOfCell.get(cell).map(i => D.kinds[F[i].kind]?.[1] ?? -1).filter(c => c > 0);
    worstCache.set(cell, classes.length ? LOOK[Math.min(...classes)] : STRAY_LOOK);
  }
  return worstCache.get(cell);
}

function islandBar(ctx, cell, x, y, w, h, px) {
  const n = islandOf(cell);
  if (n < 0) return;
  ctx.fillStyle = ink.islands[n % 8];
  const tall = px >= 12 ? 9 : h * 0.5;
  ctx.fillRect(x, y + h - tall, Math.max(1, w), tall);
  if (px >= 12) { ctx.font = `bold 9px ${ink.sans}`; ctx.fillStyle = ink.bg; ctx.fillText(letter(n), x + w / 2, y + h - 1.5); }
}

function drawCards(ctx, cell, x, y, w, h) {
  const cards = cardsOf(cell), step = (w - 4) / cards.length;
  cards.forEach((card, n) => {
    const left = x + 2 + n * step, wide = Math.max(1, step - 1), i = linkAt.get(portKey(card, 1));
    const cls = i === undefined ? OK : classOf(i), gone = hcas.state[card - C] !== SEEN;
    ctx.fillStyle = gone ? hatch(ctx) : cls === OK ? ink.faint : ink[LOOK[cls].css];
    ctx.fillRect(left, y + 3, wide, 7);
    if (cls !== OK && step > 8) { ctx.fillStyle = ink.bg; ctx.font = `bold 9px ${ink.sans}`; ctx.fillText(LOOK[cls].sign, left + wide / 2, y + 10); }
    if (step >= 6) boxesHit.push({x0: left, y0: y, x1: left + step, y1: y + 12, device: card});
  });
}

function drawPorts(ctx, cell, mid, px, y, h) {
  const order = portsOf(cell);
  for (const [list, py] of [[order.up, y], [order.down, y + h - 7]]) {
    const step = (px - 8) / Math.max(1, list.length);
    for (const key of list) {
      const i = linkAt.get(key), s = strayAt.get(key), x = mid + (order.at.get(key) - 0.5) * (px - 8);
      const cls = i === undefined ? -1 : classOf(i);
      ctx.fillStyle = cls === OK ? ink.faint : cls < 0 ? ink.stray : ink[LOOK[cls].css];
      ctx.fillRect(x - step * 0.36, py, step * 0.72, 7);
      if (s !== undefined) { ctx.fillStyle = ink.stray; ctx.fillRect(x - step * 0.36, py + 2, step * 0.72, 3); }
      if (step >= 15) {
        ctx.fillStyle = ink.dim; ctx.font = `8.5px ${ink.sans}`;
        ctx.fillText(String(key % 8192), x, py === y ? y - 2 : y + h + 8);
      }
      if (step >= 4) boxesHit.push({x0: x - step / 2, y0: py - 3, x1: x + step / 2, y1: py + 10, port: key});
    }
  }
}

function cellName(ctx, g, cell, mid, wide, y, h, px) {
  const name = nameOf(cell), short = name.split(/[-_. ]/).at(-1);
  ctx.font = `${px > 90 ? 12 : 10.5}px ${ink.sans}`;
  ctx.fillStyle = ink.ink;
  const text = fitted(ctx, [name, short], wide - 4);
  if (text) ctx.fillText(text, mid, y + h / 2 + (g.tier === 0 ? 9 : 4));
}

// -- counts -----------------------------------------------------------------------------------------------

function chipWords(pair) {
  const parts = WORST.filter(c => pair.by[c]).map(c => [LOOK[c], pair.by[c]]);
  if (pair.strays) parts.push([STRAY_LOOK, pair.strays]);
  return parts;
}

/** Every band's count: faults as chips that never cover each other, healthy ones where there is room. */
function drawChips(ctx, bands, dimmed) {
  if (dimmed && state.sel.g === undefined) { return; }
  const order = bands.filter(b => b.pair && (wrongIn(b.pair) || b.pair.strays || b.pair.by[5]) && b.level < 2)
    .sort((a, b) => wrongIn(b.pair) + b.pair.strays - wrongIn(a.pair) - a.pair.strays);
  ctx.font = `600 11px ${ink.sans}`;
  ctx.textAlign = "left";
  const much = band => wrongIn(band.pair) + band.pair.strays, least = order.length > 60 ? much(order[0]) / 10 : 0;
  for (const band of order.filter(one => much(one) >= least).slice(0, 120)) chip(ctx, band, chipWords(band.pair));
  ctx.font = `11px ${ink.sans}`;
  ctx.textAlign = "center";
  const fan = new Map();
  for (const band of bands) if (band.level === 0 && !band.same && band.pair.planned) push(fan, byTier(band.pair.a, band.pair.b)[0], band.pair);
  const upright = bands.filter(b => b.pair && b.level < 2 && !b.same && Math.abs(b.x1 - b.x2) < 40 && !wrongIn(b.pair) && !b.pair.strays && !b.pair.by[5]
    && (b.level === 1 || fan.get(byTier(b.pair.a, b.pair.b)[0])?.length === 1));
  if (upright.length < 400) for (const band of upright) if (band.pair.planned > 1) plain(ctx, band);
  fanCounts(ctx, fan);
}

function free(x, y, w, h) {
  if (x < GUTTER() || x + w > mapBox.w) return false;
  return !chipsTaken.some(o => x < o[0] + o[2] && x + w > o[0] && y < o[1] + o[3] && y + h > o[1]);
}

function chip(ctx, band, parts) {
  const texts = parts.map(([look, n]) => `${look.sign}${num(n)}`);
  const widths = texts.map(text => ctx.measureText(text).width + 5), wide = widths.reduce((a, b) => a + b, 3), high = 16;
  for (const t of [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78]) {
    const x = band.x1 + (band.x2 - band.x1) * t - wide / 2, y = band.y1 + (band.y2 - band.y1) * t - high / 2 - (band.same ? 18 : 0);
    if (!free(x, y, wide, high)) continue;
    chipsTaken.push([x, y, wide, high]);
    ctx.fillStyle = ink.card;
    ctx.strokeStyle = ink[parts[0][0].css];
    ctx.lineWidth = 1;
    ctx.beginPath(); ctx.roundRect(x, y, wide, high, 8); ctx.fill(); ctx.stroke();
    let at = x + 4;
    texts.forEach((text, n) => { ctx.fillStyle = ink[parts[n][0].css + "Ink"] ?? ink[parts[n][0].css]; ctx.fillText(text, at, y + 12); at += widths[n]; });
    boxesHit.push({x0: x, y0: y, x1: x + wide, y1: y + high, band});
    return;
  }
}

function plain(ctx, band) {
  const text = num(band.pair.planned), wide = ctx.measureText(text).width + 6;
  const x = (band.x1 + band.x2) / 2 - wide / 2, y = (band.y1 + band.y2) / 2 - 8;
  if (!free(x, y, wide, 16)) return;
  chipsTaken.push([x, y, wide, 16]);
  ctx.fillStyle = ink.bg; ctx.fillRect(x, y, wide, 16);
  ctx.fillStyle = ink.dim; ctx.fillText(text, x + wide / 2, y + 12);
}

/** Bands that fan out are counted at their foot: "8 x 32" is eight bands of 32 cables. */
function fanCounts(ctx, fan) {
  for (const [n, list] of fan) {
    if (list.length < 2) continue;
    const g = groups[n], {y} = rowBox(g.tier), sizes = new Set(list.map(p => p.planned)), total = list.reduce((sum, p) => sum + p.planned, 0);
    const x0 = xOf(g.tier, g.x), x1 = xOf(g.tier, g.x + g.w);
    const text = fitted(ctx, [sizes.size === 1 ? `${list.length} \u00d7 ${[...sizes][0]}` : `${num(total)} up`, num(total)], x1 - x0);
    if (!text || !total) continue;
    const wide = ctx.measureText(text).width, x = (x0 + x1) / 2;
    if (!free(x - wide / 2, y - 34, wide, 14)) continue;
    ctx.fillStyle = ink.bg; ctx.globalAlpha = 0.8; ctx.fillRect(x - wide / 2 - 2, y - 34, wide + 4, 14); ctx.globalAlpha = 1;
    ctx.fillStyle = ink.dim; ctx.fillText(text, x, y - 23);
  }
}

function drawGutter(ctx) {
  const wide = GUTTER();
  ctx.fillStyle = ink.bg;
  ctx.fillRect(0, 0, wide - 6, mapBox.h);
  ctx.textAlign = "left";
  if (wide < 40) return;
  for (const tier of rowsUp) {
    const {y, high} = rowBox(tier), n = groups.filter(g => g.tier === tier).reduce((sum, g) => sum + g.n, 0);
    ctx.font = `600 12px ${ink.sans}`; ctx.fillStyle = ink.ink;
    ctx.fillText(TIERS[tier] ?? `tier ${tier}`, 8, y + high / 2 - 1);
    ctx.font = `11px ${ink.sans}`; ctx.fillStyle = ink.dim;
    ctx.fillText(num(n), 8, y + high / 2 + 13);
  }
}

function outline(ctx, hit) {
  ctx.strokeStyle = ink.link; ctx.lineWidth = 2; ctx.setLineDash([]);
  if (hit.x0 !== undefined) ctx.strokeRect(hit.x0, hit.y0, hit.x1 - hit.x0, hit.y1 - hit.y0);
  const band = hit.band ?? (hit.y2 !== undefined ? hit : null);
  if (band) { ctx.globalAlpha = 0.55; ctx.lineWidth = band.wide + 3; ctx.beginPath(); line(ctx, band); ctx.stroke(); ctx.globalAlpha = 1; }
}
