// What is known of the selected device, cable, pair, finding, cause or step.

/** A planned cable in a sentence. */
function linkWords(i) {
  const w = wrongOf.get(i), cls = classOf(i);
  if (!D.planned) return "seen; no plan was given";
  if (cls === NOT_ASKED) return "outside of what was asked";
  if (!w) return "as planned";
  const parts = [LOOK[cls].word];
  if (w.absent !== undefined) parts.push(`${nameOf(w.absent)} is absent`);
  for (const [far, down, id, port] of [["fa", "sa", links.a[i], links.ap[i]], ["fb", "sb", links.b[i], links.bp[i]]]) {
    if (w[far]) parts.push(`at ${endText(id, port)} found ${endFull(...w[far])}`);
    else if (w[down]) parts.push(`${endText(id, port)} is ${w[down]}`);
  }
  if (w.rate) parts.push(`runs at ${w.rate}${w.want ? `, expected ${w.want}` : ""}`);
  if (w.reason) parts.push(w.reason);
  if (w.excused) parts.push(`excused: ${w.excused}`);
  return parts.join("; ");
}

/** What is planned and found at a port. */
function portWords(id, port) {
  const l = linkAt.get(portKey(id, port)), s = strayAt.get(portKey(id, port)), lines = [];
  if (l !== undefined) { const [far, fp] = otherEnd(l, id, port); lines.push(`${D.planned ? "planned" : "seen"}: ${endFull(far, fp)}`, linkWords(l)); }
  if (s !== undefined) { const t = links.stray[s], far = t[0] === id && t[1] === port ? [t[2], t[3]] : [t[0], t[1]]; lines.push(`found: ${endFull(...far)}`); }
  if (!lines.length) lines.push(links.whole ? "no cable planned, none found" : "as planned or free: healthy cables of a fabric of this size are counted, not listed");
  return lines;
}

const otherEnd = (l, id, port) => links.a[l] === id && links.ap[l] === port ? [links.b[l], links.bp[l]] : [links.a[l], links.ap[l]];

const choose = (sel, text, extra = {}) => el("button", {type: "button", class: "ref", onclick: () => update({sel}), text, ...extra});
const deviceRef = id => choose({d: id}, nameOf(id));
const row = (name, ...value) => value.flat().some(v => v !== "" && v !== null && v !== undefined) ? [el("dt", {text: name}), el("dd", {}, ...value)] : [];

function showDetail() {
  const box = $("detail"), sel = state.sel;
  document.body.classList.toggle("selected", Boolean(sel));
  if (!sel) { box.replaceChildren(el("p", {class: "empty", text: "Select a finding, a device or a cable."})); return; }
  const [[type, n]] = Object.entries(sel);
  const parts = {f: findingDetail, d: deviceDetail, l: linkDetail, s: strayDetail, g: groupDetail, p: pairDetail, c: causeDetail, t: stepDetail, a: ambiguityDetail}[type](n);
  box.replaceChildren(
    el("div", {class: "bar"}, el("button", {type: "button", class: "close", onclick: () => update({sel: null}), "aria-label": "Close the selection"}, "\u2190 list"),
      el("button", {type: "button", onclick: () => { update({view: "map"}); showWorldOfFocus(); }, text: "show on map"}),
      el("button", {type: "button", id: "copy", onclick: copyLink, text: "copy link"})),
    ...parts.flat(3).filter(Boolean));
  box.scrollTop = 0;
}

function showWorldOfFocus() {
  const sets = focus();
  if (sets) { state.k = 1; showFocus(); zoomToFocus(sets); }
}

function zoomToFocus(sets) {
  const own = [...sets.cells].filter(cell => !sharedRows.has(groups[groupOf[cell]].tier));
  if (!own.length) return;
  const xs = own.map(cell => { const g = groups[groupOf[cell]]; return g.x + g.w * (cell - g.first + 0.5) / g.n; });
  showWorld(Math.min(...xs) - 2, Math.max(...xs) + 2, 0.8, Math.min(maxZoom(), 40 / fitScale()));
}

function copyLink() {
  const url = location.href.split("#")[0] + "#" + (state.sel.f !== undefined ? F[state.sel.f].id : hashOf());
  const done = () => { $("copy").textContent = "copied"; say("link copied"); };
  const plainly = () => {
    const area = el("textarea", {class: "away", value: url});
    document.body.append(area); area.select();
    try { document.execCommand("copy"); } finally { area.remove(); }
    done();
  };
  navigator.clipboard?.writeText(url).then(done, plainly) ?? plainly();
}

