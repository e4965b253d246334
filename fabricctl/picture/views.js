// The verdict's head, the work order, changes between two runs, and what was read.

function showHead() {
  const word = {ok: "\u2713", findings: "\u2717", could_not_tell: "?"}[R.verdict];
  $("head").className = R.verdict;
  $("word").replaceChildren(el("span", {"aria-hidden": "true", text: word}), R.title);
  $("answer").textContent = R.answer;
  $("said").textContent = R.headline.charAt(0).toUpperCase() + R.headline.slice(1);
  const facts = [];
  R.islands_said.slice(0, 1).forEach(text => facts.push(["islands", text]));
  if (D.causes.length) facts.push([plural(D.causes.length, "cause"), el("span", {}, D.causes.slice(0, 3).flatMap((c, n) => [n ? "; " : "", choose({c: n}, `${c.headline} (${plural(c.links, "link")})`)]), D.causes.length > 3 ? [" and ", el("button", {type: "button", class: "ref", text: `${D.causes.length - 3} more`, onclick: () => update({view: "about"})})] : null)]);
  if (D.moves) facts.push(["moves", D.moves]);
  if (R.doubts.length) facts.push(["not told", el("span", {}, R.doubts[0], R.doubts.length > 1 ? el("button", {type: "button", class: "ref", text: ` and ${R.doubts.length - 1} more`, onclick: () => update({view: "about"})}) : null)]);
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {text: name}), el("dd", {}, value)]));
  const plan = R.plan.split("/").at(-1);
  $("made").replaceChildren(...[D.site, R.only && `only ${R.only}`, plan, D.made].filter(Boolean).map(text => el("span", {text, title: text === plan ? R.plan : null})));
  showCounts();
}

function showCounts() {
  const c = R.counts, rows = Object.entries(c.by_tier);
  if (!D.planned || !c.intended) { $("counts").hidden = true; return; }
  const keys = ["ok", "missing", "miswired", "swapped", "degraded", "not_judged"];
  const shown = keys.filter((key, n) => n === 0 || c[key]);
  const line = (name, row, total) => el("tr", {class: name === "total" ? "sum" : ""}, el("th", {scope: "row", text: name}), el("td", {text: num(total)}),
    shown.map(key => el("td", {class: row[key] ? (key === "ok" ? "" : "some") : "zero", text: num(row[key])})));
  $("counts").replaceChildren(
    el("thead", {}, el("tr", {}, el("th"), el("th", {text: "planned"}), shown.map(key => el("th", {}, mark(LOOK[keys.indexOf(key)]), key.replace("_", " "))))),
    el("tbody", {}, rows.map(([name, row]) => line(name, row, keys.reduce((sum, key) => sum + row[key], 0))), rows.length > 1 ? line("total", c, c.intended) : null));
}

// -- work order -------------------------------------------------------------------------------------------

function showOrder() {
  if (state.view !== "order") return;
  const box = $("order"), words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  if (!D.steps) { box.replaceChildren(el("p", {class: "empty", text: "No work order was made for this report."})); return; }
  if (!D.steps.length) { box.replaceChildren(el("p", {class: "empty", text: "Nothing is to be moved."})); return; }
  const list = D.steps.map((step, n) => ({step, n})).filter(({step}) =>
    words.every(word => JSON.stringify(step).toLowerCase().includes(word) || step.d.some(id => nameOf(id).toLowerCase().includes(word)))
    && (!state.rack || step.d.some(id => rackOf(id) === state.rack)));
  const parts = [el("p", {class: "note"}, `${plural(list.length, "step")}${list.length < D.steps.length ? ` of ${num(D.steps.length)}` : ""}${D.moves ? `; ${D.moves}` : ""}. Search and the rack filter apply here, too. The printed work order is a document of its own.`)];
  let component;
  for (const {step, n} of list.slice(0, 1500)) {
    if (step.component !== undefined && step.component !== component) { component = step.component; parts.push(el("h3", {text: `Group ${component}`})); }
    parts.push(el("div", {class: "step", tabindex: 0, role: "button", "data-sel": selText({t: n}), "aria-selected": String(state.sel?.t === n), onclick: () => update({sel: {t: n}}),
      onkeydown: event => { if (event.key === "Enter") update({sel: {t: n}}); }},
      el("b", {text: String(step.number ?? n + 1)}), el("code", {text: String(step.id ?? "")}),
      el("span", {}, el("span", {class: "from", text: String(step.from ?? "")}), step.from ? " \u2192 " : "", el("span", {class: "to", text: String(step.to ?? "")}))));
  }
  if (list.length > 1500) parts.push(el("p", {class: "empty", text: `and ${num(list.length - 1500)} more: narrow the search`}));
  box.replaceChildren(...parts);
}

// -- two runs ---------------------------------------------------------------------------------------------

let comparison = D.compare;

function takeComparison(change) {
  comparison = change;
  changeOf = change ? change.status : [];
  fillFilters();
}

/** Compare with a report that was dropped or chosen: the JSON report, or such a page. */
function readReport(text, label) {
  const open = '<script type="application/json" id="data">', start = text.indexOf(open);
  const data = JSON.parse(start < 0 ? text : text.slice(start + open.length, text.indexOf("<\/script>", start)));
  if (!Array.isArray(data.findings) || data.findings.some(f => typeof f.id !== "string")) throw new Error("findings with ids are not in it");
  const before = new Map(data.findings.map(f => [f.id, f])), now = new Set(F.map(f => f.id));
  const past = new Set([...(data.compare?.past ?? []), ...(data.compare?.gone ?? []).map(f => f.id)]);
  return {
    label, made: String(data.made ?? ""), headline: String((data.report ?? data).headline ?? (data.report ?? data).answer ?? ""),
    status: F.map(f => before.has(f.id) ? 0 : past.has(f.id) ? 2 : 1),
    gone: [...before.values()].filter(f => !now.has(f.id)),
  };
}

