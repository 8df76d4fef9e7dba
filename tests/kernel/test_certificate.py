"""Certificates: the true ones pass, and whatever is changed in them is noticed."""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import mpmath as mp
import pytest
import sympy as sp

from random_programs import numeric_optimum, random_case
from symscale.algebra.certify.products import certify
from symscale.algebra.exact.domain import Domain, Interval
from symscale.algebra.exact.monomial import Monomial
from symscale.algebra.products.attained import optimal_point
from symscale.algebra.products.program import Program, Sense, at_most, equals
from symscale.algebra.products.solve import solve
from symscale.errors import CheckFailedError, FormulaError
from symscale.kernel import certificate as certificate_module
from symscale.kernel.certificate import Certificate
from symscale.kernel.checker import check
from symscale.language.symbols import symbols

T, P, N, N_TP, N_DP, b, L = symbols("T P N N_TP N_DP b L")
C, W_net, W_mem, t_d, tau, b_0, E, alpha = symbols("C W_net W_mem t_d tau b_0 E alpha")


def largest() -> Program:
    """Three pieces; the batch size never binds alone, so each has conditions."""
    return Program(
        "largest", "", "maximize", Monomial.of(T), (T, P, N, b),
        (
            equals("compute", T, 120 * P**2, ""),
            at_most("arithmetic", T, N * C * t_d, ""),
            at_most("network", N, P / W_net**2, ""),
            at_most("devices", N, b, ""),
            at_most("batch", b, b_0, ""),
            at_most("latency", P * tau, b * t_d, ""),
        ),
    )  # fmt: skip


def smallest() -> Program:
    """The fewest devices for a given compute: a minimum, with a parameter of at least 1."""
    return Program(
        "smallest", "", "minimize", Monomial.of(2 * N / E), (N, P, N_TP, N_DP),
        (
            equals("parameters", C, 120 * P**2, ""),
            equals("degrees", N, N_TP * N_DP * E, ""),
            at_most("time", C, N * W_mem * t_d, ""),
            at_most("memory", P, N_TP * W_mem, ""),
            at_most("replicas", 1, N_DP, ""),
            at_most("shards", E**2, N_TP, ""),
        ),
        Domain((Monomial.of(E),)),
    )  # fmt: skip


def growing() -> Program:
    """An exponent that is a symbol."""
    return Program(
        "growing", "", "maximize", Monomial.of(T), (T, N, b),
        (
            at_most("arithmetic", T, N * C, ""),
            at_most("devices", N, b * sp.sqrt(T), ""),
            at_most("network", N, W_net * T ** sp.Rational(1, 4), ""),
            at_most("batch", b, b_0 * T ** (alpha / 2), ""),
        ),
        Domain(exponents={alpha: Interval(None, sp.Integer(1))}),
    )  # fmt: skip


PROGRAMS = {"largest": largest, "smallest": smallest, "growing": growing}


@cache
def certificates(name: str) -> tuple[Certificate, ...]:
    limit = solve(PROGRAMS[name]())
    return tuple(certify(limit, piece) for piece in limit.pieces)


@cache
def random_certificates() -> tuple[Certificate, ...]:
    """Those of random programs with pieces that compete."""
    found: list[Certificate] = []
    for seed in range(400):
        case = random_case(seed)
        if case.kind == "packing" and not case.twins:
            limit = solve(case.program)
            if len(limit.pieces) > 1:
                found += [certify(limit, piece) for piece in limit.pieces]
        if len(found) >= 40:
            break
    return tuple(found)


EVERY = [*PROGRAMS, "random"]


def of(name: str) -> tuple[Certificate, ...]:
    found = random_certificates() if name == "random" else certificates(name)
    assert len(found) >= 2
    return found


# The true ones


@pytest.mark.parametrize("name", EVERY)
def test_the_untouched_pass(name: str) -> None:
    for certificate in of(name):
        check(certificate)


