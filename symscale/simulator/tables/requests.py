"""What a user asks of a simulation: machines, scaling rules, widths and time, from texts."""

from collections.abc import Sequence

from symscale.errors import InputError, SymscaleError, printable, unknown_name
from symscale.facts.machines.lumped import Machine, load_machine
from symscale.language.units import parse_quantity, parse_unit
from symscale.simulator.sparse_mlp.shapes import (
    DENSE,
    SPARSE,
    Rules,
    Shape,
    make_shape,
    published_widths,
)

_RULES = ("depth", "experts", "data", "batch")


def read_machines(hardware: str | None) -> list[Machine]:
    """Load the machines of --hardware.

    Raises:
        InputError: If there is none, one is unknown, or one is given twice.
    """
    names = [name.strip() for name in (hardware or "").split(",") if name.strip()]
    if not names:
        raise InputError("--hardware: name a preset or a TOML file (list: symscale hardware)")

    machines = [load_machine(name) for name in names]
    found = [m.name for m in machines]
    twice = next((n for n in found if found.count(n) > 1), None)
    if twice is not None:
        raise InputError(f"--hardware: {twice} is given twice; give it once")
    return machines


def read_machine(hardware: str | None) -> Machine:
    """Load the machine of a plan.

    Raises:
        InputError: If there is none, or several.
    """
    machine, *others = read_machines(hardware)
    if others:
        raise InputError("--hardware: a plan is for one machine; name one")
    return machine


def read_rules(sparse: bool, batch_rule: str, texts: Sequence[str] | None) -> Rules:
    """Read --sparse, --batch-rule and --rule together.

    Raises:
        InputError: If a rule is unknown or given twice.
    """
    table = {"experts": SPARSE if sparse else DENSE, "batch": batch_rule}
    given: set[str] = set()
    for text in texts or []:
        name, _, expression = map(str.strip, text.partition("="))
        if not expression:
            raise InputError(
                f"--rule {printable(text)}: write NAME=EXPRESSION, such as depth=d_model/128"
            )
        if name not in _RULES:
            raise unknown_name("rule", name, _RULES).with_context("--rule")
        if name in given or (name == "experts" and sparse):
            raise InputError(f"--rule {name}: is given twice; give it once")
        given.add(name)
        table[name] = expression
    return Rules(**table)


def read_shapes(widths: str | None, rules: Rules) -> list[Shape]:
    """Read --widths: the models of a curve.

    Raises:
        InputError: If there are none.
    """
    chosen = list(published_widths())
    if widths is not None and ".." in widths:
        low, _, high = widths.partition("..")
        ends = (_width(low), _width(high))
        chosen = [w for w in chosen if ends[0] <= w <= ends[1]]
        if not chosen:
            raise InputError(
                f"--widths {widths[:60]}: no width of the study lies in it; they go from "
                f"{published_widths()[0]} to {published_widths()[-1]}"
            )
    elif widths is not None:
        chosen = sorted({_width(part) for part in widths.split(",") if part.strip()})
        if not chosen:
            raise InputError("--widths: is empty; write such as 12288,16384 or 12288..65536")
    return [make_shape(w, rules) for w in chosen]


def _width(text: str) -> int:
    try:
        width = int(text.strip())
    except ValueError:
        raise InputError(
            f"--widths: {text.strip()[:40]!r} is no whole number; write such as 12288"
        ) from None
    return _checked_width(width, "--widths")


def _checked_width(width: int, option: str) -> int:
    if not 1 <= width <= 2**24:
        raise InputError(f"{option}: {width} is no width from 1 to 2^24")
    return width


def read_shape(d_model: int | None, rules: Rules) -> Shape:
    """Read --d-model: the model of a plan.

    Raises:
        InputError: If it is missing or no width.
    """
    if d_model is None:
        raise InputError("--d-model: give the width of the model, such as 12288")

    return make_shape(_checked_width(d_model, "--d-model"), rules)


def read_seconds(duration: str | None) -> float | None:
    """Read --duration, in seconds.

    Raises:
        InputError: If it is no time.
    """
    if duration is None:
        return None

    try:
        quantity = parse_quantity(duration)
        if quantity.unit is None:
            raise InputError("it has no unit; write such as 90d, 3mo or 1y")
        seconds = float(quantity.to(parse_unit("s")))
        if not 0 < seconds < 1e15:
            raise InputError("it is no time that a run may take; write such as 90d")
    except SymscaleError as error:
        raise error.with_context(f"--duration {duration[:60]}") from None
    except OverflowError:
        raise InputError(f"--duration {duration[:60]}: is too long; write such as 90d") from None
    return seconds
