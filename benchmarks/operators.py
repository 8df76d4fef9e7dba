"""How well operator models that were fitted to twelve sizes predict all others.

Matrix products from 64 MFLOP to 64 GFLOP in three shapes, and layer norm in three widths,
on the machine at hand with one thread. By default the clock is the processor time of that
thread, since machines are shared; `--recorded FILE` takes measurements made before.
"""

import argparse
from pathlib import Path

import numpy as np

from symscale.language.units import parse_quantity, parse_unit
from symscale.measure.operators.fitting import (
    LIMIT,
    PROPORTIONAL,
    ROOFLINE,
    evenly,
    fit_operator,
    predicted_errors,
)
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.profiling import profile
from symscale.measure.operators.workload import Settings
from symscale.measure.readers.files import read_measurements
from symscale.measure.readers.json_files import measurements_data
from symscale.pages.figures.operators import operators_plot
from symscale.pages.formats.json import dump

SIZES = 12
SHARES = (("matrix product", 0.75), ("layer norm", 0.25))


def measured(budget_s: float, clock: str) -> tuple[list[Measurement], dict[str, object]]:
    """Measure on this machine."""
    settings = Settings("numpy", 1, budget_s, clock, dense=3, shares=SHARES)
    found = profile(settings, collectives=False)
    return found.measurements, found.machine


def main() -> None:
    """Print the errors on sizes left out, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recorded", metavar="FILE", help="measurements made before")
    parser.add_argument("--measure", metavar="TIME", default="120s", help="how long to measure")
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write what was measured")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw the errors")
    given = parser.parse_args()
    if given.recorded:
        reading = read_measurements(given.recorded)
        found, title = list(reading.measurements), f"{reading.facts.device}, {given.recorded}"
    else:
        budget_s = float(parse_quantity(given.measure).to(parse_unit("s")))
        found, machine = measured(budget_s, given.clock)
        title = f"{machine['device']}, {machine.get('library')}, clock: {given.clock}"
        if given.write:
            given.write.write_text(dump(measurements_data(found, machine)), encoding="utf-8")
    print(title)
    print(f"{'operator':<16}{'fitted':>8}{'left out':>10}{'median':>9}{'worst':>9}{'proport.':>10}")
    panels = []
    for name, _ in SHARES:
        fitted, rest = evenly([one for one in found if one.operator.name == name], SIZES)
        model = fit_operator(fitted, ROOFLINE)
        errors = np.abs(predicted_errors(model, rest))
        plain = np.abs(predicted_errors(fit_operator(fitted, PROPORTIONAL), rest))
        print(f"{name:<16}{len(fitted):>8}{len(rest):>10}{np.median(errors):>9.1%}"
              f"{errors.max():>9.1%}{np.median(plain):>10.1%}")
        panels.append((model, fitted, rest))
    print(f"limit of the median: {LIMIT:.0%}")
    if given.plot:
        operators_plot(panels, title, given.plot)


if __name__ == "__main__":
    main()
