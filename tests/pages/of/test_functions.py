"""Code out: what is written compiles, runs, and gives what SymPy gives."""

import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest
import sympy as sp
from sympy.core.relational import Relational

from commands import answer, refusal
from symscale.derivation.library import derivation_names, load_derivation
from symscale.derivation.steps import Derivation
from symscale.errors import TooLargeError
from symscale.language.symbols import NOTATION, symbol, symbols
from symscale.pages.formats.code import LANGUAGES, Function, comment, expression, identifier
from symscale.pages.of.functions import (
    answer_functions,
    derivation_functions,
    limit_functions,
)
from symscale.studies.training.answer import cliffs, training_limits

POINTS = 12
SUFFIX = {"python": "py", "c": "c", "javascript": "js"}
Point = dict[Any, Any]
Need = Callable[[str], str]


@cache
def derivation(name: str) -> Derivation:
    return load_derivation(name)


def points(functions: Sequence[Function], seed: str) -> list[Point]:
    """Random values of all arguments, exactly those of doubles."""
    draw = random.Random(seed)
    names = sorted({s for f in functions for s in f.arguments}, key=str)
    found = []
    for _ in range(POINTS):
        values = {}
        for s in names:
            number = draw.uniform(-1, 0.45) if not s.is_positive else 2 ** draw.uniform(-0.1, 7)
            values[s] = sp.Rational(number)
        found.append(values)
    return found


def holds(relation: Relational, at: Point) -> bool:
    """Whether a relation holds, decided with fifty digits."""
    left, right = (side.evalf(50, subs=at) for side in (relation.lhs, relation.rhs))
    return bool(type(relation)(left, right))


def expected(function: Function, at: Point) -> float | str:
    """What SymPy gives, to fifty digits."""
    if not all(holds(c, at) for c in function.conditions):
        return "" if function.names else math.nan
    values = [v.evalf(50, subs=at) for v in function.values]
    if not function.names:
        return float(values[0])
    pick = min if function.least else max
    return function.names[values.index(pick(values))]


def ran(language: str, functions: Sequence[Function], at: Sequence[Point], folder: Path,
        need: Need) -> list[list[Any]]:
    """What the code gives: for each function a list over the points."""
    text = LANGUAGES[language]("A title", functions, {})
    (folder / f"forms.{SUFFIX[language]}").write_text(text, encoding="utf-8")
    return {"python": in_python, "c": in_c, "javascript": in_javascript}[language](
        functions, at, folder, need
    )


def done(command: Sequence[str], folder: Path) -> str:
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, ""), process.stderr[-3000:]
    return process.stdout


def in_python(
    functions: Sequence[Function], at: Sequence[Point], folder: Path, need: Need
) -> list[list[Any]]:
    """All points at once, as arrays."""
    calls = [
        (f.name, {str(s): [float(p[s]) for p in at] for s in f.arguments}) for f in functions
    ]
    script = (
        "import json, sys, numpy as np, forms\n"
        f"for name, given in json.loads({json.dumps(json.dumps(calls))}):\n"
        "    found = getattr(forms, name)(**{k: np.array(v) for k, v in given.items()})\n"
        f"    found = np.broadcast_to(found, {len(at)}).tolist()\n"
        "    print(json.dumps([None if v != v else v for v in found]))\n"
    )
    return lines_of(done([sys.executable, "-c", script], folder))


def in_c(
    functions: Sequence[Function], at: Sequence[Point], folder: Path, need: Need
) -> list[list[Any]]:
    lines = ['#include <stdio.h>', '#include "forms.c"',
             'static void put(double x) { if (x == x) printf("%.17g", x); else printf("null"); }',
             "int main(void) {"]
    for f in functions:
        for k, point in enumerate(at):
            call = f"{f.name}({', '.join(repr(float(point[s])) for s in f.arguments)})"
            lines.append(f'printf("{", " if k else "["}");')
            lines.append(f'printf("\\"%s\\"", {call});' if f.names else f"put({call});")
        lines.append('printf("]\\n");')
    (folder / "main.c").write_text("\n".join([*lines, "return 0; }"]), encoding="utf-8")
    done([need("gcc"), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0", "-o",
          "forms", "main.c", "-lm"], folder)
    return lines_of(done([str(folder / "forms")], folder))


