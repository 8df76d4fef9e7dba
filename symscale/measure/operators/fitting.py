"""Fits a formula to the times of an operator, and judges it on sizes left out.

The formula is time = max(work/rate, bytes/bandwidth) + latency, fitted by least squares
on the relative error. For given sides of the maximum it is linear in its parameters, so
every division of the sizes into two sides, in the order of their FLOP for each byte, is
solved as a linear problem with parameters not below zero, and the best is kept: no
starting point, no local optimum. Of formulas with both sides of the maximum and with one the
one is kept that the corrected criterion of Akaike prefers, so that few sizes do not make up
a bandwidth.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from symscale.errors import InputError
from symscale.measure.operators.measurement import Measurement, check_measurements
from symscale.measure.operators.operator import Operator

LEAST_SIZES = 3
LIMIT = 0.15
"""Median error on sizes left out beyond which a fit is not to be trusted."""

ROOFLINE, PROPORTIONAL = "max(work/rate, bytes/bandwidth) + latency", "proportional"
_MOST_DIVISIONS = 64
_MOST_FOLDS = 24
_EXACT = 1e-6  # relative errors below are those of rounding

Array = np.ndarray


@dataclass(frozen=True)
class OperatorModel:
    """A formula for the time of an operator.

    The parameters are seconds for each FLOP, seconds for each byte, and seconds.

    Attributes:
        operator: The operator.
        word_bytes: Bytes of a word that it was measured with.
        form: ROOFLINE or PROPORTIONAL.
        parameters: The three; one that no measured size depends on is 0.
        covariance: Of the three; 0 for those that are 0.
        scatter: Root mean square of the relative errors, degrees of freedom subtracted.
        sizes: How many sizes it was fitted to.
        smallest: The smallest of them, in words.
        largest: The largest.
    """

    operator: Operator
    word_bytes: int
    form: str
    parameters: tuple[float, float, float]
    covariance: tuple[tuple[float, float, float], ...]
    scatter: float
    sizes: int
    smallest: str = ""
    largest: str = ""

    @property
    def rate_flop(self) -> float | None:
        """FLOP/s, or None where no measured size is bound by it."""
        return 1 / self.parameters[0] if self.parameters[0] > 0 else None

    @property
    def bandwidth_bytes(self) -> float | None:
        """Byte/s, or None where no measured size is bound by it."""
        return 1 / self.parameters[1] if self.parameters[1] > 0 else None

    @property
    def latency_s(self) -> float:
        """Seconds that every call takes, however small."""
        return self.parameters[2]

    def relative_error(self, index: int) -> float | None:
        """Standard error of a parameter over the parameter; None where it is 0."""
        value = self.parameters[index]
        if value <= 0:
            return None
        return float(np.sqrt(max(self.covariance[index][index], 0.0))) / value

    def terms(self, flop: float, moved: float) -> tuple[float, float, float]:
        """What each parameter is multiplied by at a size, the side of the maximum chosen."""
        by_work = self.parameters[0] * flop >= self.parameters[1] * moved
        latency = 0.0 if self.form == PROPORTIONAL else 1.0
        return (flop, 0.0, latency) if by_work else (0.0, moved, latency)

    def predict_s(self, flop: float, moved: float) -> float:
        """Time at a size, in seconds.

        Args:
            flop: FLOP of it.
            moved: Bytes that it moves.

        Example:
            >>> from symscale.measure.operators.products import MATRIX_PRODUCT
            >>> none = ((0.0,) * 3,) * 3
            >>> model = OperatorModel(MATRIX_PRODUCT, 2, ROOFLINE, (1e-12, 1e-9, 1e-6), none,
            ...     0.0, 3)
            >>> model.predict_s(1e9, 1e3), model.predict_s(1e3, 1e6)
            (0.001001, 0.001001)
        """
        return float(np.dot(self.parameters, self.terms(flop, moved)))

    def predict(self, one: Measurement) -> float:
        """Time that the formula gives for what was measured, in seconds."""
        return self.predict_s(one.flop, one.moved)


@dataclass(frozen=True)
class Judged:
    """A model with its errors on sizes that the fit did not see.

    Attributes:
        model: Fitted to all sizes.
        measurements: What it was fitted to.
        left_out: For each measurement the relative error of a model fitted without it.
    """

    model: OperatorModel
    measurements: tuple[Measurement, ...]
    left_out: tuple[float, ...]

    @property
    def median_error(self) -> float:
        """Median of the errors on sizes left out, without their signs."""
        return float(np.median(np.abs(self.left_out)))

    @property
    def worst(self) -> tuple[Measurement, float]:
        """The size with the largest error, and the error."""
        index = int(np.argmax(np.abs(self.left_out)))
        return self.measurements[index], self.left_out[index]

    def beyond(self, limit: float) -> list[tuple[Measurement, float]]:
        """The sizes whose error is beyond a limit, the worst first."""
        pairs = zip(self.measurements, self.left_out, strict=True)
        return sorted((p for p in pairs if abs(p[1]) > limit), key=lambda p: -abs(p[1]))


def _columns(found: Sequence[Measurement]) -> tuple[Array, Array]:
    """FLOP, bytes and 1 of each measurement over its time, and the times."""
    times = np.array([one.seconds for one in found])
    rows = np.array([[float(one.flop), one.moved, 1.0] for one in found])
    return rows / times[:, None], times


def _errors(rows: Array, parameters: Array) -> Array:
    work, moved = rows[:, 0] * parameters[0], rows[:, 1] * parameters[1]
    return np.maximum(work, moved) + rows[:, 2] * parameters[2] - 1


def _solve(rows: Array, by_work: Array) -> Array:
    """Parameters not below zero for given sides of the maximum."""
    sided = rows.copy()
    sided[~by_work, 0] = 0
    sided[by_work, 1] = 0
    scale = np.linalg.norm(sided, axis=0)
    scale[scale == 0] = 1
    solution, _ = nnls(sided / scale, np.ones(len(rows)))
    return np.asarray(solution / scale)


def _candidates(rows: Array) -> Iterator[Array]:
    """Parameters among which the best are: those of divisions, and those of ties."""
    yield _solve(rows, np.zeros(len(rows), dtype=bool))
    if not np.any(rows[:, 0]):
        return
    intensity = rows[:, 0] / rows[:, 1]
    steps = np.unique(intensity)
    if len(steps) > _MOST_DIVISIONS:
        steps = steps[np.linspace(0, len(steps) - 1, _MOST_DIVISIONS).astype(int)]
    for step in steps:
        yield _solve(rows, intensity >= step)
        tied = np.zeros_like(rows)
        tied[:, 0] = np.maximum(rows[:, 0], rows[:, 1] * step)
        tied[:, 2] = rows[:, 2]
        solution = _solve(tied, np.ones(len(rows), dtype=bool))
        yield np.array([solution[0], solution[0] * step, solution[2]])


def fit_operator(found: Sequence[Measurement], form: str = ROOFLINE) -> OperatorModel:
    """Fit a formula to the measurements of one operator.

    Args:
        found: The measurements, with words of one size.
        form: ROOFLINE, or PROPORTIONAL: time = work/rate for a product, else
            bytes/bandwidth; the model of the study.

    Raises:
        InputError: If there are too few sizes to determine the formula: three, or one for
            the proportional one.

    Example:
        >>> from symscale.measure.operators.products import MATRIX_PRODUCT
        >>> def one(n):
        ...     sizes = {"m": n, "n": n, "k": n, "batch": 1}
        ...     return Measurement(MATRIX_PRODUCT, sizes, 4, 2 * n**3 / 1e11 + 1e-5, "x")
        >>> model = fit_operator([one(n) for n in (64, 128, 256, 512, 1024)])
        >>> round(model.rate_flop / 1e9, 6), round(model.latency_s * 1e6, 6)
        (100.0, 10.0)
    """
    first = found[0]
    if form == ROOFLINE and len(found) < LEAST_SIZES:
        sizes = "a single size" if len(found) == 1 else f"{len(found)} sizes"
        raise InputError(
            f"{first.where}: {first.operator} has {sizes} ({first.label}); a formula with a rate "
            f"and a latency needs {LEAST_SIZES} at least, to be judged too; measure more sizes"
        )
    rows, _ = _columns(found)
    if form == PROPORTIONAL:
        return _proportional(found, rows)
    best: dict[int, tuple[float, Array]] = {}
    for parameters in _candidates(rows):
        squares = float(np.sum(_errors(rows, parameters) ** 2))
        used = 1 + int(np.sum(parameters[:2] > 0))
        by_work = rows[:, 0] * parameters[0] >= rows[:, 1] * parameters[1]
        if used == 3 and 1 in (np.sum(by_work), np.sum(~by_work)):
            continue  # a single size tells a parameter anything
        if used not in best or squares < best[used][0] * (1 - 1e-12):
            best[used] = (squares, parameters)
    chosen = min(best, key=lambda used: (_criterion(best[used][0], len(rows), used), used))
    return _model(found, rows, best[chosen][1], form)


def _criterion(squares: float, count: int, used: int) -> float:
    """Akaike's criterion, corrected for few sizes; infinite where they are too few."""
    free = count - used - 1
    if free <= 0:
        return math.inf
    error = max(squares / count, _EXACT**2)
    return count * math.log(error) + 2 * used + 2 * used * (used + 1) / free


