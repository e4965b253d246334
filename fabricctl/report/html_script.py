"""The HTML report's script: search, filter by kind, open what an address points at, unfold for printing."""

SCRIPT = """
(() => {
  const bar = document.getElementById("tools");
  if (!bar) return;
  const query = document.getElementById("q"), shown = document.getElementById("shown");
  const chips = [...bar.querySelectorAll("button[data-kind]")];
  const kinds = [...document.querySelectorAll("section.kind")];
  const groups = [...document.querySelectorAll("details.g")].map(box => ({box, open: box.open}));
  const items = [...document.querySelectorAll(".f")].map(el => ({
    el, kind: el.closest("section.kind").dataset.kind, group: el.closest("details.g"), text: null}));
  const text = item => item.text ??= `${item.el.textContent} ${item.el.dataset.g}`.toLowerCase();

  function apply() {
    const words = query.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const wanted = new Set(chips.filter(c => c.getAttribute("aria-pressed") === "true").map(c => c.dataset.kind));
    const alive = new Set();
    let count = 0;
    for (const item of items) {
      const hit = (!wanted.size || wanted.has(item.kind)) && words.every(w => text(item).includes(w));
      item.el.hidden = !hit;
      if (hit) { count++; alive.add(item.kind); if (item.group) alive.add(item.group); }
    }
    for (const section of kinds) section.hidden = !alive.has(section.dataset.kind);
    for (const group of groups) {
      group.box.hidden = !alive.has(group.box);
      group.box.open = words.length && count <= 300 ? true : group.open;
    }
    const all = items.length.toLocaleString("en");
    shown.textContent = count === items.length ? `${all} findings` : `${count.toLocaleString("en")} of ${all} findings`;
  }

  let timer;
  query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(apply, 120); });
  for (const chip of chips) chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    apply();
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== query) { event.preventDefault(); query.focus(); }
    if (event.key === "Escape" && document.activeElement === query) { query.value = ""; apply(); }
  });

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.closest("main")) return;
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not([open])")];
    for (const box of closed) box.open = true;
  });
  addEventListener("afterprint", () => { for (const box of closed) box.open = false; });

  bar.hidden = false;
  apply();
  reveal();
})();
"""