/** Texts alike but for some words: those words are marked. */
function compared(want, have) {
  const a = (want ?? "").split(" "), b = (have ?? "").split(" ");
  const alike = a.length === b.length && a.some((w, i) => w === b[i]) && a.some((w, i) => w !== b[i]);
  const marked = (words, other) => words.flatMap((w, i) => [alike && w !== other[i] ? el("b", {text: w}) : w, " "]);
  return [marked(a, b), marked(b, a)];
}

function findingDetail(n) {
  const f = F[n], [want, have] = compared(f.expected, f.found), look = kindLook(f.kind);
  const devices = (f.d ?? []).slice(0, 24), place = placesOf(f);
  return [
    el("p", {class: "what"}, look ? mark(look) : null, kindTitle(f.kind), " ", el("code", {text: f.id}), changeOf[n] ? el("span", {class: "badge", text: ["", "new", "returned"][changeOf[n]]}) : null),
    el("h2", {text: f.headline}),
    el("dl", {}, row("expected", ...(f.expected ? want : [])), row("found", ...(f.found ? have : [])), row("do", f.fix ?? ""),
      row("where", place), f.cause >= 0 ? row("cause", choose({c: f.cause}, D.causes[f.cause].headline)) : [],
      row("devices", devices.flatMap((id, i) => [i ? ", " : "", deviceRef(id)]), (f.d ?? []).length > 24 ? ` and ${num(f.d.length - 24)} more` : "")),
    stepsAbout(f.l ?? [], f.d ?? []),
    (f.l ?? []).length ? cableTable(f.l, `${plural(f.l.length, "planned cable")}`) : null,
    (f.s ?? []).length ? strayTable(f.s) : null,
    facesOf(f),
    !(f.l ?? []).length && f.cables ? el("ul", {class: "lines"}, f.cables.slice(0, 200).map(text => el("li", {text}))) : null,
  ];
}

const placesOf = f => [...new Set((f.d ?? []).map(placeOf).filter(Boolean))].slice(0, 8).join(", ");

/** The panels of the switches a finding is about, its ports framed. */
function facesOf(f) {
  const ports = new Map();
  const add = (id, port) => { if (isSwitch(id)) push(ports, id, port); };
  for (const l of (f.l ?? []).slice(0, 80)) { add(links.a[l], links.ap[l]); add(links.b[l], links.bp[l]); }
  for (const s of (f.s ?? []).slice(0, 20)) { add(links.stray[s][0], links.stray[s][1]); add(links.stray[s][2], links.stray[s][3]); }
  const most = [...ports].sort((a, b) => b[1].length - a[1].length).slice(0, (f.l ?? []).length > 4 ? 1 : 4);
  return most.map(([id, list]) => panelFigure(id, list));
}

function deviceDetail(id) {
  const cell = cellOf(id), what = stateOf(id), votes = D.identity?.votes[id];
  const serial = serialOf(id), model = isSwitch(id) ? D.models[sw.model[id]] ?? "" : "";
  const list = (findingsOfCell.get(cell) ?? []).filter(i => isHca(id) ? devicesOf(F[i]).includes(id) : true);
  const face = faceOf(id);
  return [
    el("p", {class: "what", text: isSwitch(id) ? TIERS[tierOf(id)] ?? "switch" : isHost(id) ? "host" : "HCA"}),
    el("h2", {text: nameOf(id)}),
    el("dl", {},
      row("place", placeOf(id) || "not stated"), row("state", what === SEEN ? "seen" : STATES[what]),
      row("GUID", guidOf(id) ? "0x" + guidOf(id) : isHost(id) ? "" : "not known"), row("serial", serial), row("model", model),
      row("unit", suOf(id) ? `SU ${suOf(id)}` : ""), row("rail", railOf(id)),
      row("island", manyIslands && islandOf(id) >= 0 ? `${letter(islandOf(id))}: ${islandWords(islandOf(id))}` : ""),
      isHca(id) ? row("host", deviceRef(cell)) : [],
      votes ? row("identity", identityWords(votes)) : []),
    ambiguityOf.has(cell) ? ambiguity(D.identity.ambiguities[ambiguityOf.get(cell)]) : null,
    isHost(id) ? el("p", {class: "refs"}, cardsOf(id).flatMap(card => [choose({d: card}, D.cards[hcas.card[card - C]] || nameOf(card), {class: "ref" + (hcas.state[card - C] !== SEEN ? " gone" : "")}), " "])) : null,
    list.length ? [el("h3", {text: plural(list.length, "finding")}), el("ul", {class: "refs"}, list.slice(0, 60).map(i => el("li", {}, kindLook(F[i].kind) ? mark(kindLook(F[i].kind)) : null, choose({f: i}, F[i].headline))))] : null,
    stepsAbout([], [id]),
    face || isSwitch(id) ? panelFigure(id, []) : null,
    portTable(id),
  ];
}

