"""What was shown, in sentences made from it alone: nothing in them is copied from prose.

Names that a file chose freely stand in quotes.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from symscale.kernel.limits import spend
from symscale.kernel.polynomials import Exponent, Polynomial, RationalFunction
from symscale.kernel.problem import Declarations, SignCondition, StatedProblem, UnitConstraint
from symscale.kernel.region import ProofRegion
from symscale.kernel.terms import ONE, Product, Terms, numbers_in
from symscale.kernel.theorems import Proved

MOST_BITS = 128
"""Up to this size numbers are multiplied out."""


def quoted(name: str) -> str:
    """A name that a file chose, in quotes that it cannot close."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def exponent(value: Exponent) -> str:
    """An exponent."""
    if not isinstance(value, RationalFunction):
        return str(value)
    above, below = _polynomial(value.above), _polynomial(value.below)
    if value.below == {(): 1}:
        return above
    return f"{above if above.isalnum() else f'({above})'}/({below})"


def _polynomial(p: Polynomial) -> str:
    parts = []
    for powers, c in sorted(p.items(), key=lambda item: (len(item[0]), item[0])):
        factors = [s if e == 1 else f"{s}^{e}" for s, e in powers]
        if abs(c) != 1 or not factors:
            factors.insert(0, str(abs(c)))
        parts.append(("-" if c < 0 else "+", "*".join(factors)))
    return _signed(parts)


def _signed(parts: Sequence[tuple[str, str]]) -> str:
    if not parts:
        return "0"
    first = ("-" if parts[0][0] == "-" else "") + parts[0][1]
    return first + "".join(f" {s} {text}" for s, text in parts[1:])


def product(p: Product) -> str:
    """A product of powers, with its divisors behind a stroke, and small numbers multiplied out."""
    spend(len(p))
    whole = {b: int(e) for b, e in numbers_in(p).items() if e.denominator == 1}
    if sum(b.bit_length() * abs(e) for b, e in whole.items()) > MOST_BITS:
        whole = {}
    above = math.prod(b**e for b, e in whole.items() if e > 0)
    below = math.prod(b**-e for b, e in whole.items() if e < 0)
    sides = [[str(n)] if n != 1 else [] for n in (above, below)]
    rest = ((str(b), e) for b, e in p.items() if b not in whole)
    for base, e in sorted(rest, key=lambda item: (not item[0].isdigit(), item[0])):
        falls = isinstance(e, Fraction) and e < 0
        shown = exponent(-e if falls else e)
        text = base if shown == "1" else f"{base}^{shown if shown.isalnum() else f'({shown})'}"
        sides[falls].append(text)
    left, right = "*".join(sides[0]) or "1", "*".join(sides[1])
    if not right:
        return left
    return f"{left}/{right}" if len(sides[1]) == 1 else f"{left}/({right})"


def terms(found: Terms) -> str:
    """A sum."""
    spend(len(found))
    parts = []
    for c, p in found:
        sign = "+"
        if isinstance(c, Fraction):
            sign, c = ("-" if c < 0 else "+"), abs(c)
        factor = exponent(c)
        if p == ONE:
            text = factor
        elif c == 1:
            text = product(p)
        else:
            text = f"{factor if factor.isalnum() else f'({factor})'}*{product(p)}"
        parts.append((sign, text))
    return _signed(parts)


def condition(c: SignCondition) -> str:
    """A condition."""
    above = [(k, p) for k, p in c.terms if not (isinstance(k, Fraction) and k < 0)]
    below = [(-k, p) for k, p in c.terms if isinstance(k, Fraction) and k < 0]
    return f"{terms(above)} {c.relation} {terms(below)}"


def _constraint(c: UnitConstraint) -> str:
    total: Terms = [(Fraction(1), p) for p in c.terms]
    return f"{terms(total)} {c.relation} 1 [{quoted(c.name)}]"


def objective(problem: StatedProblem) -> str:
    """What is minimized or maximized."""
    total = terms([(Fraction(1), p) for p in problem.objective])
    return f"1/({total})" if problem.sense == "maximize-inverse" else total


