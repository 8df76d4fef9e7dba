"""Checks of derivations: exact where SymPy can, at random points of the region always."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from symscale.algebra.certify.theorems import Theorems, of_limit
from symscale.algebra.exact.domain import IndeterminateSignError
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.rewrites.convexity import check_minimum, derivative_at
from symscale.algebra.rewrites.rewrite import Rewrite, relate
from symscale.algebra.rewrites.sampling import DIGITS, TOLERANCE, holds, sample, shown, value_of
from symscale.answers import Answer
from symscale.derivation.regions import not_attained
from symscale.derivation.steps import (
    Derivation,
    Step,
    logic_of_product,
    logic_of_replacement,
    ratio_of,
    relation_of,
)
from symscale.errors import CheckFailedError, FormulaError
from symscale.language.symbols import NOTATION

POINTS = 12


@dataclass(frozen=True)
class StepCheck:
    """How a step was checked.

    Attributes:
        key: The step.
        exact: Whether it was shown exactly; None where it is given, not derived.
        points: At how many random points of its region it was verified.
        kernel: Whether the kernel shows it.
    """

    key: str
    exact: bool | None
    points: int
    kernel: bool = False


@dataclass(frozen=True, repr=False)
class CheckedDerivation(Answer):
    """A derivation and what the checks of its steps found.

    Attributes:
        derivation: The derivation.
        checks: One check for each step; none where that was not asked for.
    """

    page = "derive"
    derivation: Derivation
    checks: tuple[StepCheck, ...]

    @cached_property
    def theorems(self) -> Theorems | None:
        """What the kernel shows of the limit that it ends in, where there is one."""
        limit = self.derivation.limit
        return None if limit is None else of_limit(limit, self.derivation.title)


@lru_cache
def checked(derivation: Derivation) -> CheckedDerivation:
    """Check a derivation.

    Raises:
        CheckFailedError: If a step does not hold.
    """
    return CheckedDerivation(derivation, tuple(check_derivation(derivation)))


def check_derivation(derivation: Derivation, seed: int = 0) -> tuple[StepCheck, ...]:
    """Check every step of a derivation.

    Args:
        derivation: The derivation.
        seed: Seed of the random points.

    Raises:
        CheckFailedError: If a step does not hold; the text names it and a counterexample.
    """
    rng = random.Random(seed)  # noqa: S311  # sampling, not secrets
    checks: list[StepCheck] = []
    earlier: set[str] = set()
    for step in derivation.steps:
        label = f"{derivation.name}, step {step.key!r}"
        if step.key in earlier:
            raise CheckFailedError(f"{label}: an earlier step has this label")
        for key in step.premises:
            if key not in earlier:
                raise CheckFailedError(f"{label}: no earlier step is labelled {key!r}")
        if step.region != derivation.region_of(step):
            raise CheckFailedError(f"{label}: it does not say where it holds")
        checks.append(_check_step(label, derivation, step, rng))
        earlier.add(step.key)
    proofs = [s.proof for s in derivation.steps if s.proof is not None]
    for name in not_attained(derivation.limit, proofs):
        raise CheckFailedError(f"{derivation.name}: {name!r} is not attained where it rules")
    return tuple(checks)


def _check_step(
    label: str, derivation: Derivation, step: Step, rng: random.Random
) -> StepCheck:
    if step.is_given:
        return StepCheck(step.key, None, 0)
    if step.kind == "optimum":
        _check_optimum(label, derivation, step)
        return StepCheck(step.key, True, 0, kernel=True)
    if step.kind in ("product", "meeting"):
        power = _check_product(label, derivation, step)
        return StepCheck(step.key, True, _product_points(label, derivation, step, power, rng))
    if step.rewrite is None:
        raise CheckFailedError(f"{label}: it has no rewrite")
    exact = _exact_rewrite(label, step.rewrite)
    if step.kind == "choice":
        _check_choice(label, derivation, step)
        return StepCheck(step.key, exact, _choice_points(label, step, rng))
    points = _rewrite_points(label, step.rewrite, rng)
    _check_facts(label, derivation, step)
    if step.kind == "replacement":
        _check_replacement(label, derivation.step(next(iter(step.premises))), step)
    else:
        _check_says(label, step, step.rewrite.statement)
    return StepCheck(step.key, exact, points)


def _check_says(label: str, step: Step, proven: sp.Basic) -> None:
    if step.statement != proven:
        raise CheckFailedError(f"{label}: it says {step.statement}, proven is {proven}")


def _check_optimum(label: str, derivation: Derivation, step: Step) -> None:
    """The proof must hold, say what the step says, and rest on what was given."""
    if step.proof is None:
        raise CheckFailedError(f"{label}: it has no proof")
    step.proof.check()
    program, bound = step.proof.program, step.proof.bound
    _check_says(label, step, relate(program.objective.expr, "==", bound.expr))
    given = {s.statement for s in derivation.steps if s.is_given}
    for constraint in program.constraints:
        if constraint.relational not in given:
            raise CheckFailedError(f"{label}: constraint {constraint.name!r} was not given")


def _check_choice(label: str, derivation: Derivation, step: Step) -> None:
    """A choice must be among those that make both sides of its premise equal."""
    key = next(iter(step.premises), "")
    rewrite = derivation.step(key).rewrite if len(step.premises) == 1 else None
    if rewrite is None or rewrite.minimum is None or rewrite != step.rewrite:
        raise CheckFailedError(f"{label}: its premise is no minimum")
    if step.statement not in rewrite.equality:
        raise CheckFailedError(f"{label}: it chooses another point than {key!r}")
    if step.logic != "follows":
        raise CheckFailedError(f"{label}: it claims that it {step.logic}")


def _choice_points(label: str, step: Step, rng: random.Random) -> int:
    """At random parameters the derivative must vanish at the point, and the second be positive."""
    rewrite = step.rewrite
    assert rewrite is not None  # noqa: S101  # the caller chose by it
    assert rewrite.minimum is not None  # noqa: S101  # checked before
    chosen, x = rewrite.minimum.point, step.statement.lhs
    assert isinstance(x, sp.Symbol)  # noqa: S101  # it is among the point's variables
    symbols = rewrite.before.free_symbols.union(*(p.free_symbols for p in chosen.values()))
    for _ in range(POINTS):
        point = sample(symbols - set(chosen), rewrite.conditions, rng, label)
        at = point | {s: value_of(p, point) for s, p in chosen.items()}
        slope, size = derivative_at(rewrite.before, x, 1, at, DIGITS)
        bend, _ = derivative_at(rewrite.before, x, 2, at, DIGITS)
        if abs(slope) > TOLERANCE * size or not bend > 0:
            raise CheckFailedError(f"{label}: it is not least at {shown(point)}")
    return POINTS


def _check_facts(label: str, derivation: Derivation, step: Step) -> None:
    """Every equality that a rewrite uses must be a premise."""
    assert step.rewrite is not None  # noqa: S101  # the caller chose by it
    steps = [derivation.step(key) for key in step.premises]
    equalities = [p.statement for p in steps if p.relation == "=="]
    for s, expr in step.rewrite.facts.items():
        stated = any(p.statement == relate(s, "==", expr) for p in steps)
        if not stated and not _is_among(s, expr, equalities):
            raise CheckFailedError(f"{label}: {s} = {expr} is no premise of it")


def _is_among(s: sp.Symbol, expr: sp.Expr, equalities: Sequence[Relational]) -> bool:
    """Whether `s = expr` is one of the equalities between monomials, solved for s."""
    try:
        ratio = Monomial.of(s) / Monomial.of(expr)
        known = [ratio_of(e) for e in equalities]
    except FormulaError:
        return False
    return any(ratio in (k, k**-1) for k in known)


def _check_product(label: str, derivation: Derivation, step: Step) -> sp.Expr:
    """The premises' ratios, raised to their powers, must multiply to a power of the statement's.

    Returns:
        That power.
    """
    try:
        logic = logic_of_product([derivation.step(k) for k in step.premises])
    except FormulaError as error:
        raise CheckFailedError(f"{label}: {error}") from None
    if step.logic != logic:
        raise CheckFailedError(f"{label}: it claims that it {step.logic}")
    chosen = next((key for key in step.premises if _is_chosen(derivation, key)), None)
    product = ONE
    for key, weight in step.premises.items():
        if chosen is not None and derivation.step(key).relation != "==":
            raise CheckFailedError(f"{label}: {chosen!r} is a choice, and {key!r} holds for all")
        _check_factor(label, derivation, step, key)
        product = product * ratio_of(derivation.step(key).statement) ** weight
    power = _power_of_claim(label, product, step.statement)
    if step.relation != "==" and not _positive(label, power, derivation):
        raise CheckFailedError(f"{label}: the relation points the wrong way")
    return power


def _check_factor(label: str, derivation: Derivation, step: Step, key: str) -> None:
    """A premise may be multiplied into a product with its power."""
    premise, weight = derivation.step(key), step.premises[key]
    if (premise.kind == "optimum") != (step.kind == "meeting"):
        raise CheckFailedError(f"{label}: {key!r} holds under conditions of its own")
    if premise.relation == "==":
        return
    if not _positive(label, weight, derivation):
        raise CheckFailedError(f"{label}: the inequality {key!r} is raised to {weight}")
    if step.relation == "==":
        raise CheckFailedError(f"{label}: the inequality {key!r} proves no equality")


def _power_of_claim(label: str, product: Monomial, claim: Relational) -> sp.Expr:
    """The power of a statement's ratio that a product is."""
    claimed = ratio_of(claim)
    atom = claim.lhs if claim.lhs in claimed.atoms else next(iter(claimed.atoms), None)
    if atom is None:
        raise CheckFailedError(f"{label}: it says nothing about any symbol")
    power = product.exponent(atom) / claimed.exponent(atom)
    if power == 0 or not (product / claimed**power).is_one:
        raise CheckFailedError(f"{label}: the premises multiply to {product.expr} <= 1")
    return power


