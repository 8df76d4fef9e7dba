"""Latency wall: the largest run that products in sequence leave time for.

The one limit that no device and no network shifts, but shorter latency.
"""

from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.derivation.steps import Derivation, DerivationBuilder
from symscale.language.symbols import symbol, symbols
from symscale.pages.of.derive import show
from symscale.studies.requests.parameters import rules
from symscale.studies.training.constraints import (
    PEAK,
    definitions,
    domain,
    reduced_plan,
    step_constraints,
)


def derive() -> Derivation:
    """Derive the latency wall from the relations that bind in it."""
    T, D, b = symbols("T D b")
    model = sparse_mlp(reduced_plan())
    steps = step_constraints(model, PEAK, {}, model.sequential_products)
    given = [*definitions(model, symbol("N")), *steps]
    chosen = {c.name: c.substitute(rules()) for c in given}
    build = DerivationBuilder(
        "latency-wall",
        "Latency wall",
        "A step passes every block forward and backward, one product after the other: two forward, "
        "and two for the gradients of activations. Each takes at least the latency tau. How large "
        "can a run be, however many devices it has?",
        domain(),
    )
    for name in ("parameters", "tokens", "compute", "depth", "critical batch", "latency"):
        build.assume_constraint(chosen[name])
    build.product(
        "tokens of a run", {"parameters": -1, "tokens": -1, "compute": 1},
        "compute, parameters and tokens together fix how many tokens a run of compute T sees",
        solve_for=D,
    )
    build.product(
        "steps", {"latency": 1},
        "the batch must be large enough that the steps, one after the other, fit into the time",
        solve_for=b,
    )
    alpha = symbol("alpha")
    power = 1 / (1 - 2 * alpha)
    build.product(
        "latency wall",
        {
            "steps": 2 * power, "critical batch": 2 * power, "depth": -2 * power,
            "tokens of a run": -2 * power,
        },
        "the batch must not exceed the critical one either; put in depth and tokens, and solve",
        solve_for=T,
    )
    return build.finish(
        "The wall depends on no rate of any device: on the critical batch and the depth at T_0 and "
        "how they grow, the time allowed, the latency, the sparsity and the tokens for each "
        "parameter. It holds for alpha below 1/2: its ratio to T_0 is then that at alpha = 0 to "
        "the power 1/(1 - 2 alpha). For alpha above 1/2 the same relations bound T from below."
    )


if __name__ == "__main__":
    show(derive())
