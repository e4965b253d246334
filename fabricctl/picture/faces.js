// Port panels as one sees them from the side of the ports, and racks. Schematic only.

/** What stands at a port, for its picture. */
function portLook(id, port) {
  const l = linkAt.get(portKey(id, port)), s = strayAt.get(portKey(id, port));
  if (stateOf(id) !== SEEN && isSwitch(id)) return {look: l !== undefined && classOf(l) === 1 ? LOOK[1] : LOOK[5], css: l !== undefined && classOf(l) === 1 ? "missing" : "unknown"};
  if (l === undefined) return s !== undefined ? {look: STRAY_LOOK, css: "stray"} : {look: null, css: links.whole ? "empty" : "healthy"};
  const cls = classOf(l);
  return {look: LOOK[cls], css: LOOK[cls].css};
}

/** Cages of a face in rows and columns; where their places are unknown, in order, two rows. */
function cagesOf(face) {
  if (face.cages) return face.cages;
  const by = new Map();
  for (const p of face.ports) push(by, p[0], p);
  const known = face.ports.every(p => p[4] > 0);
  const rowNames = [...new Set(face.ports.map(p => p[3]))].sort((a, b) => rowRank(a) - rowRank(b));
  const list = [...by.entries()];
  const half = Math.ceil(list.length / 2);
  face.cages = {
    known, rows: known ? rowNames.length : list.length > 8 ? 2 : 1,
    columns: known ? Math.max(...face.ports.map(p => p[4])) : list.length > 8 ? half : list.length,
    list: list.map(([cage, ports], n) => ({
      cage, ports, row: known ? rowNames.indexOf(ports[0][3]) : list.length > 8 ? n % 2 : 0,
      column: known ? ports[0][4] - 1 : list.length > 8 ? Math.floor(n / 2) : n,
    })),
  };
  return face.cages;
}

const rowRank = name => name === "top" ? 0 : name === "bottom" ? 99 : Number(name) || 50;

/** A face for a switch of which only the number of ports is known. */
const plainFaces = new Map();
function anyFace(id) {
  const face = faceOf(id);
  if (face) return face;
  const used = [...(linksOf.get(cellOf(id)) ?? []).flatMap(i => ownPorts(i, id)), ...(straysOf.get(cellOf(id)) ?? []).flatMap(s => strayPorts(s, id))];
  const count = Math.max(isSwitch(id) ? sw.ports[id] : 0, ...used, 0);
  if (!count) return null;
  if (!plainFaces.has(count)) plainFaces.set(count, {name: "", side: "", cage: "", status: {rows: "unknown"}, sources: {},
    ports: Array.from({length: count}, (_, n) => [String(n + 1), 1, n + 1, "", 0, "", "", {}])});
  return plainFaces.get(count);
}

/** The panel with a caption that says what is certain. :param ports: those to frame. */
function panelFigure(id, ports, big = false) {
  const face = anyFace(id);
  if (!face) return null;
  const {rows, columns, list, known} = cagesOf(face), per = Math.max(...list.map(c => c.ports.length));
  const unit = 13, wide = unit * per + 5, tall = 22, w = columns * (wide + 3) + 8, h = rows * (tall + 3) + 8;
  const framed = new Set(ports), hcasBehind = new Map(isHost(id) ? cardsOf(id).map(card => [D.cards[hcas.card[card - C]], card]) : []);
  const picture = svg("svg", {viewBox: `0 0 ${w} ${h}`, class: big ? "face big" : "face", role: "group", "aria-label": `ports of ${nameOf(id)}`});
  picture.append(svg("rect", {x: 1, y: 1, width: w - 2, height: h - 2, rx: 3, class: "plate"}));
  for (const cage of list) {
    const x = 5 + cage.column * (wide + 3), y = 5 + cage.row * (tall + 3);
    picture.append(svg("rect", {x, y, width: wide, height: tall, rx: 2, class: "cage"}));
    picture.append(svg("text", {x: x + wide / 2, y: y + 7, class: "cagename"}, cage.cage));
    cage.ports.forEach((p, n) => {
      const own = p[6] ? hcasBehind.get(p[6]) : id, number = p[2];
      picture.append(portMark(own ?? id, number, x + 2.5 + n * unit, y + 8.5, unit, framed.has(number), own !== undefined));
    });
  }
  const rowsWord = face.status?.rows ?? (known ? "" : "unknown"), side = face.side;
  const caption = [face.name && `${face.name}${face.cage ? `, ${face.cage}` : ""}`,
    side ? `seen from the ${side} of the rack${face.status?.side && face.status.side !== "confirmed" ? ` (${face.status.side})` : ""}` : "side of the rack not known",
    known ? (rowsWord && rowsWord !== "confirmed" ? `arrangement ${rowsWord}` : "") : "arrangement unknown: in the order of the numbers", "schematic"].filter(Boolean).join("; ");
  return el("figure", {class: "panel"}, el("figcaption", {}, choose({d: id}, nameOf(id)), placeOf(id) ? ` ${placeOf(id)}` : "", stateOf(id) !== SEEN ? el("em", {text: " " + STATES[stateOf(id)].split(":")[0]}) : null), picture, el("p", {class: "sub", text: caption}));
}

