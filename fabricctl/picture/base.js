// The data under numbers, and what everything else asks of it.
// Device numbers: switches 0..S-1, hosts S..C-1 (a "cell" is one of these two), HCAs C..N-1.

const D = JSON.parse(document.getElementById("data").textContent);
const R = D.report;
const hasMap = Boolean(D.map);
const sw = hasMap ? D.nodes.switches : {name: [], tier: []};
const hosts = hasMap ? D.nodes.hosts : {name: []};
const hcas = hasMap ? D.nodes.hcas : {host: [], card: [], name: {}};
const S = sw.name.length, C = S + hosts.name.length, N = C + hcas.host.length;
const groups = hasMap ? D.map.groups : [];
const links = hasMap ? D.links : {a: [], ap: [], b: [], bp: [], c: "", line: [], wrong: [], stray: [], whole: true};
const L = links.a.length;
const OK = 0, NOT_JUDGED = 5, NOT_ASKED = 6;
const TIERS = {0: "host", 1: "leaf", 2: "spine", 3: "core", 9: "tier unknown"};
const OUTSIDE = 2;  // of a stray: one of its devices is not planned, which is no fault by itself
const UNASKED = 4, UNSURE = 5;  // outside --only; of a switch that cannot be told apart: none of them is counted as wrong
const isAside = s => [OUTSIDE, UNASKED, UNSURE].includes(links.stray[s][4]);
const SEEN = 0, ABSENT = 1, UNSEEN = 2, UNPLANNED = 3, UNREAD = 4;
const STATES = ["seen", "absent: planned and gone, everything that should face it is down",
  "not discovered: nothing can be said of it", "not in the plan", "named by a neighbour, never read itself"];
const STRAYS = ["in contradiction to the plan", "unexpected: the plan leaves these ports empty",
  "to a device outside the plan", "loops back to the same device",
  "outside of what was asked: not judged", "of a switch that cannot be told apart: not judged"];
// Per class: sign, style sheet's name, dashes on the map.
const LOOK = [
  {word: "ok", sign: "\u2713", css: "ok", dash: []},
  {word: "missing", sign: "\u00d7", css: "missing", dash: [6, 4]},
  {word: "miswired", sign: "\u2260", css: "miswired", dash: [2, 3]},
  {word: "swapped", sign: "\u21c4", css: "swapped", dash: [10, 3, 2, 3]},
  {word: "degraded", sign: "\u25bd", css: "degraded", dash: [1, 2]},
  {word: "not judged", sign: "?", css: "unknown", dash: [1, 5]},
  {word: "not asked", sign: "\u00b7", css: "unknown", dash: [1, 5]},
];
const STRAY_LOOK = {word: "lies elsewhere", sign: "+", css: "stray", dash: []};
const WORST = [1, 2, 3, 4, 5];

const num = n => n.toLocaleString("en");
const plural = (n, word, many) => `${num(n)} ${n === 1 ? word : many ?? word + "s"}`;
const $ = id => document.getElementById(id);

/** An element; text is only ever set as text. Properties beginning with "on" are listeners. */
function el(tag, props, ...children) {
  const node = document.createElement(tag);
  return fill(node, props, children);
}

/** An SVG element. */
function svg(tag, props, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "text") node.textContent = value;
    else if (key === "value" || key === "checked" || key === "hidden" || key === "open") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(3)) if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}

// -- devices ----------------------------------------------------------------------------------------------

const isSwitch = id => id < S;
const isHost = id => id >= S && id < C;
const isHca = id => id >= C;
const cellOf = id => id < C ? id : hcas.host[id - C];

function nameOf(id) {
  if (id < S) return sw.name[id];
  if (id < C) return hosts.name[id - S];
  return hcas.name[id - C] ?? `${hosts.name[hcas.host[id - C] - S]} ${D.cards[hcas.card[id - C]]}`;
}

const tierOf = id => id < S ? sw.tier[id] : 0;
const guidOf = id => id < S ? sw.guid[id] : id < C ? "" : hcas.guid[id - C];
const stateOf = id => id < S ? sw.state[id] : id < C ? hostState(id) : hcas.state[id - C];
const serialOf = id => (hasMap && D.nodes.serials[id]) || "";

