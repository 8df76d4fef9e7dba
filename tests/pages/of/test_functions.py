"""Code out: what is written compiles, runs, and gives what SymPy and the library give.

Outside of its region every function gives NaN, whatever the arguments are.
"""

import itertools
import json
import math
import operator
import random
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import symscale as ss
from commands import answer, refusal
from places import ROOT
from symscale.derivation.library import derivation_names, load_derivation
from symscale.derivation.steps import Derivation
from symscale.errors import SymscaleError, TooLargeError
from symscale.language.symbols import NOTATION, symbol, symbols
from symscale.pages.formats.code import LANGUAGES, ClosedForms, Function, comment, identifier
from symscale.pages.formulas.programs import expression
from symscale.pages.of.functions import (
    answer_functions,
    defined,
    derivation_functions,
    limit_functions,
    problem_functions,
    ratio_functions,
)
from symscale.problems.answer import ProblemAnswer
from symscale.problems.answer import answer as solved
from symscale.problems.file import load_problem, problem_of_text
from symscale.studies.comp_vs_comm.answer import RatioAnswer
from symscale.studies.training.answer import (
    FullLimitsAnswer,
    LimitsAnswer,
    cliffs,
    full_training_limits,
    training_limits,
)
from symscale.studies.training.cliffs import cliffs_of

INSIDE, OUTSIDE, TRIES = 3, 3, 8000
"""Points that a function is compared at, within its region and without; how many are drawn."""
SUFFIX = {"python": "py", "c": "c", "javascript": "js"}
RELATIONS = {sp.Le: operator.le, sp.Lt: operator.lt, sp.Ge: operator.ge, sp.Gt: operator.gt,
             sp.Eq: operator.eq}
WRONG = (0.0, -1.0, math.inf, -math.inf, math.nan)
PROBLEMS = sorted((ROOT / "docs" / "problems").glob("*.toml"))
INFEASIBLE = """
minimize = "A*x + B/x"
[parameters]
A = {}
B = {}
C = { lower = 2 }
D = { upper = 8 }
[variables]
x = {}
[[constraints]]
name = "above"
expression = "x >= C"
[[constraints]]
name = "below"
expression = "x <= D"
"""
BOUNDED = """
maximize = "x*y*z"
[parameters]
double = {}
var = {}
np = {}
best = { lower = 1 }
pow = {}
[variables]
x = {}
y = {}
z = {}
[[constraints]]
name = "first"
expression = "x + double*y + var <= np"
[[constraints]]
name = "second"
expression = "(best - 1)*x*z + y*z + z <= pow"
"""
Point = dict[Any, Any]
Table = Sequence[tuple[Function, Sequence[Point]]]
Need = Callable[[str], str]


@cache
def derivation(name: str) -> Derivation:
    return load_derivation(name)


@cache
def problem(text: str) -> ProblemAnswer:
    """A problem, by its file or text, without numbers but those of exponents."""
    asked = problem_of_text(text) if "\n" in text else load_problem(text)
    return solved(asked, {})


@cache
def full_limits() -> FullLimitsAnswer:
    return full_training_limits("h100-sxm")


@cache
def ratios() -> RatioAnswer:
    found = ss.ratio("gpt-3", latency=True)
    assert isinstance(found, RatioAnswer)
    return found


def own_forms() -> list[Function]:
    """Minima, maxima, cases, names, and long numbers."""
    C, t_d, b, E = symbols("C t_d b E")
    by_case = Function(
        "cases", "by case", "1", (C, 2 * t_d), requires=(sp.Lt(b, 3, evaluate=False),),
        cases=((sp.Ge(C, t_d, evaluate=False),), (sp.Ge(t_d, 4 * C, evaluate=False),)),
    )
    return [
        Function("least", "least", "s", (sp.Min(C, t_d / 3, 7 * b),)),
        Function("greatest", "greatest", "s", (sp.Max(C, sp.sqrt(t_d), sp.Rational(1, 3)),)),
        Function("several", "the greatest of several", "s", (C, t_d / 2, b), least=False),
        Function("lengthy", "long numbers", "1", (sp.Rational(10**40, 3) * C / 10**38 + 2**70,)),
        Function("whole", "no argument", "1", (sp.Integer(7),)),
        Function("nested", "both", "1", (sp.Min(C, sp.Max(t_d, b * E**sp.Rational(2, 3))),)),
        Function("which", "the greatest", "", (C, t_d, b), ("a \"b\" \\ ?", "é", "c"), False),
        by_case,
        replace(by_case, name="cases_names", names=("first", "second"), least=False),
    ]


