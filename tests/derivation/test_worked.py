"""Worked derivations: what they show, that every step holds, and that a broken one is caught.

With `--rewrite-golden` the LaTeX is written into derivations/golden instead of compared.
"""

import hashlib
import json
import math
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sympy as sp

import symscale
from commands import FORMATS, answer, refusal
from json_formulas import evaluated, ratio, sides
from latex import NAMES, compile_latex, joined
from places import ROOT
from symscale.algebra.certify.theorems import PieceProof
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.exact.regions import find_witness
from symscale.algebra.products.limit import Condition
from symscale.algebra.rewrites.rewrite import rearrange
from symscale.costs.cost import cost
from symscale.derivation.checks import check_derivation
from symscale.derivation.library import derivation_titles, load_derivation
from symscale.derivation.steps import Derivation, DerivationBuilder, Step
from symscale.errors import CheckFailedError, FormulaError, UnitError, UnknownNameError
from symscale.language.symbols import NOTATION, symbol, symbols
from symscale.pages.formats.document import Number

FOLDER = ROOT / "derivations"
GOLDEN = FOLDER / "golden"


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@cache
def printed(name: str, form: str = "text") -> str:
    return answer("derive", name, "--format", form)


def data_of(name: str) -> Any:
    return json.loads(printed(name, "json"))


# Every derivation


def test_the_derivations() -> None:
    assert set(NAMES) >= {
        "batch-slicing", "checkpoint-interval", "compute-bound", "compute-optimal",
        "kinds-of-answers", "latency-wall", "matrix-product", "mixed-parallelism", "nanobatch",
        "pipeline-microbatches", "tensor-shard", "training-limits", "utilization-cliffs",
    }  # fmt: skip
    files = {p.stem.replace("_", "-") for p in FOLDER.glob("*.py") if p.stem != "__init__"}
    assert set(NAMES) == files
    with pytest.raises(UnknownNameError, match="tensor-shard"):
        load_derivation("tensor-shards")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_step_holds(name: str, seed: int) -> None:
    derivation = load_derivation(name)
    checks = check_derivation(derivation, seed)
    assert [c.key for c in checks] == [s.key for s in derivation.steps]
    assert derivation.name == name
    assert derivation_titles()[name].startswith(derivation.title.split(":")[0])
    assert any(not s.is_given for s in derivation.steps)
    for step, check in zip(derivation.steps, checks, strict=True):
        assert step.reason
        shown = step.kind == "optimum"  # by the kernel
        assert check.kernel is shown
        points = 0 if step.is_given or shown else 12
        assert (check.exact, check.points) == (None if step.is_given else True, points)


@pytest.mark.parametrize("name", NAMES)
def test_golden_latex(name: str, rewrite_golden: bool) -> None:
    text = printed(name, "latex")
    path = GOLDEN / f"{name}.tex"
    if rewrite_golden:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_no_golden_file_is_left_over() -> None:
    assert {p.stem for p in GOLDEN.glob("*.tex")} == set(NAMES)


def test_golden_files_compile(need_program: Callable[[str], str], tmp_path: Path) -> None:
    whole = joined(path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.tex")))
    compile_latex(need_program("pdflatex"), whole, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_as_a_script_prints_the_same(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(FOLDER / f"{name.replace('-', '_')}.py"), run_name="__main__")
    shown = capsys.readouterr()
    assert shown.out == printed(name)
    assert shown.err == ""


def test_the_file_as_a_process(tmp_path: Path) -> None:
    path = Path(symscale.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "nanobatch.py")], cwd=tmp_path, capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONPATH": str(path), "COLUMNS": "80"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed("nanobatch")


@pytest.mark.parametrize("name", NAMES)
def test_every_form_names_every_step(name: str) -> None:
    derivation = load_derivation(name)
    texts = {form: printed(name, form) for form in FORMATS}
    for step in derivation.steps:
        assert f"({step.key})" in " ".join(texts["text"].split())
        assert f"\\tag{{{step.key}".split("_")[0] in texts["latex"]
        assert step.key.replace("_", r"\_") in texts["markdown"]
    for title in ("Given", "Derivation", "Result", "Notation", "Sources"):
        assert f"\n{title}\n---" in texts["text"]
        assert f"\\section{{{title}}}" in texts["latex"]
        assert f"\n## {title}\n" in texts["markdown"]
    for s in derivation.free_symbols:
        assert s.name in NOTATION
        assert f"\n{s.name} " in texts["text"]


def test_two_processes_print_the_same() -> None:
    """Whatever order sets have in them: this one, and one with another seed of Python's hashes."""
    commands = (
        ("derive", "training-limits", "--format", "latex"), ("limits", "--full", "--format", "json")
    )
    code = f"""
import contextlib, hashlib, io, sys
from symscale.cli import main
for command in {commands!r}:
    out, sys.argv = io.StringIO(), ["symscale", *command]
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main()
    print(hashlib.sha256(out.getvalue().encode()).hexdigest())
"""
    seed = "20231" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(symscale.__file__).parents[1],
        env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
    )
    here = (printed("training-limits", "latex"), answer(*commands[1]))
    assert done.stdout.split() == [hashlib.sha256(text.encode()).hexdigest() for text in here]


