"""A Transformer as a user asks for it: a model, a plan, what is set; checked as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from math import gcd
from typing import Any, TypeVar

import sympy as sp

from symscale.costs.transformer.architecture import Architecture, Experts, FeedForward
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.plan import Plan, require_divides, whole
from symscale.costs.transformer.stages import heaviest_stage
from symscale.errors import InputError
from symscale.facts.models.zoo import load_model
from symscale.language.symbols import symbol
from symscale.studies.requests.plan_options import PlanOptions, plan_options
from symscale.studies.requests.sizes import settled

ONE = sp.Integer(1)
RATES = ("C", "W_net", "tau_net")
T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """A model with its plan and settings.

    Attributes:
        model: The Transformer.
        options: What the user said of the plan.
        settings: Values of symbols, the machine's among them.
        notes: What was assumed where the user said nothing.
    """

    model: Transformer
    options: PlanOptions
    settings: Mapping[sp.Symbol, sp.Expr]
    notes: tuple[str, ...]

    @property
    def word(self) -> sp.Expr:
        """Bytes of a word."""
        return self.settings.get(symbol("w"), symbol("w"))

    def number(self, amount: sp.Expr) -> sp.Expr:
        """Return an amount with the settings put in."""
        return amount.xreplace(dict(self.settings))

    def defaults(self, command: str) -> dict[str, str]:
        """The switches of a command that nobody set, by name, in words."""
        words, table = self.model.plan.words, plan_options()
        return {
            name: words[name] for name in self.options.defaults
            if name in words and command in table[name][1].commands
        }


def transformer_request(
    name: str,
    options: PlanOptions | None = None,
    settings: Mapping[str, sp.Expr] | None = None,
    *,
    rates: bool = True,
) -> Request:
    """Read a question about a Transformer.

    Args:
        name: A model's name, a TOML file or a Hugging Face config.json.
        options: The plan.
        settings: Values of symbols by name, as `read_settings` returns them.
        rates: Whether C and W_net matter, and so may be set.

    Raises:
        InputError: If the model does not exist, or the plan does not fit it; the text
            names the nearest that does.

    Example:
        >>> request = transformer_request("gpt-3", PlanOptions(tp=32))
        >>> request.model.plan.N_TP, request.model.parameters
        (32, 174604259328)
    """
    options = options or PlanOptions()
    architecture = load_model(name)
    values = {symbol(key): value for key, value in (settings or {}).items()}
    options.check()
    plan, notes = _plan(architecture, options)
    context: sp.Expr = sp.Integer(options.seq) if options.seq else architecture.context
    tokens = sp.Integer(options.batch) * context if options.batch else symbol("b")
    model = Transformer(architecture, tokens, context, plan)
    machine = ("w", *RATES) if rates else ("w",)
    values = settled(architecture.name, values, _symbols_of(model), machine)
    model = _put(model, values)
    if symbol("w") not in values and model.architecture.d_model.is_Rational:
        values[symbol("w")] = sp.Integer(2)
        notes.append("words of 2 bytes")
    model, more = _microbatches(model)
    notes += more
    if options.sequence_parallel is None:
        model, more = _usual_sequences(model)
        notes += more
    if options.replicate_kv:
        model = _with_repeated_heads(model)
    _check_plan(model, options)
    return Request(model, options, values, tuple(notes))


def _plan(
    architecture: Architecture, options: PlanOptions
) -> tuple[Plan[sp.Expr], list[str]]:
    """The plan with symbols where nothing was said, and what was assumed."""
    degrees = ("dp", "tp", "pp", "cp", "ep")  # in the order of a plan
    given = {name: getattr(options, name) for name in degrees}
    notes: list[str] = []
    anything = any(given.values()) or options.devices is not None
    if options.devices is not None and given["dp"] is None:
        given, found = _replicas_that_fill(options, given)
        notes.append(found)
    # Who names one degree means that context and experts are not split unless named.
    rare = {"N_CP": "cp", "N_EP": "ep"}
    table: dict[str, sp.Expr] = {}
    for name in degrees:
        key = f"N_{name.upper()}"
        if given[name] is not None:
            table[key] = sp.Integer(given[name])
        elif key in rare and (anything or (name == "ep" and not _has_experts(architecture))):
            table[key] = ONE
        else:
            table[key] = symbol(key)
    table["m"] = sp.Integer(options.microbatches) if options.microbatches else symbol("m")
    table["v"] = sp.Integer(options.interleaving or 1)
    if options.interleaving is None and not anything and options.switches.schedule == "1f1b":
        table["v"] = symbol("v")
    return Plan(*table.values(), **vars(options.switches)), notes


def _replicas_that_fill(
    options: PlanOptions, given: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    inner = 1
    for name in ("tp", "pp", "cp"):
        inner *= given[name] or 1
    devices = options.devices or 1
    if devices % inner:
        raise InputError(
            f"--devices {devices} is no multiple of tp x pp x cp = {inner}; "
            f"the nearest is {max(1, round(devices / inner)) * inner}"
        )
    filled = {**given, "dp": devices // inner}
    for name in ("tp", "pp", "cp"):
        filled[name] = given[name] or 1
    return filled, f"dp = {devices // inner}, so that the plan fills {devices} devices"


def _has_experts(architecture: Architecture) -> bool:
    return any(isinstance(stack.block.mlp, Experts) for stack in architecture.stacks)


def _microbatches(model: Transformer) -> tuple[Transformer, list[str]]:
    plan = model.plan
    sequences = model.tokens / model.context
    if plan.m != symbol("m"):
        return model, []
    share = sequences / plan.N_DP
    if share.is_Integer and share.is_positive:
        note = f"microbatches of one sequence, m = {share}"
        return replace(model, plan=replace(plan, m=share)), [note]
    return model, []


def _usual_sequences(model: Transformer) -> tuple[Transformer, list[str]]:
    """The model without sequence parallelism, where tensor parallelism leaves nothing to split."""
    degree, share = model.plan.N_TP, model.context / model.plan.N_CP
    uneven = (share / degree).is_Rational and not (share / degree).is_Integer
    if degree != 1 and not uneven:
        return model, []
    reason = [f"no sequence parallelism: --tp {degree} does not divide {share} tokens"]
    alone = replace(model, plan=replace(model.plan, sequence_parallel=False))
    return alone, reason if degree != 1 else []


def _with_repeated_heads(model: Transformer) -> Transformer:
    """The model with key and value heads repeated where they are fewer than N_TP."""
    heads = [whole(stack.block.attention.kv_heads) for stack in model.architecture.stacks]
    degree = whole(model.plan.N_TP)
    counts = [h for h in heads if h is not None]
    if degree is None or len(counts) < len(heads):
        raise InputError("--replicate-kv needs numbers for --tp and for key and value heads")
    split = gcd(degree, *counts)
    return replace(model, plan=replace(model.plan, kv_split=sp.Integer(split)))


def _symbols_of(value: object) -> set[sp.Symbol]:
    """The symbols in the sizes of a model or a part of it."""
    if isinstance(value, sp.Expr):
        return {s for s in value.free_symbols if isinstance(s, sp.Symbol)}
    if isinstance(value, tuple):
        return set().union(*(_symbols_of(v) for v in value))
    if is_dataclass(value):
        return set().union(*(_symbols_of(getattr(value, f.name)) for f in fields(value)))
    return set()


def _put(value: T, values: Mapping[sp.Symbol, sp.Expr]) -> T:
    """Put values into every size of a model or a part of it."""
    if not values:
        return value
    result: Any = value
    if isinstance(result, sp.Expr):
        result = result.xreplace(dict(values))
    elif isinstance(value, tuple):
        result = tuple(_put(v, values) for v in value)
    elif is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: _put(getattr(value, f.name), values) for f in fields(value)}
        result = replace(value, **changed)
    return result


def _check_plan(model: Transformer, options: PlanOptions) -> None:
    plan, architecture = model.plan, model.architecture
    name = architecture.name
    _check_devices(plan, options)
    _check_tensor_degree(architecture, plan)
    experts: dict[str, sp.Expr] = {}
    for stack in architecture.stacks:
        if isinstance(stack.block.mlp, Experts):
            experts["the number of experts"] = stack.block.mlp.experts
    if not experts and plan.N_EP.is_Rational and plan.N_EP != 1:
        raise InputError(f"--ep {plan.N_EP}: {name} has no experts; leave it out")
    require_divides(
        "--ep", plan.N_EP, {**experts, "dp, within which experts are shared": plan.N_DP}
    )
    require_divides("--cp", plan.N_CP, {"the length of a sequence": model.context})
    if plan.sequence_parallel:
        part = {"the tokens of a sequence that --sequence-parallel splits":
                model.context / plan.N_CP}
        require_divides("--tp", plan.N_TP, part)
    sequences = model.tokens / model.context
    if sequences.is_Rational:
        require_divides("--dp", plan.N_DP, {"the sequences of a batch": sequences})
        replica = {"the sequences of a replica": sequences / plan.N_DP}
        require_divides("--microbatches", plan.m, replica)
    _check_positions(model)
    _check_schedule(plan)
    heaviest_stage(model)


def _check_tensor_degree(architecture: Architecture, plan: Plan[sp.Expr]) -> None:
    name, degree = architecture.name, whole(plan.N_TP)
    sizes: dict[str, sp.Expr] = {}
    for stack in architecture.stacks:
        mlp = stack.block.mlp
        for attention in (stack.block.attention, stack.block.cross):
            if attention is None:
                continue
            sizes[f"the heads of {name}"] = attention.heads
            heads = whole(attention.heads)
            if heads and degree and degree > heads:
                raise InputError(
                    f"--tp {degree} is more than the {heads} heads of {name}; at most {heads}"
                )
        widths = [mlp.width] if isinstance(mlp, FeedForward) else [
            mlp.expert.width, *([mlp.shared.width] if mlp.shared else [])
        ]
        sizes |= {f"the width of an MLP of {name}": width for width in widths}
        require_divides("--tp", plan.N_TP, sizes)
        kv = whole(stack.block.attention.kv_heads)
        split = whole(plan.split_of_kv)
        if kv and split and kv % split:
            largest = max(d for d in range(1, split + 1) if kv % d == 0)
            raise InputError(
                f"--tp {degree} does not divide the {kv} key and value heads of {name}; "
                f"--tp {largest} does, or --replicate-kv repeats each head"
            )


def _check_devices(plan: Plan[sp.Expr], options: PlanOptions) -> None:
    total = whole(plan.devices)
    if options.devices is not None and total is None:
        degrees = {"--tp": plan.N_TP, "--pp": plan.N_PP, "--cp": plan.N_CP}
        open_degrees = [option for option, degree in degrees.items() if whole(degree) is None]
        raise InputError(
            f"--devices {options.devices} checks a plan whose degrees are numbers; "
            f"give {' and '.join(open_degrees)} too, or leave out --dp"
        )
    if options.devices is not None and total is not None and total != options.devices:
        raise InputError(
            f"--devices {options.devices} is not tp {plan.N_TP} x pp {plan.N_PP} x dp "
            f"{plan.N_DP} x cp {plan.N_CP} = {total}; give --devices {total} or another degree"
        )


def _check_positions(model: Transformer) -> None:
    architecture = model.architecture
    rows, length = whole(architecture.position_entries), whole(model.context)
    if architecture.positions == "learned" and rows and length and length > rows:
        raise InputError(
            f"--seq {length} is more than the {rows} positions that {architecture.name} "
            f"has learned; at most {rows}"
        )


def _check_schedule(plan: Plan[sp.Expr]) -> None:
    if plan.N_PP == 1 and plan.v.is_Integer and plan.v != 1:
        raise InputError(
            f"--interleaving {plan.v} splits pipeline stages, and there is one; give --pp above 1"
        )
    if plan.schedule != "zero-bubble":
        return
    if plan.v != 1:
        raise InputError("a zero-bubble schedule has no interleaving; leave out --interleaving")
    stages, batches = whole(plan.N_PP), whole(plan.m)
    if stages and batches and stages > 1 and batches < 2 * stages:
        raise InputError(
            f"a zero-bubble schedule of {stages} stages needs --microbatches "
            f"{2 * stages} at least, not {batches}"
        )