def problem_sentence(problem: StatedProblem, scope: Declarations) -> str:
    """The problem that the theorems of a file are about."""
    verb = "minimize" if problem.sense == "minimize" else "maximize"
    subject = "; ".join(map(_constraint, problem.constraints.values())) or "nothing"
    text = f"{verb} {objective(problem)} over {', '.join(scope.variables)} > 0 subject to {subject}"
    return text + _where(scope, *problem.products())


def _where(scope: Declarations, *products: Product) -> str:
    """What the abbreviations in use stand for, the inner ones as well."""
    found = scope.inside(*products)
    parts = [f"{a} = {terms(scope.abbreviations[a])}" for a in scope.abbreviations if a in found]
    return f", where {', '.join(parts)}" if parts else ""


def _quantifiers(region: ProofRegion, share: Mapping[str, str] | None) -> str:
    """For which parameters: all positive ones, with the exponents' intervals and conditions."""
    parts = ["for all positive parameters"]
    limits = [] if share is None else [f"{share['from']} < {share['name']} < {share['to']}"]
    for s, (low, high) in region.scope.box.items():
        ends = ("" if low is None else f"{low} < ") + s + ("" if high is None else f" < {high}")
        limits.append(ends if low is not None or high is not None else f"{s} any real number")
    granted = () if share is None else ("from", "to")
    limits += [condition(c) for n, c in region.conditions.items() if n not in granted]
    return parts[0] + (f" with {', '.join(limits)}" if limits else "")


def _values(point: Mapping[str, Product]) -> str:
    return ", ".join(f"{x} = {product(p)}" for x, p in point.items()) or "no variable"


def _fresh(name: str, scope: Declarations) -> str:
    """A name that means nothing else in the file."""
    taken = {*scope.variables, *scope.box, *scope.abbreviations, *scope.used_names}
    while name in taken:
        name += "_"
    return name


def _direction(data: Mapping[str, Exponent], t: str) -> str:
    return ", ".join(f"{x} times {t}^({exponent(e)})" for x, e in data.items())


def sentence(shown: Proved, problem: StatedProblem | None) -> str:
    """What a theorem says, in full, with its region and quantifiers."""
    data, region = shown.data, shown.region
    head, body = _quantifiers(region, data.get("share")), _body(shown, problem)
    sums = [c.terms for c in region.conditions.values()]
    sums += [data.get("left", ()), data.get("right", ())]
    sums += [c.terms for c in data.get("reach", ())]
    products = [data.get("value", ONE), data.get("given", ONE), *data.get("point", {}).values()]
    products += [*data.get("tangents", ()), *(p for p, _, _ in data.get("ranges", ()))]
    products += [p for found in sums for _, p in found]
    return f"{head}: {body}{_where(region.scope, *products)}"


def _bound(shown: Proved, problem: StatedProblem) -> str:
    relation, value = ">=" if problem.sense == "minimize" else "<=", product(shown.data["value"])
    return f"every feasible point has {objective(problem)} {relation} {value}"


def _attained(shown: Proved, problem: StatedProblem) -> str:
    text = (
        f"the point {_values(shown.data['point'])} is feasible and has {objective(problem)} = "
        f"{product(shown.data['value'])}"
    )
    if shown.data["bound"]:
        text += f", which is the optimum by {quoted(shown.data['bound'])}"
    return text


def _feasible(shown: Proved, problem: StatedProblem) -> str:
    relation = "<=" if problem.sense == "minimize" else ">="
    return (
        f"the point {_values(shown.data['point'])} is feasible and has {objective(problem)} "
        f"{relation} {product(shown.data['value'])}"
    )


def _infimum(shown: Proved, problem: StatedProblem) -> str:
    relation = ">" if problem.sense == "minimize" else "<"
    t, s = (_fresh(name, shown.region.scope) for name in "ts")
    text = (
        f"every feasible point has {objective(problem)} {relation} "
        f"{product(shown.data['value'])}, and feasible points come as close to it as one "
        f"likes: from {_values(shown.data['point'])} with {t} -> oo and "
        f"{_direction(shown.data['direction'], t)}"
    )
    shrink = shown.data.get("shrink")
    return f"{text}, and {s} -> 1 from below with {_direction(shrink, s)}" if shrink else text


