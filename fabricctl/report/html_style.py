"""The HTML report's style sheet: light, dark and print; the eight colours of Okabe and Ito (2008).

Colour never speaks alone: every class of cable has its word, its mark and its texture too.
"""

STYLE = """
:root {
  color-scheme: light dark;
  --bg: #fbfbfa; --card: #fff; --ink: #1b1d1f; --dim: #5c6268; --line: #dedfe0; --soft: #f1f1ef;
  --link: #0059a0; --ok: #009e73; --bad: #d55e00; --doubt: #e69f00;
  --ok-ink: #00694d; --bad-ink: #a34700; --doubt-ink: #7d5600; --hit: #fdeede; --shade: rgb(0 0 0 / 30%);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #15171a; --card: #1c1f23; --ink: #e7e8ea; --dim: #9da3aa; --line: #33373d; --soft: #24282d;
    --link: #7cc1f5; --ok-ink: #3fd0a4; --bad-ink: #ff9a56; --doubt-ink: #f0bb4a; --hit: #43290f;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 6.5rem; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.5 var(--sans); }
main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem; }
a { color: var(--link); }
h1, h2, h3, h4, p, dl, dd, ul { margin: 0; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .5rem; display: flex; gap: .5rem; align-items: baseline; flex-wrap: wrap; }
h3 small, h2 small { font-weight: 400; color: var(--dim); font-size: .85rem; }
ul { padding-left: 1.2rem; }
li + li { margin-top: .25rem; }
.mono, .f dd.m, td.m { font-family: var(--mono); font-size: .9em; }
.dim { color: var(--dim); }
.f, li, td, dd, p { overflow-wrap: anywhere; }
.num { white-space: nowrap; overflow-wrap: normal; }

.verdict { max-width: 68rem; margin: 0 auto; padding: 1.75rem 1.25rem 0; }
.verdict > div { background: var(--card); border: 1px solid var(--line); border-left: .5rem solid var(--tone);
  border-radius: .5rem; padding: 1.1rem 1.4rem 1.2rem; }
.verdict.ok { --tone: var(--ok); --tone-ink: var(--ok-ink); }
.verdict.findings { --tone: var(--bad); --tone-ink: var(--bad-ink); }
.verdict.could_not_tell { --tone: var(--doubt); --tone-ink: var(--doubt-ink); }
.asked { color: var(--dim); font-size: .9rem; }
h1 { font-size: 1.9rem; line-height: 1.25; color: var(--tone-ink); letter-spacing: -.01em; }
h1 span { margin-right: .35rem; }
.answer { font-size: 1.15rem; margin-top: .2rem; text-wrap: pretty; }
.headline { margin-top: .35rem; }
.headline::first-letter, .reach::first-letter { text-transform: uppercase; }
.facts { margin-top: .8rem; display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem;
  font-size: .88rem; }
.facts dt { color: var(--dim); }
.facts dd { min-width: 0; overflow-wrap: anywhere; }
.doubts { border-left: .25rem solid var(--doubt); padding: .1rem 0 .1rem 1rem; }

.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { font-weight: 600; font-size: .82rem; color: var(--dim); text-align: left; vertical-align: bottom; }
th, td { padding: .28rem .9rem .28rem 0; }
.num { text-align: right; }
.counts td, .counts tbody th { padding-top: .5rem; padding-bottom: .15rem; font-size: .95rem; }
.counts tbody th { color: var(--ink); white-space: nowrap; }
.counts thead th { white-space: nowrap; }
.counts .zero { color: var(--dim); opacity: .75; }
.counts .some { font-weight: 600; }
.counts tr.bar td { padding: 0 0 .45rem; border-bottom: 1px solid var(--line); }
.counts tr.sum td, .counts tr.sum th { font-weight: 650; }
.counts tr > :last-child, .list tr > :last-child { padding-right: 0; }
.stack { display: flex; gap: 1px; height: .6rem; border-radius: .15rem; overflow: hidden; }
.stack i { min-width: 4px; display: block; }
.sw { display: inline-block; width: .75rem; height: .75rem; border-radius: .15rem; margin-right: .3rem;
  vertical-align: -.06rem; }
.c-ok { background: #009e73; }
.c-missing { background: repeating-linear-gradient(45deg, #d55e00 0 3px, #8f3f00 3px 5px); }
.c-miswired { background: repeating-linear-gradient(-45deg, #cc79a7 0 3px, #8c4a70 3px 5px); }
.c-swapped { background: repeating-linear-gradient(90deg, #56b4e9 0 3px, #0072b2 3px 6px); }
.c-degraded { background: repeating-linear-gradient(0deg, #f0e442 0 2px, #a89e12 2px 4px); }
.c-not_judged { background: repeating-linear-gradient(90deg, #8a8f94 0 1px, transparent 1px 4px), var(--soft); }
.list th, .list td { border-bottom: 1px solid var(--line); vertical-align: top; }
.list .num { width: 1%; }
.beside { margin-top: .6rem; font-size: .9rem; color: var(--dim); }

#tools { position: sticky; top: 0; z-index: 2; background: var(--bg); padding: .6rem 0;
  border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .5rem .6rem; align-items: center; }
#tools[hidden] { display: none; }
#q { font: inherit; flex: 1 1 16rem; min-width: 12rem; padding: .35rem .7rem; border: 1px solid var(--line);
  border-radius: .4rem; background: var(--card); color: var(--ink); }
#shown { font-size: .88rem; color: var(--dim); min-width: 8rem; text-align: right; }
.chips { display: flex; flex-wrap: wrap; gap: .35rem; width: 100%; }
.chips button { font: inherit; font-size: .85rem; padding: .12rem .65rem; border-radius: 1rem; cursor: pointer;
  border: 1px solid var(--line); background: var(--card); color: var(--ink); }
.chips button[aria-pressed="true"] { background: var(--ink); color: var(--bg); border-color: var(--ink); }
.chips .sw, h3 .sw { margin-right: .1rem; }
.chips b { font-weight: 600; font-variant-numeric: tabular-nums; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }

.f { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .55rem .9rem .65rem;
  margin-top: .45rem; content-visibility: auto; contain-intrinsic-size: auto 7.4rem; }
.f[hidden], .g[hidden], .kind[hidden] { display: none; }
.f:target { border-color: var(--link); box-shadow: 0 0 0 1px var(--link); }
.f h4 { font-size: .95rem; font-weight: 600; }
.f h4 a { float: right; margin-left: 1rem; font-size: .78rem; font-weight: 400; color: var(--dim);
  text-decoration: none; }
.f h4 a:hover { text-decoration: underline; }
.f dl { display: grid; grid-template-columns: 4.8rem 1fr; gap: 0 .6rem; margin-top: .2rem; font-size: .92rem; }
.f dt { color: var(--dim); font-size: .84rem; line-height: 1.65; }
.f dd { min-width: 0; }
.f dd b { background: var(--hit); border-radius: .15rem; font-weight: 700; padding: 0 .1rem; margin: 0 -.1rem; }
.f details { margin-top: .35rem; font-size: .88rem; }
.f ul { columns: 19rem; column-gap: 1.5rem; list-style: none; padding: 0; margin-top: .3rem; }
.f li { margin: 0; padding: .05rem 0; break-inside: avoid; }
summary { cursor: pointer; }
.g { margin-top: .5rem; }
.g > summary { padding: .3rem 0; font-size: .93rem; }
.g > summary b { font-weight: 600; }
footer { margin-top: 2.5rem; padding-top: .8rem; padding-bottom: 2rem; color: var(--dim); font-size: .85rem; }

@media (max-width: 40rem) {
  main, footer { padding-left: .8rem; padding-right: .8rem; }
  .verdict { padding: .8rem .8rem 0; }
  .verdict > div { padding: .8rem 1rem; }
  h1 { font-size: 1.5rem; }
  .answer { font-size: 1rem; }
  html { scroll-padding-top: 1rem; }
  #tools { position: static; }
  .counts .empty { font-size: 0 !important; padding: 0; }
  .counts .empty .sw { display: none; }
  .counts td, .counts tbody th { font-size: .85rem; }
  .counts thead th { white-space: normal; font-size: .7rem; }
  .counts .sw { display: block; margin: 0 0 .15rem auto; }
  th, td { padding-right: .4rem; }
  .stack { position: sticky; left: 0; width: calc(100vw - 1.6rem); }
  .f { padding: .5rem .7rem; }
  .f dl { grid-template-columns: 4.1rem 1fr; }
}
@media print {
  :root { --bg: #fff; --card: #fff; --ink: #000; --dim: #444; --line: #bbb; --soft: #eee; --hit: #eee; }
  html { font-size: 12px; }
  body { font-size: 1rem; }
  .counts .empty { font-size: 0 !important; padding: 0; }
  .counts .empty .sw { display: none; }
  #tools, .f h4 a { display: none !important; }
  .f { content-visibility: visible; break-inside: avoid; }
  .f:has(ul) { break-inside: auto; }
  h2, h3 { break-after: avoid; }
  .stack, .sw, .verdict > div { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main, footer, .verdict { max-width: none; }
}
"""
