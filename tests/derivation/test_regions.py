"""Where derivations hold: read as a referee would, with numbers inside and at the edge of regions.

Nothing here uses the solver or the checks: linear programs in logarithms, searches, counts.
"""

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from random import Random
from typing import Any

import pytest
import sympy as sp
from scipy.optimize import linprog
from sympy.core.relational import Relational

from commands import answer
from latex import NAMES
from symscale.algebra.exact.monomial import Monomial
from symscale.costs.transformer.architecture import transformer
from symscale.costs.transformer.memory import block_activation_bytes
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan
from symscale.derivation.library import load_derivation
from symscale.derivation.steps import Derivation, Step, ratio_of
from symscale.language.symbols import NOTATION, symbol, symbols
from symscale.pages.of.functions import derivation_functions

WITH_LIMIT = [n for n in NAMES if load_derivation(n).limit is not None]
Numbers = dict[Any, float]


def number(expr: sp.Expr, at: Mapping[Any, float]) -> float:
    """An expression at numbers."""
    return at[expr] if expr in at else float(expr.subs(at) if expr.free_symbols else expr)


def log_of(m: Monomial, at: Mapping[Any, float]) -> float:
    """The logarithm of a monomial at numbers."""
    return sum(number(exponent, at) * math.log(number(atom, at)) for atom, exponent in m.powers)


def row(
    m: Monomial, at: Mapping[Any, float], unknown: list[Any]
) -> tuple[list[float], float]:
    """A monomial in logarithms: its powers of the unknowns, and the rest."""
    powers = [number(m.exponent(x), at) for x in unknown]
    rest = Monomial.from_powers({a: e for a, e in m.powers if a not in unknown})
    return powers, log_of(rest, at)


def drawn(derivation: Derivation, rng: Random) -> Numbers:
    """Random parameters; exponents from far below to just below the end of their interval."""
    limit = derivation.limit
    assert limit is not None
    found: Numbers = {}
    for s in sorted(limit.program.parameters, key=str):
        found[s] = 10 ** rng.uniform(0, 4)
    for s in limit.program.exponent_symbols:
        interval = derivation.domain.exponents.get(s)
        high = 0.5 if interval is None or interval.upper is None else float(interval.upper)
        found[s] = high - 10 ** rng.uniform(-3, 0.5)
    return found


def at_the_edge(conditions: Iterable[Monomial], at: Numbers, rng: Random) -> Numbers:
    """The same numbers but for one, by which one of the conditions is just met."""
    chosen = rng.choice(list(conditions))
    free = [x for x in chosen.atoms if x in at and abs(number(chosen.exponent(x), at)) > 0.05]
    x: Any = rng.choice(sorted(free, key=str))
    exponent = number(chosen.exponent(x), at)
    return {**at, x: math.exp(math.log(at[x]) - (log_of(chosen, at) + 1e-9) / exponent)}


@pytest.mark.parametrize("name", WITH_LIMIT)
@pytest.mark.parametrize("edge", [False, True])
def test_pieces_are_the_optimum_in_all_of_their_regions(name: str, edge: bool) -> None:
    """Against a linear program, and the point that is said to attain it is feasible there."""
    derivation = load_derivation(name)
    limit = derivation.limit
    assert limit is not None
    program, rng = limit.program, Random(21)
    unknown = list(program.variables)
    proofs = {
        s.proof.bound: s for s in derivation.steps
        if s.proof is not None and s.proof.program == program
    }
    for piece in limit.pieces:
        region = [c.ratio for c in piece.region]
        seen = 0
        for _ in range(4000):
            at = drawn(derivation, rng)
            if edge and region:
                at = at_the_edge(region, at, rng)
            domain = [m**-1 for m in program.domain.at_least_one]
            if any(log_of(c, at) > 0 for c in (*region, *domain)):
                continue
            rows = [(c, *row(c.ratio, at, unknown)) for c in program.constraints]
            objective, _ = row(program.objective, at, unknown)
            sign = -1 if program.sense == "maximize" else 1
            found = linprog(
                [sign * x for x in objective],
                A_ub=[p for c, p, _ in rows if not c.is_equality] or None,
                b_ub=[-r for c, _, r in rows if not c.is_equality] or None,
                A_eq=[p for c, p, _ in rows if c.is_equality] or None,
                b_eq=[-r for c, _, r in rows if c.is_equality] or None,
                bounds=[(None, None)] * len(unknown),
            )
            assert found.status == 0
            assert sign * found.fun == pytest.approx(log_of(piece.bound, at), abs=1e-6)
            step = proofs[piece.bound]
            assert step.proof is not None
            point = step.proof.point
            for c in program.constraints:
                slack = log_of(c.ratio.substitute(point), at)
                assert slack < 1e-7
                assert not c.is_equality or abs(slack) < 1e-7
            seen += 1
            if seen == 12:
                break
        assert seen == 12, piece.name