def test_the_examples_have_what_is_tampered_with() -> None:
    for name in PROGRAMS:
        assert any(c.conditions for c in of(name))
    assert {c.program.sense for c in of("random")} == {"maximize", "minimize"}
    assert sum(bool(c.conditions) for c in of("random")) >= 20


@pytest.mark.parametrize("name", EVERY)
def test_a_certified_point_is_the_optimum(name: str) -> None:
    """In numbers: at the witness it is feasible, and nothing does better."""
    for certificate in of(name):
        at, program = certificate.witness, certificate.program
        point = {x: m.evaluate(at) for x, m in certificate.point.items()}

        def value(monomial: Monomial, at: Any = at, point: Any = point) -> Any:
            """The logarithm, with the point in place of the variables."""
            powers: Any = monomial.powers
            known = {**at, **point}
            return mp.fsum(mp.log(known.get(s, s)) * float(e.subs(at)) for s, e in powers)

        scale = max(1, *(abs(mp.log(v)) for v in point.values()))
        for constraint in program.constraints:
            ratio = value(constraint.ratio) / scale
            assert abs(ratio) < 1e-9 if constraint.is_equality else ratio < 1e-9
        status, best = numeric_optimum(program, at)
        assert status == "optimal"
        assert abs(value(program.objective) - best) < 1e-7 * scale
        assert abs(value(certificate.bound) - best) < 1e-7 * scale


# Tampering: each yields certificates that claim something false, or nothing checkable


def change_multipliers(c: Certificate) -> Iterator[Certificate]:
    for name, weight in c.multipliers.items():
        for other in (2 * weight, weight + 1, weight / 2, weight + sp.Rational(1, 10**9)):
            yield replace(c, multipliers={**c.multipliers, name: other})


def negate_multipliers(c: Certificate) -> Iterator[Certificate]:
    for name, weight in c.multipliers.items():
        yield replace(c, multipliers={**c.multipliers, name: -weight})
    yield replace(c, multipliers={n: -w for n, w in c.multipliers.items()})


def remove_multipliers(c: Certificate) -> Iterator[Certificate]:
    for name in c.multipliers:
        yield replace(c, multipliers={n: w for n, w in c.multipliers.items() if n != name})
    yield replace(c, multipliers={})


def add_multipliers(c: Certificate) -> Iterator[Certificate]:
    for constraint in c.program.constraints:
        if constraint.name not in c.multipliers:
            yield replace(c, multipliers={**c.multipliers, constraint.name: sp.Integer(1)})


def name_no_constraint(c: Certificate) -> Iterator[Certificate]:
    for weight in (0, 1):
        yield replace(c, multipliers={**c.multipliers, "no such": sp.Integer(weight)})
    yield replace(c, multipliers={f"{n} ": w for n, w in c.multipliers.items()})


def scale_bound(c: Certificate) -> Iterator[Certificate]:
    for factor in (2, sp.Rational(1, 2), 1 + sp.Rational(1, 10**12)):
        yield replace(c, bound=c.bound * Monomial.of(factor))
    for parameter in c.program.parameters:
        if parameter.is_positive:
            yield replace(c, bound=c.bound * Monomial.of(parameter))


def put_variable_into_bound(c: Certificate) -> Iterator[Certificate]:
    for x in c.program.variables:
        yield replace(c, bound=c.bound * Monomial.of(x))
    yield replace(c, bound=c.program.objective, multipliers={})


def move_point(c: Certificate) -> Iterator[Certificate]:
    for x in held(c):
        for factor in (2, sp.Rational(1, 2)):
            yield replace(c, point={**c.point, x: c.point[x] * Monomial.of(factor)})


def forget_point(c: Certificate) -> Iterator[Certificate]:
    for x in c.program.variables:
        yield replace(c, point={s: v for s, v in c.point.items() if s != x})


def point_at_itself(c: Certificate) -> Iterator[Certificate]:
    """Where every variable is "itself", all would be well."""
    yield replace(c, point={x: Monomial.of(x) for x in c.program.variables})


def remove_conditions(c: Certificate) -> Iterator[Certificate]:
    for condition in c.conditions:
        yield replace(c, conditions=tuple(x for x in c.conditions if x != condition))


