"""Utilization of a run of given compute, and where it falls: study `cliffs`."""

from dataclasses import dataclass
from itertools import combinations

from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.limit import Limit, Values, split_fraction
from symscale.algebra.products.program import Program, at_most
from symscale.errors import FormulaError, InfeasibleError, RegionError
from symscale.language.symbols import symbol
from symscale.studies.training.constraints import PARTIAL, domain, quantity, same, training_model

PIECE_NAMES = {
    frozenset({"arithmetic"}): "full utilization",
    frozenset({"DRAM", "network"}): "data movement",
}
END = "infeasible"


def cliffs_program(*, network: bool = True) -> Program:
    """Return the program of the largest utilization U at which a run of compute T fits.

    It is the study of the limits with the achieved rate U C in place of C and the
    compute T given; the number of devices follows, N = T/(U C t_d).
    """
    base = training_model(PARTIAL, False, network)
    run = same(
        "run", quantity("T"), quantity("C") * quantity("t_d") * symbol("U") * symbol("N"),
        "all devices at the achieved rate for the time allowed",
    )
    arithmetic = at_most("arithmetic", symbol("U"), 1, "no device exceeds its peak rate")
    return Program(
        "cliffs",
        "Utilization of a training run of given compute",
        "maximize",
        Monomial.of(symbol("U")),
        (symbol("U"), *base.variables),
        (*base.definitions, run, arithmetic, *base.constraints),
        domain(),
        PIECE_NAMES,
    )


@dataclass(frozen=True)
class Cliff:
    """A compute at which the ruling piece changes, or beyond which no run fits.

    Attributes:
        compute: T there, a monomial in the other parameters.
        between: The piece that rules below, and the one above.
        constraints: For the end, the constraints that contradict each other beyond.
    """

    compute: Monomial
    between: tuple[str, str]
    constraints: tuple[str, ...] = ()


def cliffs_of(limit: Limit, values: Values | None = None) -> tuple[Cliff, ...]:
    """Return where the pieces of U(T) meet, in closed form, and where they end.

    Args:
        limit: The solved program of `cliffs_program`.
        values: Numbers for all parameters but T: then only cliffs that a growing run
            meets are returned, in order.

    Raises:
        InfeasibleError: If no run fits at `values`, however small.
        RegionError: If an exponent is outside its domain there.
    """
    T = symbol("T")
    found: list[Cliff] = []
    for first, second in combinations(limit.pieces, 2):
        slope = first.bound.exponent(T) - second.bound.exponent(T)
        if slope == 0:
            continue
        # U is the least piece, so the one that grows faster rules below the meeting point.
        faster = limit.program.domain.sign(slope) > 0
        low, high = (first, second) if faster else (second, first)
        found.append(Cliff(meeting(first.bound / second.bound), (low.name, high.name)))
    for condition in limit.feasibility:
        power = condition.ratio.exponent(T)
        if limit.program.domain.sign(power) > 0:
            last = _last_piece(limit)
            found.append(
                Cliff(meeting(condition.ratio), (last, END), condition.binding)
            )
    if values is None:
        return tuple(found)
    _require_runs(limit, values)
    return _reached(limit, found, values)


def _require_runs(limit: Limit, values: Values) -> None:
    """Raise where the cliffs' formulas do not hold, or no run fits whatever its compute."""
    for exponent, interval in limit.program.domain.exponents.items():
        if exponent in values and values[exponent] not in interval:
            raise RegionError(f"cliffs need {exponent} in {interval}; it is {values[exponent]}")
    for condition in limit.feasibility:
        if condition.ratio.exponent(symbol("T")) == 0 and not condition.holds(values):
            below, above = split_fraction(condition.ratio)
            raise InfeasibleError(
                f"no run fits, however small: it needs {below.expr} <= {above.expr}"
            )


def meeting(ratio: Monomial) -> Monomial:
    """Solve `ratio == 1` for T.

    Raises:
        FormulaError: If T does not occur.
    """
    T = symbol("T")
    power = ratio.exponent(T)
    if power == 0:
        raise FormulaError(f"T does not occur in {ratio.expr}")
    return Monomial.of(T) / ratio ** (1 / power)


def _last_piece(limit: Limit) -> str:
    """The piece that rules for the largest T: the one with the least power of T."""
    T = symbol("T")

    def power(index: int) -> float:
        exponent = limit.pieces[index].bound.exponent(T)
        return float(exponent.subs(dict.fromkeys(exponent.free_symbols, 0)))

    return limit.pieces[min(range(len(limit.pieces)), key=power)].name


def _reached(limit: Limit, found: list[Cliff], values: Values) -> tuple[Cliff, ...]:
    """Keep the cliffs at which the named pieces really rule, sorted by compute."""
    ends = [c for c in found if c.between[1] == END]
    end = min(ends, key=lambda c: c.compute.evaluate(values)) if ends else None
    kept: list[Cliff] = []
    for cliff in found:
        if cliff.between[1] == END:
            continue
        beyond = end is not None and (cliff.compute / end.compute).compare_one(values) >= 0
        at = limit_at(limit, cliff.compute, values)
        if not beyond and at in cliff.between:
            kept.append(cliff)
    kept.sort(key=lambda c: c.compute.evaluate(values))
    if end is not None:
        rules = kept[-1].between[1] if kept else limit_at(limit, end.compute, values)
        kept.append(Cliff(end.compute, (rules, END), end.constraints))
    return tuple(kept)


def limit_at(limit: Limit, compute: Monomial, values: Values) -> str:
    """The name of the piece that rules at a compute, feasible or not."""
    T = symbol("T")
    best = limit.pieces[0]
    for piece in limit.pieces[1:]:
        ratio = (piece.bound / best.bound).substitute({T: compute})
        if ratio.compare_one(values) < 0:
            best = piece
    return best.name