def in_javascript(
    functions: Sequence[Function], at: Sequence[Point], folder: Path, need: Need
) -> list[list[Any]]:
    calls = [
        (f.name, [{str(s): float(p[s]) for s in f.arguments} for p in at]) for f in functions
    ]
    script = (
        'const forms = require("./forms.js");\n'
        f"for (const [name, all] of {json.dumps(calls)})\n"
        "  console.log(JSON.stringify(all.map(one => forms[name](one))));\n"
    )
    (folder / "main.js").write_text(script, encoding="utf-8")
    return lines_of(done([need("node"), "main.js"], folder))


def lines_of(text: str) -> list[list[Any]]:
    return [json.loads(line) for line in text.splitlines()]


def compare(language: str, functions: Sequence[Function], folder: Path, need: Need) -> None:
    at = points(functions, functions[0].name)
    found = ran(language, functions, at, folder, need)
    assert len(found) == len(functions)
    for function, row in zip(functions, found, strict=True):
        wanted = [expected(function, p) for p in at]
        assert any(w == w and w != "" for w in wanted), f"{function.name} holds at no point"
        for got, want in zip(row, wanted, strict=True):
            if isinstance(want, str):
                assert got == want, function.name
            elif math.isnan(want):
                assert got is None, function.name
            else:
                assert got == pytest.approx(want, rel=1e-12), function.name


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", derivation_names())
def test_derivations_run_as_code(
    name: str, language: str, tmp_path: Path, need_program: Need
) -> None:
    compare(language, derivation_functions(derivation(name)).functions, tmp_path, need_program)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ask", [training_limits, cliffs])
def test_answers_run_as_code(
    ask: Callable[[], Any], language: str, tmp_path: Path, need_program: Need
) -> None:
    compare(language, answer_functions(ask()).functions, tmp_path, need_program)


@pytest.mark.parametrize("language", LANGUAGES)
def test_minima_maxima_and_long_numbers(
    language: str, tmp_path: Path, need_program: Need
) -> None:
    C, t_d, b, E = symbols("C t_d b E")
    forms = [
        Function("least", "least", "s", (sp.Min(C, t_d / 3, 7 * b),)),
        Function("greatest", "greatest", "s", (sp.Max(C, sp.sqrt(t_d), sp.Rational(1, 3)),)),
        Function("lengthy", "long numbers", "1", (sp.Rational(10**40, 3) * C / 10**38 + 2**70,)),
        Function("whole", "no argument", "1", (sp.Integer(7),)),
        Function("nested", "both", "1", (sp.Min(C, sp.Max(t_d, b * E**sp.Rational(2, 3))),)),
        Function("which", "the greatest", "", (C, t_d, b), ("a \"b\" \\ ?", "é", "c"), False),
    ]
    compare(language, forms[:-1], tmp_path, need_program)
    at = points(forms, "which")
    (row,) = ran(language, forms[-1:], at, tmp_path, need_program) if language != "c" else [[]]
    assert language == "c" or row == [expected(forms[-1], p) for p in at]


def test_c_strings_are_bytes_of_utf8(tmp_path: Path, need_program: Need) -> None:
    name = 'a "b" \\ ??/ é'
    text = LANGUAGES["c"]("t", [Function("f", "m", "", (symbol("C"),), (name,))], {})
    main = '#include <stdio.h>\nint main(void) { printf("%s", f(1.0)); return 0; }\n'
    (tmp_path / "f.c").write_text(text + main, encoding="utf-8")
    done([need_program("gcc"), "-std=c99", "-Wall", "-Werror", "-o", "f", "f.c"], tmp_path)
    assert done([str(tmp_path / "f")], tmp_path) == name


