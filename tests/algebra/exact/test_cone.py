"""Extreme rays against brute force: a ray is extreme when its support is minimal."""

from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from random import Random
from typing import Any

import pytest
import sympy as sp

from sampling import sample
from symscale.algebra.exact.cone import Ray, extreme_rays
from symscale.algebra.exact.domain import Domain, IndeterminateSignError, Interval
from symscale.algebra.exact.scalars import Functions, Rationals
from symscale.errors import TooLargeError
from symscale.language.symbols import symbols

Matrix = list[list[int]]
(alpha,) = symbols("alpha")


def kernel(columns: list[list[int]]) -> list[list[Fraction]]:
    """A basis of the combinations of columns that vanish, by elimination with fractions."""
    size = len(columns)
    height = len(columns[0]) if columns else 0
    rows = [[Fraction(columns[j][i]) for j in range(size)] for i in range(height)]
    pivots: list[int] = []
    for column in range(size):
        i = next((i for i in range(len(pivots), height) if rows[i][column]), None)
        if i is None:
            continue
        top = len(pivots)
        rows[top], rows[i] = rows[i], rows[top]
        rows[top] = [x / rows[top][column] for x in rows[top]]
        for k in range(height):
            if k != top and rows[k][column]:
                factor = rows[k][column]
                rows[k] = [x - factor * y for x, y in zip(rows[k], rows[top], strict=True)]
        pivots.append(column)
    basis = []
    for free in (j for j in range(size) if j not in pivots):
        vector = [Fraction(int(j == free)) for j in range(size)]
        for row, pivot in zip(rows, pivots, strict=False):
            vector[pivot] = -row[free]
        basis.append(vector)
    return basis