@cache
def sources() -> Mapping[str, ClosedForms]:
    """All that is written as code, by where it is from."""
    found = {"own": ClosedForms("Own", own_forms())}
    found |= {name: derivation_functions(derivation(name)) for name in derivation_names()}
    found["study limits"] = answer_functions(training_limits())
    found["study cliffs"] = answer_functions(cliffs())
    found["study full limits"] = answer_functions(full_limits())
    found["ratio"] = ratio_functions(ratios())
    found |= {f"solve {p.stem}": problem_functions(problem(str(p))) for p in PROBLEMS}
    found["solve infeasible"] = problem_functions(problem(INFEASIBLE))
    found["solve bounded"] = problem_functions(problem(BOUNDED))
    return found


@cache
def cases() -> list[tuple[Function, list[Point], list[float | str]]]:
    """Every function under a name of its own, with points and what SymPy gives there."""
    table = []
    for source, forms in sources().items():
        for function in forms.functions:
            named = replace(function, name=identifier("f", source, function.name))
            exact = Exact(named)
            at = points(exact, source)
            table.append((named, at, [exact.at(p) for p in at]))
    assert len({f.name for f, _, _ in table}) == len(table)
    return table


class Exact:
    """A function by SymPy and mpmath, with fifty digits."""

    def __init__(self, function: Function) -> None:
        self.function = function
        flat = [*function.conditions, *(c for case, _ in function.pairs for c in case)]
        parts = [side for c in flat for side in (c.lhs, c.rhs)] + list(function.values)
        self._compute = sp.lambdify(function.arguments, parts, "mpmath")
        self._floats = sp.lambdify(function.arguments, parts[:len(parts) - len(function.values)])
        self._kinds = [type(c) for c in flat]

    def likely(self, drawn: Mapping[Any, Any], count: int) -> list[int]:
        """Positions of a few points that floats hold to be within the region, and outside."""
        sides = iter(self._floats(*drawn.values()))
        truths = iter([RELATIONS[kind](next(sides), next(sides)) for kind in self._kinds])
        valid, some = np.ones(TRIES, dtype=bool), np.zeros(TRIES, dtype=bool)
        for _ in self.function.conditions:
            valid &= next(truths)
        for case, _ in self.function.pairs:
            some |= np.logical_and.reduce([np.ones(TRIES, dtype=bool), *itertools.islice(
                truths, len(case))])
        chosen = (np.nonzero(valid & some)[0], np.nonzero(~(valid & some))[0])
        return [int(k) for found in chosen for k in found[:2 * count]]

    def at(self, point: Point) -> float | str:
        """The value, or the name; NaN or no name outside of the region."""
        function, nothing = self.function, "" if self.function.names else math.nan
        if any(isinstance(v, float) for v in point.values()):
            return nothing
        with mp.workdps(50):
            given = [mp.mpf(point[s].p) / point[s].q for s in function.arguments]
            parts = self._compute(*given)
            count = 2 * len(self._kinds)
            pairs = zip(self._kinds, parts[:count:2], parts[1:count:2], strict=True)
            truths = iter([bool(RELATIONS[kind](*sides)) for kind, *sides in pairs])
            if not all(list(itertools.islice(truths, len(function.conditions)))):
                return nothing
            known = {
                k: value for k, ((case, _), value)
                in enumerate(zip(function.pairs, parts[count:], strict=True))
                if all(list(itertools.islice(truths, len(case))))
            }
            if not known:
                return nothing
            best = (min if function.least else max)(known, key=lambda k: known[k])
            value = float(known[best])
            value = value if math.isfinite(value) else math.nan  # beyond what a double holds
            return function.names[best] if function.names else value


def points(exact: Exact, source: str) -> list[Point]:
    """Values of the arguments: within the region, without, and such that no formula takes."""
    function = exact.function
    drawn = candidates(function, source)
    inside: list[Point] = []
    outside: list[Point] = []
    for k in exact.likely(drawn, INSIDE):
        at = {s: sp.Rational(float(column[k])) for s, column in drawn.items()}
        found = exact.at(at)
        nothing = found == "" or found != found
        kept, most = (outside, OUTSIDE) if nothing else (inside, INSIDE)
        if len(kept) < most:
            kept.append(at)
    assert inside, f"{function.name} holds at no point"
    wrong = []
    for k, s in enumerate(function.arguments):
        bad = WRONG[k % 5] if s.is_positive else WRONG[2 + k % 3]
        wrong.append({**inside[0], s: bad})
    return [*inside, *outside, *wrong]