def test_the_limit_in_code_is_the_published_number(tmp_path: Path) -> None:
    """h100-sxm at the standard assumptions, as the README prints it."""
    text = answer("limits", "--hardware", "h100-sxm", "--format", "python")
    (tmp_path / "forms.py").write_text(text, encoding="utf-8")
    script = (
        "import forms\n"
        "v = dict(b_0=4e6, C=7915438080000000.0, E=1, L_0=100, t_d=7889400, tau=9e-6,"
        " W_mem=6.704e12, W_net=2e11)\n"
        "print(f'{forms.training_limits(**v):.6e}', forms.training_limits_piece(**v))\n"
    )
    assert done([sys.executable, "-c", script], tmp_path) == "1.924066e+28 data movement\n"
    meaning = "arithmetic rate of a device: its peak, where nothing says sustained"
    words = " ".join(text.replace("#", " ").split())
    assert f"C [FLOP/s]: {meaning} (here 7.9154381e15 FLOP/s)" in words


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_hold_whatever_a_title_says(
    language: str, tmp_path: Path, need_program: Need
) -> None:
    title = "a\nint x = ;\r\u2028let y = ;\u2029*/ /* \x0b \x85 ??/\n \\" + "z" * 300 + " \\"
    form = Function("f", title, "1", (symbol("C"),))
    text = LANGUAGES[language](title, [form], {"C": title})
    assert all(c.isprintable() or c == "\n" for c in text)
    mark = "#" if language == "python" else "//"
    code = [line for line in text.splitlines() if not line.startswith(mark)]
    assert not any(word in line for line in code for word in ("x = ;", "y = ;", "zz"))
    (tmp_path / f"f.{SUFFIX[language]}").write_text(text, encoding="utf-8")
    commands = {
        "python": [sys.executable, "-W", "error", "f.py"],
        "c": ["gcc", "-std=c99", "-trigraphs", "-Wall", "-Werror", "-c", "f.c"],
        "javascript": ["node", "f.js"],
    }
    if language != "python":
        need_program(commands[language][0])
    done(commands[language], tmp_path)


def test_names_are_identifiers() -> None:
    assert identifier("training-limits", "data movement") == "training_limits_data_movement"
    assert identifier("3 x") == "f_3_x"
    assert identifier("?") == "f_"
    for name in derivation_names():
        names = [f.name for f in derivation_functions(derivation(name)).functions]
        assert len(names) == len(set(names))
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", n) for n in names), names


def test_every_argument_is_explained() -> None:
    for name in derivation_names():
        functions = derivation_functions(derivation(name)).functions
        for language, write in LANGUAGES.items():
            text = " ".join(re.sub(r"\n(#|//) +", " ", write("t", functions, {})).split())
            for s in {s for f in functions for s in f.arguments}:
                entry = NOTATION[str(s)]
                unit = "" if entry.unit == "1" else f" [{entry.unit}]"
                assert f"{s}{unit}: {entry.meaning}" in text, (language, s)


def test_a_number_beyond_doubles_is_refused() -> None:
    with pytest.raises(TooLargeError, match="beyond what a double holds"):
        expression(symbol("C") * 10**400, "c")


def test_comment_wraps() -> None:
    assert all(len(line) <= 95 for line in comment("word " * 80, "//"))


def test_limit_functions_of_a_minimum_take_the_greatest() -> None:
    d = derivation("mixed-parallelism")
    assert d.limit is not None
    first, which, *_ = limit_functions("b", d.limit)
    assert "greatest" in first.meaning
    assert not which.least


@pytest.mark.parametrize("language", LANGUAGES)
def test_commands_print_code(language: str, tmp_path: Path) -> None:
    for command in (("derive", "edge-and-slack"), ("cliffs",), ("ratio", "gpt-3", "--tp", "8")):
        text = answer(*command, "--format", language)
        assert text == answer(*command, "--format", language)
        path = tmp_path / command[0]
        answer(*command, "--format", language, "-o", str(path))
        assert path.read_text(encoding="utf-8") == text
        assert "the file exists" in refusal(*command, "--format", language, "-o", str(path))


@pytest.mark.parametrize("form", ["html", "python", "c", "javascript"])
def test_other_commands_say_which_formats_they_have(form: str) -> None:
    for command in (("symbols",), ("derivations",), ("cost", "gpt-3")):
        text = refusal(*command, "--format", form)
        assert f"'{form}' is not one of 'text', 'json', 'latex', 'markdown'" in text


def test_mpmath_is_not_needed_for_the_expected_numbers() -> None:
    """The limit's own evaluation, another route, agrees with what the code is compared to."""
    limit = training_limits().limit
    at = points(limit_functions("x", limit), "y")[0]
    wanted = limit.at({**at, symbol("E"): sp.Integer(2)})
    function = limit_functions("x", limit)[0]
    got = expected(function, {**at, symbol("E"): sp.Integer(2)})
    assert isinstance(got, float)
    assert mp.almosteq(wanted, got, 1e-12)