def _is_chosen(derivation: Derivation, key: str) -> bool:
    """Whether a step holds for a choice of variables only: it is one, or uses one."""
    step = derivation.step(key)
    if step.kind == "choice":
        return True
    return not step.is_given and any(_is_chosen(derivation, k) for k in step.premises)


def _positive(label: str, power: sp.Expr, derivation: Derivation) -> bool:
    """Whether a power is positive over the whole domain of exponents."""
    try:
        return derivation.domain.sign(power) > 0
    except IndeterminateSignError as error:
        raise CheckFailedError(f"{label}: {error}") from None


def _check_replacement(label: str, premise: Step, step: Step) -> None:
    rewrite, old = step.rewrite, premise.statement
    assert rewrite is not None  # noqa: S101  # a replacement has one by construction
    scale = sp.cancel(old.lhs / rewrite.before)
    same_side = sp.simplify(step.statement.lhs - scale * rewrite.after) == 0
    if not same_side or step.statement.rhs != old.rhs:
        raise CheckFailedError(f"{label}: it replaces something else than the rewrite's side")
    if not scale.is_positive:
        raise CheckFailedError(f"{label}: the factor {scale} is not known to be positive")
    if step.relation != relation_of(old):
        raise CheckFailedError(f"{label}: it turns the relation")
    try:
        logic = logic_of_replacement(premise, rewrite)
    except FormulaError as error:
        raise CheckFailedError(f"{label}: {error}") from None
    if step.logic != logic:
        raise CheckFailedError(f"{label}: it claims that it {step.logic}")