async function loadReport(file) {
  try {
    takeComparison(readReport(await file.text(), file.name));
    update({view: "changes"}, "loaded");
    say(changeWords());
  } catch (error) {
    $("changes").replaceChildren(el("p", {class: "empty", role: "alert", text: `${file.name} is no report of an earlier run (${error.message}). Expected a page like this one, or what --format json writes.`}), chooser());
    update({view: "changes"});
    $("changes").dataset.error = "1";
  }
}

function changeWords() {
  const n = [0, 1, 2].map(kind => comparison.status.filter(s => s === kind).length), gone = comparison.gone.length;
  if (!n[1] && !n[2] && !gone) return `no changes: the same ${plural(F.length, "finding")} in both runs`;
  return [n[1] && `${num(n[1])} new`, n[2] && `${num(n[2])} returned`, gone && `${num(gone)} gone`, `${num(n[0])} still there`].filter(Boolean).join(", ");
}

function chooser() {
  return el("p", {class: "note"}, el("label", {class: "file"}, "Compare with an earlier report (HTML or JSON): ",
    el("input", {type: "file", id: "earlier", accept: ".html,.htm,.json", onchange: event => event.target.files[0] && loadReport(event.target.files[0])})), " or drop it anywhere on this page. It stays on this computer.");
}

function showChanges() {
  if (state.view !== "changes") return;
  const box = $("changes");
  if (box.dataset.error) { delete box.dataset.error; return; }
  if (!comparison) { box.replaceChildren(chooser()); return; }
  const list = kind => F.map((f, n) => [f, n]).filter(([, n]) => comparison.status[n] === kind);
  const part = (title, items) => items.length ? [el("h3", {text: `${title} (${num(items.length)})`}), el("ul", {class: "refs"}, items.slice(0, 500).map(([f, n]) => el("li", {}, kindLook(f.kind) ? mark(kindLook(f.kind)) : null, n === undefined ? el("span", {text: f.headline}) : choose({f: n}, f.headline))))] : [];
  const still = list(0);
  box.replaceChildren(
    el("h2", {id: "changed", text: changeWords()}),
    el("p", {class: "sub", text: `compared with ${comparison.label}${comparison.made ? `, ${comparison.made}` : ""}${comparison.headline ? `: ${comparison.headline}` : ""}`}),
    ...part("New", list(1)), ...part("Returned", list(2)), ...part("Gone", comparison.gone.map(f => [f])),
    el("details", {open: still.length <= 30}, el("summary", {text: `Still there (${num(still.length)})`}), ...part("", still).slice(1)),
    chooser());
}

// -- everything else --------------------------------------------------------------------------------------

function showAbout() {
  if (state.view !== "about") return;
  const list = (title, texts) => texts.length ? [el("h3", {text: title}), el("ul", {}, texts.map(text => el("li", {text})))] : [];
  const id = D.identity;
  $("about").replaceChildren(...[
    list("Could not be told", R.doubts), list("Islands", R.islands_said),
    R.islands.length > 1 ? el("div", {class: "wide"}, el("table", {class: "list"}, el("thead", {}, el("tr", {}, ["", "switches", "HCAs", "rails", "which", "seen by"].map(text => el("th", {text})))),
      el("tbody", {}, R.islands.slice(0, 64).map((i, n) => el("tr", {}, el("td", {}, el("i", {class: `isle i${n % 8 + 1}`, text: letter(n)})), el("td", {text: num(i.switches)}), el("td", {text: num(i.hcas)}), el("td", {text: i.rails}), el("td", {text: i.set}), el("td", {text: i.sources.join(", ")})))))) : [],
    R.unseen.set ? el("p", {class: "sub", text: `unseen switches: ${R.unseen.set}`}) : [],
    R.beside.length ? list("Counted beside the planned cables", R.beside.map(([words, n]) => `${num(n)} ${words}`)) : [],
    D.causes.length ? [el("h3", {text: "Causes, largest explanation first"}), el("ul", {class: "refs"}, D.causes.map((c, n) => el("li", {}, choose({c: n}, c.headline), ` ${plural(c.links, "link")}, ${c.confidence}. ${c.evidence}`)))] : [],
    id ? [list("Switches that cannot be told apart", id.ambiguities.map(a => `${a.devices.map(nameOf).join(", ")}: ${a.hypotheses.map(([words, moves]) => `${words} (${plural(moves, "move")})`).join(", or ")}. To decide: ${a.decide.join("; ")}`)),
      list("Identities that contradict each other", id.contradictions), list("This is another fabric", id.refusal), list("Discovered switches without a place", id.unplaced), list("Places without a switch", id.unfilled)] : [],
    list("Notes", R.notes),
    el("h3", {text: "Read"}), el("div", {class: "wide"}, el("table", {class: "list"}, el("thead", {}, el("tr", {}, ["source", "format", "nodes", "links"].map(text => el("th", {text})))),
      el("tbody", {}, R.sources.map(([label, format, nodes, ls, failed]) => el("tr", {}, el("td", {text: label}), el("td", {text: failed ? `? ${failed}` : format}), el("td", {text: failed ? "" : num(nodes)}), el("td", {text: failed ? "" : num(ls)})))))),
    el("h3", {text: "Signs"}), el("ul", {class: "signs"}, [...LOOK.slice(0, 6), STRAY_LOOK].map(look => el("li", {}, mark(look), look.word))),
    el("p", {class: "sub", text: `${D.generator}. The same numbers for programs: --format json.`}),
  ].flat(2).filter(Boolean));
}