def primitive(entries: Any) -> tuple[int, ...]:
    """The multiple in whole numbers without a common divisor."""
    values = [Fraction(x) for x in entries]
    scale = lcm(*(x.denominator for x in values))
    whole = [int(x * scale) for x in values]
    return tuple(x // (gcd(*whole) or 1) for x in whole)


def brute_force(matrix: Matrix, size: int) -> set[tuple[int, ...]]:
    """Try every support: the kernel on it must be one vector, positive on all of it."""
    found = set()
    for count in range(1, size + 1):
        for support in combinations(range(size), count):
            basis = kernel([[row[j] for row in matrix] for j in support])
            if len(basis) != 1:
                continue
            sign = 1 if basis[0][0] > 0 else -1
            if all(sign * x > 0 for x in basis[0]):
                vector = [Fraction(0)] * size
                for j, x in zip(support, basis[0], strict=True):
                    vector[j] = sign * x
                found.add(primitive(vector))
    return found


def computed(matrix: Matrix, size: int) -> list[tuple[int, ...]]:
    rays = extreme_rays(matrix, size, Rationals())
    for ray in rays:
        assert all(x >= 0 for x in ray.entries)
        assert ray.support == sum(1 << j for j, x in enumerate(ray.entries) if x)
        assert all(sum(x * y for x, y in zip(row, ray.entries, strict=True)) == 0 for row in matrix)
    return [primitive(ray.entries) for ray in rays]


def random_matrix(random: Random) -> tuple[Matrix, int]:
    size, height = random.randint(1, 7), random.randint(0, 4)
    entries = random.choice(((-1, 0, 0, 1), (-2, -1, 0, 1, 2), (-3, -1, 0, 0, 2, 5)))
    matrix = [[random.choice(entries) for _ in range(size)] for _ in range(height)]
    if matrix and random.random() < 0.3:  # a dependent row
        matrix.append([x * 2 + y for x, y in zip(matrix[0], matrix[-1], strict=True)])
    return matrix, size


def test_against_every_support() -> None:
    those = sample(110)
    random = Random(those.seeds.start + 3)
    many = none = 0
    for _ in those.seeds:
        matrix, size = random_matrix(random)
        found = computed(matrix, size)
        assert len(set(found)) == len(found)
        assert set(found) == brute_force(matrix, size), matrix
        many += len(found) >= 4
        none += not found
    assert many >= those.least(20)
    assert none >= those.least(5)


def test_the_whole_orthant() -> None:
    assert computed([], 3) == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert computed([[0, 0, 0]], 3) == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert computed([[1, 2, 3]], 3) == []


def test_the_order_of_rows_does_not_matter() -> None:
    random = Random(4)
    for _ in range(40):
        matrix, size = random_matrix(random)
        expected = set(computed(matrix, size))
        random.shuffle(matrix)
        factors = random.choices((1, -2, 3), k=len(matrix))
        scaled = [[c * x for x in row] for c, row in zip(factors, matrix, strict=True)]
        assert set(computed(scaled, size)) == expected


def test_the_limit_and_the_progress() -> None:
    """x1 + ... + x4 = y1 + ... + y4 has sixteen extreme rays."""
    row = [1, 1, 1, 1, -1, -1, -1, -1]
    seen: list[tuple[int, int]] = []
    rays = extreme_rays([row], 8, Rationals(), progress=lambda *counts: seen.append(counts))
    assert len(rays) == 16
    assert seen == [(1, 16)]
    assert len(extreme_rays([row], 8, Rationals(), max_rays=16)) == 16
    with pytest.raises(TooLargeError, match="more than 15"):
        extreme_rays([row], 8, Rationals(), max_rays=15)


# Entries that are functions of an exponent


def functions(lower: Any, upper: Any) -> Functions:
    return Functions([alpha], Domain(exponents={alpha: Interval(lower, upper)}))


def row_at(row: list[Any], value: Any) -> list[Fraction]:
    """A row of expressions at one alpha."""
    return [Fraction(str(x.subs(alpha, value))) for x in row]


def ray_at(ray: Ray, value: Any) -> list[Fraction]:
    """A ray of polynomials at one alpha."""
    entries = [x.as_expr() if x else sp.Integer(0) for x in ray.entries]
    return row_at(entries, value)


def test_symbolic_entries_against_numbers() -> None:
    """The rays for all alpha of an interval, read at one, are the rays at that one."""
    random = Random(8)
    scalars = functions(sp.Integer(0), sp.Rational(1, 3))
    decided = several = 0
    for _ in range(60):
        size, height = random.randint(2, 5), random.randint(1, 3)
        matrix = [[sp.Integer(random.randint(-2, 2)) for _ in range(size)] for _ in range(height)]
        for _ in range(2):
            i, j = random.randrange(height), random.randrange(size)
            matrix[i][j] += random.choice((1, -1, 2)) * alpha
        rows = [scalars.clear([scalars.convert(x) for x in row]) for row in matrix]
        try:
            rays = extreme_rays(rows, size, scalars)
        except IndeterminateSignError:
            continue
        decided += 1
        several += len(rays) >= 2
        for value in (sp.Rational(1, 7), sp.Rational(3, 10)):
            at = [list(primitive(row_at(row, value))) for row in matrix]
            read = {primitive(ray_at(ray, value)) for ray in rays}
            assert read == set(computed(at, size))
    assert decided >= 40
    assert several >= 10


def test_an_open_sign() -> None:
    """y1 = alpha y2 has one ray where alpha > 0, none where alpha < 0, and no answer for both."""
    for ends, count in (((0, 1), 1), ((-1, 0), 0)):
        scalars = functions(*map(sp.Integer, ends))
        row = scalars.clear([scalars.convert(x) for x in (sp.Integer(1), -alpha)])
        assert len(extreme_rays([row], 2, scalars)) == count
    scalars = functions(sp.Integer(-1), sp.Integer(1))
    row = scalars.clear([scalars.convert(x) for x in (sp.Integer(1), -alpha)])
    with pytest.raises(IndeterminateSignError) as caught:
        extreme_rays([row], 2, scalars)
    assert caught.value.polynomial in (alpha, -alpha)


def test_a_row_that_settles_the_sign_of_another() -> None:
    """The open sign concerns a ray that the second row removes."""
    scalars = functions(sp.Integer(-1), sp.Integer(1))
    open_row = [scalars.convert(x) for x in (alpha, sp.Integer(1), sp.Integer(-1))]
    other = [scalars.convert(x) for x in (sp.Integer(1), sp.Integer(0), sp.Integer(0))]
    rays = extreme_rays([scalars.clear(open_row), scalars.clear(other)], 3, scalars)
    assert [r.support for r in rays] == [0b110]