def weaken_conditions(c: Certificate) -> Iterator[Certificate]:
    for k, condition in enumerate(c.conditions):
        weaker = condition * Monomial.of(sp.Rational(1, 2))
        yield replace(c, conditions=(*c.conditions[:k], weaker, *c.conditions[k + 1 :]))


def violate_conditions(c: Certificate) -> Iterator[Certificate]:
    """A witness at which one of the conditions fails."""
    for condition in c.conditions:
        for parameter in c.program.parameters:
            if parameter not in condition.atoms:
                continue
            for value in (sp.Integer(10) ** 400, sp.Rational(1, 10**400)):
                witness = {**c.witness, parameter: value}
                if condition.compare_one(witness) > 0:
                    yield replace(c, witness=witness)


def forget_witness(c: Certificate) -> Iterator[Certificate]:
    symbols = set().union(*(x.free_symbols for x in c.conditions))
    for s in symbols:
        yield replace(c, witness={k: v for k, v in c.witness.items() if k != s})


def negative_witness(c: Certificate) -> Iterator[Certificate]:
    for s in c.program.parameters:
        if any(s in x.atoms for x in c.conditions):
            yield replace(c, witness={**c.witness, s: -c.witness[s]})


def turn_around(c: Certificate) -> Iterator[Certificate]:
    """The same claim about the opposite question."""
    sense: Sense = "minimize" if c.program.sense == "maximize" else "maximize"
    yield replace(c, program=replace(c.program, sense=sense))


def held(c: Certificate) -> list[sp.Symbol]:
    """The variables in constraints that must be tight; another may have room to move."""
    tight = [k.ratio for k in c.program.constraints if k.is_equality or k.name in c.multipliers]
    return [x for x in c.program.variables if any(r.exponent(x) != 0 for r in tight)]


TAMPERED: list[Callable[[Certificate], Iterator[Certificate]]] = [
    change_multipliers, negate_multipliers, remove_multipliers, add_multipliers,
    name_no_constraint, scale_bound, put_variable_into_bound, move_point, forget_point,
    point_at_itself, remove_conditions, weaken_conditions, violate_conditions,
    forget_witness, negative_witness, turn_around,
]  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("tamper", TAMPERED)
def test_what_is_changed_is_noticed(
    tamper: Callable[[Certificate], Iterator[Certificate]], name: str
) -> None:
    count = 0
    for certificate in of(name)[:12]:
        for false in tamper(certificate):
            count += 1
            with pytest.raises(CheckFailedError, match=r"^\S"):
                check(false)
    assert count


def test_pieces_do_not_share_their_proofs() -> None:
    """The point, the multipliers or the bound of one piece are no proof of another."""
    for name in EVERY:
        for one in of(name):
            for other in of(name):
                if one.program is other.program and one.bound != other.bound:
                    for field in ("point", "multipliers", "bound"):
                        with pytest.raises(CheckFailedError):
                            check(replace(one, **{field: getattr(other, field)}))


def test_the_domain_of_the_witness() -> None:
    for certificate in of("smallest"):
        with pytest.raises(CheckFailedError, match="outside the domain"):
            check(replace(certificate, witness={**certificate.witness, E: sp.Rational(99, 100)}))
    for certificate in of("growing"):
        for value in (sp.Integer(1), sp.Integer(2)):
            with pytest.raises(CheckFailedError, match="alpha outside"):
                check(replace(certificate, witness={**certificate.witness, alpha: value}))


def test_a_program_that_was_changed() -> None:
    """A constraint that the certificate never heard of must hold at its point as well."""
    for name in PROGRAMS:
        for certificate in of(name):
            program = certificate.program
            x = program.variables[0]
            extra = at_most("extra", x, certificate.point[x] * Monomial.of(sp.Rational(1, 2)), "")
            stricter = replace(program, constraints=(*program.constraints, extra))
            with pytest.raises(CheckFailedError, match="'extra' fails at the point"):
                check(replace(certificate, program=stricter))
            fine = at_most("extra", x, 2 * certificate.point[x].expr, "")
            looser = replace(program, constraints=(*program.constraints, fine))
            check(replace(certificate, program=looser))