def _exact_rewrite(label: str, rewrite: Rewrite) -> bool:
    """Whether SymPy shows the rewrite exactly; False leaves it to the random points."""
    if rewrite.minimum is not None:
        try:
            check_minimum(rewrite)
        except CheckFailedError as error:
            raise error.with_context(label) from None
        return True
    before = rewrite.before.subs(list(rewrite.facts.items()), simultaneous=True)
    after = rewrite.after.subs(list(rewrite.facts.items()), simultaneous=True)
    if rewrite.relation == "==":
        return bool(sp.simplify(before - after) == 0)
    gap = sp.expand(after - before if rewrite.relation == "<=" else before - after)
    if gap.is_nonnegative:
        return True
    terms = sp.Add.make_args(sp.expand(before))
    if rewrite.relation == ">=" and len(terms) == 2:
        square = (sp.sqrt(terms[0]) - sp.sqrt(terms[1])) ** 2
        return bool(sp.simplify(sp.expand(square) - gap) == 0)
    return False


def _rewrite_points(label: str, rewrite: Rewrite, rng: random.Random) -> int:
    symbols = rewrite.before.free_symbols | rewrite.after.free_symbols
    symbols |= set().union(*(f.free_symbols for f in rewrite.facts.values()))
    symbols -= set(rewrite.facts)
    points = [sample(symbols, rewrite.conditions, rng, label) for _ in range(POINTS)]
    if rewrite.factor is not None:  # it is greatest where the degrees are least
        points[0] = points[0] | _least(symbols, rewrite.conditions)
    if rewrite.equality:
        _check_equality(label, rewrite, points[-1])
    for point in points:
        facts = {s: value_of(e, point) for s, e in rewrite.facts.items()}
        before = value_of(rewrite.before, {**point, **facts})
        after = value_of(rewrite.after, {**point, **facts})
        if not holds(before, rewrite.relation, after):
            raise CheckFailedError(
                f"{label}: {rewrite.statement} fails at {shown(point)}: {before} and {after}"
            )
        if rewrite.factor is not None:
            low, high = sorted((before, after))
            if not holds(high, "<=", rewrite.factor * low):
                raise CheckFailedError(
                    f"{label}: the two sides differ by more than {rewrite.factor} "
                    f"at {shown(point)}"
                )
    return POINTS


