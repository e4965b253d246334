// The list at the left: search, filters, findings; and what the filters leave.

const SHOWN_AT_ONCE = 200;
let listed = [], shownMore = SHOWN_AT_ONCE, changeOf = [];

const searchText = f => f.text ??= [f.id, f.kind.replaceAll("_", " "), kindTitle(f.kind), f.headline, f.expected, f.found, f.fix, f.subject,
  ...devicesOf(f).flatMap(id => [nameOf(id), guidOf(id), placeOf(id), serialOf(id)]),
  ...(f.l ?? []).flatMap(l => [links.cable?.[l], links.serial?.[l], labelOf(links.a[l], links.ap[l]), labelOf(links.b[l], links.bp[l])]),
  ...(f.cables ?? []), ...(f.devices ?? [])].filter(Boolean).join(" ").toLowerCase();

const facets = {
  kind: {label: "Kind", of: f => [f.kind], word: kindTitle},
  tier: {label: "Tier", of: f => f.tiers ?? [...new Set((f.d ?? []).filter(isSwitch).map(id => TIERS[tierOf(id)]))]},
  rack: {label: "Rack", of: f => [...new Set(devicesOf(f).map(rackOf).filter(Boolean))]},
  rail: {label: "Rail", of: f => [...new Set(devicesOf(f).map(railOf).filter(Boolean))]},
  cause: {label: "Cause", of: f => [f.cause < 0 ? "none" : D.causes[f.cause].swap ? "swap" : String(f.cause)],
    word: v => v === "none" ? "no cause found" : v === "swap" ? "plain exchange of two links" : D.causes[v]?.headline ?? v},
  change: {label: "Change", of: f => [["still", "new", "returned"][changeOf[F.indexOf(f)] ?? 0]]},
};

function initFindings() {
  const cached = {};
  for (const [key, facet] of Object.entries(facets)) {
    const plain = facet.of;
    facet.of = key === "change" ? plain : f => (f.facet ??= {})[key] ??= plain(f);
    cached[key] = facet;
  }
  fillFilters();
  const query = $("q");
  let timer = 0;
  query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => update({q: query.value}), 90); });
  query.addEventListener("keydown", searchKey);
  $("list").addEventListener("keydown", listKey);
  $("list").addEventListener("click", event => {
    const item = event.target.closest("[data-sel]");
    if (item) update({sel: selOf(item.dataset.sel)});
  });
}

/** What a link asked for and this report does not have. */
function showLost() {
  const box = $("lost"), id = state.lost, gone = comparison && [...comparison.gone, ...comparison.unlooked].find(f => f.id === id);
  box.hidden = !id;
  if (id) box.textContent = /^F-/.test(id) ? `${id} is not in this report (repaired, or another run)${gone ? `: ${gone.headline}` : ""}` : `${id} is not in this report`;
}

function fillFilters() {
  const box = $("filters");
  box.replaceChildren();
  for (const [key, facet] of Object.entries(facets)) {
    if (key === "cause" && !D.causes.length || key === "change" && !changeOf.length) continue;
    const counts = new Map();
    for (const f of F) for (const value of facet.of(f)) counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size < 2 && key !== "kind" && key !== "change") continue;
    const values = [...counts.keys()];
    if (key !== "kind") values.sort(new Intl.Collator("en", {numeric: true}).compare);
    box.append(el("label", {}, el("span", {text: facet.label}),
      el("select", {id: "f-" + key, onchange: event => update({[key]: event.target.value})},
        el("option", {value: "", text: "all"}),
        values.map(value => el("option", {value, text: `${facet.word ? facet.word(value) : value} (${num(counts.get(value))})`})))));
  }
  box.append(el("button", {type: "button", id: "clear", text: "clear", hidden: true, onclick: () => clearFilters()}));
}

function clearFilters() {
  update(Object.fromEntries(FILTERS.map(key => [key, ""])));
}

/** Findings that pass every filter and hold every word that was typed. */
function filtered() {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  return F.filter(f => Object.entries(facets).every(([key, facet]) => !state[key] || facet.of(f).includes(state[key]))
    && words.every(word => searchText(f).includes(word) || searchText(f).includes(word.replace(/^0x/, ""))));
}

function showFindings() {
  listed = filtered();
  if ($("q").value !== state.q && document.activeElement !== $("q")) $("q").value = state.q;
  for (const key of Object.keys(facets)) { const select = $("f-" + key); if (select) select.value = state[key]; }
  const some = FILTERS.some(key => state[key]);
  $("clear").hidden = !some;
  const unsure = ambiguities.length ? `, ${plural(ambiguities.length, "ambiguity", "ambiguities")}` : "";
  $("count").textContent = some ? `${num(listed.length)} of ${plural(F.length, "finding")}` : plural(F.length, "finding") + unsure;
  const list = $("list"), parts = document.createDocumentFragment();
  const at = state.sel?.f !== undefined ? listed.indexOf(F[state.sel.f]) : -1;
  if (at >= shownMore) shownMore = at + 50;
  for (const hit of deviceHits()) parts.append(hit);
  if (!some || state.q) parts.append(...ambiguityItems());
  let kind = "";
  listed.slice(0, shownMore).forEach(f => {
    if (f.kind !== kind) {
      kind = f.kind;
      const many = listed.filter(other => other.kind === kind).length, look = kindLook(kind);
      parts.append(el("h3", {class: "kind"}, look ? mark(look) : null, `${kindTitle(kind)} `, el("small", {text: num(many)})));
    }
    parts.append(findingItem(f));
  });
  if (listed.length > shownMore) parts.append(el("button", {type: "button", class: "more", text: `show ${num(Math.min(500, listed.length - shownMore))} more of ${num(listed.length)}`,
    onclick: () => { shownMore += 500; showFindings(); }}));
  if (!F.length && !ambiguities.length) parts.append(el("p", {class: "empty", text: R.verdict === "ok" ? "Nothing found: no cable, no port, no name is wrong." : "No finding; read what could not be told."}));
  else if (F.length && !listed.length) parts.append(el("p", {class: "empty", text: "No finding matches. "}, el("button", {type: "button", text: "clear the filters", onclick: clearFilters})));
  list.replaceChildren(parts);
  markSelected();
}