def candidates(function: Function, source: str) -> dict[Any, Any]:
    """Many values of each argument."""
    draw = np.random.default_rng(list(function.name.encode()))
    centers: list[Mapping[Any, Any]] = [{}]
    if source == "study full limits":  # little is feasible there: near where each piece rules
        centers = [p.witness or {} for p in full_limits().limit.pieces]
    columns: dict[Any, Any] = {}
    for s in function.arguments:
        if not s.is_positive:
            columns[s] = draw.uniform(-1, 0.6, TRIES)
            continue
        if str(s) in NOTATION and NOTATION[str(s)].exponent:
            columns[s] = draw.uniform(0.1, 2, TRIES)
            continue
        near = np.array([float(c.get(s, 1)) for c in centers])[np.arange(TRIES) % len(centers)]
        low, high = (-2, 2) if centers[0] else (-0.5, draw.choice([1, 3, 7, 30], TRIES))
        columns[s] = near * 2 ** draw.uniform(low, high, TRIES)
    return columns


def ran(language: str, table: Table, folder: Path, need: Need) -> list[list[Any]]:
    """What the code gives: for each function a list over its points."""
    text = LANGUAGES[language]("A title", [f for f, _ in table], {})
    (folder / f"forms.{SUFFIX[language]}").write_text(text, encoding="utf-8")
    return {"python": in_python, "c": in_c, "javascript": in_javascript}[language](
        table, folder, need
    )


def done(command: Sequence[str], folder: Path) -> str:
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, ""), process.stderr[-3000:]
    return process.stdout


def arguments_of(function: Function, point: Point) -> dict[str, float]:
    return {str(s): float(point[s]) for s in function.arguments}


def in_python(table: Table, folder: Path, need: Need) -> list[list[Any]]:
    """All points at once, as lists; nothing may be printed, such as a warning."""
    calls = [
        (f.name, {str(s): [float(p[s]) for p in at] for s in f.arguments}, len(at))
        for f, at in table
    ]
    (folder / "calls.json").write_text(json.dumps(calls), encoding="utf-8")
    script = (
        "import json, numpy as np, forms\n"
        "for name, given, count in json.load(open('calls.json')):\n"
        "    found = np.broadcast_to(getattr(forms, name)(**given), count).tolist()\n"
        "    print(json.dumps([None if v != v else v for v in found]))\n"
    )
    return lines_of(done([sys.executable, "-c", script], folder))


def in_c(table: Table, folder: Path, need: Need) -> list[list[Any]]:
    lines = ['#include <stdio.h>', '#include "forms.c"',
             'static void put(double x) { if (x == x) printf("%.17g", x); else printf("null"); }',
             'static void say(const char *s) { printf("\\""); for (; *s; s++) '
             'printf("%02x", (unsigned)(unsigned char)*s); printf("\\""); }',
             "int main(void) {"]
    for f, at in table:
        for k, point in enumerate(at):
            given = ", ".join(map(c_number, arguments_of(f, point).values()))
            lines.append(f'printf("{", " if k else "["}");')
            lines.append(f"{'say' if f.names else 'put'}({f.name}({given}));")
        lines.append('printf("]\\n");')
    (folder / "main.c").write_text("\n".join([*lines, "return 0; }"]), encoding="utf-8")
    done([need("gcc"), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0", "-o",
          "forms", "main.c", "-lm"], folder)
    return [
        [bytes.fromhex(v).decode() if f.names else v for v in row]
        for (f, _), row in zip(table, lines_of(done([str(folder / "forms")], folder)), strict=True)
    ]


def c_number(value: float) -> str:
    return repr(value).replace("inf", "INFINITY").replace("nan", "NAN")


def in_javascript(table: Table, folder: Path, need: Need) -> list[list[Any]]:
    calls = [(f.name, [arguments_of(f, p) for p in at]) for f, at in table]
    script = (
        'const forms = require("./forms.js");\n'
        f"for (const [name, all] of {json.dumps(calls)})\n"
        "  console.log(JSON.stringify(all.map(one => forms[name](one))));\n"
    )
    (folder / "main.js").write_text(script, encoding="utf-8")
    return lines_of(done([need("node"), "main.js"], folder))


