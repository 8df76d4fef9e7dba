"""The studies that can be explored: their parameters, formulas, presets and plots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import sympy as sp

from symscale.algebra.products.solve import solve
from symscale.errors import InputError, unknown_name
from symscale.facts.machines.lumped import Machine, load_machine, lump, machine_names, parameters_of
from symscale.facts.models.zoo import load_model
from symscale.language.symbols import symbol, symbols
from symscale.studies.comp_vs_comm.answer import rates_of
from symscale.studies.comp_vs_comm.ratios import CompVsComm, asymptotic_model
from symscale.studies.explorers.explorer import (
    Choice,
    Curves,
    Explorer,
    Mark,
    Preset,
    Result,
    Slider,
)
from symscale.studies.requests.parameters import WORD_BYTES, defaults, rules
from symscale.studies.training.cliffs import END, cliffs_of, cliffs_program
from symscale.studies.training.limits import limits_program

Values = dict[sp.Symbol, sp.Rational]
ONE = sp.Integer(1)
DEFAULT = "h100-sxm"
VANILLA = ("gpt-2", "gpt-2-xl", "gpt-3-6.7b", "gpt-3", "megatron-lm-8.3b", "t-nlg", "mt-nlg")
"""Models that are the study's Transformer: multi-head attention, an MLP of 4 d_model."""


def explorer_titles() -> dict[str, str]:
    """The title of each explorer.

    Example:
        >>> list(explorer_titles())
        ['training-limits', 'edge-and-slack']
    """
    return {
        "training-limits": "Training limits: the largest run, and utilization beyond it",
        "edge-and-slack": "Edge and slack: computation against communication",
    }


def load_explorer(
    name: str, hardware: str | None = None, level: str | None = None
) -> Explorer:
    """Return the explorer called `name`.

    Args:
        name: Its name.
        hardware: A machine's preset or file, where the parameters start.
        level: Which group of its devices acts as one; by default a node, if there is one.

    Raises:
        UnknownNameError: If there is none.
        InputError: If the hardware cannot be used.
    """
    if name not in _MAKERS:
        raise unknown_name("explorer", name, _MAKERS)
    if hardware is None and level is not None:
        raise InputError(f"--level {level} needs a machine; name one with --hardware")
    return _MAKERS[name](hardware, level)


def training_explorer(hardware: str | None = None, level: str | None = None) -> Explorer:
    """The largest training run, and utilization against compute.

    Example:
        >>> [c.key for c in training_explorer().choices]
        ['limit', 'utilization']
    """
    T, U = symbols("T U")
    limit = solve(limits_program().substitute(rules()))
    shares = solve(cliffs_program().substitute(rules()))
    cliffs = cliffs_of(shares)
    start = {p.symbol: p.number for p in defaults().values() if p.number is not None}
    machines, chosen = _machines(hardware, level, _limits_values)
    start |= machines[chosen].values
    (end,) = (c for c in cliffs if c.between[1] == END)
    rows = (
        ("C", 10**13, 10**18, "Hardware"), ("W_net", 10**8, 10**14, "Hardware"),
        ("W_mem", 10**10, 10**16, "Hardware"), ("tau", Fraction(1, 10**8), Fraction(1, 10**3),
        "Hardware"), ("T", 10**22, 10**34, "Run"), ("t_d", 86400, 10**9, "Run"),
        ("b_0", 10**4, 10**10, "Run"), ("L_0", 1, 10**4, "Run"), ("E", 1, 10**4, "Run"),
        ("T_0", 10**20, 10**28, "Run"),
    )
    start[T] = sp.Integer(10) ** 29
    sliders = [
        _slider(n, low, high, start, group, whole=n in ("L_0",)) for n, low, high, group in rows
    ]
    alpha = symbol("alpha")
    sliders.append(
        Slider(alpha, sp.Rational(-1, 4), sp.Rational(2, 5), start[alpha], "Run", log=False)
    )
    pieces = {p.name: p.expr for p in limit.pieces}
    return Explorer(
        "training-limits",
        explorer_titles()["training-limits"],
        "The largest training run at full utilization is the least of two monomials. Beyond it, "
        "utilization falls with the compute T of the run until no run fits at all. A node acts as "
        "one device: its rates are those of its devices together, bandwidths in one direction.",
        tuple(_widened(s, machines) for s in sliders),
        {"Hardware": tuple(machines.values())},
        (
            Choice("limit", "Largest run at full utilization", T, "min", pieces, "FLOP"),
            Choice(
                "utilization", "Utilization of the run of compute T", U, "min",
                {p.name: p.expr for p in shares.pieces}, "1",
                "Beyond the last cliff no run fits, at any utilization.",
                (T, end.compute.expr),
            ),
        ),
        (),
        Curves(
            T, "Utilization against compute",
            {"utilization": _minimum([p.expr for p in shares.pieces])},
            tuple(
                Mark(f"cliff_{k}", _between(*c.between), c.compute.expr, c.between[1] == END)
                for k, c in enumerate(cliffs)
            ),
        ),
        (symbol("W_net"), symbol("C")),
        "training-limits",
        {"Hardware": chosen},
    )