def test_a_superfluous_condition_is_no_harm() -> None:
    """It only says less; but the witness must satisfy it."""
    for certificate in of("largest"):
        big = certificate.witness[C] * 2
        check(replace(certificate, conditions=(*certificate.conditions, Monomial.of(C / big))))
        false = replace(certificate, conditions=(*certificate.conditions, Monomial.of(4 * C / big)))
        with pytest.raises(CheckFailedError, match="the witness violates"):
            check(false)


def test_a_sign_that_the_domain_leaves_open_is_no_proof() -> None:
    """For alpha in (-1, 1) the multiplier of a true identity may be negative."""
    program = Program(
        "open", "", "maximize", Monomial.of(T**alpha), (T,), (at_most("a", T, C, ""),),
        Domain(exponents={alpha: Interval(sp.Integer(-1), sp.Integer(1))}),
    )  # fmt: skip
    claim = Certificate(
        program, "claim", Monomial.of(C**alpha), {"a": alpha}, {T: Monomial.of(C)}, (),
        {C: sp.Integer(1), alpha: sp.Rational(1, 2)},
    )
    with pytest.raises(CheckFailedError, match="is negative"):
        check(claim)
    positive = Domain(exponents={alpha: Interval(sp.Integer(0), sp.Integer(1))})
    check(replace(claim, program=replace(program, domain=positive)))


def test_the_checker_knows_no_solver() -> None:
    tree = ast.parse(inspect.getsource(certificate_module))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {m for m in modules if m and m.startswith("symscale")}
    assert own <= {
        f"symscale.{m}"
        for m in (
            "algebra.exact.domain", "algebra.exact.monomial", "algebra.products.program", "errors",
        )
    }


# Points


def test_variables_that_nothing_fixes() -> None:
    """Of N_TP and N_DP only the product matters."""
    program = Program(
        "free", "", "maximize", Monomial.of(T), (T, N, N_TP, N_DP),
        (
            at_most("time", T, N * C, ""),
            equals("degrees", N, N_TP * N_DP, ""),
            at_most("devices", N, b_0, ""),
        ),
    )  # fmt: skip
    found = optimal_point(program, {C: sp.Integer(2), b_0: sp.Integer(3)})
    assert found.free == {N_TP, N_DP}
    assert found.tight == ("time", "degrees", "devices")
    assert not found.conditions
    assert found.values[T] == Monomial.of(C * b_0)
    assert found.values[N_TP] * found.values[N_DP] == Monomial.of(b_0)
    limit = solve(program)
    certificate = certify(limit, limit.pieces[0])
    check(certificate)
    moved = {**certificate.point, N_TP: Monomial.of(C**3), N_DP: Monomial.of(b_0 / C**3)}
    check(replace(certificate, point=moved))
    open_point = {**certificate.point, N_TP: Monomial.of(N_TP), N_DP: Monomial.of(b_0 / N_TP)}
    with pytest.raises(CheckFailedError, match="not a monomial in parameters"):
        check(replace(certificate, point=open_point))


def test_the_conditions_say_how_far_a_point_goes() -> None:
    """The formula is feasible exactly where its conditions hold."""
    program, random = largest(), Random(2)
    inside = outside = 0
    parameters = {s: sp.Integer(random.randint(2, 60)) for s in program.parameters}
    point = optimal_point(program, parameters)
    for _ in range(60):
        at = {s: sp.Rational(random.randint(1, 90), random.randint(1, 90)) for s in parameters}
        holds = all(c.compare_one(at) <= 0 for c in point.conditions)
        values = {x: m.substitute(at) for x, m in point.values.items()}
        ratios = [c.ratio.substitute({**at, **values}).compare_one() for c in program.constraints]
        assert holds == all(r <= 0 for r in ratios)
        inside += holds
        outside += not holds
    assert min(inside, outside) >= 5