def _proportional(found: Sequence[Measurement], rows: Array) -> OperatorModel:
    index = 0 if found[0].flop else 1
    column = rows[:, index]
    parameters = np.zeros(3)
    parameters[index] = float(np.sum(column) / np.sum(column**2))
    return _model(found, rows, parameters, PROPORTIONAL)


def _model(
    found: Sequence[Measurement], rows: Array, parameters: Array, form: str
) -> OperatorModel:
    errors = _errors(rows, parameters)
    by_work = rows[:, 0] * parameters[0] >= rows[:, 1] * parameters[1]
    gradient = rows.copy()
    gradient[~by_work, 0] = 0
    gradient[by_work, 1] = 0
    # A side that no size is on any more says nothing about its parameter.
    for index, side in ((0, by_work), (1, ~by_work)):
        if not np.any(side):
            parameters[index] = 0.0
    free = np.nonzero(parameters > 0)[0]
    covariance = np.zeros((3, 3))
    scatter = 0.0
    if len(found) > len(free):
        scatter = float(np.sqrt(np.sum(errors**2) / (len(found) - len(free))))
        part = gradient[:, free] * parameters[free]  # so that numbers are alike in size
        inverse = np.linalg.pinv(part.T @ part)
        scale = np.outer(parameters[free], parameters[free])
        covariance[np.ix_(free, free)] = scatter**2 * inverse * scale
    ordered = sorted(found, key=lambda one: (one.flop, one.moved))
    a, b, c = (float(p) for p in parameters)
    return OperatorModel(
        found[0].operator, found[0].word_bytes, form, (a, b, c),
        tuple((float(r[0]), float(r[1]), float(r[2])) for r in covariance), scatter,
        len(found), ordered[0].label, ordered[-1].label,
    )


