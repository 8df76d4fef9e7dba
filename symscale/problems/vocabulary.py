"""Built-in names for problem files: costs of the sparse MLP, and rates of a machine."""

from functools import lru_cache

from symscale.costs.cost import Cost, cost
from symscale.costs.sparse_mlp.model import sparse_mlp
from symscale.costs.times import MEMORY_DIRECTIONS
from symscale.language.symbols import symbol
from symscale.studies.training.constraints import quantity, tensor_traffic


@lru_cache(maxsize=1)
def built_in_names() -> dict[str, Cost]:
    """Return the built-in quantities by dotted name.

    Costs are per step, in the symbols of the notation (`symscale symbols`), summed over
    all devices. Traffic is given with every N - 1 replaced by N, as a bound from above.

    Example:
        >>> built_in_names()["cost.training_flop"].expr
        12*L*b*d_ff*d_model
    """
    model = sparse_mlp()
    tensor = tensor_traffic(model)
    data = model.exchange_words("data").expr.subs(symbol("N_DP"), symbol("N_DP") + 1)
    return {
        "cost.training_flop": model.training_flop,
        "cost.parameters": cost(model.parameters, "1"),
        "cost.tensor_words": tensor.exact.with_expr(tensor.without_ones.after),
        "cost.data_words": model.exchange_words("data").with_expr(data),
        "cost.memory_words": model.weight_traffic("weight gradient"),
        "cost.sequential_products": cost(model.sequential_products, "1"),
        "cost.devices": cost(model.plan.devices, "1"),
        "machine.flop_rate": quantity("C"),
        "machine.network_bandwidth": quantity("W_net"),
        "machine.memory_bandwidth": quantity("W_mem") * MEMORY_DIRECTIONS,
        "machine.latency": quantity("tau"),
    }
