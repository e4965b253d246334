// Tabs, keys, theme, and the start.

const TITLES = {map: "Map", matrix: "Matrix", racks: "Racks and panels", order: "Work order", changes: "Changes", about: "More"};

function say(text) { $("live").textContent = text; }

function showTabs() {
  const has = {order: D.steps?.length, changes: comparison ? comparison.status.filter(Boolean).length + comparison.gone.length : 0};
  $("tabs").replaceChildren(...VIEWS.map((view, n) => el("button", {type: "button", role: "tab", id: "tab-" + view, "aria-selected": String(state.view === view), "aria-controls": "stage",
    tabindex: state.view === view ? 0 : -1, onclick: () => update({view}), title: `${TITLES[view]} (${n + 1})`}, TITLES[view], has[view] ? el("small", {text: ` ${num(has[view])}`}) : null)));
}

function showView() {
  for (const view of VIEWS) $("view-" + view).hidden = state.view !== view;
  showTabs();
  tip(null);
}

function tabKey(event) {
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (step === undefined) return;
  update({view: VIEWS[(VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length]});
  $("tab-" + state.view).focus();
  event.preventDefault();
}

function pageKey(event) {
  const typing = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (!$("help").hidden) { toggleHelp(false); return; }
    if (typing?.id === "q" && state.q) { $("q").value = ""; update({q: ""}); }
    else if (typing) typing.blur();
    else update({sel: null});
    return;
  }
  if (typing) return;
  if (event.key === "/") toSearch();
  else if (event.key === "?") toggleHelp($("help").hidden);
  else if (/^[1-6]$/.test(event.key)) { update({view: VIEWS[event.key - 1]}); }
  else if (event.key === "j" || event.key === "k") stepFinding(event.key === "j" ? 1 : -1);
  else if (event.key === "v") $("app").classList.toggle("short");
  else return;
  event.preventDefault();
}

/** Back to the list, which a selection may cover, and into the search box. */
function toSearch() {
  if (!matchMedia("(min-width: 1700px)").matches) update({sel: null});
  $("q").focus();
  $("q").select();
}

function stepFinding(step) {
  if (!listed.length) return;
  const at = state.sel?.f !== undefined ? listed.indexOf(F[state.sel.f]) : step > 0 ? -1 : listed.length;
  update({sel: {f: F.indexOf(listed[clamp(at + step, 0, listed.length - 1)])}});
}

function toggleHelp(show) {
  $("help").hidden = !show;
  if (show) $("help").querySelector("button").focus();
  else $("helpbutton").focus();
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  readInk();
  redrawMap(); redrawMatrix();
}

function isDark() {
  return (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
}

function showLegend() {
  const shown = [...LOOK.slice(0, R.only ? 7 : 6), STRAY_LOOK];
  const isles = manyIslands ? R.islands.slice(0, 9).map((isle, n) => [isle, n]).filter(([, n]) => n !== mainIsland) : [];
  $("legend").replaceChildren(...(D.planned ? shown : [LOOK[0], LOOK[4]]).map(look => el("span", {}, svg("svg", {viewBox: "0 0 26 10", width: 26, height: 10, class: `k-${look.css}`, "aria-hidden": "true"},
    svg("line", {x1: 0, y1: 5, x2: 26, y2: 5, "stroke-dasharray": look.dash.join(" ") || null})), look === LOOK[0] ? (D.planned ? "as planned" : "seen") : look === STRAY_LOOK ? "+ found where not planned" : look === LOOK[6] ? `${look.sign} outside ${R.only}: not judged` : `${look.sign} ${look.word}`)),
    el("span", {}, el("i", {class: "cellmark gone"}), "absent"), el("span", {}, el("i", {class: "cellmark none"}), "unknown"),
    D.planned ? el("span", {text: "dashed: as intended, solid: as found"}) : "",
    ...isles.map(([isle, n]) => el("span", {class: "island"}, el("i", {class: `isle i${n % 8 + 1}`, text: letter(n)}), `island of ${plural(isle.switches, "switch", "switches")}`)),
    manyIslands && R.islands.length > 9 ? el("span", {text: `and ${num(R.islands.length - 9)} more islands`}) : "",
    manyIslands && mainIsland >= 0 ? el("span", {text: `unmarked: the largest island (${letter(mainIsland)})`}) : "");
}

function start() {
  Object.assign(state, readHash());
  readInk();
  takeComparison(comparison);
  initFindings();
  showHead();
  showLegend();
  showView();
  if (hasMap) { initMap(); initMatrix(); }
  else $("view-map").replaceChildren(el("p", {class: "empty", text: "There is no fabric to draw."}));
  onState(changed => {
    const has = (...keys) => keys.some(key => changed.has(key));
    if (has("view")) showView();
    if (has("lost", "sel") || !changed.size) showLost();
    if (has("sel") || !changed.size) { if (has("sel")) { showDetail(); markSelected(); if (state.view === "map") showFocus(); } }
    if (has(...FILTERS) || !changed.size) { if (has("q")) shownMore = SHOWN_AT_ONCE; showFindings(); showTabs(); }
    if (has("mp", "ms")) fillMatrixBar();
    if (has("view", "sel", "rack") || !changed.size) showRacks();
    if (has("view", "sel", "rack", "q")) showOrder();
    if (has("view", "sel") || !changed.size) { showChanges(); showAbout(); }
    redrawMap(); redrawMatrix();
  });
  showLost(); showFindings(); showDetail(); showRacks(); showOrder(); showChanges(); showAbout();
  document.documentElement.classList.add("live");
  $("app").hidden = false;
  document.addEventListener("keydown", pageKey);
  $("tabs").addEventListener("keydown", tabKey);
  $("helpbutton").addEventListener("click", () => toggleHelp(true));
  $("help").addEventListener("click", event => { if (event.target === $("help") || event.target.closest("button")) toggleHelp(false); });
  $("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(document.documentElement.dataset.theme));
  if (hasMap) for (const [id, act] of [["zin", () => zoomBy(1.6, mapBox.w / 2)], ["zout", () => zoomBy(1 / 1.6, mapBox.w / 2)], ["zall", () => update({k: 1, x: 0})]]) $(id).addEventListener("click", act);
  addEventListener("hashchange", () => {
    const fresh = readHash();
    update(fresh, "hash");
    if (fresh.sel && !fresh.k) requestAnimationFrame(showFocus);
  });
  document.addEventListener("dragover", event => { event.preventDefault(); document.body.classList.add("dropping"); });
  document.addEventListener("dragleave", event => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  document.addEventListener("drop", event => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer.files[0]) loadReport(event.dataTransfer.files[0]);
  });
  drawMap(); drawMatrix();
  if (state.sel && !state.k) showFocus();
}

start();
