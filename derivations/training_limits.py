"""Training limits: the largest run at full utilization.

All constraints of the data-movement study together; every piece of the limit is a
product of them.
"""

import sympy as sp

from symscale.algebra.loglinear import solve
from symscale.algebra.points import certify
from symscale.derivation import Derivation, DerivationBuilder, Table
from symscale.render.derivations import show
from symscale.render.document import Number
from symscale.studies.limits import limits_program
from symscale.studies.numbers import on_machines
from symscale.studies.parameters import rules
from symscale.symbols import symbol, symbols

QUESTION = (
    "A run of compute T trains P parameters on D tokens within the time t_d. Arithmetic runs at "
    "its peak, so traffic over the network and through memory must hide behind it, and the batch "
    "must not exceed the critical one. How large can T be?"
)


def derive() -> Derivation:
    """Derive the largest training run, for any growth of batch and depth."""
    T = symbol("T")
    program = limits_program().substitute(rules())
    limit = solve(program)
    build = DerivationBuilder("training-limits", "Training limits", QUESTION)
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
            f"{piece.name}, attained", certify(limit, piece),
            "the bound is attained: the constraints that bind, solved as equations, give a run "
            "that satisfies all the others where the piece rules",
        )
    alpha, alpha_L = symbols("alpha alpha_L")
    zero = [p.bound.substitute({alpha: sp.Integer(0)}).expr for p in limit.pieces]
    rows = tuple(
        (title, *(Number(v, "FLOP", 8) for v in values))
        for title, values in on_machines(zero, "node")
    )
    return build.finish(
        "The largest run is the smaller of two monomials. Data movement binds arithmetic, network, "
        "memory, pipeline and batch together; the latency wall binds latency and batch, whatever "
        "the device. Only the difference alpha of the growth of batch and depth matters. The "
        "ratio d_ff/d_model has multiplier zero: no piece depends on it.",
        (
            Table(
                "At alpha = 0, a node as one device, standard assumptions",
                ("device", *(p.name for p in limit.pieces)),
                rows,
            ),
        ),
        limit,
    )


if __name__ == "__main__":
    show(derive())
