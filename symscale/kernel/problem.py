"""What a file declares: its names, and the problem that its theorems are about.

Of a minimum the objective is a sum; a maximum is that of one over such a sum, which here
is called the cost: at every feasible point the objective is the cost or one over it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from symscale.kernel.limits import Refused, shown, spend
from symscale.kernel.numbers import factored
from symscale.kernel.polynomials import Box, Exponent, bounded
from symscale.kernel.read import as_dict, as_line, as_list, as_name, as_object, read_exponent
from symscale.kernel.terms import Product, Terms, of_number, power, times

OBJECTIVE = "objective"
_UNIT = Fraction(1)
MOST = 200
"""Conditions, terms, constraints, abbreviations or summands in one list."""


@dataclass(frozen=True)
class SignCondition:
    """A sum of products of parameters that is at least 0, above 0, or equal to 0."""

    name: str
    relation: str
    terms: Terms

    @property
    def strict(self) -> bool:
        """Whether it is above 0."""
        return self.relation == ">"

    def ratio(self) -> Product:
        """What a condition `A - B >= 0` says to be at most 1: B/A.

        Raises:
            Refused: If it is no difference of two terms with numbers as coefficients.
        """
        if len(self.terms) == 2:
            (c, p), (d, q) = self.terms
            if isinstance(c, Fraction) and isinstance(d, Fraction) and c * d < 0:
                above, below = (p, q) if c > 0 else (q, p)
                return times(below, power(above, Fraction(-1)), of_number(-min(c, d) / max(c, d)))
        raise Refused(f"the condition {self.name!r} is no difference of two products")


@dataclass
class Declarations:
    """The names of a file and what they stand for.

    Attributes:
        box: The open interval of each exponent symbol.
        variables: The variables of the problem.
        abbreviations: The sums that have names.
        domain: What all theorems may assume.
        used_names: Parameters and abbreviations that were read so far.
    """

    box: Box
    variables: tuple[str, ...] = ()
    abbreviations: dict[str, Terms] = field(default_factory=dict)
    domain: tuple[SignCondition, ...] = ()
    used_names: set[str] = field(default_factory=set)

    def declare(self, data: object) -> None:
        """Read an abbreviation, whose name must have had no meaning before.

        Raises:
            Refused: If it had one.
        """
        row = as_object(data, "an abbreviation", ("name", "terms"))
        name = as_name(row["name"])
        terms = self.terms(row["terms"])
        if name in {*self.box, *self.variables, *self.used_names, *self.abbreviations}:
            raise Refused(f"the abbreviation {name} is a name of something else as well")
        self.abbreviations[name] = terms

    def exponent(self, data: object) -> Exponent:
        """Read an exponent."""
        return read_exponent(data, self.box)

    def product(self, data: object, *, variables: bool = False) -> Product:
        """Read a product of powers; of variables as well only where they may stand."""
        factors: list[Product] = []
        for base, text in as_dict(data, "a product").items():
            e = self.exponent(text)
            if base.isascii() and base.isdigit():
                if len(base) > 60 or base[0] == "0" or base == "1":
                    raise Refused(f"{shown(base)} is no whole number above 1 of up to 60 digits")
                factors.append({p: e * Fraction(k) for p, k in factored(int(base)).items() if e})
                continue
            name = as_name(base)
            if name in self.variables and not variables:
                raise Refused(f"the variable {name} stands where parameters are due")
            if name in self.box:
                low = self.box[name][0]
                if low is None or low < 0:
                    raise Refused(f"{name} may be negative, so it is no base of powers")
            if name not in self.box and name not in self.variables:
                self.used_names.add(name)
            factors.append({name: e} if e else {})
        return {base: bounded(e) for base, e in times(*factors).items()}

    def terms(self, data: object) -> Terms:
        """Read a sum of products of parameters."""
        found = []
        for row in as_list(data, "a sum", MOST):
            term = as_object(row, "a term", (), ("coefficient", "product"))
            c = self.exponent(term.get("coefficient", "1"))
            found.append((c, self.product(term.get("product", {}))))
        return [(c, p) for c, p in found if c]

    def inside(self, *products: Product) -> set[str]:
        """The names in products, and in the sums that abbreviations among them stand for."""
        todo, found = list(products), set[str]()
        while todo:
            spend(1 + len(todo[-1]))
            for name in {b for b in todo.pop() if isinstance(b, str)} - found:
                found.add(name)
                todo += (p for _, p in self.abbreviations.get(name, ()))
        return found

    def used(self, *products: Product) -> set[str]:
        """The abbreviations in products."""
        spend(len(products) // 8)
        return {b for p in products for b in p if isinstance(b, str) and b in self.abbreviations}

    def condition(self, data: object) -> SignCondition:
        """Read a condition."""
        row = as_object(data, "a condition", ("name", "relation", "terms"))
        if row["relation"] not in (">=", ">", "=="):
            raise Refused(f"a relation is >=, > or ==, not {shown(row['relation'])}")
        return SignCondition(as_line(row["name"]), row["relation"], self.terms(row["terms"]))


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
