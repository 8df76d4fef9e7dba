"""The problem that the theorems of a file are about.

Of a minimum the objective is a sum; a maximum is that of one over such a sum, which here
is called the cost: at every feasible point the objective is the cost or one over it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from symscale.kernel.limits import Refused, shown
from symscale.kernel.read import as_line, as_list, as_object
from symscale.kernel.region import MOST, Declarations
from symscale.kernel.terms import Product, power

OBJECTIVE = "objective"
_UNIT = Fraction(1)


@dataclass(frozen=True)
class UnitConstraint:
    """A sum of products that is at most 1, or a product that equals 1."""

    name: str
    relation: str
    terms: tuple[Product, ...]


@dataclass(frozen=True)
class StatedProblem:
    """An objective under constraints.

    Attributes:
        sense: "minimize", "maximize", or "maximize-inverse", of one over the objective.
        objective: The products of which it is the sum.
        constraints: The constraints, by name.
    """

    sense: str
    objective: tuple[Product, ...]
    constraints: Mapping[str, UnitConstraint]

    @property
    def cost(self) -> tuple[Product, ...]:
        """The sum that is least at the optimum."""
        if self.sense == "maximize":
            return (power(self.objective[0], -_UNIT),)
        return self.objective

    def products(self) -> list[Product]:
        """Every term in it."""
        return [*self.objective, *(t for c in self.constraints.values() for t in c.terms)]

    def cost_of(self, value: Product) -> Product:
        """The cost at which the objective has a value."""
        return value if self.sense == "minimize" else power(value, -_UNIT)


def read_problem(data: object, scope: Declarations) -> StatedProblem:
    """Read a problem, whose variables are declared already."""
    row = as_object(data, "a problem", ("sense", "variables", "objective", "constraints"))
    if row["sense"] not in ("minimize", "maximize", "maximize-inverse"):
        raise Refused(
            f"a sense is minimize, maximize or maximize-inverse, not {shown(row['sense'])}"
        )

    def sum_of(rows: object) -> tuple[Product, ...]:
        found = tuple(scope.product(p, variables=True) for p in as_list(rows, "a sum", MOST))
        if not found:
            raise Refused("a sum has no terms")
        return found

    objective = sum_of(row["objective"])
    if row["sense"] == "maximize" and len(objective) > 1:
        raise Refused("what is maximized is one product, or one over a sum")
    constraints: dict[str, UnitConstraint] = {}
    for part in as_list(row["constraints"], "the constraints", MOST):
        c = as_object(part, "a constraint", ("name", "relation", "terms"))
        name, terms = as_line(c["name"]), sum_of(c["terms"])
        if name in constraints or name == OBJECTIVE:
            raise Refused(f"two constraints are named {name!r}, or one is named 'objective'")
        if c["relation"] not in ("<=", "==") or (c["relation"] == "==" and len(terms) > 1):
            raise Refused(f"the constraint {name!r} is neither a sum <= nor a product == 1")
        constraints[name] = UnitConstraint(name, c["relation"], terms)
    return StatedProblem(row["sense"], objective, constraints)