def judge(found: Sequence[Measurement], form: str = ROOFLINE) -> Judged:
    """Fit a formula, and judge it on sizes left out.

    Up to 24 sizes are left out one at a time; of more, every 24th together. The errors at
    both ends are those of an extrapolation.

    Raises:
        InputError: If a size stands twice, times contradict each other, or there are too few.
    """
    ordered = sorted(found, key=lambda one: (one.flop, one.moved, tuple(one.sizes.values())))
    check_measurements(ordered)
    model = fit_operator(ordered, form)
    folds = min(len(ordered), _MOST_FOLDS)
    errors = [0.0] * len(ordered)
    for fold in range(folds):
        kept = [one for i, one in enumerate(ordered) if i % folds != fold]
        if len(kept) < (LEAST_SIZES if form == ROOFLINE else 1):
            part = _with_fewer(kept, form)
        else:
            part = fit_operator(kept, form)
        for i in range(fold, len(ordered), folds):
            one = ordered[i]
            errors[i] = part.predict(one) / one.seconds - 1
    return Judged(model, tuple(ordered), tuple(errors))


def _with_fewer(kept: Sequence[Measurement], form: str) -> OperatorModel:
    """Of three sizes two are kept: a line through them, or as near as times allow."""
    rows, _ = _columns(kept)
    side = np.full(len(kept), bool(kept[0].flop))
    return _model(kept, rows, _solve(rows, side), form)


def predicted_errors(model: OperatorModel, others: Sequence[Measurement]) -> tuple[float, ...]:
    """Relative errors of a model at measurements that it was not fitted to."""
    return tuple(model.predict(one) / one.seconds - 1 for one in others)


def evenly(found: Sequence[Measurement], count: int) -> tuple[list[Measurement], list[Measurement]]:
    """Divide measurements into some to fit, evenly over their sizes, and the rest to judge by.

    Both ends are among those to fit.

    Example:
        >>> from symscale.measure.operators.memory_bound import LAYER_NORM
        >>> ones = [Measurement(LAYER_NORM, {"tokens": 2**i, "width": 8, "inputs": 1}, 4,
        ...     1e-6 * 2**i, "x") for i in range(9)]
        >>> fit, rest = evenly(ones, 3)
        >>> [one.sizes["tokens"] for one in fit], len(rest)
        ([1, 16, 256], 6)
    """
    ordered = sorted(found, key=lambda one: (one.flop, one.moved, tuple(one.sizes.values())))
    chosen = {round(i * (len(ordered) - 1) / max(count - 1, 1)) for i in range(count)}
    return (
        [one for i, one in enumerate(ordered) if i in chosen],
        [one for i, one in enumerate(ordered) if i not in chosen],
    )
