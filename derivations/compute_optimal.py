"""Compute-optimal: how to divide compute between parameters and tokens.

A loss that falls as powers of both, under a given product of the two.
"""

import sympy as sp

from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.rewrites.least import least
from symscale.algebra.rewrites.rewrite import substitute
from symscale.costs.cost import cost
from symscale.derivation.steps import Derivation, DerivationBuilder, NumbersTable
from symscale.language.symbols import CHINCHILLA, symbol, symbols
from symscale.pages.formats.document import Number
from symscale.pages.of.derive import show
from symscale.studies.mesh.costs import dense_mlp
from symscale.studies.training.constraints import quantity, same

FITTED = {
    "A_P": sp.Rational("406.4"), "A_D": sp.Rational("410.7"),
    "gamma_P": sp.Rational("0.34"), "gamma_D": sp.Rational("0.28"),
}
"""The published fit (approach 3)."""


def derive() -> Derivation:
    """Derive parameters, tokens and loss of the best run of a given compute."""
    P, D, T = symbols("P D T")
    A_P, A_D, gamma_P, gamma_D = symbols("A_P A_D gamma_P gamma_D")
    positive = Interval(sp.Integer(0), None)
    domain = Domain(exponents={gamma_P: positive, gamma_D: positive})
    model = dense_mlp()
    build = DerivationBuilder(
        "compute-optimal", "Compute-optimal: parameters and tokens",
        "A model of P parameters trained on D tokens has a loss whose reducible part falls as a "
        "power of each. With the compute T given, which P and D are best? The model is a plain "
        "MLP: L blocks of two products, d_model by d_ff and back, each weight used once for each "
        "token; no attention, embedding or biases. Of it the result needs only that T = 6 P D, "
        "which of a Transformer is the leading term (derivation layer-flop). The published fit "
        "writes N for P, A and B for A_P and A_D, and other Greek letters for the exponents "
        "gamma_P and gamma_D.",
        domain,
    )
    steps = quantity("D") / quantity("b")
    build.assume_constraint(
        same("parameters", quantity("P"), cost(model.parameters, "1"),
             "the two matrices of each of L blocks")
    )
    build.assume_constraint(
        same("compute", quantity("T"), model.training_flop * steps,
             "every step costs the FLOP of its products, forward and backward")
    )
    loss = cost(A_P * P**-gamma_P + A_D * D**-gamma_D, "1")
    build.define(
        "loss", quantity("R"), loss,
        "the loss less what no model removes; tokens count as a number here", CHINCHILLA,
    )
    tokens = build.product(
        "tokens", {"compute": 1, "parameters": -1},
        "six FLOP for each parameter and token: the compute fixes the tokens", solve_for=D,
    ).statement.rhs
    put_in = build.rewrite(
        "loss at T",
        substitute(loss.expr, {D: tokens}, "the compute leaves one choice, P"),
        premises=["tokens"],
    ).statement.rhs
    lowest = build.rewrite(
        "least loss",
        least(
            put_in, [P], "choose P so that the sum is least: where its two terms are to one "
            "another as gamma_D to gamma_P", domain=domain,
        ),
    ).statement.rhs
    best = build.choose("best P", "least loss", P, "the compute-optimal parameters").statement.rhs
    best_tokens = build.product(
        "best D", {"tokens": 1, "best P": -1}, "the tokens that the compute leaves", solve_for=D
    ).statement.rhs
    values = {symbol(name): value for name, value in FITTED.items()}
    of_tokens, of_parameters = (
        sp.Float((power / (gamma_P + gamma_D)).xreplace(values)) for power in (gamma_P, gamma_D)
    )
    fitted = ", ".join(f"{name} = {float(value):g}" for name, value in FITTED.items())
    rows = []
    for compute in (10**21, 588 * 10**21, 10**26):
        at = values | {T: sp.Integer(compute)}
        p, d, r = (sp.Float(sp.N(f.xreplace(at), 25), 25) for f in (best, best_tokens, lowest))
        rows.append((
            Number(sp.Integer(compute), "FLOP"), Number(p), Number(d, "token"), Number(d / p),
            Number(r),
        ))
    return build.finish(
        "Parameters grow as the power gamma_D/(gamma_P + gamma_D) of the compute, tokens as "
        "gamma_P/(gamma_P + gamma_D), whatever the scales are; the reducible loss falls as the "
        "power gamma_P gamma_D/(gamma_P + gamma_D). At the best P the terms of parameters and "
        "tokens are to one another as gamma_D to gamma_P. It holds for any positive exponents "
        "and scales, and for every T: P and D are positive real numbers without bounds. With the "
        f"published fit tokens grow faster than parameters (as the powers {float(of_tokens):.3f} "
        f"and {float(of_parameters):.3f} of the compute); its other two approaches found nearly "
        "equal growth, about 20 tokens a parameter.",
        (
            NumbersTable(
                f"With the published fit, {fitted}",
                ("T", "P", "D", "D/P", "R"), tuple(rows),
            ),
        ),
    )


if __name__ == "__main__":
    show(derive())
