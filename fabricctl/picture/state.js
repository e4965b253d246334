// What is shown: one object, mirrored in the address so that a link opens the same thing.

const VIEWS = ["map", "matrix", "racks", "order", "changes", "about"];
const state = {
  view: "map",
  sel: null,          // {f|d|l|s|g|p|c|t|a: number}; p is a pair "a-b", a an ambiguity
  lost: "",           // what the address asks for and this report does not have
  q: "", kind: "", rack: "", rail: "", tier: "", cause: "", change: "",
  k: 0, x: 0,         // map: zoom as a multiple of the whole, left edge 0..1
  mp: "", ms: "unit", mz: 1, mx: 0, my: 0,
};
const FILTERS = ["q", "kind", "rack", "rail", "tier", "cause", "change"];
const listeners = [];
const onState = listener => listeners.push(listener);

/** Change something; everybody concerned redraws. */
function update(changes, why = "") {
  const before = {...state};
  Object.assign(state, changes);
  const changed = new Set(Object.keys(changes).filter(key => before[key] !== state[key]));
  if (!changed.size && !why) return;
  if (changed.has("sel") && state.sel) state.lost = "";
  for (const listener of listeners) listener(changed);
  saveSoon();
}

let saving = 0;
function saveSoon() {
  clearTimeout(saving);
  saving = setTimeout(() => {
    const hash = hashOf();
    if (location.hash.slice(1) !== hash) history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  }, 150);
}

/** A device is written by its name: names survive from run to run, numbers do not. */
function selText(sel) {
  if (!sel) return "";
  const [[type, n]] = Object.entries(sel);
  if (type === "f") return F[n].id;
  if (type === "d") return "d:" + nameOf(n);
  if (type === "l") return "l:" + endText(links.a[n], links.ap[n]) + "|" + links.ap[n];
  if (type === "s") return "s:" + endText(links.stray[n][0], links.stray[n][1]) + "|" + links.stray[n][1];
  if (type === "p") return "p:" + nameOf(n[0]) + "|" + nameOf(n[1]);
  if (type === "t") return "t:" + (D.steps[n].id ?? n);
  return `${type}:${n}`;
}

function selOf(text) {
  if (!text) return null;
  if (findingById.has(text)) return {f: findingById.get(text)};
  const type = text[0], rest = text.slice(2);
  if (type === "d" && byName().has(rest)) return {d: byName().get(rest)};
  if (type === "t" && D.steps) {
    const n = D.steps.findIndex((step, i) => String(step.id ?? i) === rest);
    return n >= 0 ? {t: n} : null;
  }
  if (type === "g" && groups[rest]) return {g: Number(rest)};
  if (type === "a" && ambiguities[rest]) return {a: Number(rest)};
  if (type === "c" && D.causes[rest]) return {c: Number(rest)};
  if (type === "p") {
    const [a, b] = rest.split("|").map(name => byName().get(name));
    return a !== undefined && b !== undefined ? {p: [a, b]} : null;
  }
  if (type === "l" || type === "s") {
    const bar = rest.lastIndexOf("|"), port = Number(rest.slice(bar + 1)), end = rest.slice(0, bar);
    const id = byName().get(end) ?? byName().get(end.replace(/\/\d+$/, ""));
    const n = id === undefined ? undefined : (type === "l" ? linkAt : strayAt).get(portKey(id, port));
    return n === undefined ? null : {[type]: n};
  }
  return null;
}

let names = null;
function byName() {
  if (!names) {
    names = new Map();
    for (let id = N - 1; id >= 0; id--) names.set(nameOf(id), id);
  }
  return names;
}

function hashOf() {
  const parts = new URLSearchParams();
  if (state.view !== "map") parts.set("v", state.view);
  if (state.sel) parts.set("s", selText(state.sel));
  for (const key of FILTERS) if (state[key]) parts.set(key, state[key]);
  if (state.k > 1.001) { parts.set("k", state.k.toPrecision(4)); parts.set("x", state.x.toFixed(4)); }
  if (state.mp) parts.set("mp", state.mp);
  if (state.ms !== "unit") parts.set("ms", state.ms);
  if (state.mz > 1.001) { parts.set("mz", state.mz.toPrecision(4)); parts.set("mx", state.mx.toFixed(4)); parts.set("my", state.my.toFixed(4)); }
  return parts.toString();
}

