"""What a search for plans of a Transformer asks of the model and the degrees given."""

from dataclasses import fields, is_dataclass, replace
from math import prod

import sympy as sp

from symscale.costs.transformer.architecture import Architecture, Experts
from symscale.costs.transformer.plan import ONE, require_divides, whole
from symscale.errors import InputError
from symscale.simulator.transformer.planning import Question, tensor_degrees

OPTIONS = {
    "N_TP": "--tp", "N_CP": "--cp", "N_DP": "--dp", "N_PP": "--pp", "N_EP": "--ep",
    "m": "--microbatches", "v": "--interleaving",
}
PLACES = ("N_TP", "N_CP", "N_DP", "N_PP")  # whose product is the number of devices


def check_sizes(architecture: Architecture) -> None:
    """Raise unless every size of a model is a number.

    Raises:
        InputError: Naming the sizes that are open.
    """
    opened = sorted(
        str(s) for s in _symbols_of(replace(architecture, context=ONE, position_entries=ONE))
    )
    if opened:
        raise InputError(
            f"{architecture.name} has no numbers for {', '.join(opened)}; a search needs a model "
            "of given sizes (list: symscale models), or a file"
        )


def _symbols_of(value: object) -> set[sp.Symbol]:
    if isinstance(value, sp.Expr):
        return {s for s in value.free_symbols if isinstance(s, sp.Symbol)}
    if isinstance(value, tuple):
        return set().union(*map(_symbols_of, value))
    if is_dataclass(value):
        return set().union(*(_symbols_of(getattr(value, f.name)) for f in fields(value)))
    return set()


def check_fixed(question: Question) -> None:
    """Raise unless every degree that is fixed divides what it splits.

    Raises:
        InputError: With the nearest that does.
    """
    architecture, given = question.architecture, question.fixed
    name = architecture.name
    for key, value in given.items():
        if value < 1:
            raise InputError(f"{OPTIONS[key]} {value} is no count; it is at least 1")
    tensor = tensor_degrees(architecture)
    if "N_TP" in given and given["N_TP"] not in tensor:
        nearest = min(tensor, key=lambda d: (abs(d - given["N_TP"]), d))
        raise InputError(
            f"--tp {given['N_TP']} does not divide the heads and widths of {name}; the nearest "
            f"that does is {nearest}"
        )
    experts: dict[str, sp.Expr] = {}
    for stack in architecture.stacks:
        if isinstance(stack.block.mlp, Experts):
            experts["the number of experts"] = stack.block.mlp.experts
    if "N_EP" in given and given["N_EP"] != 1 and not experts:
        raise InputError(f"--ep {given['N_EP']}: {name} has no experts; leave it out")
    sequences, devices = sp.Integer(question.sequences), sp.Integer(question.devices)
    split: dict[str, dict[str, sp.Expr]] = {
        "N_EP": experts, "N_CP": {"the tokens of a sequence": sp.Integer(question.context)},
        "N_DP": {"the sequences of a batch": sequences},
        "m": {"the sequences of a batch": sequences},
    }
    product = prod(given.get(key, 1) for key in PLACES)
    if devices % product:
        many = " x ".join(f"{OPTIONS[k]} {given[k]}" for k in PLACES if k in given)
        raise InputError(f"{many} does not divide --devices {devices}; change one of them")
    for key, sizes in split.items():
        if key in given:
            require_divides(OPTIONS[key], sp.Integer(given[key]), sizes)
    layers = sum(whole(s.blocks) or 0 for s in architecture.stacks)
    chunks = given.get("N_PP", 1) * given.get("v", 1)
    if chunks > layers:
        raise InputError(
            f"{chunks} pipeline chunks are more than the {layers} blocks of {name}; at most "
            f"{layers} can be filled"
        )
