"""Kinds of answers: three regimes, a degenerate vertex, no optimum, nothing feasible.

One small problem, asked in four ways.
"""

import sympy as sp

from symscale.algebra.certify.theorems import certify
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.program import Program
from symscale.algebra.products.solve import solve
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.errors import FormulaError, InfeasibleError, UnboundedError
from symscale.language.symbols import DATA_MOVEMENT, notation, symbol, symbols
from symscale.pages.formats.document import Number
from symscale.pages.formats.text import inline
from symscale.pages.of.derive import show
from symscale.studies.training.constraints import PEAK, below, quantity

NUMBERS = {
    "C": 10**15, "t_d": 8 * 10**6, "n": 600, "b_0": 3 * 10**6, "e_op": sp.Rational(1, 10**12),
    "J_0": 10**14,
}
DEMAND = sp.Integer(2 * 10**25)
SETTINGS = ({"N_0": 4000}, {"N_0": 5000}, {"N_0": 20000}, {"N_0": 20000, "J_0": 10**13})


def derive() -> Derivation:
    """Derive the largest run on devices, a batch and an energy, and what becomes of it."""
    T, N, b, T_min, N_0, b_0 = symbols("T N b T_min N_0 b_0")
    constraints = {
        c.name: c
        for c in (
            below("arithmetic", PEAK.time(quantity("T"), N), quantity("t_d"),
                  "all devices at their peak rate take no longer than allowed"),
            below("tokens", quantity("n") * N, quantity("b"), "each device needs its tokens",
                  DATA_MOVEMENT),
            below("critical batch", quantity("b"), quantity("b_0"), "a larger batch is wasted",
                  DATA_MOVEMENT),
            below("budget", quantity("N"), quantity("N_0"), "no more can be bought"),
            below("energy", quantity("e_op") * quantity("T"), quantity("J_0"),
                  "the power contract"),
        )
    }
    demand = below("demand", quantity("T_min"), quantity("T"), "if a run has to be so large")
    build = DerivationBuilder(
        "kinds-of-answers", "Kinds of answers: a small problem asked in four ways",
        "A run of compute T takes N devices, each of which needs n tokens of the batch. How large "
        "can it be within a critical batch, a budget of devices and an energy? What if all of "
        "these bind at once, if none of them is there, and if they leave too little?",
    )
    for constraint in (*constraints.values(), demand):
        build.assume_constraint(constraint)
    limit = solve(
        Program(
            "largest-run", "Largest run", "maximize", Monomial.of(T), (T, N, b),
            tuple(constraints.values()),
            piece_names={
                frozenset({"arithmetic", "tokens", "critical batch"}): "batch",
                frozenset({"arithmetic", "budget"}): "devices", frozenset({"energy"}): "power",
            },
        )
    )
    proofs = certify(limit)
    for piece in limit.pieces:
        build.product(
            piece.name, piece.multipliers,
            f"three regimes, the one of '{piece.name}': the constraints that bind in it multiply "
            "to a bound without unknowns",
            solve_for=T,
        )
        build.attain(
            f"{piece.name}, attained", proofs[piece.name],
            "some run attains it, where no other constraint is violated",
        )
    for first, second, solve_for in (("batch", "devices", N_0), ("batch", "power", b_0)):
        build.meet(
            f"{first} meets {second}", f"{first}, attained", f"{second}, attained",
            "a degenerate vertex: two regimes give the same run, at which more constraints are "
            "tight than there are unknowns; the third regime rules beyond the condition",
            solve_for=solve_for,
        )
    free = Program(
        "any-devices", "As many devices as one likes", "maximize", Monomial.of(T), (T, b),
        (constraints["arithmetic"], constraints["tokens"]),
    )
    any_devices = solve(free)
    build.attain(
        "any number of devices", certify(any_devices)[any_devices.pieces[0].name],
        "no finite optimum: without critical batch, budget and energy there is this run for every "
        "N, and N may be anything",
    )
    fewest = solve(
        Program(
            "fewest-devices", "Fewest devices", "minimize", Monomial.of(N), (T, N, b),
            (*constraints.values(), demand),
        )
    )
    for condition in fewest.feasibility:
        names = [x for x in condition.binding if x not in ("demand", "arithmetic")]
        build.product(
            f"feasible: {' and '.join(names)}", condition.multipliers,
            "if a run has to be so large, these constraints multiply to a relation without any "
            "unknown: where it fails, nothing is feasible",
            solve_for=T_min,
        )
    return build.finish(
        "The largest run is the least of three monomials, and each rules where it is the least. "
        "Where b_0 = n N_0, and the energy is enough, two of them agree: critical batch and budget "
        "are tight at once, so either alone proves the bound, and each has its own multipliers. "
        "The value is continuous there, its elasticities are not: more devices alone, or a larger "
        "batch alone, gain nothing, less of either loses in proportion. A run that the energy "
        "limits leaves devices and batch free: N is anything from J_0/(e_op C t_d) to the lesser "
        "of N_0 and b_0/n. Without any of the "
        f"three the solver says: {_unbounded(free)}. With a demand T_min beyond any of the three "
        "bounds it says which constraints contradict each other, as in the last row of the table.",
        (
            NumbersTable(
                "At " + ", ".join(f"{x} = {_with_unit(x)}" for x in NUMBERS if x != "J_0"),
                ("N_0", "J_0", "largest T", "rules",
                 f"least N at T_min = {inline(Number(DEMAND, 'FLOP'))}"),
                tuple(_row(limit.program, fewest.program, setting) for setting in SETTINGS),
            ),
        ),
        limit,
    )


def _with_unit(name: str) -> str:
    return inline(Number(sp.Rational(NUMBERS[name]), notation(name).unit))


def _row(
    largest: Program, fewest: Program, setting: dict[str, int]
) -> tuple[str, Number, Number, str, str]:
    """The answers at numbers, from the solver."""
    at = {symbol(k): sp.Rational(v) for k, v in (NUMBERS | setting).items()}
    limit = solve(largest)
    value = limit.at(at)
    rules = [p.name for p in limit.pieces if (p.bound.evaluate(at) / value - 1) < 1e-20]
    demanded = {**at, symbol("T_min"): DEMAND}
    needed = solve(fewest)
    try:
        verdict = f"N = {int(needed.at(demanded))}"
    except InfeasibleError:
        (wrong, *_) = [c for c in needed.feasibility if not c.holds(demanded)]
        verdict = f"infeasible: {' and '.join(wrong.binding)}"
    return (
        str(setting["N_0"]), Number(at[symbol("J_0")], "J"), Number(value, "FLOP"),
        " and ".join(rules), verdict,
    )


def _unbounded(program: Program) -> str:
    """What the solver says where the number of devices is a variable as well."""
    variables = (*program.variables, symbol("N"))
    try:
        solve(
            Program(program.name, program.title, "maximize", program.objective, variables,
                    program.constraints)
        ).check()
    except UnboundedError as error:
        return str(error)
    raise FormulaError(f"{program.objective} has a bound")


if __name__ == "__main__":
    show(derive())