def edge_explorer(hardware: str | None = None, level: str | None = None) -> Explorer:
    """Edge and slack of the study's Transformer, and what they leave of the arithmetic rate.

    Example:
        >>> edge_explorer().formulas["slack"]
        4*b/(N_DP*w)
    """
    if level is not None:
        raise InputError("--level: edge and slack are those of a device; leave it out")
    study, k = CompVsComm(asymptotic_model()), symbol("k")
    waiting = study.time_ratio.expr * k
    between = {symbol("W_net"): symbol("W_DP")}  # gradients cross other links than activations
    exposed = study.exposed(k=k).expr.xreplace(between)
    gradient = study.gradient_ratio.expr.xreplace(between) * k
    (outlasting,) = (a for a in exposed.args if a != 0)
    behind = sp.simplify(gradient - outlasting)  # the backward pass, a constant share
    above, below = sp.fraction(waiting)
    share = above / (above + below)
    use = 1 / (1 + waiting + exposed)
    machines, chosen = _machines(hardware, None, _edge_values)
    models = {n: _model(n) for n in VANILLA}
    start = {symbol("w"): WORD_BYTES, k: ONE, symbol("b"): sp.Integer(2**21),
             symbol("N_TP"): sp.Integer(8), symbol("N_DP"): sp.Integer(64)}
    start |= {**machines[chosen].values, **models["gpt-3"].values}
    rows = (
        ("d_model", 256, 2**18, "Model"), ("n_ctx", 128, 2**20, "Model"),
        ("b", 2**10, 2**28, "Run"), ("N_TP", 1, 2**12, "Run"), ("N_DP", 1, 2**16, "Run"),
        ("w", 1, 8, "Run"), ("C", 10**12, 10**17, "Hardware"), ("W_net", 10**8, 10**14, "Hardware"),
        ("W_DP", 10**8, 10**14, "Hardware"),
        ("k", Fraction(1, 10), 100, "Hardware"),
    )
    whole = ("d_model", "n_ctx", "b", "N_TP", "N_DP", "w")
    sliders = [
        _slider(n, low, high, start, group, whole=n in whole) for n, low, high, group in rows
    ]
    parts = {"arithmetic": ONE, "serialized communication": waiting,
             "exposed gradients": exposed}
    return Explorer(
        "edge-and-slack",
        explorer_titles()["edge-and-slack"],
        "Tensor parallelism all-reduces activations while all else waits; data parallelism reduces "
        "gradients behind the products of the backward pass, as far as these last. The edge and "
        "the slack are the FLOP for each byte of either. The Transformer is the study's: "
        "multi-head attention and an MLP of width 4 d_model. Activations cross links of bandwidth "
        "W_net, gradients links of bandwidth W_DP: those within the innermost tier of the "
        "machine that is chosen, and those of its outermost one.",
        tuple(_widened(s, machines) for s in sliders),
        {"Hardware": tuple(machines.values()), "Model": tuple(models.values())},
        (
            Choice(
                "part", "Largest part of a step", None, "max", parts, "1",
                "Times of a step, over the time of its arithmetic.",
            ),
        ),
        (
            Result("edge", "Edge", None, study.edge.expr, "FLOP/byte",
                   "FLOP for each byte of serialized payload"),
            Result("slack", "Slack", None, study.slack.expr, "FLOP/byte",
                   "backward FLOP for each byte of gradient"),
            Result("share", "Share of serialized communication", symbol("s_comm"),
                   share, "1", "of arithmetic and serialized communication together"),
            Result("use", "Utilization", symbol("U"), use, "1",
                   "arithmetic over the whole step"),
        ),
        Curves(
            k, "A step as arithmetic becomes k times faster than the network",
            {"utilization": use, "serialized communication": share},
            (
                Mark("cliff_0", "communication takes as long as arithmetic",
                     study.crossing(sp.Rational(1, 2)).expr),
                Mark("cliff_1", "gradients outlast the products behind which they hide",
                     sp.factor(behind * k / gradient)),
            ),
        ),
        (symbol("N_TP"), symbol("d_model")),
        "edge-and-slack",
        {"Hardware": chosen, "Model": "gpt-3"},
    )