def lines_of(text: str) -> list[list[Any]]:
    return [json.loads(line) for line in text.splitlines()]


def same(got: Any, want: float | str, what: str) -> None:
    if isinstance(want, str):
        assert got == want, what
    elif math.isnan(want):
        assert got is None or got != got, what
    else:
        assert got == pytest.approx(want, rel=1e-12), what


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_that_is_written_runs(language: str, tmp_path: Path, need_program: Need) -> None:
    """Every function of every answer: its value where it holds, NaN elsewhere."""
    table = [(f, at) for f, at, _ in cases()]
    found = ran(language, table, tmp_path, need_program)
    for (function, at, wanted), row in zip(cases(), found, strict=True):
        for point, got, want in zip(at, row, wanted, strict=True):
            same(got, want, f"{function.name} at {point}")


def test_most_functions_are_tried_outside_their_region() -> None:
    bare = [
        f.name for f, at, wanted in cases()
        if f.requires and not any(w in ("",) or w != w for w in wanted[:len(at) - len(f.arguments)])
    ]
    assert len(bare) < len(cases()) / 10, bare


@cache
def module(source: str) -> ModuleType:
    """The Python of one answer."""
    made = ModuleType("forms")
    exec(sources()[source].code("python"), made.__dict__)  # noqa: S102  # it is what we test
    return made


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("source", ["study limits", "study cliffs", "ratio", "solve infeasible",
                                    "solve pipeline-microbatches", "own"])
def test_scalars_lists_arrays_and_integers_are_alike(source: str) -> None:
    rows = [(f, at, w) for f, at, w in cases() if f.name.startswith(identifier("f", source) + "_")]
    for function, at, _ in rows:
        call = getattr(module(source), function.name.removeprefix(identifier("f", source) + "_"))
        columns = {str(s): [float(p[s]) for p in at] for s in function.arguments}
        if not columns:
            continue
        whole = call(**columns)
        assert whole.shape == (len(at),)
        for k, point in enumerate(at):
            given = arguments_of(function, point)
            one = call(**given)
            assert isinstance(one, np.generic)
            for other in (call(**{n: np.array(v) for n, v in given.items()}), whole[k]):
                assert one == other or (one != one and other != other)
        # Integers of every kind give what floats give.
        integers = {n: [int(v) if math.isfinite(v) else 2 for v in c] for n, c in columns.items()}
        floats = call(**{n: np.array(c, dtype=float) for n, c in integers.items()})
        narrow = {n: np.array(np.clip(c, 0, 100), dtype=np.int8) for n, c in integers.items()}
        np.testing.assert_array_equal(call(**integers), floats)
        arrays = {n: np.array(c) for n, c in integers.items()}
        np.testing.assert_array_equal(call(**arrays), floats)
        clipped = {n: c.astype(float) for n, c in narrow.items()}
        np.testing.assert_array_equal(call(**narrow), call(**clipped))
        # A column against a row.
        first, *_ = columns
        table = call(**{**columns, first: np.array(columns[first])[:, None]})
        assert table.shape == (len(at), len(at) if len(columns) > 1 else 1)
        if len(columns) > 1:
            np.testing.assert_array_equal(np.diag(table), whole)


@pytest.mark.filterwarnings("error")
def test_whole_numbers_do_not_overflow() -> None:
    forms = module("study limits")
    machine = {"b_0": 4_000_000, "E": 1, "L_0": 100, "t_d": 7_889_400, "tau": 9e-6, "alpha": 0,
               "T_0": 1, "W_mem": 6_704 * 10**9, "W_net": 200 * 10**9}
    rates = [989 * 10**12, 989 * 10**13, 989 * 10**400]
    wanted = [forms.training_limits(**machine, C=r) for r in (989e12, 989e13, math.nan)]
    assert wanted[0] > 1e28
    np.testing.assert_array_equal(forms.training_limits(**machine, C=rates), wanted)
    found = forms.training_limits(**machine, C=np.array(rates[:2]))
    np.testing.assert_array_equal(found, wanted[:2])
    assert math.isnan(forms.training_limits(**machine, C=10**400))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bad", [{"alpha": 0.5}, {"alpha": 1}, {"C": 0.0}, {"C": 0}, {"E": 0.99},
                                 {"W_net": -1}, {"tau": math.inf}, {"b_0": math.nan},
                                 {"alpha": -math.inf}, {"T_0": None}])