const islandWords = n => { const i = R.islands[n]; return i ? `${plural(i.switches, "switch", "switches")}, ${plural(i.hcas, "HCA")} (${i.rails})` : ""; };

function identityWords(v) {
  if (v.source === "declared") return "declared in the site file" + (v.described ? `; calls itself ${v.described}` : "");
  const second = v.second ? `, second best ${v.second}` : "";
  return `by its cables: ${num(v.for)} for, ${num(v.against)} against, margin ${num(v.margin)}${second}${v.described ? `; calls itself ${v.described}` : ""}`;
}

const ambiguityDetail = n => [el("p", {class: "what", text: "two explanations, none of them shown as fact"}), el("h2", {text: ambiguities[n].title}), ambiguity(ambiguities[n])];

/** Hypotheses with what each would cost, and what to look at; none of them is shown as fact. */
function ambiguity(a) {
  return [el("h3", {text: "Cannot be told from here"}),
    el("ul", {class: "lines"}, a.hypotheses.map(([words, moves, renames]) => el("li", {text: `${words} (${plural(moves, "move")}, ${plural(renames, "rename")})`}))),
    el("h3", {text: "What decides"}), el("ul", {class: "lines"}, a.decide.map(text => el("li", {text}))),
    el("p", {class: "refs"}, a.devices.flatMap((id, n) => [n ? ", " : "", deviceRef(id)]))];
}

function portTable(id) {
  const cell = cellOf(id), rows = [];
  const mine = end => end === id || (isHost(id) && cellOf(end) === cell);
  for (const i of linksOf.get(cell) ?? []) for (const [own, port, far, fp] of [[links.a[i], links.ap[i], links.b[i], links.bp[i]], [links.b[i], links.bp[i], links.a[i], links.ap[i]]])
    if (mine(own)) rows.push({own, port, l: i, far, fp, s: strayAt.get(portKey(own, port))});
  for (const s of straysOf.get(cell) ?? []) { const t = links.stray[s]; for (const [own, port] of [[t[0], t[1]], [t[2], t[3]]]) if (mine(own) && !linkAt.has(portKey(own, port))) rows.push({own, port, s}); }
  if (!rows.length) return links.whole ? null : pairList(cell);
  rows.sort((a, b) => a.own - b.own || a.port - b.port);
  const note = links.whole ? "" : " (healthy cables of a fabric of this size are counted, not listed)";
  return [el("h3", {text: `${plural(rows.length, "port")}${note}`}), el("table", {class: "ports"},
    el("thead", {}, el("tr", {}, ["port", D.planned ? "planned" : "seen", ""].map(text => el("th", {text})))),
    el("tbody", {}, rows.map(r => {
      const cls = r.l === undefined ? -1 : classOf(r.l), label = labelOf(r.own, r.port);
      const foundAt = r.s !== undefined ? otherStray(r.s, r.own, r.port) : null;
      return el("tr", {class: cls > 0 || cls < 0 ? "bad" : ""},
        el("td", {}, isHost(id) ? choose({d: r.own}, D.cards[hcas.card[r.own - C]] || nameOf(r.own)) : String(r.port), label ? el("small", {text: ` ${label}`}) : null),
        el("td", {}, r.l !== undefined ? choose({l: r.l}, endText(r.far, r.fp)) : "\u2013", foundAt ? el("div", {class: "sub"}, "found ", choose({s: r.s}, endText(...foundAt))) : null),
        el("td", {}, mark(cls < 0 ? STRAY_LOOK : LOOK[cls]), el("span", {class: "vh", text: cls < 0 ? "not planned" : LOOK[cls].word})));
    }))) ];
}