/** Read the address; a bare finding id ("#F-0123456789") is understood, too. */
function readHash() {
  const text = location.hash.slice(1), lone = decodeSafely(text);
  const fresh = {view: "map", sel: null, lost: "", k: 0, x: 0, mp: "", ms: "unit", mz: 1, mx: 0, my: 0};
  for (const key of FILTERS) fresh[key] = "";
  if (findingById.has(lone)) return {...fresh, sel: {f: findingById.get(lone)}};
  if (/^F-[0-9A-Fa-f]{4,}$/.test(lone)) return {...fresh, lost: lone};
  const parts = new URLSearchParams(text);
  if (VIEWS.includes(parts.get("v"))) fresh.view = parts.get("v");
  fresh.sel = selOf(parts.get("s"));
  if (!fresh.sel) fresh.lost = (parts.get("s") ?? "").replace(/^[a-z]:/, "");
  for (const key of FILTERS) fresh[key] = parts.get(key) ?? "";
  for (const key of ["k", "x", "mz", "mx", "my"]) {
    const value = Number(parts.get(key) ?? NaN);
    if (Number.isFinite(value)) fresh[key] = value;
  }
  fresh.mp = parts.get("mp") ?? "";
  if (["unit", "rail", "name", "rack", "island"].includes(parts.get("ms"))) fresh.ms = parts.get("ms");
  return fresh;
}

function decodeSafely(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** What a selection is about: cells, planned cables, strays. Everything else steps back. */
let focusFor = undefined, focusSets = null;
function focus() {
  if (focusFor === state.sel) return focusSets;
  focusFor = state.sel;
  if (!state.sel) return focusSets = null;
  const cells = new Set(), ls = new Set(), ss = new Set();
  const addLinks = ids => ids.forEach(l => { ls.add(l); cells.add(cellOf(links.a[l])); cells.add(cellOf(links.b[l])); });
  const addStrays = ids => ids.forEach(s => { ss.add(s); cells.add(cellOf(links.stray[s][0])); cells.add(cellOf(links.stray[s][2])); });
  const {f, d, l, s, g, p, c, t, a} = state.sel;
  if (f !== undefined) {
    const one = F[f];
    (one.d ?? []).forEach(id => cells.add(cellOf(id)));
    addLinks(one.l ?? []); addStrays(one.s ?? []);
    for (const i of one.l ?? []) for (const key of [portKey(links.a[i], links.ap[i]), portKey(links.b[i], links.bp[i])])
      if (strayAt.has(key)) addStrays([strayAt.get(key)]);
  }
  if (d !== undefined) {
    const cell = cellOf(d);
    cells.add(cell);
    const mine = id => d === cell || id === d;
    addLinks((linksOf.get(cell) ?? []).filter(i => d === cell || mine(links.a[i]) || mine(links.b[i])));
    addStrays((straysOf.get(cell) ?? []).filter(i => d === cell || mine(links.stray[i][0]) || mine(links.stray[i][2])));
    if (!links.whole) for (const pair of pairsOfCell.get(cell) ?? []) { cells.add(pair.a); cells.add(pair.b); }
  }
  if (l !== undefined) {
    addLinks([l]);
    for (const key of [portKey(links.a[l], links.ap[l]), portKey(links.b[l], links.bp[l])])
      if (strayAt.has(key)) addStrays([strayAt.get(key)]);
  }
  if (s !== undefined) addStrays([s]);
  if (g !== undefined) for (let i = 0; i < groups[g].n; i++) cells.add(groups[g].first + i);
  if (p !== undefined) {
    const pair = pairOf(pairs, p[0], p[1]);
    cells.add(p[0]); cells.add(p[1]);
    addLinks(pair.links); addStrays(pair.strayIds);
  }
  if (c !== undefined) {
    addLinks(D.causes[c].l); D.causes[c].d.forEach(id => cells.add(cellOf(id)));
    for (const i of D.causes[c].l) for (const key of [portKey(links.a[i], links.ap[i]), portKey(links.b[i], links.bp[i])])
      if (strayAt.has(key)) addStrays([strayAt.get(key)]);
  }
  if (a !== undefined) [...ambiguities[a].devices, ...ambiguities[a].places].forEach(id => cells.add(cellOf(id)));
  if (t !== undefined) {
    const step = D.steps[t];
    step.d.forEach(id => cells.add(cellOf(id)));
    for (const [id, port] of step.p) {
      cells.add(cellOf(id));
      if (linkAt.has(portKey(id, port))) addLinks([linkAt.get(portKey(id, port))]);
      if (strayAt.has(portKey(id, port))) addStrays([strayAt.get(portKey(id, port))]);
    }
  }
  return focusSets = {cells, links: ls, strays: ss};
}
