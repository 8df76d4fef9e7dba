"""The constraints of a training run, from the costs of the model and the rates of the machine.

The largest run (`limits`) and the utilization of a given run (`cliffs`) are two
questions to the same constraints: every other time of a step must fit into the
time that its arithmetic takes at the achieved rate, the peak C or a share U of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.program import Constraint, at_most, equals
from symscale.algebra.rewrites.rewrite import (
    Rewrite,
    arithmetic_geometric,
    compose,
    drop_ones,
    equal_shares,
    split_maximum,
    substitute,
)
from symscale.costs.contraction import Pass
from symscale.costs.cost import Cost, cost
from symscale.costs.model import CostedModel
from symscale.costs.pipeline import microbatches_without_bubble
from symscale.costs.sparse_mlp.model import SparseMLP, sparse_mlp
from symscale.costs.sparse_mlp.plan import MLPPlan, symbolic_plan
from symscale.costs.times import memory_time, network_time
from symscale.language.symbols import CHINCHILLA, DATA_MOVEMENT, notation, symbol, symbols
from symscale.studies.requests.parameters import EXPONENTS


def quantity(name: str) -> Cost:
    """Return a symbol of the notation as a cost with its unit.

    Example:
        >>> str(quantity("t_d").unit)
        's'
    """
    return cost(symbol(name), notation(name).unit)


def below(name: str, left: Cost, right: Cost, reason: str, source: str = "") -> Constraint:
    """Return the constraint `left <= right` between costs of one unit.

    Raises:
        UnitError: If the units differ.
    """
    left.require_same_unit(right)
    return at_most(name, left.expr, right.expr, reason, source)


def same(name: str, left: Cost, right: Cost, reason: str, source: str = "") -> Constraint:
    """Return the constraint `left == right` between costs of one unit.

    Raises:
        UnitError: If the units differ.
    """
    left.require_same_unit(right)
    return equals(name, left.expr, right.expr, reason, source)


@dataclass(frozen=True)
class TensorTraffic:
    """How the words of tensor parallelism become monomials, step by step.

    Attributes:
        exact: Words of a step, all devices.
        without_ones: With every N - 1 replaced by N.
        optimal: The least over all splits of N_TP between d_model and d_ff.
        best: The same in terms of N_TP, in one rewrite.
        shares: The sum bounded by its terms, for a split that stays free.
    """

    exact: Cost
    without_ones: Rewrite
    optimal: Rewrite
    best: Rewrite
    shares: Rewrite


def tensor_traffic(model: SparseMLP) -> TensorTraffic:
    """Rewrite the tensor-parallel traffic of a model whose plan is symbolic."""
    split_model, split_ff, N_TP = symbols("N_TP_model N_TP_ff N_TP")
    exact = model.exchange_words("tensor")
    dropped = drop_ones(exact.expr, (split_model, split_ff))
    optimal = arithmetic_geometric(dropped.after)
    in_degree = substitute(
        optimal.after,
        {split_model: N_TP / split_ff},
        "the degree of tensor parallelism is the product of its two splits",
    )
    best = compose(optimal, in_degree)
    return TensorTraffic(exact, dropped, optimal, best, equal_shares(dropped.after))


def data_traffic(model: CostedModel) -> Rewrite:
    """Rewrite the data-parallel traffic of a model whose plan is symbolic."""
    return drop_ones(model.exchange_words("data").expr, (symbol("N_DP"),))


@dataclass(frozen=True)
class Rate:
    """The arithmetic rate that a device achieves: C, or U C."""

    achieved: Cost

    def time(self, flop: Cost, devices: sp.Expr) -> Cost:
        """Time of arithmetic at this rate, spread evenly over devices."""
        return flop / (self.achieved * devices)


PEAK = Rate(quantity("C"))
PARTIAL = Rate(quantity("C") * symbol("U"))


def reduced_plan() -> MLPPlan:
    """The plan of the reduced study: experts on devices of their own, tensor splits by symbol."""
    plan = symbolic_plan()
    return MLPPlan(plan.N_DP, plan.N_TP_model, plan.N_TP_ff, plan.N_PP, symbol("E"), plan.m, plan.v)


def definitions(model: CostedModel, devices: sp.Expr) -> list[Constraint]:
    """The equalities: what parameters, tokens, compute, devices, shape and depth are."""
    growth = symbol("T") / symbol("T_0")
    steps = quantity("D") / quantity("b")
    return [
        same("parameters", quantity("P"), cost(model.parameters, "1"),
             "weights of both products of every expert of every block", DATA_MOVEMENT),
        same("tokens", quantity("D"), cost(symbol("r_D") * symbol("P"), "token"),
             "a compute-optimal run sees so many tokens for each parameter", CHINCHILLA),
        same("compute", quantity("T"), model.training_flop * steps,
             "every step costs the FLOP of its products, forward and backward"),
        same("devices", quantity("N"), cost(devices, "1"),
             "each combination of the parallel degrees has a device of its own; in the reduced "
             "study N_EP = E"),
        same("shape", quantity("d_ff"), quantity("d_model") * symbol("r_ff"),
             "the usual shape; only the product of the two widths matters here"),
        same("depth", quantity("L"), cost(symbol("L_0") * growth ** symbol("alpha_L"), "1"),
             "depth grows as a power of the compute", DATA_MOVEMENT),
    ]


def step_constraints(
    model: CostedModel, rate: Rate, traffic: Mapping[str, Cost], chain: sp.Expr
) -> list[Constraint]:
    """What must hide behind the arithmetic of a step, and what the batch allows.

    Args:
        model: The model under its plan.
        rate: The achieved arithmetic rate.
        traffic: Words over the network, by the name of the constraint.
        chain: Products of a step that follow one another.
    """
    N, b_0, exponent = symbol("N"), symbol("b_0"), symbol("alpha") + symbol("alpha_L")
    growth = symbol("T") / symbol("T_0")
    arithmetic = rate.time(model.training_flop, N)
    reasons = {
        "network": "tensor-parallel reductions, without the -1 of each and at the best split, "
        "hide behind the arithmetic of a step",
        "network (d_model)": "reductions over the split of d_model have half of the step's time",
        "network (d_ff)": "reductions over the split of d_ff have the other half",
        "network (data)": "reductions of weight gradients hide behind the arithmetic of a step",
    }
    network = [
        below(name, network_time(words, N), arithmetic, reasons[name], DATA_MOVEMENT)
        for name, words in traffic.items()
    ]
    gradient: Pass = "weight gradient"
    return [
        *network,
        below("DRAM", memory_time(model.weight_traffic(gradient), N),
              rate.time(model.flop(gradient), N),
              "the weight-gradient products read and write their accumulator once a nanobatch",
              DATA_MOVEMENT),
        below("slicing", cost(microbatches_without_bubble(model.plan.N_PP), "1"), quantity("m"),
              "a zero-bubble pipeline needs two microbatches for each stage", DATA_MOVEMENT),
        below("critical batch", quantity("b"), cost(b_0 * growth**exponent, "token"),
              "a larger batch no longer saves steps in proportion", DATA_MOVEMENT),
        below("latency",
              quantity("tau") * chain * (quantity("D") / quantity("b")), quantity("t_d"),
              "products that wait for one another take at least tau each", DATA_MOVEMENT),
    ]


def natural_bounds(model: SparseMLP) -> list[Constraint]:
    """What sizes and degrees are in themselves: at least 1, and no more than what they split."""
    plan = model.plan
    least = [
        (name, symbol(name))
        for name in ("N_TP_model", "N_TP_ff", "N_DP", "N_PP", "N_EP", "d_model", "d_ff")
    ]
    within = [
        ("N_PP <= L", plan.N_PP, model.L, "a pipeline stage holds a block at least"),
        ("N_EP <= E", plan.N_EP, model.E, "a device holds an expert's shard at least"),
        ("N_TP_model <= d_model", plan.N_TP_model, model.d_model, "a shard is a column at least"),
        ("N_TP_ff <= d_ff", plan.N_TP_ff, model.d_ff, "a shard is a row at least"),
    ]
    return [
        *(at_most(f"{name} >= 1", 1, s, "a degree or width is at least 1") for name, s in least),
        *(at_most(name, left, right, reason) for name, left, right, reason in within),
    ]


@dataclass(frozen=True)
class TrainingModel:
    """The definitions and constraints of a study, before the objective.

    Attributes:
        definitions: The equalities.
        constraints: The inequalities of a step.
        variables: The unknowns, without the objective.
    """

    definitions: tuple[Constraint, ...]
    constraints: tuple[Constraint, ...]
    variables: tuple[sp.Symbol, ...]


@lru_cache(maxsize=8)
def training_model(rate: Rate, full: bool, network: bool) -> TrainingModel:
    """Assemble the constraints of a training run.

    Args:
        rate: PEAK or PARTIAL.
        full: Whether every degree is a variable of its own, within its natural bounds.
        network: Whether the network's bandwidth is limited.
    """
    model = sparse_mlp(symbolic_plan() if full else reduced_plan())
    plan, tensor = model.plan, tensor_traffic(model)
    words: dict[str, Cost] = {}
    if full:
        split = {s.name: s for s in symbols("N_TP_model N_TP_ff")}
        for half in split_maximum(tensor.shares.after):
            which = "d_model" if split["N_TP_model"] in half.free_symbols else "d_ff"
            words[f"network ({which})"] = tensor.exact.with_expr(half)
        words["network (data)"] = tensor.exact.with_expr(data_traffic(model).after)
        devices = plan.devices
        names = "L b N N_TP_model N_TP_ff N_DP N_PP N_EP m"
    else:
        words["network"] = tensor.exact.with_expr(tensor.best.after)
        devices = plan.devices.subs(plan.N_TP_model, symbol("N_TP") / plan.N_TP_ff)
        names = "L b N N_TP N_DP N_PP m"
    constraints = step_constraints(
        model, rate, words if network else {}, model.sequential_products
    )
    if full:
        constraints += natural_bounds(model)
    return TrainingModel(
        tuple(definitions(model, devices)), tuple(constraints), symbols(f"P D d_model d_ff {names}")
    )


def domain() -> Domain:
    """Where the parameters of these studies live."""
    return Domain((Monomial.of(symbol("E")),), EXPONENTS)
