"""What the kernel must show of a limit."""

from symscale.algebra.certify.theorems import Theorems, of_limit
from symscale.algebra.products.limit import Limit


def assert_proved(limit: Limit) -> Theorems:
    """Each piece bounds the objective and is attained in all of its region; they cover all."""
    found = of_limit(limit, "a limit")
    assert found.missing == ()
    found.require("cover", *(f"{piece.name}: bound" for piece in limit.pieces))
    for piece in limit.pieces:
        assert piece.name in found.shown or f"{piece.name} (part 1)" in found.shown
    return found
