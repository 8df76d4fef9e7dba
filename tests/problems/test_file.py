"""Problem files: what they may say, and how everything else is refused."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sympy as sp

from places import ROOT
from random_programs import random_case, random_values
from sampling import sample
from symscale.algebra.products.program import Program
from symscale.algebra.products.solve import solve
from symscale.errors import InputError, NoAnswerError, SymscaleError
from symscale.problems.answer import answer
from symscale.problems.file import load_problem
from symscale.problems.problem import Problem
from symscale.problems.settings import read_problem_settings

PROBLEMS = ROOT / "docs" / "problems"
GOAL = 'minimize = "x/M + M/x"\n'
GIVEN = '[parameters]\nM = { unit = "s" }\n'
SOUGHT = '[variables]\nx = { unit = "s" }\n'


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Problem]:
    """Write a file and load it."""

    def write_and_load(text: str) -> Problem:
        path = tmp_path / "own.toml"
        path.write_text(text, encoding="utf-8")
        return load_problem(str(path))

    return write_and_load


def constraint(expression: str, name: str = "a") -> str:
    return (
        GOAL + GIVEN + SOUGHT + (f'[[constraints]]\nname = "{name}"\nexpression = "{expression}"\n')
    )


def parameter(text: str) -> str:
    return f"{GOAL}[parameters]\nM = {{ {text} }}\n{SOUGHT}"


# The refused. Each: what the file says, then what the one line must contain: place and remedy.

REFUSED = {
    "no variables": (GOAL + GIVEN, r"own\.toml: has no variables; add \[variables\]"),
    "no objective": (GIVEN + SOUGHT, r'own\.toml: needs one objective; write minimize = "'),
    "two objectives": ('maximize = "x"\n' + GOAL + GIVEN + SOUGHT, r"line 1, maximize: needs one"),
    "objective of a wrong type": ("minimize = 3\n" + SOUGHT, r"line 1, minimize: .*write minimize"),
    "empty objective": ('minimize = " "\n' + SOUGHT, r"line 1, minimize: .*write minimize"),
    "unknown key": ("foo = 1\n" + GOAL + SOUGHT, r"line 1, foo: unknown key 'foo'; known: .*units"),
    "unknown key of a parameter": (
        parameter('unt = "s"'),
        r"line 3, \[parameters\], M: unknown key 'unt'; did you mean unit\?",
    ),
    "unknown key of a variable": (
        GOAL + GIVEN + "[variables]\nx = { default = 3 }\n",
        r"line 5, \[variables\], x: unknown key 'default'; known: integer, latex, lower",
    ),
    "unknown key of a constraint": (
        GOAL + GIVEN + SOUGHT + '[[constraints]]\nexpr = "x <= M"\n',
        r"line 6, \[\[constraints\]\] 1: unknown key 'expr'; did you mean expression\?",
    ),
    "parameter no table": (
        GOAL + "[parameters]\nM = 3\n" + SOUGHT,
        r"line 3, \[parameters\], M: is not a table; write",
    ),
    "parameters no table": (
        "parameters = 3\n" + GOAL,
        r"line 1, parameters: is not a table; write",
    ),
    "constraints no list": (
        "constraints = 3\n" + GOAL + GIVEN + SOUGHT,
        r"line 1, constraints: is no list; write \[\[",
    ),
    "constraint no table": (
        "constraints = [3]\n" + GOAL + GIVEN + SOUGHT,
        r"line 1, \[\[constraints\]\] 1: .*; write",
    ),
    "constraint without expression": (
        GOAL + GIVEN + SOUGHT + '[[constraints]]\nname = "a"\n',
        r"line 6, .*expression.*; write",
    ),
    "title": ("title = 1\n" + GOAL + GIVEN + SOUGHT, r"line 1, title: .*; write title"),
    "meaning": (parameter("meaning = 1"), r"line 3, .*M: meaning is not a text; write"),
    "integer": (
        GOAL + GIVEN + "[variables]\nx = { integer = 1 }\n",
        r"line 5, .*x, integer: .*; write true",
    ),
    "units": ('units = "no"\n' + GOAL + GIVEN + SOUGHT, r"line 1, units: .*; write units = \"on\""),
    "unknown unit": (parameter('unit = "parsec"'), r"line 3, .*M: unknown unit 'parsec'; did"),
    "unlike units in a sum": (
        'minimize = "x + M"\n[parameters]\nM = { unit = "byte" }\n' + SOUGHT,
        r'line 1, minimize: .*adds byte \(M\) and s \(x\); .*units = "off"',
    ),
    "unlike units of two sides": (
        constraint("x <= 3*M^2"),
        r"line 8, .*expression: .* in s, the right in s\^2; .*\"off\"",
    ),
    "a number beside a unit": (constraint("x <= 3"), r"line 8, .* in s, the right in 1; .*\"off\""),
    "unlike units in max": (constraint("max(x, M^2) <= M"), r"line 8, .*compares s\^2 .* and s"),
    "unit in an exponent": (constraint("2^x <= M"), r"line 8, .*the exponent x has the unit s"),
    "name of a function": (
        GOAL + "[parameters.max]\n" + SOUGHT,
        r"line 2, .*max is a function; use a name other than max, min, sqrt",
    ),
    "latex that does something": (
        GOAL + '[parameters]\nM = { latex = "\\\\input{x}" }\n' + SOUGHT,
        r"line 3, \[parameters\], M, latex: .* is no LaTeX of a name: write letters",
    ),
    "two underscores": (GOAL + "[parameters.a__b]\n", r"line 2, .*'a__b' is no name; begin with"),
    "long name": (
        GOAL + f"[parameters]\n{'a' * 60} = {{}}\n",
        r"line 3, .* is no name; begin with a letter",
    ),
    "hostile name": (
        GOAL + "[parameters.__import__]\n", r"line 2, .*'__import__' is no name; begin with"
    ),
    "unicode name": (GOAL + '[parameters]\n"µ" = {}\n', r"line 3, .*'µ' is no name; begin with"),
    "name of two lines": (
        GOAL + '[parameters]\n"a\\nb" = {}\n',
        r"a\\nb: .* is no name; begin with a letter",
    ),
    "hostile expression": (
        "minimize = \"__import__('os').system('id')\"\n" + SOUGHT,
        r"line 1, .*is not allowed",
    ),
    "hostile attribute": ('minimize = "x.__class__"\n' + SOUGHT, r"line 1, .*is not allowed"),
    "unknown symbol": (
        'minimize = "x/Q"\n' + GIVEN + SOUGHT,
        r"line 1, minimize: unknown symbol 'Q'",
    ),
    "unknown cost": (
        'minimize = "cost.training_flops"\n' + SOUGHT,
        r"line 1, .*unknown name 'cost.training_flops'; did you mean cost.training_flop",
    ),
    "unknown rate": (
        'minimize = "x*machine.flop_rte"\n' + SOUGHT,
        r"line 1, .*did you mean machine.flop_rate",
    ),
    "recursive default": (parameter('default = "M"'), r"line 3, .*M, default: .*such as 100GB/s"),
    "default below": (parameter("default = 3, lower = 4"), r"line 3, .*outside its bounds; change"),
    "default above": (parameter("default = 3, upper = 2"), r"line 3, .*outside its bounds; change"),
    "negative default": (parameter("default = -3"), r"line 3, .*default is -3; quantities are"),
    "zero default": (parameter("default = 0"), r"line 3, .*default is 0; quantities are positive"),
    "nan": (parameter("default = nan"), r"line 3, .*M, default: 'nan' is not a number; write"),
    "inf": (parameter("default = inf"), r"line 3, .*M, default: 'inf' is not a number; write"),
    "1e999": (parameter("default = 1e999"), r"line 3, .*'1e999' has a decimal exponent beyond 300"),
    "huge exponent": (parameter("default = 1e999999999"), r"line 3, .*a decimal exponent beyond"),
    "default a list": (parameter("default = [1]"), r"line 3, .*default: is no number; write"),
    "default a date": (
        parameter("default = 2020-01-01"),
        r"line 3, .*default: is no number; write",
    ),
    "default a truth value": (
        parameter("default = true"),
        r"line 3, .*truth value; write a number",
    ),
    "default of another unit": (
        parameter('unit = "s", default = "3 byte"'),
        r"line 3, .*byte does not fit s; write it in s",
    ),
    "bounds the wrong way": (parameter("lower = 5, upper = 2"), r"line 3, .*exceeds.*; swap them"),
    "negative bound": (parameter("lower = -5"), r"line 3, .*a bound is negative or zero"),
    "same key twice": (
        GOAL + "[parameters]\nM = {}\nM = {}\n",
        r"own\.toml: is not valid TOML .*line 4.*; correct",
    ),
    "variable and parameter": (
        GOAL + "[parameters]\nx = {}\n" + SOUGHT,
        r"line 5, \[variables\], x: .*; declare it once",
    ),
    "same name twice": (
        constraint("x <= 3*M") + '[[constraints]]\nname = "a"\nexpression = "x <= M"\n',
        r"line 9, .*'a' is used twice; rename one",
    ),
    "name of a numbered part": (
        constraint("x <= 3*M", "a (1)")
        + '[[constraints]]\nname = "a"\nexpression = "max(x, 2*x*x/M) <= M"\n',
        r"line 11, .*'a \(1\)', or their parts; rename one",
    ),
    "name of a term": (
        constraint("x <= M", "objective [1]"),
        r"line 8, .*'objective \[1\]'.*; rename one",
    ),
    "name of a bound": (
        constraint("x <= M", "x >= 1").replace(
            'x = { unit = "s" }', 'x = { unit = "s", lower = 1 }'
        ),
        r"line 8, .*'x >= 1'.*; rename one",
    ),
    "no comparison": (constraint("x"), r"line 8, .*'x' compares nothing; write such as"),
    "chain": (constraint("M <= x <= 2*M"), r"line 8, \[\[constraints\]\] 1, expression: "),
    "single =": (constraint("M = x"), r"line 8, .*single =; a relation has <=, >= or =="),
    "strict": (constraint("M < x"), r"line 8, .*<=, >= or =="),
    "bound by a sum": (
        constraint("M <= x + x^2/M"),
        r"line 8, .*the greater side is a sum .*leave one term, or",
    ),
    "equality with a sum": (
        constraint("M == x + x^2/M"),
        r"line 8, .*an equality with a sum .*write <= or >=",
    ),
    "equality with max": (
        constraint("M == max(x, x^2/M)"),
        r"line 8, .*equality with max or min, .*write <= or >=",
    ),
    "sum maximised": (
        'maximize = "x + M"\n' + GIVEN + SOUGHT,
        r"line 1, maximize: M \+ x cannot be.*one term at",
    ),
    "difference minimised": (
        'minimize = "2*x - M"\n' + GIVEN + SOUGHT,
        r"line 1, minimize: .*the term -M.*leave it out",
    ),
    "number taken away": (
        'minimize = "x - 3"\n[variables]\nx = {}\n',
        r"line 1, minimize: .*the term -3.*leave it out",
    ),
    "nothing minimised": ('minimize = "0"\n' + SOUGHT, r"line 1, minimize: .*the term 0"),
    "negative": ('minimize = "-x"\n' + SOUGHT, r"line 1, minimize: .*the term -x"),
    "negative maximised": (
        'maximize = "-x"\n' + SOUGHT,
        r"line 1, maximize: -x cannot be maximised",
    ),
    "variable in an exponent": (
        'minimize = "2^(x/M)"\n' + GIVEN + SOUGHT,
        r"line 1, .*has a variable in its exponent: declare x as a parameter",
    ),
    "open sign": (
        'minimize = "(M - 1)*x"\n[parameters]\nM = {}\n' + SOUGHT,
        r"line 1, minimize: the sign of M - 1 is open; give bounds on M",
    ),
    "open denominator": (
        'minimize = "x/(M - 1)"\n[parameters]\nM = {}\n' + SOUGHT,
        r"line 1, .*M - 1",
    ),
    "division by zero": ('minimize = "x/(x - x)"\n' + SOUGHT, r"line 1, .*division by zero"),
    "deep brackets": (
        f'minimize = "{"(" * 300}x{")" * 300}"\n' + SOUGHT,
        r"line 1, .*deeper than 100 levels",
    ),
    "deep TOML": (f"a = {'[' * 900}{']' * 900}\n" + GOAL, r"own\.toml: is nested too deeply"),
    "many terms": ('minimize = "(x + M)^900"\n' + GIVEN + SOUGHT, r"line 1, .*more than 400 terms"),
    "many terms in a product": (
        'minimize = "(x + M)^16*(x + 2*M)^16*(x/3 + M)^16"\n' + GIVEN + SOUGHT,
        r"line 1, .*more than 400 terms",
    ),
    "many terms below": (
        constraint("x <= M/((x/M + 1)^16*(x/M + 2)^16*(x/M + 3)^16)"),
        r"line 8, .*than 400 terms",
    ),
    "tower": ('minimize = "x^(10^10^10)"\n' + SOUGHT, r"line 1, .*exponent is beyond"),
    "a megabyte": (GOAL + "#" * 1_000_000, r"own\.toml: is larger than 100 kB; split the problem"),
    "long line": (GOAL + "#" * 10_000, r"own\.toml: has a line of more than 2000 char.*; break it"),
    "ten thousand constraints": (
        GOAL + GIVEN + SOUGHT + "constraints = [" + "{},\n" * 10_000 + "]\n",
        r"own\.toml, line 6, .*10000 constraints; use 200 at most|unknown|\[variables\]",
    ),
    "ten thousand parameters": (
        GOAL + "[parameters]\n" + "".join(f"p{k}={{}}\n" for k in range(8_000)) + SOUGHT,
        r"line 2, \[parameters\]: has more than 100 names; use fewer",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_place_and_the_remedy(name: str, load: Callable[[str], Problem]) -> None:
    text, expected = REFUSED[name]
    start = time.process_time()
    with pytest.raises(SymscaleError) as caught:
        load(text)
    assert time.process_time() - start < 5  # bounded; the speed itself is measured elsewhere
    error = caught.value
    assert error.exit_code == 2
    assert "\n" not in str(error)
    assert "own.toml" in str(error)
    assert re.search(expected, str(error)), str(error)


def test_ten_thousand_constraints_are_counted_first(load: Callable[[str], Problem]) -> None:
    rows = "[[constraints]]\n" * 5_000
    with pytest.raises(InputError, match="has 5000 constraints; use 200 at most"):
        load(GOAL + GIVEN + SOUGHT + rows)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe\x00\x01" * 50, "is not UTF-8 text; save it as UTF-8"),
        (b"\x00\x01\x02", "is not valid TOML"),
        (b"\x89PNG\r\n\x1a\n\x00", "is not UTF-8 text"),
        (b"", "needs one objective|has no variables"),
    ],
)
def test_garbage(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=expected):
        load_problem(str(path))


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; check the path"):
        load_problem(str(tmp_path / "absent.toml"))
    with pytest.raises(InputError, match="is not a file; give the path of a TOML file"):
        load_problem(str(tmp_path))
    with pytest.raises(InputError, match="is not a file"):
        load_problem("/dev/zero")
    with pytest.raises(InputError):
        load_problem("a\0b")


# The accepted


@pytest.mark.parametrize("path", sorted(PROBLEMS.glob("*.toml")), ids=lambda p: p.stem)
def test_examples_load(path: Path) -> None:
    problem = load_problem(str(path))
    assert problem.title
    assert problem.variables


def test_the_example_in_the_documentation_is_its_file() -> None:
    page = (PROBLEMS.parent / "problems.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert block == (PROBLEMS / "checkpoint-interval.toml").read_text(encoding="utf-8")


def test_both_powers_bind_alike(load: Callable[[str], Problem]) -> None:
    for one, other in (("-x^2^3", "-x**2**3"), ("2*x^-1/3", "2*x**-1/3"), ("x^(1/2)", "x**(1/2)")):
        texts = [f'minimize = "M + M^9/({p})^2"\n' for p in (one, other)]
        first, second = (load('units = "off"\n' + t + GIVEN + SOUGHT).objective for t in texts)
        assert first == second


def test_powers_are_exact(load: Callable[[str], Problem]) -> None:
    problem = load('minimize = "x^0.1 + 0.3/x"\n[variables]\nx = {}\n')
    x = problem.variables[0].symbol
    assert problem.objective == x ** sp.Rational(1, 10) + sp.Rational(3, 10) / x


def test_units_off(load: Callable[[str], Problem]) -> None:
    problem = load('units = "off"\n' + constraint("x + x^2 <= 3*M"))
    assert problem.unit == "1"
    assert len(problem.relations) == 1


def test_prefixes_are_put_into_base_units(load: Callable[[str], Problem]) -> None:
    """W = 100 GB/s, however it is said; the formula holds in bytes and seconds."""
    text = (
        'minimize = "V/W + x"\n[parameters]\nV = {{ unit = "MB", default = 5, lower = 1 }}\n'
        'W = {{ unit = "GB/s", default = {} }}\n[variables]\n'
        'x = {{ unit = "ms", lower = 2, upper = "1 min" }}\n'
    )
    for default in ("100", "1e2", '"100 GB/s"', '"0.1 TB/s"', '"800 Gbit/s"'):
        problem = load(text.format(default))
        v, w = problem.parameters
        assert (v.entry.unit, w.entry.unit) == ("byte", "byte/s")
        numbers: list[Any] = [v.default, v.lower, w.default]
        assert numbers == [5_000_000, 1_000_000, 10**11]
        (x,) = problem.variables
        bounds: list[Any] = [x.lower, x.upper]
        assert (x.entry.unit, bounds) == ("s", [sp.Rational(1, 500), 60])
        found = answer(problem)
        assert found.ruling is not None
        value = found.ruling.value(found.values)
        assert value is not None
        assert float(value) == pytest.approx(0.002 + 5e6 / 1e11, rel=1e-12)
    percent = load(
        'minimize = "u*x"\n[parameters]\nu = { unit = "%", default = 40 }\n'
        "[variables]\nx = { lower = 1 }\n"
    )
    assert percent.parameters[0].default == sp.Rational(2, 5)


def test_settings_without_unit_are_in_the_declared_one(load: Callable[[str], Problem]) -> None:
    problem = load(
        'minimize = "x/W + V/x"\n[parameters]\nW = { unit = "GB/s" }\nV = { unit = "s*byte" }\n'
        '[variables]\nx = { unit = "byte" }\n'
    )
    w = problem.parameters[0].symbol
    for text in ("W=100", "W=1e2", "W=100GB/s", "W=50*2", "W=1e11 byte/s", "W=0.1 TB/s"):
        assert read_problem_settings(problem, [text]) == {w: 10**11}, text


SETTINGS = (
    ("D=-1", "must be a positive number"),
    ("D=0", "must be a positive number"),
    ("D=nan", "unknown symbol 'nan'"),
    ("D=1e999", "decimal exponent beyond"),
    ("D=3 byte", "byte does not fit 1"),
    ("D=", "write name=value"),
    ("Q=3", "unknown parameter 'Q'; known"),
    ("X=3", "unknown parameter 'X'"),
    ("W=3*w", "W is in byte/s, the expression in byte"),
    ("D=D*F", "in its own value"),
    ("D=max(F, B)", "a maximum or minimum is no value"),
    ("D=1/0", "divides by zero"),
)


@pytest.mark.parametrize(("text", "expected"), SETTINGS)
def test_settings_that_are_refused(text: str, expected: str) -> None:
    problem = load_problem(str(PROBLEMS / "mixed-parallelism.toml"))
    with pytest.raises(InputError, match=expected):
        read_problem_settings(problem, [text])


def test_settings_that_refer_to_one_another() -> None:
    problem = load_problem(str(PROBLEMS / "mixed-parallelism.toml"))
    d, f, b = (q.symbol for name in "DFB" if (q := problem.quantity(name)) is not None)
    found = read_problem_settings(problem, ["D=2*F", "F=3*B"])
    assert found == {d: 6 * b, f: 3 * b}
    for circle in (["D=F", "F=D"], ["D=2*F", "F=B", "B=D"]):
        with pytest.raises(InputError, match="set to one another; give one of them a number"):
            read_problem_settings(problem, circle)
    with pytest.raises(InputError, match="D is set twice"):
        read_problem_settings(problem, ["D=1", "D=2"])


def test_settings_keep_to_bounds(load: Callable[[str], Problem]) -> None:
    problem = load(parameter('unit = "ms", lower = 2, upper = 9'))
    with pytest.raises(InputError, match="at least"):
        read_problem_settings(problem, ["M=1"])
    with pytest.raises(InputError, match="at most"):
        read_problem_settings(problem, ["M=1s"])
    assert list(read_problem_settings(problem, ["M=5"]).values()) == [sp.Rational(1, 200)]


def test_built_in_names_bring_their_symbols(load: Callable[[str], Problem]) -> None:
    problem = load(
        'minimize = "t"\n[variables]\nt = { unit = "s" }\n[[constraints]]\n'
        'expression = "cost.training_flop/(cost.devices*machine.flop_rate) <= t"\n'
    )
    (piece,) = answer(problem).pieces
    names = {str(s) for s in piece.expr.free_symbols}
    assert {"b", "d_ff", "d_model", "L", "C"} <= names
    assert {q.entry.name for q in problem.parameters} == names
    assert next(q for q in problem.parameters if q.entry.name == "C").entry.unit == "FLOP/s"


# Random monomial problems


def as_toml(program: Program) -> str:
    """The program in the words of a user."""
    lines = ['units = "off"', f'{program.sense} = "{program.objective.expr}"', "[parameters]"]
    at_least_one = {str(m.expr) for m in program.domain.at_least_one}
    for s in program.parameters:
        lines.append(f"{s} = {{ {'lower = 1' if str(s) in at_least_one else ''} }}")
    lines.append("[variables]")
    lines += [f"{x} = {{}}" for x in program.variables]
    for k, c in enumerate(program.constraints):
        left, right, operator = c.lhs.expr, c.rhs.expr, c.relation
        if k % 3 == 1 and operator == "<=":
            left, right, operator = right, left, ">="  # type: ignore[assignment]
        text = f"{left} {operator} {right}".replace("**", "^" if k % 2 else "**")
        lines += ["[[constraints]]", f'name = "{c.name}"', f'expression = "{text}"']
    return "\n".join(lines) + "\n"


def test_random_monomial_problems_agree_with_the_engine(load: Callable[[str], Problem]) -> None:
    compared, those = 0, sample(60)
    for seed in those.seeds:
        case = random_case(seed)
        program = case.program
        problem = load(as_toml(program))
        found, limit = answer(problem), solve(program)
        values: Any = random_values(Random(seed), case)
        assert {p.expr for p in found.pieces} == {p.expr for p in limit.pieces}, seed
        assert found.limit is not None
        try:
            expected: Any = limit.at(values)
        except NoAnswerError as error:
            with pytest.raises(type(error)):
                found.limit.at(values)
            continue
        assert found.limit.at(values) == pytest.approx(expected, rel=1e-20), seed
        compared += 1
    assert compared >= those.least(20)


@pytest.mark.parametrize("seed", sample(20).seeds)
def test_damaged_problems_end_in_one_line(seed: int, load: Callable[[str], Problem]) -> None:
    """An example with a few pieces replaced is read, or refused in one line."""
    rng = Random(seed)
    for file in sorted(PROBLEMS.glob("*.toml")):
        text = list(file.read_text(encoding="utf-8"))
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(text))
            text[place : place + rng.choice((0, 1, 20))] = rng.choice(
                ("", "=", "*", "^", "-", "0", "1e99", "\n", '"', "[", "]", "(" * 50, "²", "/0", "x")
            )
        try:
            assert load("".join(text)).variables
        except SymscaleError as error:
            said = str(error)
            assert said.isprintable(), ascii(said)