@pytest.mark.parametrize("name", NAMES)
def test_no_condition_follows_from_the_others(name: str) -> None:
    """A condition that a step's others imply says nothing: by linear programs in logarithms."""
    for step in load_derivation(name).steps:
        found = [c for c in step.conditions if isinstance(c, sp.Le | sp.Ge)]
        ratios = [ratio_of(c) for c in found] if found[1:] else []
        names = sorted({a for m in ratios for a in m.atoms if a.is_Symbol}, key=str)
        at: Numbers = {s: 0.1 for m in ratios for s in m.exponent_symbols}
        rows = [row(m, at, names) for m in ratios]
        for i, (powers, rest) in enumerate(rows):
            others = [r for j, r in enumerate(rows) if j != i]
            worst = linprog(
                [-p for p in powers], A_ub=[p for p, _ in others] or None,
                b_ub=[-r for _, r in others] or None, bounds=[(-50, 50)] * len(names),
            )
            assert -worst.fun + rest > 1e-6, (step.key, found[i])


def divisors(step: Step) -> set[sp.Basic]:
    """The symbols by which exponents of a statement are divided."""
    powers = [*step.premises.values(), *(p.exp for p in step.statement.atoms(sp.Pow))]
    return set().union(*(sp.denom(sp.together(p)).free_symbols for p in powers))


@pytest.mark.parametrize("name", NAMES)
def test_powers_with_a_divisor_say_where_they_hold(name: str) -> None:
    derivation = load_derivation(name)
    text = " ".join(answer("derive", name).split())
    for step in derivation.steps:
        for s in () if step.is_given else divisors(step):
            said = [c for c in step.conditions if c.free_symbols == {s}]
            assert said, step.key
            part = text.split(f"({step.key}):")[1].split(" Checked ")[0]
            assert all(str(c) in part for c in said), step.key


def test_which_steps_need_an_interval() -> None:
    needing = {
        (name, step.key): {str(c) for c in step.region if c.free_symbols <= divisors(step)}
        for name in NAMES for step in load_derivation(name).steps if step.region and divisors(step)
    }
    assert needing["latency-wall", "latency wall"] == {"alpha < 1/2"}
    assert needing["compute-optimal", "best D"] == {"gamma_D > 0", "gamma_P > 0"}
    assert needing["utilization-cliffs", "end"] == {"alpha < 1/2"}
    assert len(needing) == 10


@pytest.mark.parametrize("alpha", [-2.0, 0.0, 0.45, 0.499, 0.501, 0.7])
def test_the_wall_bounds_from_above_below_one_half_only(alpha: float) -> None:
    """The premises of the derivation at numbers, T just beside the wall."""
    rng = Random(3)
    statement = load_derivation("latency-wall").result
    for _ in range(20):
        names = "b_0 t_d tau E L_0 T_0 alpha_L"
        at: dict[Any, float] = {s: 10 ** rng.uniform(0, 2) for s in symbols(names)}
        at |= {symbol("alpha"): alpha, symbol("alpha_L"): rng.uniform(-0.4, 0.4)}
        v = {str(s): x for s, x in at.items()}
        wall = math.log(float(sp.Rational(3, 160))) + 2 * math.log(v["b_0"] * v["t_d"] / v["tau"])
        wall -= math.log(v["E"]) + 2 * math.log(v["L_0"]) + 2 * alpha * math.log(v["T_0"])
        wall /= 1 - 2 * alpha
        for beside in (-1e-6, 1e-6):
            log_t = wall + beside
            grown = log_t - math.log(v["T_0"])
            depth = math.log(v["L_0"]) + v["alpha_L"] * grown
            tokens = (math.log(10 * v["E"] / 3) + log_t) / 2
            batch = math.log(v["b_0"]) + (alpha + v["alpha_L"]) * grown
            fits = math.log(4) + tokens + depth + math.log(v["tau"]) - batch < math.log(v["t_d"])
            assert fits is ((beside < 0) is (alpha < 0.5))
    assert load_derivation("latency-wall").steps[-1].region == (sp.Lt(symbol("alpha"), HALF),)
    assert isinstance(statement, sp.Le)