function findingItem(f) {
  const n = F.indexOf(f), change = changeOf[n];
  const item = el("div", {class: "item", role: "option", tabindex: -1, "data-sel": f.id, id: "item-" + f.id},
    change ? el("span", {class: "badge", text: ["", "new", "returned"][change]}) : null,
    el("span", {class: "head", text: f.headline}),
    f.found && f.found.length < 120 ? el("span", {class: "sub", text: f.found}) : null);
  return item;
}

/** What has two explanations: no finding, but somebody must look before anything is moved. */
function ambiguityItems() {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const list = ambiguities.map((a, n) => [a, n]).filter(([a]) => {
    const text = [a.title, ...a.devices.map(nameOf), ...a.hypotheses.map(h => h[0]), ...a.decide].join(" ").toLowerCase();
    return words.every(word => text.includes(word));
  });
  return list.length ? [el("h3", {class: "kind"}, el("i", {class: "mark m-unknown", "aria-hidden": "true", text: "?"}), "Cannot be told apart ", el("small", {text: num(list.length)})),
    ...list.map(([a, n]) => el("div", {class: "item", role: "option", tabindex: -1, "data-sel": `a:${n}`},
      el("span", {class: "head", text: a.title}), a.hypotheses.map(([said, moves]) => el("span", {class: "sub", text: `${said} (${plural(moves, "move")})`})),
      el("span", {class: "sub", text: `to decide: ${a.decide[0] ?? "nothing is known"}`})))] : [];
}

/** Devices the typed words name: search finds places too, not only what is wrong. */
function deviceHits() {
  const text = state.q.toLowerCase().trim().replace(/^0x/, "");
  if (text.length < 2 || !hasMap) return [];
  const hits = [];
  let more = 0;
  for (let id = 0; id < N; id++) {
    const hit = nameOf(id).toLowerCase().includes(text) || (text.length > 3 && guidOf(id).includes(text)) || serialOf(id).toLowerCase().includes(text) || rackOf(id).toLowerCase() === text;
    if (!hit) continue;
    if (hits.length < 8) hits.push(id); else more++;
  }
  hits.push(...[]);
  const cables = [...cablesNamed(text)].slice(0, 5);
  if (!hits.length && !cables.length) return [];
  return [el("h3", {class: "kind"}, "Devices ", el("small", {text: num(hits.length + more)})),
    ...hits.map(id => el("div", {class: "item dev", role: "option", tabindex: -1, "data-sel": "d:" + nameOf(id)},
      el("span", {class: "head", text: nameOf(id)}), el("span", {class: "sub", text: [placeOf(id), guidOf(id) && "0x" + guidOf(id)].filter(Boolean).join(", ")}))),
    ...cables.map(i => el("div", {class: "item dev", role: "option", tabindex: -1, "data-sel": selText({l: i})},
      el("span", {class: "head", text: (links.cable?.[i] || links.serial?.[i]) + ": " + linkText(i)}))),
    more ? el("p", {class: "empty", text: `and ${num(more)} more`}) : null].filter(Boolean);
}

function* cablesNamed(text) {
  for (const name of ["cable", "serial"])
    for (const [i, label] of Object.entries(links[name] ?? {})) if (label.toLowerCase().includes(text)) yield Number(i);
}

function markSelected() {
  const want = selText(state.sel);
  let chosen = null;
  for (const item of $("list").querySelectorAll("[data-sel]")) {
    const is = item.dataset.sel === want;
    item.setAttribute("aria-selected", String(is));
    item.tabIndex = -1;
    if (is) chosen = item;
  }
  const first = chosen ?? $("list").querySelector("[data-sel]");
  if (first) first.tabIndex = 0;
  chosen?.scrollIntoView({block: "nearest"});
}

function listKey(event) {
  const items = [...$("list").querySelectorAll("[data-sel]")], at = items.indexOf(document.activeElement);
  const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e6, End: 1e6}[event.key];
  if (step !== undefined && items.length) {
    const next = items[clamp((at < 0 ? 0 : at) + (at < 0 ? 0 : step), 0, items.length - 1)];
    update({sel: selOf(next.dataset.sel)});
    [...$("list").querySelectorAll("[data-sel]")].find(item => item.dataset.sel === next.dataset.sel)?.focus();
  } else if (event.key === "Enter" && at >= 0) { update({sel: selOf(items[at].dataset.sel)}); $("detail").focus(); }
  else return;
  event.preventDefault();
}

function searchKey(event) {
  if (event.key === "ArrowDown" || event.key === "Enter") {
    const first = $("list").querySelector("[data-sel]");
    if (first) { update({q: $("q").value}); $("list").querySelector("[data-sel]")?.focus(); update({sel: selOf($("list").querySelector("[data-sel]").dataset.sel)}); }
    event.preventDefault();
  }
}
