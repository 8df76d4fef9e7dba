"""Certificates of format 3, written: engine objects as the data that the kernel reads.

A writer is not trusted: what it writes wrongly, the kernel refuses. Sums that stand as
factors, such as p - 1, become abbreviations, signed so that they are positive at the witness
of the theorem that uses them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp

from symscale.algebra.certify.positive import positivity
from symscale.algebra.certify.spelling import (
    Data,
    Multiplier,
    Numbers,
    Spelling,
    monomials_of,
)
from symscale.algebra.certify.statements import (
    Cut,
    Hypothesis,
    Powers,
    Proof,
    Reason,
    Scale,
    Share,
    Shares,
    Tangent,
    Tree,
    at_most_one,
)
from symscale.algebra.certify.texts import line, unique_lines
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.program import Program
from symscale.algebra.sums.program import GeometricProgram
from symscale.errors import FormulaError

FORMAT = "symscale-certificate"
VERSION = 3

AnyProgram = Program | GeometricProgram
Values = Mapping[sp.Symbol, sp.Rational]


class CertificateWriter(Spelling):
    """Theorems about one program, collected and written as the data of one file.

    Args:
        program: What the theorems are about.

    Example:
        >>> from symscale.algebra.products.program import Program, at_most
        >>> from symscale.language.symbols import symbols
        >>> N, b = symbols("N b")
        >>> writer = CertificateWriter(Program(
        ...     "demo", "", "maximize", Monomial.of(N), (N,), (at_most("cap", N, b, ""),)))
        >>> writer.bound("at most b", Monomial.of(b), {"cap": sp.Integer(1)}, (), {b: 1})
        >>> writer.data("demo")["theorems"][0]["multipliers"]
        {'cap': {'value': [{}]}}
    """

    def __init__(self, program: AnyProgram) -> None:
        """Start with no theorems."""
        self.program = program
        domain, parameters = program.domain, set(program.parameters)
        self._domain = [
            at_most_one(m**-1) for m in domain.at_least_one
            if m.free_symbols <= parameters and not m.free_symbols <= set(domain.exponents)
        ]
        self._exponents = {s: i for s, i in domain.exponents.items() if s in parameters}
        self._problem: Data | None = None
        self._theorems: list[Data] = []
        taken = {str(s) for s in [*parameters, *self._exponents, *program.variables]}
        super().__init__(taken, unique_lines([c.name for c in program.constraints]))

    def bound(
        self, name: str, value: Monomial, multipliers: Mapping[str, Multiplier],
        region: Sequence[Hypothesis], witness: Values, *,
        weights: Mapping[str, Sequence[Monomial | None]] | None = None,
        at: Mapping[sp.Symbol, Monomial] | None = None,
    ) -> None:
        """No feasible point does better than a value: the constraints' product says so.

        Args:
            name: Of the theorem.
            value: The value.
            multipliers: The power of each constraint, an exponent or a sum with its proof.
            region: Where it holds.
            witness: Parameters strictly within.
            weights: The shares of each sum's terms ("objective" for those); None: left out.
            at: The formal point at which the weights are the shares.
        """
        self._begin(region, witness, [value, *_monomials(weights, at)])
        self._end("bound", name, region, witness, self._certified(value, multipliers, weights, at))

    def attained(
        self, name: str, value: Monomial, point: Mapping[sp.Symbol, Monomial],
        slacks: Mapping[str, Reason], region: Sequence[Hypothesis], witness: Values,
    ) -> None:
        """A point is feasible in all of the region, and has this value."""
        self._begin(region, witness, [value, *point.values()])
        data = {"value": self.product(value), **self._at_point(point, slacks)}
        self._end("attained", name, region, witness, data)

    def feasible(
        self, name: str, value: Monomial, point: Mapping[sp.Symbol, Monomial],
        slacks: Mapping[str, Reason], gap: Proof, region: Sequence[Hypothesis], witness: Values,
    ) -> None:
        """A point is feasible in all of the region, and no worse than this value."""
        self._begin(region, witness, [value, *point.values()])
        data = {
            "value": self.product(value), **self._at_point(point, slacks),
            "gap": self._proof(gap),
        }
        self._end("feasible", name, region, witness, data)

    def infimum(
        self, name: str, value: Monomial, multipliers: Mapping[str, Multiplier],
        direction: Mapping[sp.Symbol, sp.Expr], point: Mapping[sp.Symbol, Monomial],
        slacks: Mapping[str, Reason], region: Sequence[Hypothesis], witness: Values, *,
        weights: Mapping[str, Sequence[Monomial | None]] | None = None,
        at: Mapping[sp.Symbol, Monomial] | None = None,
        shrink: Mapping[sp.Symbol, sp.Expr] | None = None,
    ) -> None:
        """A value that is approached along a direction, and that nothing attains."""
        self._begin(region, witness, [value, *point.values(), *_monomials(weights, at)])
        data = self._certified(value, multipliers, weights, at)
        data["direction"] = self._exponents_of(direction)
        if shrink:
            data["shrink"] = self._exponents_of(shrink)
        data |= self._at_point(point, slacks)
        self._end("infimum", name, region, witness, data)

    def infeasible(
        self, name: str, multipliers: Mapping[str, Multiplier], excess: Powers,
        region: Sequence[Hypothesis], witness: Values, *,
        weights: Mapping[str, Sequence[Monomial | None]] | None = None,
    ) -> None:
        """Nothing satisfies the constraints: their product exceeds 1."""
        self._begin(region, witness, _monomials(weights, None))
        data = self._certified(None, multipliers, weights, None)
        self._end(
            "infeasible", name, region, witness, {**data, "excess": self._powers(excess)}
        )

    def unbounded(
        self, name: str, direction: Mapping[sp.Symbol, sp.Expr],
        point: Mapping[sp.Symbol, Monomial], slacks: Mapping[str, Reason],
        region: Sequence[Hypothesis], witness: Values,
    ) -> None:
        """The objective improves for ever from a feasible point along a direction."""
        self._begin(region, witness, point.values())
        data = {"direction": self._exponents_of(direction), **self._at_point(point, slacks)}
        self._end("unbounded", name, region, witness, data)

    def tangent(
        self, name: str, value: Monomial, shares: Shares, point: Numbers,
        within: sp.Rational, region: Sequence[Hypothesis], witness: Values,
    ) -> None:
        """No point is better than a value anywhere, and at the witness one comes near it.

        Args:
            name: Of the theorem.
            value: The value, whose constant is rounded to the safe side.
            shares: Of the objective's terms ("objective") and of those of constraints.
            point: Feasible at the witness; products where only these satisfy an equality.
            within: By which share its objective may be off the value there.
            region: What the abbreviations of coefficients need.
            witness: The numbers.
        """
        self._begin(region, witness, [value, *_products(point)])
        self._end("tangent", name, region, witness, {
            **self._tangent(value, shares), "point": self._numbers(point), "within": str(within),
        })

    def box(
        self, name: str, scales: Sequence[Scale], gauge: Mapping[sp.Symbol, Monomial],
        tangents: Mapping[str, Tangent], corners: Mapping[tuple[sp.Rational, ...], Numbers],
        tree: Cut | str, within: sp.Rational, region: Sequence[Hypothesis], witness: Values,
    ) -> None:
        """Within a box the greatest of tangents is near the optimum.

        Args:
            name: Of the theorem.
            scales: The products of parameters that the box bounds.
            gauge: By which product of parameters each variable is measured.
            tangents: The tangents, by name.
            corners: A point over the gauge for each corner of each rectangle.
            tree: The cuts, and which tangent rules in each rectangle.
            within: By which share the optimum may be off the greatest tangent.
            region: What the abbreviations of coefficients need.
            witness: Parameters strictly within the box.
        """
        used = [s.product for s in scales] + [t.value for t in tangents.values()]
        used += [*gauge.values(), *(m for point in corners.values() for m in _products(point))]
        self._begin(region, witness, used)
        self._end("box", name, region, witness, {
            "numbers": [
                {
                    "name": line(s.name), "product": self.product(s.product),
                    "from": str(s.low), "to": str(s.high),
                }
                for s in scales
            ],
            "gauge": self._point(gauge),
            "tangents": [
                {"name": line(n), **self._tangent(t.value, t.shares)} for n, t in tangents.items()
            ],
            "corners": [
                {"at": [str(u) for u in at], "point": self._numbers(point)}
                for at, point in corners.items()
            ],
            "tree": self._cuts(tree), "within": str(within),
        })  # fmt: skip

    def curve(
        self, name: str, share: Share, given: tuple[sp.Symbol, Monomial], value: Monomial,
        multipliers: Mapping[str, Multiplier], point: Mapping[sp.Symbol, Monomial],
        slacks: Mapping[str, Reason], region: Sequence[Hypothesis], witness: Values, *,
        weights: Mapping[str, Sequence[Monomial | None]] | None = None,
    ) -> None:
        """The optimum as a function of a share, where one parameter is what the share says.

        Args:
            name: Of the theorem.
            share: The share.
            given: The parameter, and the product of the share and the others that it is.
            value: The value there.
            multipliers: The power of each constraint; `Share.positive` proves their signs.
            point: The point there, at which the weights are the shares of the terms.
            slacks: Why the other constraints hold there.
            region: Where else it holds.
            witness: A share and parameters strictly within, all but the replaced one.
            weights: The shares of each sum's terms ("objective" for those); None: left out.
        """
        parameter, product = given
        used = [product, value, *point.values(), *_monomials(weights, None)]
        self._begin(region, witness, used)
        self._end("curve", name, region, witness, {
            "share": {
                "name": self.name(share.symbol), "from": str(share.low), "to": str(share.high)
            },
            "given": {self.name(parameter): self.product(product)},
            **self._certified(value, multipliers, weights, None), **self._at_point(point, slacks),
        }, share, parameter)  # fmt: skip

    def cover(self, name: str, tree: Tree, region: Sequence[Hypothesis], witness: Values) -> None:
        """The theorems in a tree's leaves settle every case."""
        self._begin(region, witness, monomials_of(tree))
        self._end("cover", name, region, witness, {"tree": self._tree(tree)})

    def data(self, title: str) -> Data:
        """The file's data, with all theorems written so far."""
        found: Data = {"format": FORMAT, "version": VERSION, "title": line(title)}
        found["exponents"] = {
            self.name(s): [None if e is None else str(e) for e in (i.lower, i.upper)]
            for s, i in self._exponents.items()
        }
        found["domain"] = [self._condition(g) for g in self._domain]
        found["abbreviations"] = [
            {"name": name, "terms": self.terms(oriented.terms, dict(oriented.inner))}
            for oriented, name in self._abbreviations.items()
        ]
        if self._problem is not None:
            found["problem"] = self._problem
        found["theorems"] = self._theorems
        return found

    def _begin(
        self, region: Iterable[Hypothesis], witness: Values, used: Iterable[Monomial]
    ) -> None:
        """Fix which sums are abbreviated in a theorem, and with which sign."""
        monomials = [*self._of_program(), *used, *(m for g in region for _, m in g.terms)]
        self._orient_all(monomials, witness)
        problem = self._problem_data(self.program)
        if self._problem not in (None, problem):
            raise FormulaError("a coefficient has not the same sign in all theorems")
        self._problem = problem

    def _of_program(self) -> list[Monomial]:
        found = [*_objective(self.program), *(m for g in self._domain for _, m in g.terms)]
        return found + [m for c in self.program.constraints for m in _terms_of(c)]

    def _region(
        self, name: str, region: Sequence[Hypothesis], share: Share | None
    ) -> list[Data]:
        """The conditions, each after the proofs that the sums in it are positive."""
        rows: list[Data] = []
        done: set[Any] = set()
        added = self._added[name] = []

        def give(given: Hypothesis) -> None:
            if given.name not in done:
                done.add(given.name)
                require(m for _, m in given.terms)
                rows.append(self._condition(given))

        def require(monomials: Iterable[Monomial]) -> None:
            for atom in dict.fromkeys(a for m in monomials for a in m.atoms if not a.is_Symbol):
                oriented = self._signs[atom]
                if oriented in done:
                    continue
                done.add(oriented)
                require(m for _, m in oriented.terms)
                if share is not None and share.symbol in oriented.expr.free_symbols:
                    proof, source = share.positive(oriented.terms), None
                else:
                    proof, source = positivity(oriented, region, self._domain)
                if source is not None:
                    if source not in region:
                        added.append(source)
                    give(source)
                rows.append(
                    {"positive": self._abbreviations[oriented], "proof": self._proof(proof)}
                )

        for given in region:
            give(given)
        require(Monomial.from_powers({a: sp.Integer(1)}) for a in self._signs)
        return rows

    def _end(
        self, kind: str, name: str, region: Sequence[Hypothesis], witness: Values, data: Data,
        share: Share | None = None, replaced: sp.Symbol | None = None,
    ) -> None:
        rows = self._region(name, region, share)
        needed: set[Any] = {*self._exponents, *self.program.parameters} - {replaced}
        needed |= set() if share is None else {share.symbol}
        for g in (*region, *self._domain):
            needed |= {s for c, m in g.terms for s in (*c.free_symbols, *m.free_symbols)}
        missing = sorted(str(s) for s in needed if s not in witness)
        if missing:
            raise FormulaError(f"the witness has no value for {', '.join(missing)}")
        self._theorems.append({
            "theorem": kind, "name": line(name), "region": rows,
            "witness": {self.name(s): str(witness[s]) for s in sorted(needed, key=str)}, **data,
        })

    def _problem_data(self, program: AnyProgram) -> Data:
        inverse = isinstance(program, GeometricProgram) and program.inverse
        sense = program.sense if isinstance(program, Program) else "minimize"
        return {
            "sense": "maximize-inverse" if inverse else sense,
            "variables": [self.name(x) for x in program.variables],
            "objective": [self.product(m) for m in _objective(program)],
            "constraints": [
                {
                    "name": self._constraints[c.name], "relation": c.relation,
                    "terms": [self.product(m) for m in _terms_of(c)],
                }
                for c in program.constraints
            ],
        }


def _objective(program: AnyProgram) -> tuple[Monomial, ...]:
    return (program.objective,) if isinstance(program, Program) else program.objective


def _terms_of(constraint: Any) -> tuple[Monomial, ...]:
    ratio = getattr(constraint, "ratio", None)
    return constraint.terms if ratio is None else (ratio,)


def _monomials(
    weights: Mapping[str, Sequence[Monomial | None]] | None,
    at: Mapping[sp.Symbol, Monomial] | None,
) -> list[Monomial]:
    found = [w for ws in (weights or {}).values() for w in ws if w is not None]
    return found + list((at or {}).values())


def _products(point: Numbers) -> list[Monomial]:
    return [v for v in point.values() if isinstance(v, Monomial)]