function portMark(id, port, x, y, size, framed, there) {
  const {look, css} = there ? portLook(id, port) : {look: null, css: "empty"};
  const words = [endFull(id, port), ...portWords(id, port)].join("\n");
  const l = linkAt.get(portKey(id, port)), s = strayAt.get(portKey(id, port));
  const sel = l !== undefined ? {l} : s !== undefined ? {s} : {d: id};
  const node = svg("g", {class: `port p-${css}${framed ? " framed" : ""}`, tabindex: -1, role: "button", "aria-label": words.replaceAll("\n", ", "),
    onclick: () => update({sel}), onkeydown: panelKey},
    svg("rect", {x: x + 0.5, y, width: size - 1, height: 11, rx: 1.5}));
  if (css === "unknown") node.append(svg("path", {d: `M${x + 1} ${y + 10}l9 -9M${x + 5} ${y + 10.5}l6.500 -6.500`, class: "strike"}));
  const sign = look && look !== LOOK[0] ? look.sign : "";
  node.append(sign ? svg("text", {x: x + size / 2, y: y + 8.6, class: "sign"}, sign) : svg("text", {x: x + size / 2, y: y + 8.2, class: "number"}, String(port)));
  node.append(svg("title", {}, words));
  return node;
}

/** Arrow keys walk along the ports of a panel. */
function panelKey(event) {
  const all = [...event.currentTarget.closest("svg").querySelectorAll(".port")], at = all.indexOf(event.currentTarget);
  const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 2, ArrowUp: -2}[event.key];
  if (step !== undefined) { all[clamp(at + step, 0, all.length - 1)].focus(); event.preventDefault(); }
  else if (event.key === "Enter" || event.key === " ") { event.currentTarget.dispatchEvent(new MouseEvent("click")); event.preventDefault(); }
}

// -- racks ------------------------------------------------------------------------------------------------

const RACKS_AT_ONCE = 60;
let racksShown = RACKS_AT_ONCE, rackRows = null;

/** Racks with their devices: row, position, then name. */
function rackTable() {
  if (rackRows) return rackRows;
  const by = new Map(D.racks.map(r => [r[0], {name: r[0], units: r[1], row: r[2], position: r[3], devices: []}]));
  for (let cell = 0; cell < C; cell++) { const name = rackOf(cell); if (by.has(name)) by.get(name).devices.push(cell); }
  const natural = new Intl.Collator("en", {numeric: true});
  return rackRows = [...by.values()].sort((a, b) => natural.compare(a.row, b.row) || a.position - b.position || natural.compare(a.name, b.name));
}

const unitNumber = cell => Number(/\d+/.exec(unitText(cell))?.[0] ?? 0);

/** Lowest unit and height; a height nobody stated is one unit, or up to the next device of a rack of equals. */
function spanOf(cell, rack) {
  const stated = cell < S ? sw.height[cell] : hosts.height[cell - S];
  const low = unitNumber(cell);
  if (stated) return {low, high: stated, stated: true};
  if (cell < S) return {low, high: 1, stated: false};
  const above = rack.devices.map(unitNumber).filter(u => u > low).sort((a, b) => a - b)[0];
  return {low, high: clamp((above ?? low + 4) - low, 1, 6), stated: false};
}

function showRacks() {
  if (state.view !== "racks") return;
  const box = $("racks");
  if (!hasMap || !D.racks.length) { box.replaceChildren(el("p", {class: "empty", text: "Neither plan nor site file says where devices stand: no rack can be drawn. Add a_rack and a_u columns to the cabling list, or places to the site file."})); return; }
  const focused = focus(), all = rackTable(), flagged = rack => rack.devices.some(cell => findingsOfCell.has(cell) || stateOf(cell) !== SEEN || ambiguityOf.has(cell));
  let list = state.rack ? all.filter(r => r.name === state.rack) : focused ? all.filter(r => r.devices.some(cell => focused.cells.has(cell))) : all.filter(flagged);
  const why = state.rack ? `rack ${state.rack}` : focused ? "racks of the selection" : list.length ? "racks with findings or with what cannot be told" : "all racks";
  if (!list.length) list = all;
  const own = state.sel?.d !== undefined ? rackOf(state.sel.d) : "";
  if (own) list = [...list.filter(r => r.name === own), ...list.filter(r => r.name !== own)];
  const faces = [...new Set((D.panels.faces ?? []).map(f => f.side && `${f.name}: ${f.side}${f.status.side && f.status.side !== "confirmed" ? ` (${f.status.side})` : ""}`).filter(Boolean))];
  const selected = state.sel?.d !== undefined ? state.sel.d : focused && focused.cells.size <= 4 ? [...focused.cells].find(isSwitch) : undefined;
  const framed = focused && selected !== undefined ? [...focused.links].flatMap(i => ownPorts(i, selected)).filter(() => state.sel.d === undefined) : [];
  box.replaceChildren(
    selected !== undefined ? el("div", {class: "bigface"}, panelFigure(isHca(selected) ? cellOf(selected) : selected, framed, true)) : "",
    el("p", {class: "note"}, `${why}: ${num(Math.min(list.length, racksShown))} of ${plural(all.length, "rack")}. `,
      faces.length ? `Drawn as seen from the side of the switch ports (${faces.join("; ")}); from the other side left and right are exchanged. ` : "From which side the ports are seen is not stated. ",
      "Schematic: a height nobody stated is drawn as it fits. ",
      list.length < all.length ? el("button", {type: "button", onclick: () => { racksShown = 1e9; update({rack: "", sel: null}, "all"); showAllRacks(); }, text: "show all racks"}) : null),
    el("div", {class: "rackrow"}, list.slice(0, racksShown).map(rack => rackFigure(rack, focused, tallest(list)))),
    list.length > racksShown ? el("button", {type: "button", class: "more", text: `show ${num(list.length - racksShown)} more racks`, onclick: () => { racksShown = 1e9; showRacks(); }}) : "");
}