HALF = sp.Rational(1, 2)


def test_the_wall_over_t_0() -> None:
    """Its ratio to T_0 is that at alpha = 0 to the power 1/(1 - 2 alpha)."""
    wall, start, alpha = load_derivation("latency-wall").result.rhs, symbol("T_0"), symbol("alpha")
    flat = wall.subs(alpha, 0)
    for value in (sp.Rational(-3), sp.Rational(1, 4), sp.Rational(49, 100)):
        one = (wall.subs(alpha, value) / start) / (flat / start) ** (1 / (1 - 2 * value))
        assert sp.simplify(sp.powsimp(sp.powdenest(sp.expand_power_base(one), force=True))) == 1


@pytest.mark.parametrize("name", NAMES)
def test_no_definition_is_what_is_then_found(name: str) -> None:
    """The right side of a definition is not what a step finds that does not rest on it."""
    steps = load_derivation(name).steps
    for step in steps:
        if step.kind == "definition" and len(step.statement.rhs.free_symbols) > 1:
            found = [s for s in steps if s.kind == "rewrite" and step.key not in s.premises]
            said = sp.factor(step.statement.rhs)
            assert said not in {sp.factor(s.statement.rhs) for s in found}, step.key
    if name == "serialized-share":
        r, comm, comp = symbols("r_comm t_comm t_comp")
        assert load_derivation(name).step("r").statement == sp.Eq(r, comm / comp, evaluate=False)


@pytest.mark.parametrize("name", NAMES)
def test_prose_uses_symbols_that_are_explained(name: str) -> None:
    derivation = load_derivation(name)
    words = [derivation.question, derivation.conclusion]
    for table in derivation.tables:
        words += [table.caption, *table.header, *(str(c) for cells in table.rows for c in cells)]
    text = " ".join(words)
    known = {s.name for s in derivation.free_symbols}
    for symbol_name in NOTATION:
        if "_" in symbol_name and symbol_name not in known:
            spaced = f" {''.join(c if c.isalnum() or c == '_' else ' ' for c in text)} "
            assert f" {symbol_name} " not in spaced, symbol_name
    assert " iff " not in text


# Each derivation's own words


def test_premises_of_the_required_degree_agree() -> None:
    """Everything given holds at once, with one stage as with one block a device."""
    derivation = load_derivation("required-tp")
    names = {s.name: s for s in derivation.free_symbols}
    values = {
        "b": 2048, "L": 64, "d_model": 8192, "n_ctx": 2048, "w": 2, "M_cap": 80 * 10**9,
        "M_base": 32 * 10**9, "P_base": 4 * 10**9,
    }
    edges = {}
    for stages in (1, 64):
        at: dict[Any, Any] = {names[k]: sp.Integer(v) for k, v in values.items()}
        at[names["N_PP"]] = sp.Integer(stages)
        for key in ("split", "whole", "weights"):
            statement = derivation.step(key).statement
            at[statement.lhs] = statement.rhs.subs(at)
        at[names["M_free"]] = derivation.step("free").statement.rhs.subs(at)
        at[names["c_P"]] = derivation.step("bytes a parameter").statement.rhs.subs(at)
        for key in ("follows the model", "base model"):
            statement = derivation.step(key).statement
            at[statement.lhs] = statement.rhs.subs(at)
        for step in derivation.steps:
            left, right = step.statement.lhs.subs(at), step.statement.rhs.subs(at)
            assert {sp.Eq: left == right, sp.Le: left <= right, sp.Ge: left >= right}[
                type(step.statement)
            ], step.key
        edges[stages] = at[names["N_TP"]]
    assert edges[1] == edges[64]  # as many bytes of a block in both, so the same degree
    text = " ".join(answer("derive", "required-tp").split())
    assert "n_ctx = O(d_model), the edge then falls as 1 / (d_model L)" in text
    assert "N_PP = L, it falls as 1 / d_model only" in text


