"""Units of expressions, and numbers that count FLOP where nothing else does."""

from typing import Any

import pytest
import sympy as sp

from symscale.errors import ParseError, UnitError
from symscale.language.dimensions import CountedLiteral, compare_units, unit_of
from symscale.language.parsing import parse_relation
from symscale.language.units import BASE_UNITS, parse_unit

UNITS = {"c": "token", "d": "1", "w": "byte", "W": "byte/s", "C": "FLOP/s", "tau": "s", "F": "FLOP"}
SYMBOLS: dict[str, sp.Expr] = {n: sp.Symbol(n, positive=True) for n in UNITS}
BASES: dict[str, sp.Expr] = {n: sp.Symbol(f"{n}_unit", positive=True) for n in BASE_UNITS}
KNOWN: dict[Any, Any] = {
    **{SYMBOLS[n]: parse_unit(u) for n, u in UNITS.items()},
    **{BASES[n]: parse_unit(n) for n in BASE_UNITS},
}


def counted(text: str) -> list[str]:
    relation = parse_relation(text, SYMBOLS, BASES)
    found: list[CountedLiteral] = []
    compare_units(relation.lhs, relation.rhs, KNOWN, found)
    return [str(literal) for literal in found]


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("2*c*d*w/W <= 4*c^2*d/C", ["4 FLOP/token"]),
        ("4*c^2*d/C >= 2*c*d*w/W", ["4 FLOP/token"]),
        ("tau <= 4*c^2*d/C", ["4 FLOP/token^2"]),
        ("3*c*d <= tau*C", ["3 FLOP/token"]),
        ("tau >= 2*c*d/C + w/W", ["2 FLOP/token"]),
        ("tau >= max(2*c*d/C, w/W)", ["2 FLOP/token"]),
        ("d*(2*c + 3*c*d)/C <= tau", ["2 FLOP/token", "3 FLOP/token"]),
        ("2*F/C <= tau", []),
        ("2*c*d*w/W <= 4 FLOP/token*c^2*d/C", []),
        ("5 ms <= tau", []),
        ("2*c <= 30 token", []),
        ("F/C <= 2 d", []),
    ],
)
def test_numbers_count_flop_where_a_side_lacks_them(text: str, literals: list[str]) -> None:
    names = {n: s for n, s in SYMBOLS.items() if not (n == "d" and "2 d" in text)}
    relation = parse_relation(text, names, BASES)
    found: list[CountedLiteral] = []
    compare_units(relation.lhs, relation.rhs, KNOWN, found)
    assert sorted(map(str, found)) == sorted(literals)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tau <= 4*w", r"the left side is in s, the right in byte$"),
        ("tau <= 4*c*W", r"the left side is in s, the right in byte\*token/s"),
        ("2*c <= d", r"the left side is in token, the right in 1$"),
        ("w <= 4*c/C", r"the left side is in byte"),
        ("c*d/C <= tau", r"is in s\*token/FLOP.*write the number with its unit, such as 2 FLOP/"),
        ("c*d/C + tau <= 3*tau", r"adds .* and .*write the number with its unit"),
        ("sqrt(4*c*d + c)/C <= tau", r"the left side is in"),
        ("4 byte*c <= c", r"the left side is in byte\*token, the right in token"),
    ],
)
def test_all_else_must_fit(text: str, said: str) -> None:
    with pytest.raises(UnitError, match=said):
        counted(text)


def test_a_number_with_its_unit() -> None:
    relation = parse_relation("3 GB/s <= 1.5e3 FLOP/token^2*W", SYMBOLS, BASES)
    assert relation.lhs == 3 * 10**9 * BASES["byte"] / BASES["s"]
    assert relation.rhs == 1500 * BASES["FLOP"] * SYMBOLS["W"] / BASES["token"] ** 2
    for text in ("3 FLOP", "3 W", "3 d", "3 FLOPS <= W", "3 FLOP(2) <= W"):
        with pytest.raises(ParseError, match=r"compares|cannot read|unknown|not allowed"):
            parse_relation(text, SYMBOLS, BASES)
    with pytest.raises(ParseError, match="cannot read"):  # where units are not asked for
        parse_relation("3 FLOP <= W", SYMBOLS)


def test_without_a_list_nothing_counts() -> None:
    c, C, tau = (SYMBOLS[n] for n in ("c", "C", "tau"))
    with pytest.raises(UnitError, match="adds"):
        unit_of(2 * c / C + tau, KNOWN)
