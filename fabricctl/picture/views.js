// The verdict's head, the work order, changes between two runs, and what was read.

function showHead() {
  const word = {ok: "\u2713", findings: "\u2717", could_not_tell: "?"}[R.verdict];
  $("head").className = R.verdict;
  $("word").replaceChildren(el("span", {"aria-hidden": "true", text: word}), R.title);
  $("answer").textContent = R.answer;
  $("said").textContent = R.headline.charAt(0).toUpperCase() + R.headline.slice(1);
  const facts = [];
  R.islands_said.slice(0, 1).forEach(text => facts.push(["islands", text]));
  const exchanged = D.causes.length - systematic.length, about = text => el("button", {type: "button", class: "ref", text, onclick: () => update({view: "about"})});
  if (systematic.length) facts.push([plural(systematic.length, "cause"), el("span", {class: "several"}, systematic.slice(0, 3).map(c => el("span", {}, choose({c: D.causes.indexOf(c)}, `${c.headline} (${plural(c.links, "link")})`))), systematic.length > 3 ? el("span", {}, "and ", about(`${systematic.length - 3} more`)) : null)]);
  if (exchanged) facts.push(["exchanges", el("span", {}, `${num(2 * exchanged)} links are plain exchanges of two: `, el("button", {type: "button", class: "ref", text: "list them", onclick: () => update({cause: "swap", sel: null})}))]);
  if (ambiguities.length) facts.push([plural(ambiguities.length, "ambiguity", "ambiguities"), el("span", {class: "several"}, ambiguities.slice(0, 3).map((a, n) => el("span", {}, choose({a: n}, `${a.title} cannot be told apart`))), ambiguities.length > 3 ? el("span", {}, "and ", about(`${ambiguities.length - 3} more`)) : null)]);
  if (D.moves) facts.push(["moves", D.moves]);
  if (R.doubts.length) facts.push(["not told", el("span", {}, R.doubts[0], R.doubts.length > 1 ? el("button", {type: "button", class: "ref", text: ` and ${R.doubts.length - 1} more`, onclick: () => update({view: "about"})}) : null)]);
  $("facts").replaceChildren(...facts.flatMap(([name, value]) => [el("dt", {text: name}), el("dd", {}, value)]));
  const base = text => text.split("/").at(-1), read = R.sources.map(([label]) => label);
  const found = read.length > 1 ? `${base(read[0])} and ${num(read.length - 1)} more` : read.length ? base(read[0]) : "";
  $("made").replaceChildren(...[[D.site, "site"], [R.only && `only ${R.only}`, R.only], [R.plan && `plan ${base(R.plan)}`, R.plan], [found && `found ${found}`, read.join("\n")], [D.made, "when it was judged"]]
    .filter(([text]) => text).map(([text, title]) => el("span", {text, title})));
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

/** Names of the switches a report knows: of a page its own, of a JSON report those of its islands; empty when it names none. */
function switchesOf(data) {
  if (data.nodes) return data.nodes.switches.name;
  return [...data.islands?.planned ?? [], ...data.islands?.seen ?? []].flatMap(island => hostSet(island.switch_set ?? ""));
}

/** "ibl-p[01-16]-r[1-8],x" written out. */
function hostSet(text) {
  const open = part => {
    const match = /^([^[]*)\[([^\]]*)\](.*)$/.exec(part);
    if (!match) return [part];
    const rest = open(match[3]);
    return match[2].split(",").flatMap(item => {
      const [low, high] = item.split("-"), all = [];
      for (let n = Number(low); n <= Number(high ?? low) && all.length < 1e5; n++) all.push(String(n).padStart(low.length, "0"));
      return all;
    }).flatMap(middle => rest.map(end => match[1] + middle + end));
  };
  return text.split(/,(?![^[]*\])/).map(part => part.trim()).filter(Boolean).flatMap(open);
}

/** Spots of an earlier finding, [device, port] in this page's numbers, and its devices; null where it does not tell them. */
function placeOfEarlier(f) {
  const id = name => byKey().get(String(name).toLowerCase().split(/\s+/).join(" "));
  if (f.w) return {links: f.w[0].map(link => link.map(([name, port]) => [id(name), port])), devices: f.w[1].map(id)};
  if (!f.devices && !f.cables?.length) return null;
  const cables = (f.cables ?? []).filter(c => c?.a?.device);
  return {links: cables.map(c => [c.a, c.expected ?? c.found].filter(Boolean).map(end => [id(end.device), end.port])), devices: (f.devices ?? []).map(id)};
}

let keys = null;
/** Device numbers by name in lower case, and by GUID. */
function byKey() {
  if (!keys) {
    keys = new Map();
    for (let id = N - 1; id >= 0; id--) { if (guidOf(id)) keys.set("0x" + guidOf(id), id); }
    for (let id = N - 1; id >= 0; id--) keys.set(nameOf(id).toLowerCase(), id);
  }
  return keys;
}

const BY_LINK = new Set(["swapped", "miswired", "missing", "degraded"]);
const IF_ASKED = new Set(["outside_plan", "unknown_device", "rail", "subnet_manager", "inactive", "card_slot", "identity", "cable_type"]);

/** Whether this run would have shown an earlier finding, as far as the page can tell: when in doubt it would not. */
function wasLookedAt(f) {
  const failed = R.sources.some(source => source[4] || !source[1]), whole = !R.only && !R.doubts.length && !failed;
  const place = placeOfEarlier(f);
  if (IF_ASKED.has(f.kind)) return false;  // the page does not hold whether that check was made
  if (!hasMap || !place) return whole;
  if (BY_LINK.has(f.kind) && D.planned) return place.links.every(linkLookedAt);
  if (f.kind === "absent_device")  // it is back when it is seen
    return place.devices.some(id => id !== undefined && stateOf(id) === SEEN && isChosen(id));
  const ids = [...place.links.flat().map(([id]) => id), ...place.devices].filter(id => id !== undefined);
  if (!ids.length) return whole;
  if (R.only && !ids.some(isChosen)) return false;
  return ids.some(id => stateOf(id) === SEEN) || whole;
}

/** A planned cable was judged on its own; one that left the plan says nothing under --only. */
function linkLookedAt(spots) {
  const [id, port] = spots[0], i = id === undefined ? undefined : linkAt.get(portKey(id, port));
  if (i !== undefined) return classOf(i) !== NOT_JUDGED && classOf(i) !== NOT_ASKED && wrongOf.get(i)?.absent === undefined;
  if (id === undefined || links.whole) return !R.only;
  const near = pairsOfCell.get(cellOf(id)) ?? [];  // healthy cables are counted here: all of a device's, or none
  return near.length > 0 && !near.some(pair => pair.by[NOT_ASKED]);
}

/** Whether every cable of a device is judged: one that --only names. */
const isChosen = id => !(pairsOfCell.get(cellOf(id)) ?? []).some(pair => pair.by[NOT_ASKED]);

/** Compare with a report that was dropped or chosen: the JSON report, or such a page. */
function readReport(text, label) {
  const open = '<script type="application/json" id="data">', start = text.indexOf(open);
  const data = JSON.parse(start < 0 ? text : text.slice(start + open.length, text.indexOf("<\/script>", start)));
  if (!Array.isArray(data.findings) || data.findings.some(f => typeof f.id !== "string")) throw new Error("findings with ids are not in it");
  const theirs = new Set(switchesOf(data).map(name => name.toLowerCase())), own = sw.name.filter(name => theirs.has(name.toLowerCase())).length;
  if (theirs.size && S && own < 0.2 * Math.min(theirs.size, S))
    throw new Error(`it is of another fabric or plan: ${num(own)} of its ${num(theirs.size)} switches are among the ${num(S)} here`);
  const before = new Map([...data.findings, ...data.compare?.unlooked ?? []].map(f => [f.id, f])), now = new Set(F.map(f => f.id));
  const past = new Set([...(data.compare?.past ?? []), ...(data.compare?.gone ?? []).map(f => f.id)]);
  return {
    label, made: String(data.made ?? ""), headline: String((data.report ?? data).headline ?? (data.report ?? data).answer ?? ""),
    status: F.map(f => before.has(f.id) ? 0 : past.has(f.id) ? 2 : 1),
    gone: [...before.values()].filter(f => !now.has(f.id) && wasLookedAt(f)),
    unlooked: [...before.values()].filter(f => !now.has(f.id) && !wasLookedAt(f)),
  };
}

async function loadReport(file) {
  try {
    takeComparison(readReport(await file.text(), file.name));
    update({view: "changes"}, "loaded");
    say(changeWords());
  } catch (error) {
    $("changes").replaceChildren(el("p", {class: "empty", role: "alert", text: `${file.name} is no report of an earlier run of this fabric (${error.message}). Expected a page like this one, or what --format json writes.`}), chooser());
    update({view: "changes"});
    $("changes").dataset.error = "1";
  }
}

function changeWords() {
  const n = [0, 1, 2].map(kind => comparison.status.filter(s => s === kind).length), gone = comparison.gone.length, unlooked = comparison.unlooked.length;
  if (!n[1] && !n[2] && !gone && !unlooked) return `no changes: the same ${plural(F.length, "finding")} in both runs`;
  return [n[1] && `${num(n[1])} new`, n[2] && `${num(n[2])} returned`, gone && `${num(gone)} gone`, unlooked && `${num(unlooked)} not looked at`, `${num(n[0])} still there`].filter(Boolean).join(", ");
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
    ...part("Not looked at: this run did not judge their places, so nothing is known", comparison.unlooked.map(f => [f])),
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
    D.why ? [el("h3", {text: systematic.length ? "Causes, largest explanation first" : "Causes"}), el("p", {class: "sub", text: D.why}), el("ul", {class: "refs"}, systematic.map(c => el("li", {}, choose({c: D.causes.indexOf(c)}, c.headline), ` ${plural(c.links, "link")}, ${c.confidence}. ${c.evidence}`)))] : [],
    id ? [list("Switches that cannot be told apart", id.ambiguities.map(a => `${a.devices.map(nameOf).join(", ")}: ${a.hypotheses.map(([words, moves]) => `${words} (${plural(moves, "move")})`).join(", or ")}. To decide: ${a.decide.join("; ")}`)),
      list("Identities that contradict each other", id.contradictions), list("This is another fabric", id.refusal), list("Discovered switches without a place", id.unplaced), list("Places without a switch", id.unfilled)] : [],
    list("Notes", R.notes),
    el("h3", {text: "Read"}), el("div", {class: "wide"}, el("table", {class: "list"}, el("thead", {}, el("tr", {}, ["source", "format", "nodes", "links"].map(text => el("th", {text})))),
      el("tbody", {}, R.sources.map(([label, format, nodes, ls, failed]) => el("tr", {}, el("td", {text: label}), el("td", {text: failed ? `? ${failed}` : format}), el("td", {text: failed ? "" : num(nodes)}), el("td", {text: failed ? "" : num(ls)})))))),
    el("h3", {text: "Signs"}), el("ul", {class: "signs"}, [...LOOK.slice(0, 6), STRAY_LOOK].map(look => el("li", {}, mark(look), look.word))),
    el("p", {class: "sub", text: `${D.generator}. The same numbers for programs: --format json.`}),
  ].flat(2).filter(Boolean));
}