def _least(
    symbols: Iterable[sp.Basic], conditions: tuple[sp.Basic, ...]
) -> dict[Any, sp.Expr]:
    """The least values of degrees and sizes under conditions `symbol >= number`."""
    found: dict[Any, Any] = {}
    for s in symbols:
        entry = NOTATION.get(str(s))
        if entry is not None and entry.lower is not None:
            found[s] = sp.Integer(entry.lower)
    for c in conditions:
        if isinstance(c, sp.Ge) and c.lhs in symbols and c.rhs.is_Rational:
            found[c.lhs] = max(c.rhs, found.get(c.lhs, c.rhs))
    return found


def _check_equality(label: str, rewrite: Rewrite, point: dict[sp.Symbol, sp.Expr]) -> None:
    """Where the relations of equality hold, both sides must be equal: at one random point."""
    at: dict[Any, sp.Expr] = dict(point)
    if rewrite.minimum is not None:
        at |= {x: value_of(p, point) for x, p in rewrite.minimum.point.items()}
    for relation in rewrite.equality if rewrite.minimum is None else ():
        assert isinstance(relation, Relational)  # noqa: S101  # made by the rewrites
        ratio = ratio_of(relation).substitute(rewrite.facts)
        x = next((a for a in ratio.atoms if a in at), None)
        if x is None:
            raise CheckFailedError(f"{label}: {relation} fixes nothing")
        rest = ratio / Monomial.of(x) ** ratio.exponent(x)
        at[x] = value_of((rest ** (-1 / ratio.exponent(x))).expr, at)
    facts = {s: value_of(e, at) for s, e in rewrite.facts.items()}
    before = value_of(rewrite.before, {**at, **facts})
    after = value_of(rewrite.after, {**at, **facts})
    if not holds(before, "==", after):
        raise CheckFailedError(f"{label}: the two sides differ where {rewrite.equality}")


def _product_points(
    label: str, derivation: Derivation, step: Step, power: sp.Expr, rng: random.Random
) -> int:
    """At random points the premises' ratios must multiply to that power of the statement's."""
    premises = {k: derivation.step(k).statement for k in step.premises}
    symbols = set(step.statement.free_symbols).union(*(p.free_symbols for p in premises.values()))
    for _ in range(POINTS):
        point = sample(symbols, (), rng, label)
        product = sp.Integer(1)
        for key, weight in step.premises.items():
            product *= _ratio_value(premises[key], point) ** value_of(weight, point)
        claimed = _ratio_value(step.statement, point) ** value_of(power, point)
        if not holds(product, "==", claimed):
            raise CheckFailedError(f"{label}: fails at {shown(point)}")
    return POINTS


def _ratio_value(statement: Relational, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    left, right = value_of(statement.lhs, point), value_of(statement.rhs, point)
    return right / left if relation_of(statement) == ">=" else left / right