const otherStray = (s, id, port) => { const t = links.stray[s]; return t[0] === id && t[1] === port ? [t[2], t[3]] : [t[0], t[1]]; };

function pairList(cell) {
  const list = (pairsOfCell.get(cell) ?? []).slice(0, 200);
  return [el("h3", {text: "cabled to"}), el("ul", {class: "refs"}, list.map(p => el("li", {}, choose({p: [p.a, p.b]}, nameOf(p.a === cell ? p.b : p.a)), ` ${pairWords(p)}`)))];
}

function cableTable(ids, title) {
  return [el("h3", {text: title}), el("table", {class: "ports"},
    el("tbody", {}, ids.slice(0, 200).map(i => el("tr", {}, el("td", {}, mark(LOOK[classOf(i)])), el("td", {}, choose({l: i}, linkText(i)), links.line[i] ? el("small", {text: ` plan line ${links.line[i]}`}) : null))))),
  ids.length > 200 ? el("p", {class: "sub", text: `and ${num(ids.length - 200)} more`}) : null];
}

const strayTable = ids => [el("h3", {text: plural(ids.length, "cable") + " found elsewhere"}), el("table", {class: "ports"},
  el("tbody", {}, ids.slice(0, 200).map(s => el("tr", {}, el("td", {}, mark(STRAY_LOOK)), el("td", {}, choose({s}, strayText(s)))))))];

function findingsList(ids) {
  return ids?.length ? el("ul", {class: "refs"}, ids.map(i => el("li", {}, choose({f: i}, F[i].headline)))) : null;
}

function linkDetail(i) {
  const ends = [[links.a[i], links.ap[i]], [links.b[i], links.bp[i]]];
  const cause = causeOfLink.get(i);
  return [
    el("p", {class: "what"}, mark(LOOK[classOf(i)]), D.planned ? "planned cable" : "cable"), el("h2", {text: linkText(i)}),
    el("dl", {}, row("says", linkWords(i)), row("label", links.cable?.[i] ?? ""), row("serial", links.serial?.[i] ?? ""), row("plan line", links.line[i] || ""),
      ends.map(([id, port], n) => row(n ? "to" : "from", deviceRef(id), ` port ${port}${labelOf(id, port) ? `, panel ${labelOf(id, port)}` : ""}${placeOf(id) ? `, ${placeOf(id)}` : ""}`)),
      cause !== undefined ? row("cause", choose({c: cause}, D.causes[cause].headline)) : []),
    findingsList(findingsOfLink.get(i)), stepsAbout([i], []),
    ends.filter(([id]) => isSwitch(id)).map(([id, port]) => panelFigure(id, [port])),
  ];
}

function strayDetail(s) {
  const t = links.stray[s], ends = [[t[0], t[1]], [t[2], t[3]]];
  return [
    el("p", {class: "what"}, mark(STRAY_LOOK), "cable found, not planned"), el("h2", {text: strayText(s)}),
    el("dl", {}, row("says", STRAYS[t[4]]), ends.map(([id, port]) => row(`at ${port}`, deviceRef(id), ` ${placeOf(id)}; `, ...portPlan(id, port)))),
    findingsList(findingsOfStray.get(s)),
    ends.filter(([id]) => isSwitch(id)).map(([id, port]) => panelFigure(id, [port])),
  ];
}

function portPlan(id, port) {
  const l = linkAt.get(portKey(id, port));
  if (l === undefined) return ["the plan leaves this port empty"];
  return ["planned ", choose({l}, endText(...otherEnd(l, id, port)))];
}

