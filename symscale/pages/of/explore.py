"""Explorers as pages: formulas, sliders, presets and plots in one file.

The formulas that a page evaluates are those that it shows, translated by SymPy's
code printer.
"""

from collections.abc import Mapping, Sequence
from html import escape

import sympy as sp

from symscale.errors import TooLargeError
from symscale.language.symbols import NOTATION, Notation, notation
from symscale.pages.formats.html import asset, embedded, equation, inline, page
from symscale.pages.formats.json import Json, number
from symscale.pages.formulas.mathml import math
from symscale.pages.formulas.programs import expression
from symscale.studies.explorers.explorer import Choice, Explorer, Mark, Preset, Result, Slider

MOST_BYTES = 500_000
_COLOURS = 4  # in explorer.css
_BEYOND = "no run fits"
END_OF_CONTROLS = """<p id="error" role="alert"></p>
<div class="buttons"><button type="button" id="reset">Reset</button>\
<button type="button" id="link" data-copy="">Copy link</button></div>
</form>"""


def explorer_page(explorer: Explorer) -> str:
    """Return an explorer as a page of HTML.

    Raises:
        TooLargeError: If it is longer than 500 KB.
    """
    parts = [
        f"<h1>{escape(explorer.title)}</h1>",
        f'<p class="lead">{inline(explorer.lead)}</p>',
        "<noscript><p>Sliders and plots need JavaScript; the formulas do not.</p></noscript>",
        '<div class="explorer">',
        _controls(explorer),
        '<div class="results">',
        *(_choice(c, _colours(explorer)) for c in explorer.choices),
        *([_results(explorer.results)] if explorer.results else []),
        _curves(explorer),
        _regions(explorer),
        f"<p class=\"soft\">The steps: symscale derive {explorer.derivation}.</p>",
        "</div></div>",
        embedded("explorer", _data(explorer)),
    ]
    text = page(
        explorer.title, "\n".join(parts), style=asset("explorer.css"),
        script=_formulas(explorer.formulas) + asset("explorer.js"),
    )
    if len(text.encode()) > MOST_BYTES:
        raise TooLargeError(f"the page would have more than {MOST_BYTES // 1000} KB")
    return text


def _colours(explorer: Explorer) -> dict[str, int]:
    """A colour for each piece and curve; those of one name share it."""
    names = [name for c in explorer.choices for name in c.pieces] + list(explorer.curves.lines)
    return {name: k % _COLOURS for k, name in enumerate(dict.fromkeys(names))}


def _formulas(formulas: Mapping[str, sp.Expr]) -> str:
    """The formulas as functions of an object with the parameters."""
    lines = []
    for key, value in formulas.items():
        names = ", ".join(sorted(map(str, value.free_symbols), key=str.casefold))
        lines.append(f"  {key}: ({{ {names} }}) => {expression(value, 'javascript')},")
    return "\n".join(["const formulas = {", *lines, "};", ""])


def _data(explorer: Explorer) -> dict[str, Json]:
    """What the script needs to know."""
    return {
        "sliders": [slider_data(s, notation(s.symbol)) for s in explorer.sliders],
        "presets": [
            {
                "options": [_preset_data(p) for p in options],
                "chosen": explorer.chosen[label],
            }
            for label, options in explorer.presets.items()
        ],
        "choices": [
            {
                "key": c.key, "title": c.title, "function": c.function, "unit": c.unit,
                "pieces": list(c.pieces), "end": None if c.end is None else str(c.end[0]),
                "beyond": _BEYOND,
            }
            for c in explorer.choices
        ],
        "results": [r.key for r in explorer.results],
        "x": str(explorer.curves.x),
        "curves": explorer.curves.title,
        "lines": list(explorer.curves.lines),
        "colours": dict(_colours(explorer)),
        "marks": [{"key": m.key, "title": m.title, "end": m.end} for m in explorer.curves.marks],
        "plane": [str(s) for s in explorer.plane],
        "axes": _axes(explorer),
    }


def slider_data(slider: Slider, entry: Notation) -> dict[str, Json]:
    """What the script needs to know of a slider."""
    return {
        "name": entry.name, "unit": entry.unit, "short": _short(entry.meaning),
        "low": number(slider.low), "high": number(slider.high), "value": number(slider.value),
        "log": slider.log, "whole": slider.whole,
    }


def _short(meaning: str) -> str:
    """The meaning of a symbol up to the first comma or colon."""
    for mark in (",", ":"):
        meaning = meaning.partition(mark)[0]
    return meaning


def _preset_data(preset: Preset) -> dict[str, Json]:
    return {"name": preset.name, "values": {str(s): number(v) for s, v in preset.values.items()}}


def _axes(explorer: Explorer) -> list[Json]:
    """The parameters over which regions of the first choice can be drawn."""
    used = {s for e in explorer.choices[0].pieces.values() for s in e.free_symbols}
    return [str(s.symbol) for s in explorer.sliders if s.log and s.symbol in used]