function showAllRacks() {
  const row = $("racks").querySelector(".rackrow");
  row?.replaceChildren(...rackTable().map(rack => rackFigure(rack, null, tallest(rackTable()))));
}

/** Racks side by side are drawn equally high. */
const tallest = list => list.reduce((high, rack) => Math.max(high, rack.units, ...rack.devices.map(cell => { const s = spanOf(cell, rack); return s.low + s.high - 1; })), 10);

/** Hatching of a box: nothing is known of it. */
function strikes(x, y, wide, tall) {
  let d = "";
  for (let at = 0; at + tall <= wide; at += 7) d += `M${x + at} ${y + tall}l${tall} ${-tall}`;
  return d;
}

function rackFigure(rack, focused, high) {
  const spans = rack.devices.map(cell => [cell, spanOf(cell, rack)]);
  const top = rack.units || high, unit = 13, w = 190, left = 24;
  const picture = svg("svg", {viewBox: `0 0 ${w} ${top * unit + 4}`, width: w, height: top * unit + 4, role: "group", "aria-label": `rack ${rack.name}`});
  picture.append(svg("rect", {x: left, y: 2, width: w - left - 2, height: top * unit, class: "plate"}));
  for (let u = 5; u <= top; u += 5) picture.append(svg("text", {x: left - 4, y: 2 + (top - u + 1) * unit - 3, class: "unit"}, String(u)));
  for (const [cell, {low, high}] of spans) {
    if (!low) continue;
    const y = 2 + (top - low - high + 1) * unit, what = stateOf(cell), bad = findingsOfCell.has(cell);
    const css = what === ABSENT ? "absent" : what !== SEEN || ambiguityOf.has(cell) ? "unknown" : bad ? "flagged" : "fine";
    const node = svg("g", {class: `unitbox u-${css}${focused?.cells.has(cell) ? " framed" : ""}`, tabindex: 0, role: "button", onclick: () => update({sel: {d: cell}}),
      onkeydown: event => { if (event.key === "Enter" || event.key === " ") { update({sel: {d: cell}}); event.preventDefault(); } }, "aria-label": cellWords(cell).filter(Boolean).join(", ")},
      svg("rect", {x: left + 2, y: y + 0.5, width: w - left - 6, height: high * unit - 1, rx: 1}),
      css === "unknown" ? svg("path", {d: strikes(left + 2, y + 0.5, w - left - 6, high * unit - 1), class: "strike", opacity: 0.55}) : null,
      svg("text", {x: left + 6, y: y + high * unit / 2 + 3.5}, cut(nameOf(cell), 24)),
      ambiguityOf.has(cell) ? svg("text", {x: w - 12, y: y + high * unit / 2 + 3.5, class: "sign unsure"}, "?")
        : css === "flagged" || css === "absent" ? svg("text", {x: w - 12, y: y + high * unit / 2 + 3.5, class: "sign"}, css === "absent" ? LOOK[1].sign : worstLook(cell).sign) : null,
      svg("title", {}, cellWords(cell).filter(Boolean).join("\n")));
    picture.append(node);
  }
  const lost = spans.filter(([, s]) => !s.low).length;
  return el("figure", {class: "rack"}, el("figcaption", {text: rack.name}), el("p", {class: "sub", text: rack.row && rack.row !== rack.name ? `row ${rack.row}${rack.position ? `, position ${rack.position}` : ""}` : ""}), picture, lost ? el("p", {class: "sub", text: `${lost} without a unit`}) : null);
}

const cut = (text, most) => text.length <= most ? text : text.slice(0, 3) + "\u2026" + text.slice(4 - most);
