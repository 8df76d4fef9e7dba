"""Least values of sums of exponentials under such sums, numerically: programs in logarithms."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import linprog

Rows = tuple[np.ndarray, np.ndarray]
"""Powers of the variables and logarithms of constants, a row for each term."""

_FLAT = 1e-6


@dataclass(frozen=True)
class Program:
    """A cost, constraints that are at most 1, and products that are 1, in logarithms."""

    cost: Rows
    constraints: list[Rows]
    equalities: list[Rows]

    @cached_property
    def linear(self) -> bool:
        """Whether no sum has several terms."""
        return all(len(c) == 1 for _, c in (self.cost, *self.constraints))

    def cost_at(self, point: np.ndarray) -> float:
        """The cost's logarithm."""
        return _sum(self.cost, point)

    def violation(self, point: np.ndarray) -> float:
        """By how much the worst constraint's logarithm is above 0."""
        sides = [_sum(rows, point) for rows in self.constraints]
        return max([*sides, *(abs(_sum(rows, point)) for rows in self.equalities)], default=-1.0)


@dataclass(frozen=True)
class Optimum:
    """What was found.

    Attributes:
        feasible: Whether a point is feasible.
        cost: The least cost's logarithm.
        violation: By how much all constraints can be kept at once, negative.
        error: How far below the truth the cost may be.
    """

    feasible: bool
    cost: float = np.inf
    violation: float = 0.0
    error: float = 0.0


def least(program: Program, reach: float, at: np.ndarray | None = None) -> Optimum:
    """The least cost within so many powers of e around a point."""
    if program.linear and at is None:
        return _linear(program)
    return _convex(program, reach, at)


def _sum(rows: Rows, point: np.ndarray) -> float:
    values = rows[0] @ point + rows[1]
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum()))


def _linear(program: Program) -> Optimum:
    count = program.cost[0].shape[1]
    above = [(a[0], -c[0]) for a, c in program.constraints]
    same = [(a[0], -c[0]) for a, c in program.equalities]
    # How far all constraints can be kept at once, before the least cost.
    room = linprog(
        [*[0.0] * count, 1.0],
        A_ub=np.array([[*a, -1.0] for a, _ in above]) if above else None,
        b_ub=[b for _, b in above] or None,
        A_eq=np.array([[*a, 0.0] for a, _ in same]) if same else None,
        b_eq=[b for _, b in same] or None,
        bounds=[(None, None)] * count + [(-1, None)],
    )
    if room.status != 0 or room.fun > 1e-7:
        return Optimum(feasible=False)
    found = linprog(
        program.cost[0][0],
        A_ub=np.array([a for a, _ in above]) if above else None,
        b_ub=[b for _, b in above] or None,
        A_eq=np.array([a for a, _ in same]) if same else None,
        b_eq=[b for _, b in same] or None,
        bounds=[(None, None)] * count,
    )
    cost = -np.inf if found.status == 3 else found.fun + program.cost[1][0]
    if found.status not in (0, 3):
        return Optimum(feasible=False)
    # A solver's points may violate each constraint by 1e-7.
    return Optimum(True, float(cost), float(room.fun), 0.0 if room.fun < -_FLAT else 1e-5)


def _convex(program: Program, reach: float, at: np.ndarray | None) -> Optimum:
    count = program.cost[0].shape[1]
    start = np.zeros(count) if at is None else at
    basis = np.eye(count)
    if program.equalities:
        a = np.vstack([rows[0] for rows in program.equalities])
        b = -np.concatenate([rows[1] for rows in program.equalities])
        start = start + np.linalg.pinv(a) @ (b - a @ start)
        if np.abs(a @ start - b).max() > 1e-9 * (1 + np.abs(b).max()):
            return Optimum(feasible=False)
        _, sizes, v = np.linalg.svd(a)
        basis = v[int((sizes > 1e-10).sum()):].T

    def seen(rows: Rows) -> Rows:
        return rows[0] @ basis, rows[0] @ start + rows[1]

    cost, sums = seen(program.cost), [seen(rows) for rows in program.constraints]
    free = basis.shape[1]
    for k in range(count):  # the box
        for side in (1.0, -1.0):
            sums.append((side * basis[k:k + 1], np.array([-reach])))
    z = np.zeros(free)
    room = max(_sum(rows, z) for rows in sums) + 1.0
    lifted = [(np.hstack([a, -np.ones((len(c), 1))]), c) for a, c in sums]
    lifted.append((np.array([[0.0] * free + [-1.0]]), np.array([-1.0])))
    slack = (np.array([[0.0] * free + [1.0]]), np.array([0.0]))
    found = _barrier(slack, lifted, np.append(z, room), enough=-0.01)
    z, room = found[:-1], max(_sum(rows, found[:-1]) for rows in sums)
    if room > 1e-7:
        return Optimum(feasible=False)
    loose = max(0.0, room + _FLAT)
    if loose:
        sums = [(a, c - loose) for a, c in sums]
    z = _barrier(cost, sums, z)
    return Optimum(True, _sum(cost, z), room, 1e3 * loose)


class _Stack:
    """Several sums, evaluated together."""

    def __init__(self, sums: list[Rows]) -> None:
        self.powers = np.vstack([a for a, _ in sums])
        self.constants = np.concatenate([c for _, c in sums])
        self.sizes = np.array([len(c) for _, c in sums])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def _parts(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values = self.powers @ z + self.constants
        tops = np.maximum.reduceat(values, self.starts)
        parts = np.exp(values - np.repeat(tops, self.sizes))
        return parts, np.add.reduceat(parts, self.starts), tops

    def at(self, z: np.ndarray) -> np.ndarray:
        """The logarithm of each sum."""
        _, totals, tops = self._parts(z)
        return np.asarray(tops + np.log(totals))

    def barrier(self, z: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian of the first sum, weighted, and the barrier of the others."""
        parts, totals, tops = self._parts(z)
        shares = (parts / np.repeat(totals, self.sizes))[:, None]
        sides = np.add.reduceat(shares * self.powers, self.starts, axis=0)
        values = tops + np.log(totals)
        weights = np.concatenate([[weight], -1 / values[1:]])
        inner = (self.powers * (shares * np.repeat(weights, self.sizes)[:, None])).T @ self.powers
        outer = np.concatenate([[-weight], weights[1:] ** 2 - weights[1:]])
        return weights @ sides, inner + (sides * outer[:, None]).T @ sides


def _barrier(
    cost: Rows, sums: list[Rows], z: np.ndarray, enough: float = -np.inf
) -> np.ndarray:
    """Newton's method along the central path, from a point strictly within."""
    weight, stack = 1.0, _Stack([cost, *sums])
    while len(sums) / weight > 1e-10:
        weight *= 30.0
        for _ in range(40):
            gradient, hessian = stack.barrier(z, weight)
            size = (np.trace(hessian) + 1.0) * 1e-14
            step = np.linalg.solve(hessian + size * np.eye(len(z)), -gradient)
            fall = float(gradient @ step)
            if fall > -1e-7:
                break
            z = _search(stack, weight, z, step, fall)
            if _sum(cost, z) < enough:
                return z
    return z


def _search(
    stack: _Stack, weight: float, z: np.ndarray, step: np.ndarray, fall: float
) -> np.ndarray:
    def height(point: np.ndarray) -> float:
        values = stack.at(point)
        if values[1:].max() >= 0:
            return np.inf
        return float(weight * values[0] - np.log(-values[1:]).sum())

    start, share = height(z), 1.0
    for _ in range(40):
        if height(z + share * step) <= start + 1e-2 * share * fall:
            return z + share * step
        share /= 2
    return z
