"""Iterations never run, from operator models of one baseline.

The times of a block's regions follow from the operator models. Communication that all
else waits for adds to the step; that of gradients adds what the backward pass of one
block does not hide. Hardware whose arithmetic grew k times more than its network divides
all times of computation by k.

Errors: each operator model carries the covariance of its parameters and the scatter of
what it was fitted to; both are taken through to the share to first order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from symscale.errors import InputError
from symscale.measure.iterations.regions import (
    COMPUTE,
    OVERLAPPED,
    SERIALIZED,
    BlockSizes,
    Region,
    block_regions,
)
from symscale.measure.operators.collectives import ALL_REDUCE, Collective
from symscale.measure.operators.fitting import (
    LEAST_SIZES,
    PROPORTIONAL,
    ROOFLINE,
    Judged,
    fit_operator,
    judge,
)
from symscale.measure.operators.measurement import Measurement
from symscale.measure.operators.memory_bound import ELEMENTWISE
from symscale.measure.operators.operator import Operator
from symscale.measure.operators.operators import DEVICE_OPERATORS, OPERATORS
from symscale.measure.operators.products import MATRIX_PRODUCT
from symscale.measure.readers.reading import Reading

_STEP = 1e-4  # of a finite difference


@dataclass(frozen=True)
class Baseline:
    """Operator models of one profiled iteration.

    Attributes:
        models: For each operator its model, with its errors.
        word_bytes: Bytes of a word.
        devices: Over how many the all-reduce was measured.
        seconds: Time of the iteration that was profiled: all its calls.
        notes: What stands in for what, and which models carry no error.
    """

    models: Mapping[Operator, Judged]
    word_bytes: int
    devices: int
    seconds: float
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Times:
    """Times of one block in one iteration, in seconds.

    Attributes:
        compute_s: Computation.
        backward_s: The part of it in the backward pass.
        serialized_s: Communication that all else waits for.
        overlapped_s: Communication behind the backward pass.
    """

    compute_s: float
    backward_s: float
    serialized_s: float
    overlapped_s: float

    @property
    def exposed_s(self) -> float:
        """What the backward pass does not hide."""
        return max(0.0, self.overlapped_s - self.backward_s)

    @property
    def step_s(self) -> float:
        """All that takes time."""
        return self.compute_s + self.serialized_s + self.exposed_s

    @property
    def share(self) -> float:
        """Share of serialized communication in the step."""
        return self.serialized_s / self.step_s

    @property
    def communication_share(self) -> float:
        """Share of all communication that is not hidden."""
        return (self.serialized_s + self.exposed_s) / self.step_s


@dataclass(frozen=True)
class Projected:
    """One case, projected.

    Attributes:
        sizes: Its sizes.
        fits: Whether a device holds it.
        times: For each k its times.
        errors: For each k the standard error of the share of serialized communication.
    """

    sizes: BlockSizes
    fits: bool
    times: tuple[Times, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Projection:
    """All cases, and what they would have cost.

    Attributes:
        baseline: What they are projected from.
        cases: The cases.
        ks: How many times faster than the network arithmetic has become.
        blocks: Blocks of an iteration, of the cases as of the baseline.
        runs_s: Time of one iteration of every case that fits, on today's hardware.
        device_s: The same, times the devices of each.
    """

    baseline: Baseline
    cases: tuple[Projected, ...]
    ks: tuple[float, ...]
    blocks: int
    runs_s: float
    device_s: float

    @property
    def saved(self) -> float:
        """Time of the runs not made over the time of the baseline."""
        return self.runs_s / self.baseline.seconds


def merged(found: Sequence[Measurement]) -> list[Measurement]:
    """Make one measurement of those of the same size, as an iteration calls them often.

    Its time is the mean over all calls.
    """
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for one in found:
        groups.setdefault((one.operator, one.word_bytes, *one.sizes.values()), []).append(one)
    merged_ones = []
    for same in groups.values():
        first, calls = same[0], sum(one.count for one in same)
        seconds = sum(one.seconds * one.count for one in same) / calls
        merged_ones.append(
            Measurement(first.operator, first.sizes, first.word_bytes, seconds, first.where,
                        count=calls)
        )
    return merged_ones


def baseline_of(reading: Reading) -> Baseline:
    """Fit the operator models of a baseline.

    An operator with fewer than three sizes gets the proportional model of the study.

    Raises:
        InputError: If there is no matrix product or no all-reduce, words of several
            sizes, or measurements that contradict each other.
    """
    groups: dict[Operator, list[Measurement]] = {}
    for one in merged(reading.measurements):
        groups.setdefault(one.operator, []).append(one)
    for needed in (MATRIX_PRODUCT, ALL_REDUCE):
        if needed not in groups:
            raise InputError(f"{reading.path}: no {needed} in the baseline; profile one with it")
    words = {one.word_bytes for found in groups.values() for one in found} - {0}
    if len(words) != 1:
        shown = ", ".join(map(str, sorted(words)))
        raise InputError(f"{reading.path}: words of {shown} bytes; profile one precision")
    devices = {one.sizes["devices"] for one in groups[ALL_REDUCE]}
    if len(devices) != 1:
        shown = ", ".join(map(str, sorted(devices)))
        raise InputError(f"{reading.path}: all-reduces over {shown} devices; keep one of them")
    notes: list[str] = []
    models: dict[Operator, Judged] = {}
    for operator, found in groups.items():
        enough = len(found) >= LEAST_SIZES
        models[operator] = judge(found, ROOFLINE) if enough else _single(found)
        if not enough:
            notes.append(
                f"{operator} has {len(found)} size{'s' * (len(found) > 1)}: its time is taken in "
                "proportion to FLOP or bytes, with no error known"
            )
    for lacking in DEVICE_OPERATORS:
        other = OPERATORS.get(lacking.stand_in)
        if lacking not in models and other in models:
            notes.append(f"{lacking} is not in the baseline; the model of {other} stands in")
            models[lacking] = models[other]
    if ELEMENTWISE not in models:
        notes.append("no layer norm and no elementwise operator in the baseline: left out")
    seconds = sum(one.seconds * one.count for one in reading.measurements)
    return Baseline(models, words.pop(), devices.pop(), seconds, tuple(notes))


def _single(found: Sequence[Measurement]) -> Judged:
    if len(found) > 1:
        return judge(found, PROPORTIONAL)
    return Judged(fit_operator(found, PROPORTIONAL), tuple(found), (0.0,))


def times_of(
    regions: Sequence[Region], baseline: Baseline, k: float = 1.0,
    scales: Mapping[Operator, float] | None = None,
) -> Times:
    """Return the times of a block's regions.

    Args:
        regions: The regions.
        baseline: The operator models.
        k: How many times faster than the network arithmetic has become.
        scales: Factors on the times of operators, to see what follows from their errors.
    """
    scales = scales or {}
    kinds = {COMPUTE: 0.0, SERIALIZED: 0.0, OVERLAPPED: 0.0}
    backward = 0.0
    for region in regions:
        seconds = 0.0
        for call in region.calls:
            judged = baseline.models.get(call.operator)
            if judged is None:
                continue
            one = judged.model.predict_s(call.flop, call.moved)
            faster = 1.0 if isinstance(call.operator, Collective) else k
            seconds += call.count * one * scales.get(judged.model.operator, 1.0) / faster
        kinds[region.kind] += seconds
        if region.kind == COMPUTE and region.backward:
            backward += seconds
    return Times(kinds[COMPUTE], backward, kinds[SERIALIZED], kinds[OVERLAPPED])


def relative_variances(regions: Sequence[Region], baseline: Baseline) -> dict[Operator, float]:
    """Relative variance of the time that each model gives for a block: parameters and scatter."""
    terms: dict[Operator, np.ndarray] = {}
    models = {}
    for region in regions:
        for call in region.calls:
            judged = baseline.models.get(call.operator)
            if judged is not None:
                model = judged.model
                models[model.operator] = model
                part = call.count * np.array(model.terms(call.flop, call.moved))
                terms[model.operator] = terms.get(model.operator, np.zeros(3)) + part
    found = {}
    for operator, model in models.items():
        total = float(terms[operator] @ np.array(model.parameters))
        spread = float(terms[operator] @ np.array(model.covariance) @ terms[operator])
        found[operator] = max(spread, 0.0) / total**2 + model.scatter**2
    return found


def share_error(regions: Sequence[Region], baseline: Baseline, k: float) -> float:
    """Standard error of the share of serialized communication, to first order."""
    total = 0.0
    for operator, variance in relative_variances(regions, baseline).items():
        up, down = (
            times_of(regions, baseline, k, {operator: 1 + sign * _STEP}).share for sign in (1, -1)
        )
        total += ((up - down) / (2 * _STEP)) ** 2 * variance
    return float(np.sqrt(total))


def project(
    baseline: Baseline, cases: Sequence[tuple[BlockSizes, bool]], ks: Sequence[float],
    blocks: int,
) -> Projection:
    """Project cases from a baseline.

    Args:
        baseline: The operator models.
        cases: Sizes, and whether a device holds them.
        ks: How many times faster than the network arithmetic has become.
        blocks: Blocks of an iteration.
    """
    found = []
    runs_s = device_s = 0.0
    for sizes, fits in cases:
        regions = block_regions(sizes)
        found.append(Projected(
            sizes, fits,
            tuple(times_of(regions, baseline, k) for k in ks),
            tuple(share_error(regions, baseline, k) for k in ks),
        ))
        if fits:
            seconds = blocks * times_of(regions, baseline).step_s
            runs_s += seconds
            device_s += seconds * sizes.N_TP
    return Projection(baseline, tuple(found), tuple(ks), blocks, runs_s, device_s)