def test_the_edge_needs_its_assumption_on_sequences() -> None:
    text = " ".join(answer("derive", "edge-and-slack").split())
    assert "n_ctx = O(d_model), the edge of growing models falls as 1 / (d_model L)" in text
    d, L, n, N_TP, w = symbols("d_model L n_ctx N_TP w")
    edge = load_derivation("edge-and-slack").step("edge").statement.rhs
    large = edge.subs({n: d**2 * L, N_TP: L * d**2, w: 2})
    assert sp.limit(large, d, sp.oo) == sp.Rational(3, 2)  # it does not fall


def test_the_block_whose_activations_are_counted() -> None:
    """Each row is what the costs count under its plan, of the shape that is stated and no other."""
    derivation = load_derivation("activation-memory")
    given = {str(s.statement.lhs): s.statement.rhs for s in derivation.steps if s.is_given}
    d, heads, b, n, N_TP, w = symbols("d_model n_heads b n_ctx N_TP w")
    assert (given["d_ff"], given["n_kv"]) == (4 * d, heads)
    (stack,) = transformer().stacks
    mlp, attention = stack.block.mlp, stack.block.attention
    assert (mlp.width, mlp.gated) == (given["d_ff"], False)  # type: ignore[union-attr]
    assert attention.kv_heads == attention.heads == given["n_kv"]
    one = sp.Integer(1)
    plans = {
        "no parallelism": Plan(N_TP=one),
        "tensor parallelism": Plan(N_TP=N_TP, sequence_parallel=False),
        "tensor and sequence parallelism": Plan(N_TP=N_TP, sequence_parallel=True),
        "selective recomputation": Plan(
            N_TP=N_TP, sequence_parallel=True, recompute="selective"
        ),
    }
    for key, plan in plans.items():
        counted = block_activation_bytes(Transformer(transformer(), b, n, plan)).expr.subs(w, 2)
        assert sp.simplify(derivation.step(key).statement.rhs - counted) == 0, key
    assert "input is left, 2 b d_model bytes" in " ".join(answer("derive", derivation.name).split())
    assert "without a gate" in derivation.question


def test_numbers_in_words_are_computed() -> None:
    flop = load_derivation("layer-flop")
    d, L, n, V = symbols("d_model L n_ctx n_vocab")
    at = {d: 12288, L: 96, n: 2048, V: 50257}
    excess = flop.step("excess").statement.rhs.subs(at) - 1
    attention = 2048 / (6 * 12288)
    logits = 50257 / (12 * 96 * 12288)
    assert float(excess) == pytest.approx(attention + logits, rel=1e-12)
    assert f"{100 * attention:.1f} % for attention and {100 * logits:.2f} % for" in flop.conclusion
    fit = load_derivation("compute-optimal")
    assert f"powers {34 / 62:.3f} and {28 / 62:.3f} of the compute" in fit.conclusion
    assert "dense" not in fit.question
    assert "a plain MLP: L blocks of two products" in fit.question
    # Over a whole step: four words a weight at 2 W_mem, six FLOP a weight and token at C.
    assert "C / (3 W_mem) would do" in load_derivation("nanobatch").conclusion


def test_functions_keep_the_regions() -> None:
    """Code of a result asks for what the step that derives it states."""
    for name in ("utilization-cliffs", "latency-wall", "compute-optimal"):
        derivation = load_derivation(name)
        functions = {f.name: f for f in derivation_functions(derivation).functions}
        for step in derivation.steps:
            key = f"{name}-{step.key}".replace("-", "_").replace(" ", "_")
            if step.region and key in functions:
                assert set(step.region) <= set(functions[key].requires)
                assert len(set(functions[key].requires)) == len(functions[key].requires)


class Mesh:
    """The exact times of the two collectives of a forward pass, over the time of arithmetic."""

    def __init__(self, rng: Random) -> None:
        self.N, self.d_ff = 2 ** rng.uniform(0, 10), 2 ** rng.uniform(8, 17)
        self.M_DP, self.M_TP = float(rng.choice([1, 2, 3])), float(rng.choice([1, 2, 3]))
        self.C, self.W_axis = 459e12, 10 ** rng.uniform(10, 12)

    @property
    def values(self) -> dict[Any, float]:
        return {symbol(k): v for k, v in vars(self).items()}

    def gather(self, x: float, b: float) -> float:
        return self.C * (x - 1) / (2 * self.M_DP * self.W_axis * b)

    def reduction(self, y: float) -> float:
        return self.C * (y - 1) / (2 * self.M_TP * self.W_axis * self.d_ff)


