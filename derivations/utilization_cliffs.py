"""Utilization cliffs: what a run beyond the limit still achieves, and where it ends.

The study of the limits with the compute given and the utilization free.
"""

import sympy as sp

from symscale.algebra.certify.theorems import certify
from symscale.algebra.products.solve import solve
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import symbol
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.requests.numbers import on_machines
from symscale.studies.requests.parameters import rules
from symscale.studies.training.cliffs import cliffs_of, cliffs_program
from symscale.studies.training.constraints import domain


def derive() -> Derivation:
    """Derive U(T), its pieces and cliffs, for any growth of batch and depth."""
    U, T, alpha = symbol("U"), symbol("T"), symbol("alpha")
    program = cliffs_program().substitute(rules())
    limit = solve(program)
    proofs = certify(limit)
    build = DerivationBuilder(
        "utilization-cliffs",
        "Utilization cliffs",
        "Beyond the limit of full utilization a run still fits on more devices, each of which "
        "waits part of the time. With the compute T given, what is the largest utilization U?",
        domain(),
    )
    for constraint in program.constraints:
        build.assume_constraint(constraint)
    for piece in limit.pieces:
        build.product(
            piece.name, piece.multipliers,
            f"the piece '{piece.name}': multiply the constraints that bind in it",
            solve_for=U,
        )
        build.attain(
            f"{piece.name}, attained", proofs[piece.name],
            "the bound is attained: the constraints that bind, and others chosen so that every "
            "unknown is fixed, hold with equality",
        )
    for condition in limit.feasibility:
        build.product(
            "end", condition.multipliers,
            "these constraints multiply to a relation without any unknown: no run exceeds it",
            solve_for=T,
        )
    cliffs = cliffs_of(limit)
    build.meet(
        "first cliff", "full utilization, attained", "data movement, attained",
        "the two pieces meet where both give the same utilization",
        solve_for=T,
    )
    zero = [c.compute.substitute({alpha: sp.Integer(0)}).expr for c in cliffs]
    rows = tuple(
        (title, *(Number(v, "FLOP", 8) for v in values))
        for title, values in on_machines(zero, "node")
    )
    return build.finish(
        "For alpha below 1/2, utilization is 1 up to the first cliff, where the limit of full "
        "utilization lies; then it falls as the power -(1 - 2 alpha)/4 of the compute; beyond the "
        "latency wall there is no run at all. Where the wall comes first, that is where "
        "3 tau W_mem W_net^2 exceeds 4 C^2, utilization is 1 up to the wall.",
        (
            NumbersTable(
                "At alpha = 0, E = 1, b_0 = 4e6 tokens, L_0 = 100, t_d = 365.25/4 days; "
                "a node as one device",
                ("device", *(f"{c.between[0]} | {c.between[1]}" for c in cliffs)),
                rows,
            ),
        ),
        limit,
    )


if __name__ == "__main__":
    show(derive())
