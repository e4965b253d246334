// What stands on the bands: boxes of groups, switches, hosts and ports, and the counts beside the bands.

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
    if (manyIslands && !light && (px < 12 || g.tier === 0)) islandLetters(ctx, g, px, y, high);
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
    if (what === SEEN && !findingsOfCell.has(cell) && !manyIslands && !ambiguityOf.has(cell)) continue;
    const x = x0 + step * i, wide = Math.max(step, 1.6), flagged = findingsOfCell.has(cell);
    if (what === UNSEEN || what === UNREAD) { ctx.fillStyle = hatch(ctx); ctx.fillRect(x, y, wide, high); }
    if (what === ABSENT) { ctx.fillStyle = ink.missing; ctx.fillRect(x, y, wide, high); }
    else if (flagged) { ctx.fillStyle = ink[worstLook(cell).css]; ctx.fillRect(x, y + high * 0.6, wide, high * 0.4); }
    if (manyIslands) islandBar(ctx, cell, x, y, Math.max(step, 0.5), high, 0);
    if (ambiguityOf.has(cell)) { ctx.fillStyle = hatch(ctx); ctx.fillRect(x, y, wide, high); }
  }
}

function groupTitle(ctx, g, n, x0, x1, y, high) {
  const room = Math.min(x1, mapBox.w) - Math.max(x0, GUTTER()), px = cellPx(g);
  if (room < 12 || (g.n === 1 && px >= 60)) return;
  const mid = (Math.min(x1, mapBox.w) + Math.max(x0, GUTTER())) / 2;
  ctx.font = `11px ${ink.sans}`;
  ctx.fillStyle = ink.dim;
  const text = fitted(ctx, [g.title, g.short], room);
  if (!text) return;
  const top = g.tier === rowsUp.at(-1), base = g.tier === 0 ? y + high + 16 : y - 8 - (top ? 3 : 0) - (px >= PORTS ? 7 : 0);
  if (g.tier && !top) {
    const wide = ctx.measureText(text).width + 6;
    ctx.globalAlpha = 0.88; ctx.fillStyle = ink.bg;
    ctx.fillRect(mid - wide / 2, base - 10, wide, 13);
    ctx.globalAlpha = 1; ctx.fillStyle = ink.dim;
  }
  ctx.fillText(text, mid, base);
}

/** The first text that fits; else the last that says anything, shortened; nothing where not even that has room. */
function fitted(ctx, texts, room) {
  const whole = texts.find(text => ctx.measureText(text).width <= room);
  if (whole !== undefined) return whole;
  return room >= 34 ? shorten(ctx, texts.findLast(text => text) ?? "", room) : "";
}