# The steps by another route: decimals of 60 digits, from the JSON alone


def random_values(rng: Random) -> dict[str, Decimal]:
    """Values of all symbols; exponents between -0.4 and 0.4, or positive."""
    found = {}
    for name, entry in NOTATION.items():
        value = rng.uniform(-0.4, 0.4) if entry.exponent else rng.uniform(1.5, 9)
        found[name] = Decimal(repr(abs(value) + 0.01 if entry.positive else value))
    return found


def logarithm(text: str, values: Mapping[str, Decimal]) -> Decimal:
    return ratio(text.replace(" >= ", " <= "), values).ln()


@pytest.mark.parametrize("name", NAMES)
def test_products_of_steps(name: str) -> None:
    """The logarithms of the premises add up to a positive multiple of the statement's."""
    steps = data_of(name)["steps"]
    by_key = {s["key"]: s for s in steps}
    rng = Random(11)
    for step in steps:
        if step["kind"] != "product":
            continue
        assert set(step["premises"]) <= {s["key"] for s in steps[: steps.index(step)]}
        powers = []
        values = random_values(rng)
        # All but what is in exponents is drawn anew, so that the power must be one constant.
        for _ in range(3):
            exponents = {n: v for n, v in values.items() if NOTATION[n].exponent}
            values = {**random_values(rng), **exponents}
            with localcontext(Context(prec=60)):
                total = Decimal(0)
                for key, weight in step["premises"].items():
                    statement = by_key[key]["sympy"]
                    sign = -1 if " >= " in statement else 1
                    total += sign * evaluated(weight, values) * logarithm(statement, values)
                sign = -1 if " >= " in step["sympy"] else 1
                powers.append(total / (sign * logarithm(step["sympy"], values)))
        assert all(abs(p - powers[0]) < Decimal("1e-40") for p in powers), step["key"]
        if "Eq(" not in step["sympy"]:
            assert powers[0] > 0
            assert any("Eq(" not in by_key[key]["sympy"] for key in step["premises"])
        else:
            assert all("Eq(" in by_key[key]["sympy"] for key in step["premises"])


@pytest.mark.parametrize("name", NAMES)
def test_rewrites_of_steps(name: str) -> None:
    """Statements that come from rewrites alone hold at random values of what is known.

    Known are definitions, and the steps from which the rewrite says that it follows.
    """
    data = data_of(name)
    rng = Random(5)
    for step in data["steps"]:
        if step["kind"] != "rewrite":
            continue
        for _ in range(5):
            values = random_values(rng)
            for given in data["steps"]:
                if given["kind"] == "definition" or given["key"] in step["premises"]:
                    left, _, right = sides(given["sympy"])
                    values[left] = evaluated(right, values)
            if "Eq(" in step["sympy"]:
                assert abs(ratio(step["sympy"], values) - 1) < Decimal("1e-40")
            else:
                smaller, larger = sides_of_bound(step["sympy"])
                assert evaluated(smaller, values) <= evaluated(larger, values)