def test_no_point() -> None:
    one = sp.Integer(1)
    program = Program("a", "", "maximize", Monomial.of(T), (T,), (at_most("a", T, C, ""),))
    with pytest.raises(FormulaError, match="no value for C"):
        optimal_point(program, {})
    conflict = replace(program, constraints=(*program.constraints, at_most("b", 2, T, "")))
    with pytest.raises(FormulaError, match="infeasible"):
        optimal_point(conflict, {C: one})
    with pytest.raises(FormulaError, match="unbounded"):
        optimal_point(replace(program, constraints=()), {C: one})
    limit = solve(program)
    nowhere = replace(limit.pieces[0], witness=None)
    with pytest.raises(FormulaError, match="no parameters are known"):
        certify(limit, nowhere)
    check(certify(limit, nowhere, {C: sp.Integer(5)}))


def _capped() -> Certificate:
    """T <= C and T <= tau: the bound C is attained only where C <= tau."""
    T, C, tau = symbols("T C tau")
    program = Program(
        "capped", "", "maximize", Monomial.of(T), (T,),
        (at_most("a", T, C, ""), at_most("b", T, tau, "")),
    )  # fmt: skip
    condition = Monomial.of(C) / Monomial.of(tau)
    return Certificate(
        program, "a", Monomial.of(C), {"a": sp.Integer(1)}, {T: Monomial.of(C)}, (condition,),
        {C: sp.Integer(1), tau: sp.Integer(2)},
    )  # fmt: skip


def test_a_point_may_not_choose_parameters() -> None:
    claim = _capped()
    check(claim)
    C, tau = symbols("C tau")
    hidden = replace(claim, point={**claim.point, tau: Monomial.of(C)}, conditions=())
    with pytest.raises(CheckFailedError, match="and to nothing else"):
        check(hidden)


def test_a_witness_is_complete_and_rational() -> None:
    claim = _capped()
    C, _ = symbols("C tau")
    for witness in ({C: sp.Integer(1)}, {**claim.witness, C: sp.sqrt(2)}):
        with pytest.raises(CheckFailedError, match="no rational value"):
            check(replace(claim, witness=witness))


def _with_exponent(low: int, high: int, *, equality: bool) -> Certificate:
    T, C, alpha = symbols("T C alpha")
    power = 1 / alpha if equality else -alpha
    constraint = equals("a", T**alpha, C, "") if equality else at_most("a", T * C**alpha, 1, "")
    program = Program(
        "exponent", "", "maximize", Monomial.of(T), (T,), (constraint,),
        Domain(exponents={alpha: Interval(sp.Integer(low), sp.Integer(high))}),
    )  # fmt: skip
    bound = Monomial.of(C) ** power
    weight = 1 / alpha if equality else sp.Integer(1)
    witness = {C: sp.Integer(2), alpha: sp.Rational(1, 2)}
    return Certificate(program, "a", bound, {"a": weight}, {T: bound}, (), witness)


def test_an_exponent_with_a_pole_in_the_domain_is_no_proof() -> None:
    check(_with_exponent(0, 1, equality=True))
    with pytest.raises(CheckFailedError, match="sign"):
        check(_with_exponent(-1, 1, equality=True))


def test_an_empty_interval_proves_nothing() -> None:
    check(_with_exponent(0, 1, equality=False))
    with pytest.raises(CheckFailedError, match="empty"):
        check(_with_exponent(1, 0, equality=False))


def test_a_compound_atom_must_be_positive_at_the_witness() -> None:
    T, C = symbols("T C")
    bound = Monomial.from_powers({C - 1: sp.Integer(1)})
    program = Program(
        "compound", "", "maximize", Monomial.of(T), (T,), (at_most("a", T, bound, ""),)
    )
    claim = Certificate(
        program, "a", bound, {"a": sp.Integer(1)}, {T: bound}, (), {C: sp.Integer(3)}
    )
    check(claim)
    with pytest.raises(CheckFailedError, match="not positive"):
        check(replace(claim, witness={C: sp.Rational(1, 2)}))