def _controls(explorer: Explorer) -> str:
    parts = ['<form class="controls" id="controls" aria-label="Parameters">', "<h2>Parameters</h2>"]
    for k, (label, options) in enumerate(explorer.presets.items()):
        parts.append(f'<div class="preset"><label for="preset-{k}">{escape(label)}</label>')
        parts.append(f'<select id="preset-{k}"><option value="">set by hand</option>')
        for preset in options:
            chosen = " selected" if preset.name == explorer.chosen[label] else ""
            parts.append(
                f'<option value="{escape(preset.name)}"{chosen}>{escape(preset.title)}</option>'
            )
        parts.append("</select></div>")
    for group in dict.fromkeys(s.group for s in explorer.sliders):
        parts.append(f"<fieldset><legend>{escape(group)}</legend>")
        own = [s for s in explorer.sliders if s.group == group]
        parts += [slider_control(s, notation(s.symbol)) for s in own]
        parts.append("</fieldset>")
    parts.append(END_OF_CONTROLS)
    return "\n".join(parts)


def slider_control(slider: Slider, entry: Notation) -> str:
    """A slider with its number, as HTML."""
    unit = "" if entry.unit == "1" else entry.unit
    broken = escape(unit).replace("/", "/<wbr>")
    said = escape(f"{entry.name}{f' in {unit}' if unit else ''}, as a number")
    return (
        f'<div class="slider"><label for="s-{entry.name}">{math(slider.symbol)} '
        f"{inline(entry.meaning) if entry.name in NOTATION else escape(entry.meaning)}</label>"
        f'<div class="line"><input type="range" id="s-{entry.name}" min="0" max="1000" step="1">'
        f'<input type="text" id="v-{entry.name}" inputmode="decimal" autocomplete="off" '
        f'spellcheck="false" aria-label="{said}"><span class="unit">{broken}</span>'
        "</div></div>"
    )


def value_of(key: str, unit: str) -> str:
    """Where the script writes a value, with its unit."""
    shown = "" if unit == "1" else f" {escape(unit)}"
    return f'<span class="value"><output id="o-{key}" aria-live="off"></output>{shown}</span>'


def _choice(choice: Choice, colours: Mapping[str, int]) -> str:
    name, value = f'<strong id="n-{choice.key}"></strong>', value_of(choice.key, choice.unit)
    said = f"{name}: {value}" if choice.left is None else f"{math(choice.left)} = {value}: {name}"
    parts = [f"<section><h2>{escape(choice.title)}</h2>", f'<p class="headline">{said}</p>']
    if choice.note:
        parts.append(f"<p>{inline(choice.note)}</p>")
    for k, (name, expr) in enumerate(choice.pieces.items()):
        key = f"{choice.key}_{k}"
        shown = expr if choice.left is None else sp.Eq(choice.left, expr, evaluate=False)
        parts.append(
            f'<div class="piece" id="p-{key}" style="--c: var(--c{colours[name]})">'
            f'<h3>{escape(name)} {value_of(key, choice.unit)} <span class="badge">rules</span></h3>'
            f"{equation(shown)}</div>"
        )
    return "\n".join([*parts, "</section>"])


def _results(results: tuple[Result, ...]) -> str:
    parts = ["<section><h2>Ratios</h2>"]
    for result in results:
        shown = result.expr if result.left is None else sp.Eq(
            result.left, result.expr, evaluate=False
        )
        value = value_of(result.key, result.unit)
        parts.append(
            f'<div class="result"><h3>{escape(result.title)} {value}</h3>'
            f'<p class="soft">{inline(result.note)}</p>{equation(shown)}</div>'
        )
    return "\n".join([*parts, "</section>"])


def _curves(explorer: Explorer) -> str:
    curves = explorer.curves
    marks = "\n".join(_mark(m, curves.x) for m in curves.marks)
    return (
        f"<section><h2>{escape(curves.title)}</h2>\n"
        '<figure><svg id="curves" role="img"></svg>'
        "<figcaption>Circles: the parameters as set. Dashed: cliffs, by their numbers below."
        f'</figcaption></figure>\n<ol class="marks">{marks}</ol></section>'
    )


def _mark(mark: Mark, x: sp.Symbol) -> str:
    unit = notation(x).unit
    return (
        f'<li id="m-{mark.key}">{escape(mark.title)}: {math(x)} = {value_of(mark.key, unit)}'
        f'<span id="f-{mark.key}"></span>{equation(sp.Eq(x, mark.expr, evaluate=False))}</li>'
    )


def _regions(explorer: Explorer) -> str:
    choice = explorer.choices[0]
    rules = "the least" if choice.function == "min" else "the greatest"
    said = f"{choice.title}: each colour is the region in which its piece is {rules}."
    return regions_section([str(name) for name in _axes(explorer)], said)


def regions_section(axes: Sequence[str], said: str) -> str:
    """The map of regions, with what stands under it."""
    options = "".join(f"<option>{escape(name)}</option>" for name in axes)
    selects = "".join(
        f'<label>{text} <select id="axis-{key}">{options}</select></label>'
        for key, text in (("x", "Across"), ("y", "Up"))
    )
    return (
        f'<section><h2>Where which piece rules</h2>\n<div class="axes">{selects}</div>\n'
        '<figure><svg id="regions" role="img"></svg>'
        f"<figcaption>{escape(said)} Circle: the parameters as set.</figcaption></figure>"
        "</section>"
    )