def test_outside_the_region_is_nan(bad: dict[str, Any]) -> None:
    forms = module("study limits")
    good = {str(s): 2.0 for s in sources()["study limits"].functions[0].arguments}
    good["alpha"] = 0.25
    assert math.isfinite(forms.training_limits(**good))
    assert math.isnan(forms.training_limits(**good | bad))
    assert forms.training_limits_piece(**good | bad) == ""


def test_ratios_end_at_one_device() -> None:
    forms = module("ratio")
    np.testing.assert_array_equal(
        forms.edge_word(N_TP=[0, 0.5, 1, 2, 3]), [math.nan] * 3 + [113664, 56832]
    )
    assert forms.share_k_1(C=1, N_TP=1, W_net=1) == 0
    assert math.isnan(forms.crossing_at_1_2(C=1, N_TP=1, W_net=1))


@pytest.mark.parametrize("source", ["study limits", "study full limits", "study cliffs"])
def test_limits_are_those_of_the_library(source: str) -> None:
    """Value and piece by exact comparisons; where the library finds no run, NaN."""
    studies: dict[str, Callable[[], LimitsAnswer]] = {
        "study limits": training_limits, "study cliffs": cliffs, "study full limits": full_limits,
    }
    found = studies[source]()
    limit, name = found.limit, sources()[source].functions[0].name
    ones = dict.fromkeys(limit.program.parameters, sp.Integer(1))
    value = getattr(module(source), name)
    ends = 0
    for function, at, _ in cases():
        if function.name == identifier("f", source, name):
            for point in [p for p in at if not any(isinstance(v, float) for v in p.values())]:
                given = arguments_of(function, point)
                domain = limit.program.domain
                within = all(point[s] in i for s, i in domain.exponents.items() if s in point)
                within = within and all(m.compare_one(point) >= 0 for m in domain.at_least_one)
                try:
                    rules = limit.ruling({**ones, **point})
                    if not within:
                        raise SymscaleError("outside of the domain")
                except SymscaleError:
                    ends += 1
                    assert math.isnan(value(**given))
                    continue
                assert value(**given) == pytest.approx(float(rules.at(point)), rel=1e-12)
                assert getattr(module(source), f"{name}_piece")(**given) == rules.name
                for piece in limit.pieces:
                    call = getattr(module(source), identifier(name, piece.name))
                    one = call(**given)
                    assert one == value(**given) if piece is rules else math.isnan(one)
    assert ends


def test_cliffs_are_those_that_a_growing_run_meets() -> None:
    found, forms = cliffs(), module("study cliffs")
    draw = random.Random(5)
    names = {f.name: f for f in sources()["study cliffs"].functions if "_to_" in f.name}
    assert len(names) == 3
    met = set()
    for _ in range(40):
        at = {s: sp.Rational(2 ** draw.uniform(-0.2, 7)) for s in found.limit.program.parameters
              if str(s) != "T"}
        at[symbol("alpha")] = sp.Rational(draw.choice([-1, 0, 1, 3]), 8)
        at[symbol("E")] = sp.Integer(2)
        known = {
            identifier("cliffs", c.between[0], "to", c.between[1]): c
            for c in cliffs_of(found.limit, at)
        }
        for name, function in names.items():
            got = getattr(forms, name)(**arguments_of(function, at))
            if name in known:
                met.add(name)
                assert got == pytest.approx(float(known[name].compute.evaluate(at)), rel=1e-12)
            else:
                assert math.isnan(got), name
    assert met == set(names)


@pytest.mark.parametrize("source", [p.stem for p in PROBLEMS])
def test_problems_give_the_numerical_optimum(source: str) -> None:
    from symscale.algebra.sums.numeric import minimize

    found = problem(str(ROOT / "docs" / "problems" / f"{source}.toml"))
    call = module(f"solve {source}").optimum
    tried = 0
    for function, at, _ in cases():
        if function.name != identifier("f", "solve", source, "optimum"):
            continue
        for point in at[:INSIDE]:
            wanted = minimize(found.program, point).value
            assert call(**arguments_of(function, point)) == pytest.approx(wanted, rel=1e-6)
            tried += 1
    assert tried == INSIDE