def test_least_batches_suffice_whatever_the_degrees() -> None:
    """With the -1 kept, and degrees of at least 1, some division hides; often with less, too."""
    derivation = load_derivation("mixed-parallelism")
    rng, smaller = Random(8), 0
    for _ in range(300):
        mesh = Mesh(rng)
        for key, combine in (("added", sum), ("overlapped", max)):
            text = derivation.step(f"least batch, {key}").statement.rhs
            least = float(text.subs(mesh.values))
            balance = math.sqrt(least * mesh.M_DP * mesh.N / (mesh.d_ff * mesh.M_TP))
            x = min(max(balance, 1.0), mesh.N)
            for share in (1.0, 0.9):
                times = (mesh.gather(x, share * least), mesh.reduction(mesh.N / x))
                hides = combine(times) <= 1 + 1e-12
                if key == "added" and share == 1.0:
                    assert hides
                smaller += hides and share < 1
    assert smaller > 50  # it is no "only if"


def test_overlapped_collectives_of_few_devices() -> None:
    """On 8 devices the degrees that balance both would be below 1: the other piece rules."""
    derivation = load_derivation("mixed-parallelism")
    limit = derivation.limit
    assert limit is not None
    at: dict[Any, Any] = {
        s: sp.Integer(v) for s, v in zip(
            symbols("N d_ff M_DP M_TP C W_axis"),
            (8, 32768, 2, 1, 459 * 10**12, 9 * 10**10), strict=True,
        )
    }
    proofs = {s.key: s.proof for s in derivation.steps if s.proof is not None}
    balanced = proofs["least batch, overlapped, attained"]
    assert round(float(balanced.point[symbol("N_DP")].expr.subs(at)), 2) == 0.62
    assert limit.ruling(at).name == "one group only"
    single = proofs["least batch, one group only, attained"].point
    assert single[symbol("N_DP")].expr == 1
    assert single[symbol("N_TP")].expr == symbol("N")
    many = {**at, symbol("N"): sp.Integer(64)}
    assert limit.ruling(many).name == "overlapped"
    for piece, values in (("one group only", at), ("overlapped", many)):
        point = proofs[f"least batch, {piece}, attained"].point
        degrees = [float(point[symbol(x)].expr.subs(values)) for x in ("N_DP", "N_TP")]
        assert min(degrees) >= 1
        assert math.prod(degrees) == pytest.approx(float(values[symbol("N")]))


def test_some_split_hides_up_to_the_sufficient_degree() -> None:
    """With the -1 kept and splits of at least 1, also where the best split would be below 1."""
    rng, clipped = Random(9), 0
    for _ in range(2000):
        width, hidden, a = (10 ** rng.uniform(0, 4) for _ in range(3))
        if width * hidden < a**2:
            continue
        degree = (width * hidden / a**2) ** rng.random()
        split = math.sqrt(degree * width / hidden)  # of d_model
        clipped += not 1 <= split <= degree
        split = min(max(split, 1.0), degree)
        words = 4 * hidden * (split - 1) + 4 * width * (degree / split - 1)
        assert words <= 12 * hidden * width * 2 / (3 * a) * (1 + 1e-12)
    assert clipped > 50


def test_what_is_left_where_two_bounds_meet() -> None:
    cliffs = load_derivation("utilization-cliffs")
    C, tau, W_mem, W_net, alpha = symbols("C tau W_mem W_net alpha")
    wall_is_later = sp.Le(3 * tau * W_mem * W_net**2, 4 * C**2, evaluate=False)
    assert cliffs.step("first cliff").region == (wall_is_later, sp.Lt(alpha, HALF))
    limits = load_derivation("training-limits")
    bounds = [limits.step(k).statement.rhs for k in ("data movement", "latency wall")]
    for mem, earlier in ((4, True), (5, False)):  # 3 tau W_mem against 4
        at = {tau: sp.Rational(1, 3), W_mem: mem, W_net: 1, C: 1, alpha: 0}
        first, wall = (b.subs(at).subs(dict.fromkeys(b.free_symbols, 1)) for b in bounds)
        assert (first <= wall) is sp.S(earlier)
    kinds = load_derivation("kinds-of-answers")
    for one, other in pairwise(["batch", "power"]):
        regions: tuple[Relational, ...] = kinds.step(f"{one} meets {other}").conditions
        assert len(regions) == 1
