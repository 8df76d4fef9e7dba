"""Training limits: the largest run at full utilization.

All constraints of the data-movement study together; every piece of the limit is a
product of them.
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
from symscale.studies.training.constraints import domain
from symscale.studies.training.limits import limits_program

QUESTION = (
    "A run of compute T trains P parameters on D tokens within the time t_d. Arithmetic runs at "
    "its peak, so tensor-parallel traffic and the streaming of weights must hide behind it; the "
    "batch must not exceed the critical one, and products in sequence take their latency. How "
    "large can T be? Degrees, microbatches and sizes are positive real numbers, links are loaded "
    "evenly, tokens spread evenly over experts, and every expert has devices of its own. Traffic "
    "of data, pipeline and expert parallelism, and the capacity of memory, are left out (the "
    "study with every degree free, limits --full, counts data parallelism)."
)


def derive() -> Derivation:
    """Derive the largest training run, for any growth of batch and depth."""
    T = symbol("T")
    program = limits_program().substitute(rules())
    limit = solve(program)
    proofs = certify(limit)
    build = DerivationBuilder("training-limits", "Training limits", QUESTION, domain())
    for constraint in program.constraints:
        build.assume_constraint(constraint)
    for piece in limit.pieces:
        build.product(
            piece.name, piece.multipliers,
            f"the bound '{piece.name}': multiply the constraints that bind in it, each raised to "
            "its multiplier; every unknown but T cancels",
            solve_for=T,
        )
        build.attain(
            f"{piece.name}, attained", proofs[piece.name],
            "the bound is attained: the constraints that bind, and others chosen so that every "
            "unknown is fixed, hold with equality at a point of positive real numbers",
        )
    alpha = symbol("alpha")
    zero = [p.bound.substitute({alpha: sp.Integer(0)}).expr for p in limit.pieces]
    rows = tuple(
        (title, *(Number(v, "FLOP", 8) for v in values))
        for title, values in on_machines(zero, "node")
    )
    return build.finish(
        "The largest run is the smaller of two monomials, for alpha below 1/2. Data movement binds "
        "arithmetic, network, memory, pipeline and batch together; the latency wall binds latency "
        "and batch, whatever the rates of the device. Only the difference alpha of the growth of "
        "batch and depth matters. The constraint 'shape' has multiplier zero: no piece depends on "
        "d_ff/d_model. The limit is cautious in that the network constraint drops the -1 of every "
        "all-reduce (derivation 'tensor-shard'), and generous in that degrees are any positive "
        "numbers, also below 1, and that what was left out takes no time (limits --full asks for "
        "degrees of at least 1).",
        (
            NumbersTable(
                "At alpha = 0, E = 1, b_0 = 4e6 tokens, L_0 = 100, t_d = 365.25/4 days; "
                "a node as one device",
                ("device", *(p.name for p in limit.pieces)),
                rows,
            ),
        ),
        limit,
    )


if __name__ == "__main__":
    show(derive())