def test_infeasible_problems_give_nan() -> None:
    call = module("solve infeasible").optimum
    for C, D, fits in ((2, 3, True), (2, 8, True), (4, 3, False), (1, 3, False), (2, 9, False)):
        given = {"A": 1, "B": 100, "C": C, "D": D}
        settings = [f"{n}={v}" for n, v in given.items()]
        try:
            found = ss.solve(INFEASIBLE, set=settings)
            assert isinstance(found, ProblemAnswer)
            assert found.value is not None
            wanted = float(found.value)
        except SymscaleError:
            wanted = math.nan
        assert fits != math.isnan(wanted)
        np.testing.assert_allclose(call(**given), wanted, rtol=1e-12)


def test_bounds_enclose_where_no_closed_form_is_known() -> None:
    """Names that languages use otherwise get a mark, and a sum of zero is outside."""
    forms = module("solve bounded")
    given = {"double_": 2.0, "var_": 1.0, "np_": 9.0, "best_": 3.0, "pow_": 5.0}
    low, high = forms.at_least(**given), forms.at_most(**given)
    found = problem(BOUNDED)
    at = {p.symbol: sp.Rational(given[f"{p.entry.name}_"]) for p in found.problem.parameters}
    assert 0 < low <= replace(found, values=at).numerical.value <= high  # type: ignore[union-attr]
    assert math.isnan(forms.at_most(**given | {"best_": 1.0}))
    assert math.isnan(forms.at_most(**given | {"np_": 0.5}))


def test_where_a_formula_makes_sense() -> None:
    C, N_TP, alpha, s_comm, d_model = symbols("C N_TP alpha s_comm d_model")
    assert defined(C ** (1 / (1 - 2 * alpha))) == []
    assert defined(1 / (C + d_model)) == [sp.Ge(d_model, 1, evaluate=False)]
    assert defined(1 / (1 - s_comm)) == [sp.Gt(1 - s_comm, 0)]
    assert defined(sp.cbrt(2 - s_comm)) == [sp.Ge(2 - s_comm, 0)]
    assert defined(1 / (N_TP - 1 + C)) == [sp.Ge(N_TP, 1, evaluate=False)]


def test_every_function_says_where_it_holds() -> None:
    for source, forms in sources().items():
        for language in LANGUAGES:
            mark = "# " if language == "python" else "// "
            text = forms.code(language).replace(f"\n{mark}", " ")
            said = text.count("It holds where")
            assert said == sum(bool(f.conditions) for f in forms.functions), (source, language)
    text = sources()["study cliffs"].code("c").replace("\n// ", " ")
    assert "W_net > 0 and alpha < 1/2 and E >= 1 and 3 tau W_mem W_net^2 < 4 C^2" in text
    assert "'interior' counts where F M_Y <= B M_X N" in (
        sources()["solve mixed-parallelism"].code("c")
    )


def test_javascript_takes_numbers_only(tmp_path: Path, need_program: Need) -> None:
    (tmp_path / "forms.js").write_text(sources()["study limits"].code("javascript"))
    good = {str(s): 2 for s in sources()["study limits"].functions[0].arguments} | {"alpha": 0}
    script = (
        'const f = require("./forms.js").training_limits;\n'
        f"const good = {json.dumps(good)};\n"
        'const bad = ["2", null, undefined, [2], true, {}, NaN, 2n ** 5000n];\n'
        "const all = bad.flatMap(x => [f({...good, alpha: x}), f({...good, C: x})]);\n"
        "console.log(JSON.stringify([f(good) === f({...good, C: 2n}), f(good) > 0, f(), f({}), "
        "all.every(Number.isNaN)]));\n"
    )
    (tmp_path / "main.js").write_text(script)
    (row,) = lines_of(done([need_program("node"), "main.js"], tmp_path))
    assert row == [True, True, None, None, True]


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
    limit = problem(str(ROOT / "docs" / "problems" / "overlapped-parallelism.toml")).limit
    assert limit is not None
    first, which, *_ = limit_functions("b", limit)
    assert "greatest" in first.meaning
    assert not which.least


@pytest.mark.parametrize("language", LANGUAGES)
def test_commands_print_code(language: str, tmp_path: Path) -> None:
    for command in (("derive", "edge-and-slack"), ("cliffs",), ("ratio", "gpt-3", "--tp", "8"),
                    ("solve", str(PROBLEMS[0]))):
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