_MAKERS: Mapping[str, Callable[[str | None, str | None], Explorer]] = MappingProxyType(
    {"training-limits": training_explorer, "edge-and-slack": edge_explorer}
)


def _slider(
    name: str, low: int | Fraction, high: int | Fraction, start: Values, group: str, *, whole: bool
) -> Slider:
    least, most = (sp.Rational(v.numerator, v.denominator) for v in (low, high))
    return Slider(symbol(name), least, most, start[symbol(name)], group, whole=whole)


def _widened(slider: Slider, presets: Mapping[str, Preset]) -> Slider:
    """The slider with a range that holds the values of all presets."""
    values = [p.values[slider.symbol] for p in presets.values() if slider.symbol in p.values]
    low, high = min([slider.low, *values]), max([slider.high, *values])
    return replace(slider, low=low, high=high)


def _minimum(pieces: Sequence[sp.Expr]) -> sp.Expr:
    return sp.Min(*pieces, evaluate=False)


def _between(below: str, above: str) -> str:
    return "no run fits beyond" if above == END else f"{below} below, {above} above"


def _model(name: str) -> Preset:
    model = load_model(name)
    sizes = {
        symbol("d_model"): sp.Rational(model.d_model), symbol("n_ctx"): sp.Rational(model.context)
    }
    return Preset(name, model.title, sizes)


def _machines(
    hardware: str | None, level: str | None,
    values: Callable[[Machine, str | None], tuple[str, Values] | None],
) -> tuple[dict[str, Preset], str]:
    """The presets of machines, and which of them is chosen: the one that is named."""
    found: dict[str, Preset] = {}
    for name in machine_names():
        machine = load_machine(name)
        given = values(machine, None)
        if given is not None:
            found[name] = Preset(name, f"{machine.title}, {given[0]}", given[1])
    if hardware is None:
        return found, DEFAULT
    machine = load_machine(hardware)
    given = values(machine, level)
    if given is None:
        raise InputError(
            f"--hardware {machine.name}: its network is unlimited; only numbers can be moved"
        )
    key = hardware if hardware in found else "own"
    found[key] = Preset(key, f"{machine.title}, {given[0]}", given[1])
    return found, key


def _limits_values(machine: Machine, level: str | None) -> tuple[str, Values] | None:
    """C, W_mem, W_net and, where the machine states latencies, tau."""
    lumped = lump(machine, level or machine.default_level())
    without = ("tau",) if any(n in machine.missing() for n in machine.latencies()) else ()
    figures = parameters_of(lumped, Fraction(int(WORD_BYTES)), without)
    if any(f.value is None for f in figures):
        return None
    text = "a device" if lumped.devices == 1 else f"{lumped.devices} devices of a {lumped.level}"
    return text, {
        symbol(f.name): sp.Rational(f.value.numerator, f.value.denominator)
        for f in figures if f.value is not None
    }


def _edge_values(machine: Machine, level: str | None) -> tuple[str, Values] | None:
    """C, W_net of a device within its innermost tier, and W_DP of the outermost."""
    near, far = machine.tiers[0], machine.tiers[-1]
    if near.bandwidth.unlimited or far.bandwidth.unlimited:
        return None
    values = {symbol(n): sp.Rational(v) for n, v, _ in rates_of(machine, near, WORD_BYTES)}
    values[symbol("W_DP")] = sp.Rational(far.bandwidth.one_way) / WORD_BYTES
    links = " and ".join(dict.fromkeys(f"of a {tier.name}" for tier in (near, far)))
    return f"links {links}", values