function rackOf(id) {
  const cell = cellOf(id), n = cell < S ? sw.rack[cell] : hosts.rack[cell - S];
  return n < 0 ? "" : D.racks[n][0];
}

function unitText(id) {
  const cell = cellOf(id), u = cell < S ? sw.u[cell] : hosts.u[cell - S];
  return u && !/^u/i.test(u) ? `U${u}` : u;
}

const placeOf = id => [rackOf(id), unitText(id)].filter(Boolean).join(" ");
const suOf = id => { const cell = cellOf(id); return cell < S ? sw.unit[cell] : hosts.unit[cell - S]; };

/** Rails as the verdict names them: "rail 3" where declared, else the HCA's own name. */
function railOf(id) {
  if (id < S) return sw.rail[id] ? `rail ${sw.rail[id]}` : "";
  if (id < C) return "";
  return hcas.rail[id - C] ? `rail ${hcas.rail[id - C]}` : D.cards[hcas.card[id - C]] ?? "";
}

/** HCAs of each host. */
const cardsOf = (() => {
  const of = Array.from({length: C - S}, () => []);
  for (let i = 0; i < N - C; i++) of[hcas.host[i] - S].push(C + i);
  return id => of[id - S];
})();

/** A host is what all its cards are; where they differ it is seen. */
function hostState(id) {
  const states = new Set(cardsOf(id).map(card => hcas.state[card - C]));
  return states.size === 1 ? [...states][0] : SEEN;
}

const islandOf = id => {
  const list = id < S ? sw.island : id < C ? null : hcas.island;
  if (list === null) {  // a host's cards may lie on several
    const all = new Set(cardsOf(id).map(islandOf));
    return all.size === 1 ? [...all][0] : -1;
  }
  return list && list.length ? list[id < S ? id : id - C] : -1;
};
const manyIslands = hasMap && sw.island && sw.island.length > 0;
/** The island that holds nearly all: only the others are then marked. */
const mainIsland = (() => {
  if (!manyIslands) return -1;
  const counts = new Map();
  for (const n of sw.island) if (n >= 0) counts.set(n, (counts.get(n) ?? 0) + 1);
  const [most, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [-1, 0];
  return count >= 0.8 * sw.island.filter(n => n >= 0).length ? most : -1;
})();
const markedIsland = id => { const n = islandOf(id); return n === mainIsland ? -1 : n; };
/** Marked islands of a cell: of a host those of its cards, each once. */
const islandsCache = new Map();
function markedIslands(cell) {
  if (!manyIslands) return [];
  if (!islandsCache.has(cell)) {
    const all = isHost(cell) ? [...new Set(cardsOf(cell).map(islandOf))] : [islandOf(cell)];
    islandsCache.set(cell, all.filter(n => n >= 0 && n !== mainIsland));
  }
  return islandsCache.get(cell);
}
const letter = n => n < 26 ? String.fromCharCode(65 + n) : String(n + 1);

/** Devices that cannot be told apart from here: cell -> number of the ambiguity. */
const ambiguities = D.identity?.ambiguities ?? [];
const ambiguityOf = new Map(ambiguities.flatMap((a, n) => [...a.devices, ...a.places].map(id => [cellOf(id), n])));

// -- faces and ports --------------------------------------------------------------------------------------

/** Face of a device: of a host the one of its first card that has one. */
function faceOf(id) {
  if (!hasMap) return null;
  const n = D.panels.of[id] ?? (isHost(id) ? cardsOf(id).map(card => D.panels.of[card]).find(f => f !== undefined) : undefined);
  return n === undefined ? null : D.panels.faces[n];
}

const faceIndex = new Map();
function panelPort(id, port) {
  const face = faceOf(id);
  if (!face) return null;
  if (!faceIndex.has(face)) faceIndex.set(face, new Map(face.ports.filter(p => !p[6]).map(p => [p[2], p])));
  return faceIndex.get(face).get(port) ?? null;
}

/** "14/1": what is printed beside the port; empty when it is the number or unknown. */
function labelOf(id, port) {
  const p = isHca(id) ? null : panelPort(id, port);
  if (!p) return "";
  const face = faceOf(id), single = !face.twin && (face.twin = face.ports.some(q => q[1] > 1) ? 2 : 1) === 1;
  const label = face.twin === 2 ? `${p[0]}/${p[1]}${p[8] ? "/" + p[8] : ""}` : p[7].panel ?? p[0];
  return single && label === String(port) ? "" : label === String(port) ? "" : label;
}

/** "ibl-p01-r1/27"; an HCA's first port is the HCA. */
const endText = (id, port) => isHca(id) && port === 1 ? nameOf(id) : `${nameOf(id)}/${port}`;

/** With label and place. */
function endFull(id, port) {
  const extra = [labelOf(id, port) && `panel ${labelOf(id, port)}`, placeOf(id)].filter(Boolean).join(", ");
  return extra ? `${endText(id, port)} (${extra})` : endText(id, port);
}

// -- cables -----------------------------------------------------------------------------------------------

const classOf = i => links.c.charCodeAt(i) - 48;
const wrongOf = new Map(links.wrong.map(w => [w.i, w]));
const portKey = (id, port) => id * 8192 + port;
const linkAt = new Map(), strayAt = new Map(), linksOf = new Map(), straysOf = new Map();

function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value); else map.set(key, [value]);
}