function groupDetail(n) {
  const g = groups[n], cells = Array.from({length: g.n}, (_, i) => g.first + i);
  const bands = [...groupPairs.values()].filter(p => p.a === n || p.b === n);
  return [
    el("p", {class: "what", text: TIERS[g.tier] ?? "switches"}), el("h2", {text: g.title}),
    el("button", {type: "button", onclick: () => { update({view: "map"}); openGroup(n); }, text: "open on the map"}),
    el("h3", {text: "cabled to"}), el("ul", {class: "refs"}, bands.map(p => el("li", {}, choose({g: p.a === n ? p.b : p.a}, groups[p.a === n ? p.b : p.a].title), ` (${TIERS[groups[p.a === n ? p.b : p.a].tier] ?? ""}) ${pairWords(p)}`))),
    el("h3", {text: plural(g.n, g.tier ? "switch" : "host", g.tier ? "switches" : "hosts")}),
    el("p", {class: "refs"}, cells.slice(0, 200).flatMap(cell => [choose({d: cell}, nameOf(cell), {class: "ref" + (stateOf(cell) !== SEEN ? " gone" : findingsOfCell.has(cell) ? " flagged" : "")}), " "])),
  ];
}

function pairDetail([a, b]) {
  const pair = pairOf(pairs, a, b);
  return [
    el("p", {class: "what", text: "all cables between"}), el("h2", {text: `${nameOf(a)} \u2013 ${nameOf(b)}`}),
    el("dl", {}, row("cables", pair.planned || pair.strays ? pairWords(pair) : "none planned, none found"), row("devices", deviceRef(a), ", ", deviceRef(b))),
    pair.links.length ? cableTable(pair.links, "planned") : null,
    pair.strayIds.length ? strayTable(pair.strayIds) : null,
    [a, b].filter(isSwitch).map(id => panelFigure(id, [...pair.links.flatMap(i => ownPorts(i, id)), ...pair.strayIds.flatMap(s => strayPorts(s, id))])),
  ];
}

const ownPorts = (i, id) => [links.a[i] === id ? links.ap[i] : 0, links.b[i] === id ? links.bp[i] : 0].filter(Boolean);
const strayPorts = (s, id) => { const t = links.stray[s]; return [t[0] === id ? t[1] : 0, t[2] === id ? t[3] : 0].filter(Boolean); };

function causeDetail(n) {
  const c = D.causes[n], fs = [...new Set(c.l.flatMap(l => findingsOfLink.get(l) ?? []))];
  return [
    el("p", {class: "what", text: c.swap ? "plain exchange of two links" : `cause: ${c.kind} (${c.confidence})`}), el("h2", {text: c.headline}),
    el("dl", {}, row("explains", plural(c.links, "link")), row("evidence", c.evidence), row("do", c.fix), row("on", c.subject), row("devices", c.d.slice(0, 24).flatMap((id, i) => [i ? ", " : "", deviceRef(id)]))),
    fs.length ? [el("button", {type: "button", text: c.swap ? "list all exchanges" : `list its ${plural(fs.length, "finding")}`, onclick: () => update({cause: c.swap ? "swap" : String(n), sel: null})})] : null,
    c.l.length ? cableTable(c.l, plural(c.l.length, "cable") + " explained") : null,
  ];
}

function stepDetail(n) {
  const step = D.steps[n];
  const told = Object.entries(step).filter(([key]) => !["d", "p", "id", "number", "component"].includes(key));
  return [
    el("p", {class: "what"}, "work order step ", el("code", {text: String(step.id ?? n + 1)})), el("h2", {text: stepTitle(step, n)}),
    el("dl", {}, told.map(([key, value]) => row(key.replaceAll("_", " "), String(value))), row("devices", step.d.flatMap((id, i) => [i ? ", " : "", deviceRef(id)]))),
    [...new Set(step.p.map(([id]) => id))].filter(isSwitch).map(id => panelFigure(id, step.p.filter(p => p[0] === id).map(p => p[1]))),
  ];
}

const stepTitle = (step, n) => `${step.number ?? n + 1}. ${step.from ? `${step.from} \u2192 ${step.to ?? ""}` : step.to ?? step.id ?? ""}`;

function stepsAbout(ls, ds) {
  if (!D.steps?.length) return null;
  const ports = new Set(ls.flatMap(i => [portKey(links.a[i], links.ap[i]), portKey(links.b[i], links.bp[i])])), own = new Set(ls.length ? [] : ds);
  const list = D.steps.map((step, n) => [step, n]).filter(([step]) => step.p.some(([id, port]) => ports.has(portKey(id, port))) || step.d.some(id => own.has(id)));
  return list.length ? [el("h3", {text: plural(list.length, "step") + " of the work order"}), el("ul", {class: "refs"}, list.slice(0, 40).map(([step, n]) => el("li", {}, choose({t: n}, stepTitle(step, n)))))] : null;
}
