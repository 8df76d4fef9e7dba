"""Explorers, made and read back."""

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mpmath as mp
import sympy as sp

from symscale.studies.explorers.all import load_explorer
from symscale.studies.explorers.explorer import Explorer

OWN = """
title = {title}
flop_rate = {{ value = 400, unit = "TFLOP/s", condition = "dense, 16 bit", source = "measured" }}
memory_bandwidth = {{ value = 2000, unit = "GB/s", direction = "both", source = "measured" }}
memory_capacity = {{ value = 64, unit = "GB", source = "measured" }}
product_latency = {{ value = 4.5, unit = "us", source = "measured" }}
[[tier]]
name = "node"
size = 8
bandwidth = {{ value = 300, unit = "GB/s", direction = "one-way", source = "measured" }}
latency = {{ value = 1, unit = "us", source = "measured" }}
[[tier]]
name = "cluster"
bandwidth = {{ value = {network}, unit = "GB/s", direction = "both", source = "measured" }}
latency = {{ value = 2, unit = "us", source = "measured" }}
"""


def own_machine(folder: Path, title: str, network: str = "100") -> str:
    path = folder / "own.toml"
    text = OWN.format(title=json.dumps(title, ensure_ascii=False), network=network)
    path.write_text(text, encoding="utf-8")
    return str(path)


@cache
def explorer(name: str) -> Explorer:
    return load_explorer(name)


@cache
def compiled(expr: sp.Expr) -> tuple[tuple[sp.Basic, ...], Callable[..., Any]]:
    names = tuple(sorted(expr.free_symbols, key=str))
    return names, sp.lambdify(names, expr, "mpmath")


def forty_digits(expr: sp.Expr, values: dict[Any, Any]) -> float:
    """A formula's value, computed with forty digits; infinity over zero."""
    names, function = compiled(expr)
    with mp.workdps(40):
        try:
            return float(function(*(mp.mpf(values[s].p) / values[s].q for s in names)))
        except ZeroDivisionError:
            return math.inf