def sides_of_bound(text: str) -> tuple[str, str]:
    """The smaller and the larger side of a bound, `a <= b` or `a >= b`."""
    left, sign, right = re.split(r" ([<>]=) ", text)
    return (left, right) if sign == "<=" else (right, left)


# What they arrive at

RESULTS = {
    "checkpoint-interval": "Eq(t_ckpt, sqrt(2*t_fail*t_save))",
    "compute-bound": "N_TP <= 2*M_TP*W_axis*d_ff/C",
    "compute-optimal": (
        "Eq(D, (T/6)**(gamma_P/(gamma_D + gamma_P))"
        "*(A_D*gamma_D/(A_P*gamma_P))**(1/(gamma_D + gamma_P)))"
    ),
    "kinds-of-answers": "T_min <= C*b_0*t_d/n",
    "mixed-parallelism": "Eq(b, C**2*N/(4*M_DP*M_TP*W_axis**2*d_ff))",
    "pipeline-microbatches": (
        "Eq(t_math + (N_PP - 1)*t_o + 2*sqrt((N_PP - 1)*t_math*t_o),"
        " (sqrt(t_math) + sqrt((N_PP - 1)*t_o))**2)"
    ),
    "batch-slicing": "N_DP <= W_mem*b/(C*E*N_PP)",
    "latency-wall": (
        "T <= (3*b_0**2*t_d**2/(160*E*L_0**2*T_0**(2*alpha)*tau**2))**(1/(1 - 2*alpha))"
    ),
    "matrix-product": "Eq(3*F, 6*I*J*K)",
    "nanobatch": "n >= C/(2*W_mem)",
    "tensor-shard": "N_TP <= d_ff*d_model/a**2",
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(name: str) -> None:
    """Compared as numbers: how SymPy orders factors is its own matter."""
    found, wanted = data_of(name)["result"]["sympy"], RESULTS[name]
    rng = Random(2)
    for _ in range(3):
        values = random_values(rng)
        for text, other in ((found, wanted), (wanted, found)):
            assert ("<=" in text, ">=" in text) == ("<=" in other, ">=" in other)
        difference = logarithm(found, values) - logarithm(wanted, values)
        assert abs(difference) < Decimal("1e-40")


def test_numbers_beside_the_formulas() -> None:
    """The shard, the nanobatch and the limits of the published devices."""
    shards = printed("tensor-shard")
    for number in ("26791.1168", "16633.0368", "26384.7936"):
        assert number in shards
    nanobatches = printed("nanobatch")
    for number in ("279.0741 token", "401.1183 token", "590.3519 token"):
        assert number in nanobatches
    limits = printed("training-limits")
    for number in ("1.3048135e27", "2.6218104e28", "1.9240657e28", "2.3052827e31"):
        assert number in limits
        assert number in printed("utilization-cliffs")


def test_training_limits_are_those_of_the_study() -> None:
    pieces = {p["name"]: p for p in data_of("training-limits")["pieces"]}
    limits = json.loads(answer("limits", "--format", "json"))["pieces"]
    assert [p["name"] for p in limits] == list(pieces)
    for piece in limits:
        for key in ("latex", "sympy", "multipliers", "elasticities", "region"):
            assert pieces[piece["name"]][key] == piece[key]


# Broken steps


@dataclass(frozen=True)
class Fault:
    """A derivation with something wrong in it.

    Attributes:
        name: The derivation.
        key: The step.
        change: Makes the wrong step.
    """

    name: str
    key: str
    change: Callable[[Step], Step]


def relation(step: Step, kind: Any) -> Step:
    return replace(step, statement=kind(step.statement.lhs, step.statement.rhs, evaluate=False))


def scaled(step: Step, factor: sp.Expr) -> Step:
    kind = type(step.statement)
    statement = kind(step.statement.lhs, factor * step.statement.rhs, evaluate=False)
    return replace(step, statement=statement)


def rewritten(step: Step, **changes: Any) -> Step:
    assert step.rewrite is not None
    return replace(step, rewrite=replace(step.rewrite, **changes))


def minimal(step: Step, change: Callable[[Any], Any]) -> Step:
    """The same step with another point, said to be that of its minimum throughout."""
    assert step.rewrite is not None
    assert step.rewrite.minimum is not None
    point = change(step.rewrite.minimum.point)
    return rewritten(
        step, minimum=replace(step.rewrite.minimum, point=point),
        equality=tuple(sp.Eq(x, p, evaluate=False) for x, p in point.items()),
    )


def scaled_left(step: Step, factor: sp.Expr) -> Step:
    kind = type(step.statement)
    statement = kind(factor * step.statement.lhs, step.statement.rhs, evaluate=False)
    return replace(step, statement=statement)


def certified(step: Step, **changes: Any) -> Step:
    assert step.proof is not None
    return replace(step, proof=replace(step.proof, **changes))


def premises(step: Step, change: Callable[[str, sp.Expr], sp.Expr]) -> Step:
    return replace(step, premises={k: change(k, v) for k, v in step.premises.items()})


def other_multipliers(step: Step) -> Step:
    assert step.proof is not None
    return certified(
        step, multipliers={k: -v for k, v in step.proof.multipliers.items()}
    )


def other_point(step: Step) -> Step:
    assert step.proof is not None
    return certified(step, point={k: v**2 for k, v in step.proof.point.items()})


def other_bound(step: Step) -> Step:
    assert step.proof is not None
    return certified(step, bound=step.proof.bound ** 2)


def at_the_vertex() -> PieceProof:
    """A true proof of the piece 'power', whose run takes all of the critical batch."""
    limit = load_derivation("kinds-of-answers").limit
    assert limit is not None
    program, piece = limit.program, limit.piece("power")
    T, N, b, b_0, n, J_0, e_op = symbols("T N b b_0 n J_0 e_op")  # noqa: N806
    run = {T: J_0 / e_op, N: b_0 / n, b: b_0}
    point = {x: Monomial.of(v) for x, v in run.items()}
    left = {c.name: c.ratio.substitute(point) for c in program.constraints}
    needs = {name: Condition(m) for name, m in left.items() if m.free_symbols}
    witness, _ = find_witness(
        [c.ratio**-1 for c in needs.values()], (), program.parameters, program.domain
    )
    assert witness is not None
    slacks = {name: {c.name: c.ratio.content} for name, c in needs.items()}
    proof = PieceProof(
        piece.name, program, piece.bound, piece.multipliers, point, tuple(needs.values()), slacks,
        witness,
    )  # fmt: skip
    proof.check()
    return proof


TWO, HALF = sp.Integer(2), sp.Rational(1, 2)
N_TP_model, N_TP_ff = symbols("N_TP_model N_TP_ff")
ATTAINED = "data movement, attained"

FAULTS: dict[str, Fault] = {
    # Regions
    "a power without the interval of its exponent": Fault(
        "latency-wall", "latency wall", lambda s: replace(s, region=())
    ),
    "a power in a wider interval": Fault(
        "latency-wall", "latency wall", lambda s: replace(s, region=(symbol("alpha") < 1,))
    ),
    "a least value without the signs of its exponents": Fault(
        "compute-optimal", "least loss", lambda s: replace(s, region=())
    ),
    "bounds that meet without what they need": Fault(
        "utilization-cliffs", "first cliff", lambda s: replace(s, region=s.region[1:])
    ),
    "a piece that is attained in a part of its region": Fault(
        "kinds-of-answers", "power, attained",
        lambda s: replace(s, proof=at_the_vertex()),
    ),
    # Rewrites
    "a factor that is too small": Fault(
        "tensor-shard", "without -1", lambda s: rewritten(s, factor=sp.Rational(3, 2))
    ),
    "a factor far too small": Fault(
        "tensor-shard", "without -1", lambda s: rewritten(s, factor=sp.Rational(1001, 1000))
    ),
    "a factor without its conditions": Fault(
        "tensor-shard", "without -1", lambda s: rewritten(s, conditions=())
    ),
    "conditions that nothing satisfies": Fault(
        "tensor-shard", "without -1",
        lambda s: rewritten(s, conditions=(sp.Le(N_TP_ff, HALF, evaluate=False),)),
    ),
    "a rewrite the wrong way": Fault(
        "tensor-shard", "without -1", lambda s: rewritten(s, relation=">=")
    ),
    "a mean the wrong way": Fault(
        "tensor-shard", "best split", lambda s: rewritten(s, relation="<=")
    ),
    "an equality where it does not hold": Fault(
        "tensor-shard", "best split",
        lambda s: rewritten(s, equality=(sp.Eq(N_TP_model, 7 * N_TP_ff, evaluate=False),)),
    ),
    "a rewrite to something smaller": Fault(
        "tensor-shard", "without -1", lambda s: rewritten(s, after=s.rewrite.after / 2)  # type: ignore[union-attr]
    ),
    "a rewrite to twice as much": Fault(
        "matrix-product", "arithmetic", lambda s: rewritten(s, after=s.rewrite.after * 2)  # type: ignore[union-attr]
    ),
    "a rewrite by a wrong fact": Fault(
        "matrix-product", "arithmetic", lambda s: rewritten(s, facts={symbol("F"): symbol("I")})
    ),
    "a wrong rearrangement": Fault(
        "batch-slicing", "bubble", lambda s: rewritten(s, after=s.rewrite.after + 1)  # type: ignore[union-attr]
    ),
    "a rewrite that says something else": Fault(
        "matrix-product", "network", lambda s: scaled(s, TWO)
    ),
    "a rewrite that says something unrelated": Fault(
        "matrix-product", "arithmetic",
        lambda s: replace(s, statement=sp.Eq(symbol("F"), symbol("I"), evaluate=False)),
    ),
    # Replacements
    "a replacement that says something else": Fault(
        "tensor-shard", "best split", lambda s: scaled(s, TWO)
    ),
    "a replacement that turns the relation": Fault(
        "tensor-shard", "best split", lambda s: relation(s, sp.Ge)
    ),
    "a replacement that makes an equality": Fault(
        "tensor-shard", "best split", lambda s: relation(s, sp.Eq)
    ),
    "a replacement without its rewrite": Fault(
        "tensor-shard", "best split", lambda s: replace(s, rewrite=None)
    ),
    # Minima and choices
    "a minimum of another value": Fault(
        "pipeline-microbatches", "least time",
        lambda s: rewritten(s, after=s.rewrite.after * sp.Rational(999, 1000)),  # type: ignore[union-attr]
    ),
    "a minimum at another point": Fault(
        "pipeline-microbatches", "least time",
        lambda s: minimal(s, lambda p: {x: 2 * v for x, v in p.items()}),
    ),
    "a minimum that is said to be elsewhere": Fault(
        "mixed-parallelism", "least sum",
        lambda s: rewritten(s, equality=(sp.Eq(symbol("N_DP"), symbol("N"), evaluate=False),)),
    ),
    "a maximum": Fault(
        "checkpoint-interval", "least loss", lambda s: rewritten(s, relation="<=")
    ),
    "a minimum of what may be negative": Fault(
        "pipeline-microbatches", "least time",
        lambda s: rewritten(s, minimum=replace(s.rewrite.minimum, lower={})),  # type: ignore[union-attr,type-var]
    ),
    "a minimum with another second derivative": Fault(
        "compute-optimal", "least loss",
        lambda s: rewritten(s, minimum=replace(s.rewrite.minimum, curvature=symbol("T"))),  # type: ignore[union-attr,type-var]
    ),
    "a minimum in a replacement with another value": Fault(
        "mixed-parallelism", "least sum",
        lambda s: scaled_left(rewritten(s, after=s.rewrite.after / 2), HALF),  # type: ignore[union-attr]
    ),
    "a choice of another point": Fault("mixed-parallelism", "best N_DP", lambda s: scaled(s, TWO)),
    "a choice as a bound": Fault(
        "mixed-parallelism", "best N_DP", lambda s: relation(s, sp.Le)
    ),
    "a choice of nothing": Fault(
        "mixed-parallelism", "best N_DP", lambda s: replace(s, premises={})
    ),
    "a choice from a step that is no minimum": Fault(
        "mixed-parallelism", "best N_DP", lambda s: replace(s, premises={"sum": sp.Integer(1)})
    ),
    "a choice with a minimum of its own": Fault(
        "pipeline-microbatches", "best m",
        lambda s: minimal(scaled(s, TWO), lambda p: {x: 2 * v for x, v in p.items()}),
    ),
    "a choice without its conditions": Fault(
        "pipeline-microbatches", "best m", lambda s: rewritten(s, admissible=())
    ),
    "a minimum without its conditions": Fault(
        "mixed-parallelism", "least sum", lambda s: rewritten(s, admissible=())
    ),
    "a choice that claims to suffice": Fault(
        "compute-optimal", "best P", lambda s: replace(s, logic="suffices")
    ),
    "a bound that uses a choice": Fault(
        "mixed-parallelism", "least batch, added",
        lambda s: replace(s, premises={**s.premises, "best N_TP": sp.Integer(1)}),
    ),
    # Products
    "a product with a wrong number": Fault(
        "tensor-shard", "sufficient degree", lambda s: scaled(s, sp.Rational(999, 1000))
    ),
    "a product with a wrong power": Fault(
        "tensor-shard", "sufficient degree", lambda s: premises(s, lambda k, v: v / len(k))
    ),
    "a product the wrong way": Fault(
        "tensor-shard", "sufficient degree", lambda s: relation(s, sp.Ge)
    ),
    "a product that makes an equality": Fault(
        "tensor-shard", "sufficient degree", lambda s: relation(s, sp.Eq)
    ),
    "all multipliers with the wrong sign": Fault(
        "latency-wall", "latency wall", lambda s: premises(s, lambda k, v: -v)
    ),
    "one multiplier with the wrong sign": Fault(
        "latency-wall", "latency wall",
        lambda s: premises(s, lambda k, v: -v if k == "critical batch" else v),
    ),
    "a product of nothing": Fault(
        "latency-wall", "latency wall", lambda s: replace(s, premises={})
    ),
    "a product of itself": Fault(
        "latency-wall", "latency wall",
        lambda s: replace(s, premises={"latency wall": sp.Integer(1)}),
    ),
    "a product of what is not there": Fault(
        "latency-wall", "latency wall", lambda s: replace(s, premises={"nothing": sp.Integer(1)})
    ),
    "an exponent that is off": Fault(
        "latency-wall", "latency wall",
        lambda s: replace(
            s,
            statement=sp.Le(
                s.statement.lhs, s.statement.rhs.subs(symbol("alpha"), 0), evaluate=False
            ),
        ),
    ),
    "a premise that was changed": Fault("latency-wall", "tokens", lambda s: scaled(s, TWO)),
    "a cliff from bounds instead of values": Fault(
        "utilization-cliffs", "first cliff",
        lambda s: replace(
            s, premises={k.removesuffix(", attained"): v for k, v in s.premises.items()}
        ),
    ),
    # Certificates
    "an optimum that says something else": Fault(
        "training-limits", ATTAINED, lambda s: scaled(s, TWO)
    ),
    "an optimum as a lower bound": Fault(
        "training-limits", ATTAINED, lambda s: relation(s, sp.Ge)
    ),
    "an optimum without its proof": Fault(
        "training-limits", ATTAINED, lambda s: replace(s, proof=None)
    ),
    "a proof of another bound": Fault("training-limits", ATTAINED, other_bound),
    "a proof with multipliers of the wrong sign": Fault(
        "training-limits", ATTAINED, other_multipliers
    ),
    "a proof of another point": Fault("training-limits", ATTAINED, other_point),
    "a proof without its conditions": Fault(
        "training-limits", ATTAINED, lambda s: certified(s, region=())
    ),
}  # fmt: skip


def broken(fault: Fault) -> Derivation:
    derivation = load_derivation(fault.name)
    assert fault.key in {s.key for s in derivation.steps}
    steps = tuple(fault.change(s) if s.key == fault.key else s for s in derivation.steps)
    assert steps != derivation.steps
    return replace(derivation, steps=steps)


@pytest.mark.parametrize("what", FAULTS)
def test_a_broken_step_is_caught(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Enough for every region but an empty one.
    monkeypatch.setattr("symscale.algebra.rewrites.sampling._TRIES", 100)
    fault = FAULTS[what]
    with pytest.raises(CheckFailedError) as caught:
        check_derivation(broken(fault))
    assert caught.value.exit_code == 1
    assert str(caught.value)


def test_what_is_caught_is_named() -> None:
    fault = FAULTS["a product with a wrong number"]
    with pytest.raises(CheckFailedError, match="tensor-shard, step 'sufficient degree'"):
        check_derivation(broken(fault))
    with pytest.raises(CheckFailedError, match=r"fails at .*N_TP_ff = \d"):
        check_derivation(broken(FAULTS["a rewrite to something smaller"]))


def test_steps_in_the_wrong_order_are_caught() -> None:
    """Otherwise two steps could prove each other."""
    derivation = load_derivation("latency-wall")
    with pytest.raises(CheckFailedError):
        check_derivation(replace(derivation, steps=derivation.steps[::-1]))
    with pytest.raises(CheckFailedError):
        check_derivation(replace(derivation, steps=(*derivation.steps, derivation.steps[0])))


def test_two_steps_that_prove_each_other_are_caught() -> None:
    T, N = symbols("T N")
    claim = sp.Le(T, 5 * N, evaluate=False)
    one = Step("one", "product", claim, "from the other", premises={"two": sp.Integer(1)})
    two = Step("two", "product", claim, "from the one", premises={"one": sp.Integer(1)})
    with pytest.raises(CheckFailedError):
        check_derivation(Derivation("circle", "Circle", "Is it so?", (one, two)))


def test_a_broken_derivation_exits_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = broken(FAULTS["a product with a wrong number"])
    monkeypatch.setattr("symscale.derivation.library.load_derivation", lambda name: wrong)
    assert "step 'sufficient degree'" in refusal("derive", "tensor-shard", code=1)


# The builder refuses what it can


def test_the_builder_refuses() -> None:
    T, N, C, t_d = symbols("T N C t_d")
    build = DerivationBuilder("demo", "Demo", "How long?")
    flop = cost(T, "FLOP")
    build.assume("run", flop, "<=", cost(N * C * t_d, "FLOP"), "in time")
    with pytest.raises(FormulaError, match="two steps are labelled 'run'"):
        build.assume("run", flop, "<=", flop, "again")
    with pytest.raises(UnitError):
        build.assume("units", flop, "<=", cost(N * C, "FLOP/s"), "wrong")
    with pytest.raises(UnitError):
        build.define("units", flop, cost(t_d, "s"), "wrong")
    with pytest.raises(FormulaError, match="no step is labelled 'walk'"):
        build.product("devices", {"walk": 1}, "wrong", solve_for=N)
    with pytest.raises(FormulaError, match="does not occur"):
        build.product("devices", {"run": 1}, "wrong", solve_for=symbol("L"))
    step = build.product("devices", {"run": 1}, "solve for N", solve_for=N)
    assert step.statement == sp.Ge(N, T / (C * t_d), evaluate=False)
    (given, found) = check_derivation(build.finish())
    assert (given.exact, found.exact) == (None, True)


def test_random_points_find_what_algebra_leaves_open() -> None:
    """1.0001 x is not x, though no simplification says so of these roots."""
    L, D = symbols("L D")
    true = sp.sqrt(L**2 + 2 * L * D + D**2)
    for factor, holds in ((sp.Integer(1), True), (sp.Rational(10001, 10000), False)):
        build = DerivationBuilder("demo", "Demo", "Is it so?")
        build.rewrite("roots", rearrange(true, factor * (L + D), "a square"))
        if holds:
            assert check_derivation(build.finish())[0].points == 12
        else:
            with pytest.raises(CheckFailedError):
                check_derivation(build.finish())


def test_tables_are_computed() -> None:
    """A table's numbers are its formula at the device's figures, to the digits printed."""
    (table,) = load_derivation("nanobatch").tables
    for title, number in table.rows:
        assert isinstance(number, Number)
        (row,) = [line for line in printed("nanobatch").splitlines() if str(title) in line]
        shown = float(re.findall(r"([0-9.]+) token", row)[0])
        assert math.isclose(shown, float(number.value), rel_tol=1e-6)