for (let i = 0; i < L; i++) {
  linkAt.set(portKey(links.a[i], links.ap[i]), i);
  linkAt.set(portKey(links.b[i], links.bp[i]), i);
  const a = cellOf(links.a[i]), b = cellOf(links.b[i]);
  push(linksOf, a, i);
  if (b !== a) push(linksOf, b, i);
}
links.stray.forEach((s, i) => {
  strayAt.set(portKey(s[0], s[1]), i);
  strayAt.set(portKey(s[2], s[3]), i);
  const a = cellOf(s[0]), b = cellOf(s[2]);
  push(straysOf, a, i);
  if (b !== a) push(straysOf, b, i);
});

/** The other end of a planned cable: [device, port]. */
const farEnd = (i, id) => cellOf(links.a[i]) === cellOf(id) && links.b[i] !== id ? [links.b[i], links.bp[i]] : [links.a[i], links.ap[i]];
const linkText = i => `${endText(links.a[i], links.ap[i])} \u2013 ${endText(links.b[i], links.bp[i])}`;
const strayText = i => { const s = links.stray[i]; return `${endText(s[0], s[1])} \u2013 ${endText(s[2], s[3])}`; };

/** Cables between two cells (or two groups), counted: planned, in place, by class; strays beside them. */
function makePair(a, b) {
  return {a, b, planned: 0, by: [0, 0, 0, 0, 0, 0, 0], strays: 0, outside: 0, unasked: 0, unsure: 0, links: [], strayIds: []};
}

const found = pair => pair.by[0] + pair.by[4] + pair.strays;
/** Nothing of it was judged: it lies outside --only. */
const notAsked = pair => pair.planned > 0 && pair.by[NOT_ASKED] === pair.planned && !pair.strays;
const wrongIn = pair => pair.by[1] + pair.by[2] + pair.by[3] + pair.by[4];
const pairs = new Map();

function pairOf(map, a, b) {
  const [low, high] = a < b ? [a, b] : [b, a];
  const key = low * 4194304 + high;
  let pair = map.get(key);
  if (!pair) map.set(key, pair = makePair(low, high));
  return pair;
}

for (let i = 0; i < L; i++) {
  const pair = pairOf(pairs, cellOf(links.a[i]), cellOf(links.b[i]));
  pair.planned++; pair.by[classOf(i)]++; pair.links.push(i);
}
links.stray.forEach((s, i) => {
  const pair = pairOf(pairs, cellOf(s[0]), cellOf(s[2]));
  if (s[4] === OUTSIDE) pair.outside++; else if (s[4] === UNASKED) pair.unasked++; else if (s[4] === UNSURE) pair.unsure++; else pair.strays++;
  pair.strayIds.push(i);
});
if (links.pairs) for (let i = 0; i < links.pairs.n.length; i++) {
  const pair = pairOf(pairs, links.pairs.a[i], links.pairs.b[i]);
  const out = links.pairs.o?.[i] ?? 0;
  pair.planned += links.pairs.n[i]; pair.by[OK] += links.pairs.n[i] - out; pair.by[NOT_ASKED] += out;
}

