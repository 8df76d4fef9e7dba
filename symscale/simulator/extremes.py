"""Max and Min as written.

SymPy compares the arguments of a maximum when it is made, in case one is always the
largest. Of these here none is, and the comparison takes longer than all the rest.
"""

import sympy as sp


def greatest(*terms: sp.Expr) -> sp.Expr:
    """The maximum of terms, none of which is known to be the largest.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> greatest(*symbols("C b"), sp.Integer(2))
        Max(2, C, b)
        >>> greatest(sp.Integer(3), sp.Integer(2))
        3
    """
    if len(terms) == 1 or all(t.is_number for t in terms):
        return sp.Max(*terms)
    return sp.Max(*terms, evaluate=False)


def least(*terms: sp.Expr) -> sp.Expr:
    """The minimum of terms, none of which is known to be the smallest.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> least(*symbols("C b"), sp.Integer(2))
        Min(2, C, b)
    """
    if len(terms) == 1 or all(t.is_number for t in terms):
        return sp.Min(*terms)
    return sp.Min(*terms, evaluate=False)
