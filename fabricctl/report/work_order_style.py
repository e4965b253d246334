"""Style sheet of the printed work order: black on white, shapes and words instead of colour.

The page takes the paper it is printed on (A4 and Letter alike: nothing is wider than the narrower, nothing is placed by
the height) unless a size is asked for. Header and footer are margin boxes (CSS Paged Media Level 3; Chromium from 131
on); browsers without them print the facts on the first page only. No step is broken across pages.
"""

from __future__ import annotations

from enum import StrEnum


class Paper(StrEnum):
    """Paper sizes by the names CSS has for them."""

    ANY = "any"
    A4 = "A4"
    LETTER = "letter"


STYLE = """
:root { --line: #999; --soft: #eee; --dim: #444; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 6mm; max-width: 200mm; background: #fff; color: #000; overflow-wrap: anywhere;
  font: 9pt/1.32 "Liberation Sans", Arial, Helvetica, "DejaVu Sans", sans-serif; }
h1, h2, h3, p, ul, dl, dd { margin: 0; }
h1 { font-size: 17pt; line-height: 1.2; }
h2 { font-size: 12pt; margin: 5mm 0 2mm; border-bottom: 1.5pt solid #000; break-after: avoid; }
.sum { font-size: 11pt; font-weight: bold; margin: 1mm 0 3mm; }
.r { display: grid; grid-template-columns: 16mm 1fr; break-inside: avoid; }
.s .two { display: flex; gap: 4mm; }
.s dl { flex: 1 1 0; min-width: 0; font-size: 8.5pt; }
.s.long { break-inside: auto; }
dt { color: var(--dim); font-size: 7.5pt; line-height: 1.5; }
dd { min-width: 0; }
ul { padding-left: 4.5mm; }
li { break-inside: avoid; }
.warn { border: 1.5pt solid #000; padding: 2mm 3mm; margin-top: 3mm; break-inside: avoid-page; }
.warn h2 { margin-top: 0; border: 0; }
a { color: inherit; text-decoration: none; }
small { font-size: 7.5pt; color: var(--dim); }
.s { break-inside: avoid; border: 0.75pt solid #000; border-left-width: 3pt; margin: 0 0 2.2mm;
  padding: 0.8mm 2mm 1.2mm; }
.s.more { margin-top: -2.2mm; border-top-style: dashed; }
.s header { display: flex; gap: 3mm; align-items: baseline; }
.s header b { font-size: 12pt; }
.s header .k { font-weight: bold; border: 0.75pt solid #000; padding: 0 1.5mm; }
.s header .id { font-family: "Liberation Mono", "DejaVu Sans Mono", monospace; }
.s header .g { margin-left: auto; flex: none; }
.s header > * { min-width: 0; }
.do { font-size: 9.5pt; font-weight: bold; margin: 0.6mm 0 0.8mm 6mm; text-indent: -6mm; }
.box { display: inline-block; width: 3.6mm; height: 3.6mm; border: 1pt solid #000; margin: 0 2.4mm 0 0; text-indent: 0;
  vertical-align: -0.6mm; }
.lab { font-family: "Liberation Mono", "DejaVu Sans Mono", monospace; font-size: 8pt; }
.sign { display: flex; gap: 4mm; margin-top: 2.6mm; font-size: 7.5pt; line-height: 1; color: var(--dim); }
.sign span { flex: 1; border-bottom: 0.75pt solid var(--line); padding-bottom: 0.3mm; }
.new-page { break-before: page; }
.place { break-inside: avoid; margin-bottom: 1mm; }
.cols { columns: 2; column-gap: 6mm; font-size: 8pt; }
.cols p { break-inside: avoid; padding-left: 3mm; text-indent: -3mm; }
.cols h3 { font-size: 9.5pt; break-after: avoid; margin-top: 1.5mm; }
footer { margin-top: 4mm; font-size: 7.5pt; color: var(--dim); }
@media print { body { padding: 0 0.5mm; max-width: none; } }
"""


def page_rule(left: str, right: str, bottom: str, paper: Paper) -> str:
    """The @page rule. :param left: and :param right: head of every page, :param bottom: its foot; any text."""
    size = "" if paper is Paper.ANY else f" size: {paper.value} portrait;"
    font = "font: 7.5pt 'Liberation Sans', Arial, sans-serif; color: #333;"
    return (
        f"@page {{{size} margin: 15mm 12mm 14mm;\n"
        f"  @top-left {{ content: {_string(left)}; {font} width: 62%; }}\n"
        f"  @top-right {{ content: {_string(right)}; {font} }}\n"
        f"  @bottom-left {{ content: {_string(bottom)}; {font} width: 75%; }}\n"
        f"  @bottom-right {{ content: 'page ' counter(page) ' of ' counter(pages); {font} }}\n"
        "}\n"
    )


def _string(text: str) -> str:
    """A CSS string of any text: whatever is no plain letter or digit is written by its code point."""
    return (
        '"'
        + "".join(c if c.isascii() and (c.isalnum() or c in " .,:/_-+()") else f"\\{ord(c):x} " for c in text)
        + '"'
    )