function drawCell(ctx, g, cell, px, y, high, dimmed) {
  const mid = cellX(cell);
  if (mid + px / 2 < GUTTER() - 8 || mid - px / 2 > mapBox.w) return;
  const gap = px > 6 ? Math.min(4, px * 0.14) : px > 3 ? 0.6 : 0.2, x0 = mid - px / 2 + gap / 2, wide = Math.max(0.8, px - gap);
  const what = stateOf(cell), away = dimmed && !dimmed.cells.has(cell);
  ctx.globalAlpha = away ? 0.35 : 1;
  const unsure = ambiguityOf.has(cell);
  ctx.fillStyle = what === UNSEEN || what === UNREAD || unsure ? hatch(ctx) : what === ABSENT ? ink.bg : ink.soft;
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
  if (unsure && px >= 5) { ctx.font = `bold ${Math.min(16, px * 1.2)}px ${ink.sans}`; ctx.fillStyle = ink.ink; ctx.fillText("?", mid, y + 15); }
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
  if (w > 2 * h) { x += w - h - 2; w = h; }
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

/** Islands of a cell in colour, side by side where a host's cards lie on several; with letters where there is room. */
function islandBar(ctx, cell, x, y, w, h, px) {
  const all = markedIslands(cell);
  if (!all.length) return;
  const tall = px >= 12 ? 10 : h * 0.36, step = w / all.length;
  all.forEach((n, i) => {
    ctx.fillStyle = ink.islands[n % 8];
    ctx.fillRect(x + i * step, y + h - tall, Math.max(0.6, step), tall);
    if (px < 12 || step < 7) return;
    ctx.font = `bold 9px ${ink.sans}`; ctx.fillStyle = ink.bg;
    ctx.fillText(letter(n), x + (i + 0.5) * step, y + h - 1.8);
  });
}

const lettersCache = new Map();
/** Letters of a cell's islands: "A", of a host on many "A\u2013H". */
function lettersOf(cell) {
  if (!lettersCache.has(cell)) {
    const all = [...markedIslands(cell)].sort((a, b) => a - b), run = all.at(-1) - all[0] === all.length - 1;
    lettersCache.set(cell, all.length < 3 ? all.map(letter).join("") : run ? `${letter(all[0])}\u2013${letter(all.at(-1))}` : `${all.slice(0, 3).map(letter).join("")}\u2026`);
  }
  return lettersCache.get(cell);
}

/** Cells too small for a letter each: one for neighbours that are alike, on up to three lines where they alternate. */
function islandLetters(ctx, g, px, y, high) {
  const runs = [];
  for (let i = 0; i < g.n; i++) {
    const text = lettersOf(g.first + i);
    if (runs.at(-1)?.text === text) runs.at(-1).n++; else runs.push({text, from: i, n: 1});
  }
  const told = runs.filter(run => run.text);
  if (!told.length) return;
  ctx.font = `bold 8px ${ink.sans}`;
  ctx.textAlign = "center";
  const left = cellX(g.first) - px / 2, width = run => ctx.measureText(run.text).width + 1;
  const lines = Math.ceil(Math.max(...told.map(run => width(run) / (run.n * px))));
  if (lines > 3) {  // neither: which there are, once for the box
    const all = [...new Set(told.map(run => run.text))].sort(), text = all.length > 2 ? `${all[0]}\u2026${all.at(-1)}` : all.join("");
    if (ctx.measureText(text).width < px * g.n + 4) letterAt(ctx, text, left + px * g.n / 2, y + 8);
    return;
  }
  told.forEach((run, i) => letterAt(ctx, run.text, left + (run.from + run.n / 2) * px, y + 8 + (i % lines) * Math.min(8, (high - 14) / lines)));
}

function letterAt(ctx, text, x, y) {
  if (x < GUTTER() || x > mapBox.w) return;
  ctx.strokeStyle = ink.card; ctx.lineWidth = 2; ctx.lineJoin = "round";
  ctx.strokeText(text, x, y);
  ctx.fillStyle = ink.ink;
  ctx.fillText(text, x, y);
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
  if (light || (dimmed && state.sel.g === undefined)) return;
  const order = bands.filter(b => b.pair && (wrongIn(b.pair) || b.pair.strays || b.pair.by[5]) && b.level < 2)
    .sort((a, b) => wrongIn(b.pair) + b.pair.strays - wrongIn(a.pair) - a.pair.strays);
  ctx.font = `600 11px ${ink.sans}`;
  ctx.textAlign = "left";
  const much = band => wrongIn(band.pair) + band.pair.strays, least = order.length > 60 ? much(order[0]) / 10 : 0;
  for (const band of order.filter(one => much(one) >= least).slice(0, Math.max(12, mapBox.w / 9))) chip(ctx, band, chipWords(band.pair));
  ctx.font = `11px ${ink.sans}`;
  ctx.textAlign = "center";
  const fan = new Map();
  for (const band of bands) if (band.level === 0 && !band.same && band.pair.planned) push(fan, byTier(band.pair.a, band.pair.b)[0], band.pair);
  const upright = bands.filter(b => b.pair && b.level < 2 && !b.same && Math.abs(b.x1 - b.x2) < 40 && !wrongIn(b.pair) && !b.pair.strays && !b.pair.by[5]
    && b.level === 0 && (fan.get(byTier(b.pair.a, b.pair.b)[0])?.length === 1));
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