def _infeasible(shown: Proved, problem: StatedProblem) -> str:
    return "no point is feasible"


def _unbounded(shown: Proved, problem: StatedProblem) -> str:
    end = "close to 0" if problem.sense == "minimize" else "far towards infinity"
    t = _fresh("t", shown.region.scope)
    return (
        f"feasible points bring {objective(problem)} as {end} as one likes: from "
        f"{_values(shown.data['point'])} with {t} -> oo and "
        f"{_direction(shown.data['direction'], t)}"
    )


def _cover(shown: Proved) -> str:
    kinds = {t.name: "optimum" if t.data.get("bound") else t.kind for t in shown.data["theorems"]}
    names = ", ".join(f"{quoted(name)} ({kind})" for name, kind in kinds.items())
    return f"at least one of these theorems applies: {names}"


def _percent(share: Fraction) -> str:
    """A share in percent, as a decimal number where it is one."""
    found = 100 * share
    places = next((k for k in range(7) if 10**k % found.denominator == 0), None)
    if places is None:
        return f"{found} %"
    digits = f"{found.numerator * 10**places // found.denominator:0{places + 1}d}"
    whole, rest = digits[: len(digits) - places], digits[len(digits) - places :]
    return f"{whole}.{rest} %" if rest else f"{whole} %"


def _tangent(shown: Proved, problem: StatedProblem) -> str:
    numbers = ", ".join(f"{name} = {v}" for name, v in shown.data["witness"].items())
    sides = [f"its {objective(problem)}", "that bound"]
    if problem.sense != "minimize":
        sides.reverse()
    return (
        f"{_bound(shown, problem)}; {f'at {numbers} ' if numbers else ''}the point "
        f"{_values(shown.data['point'])} is feasible, and {sides[0]} is at most "
        f"{_percent(shown.data['within'])} above {sides[1]}"
    )


def _curve(shown: Proved, problem: StatedProblem) -> str:
    data = shown.data
    name, value = data["parameter"], product(data["value"])
    text = (
        f"with {name} = {product(data['given'])} the point {_values(data['point'])} is feasible "
        f"and has {objective(problem)} = {value}, which is the optimum"
    )
    if "reach" not in data:
        return text
    reach = ", ".join(condition(c) for c in data["reach"]) or f"{name} > 0"
    return f"{text}; for every {reach} there is such a number {data['share']['name']}"


def _box(shown: Proved, problem: StatedProblem) -> str:
    data, total = shown.data, objective(problem)
    relation, end = (">=", "greatest") if problem.sense == "minimize" else ("<=", "least")
    values = ", ".join(product(p) for p in data["tangents"])
    ranges = ", ".join(f"{low} <= {product(p)} <= {high}" for p, low, high in data["ranges"])
    sides = [f"its {total}", f"the {end} of these"]
    if problem.sense != "minimize":
        sides.reverse()
    return (
        f"every feasible point has {total} {relation} each of {values}; where {ranges}, a point is "
        f"feasible, and {sides[0]} is at most {_percent(data['within'])} above {sides[1]}"
    )


def _compared(shown: Proved) -> str:
    relation = shown.data.get("relation", "=")
    return f"{terms(shown.data['left'])} {relation} {terms(shown.data['right'])}"


_OF_A_PROBLEM = {
    "bound": _bound, "attained": _attained, "feasible": _feasible, "infimum": _infimum,
    "infeasible": _infeasible, "unbounded": _unbounded, "tangent": _tangent,
    "curve": _curve, "box": _box,
}  # fmt: skip


def _body(shown: Proved, problem: StatedProblem | None) -> str:
    if problem is not None and shown.kind in _OF_A_PROBLEM:
        return _OF_A_PROBLEM[shown.kind](shown, problem)
    return _cover(shown) if shown.kind == "cover" else _compared(shown)
