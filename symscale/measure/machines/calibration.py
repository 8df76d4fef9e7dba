"""A hardware file from measurements: what operators reached, with errors and sources.

Matrix products give the arithmetic rate and the latency of a product, elementwise
operators (or products that memory binds) the bandwidth of the memory, collectives the
bandwidth in one direction and the latency of the tier that they ran over. What was not
measured comes from a preset, chosen by the device's name in the logs, or is stated by the
user; nothing is guessed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symscale.errors import InputError, printable, unknown_name
from symscale.facts.machines.machine import Machine
from symscale.facts.machines.reader import load_machine
from symscale.measure.machines.preset_file import WORDS, Calibration, Fit, Stated
from symscale.measure.operators.collectives import Collective
from symscale.measure.operators.fitting import PROPORTIONAL, judge
from symscale.measure.operators.memory_bound import MemoryBound
from symscale.measure.operators.products import MATRIX_PRODUCT, Product
from symscale.measure.readers.files import grouped
from symscale.measure.readers.reading import Reading

# How drivers call the devices of presets.
_DEVICES = (
    (r"A100[-_ ]SXM|A100-SXM4", "a100-sxm"), (r"H100.*PCIe", "h100-pcie"),
    (r"H100.*(HBM3|SXM)", "h100-sxm"), (r"\bH200\b", "h200-sxm"), (r"\bB200\b", "b200-sxm"),
    (r"V100[-_ ]SXM", "v100-sxm"), (r"\bMI100\b", "mi100"), (r"\bMI210\b", "mi210"),
    (r"\bMI250X?\b", "mi250x"), (r"\bMI300X\b", "mi300x"),
)
_MEMORY = re.compile(r"\b(\d{1,4})\s?GB\b")
_OTHER_MEMORY = 0.1
_TRUSTED = 0.25  # standard error of a bandwidth that products show in passing


@dataclass(frozen=True)
class Given:
    """What a user states beside the measurements.

    Attributes:
        base: Name of a preset that has what was not measured, or "".
        memory_bytes: Memory of a device, or None.
        memory_bandwidth_bytes: Its bandwidth, reads and writes together, or None.
        tier: The tier that collectives ran over whose files do not say it, or "".
        limit: Median error on sizes left out beyond which a fit is warned of.
    """

    base: str = ""
    memory_bytes: Fraction | None = None
    memory_bandwidth_bytes: Fraction | None = None
    tier: str = ""
    limit: float = 0.15


def fit_all(readings: Sequence[Reading]) -> tuple[Fit, ...]:
    """Fit a formula to every operator in the files.

    Raises:
        InputError: If the measurements of one contradict each other, or are too few.
    """
    fits = []
    for (operator, word, devices, hosts), found in grouped(readings).items():
        fits.append(
            Fit(operator, word, devices, hosts, judge(found), judge(found, PROPORTIONAL))
        )
    return tuple(fits)


def calibrate(readings: Sequence[Reading], given: Given | None = None) -> Calibration:
    """Make what a hardware file states from measurements.

    Raises:
        InputError: If the measurements cannot be fitted, contradict the preset that the
            device's name leads to, or leave open what a hardware file needs; the text
            says what to give.
    """
    given = given or Given()
    device = _device(readings)
    base = _base(device, given)
    fits = fit_all(readings)
    files = ", ".join(reading.path for reading in readings)
    figures = [
        *_rate(fits, readings, base),
        *_memory(fits, readings, base, given, device),
    ]
    sizes, links = _tiers(fits, readings, base, given.tier)
    _complete([*figures, *links], base)
    notes = [note for reading in readings for note in reading.facts.notes]
    for figure in figures:
        if figure.key == "memory_capacity" and base is not None:
            before = float(base.memory_capacity_bytes) / 1e9
            if abs(figure.value / before - 1) > _OTHER_MEMORY:
                notes.append(
                    f"the device has {figure.value:.0f} GB, {base.name} {before:.0f} GB: its "
                    "memory may be faster too; measure elementwise operators, or give "
                    "--memory-bandwidth"
                )
    return Calibration(
        f"{device or 'Machine'}, measured", base, (*figures, *links), sizes, fits,
        tuple(_warnings(fits, given.limit)), (f"fitted to {files}", *notes),
    )


def _warnings(fits: Sequence[Fit], limit: float) -> list[str]:
    found = []
    for fit in fits:
        error = fit.judged.median_error
        if error > limit:
            beyond = fit.judged.beyond(limit)
            sizes = ", ".join(f"{one.label} ({bad:+.0%})" for one, bad in beyond[:6])
            more = f" and {len(beyond) - 6} more" if len(beyond) > 6 else ""
            found.append(
                f"{fit.title}: the median error on sizes left out is {error:.0%}, "
                f"more than {limit:.0%}; on {sizes}{more}"
            )
    return found


def _device(readings: Sequence[Reading]) -> str:
    names = {r.facts.device: r.path for r in readings if r.facts.device}
    if len(names) > 1:
        (one, first), (other, second), *_ = names.items()
        raise InputError(
            f"{first} was measured on {printable(one, 60)}, {second} on {printable(other, 60)}; "
            "fit one kind of device at a time"
        )
    return next(iter(names), "")


def _base(device: str, given: Given) -> Machine | None:
    if given.base:
        return load_machine(given.base)
    for pattern, name in _DEVICES:
        if re.search(pattern, device):
            return load_machine(name)
    return None


def _source(fit: Fit, readings: Sequence[Reading]) -> str:
    """The files that a fit rests on."""
    own = {one.where for one in fit.judged.measurements}
    files = [f"{r.path} ({r.kind})" for r in readings if own & {m.where for m in r.measurements}]
    return f"measured: {', '.join(files)}"[:300]


def error_text(fit: Fit, index: int) -> str:
    """Errors of a parameter of a fit, in words."""
    model, judged = fit.judged.model, fit.judged
    error = model.relative_error(index)
    worst, bad = judged.worst
    shown = "" if error is None else f"standard error {error:.2g} of it; "
    return (
        f"{fit.title}: {shown}{model.sizes} sizes, {model.smallest} to {model.largest}; left out, "
        f"median error {judged.median_error:.1%}, worst {bad:+.0%} at {worst.label}"
    )[:300]


def _rate(
    fits: Sequence[Fit], readings: Sequence[Reading], base: Machine | None
) -> list[Stated]:
    products = [f for f in fits if f.operator is MATRIX_PRODUCT]
    if len({f.word_bytes for f in products}) > 1:
        words = ", ".join(WORDS.get(f.word_bytes, "?") for f in products)
        raise InputError(f"matrix products of {words}: a hardware file has one; fit them apart")
    if not products:
        return []
    (fit,) = products
    rate = fit.judged.model.rate_flop
    if rate is None:
        raise InputError(
            "no matrix product is large enough to be bound by arithmetic; measure larger ones"
        )
    source = _source(fit, readings)
    note = error_text(fit, 0)
    condition = f"dense, {WORDS.get(fit.word_bytes, '16 bit')}"
    found = []
    if base is not None and base.rate_condition == condition:
        fraction = rate / float(base.flop_rate)
        if fraction > 1:
            raise InputError(
                f"{fit.title}: {rate / 1e12:.4g} TFLOP/s is more than the "
                f"{float(base.flop_rate) / 1e12:.4g} of {base.title}; check the units, or give "
                "another --base"
            )
        found.append(Stated("sustained_fraction", "", fraction, "1", source, note=note))
    else:
        found.append(Stated(
            "flop_rate", "", rate / 1e12, "TFLOP/s", source, condition=condition,
            note=f"sustained, no peak. {note}"[:300],
        ))
        found.append(Stated(
            "sustained_fraction", "", 1.0, "1", source, note="the rate above is a sustained one"
        ))
    latency = fit.judged.model.latency_s
    if latency > 0:
        found.append(Stated(
            "product_latency", "", latency * 1e6, "us", source, note=error_text(fit, 2)
        ))
    return found


def _memory(
    fits: Sequence[Fit], readings: Sequence[Reading], base: Machine | None, given: Given,
    device: str,
) -> list[Stated]:
    found = []
    if given.memory_bandwidth_bytes is not None:
        found.append(Stated(
            "memory_bandwidth", "", float(given.memory_bandwidth_bytes) / 1e9, "GB/s",
            "stated with --memory-bandwidth", "both",
        ))
    else:
        found += _fitted_memory(fits, readings, base)
    stated = next((r for r in readings if r.facts.memory_bytes), None)
    if given.memory_bytes is not None:
        found.append(Stated(
            "memory_capacity", "", float(given.memory_bytes) / 1e9, "GB", "stated with --memory"
        ))
    elif stated is not None:
        found.append(Stated(
            "memory_capacity", "", stated.facts.memory_bytes / 1e9, "GB",
            f"what the system reports: {stated.path}",
        ))
    elif match := _MEMORY.search(device):
        found.append(Stated(
            "memory_capacity", "", float(match[1]), "GB", f"the device's name: {device}"[:300]
        ))
    return found


def _fitted_memory(
    fits: Sequence[Fit], readings: Sequence[Reading], base: Machine | None
) -> list[Stated]:
    """The bandwidth of the memory, by the operator that shows it best."""
    shown = [fit for fit in fits if _shows_memory(fit, base)]
    best = min(shown, key=lambda fit: fit.operator.precedence, default=None)
    if best is None or best.judged.model.bandwidth_bytes is None:
        return []
    source = _source(best, readings)
    return [Stated(
        "memory_bandwidth", "", best.judged.model.bandwidth_bytes / 1e9, "GB/s", source, "both",
        note=error_text(best, 1),
    )]


def _shows_memory(fit: Fit, base: Machine | None) -> bool:
    error = fit.judged.model.relative_error(1)
    if isinstance(fit.operator, Product):
        return base is None and error is not None and error <= _TRUSTED
    return isinstance(fit.operator, MemoryBound) and error is not None


def _tiers(
    fits: Sequence[Fit], readings: Sequence[Reading], base: Machine | None, tier: str
) -> tuple[dict[str, int | None], list[Stated]]:
    """The tiers of the file, and what collectives say about their links."""
    links = [f for f in fits if f.devices and f.judged.model.bandwidth_bytes is not None]
    sizes = _tier_sizes(links, base)
    if tier and tier not in sizes:
        raise unknown_name("tier", printable(tier, 60), list(sizes))
    chosen: dict[str, list[Fit]] = {}
    for fit in links:
        chosen.setdefault(_tier_of(fit, list(sizes), tier), []).append(fit)
    found = []
    for name, its in chosen.items():
        best = min(its, key=lambda f: (f.operator.precedence, -f.devices))
        found += _link(best, name, readings)
    return sizes, found


def _tier_sizes(links: Sequence[Fit], base: Machine | None) -> dict[str, int | None]:
    """How many units each tier joins: those of the preset, or what the collectives tell."""
    if base is not None:
        return {t.name: t.size for t in base.tiers}
    within = [f.devices for f in links if f.hosts <= 1]
    if within and len(within) < len(links):
        return {"node": max(within), "cluster": None}
    return {"cluster": None} if links else {}


def _tier_of(fit: Fit, names: Sequence[str], tier: str) -> str:
    """The tier that a collective ran over; `tier` where its file does not say it."""
    if fit.hosts:
        return names[-1 if fit.hosts > 1 else 0]
    if tier or len(names) == 1:
        return tier or names[0]
    raise InputError(
        f"{fit.title}: its file does not say over how many hosts it ran; give --tier "
        + " or --tier ".join(names)
    )


def _link(fit: Fit, tier: str, readings: Sequence[Reading]) -> list[Stated]:
    model = fit.judged.model
    source = _source(fit, readings)
    if any(reading.facts.processes for reading in readings):
        source = f"{source}: processes of one host, no network"[:300]
    phases = len(fit.operator.phases) if isinstance(fit.operator, Collective) else 1
    bandwidth = model.bandwidth_bytes or 0.0
    found = [Stated(
        "bandwidth", tier, bandwidth / 1e9, "GB/s", source, "one-way",
        note=f"busbw without latency. {error_text(fit, 1)}"[:300],
    )]
    if model.latency_s > 0:
        found.append(Stated(
            "latency", tier, model.latency_s / phases * 1e6, "us", source,
            note=f"of one of {phases} phases. {error_text(fit, 2)}"[:300],
        ))
    return found


def _complete(figures: Sequence[Stated], base: Machine | None) -> None:
    """Refuse to make a file that would not load."""
    if base is not None:
        return
    stated = {f.key for f in figures}
    wanted = (
        ("flop_rate", "arithmetic rate", "add a file of matrix products"),
        ("memory_bandwidth", "bandwidth of the memory", "give --memory-bandwidth 2TB/s, say"),
        ("memory_capacity", "memory of a device", "give --memory 80GB, say"),
        ("bandwidth", "bandwidth of the network", "add a log of nccl-tests"),
    )
    for key, name, remedy in wanted:
        if key not in stated:
            raise InputError(
                f"no file says the {name}, nor names a device of a preset; {remedy}, or "
                "--base NAME of a preset that has the rest (list: symscale hardware)"
            )
