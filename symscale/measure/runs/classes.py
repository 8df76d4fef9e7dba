"""Cluster classes: the few rates of a kind of cluster, calibrated on measured runs.

A class is a file `symscale/measure/runs/clusters/NAME.toml`, or one that a user's own runs
made (`symscale.measure.runs.own_class`). Each rate has a value, a unit,
a direction or condition, and a source, as those of a machine's file; `fitted` says on
which runs, `reached` what the rates are shares of.
"""

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath

from symscale.errors import (
    InputError,
    SymscaleError,
    printable,
    refusal,
    unknown_name,
)
from symscale.facts.machines.figures import FigureSpec, read_figure
from symscale.facts.machines.lumped import Machine, load_machine
from symscale.language.tables import check_keys, parse_toml, read_source, read_text, read_toml_file
from symscale.language.units import parse_unit
from symscale.simulator.transformer.step import ClusterClass, class_of_machine

_FOLDER: Traversable = files("symscale.measure.runs").joinpath("clusters")
DEFAULT = "a100"
"""The class of runs whose file names none."""

_FIGURES = {
    "flop_rate": FigureSpec("flop_rate", "FLOP/s", "FLOP/s", rate=True),
    "memory_rate": FigureSpec("memory_rate", "byte/s", "GB/s", bandwidth=True),
    "node_rate": FigureSpec("node_rate", "byte/s", "GB/s", bandwidth=True),
    "cluster_rate": FigureSpec("cluster_rate", "byte/s", "GB/s", bandwidth=True),
    "block_overhead": FigureSpec("block_overhead", "s", "ms"),
}
_KEYS = ("title", "device", "source", "fitted", "gradients_overlap", "note", *_FIGURES)


@dataclass(frozen=True)
class CalibratedClass:
    """A kind of cluster and its rates.

    Attributes:
        name: Its name.
        title: How reports call it.
        machine: The machine whose peak and tiers it has.
        rates: Its rates.
        fitted: Which constants were fitted on which runs, and where the others come from.
        source: Key of the source of those runs, or a user's words.
    """

    name: str
    title: str
    machine: Machine
    rates: ClusterClass
    fitted: str
    source: str

    @property
    def sizes(self) -> list[int | None]:
        """Units that each tier joins, innermost first."""
        return [tier.size for tier in self.machine.tiers]


def class_names() -> tuple[str, ...]:
    """Return the names of the cluster classes.

    Example:
        >>> "a100" in class_names()
        True
    """
    names = (entry.name for entry in _FOLDER.iterdir())
    return tuple(sorted(name[: -len(".toml")] for name in names if name.endswith(".toml")))


def load_class(name: str) -> CalibratedClass:
    """Return a cluster class.

    Args:
        name: Its name, or that of a device of which there is one class, as "H100 SXM"; or
            a file that ends in .toml.

    Raises:
        UnknownNameError: If there is none; the text offers the nearest.
        InputError: If a file cannot be used.

    Example:
        >>> found = load_class("a100")
        >>> found.machine.name, found.rates.overlap
        ('a100-sxm', 0.0)
    """
    if name.lower().endswith(".toml"):
        table = read_toml_file(name, "keep one class in one file")
        return _read(table, printable(PurePath(name).stem, 60), printable(name, 160), Path(name))
    return _packaged(name)


def class_of_text(text: bytes, file: Path) -> CalibratedClass:
    """Return the class that a file at some place would state.

    Raises:
        InputError: If it states none.
    """
    where = printable(str(file))
    return _read(parse_toml(text, where), printable(file.stem, 60), where, file)


@functools.cache
def _packaged(name: str) -> CalibratedClass:
    slug = "-".join(name.lower().replace("_", " ").replace("-", " ").split())
    names = class_names()
    if slug not in names:
        slug = _of_device(slug)
    if slug not in names:
        raise unknown_name("cluster class", name, names)
    where = f"{slug}.toml"
    return _read(parse_toml(_FOLDER.joinpath(where).read_bytes(), where), slug, where)


def _of_device(slug: str) -> str:
    """The class of a device's name, such as "nvidia-h100-sxm": the one whose name begins it."""
    bare = slug.removeprefix("nvidia-")
    fits = [name for name in class_names() if bare.startswith(f"{name}-")]
    return max(fits, key=len, default=slug)


def _read(
    table: Mapping[str, object], name: str, where: str, file: Path | None = None
) -> CalibratedClass:
    packaged = file is None
    check_keys(table, _KEYS, where)
    texts = {key: read_text(table, key, where) for key in ("title", "device", "fitted")}
    for key, text in texts.items():
        if text is None:
            raise refusal(where, f"has no {key}", f'add {key} = "..."')
    values = {}
    for key, spec in _FIGURES.items():
        if key not in table:
            raise refusal(where, f"has no {key}", f"add {key} = {spec.shape}")
        figure = read_figure(table[key], spec, f"{where}: {key}", packaged=packaged)
        factor = parse_unit(figure.unit).factor_to(parse_unit(spec.unit))
        values[key] = float((figure.value or Fraction(0)) * factor)
        if key in ("node_rate", "cluster_rate") and figure.direction == "both":
            values[key] /= 2
    overlap = table.get("gradients_overlap")
    if not isinstance(overlap, bool):
        raise refusal(where, "gradients_overlap is no truth value", "write true or false")
    device = str(texts["device"])
    if device.lower().endswith(".toml"):
        folder = os.path.realpath(file.parent if file else "")
        device = os.path.normpath(Path(folder, device))  # the folder may not be made yet
    try:
        machine = load_machine(device)
    except SymscaleError as error:
        raise error.with_context(f"{where}: device") from None
    rates = ClusterClass(
        name, values["flop_rate"], values["memory_rate"],
        (values["node_rate"], values["cluster_rate"]), values["block_overhead"],
        float(overlap), float(machine.flop_rate), f"class {name}, {texts['fitted']}",
    )
    if len(machine.tiers) != len(rates.link_rates):
        raise refusal(where, f"{machine.name} has {len(machine.tiers)} tiers", "take one with two")
    source = read_source(table, where, packaged=packaged)
    return CalibratedClass(
        name, str(texts["title"]), machine, rates, str(texts["fitted"]), source
    )


def class_of_hardware(name_or_path: str) -> CalibratedClass:
    """Return the class that a machine's own file states: its rates as they stand there.

    Args:
        name_or_path: A preset, or a file as `symscale fit` writes it.

    Raises:
        InputError: If there is no such machine, or it lacks a tier.

    Example:
        >>> class_of_hardware("h100-sxm").rates.block_overhead_s
        0.0
    """
    machine = load_machine(name_or_path)
    rates = class_of_machine(machine)
    if any(rate == float("inf") for rate in rates.link_rates):
        raise InputError(f"{machine.title} has an unlimited link; name a machine that exists")
    return CalibratedClass(
        machine.name, machine.title, machine, rates, "not fitted: rates of its file",
        f"file of {machine.name}",
    )