const groupOf = new Int32Array(C);
groups.forEach((g, n) => { for (let i = 0; i < g.n; i++) groupOf[g.first + i] = n; });
const groupPairs = new Map();
for (const pair of pairs.values()) {
  const total = pairOf(groupPairs, groupOf[pair.a], groupOf[pair.b]);
  total.planned += pair.planned; total.strays += pair.strays; total.outside += pair.outside; total.unasked += pair.unasked; total.unsure += pair.unsure;
  for (let c = 0; c < 7; c++) total.by[c] += pair.by[c];
}
const pairsOfCell = new Map();
for (const pair of pairs.values()) {
  push(pairsOfCell, pair.a, pair);
  if (pair.a !== pair.b) push(pairsOfCell, pair.b, pair);
}

/** "planned 32, found 28: 4 missing". */
function pairWords(pair) {
  const bad = WORST.filter(c => pair.by[c]).map(c => `${num(pair.by[c])} ${LOOK[c].word}`);
  if (pair.strays) bad.push(`${num(pair.strays)} there that the plan has elsewhere or not at all`);
  if (pair.outside) bad.push(`${num(pair.outside)} to a device outside the plan`);
  if (pair.unasked) bad.push(`${num(pair.unasked)} outside of what was asked`);
  if (pair.unsure) bad.push(`${num(pair.unsure)} of a switch that cannot be told apart`);
  if (!D.planned) return plural(pair.planned, "cable");
  if (notAsked(pair)) return `planned ${num(pair.planned)}: not asked, so not judged${pair.unasked ? `; ${num(pair.unasked)} lie otherwise` : ""}`;
  if (pair.by[NOT_ASKED]) bad.push(`${num(pair.by[NOT_ASKED])} not asked`);
  return `planned ${num(pair.planned)}, found ${num(found(pair))}${bad.length ? ": " + bad.join(", ") : ""}`;
}

// -- findings ---------------------------------------------------------------------------------------------

const F = D.findings;
const findingsOfLink = new Map(), findingsOfStray = new Map(), findingsOfCell = new Map();
const findingById = new Map(F.map((f, i) => [f.id, i]));
F.forEach((f, i) => {
  for (const l of f.l ?? []) push(findingsOfLink, l, i);
  for (const s of f.s ?? []) push(findingsOfStray, s, i);
  for (const cell of new Set((f.d ?? []).map(cellOf))) push(findingsOfCell, cell, i);
});
const causeOfLink = new Map();
/** Causes that are more than an exchange of two links, as the screen counts them; exchanges come last in the list. */
const systematic = D.causes.filter(cause => !cause.swap);
D.causes.forEach((cause, n) => { for (const l of cause.l) causeOfLink.set(l, n); });
F.forEach(f => { f.cause = (f.l ?? []).map(l => causeOfLink.get(l)).find(n => n !== undefined) ?? -1; });

/** Every device a finding touches. */
function devicesOf(f) {
  if (!f.touched) {
    const all = new Set(f.d ?? []);
    for (const l of f.l ?? []) { all.add(links.a[l]); all.add(links.b[l]); }
    for (const s of f.s ?? []) { all.add(links.stray[s][0]); all.add(links.stray[s][2]); }
    f.touched = [...all];
  }
  return f.touched;
}

const kindTitle = kind => D.kinds[kind]?.[0] ?? kind.replaceAll("_", " ");
const kindLook = kind => { const c = D.kinds[kind]?.[1] ?? -1; return c >= 0 ? LOOK[c] : null; };

/** The mark of a class: shape and colour. */
const mark = look => el("i", {class: `mark m-${look.css}`, "aria-hidden": "true", text: look.sign});
