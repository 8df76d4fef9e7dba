"""Certificates of closed forms of sums: the true ones hold, whatever is changed is noticed."""

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sympy as sp

import symscale
from places import DATA, ROOT
from random_sums import at_most, convex_optimum, random_case
from sampling import sample
from symscale.algebra.certify.sums import NowhereError, certify_sums
from symscale.algebra.exact.combinations import MOST_FACTORS, Terms, vanishes
from symscale.algebra.exact.domain import Domain
from symscale.algebra.exact.inequalities import exceeds_zero, follows
from symscale.algebra.exact.monomial import ONE, Monomial
from symscale.algebra.sums.piece import SumPiece
from symscale.algebra.sums.program import GeometricProgram, SumConstraint
from symscale.algebra.sums.solve import candidates as closed_forms
from symscale.errors import CheckFailedError, FormulaError
from symscale.kernel.checker import check, examine
from symscale.kernel.sum_certificate import SumCertificate
from symscale.language.symbols import symbols
from symscale.problems.answer import ProblemAnswer, answer
from symscale.problems.certificate_file import certificates_data, load_certificates
from symscale.problems.file import load_problem
from symscale.problems.pieces import AnswerPiece
from symscale.problems.proofs import prove

PROBLEMS = ROOT / "docs" / "problems"
NAMES = sorted(p.stem for p in PROBLEMS.glob("*.toml"))
CASES = sample(45)
WITH_SUMS = (
    "checkpoint-interval", "compute-optimal", "mixed-parallelism", "network-energy",
    "pipeline-microbatches",
)  # fmt: skip
HALF, UNIT = sp.Rational(1, 2), sp.Integer(1)
X, Y = symbols("N P")
J, K, C = symbols("J K C")


@cache
def example(name: str) -> ProblemAnswer:
    return answer(load_problem(str(PROBLEMS / f"{name}.toml")))


def of_sums(found: ProblemAnswer) -> list[tuple[AnswerPiece, SumCertificate]]:
    """All pieces, each with a certificate of this kind, also where a simpler one would do."""
    return [
        (p, certify_sums(found.program, p.name, p.binding, p.expr, p.point,
                         [(left, right) for left, right, _ in p.conditions]))
        for p in found.pieces
    ]  # fmt: skip


@cache
def random_certificates() -> tuple[tuple[int, SumPiece, SumCertificate], ...]:
    found = []
    for seed in CASES.seeds:
        program = random_case(seed).program
        for piece in closed_forms(program)[0]:
            if piece.status != "optimal":  # for which this format has no words
                continue
            try:
                proof = certify_sums(
                    program, " + ".join(piece.binding), piece.binding, piece.expr, piece.point,
                    piece.conditions,
                )
            except FormulaError:
                continue
            found.append((seed, piece, proof))
    return tuple(found)


def assert_optimal(proof: SumCertificate) -> None:
    """In numbers: what is claimed at the witness is the optimum that another solver finds."""
    outcome, best = convex_optimum(proof.program, dict(proof.witness))
    if outcome == "unclear":  # hardly any room between the constraints
        return
    least = float(sp.log(proof.bound.evaluate(proof.witness)))
    least = -least if proof.program.inverse else least
    assert outcome in ("optimal", "not attained")
    if outcome == "optimal":
        assert least == pytest.approx(best, abs=1e-7 * max(1, abs(best)))


# The true ones


@pytest.mark.parametrize("name", NAMES)
def test_every_closed_form_of_the_examples_is_certified(name: str) -> None:
    found = example(name)
    assert (found.bounds is not None) == (name in WITH_SUMS)
    proofs = prove(found)
    assert not proofs.missing
    assert not proofs.loose
    assert [p.piece for p in proofs.certificates] == [p.name for p in found.pieces]
    for piece, proof in zip(found.pieces, proofs.certificates, strict=True):
        check(proof)
        at: Any = dict(proof.witness)
        assert float(sp.N(piece.expr.xreplace(at), 30)) == pytest.approx(
            float(proof.bound.evaluate(at)), rel=1e-14
        )
        if isinstance(proof, SumCertificate):
            assert_optimal(proof)


@pytest.mark.parametrize("name", WITH_SUMS)
def test_fixed_proportions_are_a_special_case(name: str) -> None:
    for _, proof in of_sums(example(name)):
        check(proof)
        assert_optimal(proof)


def test_random_closed_forms_are_certified() -> None:
    """All of them, but those without a witness; each is the optimum at its own."""
    assert len(random_certificates()) >= CASES.least(28)
    for _, _, proof in random_certificates():
        check(proof)
        assert_optimal(proof)
    beside = [p for _, piece, p in random_certificates() if p.weights and piece.binding]
    assert sum(len(p.multipliers) >= 2 for p in beside) >= CASES.least(5)
    assert sum(not all(w.free_symbols == set() for w in s) for p in beside
               for s in p.weights.values()) >= CASES.least(5)  # fmt: skip


def test_what_is_not_certified_does_not_rule() -> None:
    certified = {(seed, piece.binding) for seed, piece, _ in random_certificates()}
    left = 0
    for seed in CASES.seeds:
        case = random_case(seed)
        for piece in closed_forms(case.program)[0]:
            if (seed, piece.binding) not in certified and piece.status == "optimal":
                assert not piece.holds(case.values), (seed, piece.binding)
                left += 1
    assert left >= CASES.least(3)


def test_symbolic_exponents(tmp_path: Path) -> None:
    problem = load_problem(str(PROBLEMS / "compute-optimal.toml"))
    free = tuple(
        replace(q, default=None) if q.entry.name in ("a", "b_") else q for q in problem.parameters
    )
    proofs = prove(answer(replace(problem, parameters=free)))
    (proof,) = proofs.certificates
    assert isinstance(proof, SumCertificate)
    check(proof)
    assert "b_/(a + b_)" in {str(w.expr) for w in proof.weights["objective"]}
    (again,) = through_a_file(tmp_path, proof)
    check(again)


# Files


def through_a_file(tmp_path: Path, *proofs: Any) -> list[Any]:
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(certificates_data("sums", proofs, "1.0")), encoding="utf-8")
    return load_certificates(str(path))[1]


def test_files_keep_what_is_proved(tmp_path: Path) -> None:
    proofs = [p for _, _, p in random_certificates()]
    proofs += [p for name in WITH_SUMS for _, p in of_sums(example(name))]
    for proof, again in zip(proofs, through_a_file(tmp_path, *proofs), strict=True):
        check(again)
        data, copy = (certificates_data("", [p], "1.0") for p in (proof, again))
        assert data == copy


def test_files_of_version_1_still_hold() -> None:
    old = load_certificates(str(DATA / "certificates-1.json"))[1]
    assert len(old) == 7
    assert sum(bool(getattr(c, "condensed", None)) for c in old) == 2
    for certificate in old:
        check(certificate)


# Tampering


def weights_changed(c: SumCertificate) -> Iterator[SumCertificate]:
    for name, shares in c.weights.items():
        yield replace(c, weights={n: s for n, s in c.weights.items() if n != name})
        yield replace(c, weights={**c.weights, name: shares[1:]})
        for k, w in enumerate(shares):
            for other in (w * Monomial.of(HALF), Monomial.of(HALF**7), w**2):
                yield replace(c, weights={**c.weights, name: (*shares[:k], other, *shares[k + 1:])})
        if shares[0] != shares[1]:
            yield replace(c, weights={**c.weights, name: (shares[1], shares[0], *shares[2:])})
    yield replace(c, weights={**c.weights, "no such": (ONE,)})


def multipliers_changed(c: SumCertificate) -> Iterator[SumCertificate]:
    for name, terms in c.multipliers.items():
        yield replace(c, multipliers={n: t for n, t in c.multipliers.items() if n != name})
        for other in (
            tuple((-e, m) for e, m in terms),
            tuple((2 * e, m) for e, m in terms),
            (*terms, (sp.Rational(1, 10**9), ONE)),
            (),
        ):
            yield replace(c, multipliers={**c.multipliers, name: other})
    yield replace(c, multipliers={**c.multipliers, "no such": ((UNIT, ONE),)})


def points_changed(c: SumCertificate) -> Iterator[SumCertificate]:
    for x in c.program.variables:
        yield replace(c, point={s: m for s, m in c.point.items() if s != x})
        yield replace(c, point={**c.point, x: Monomial.of(x)})
        used = [*c.program.objective]
        used += [t for k in c.program.constraints if k.name in c.multipliers for t in k.terms]
        if any(t.exponent(x) != 0 for t in used):
            for factor in (HALF, 1 + sp.Rational(1, 10**9)):
                yield replace(c, point={**c.point, x: c.point[x] * Monomial.of(factor)})


def bounds_changed(c: SumCertificate) -> Iterator[SumCertificate]:
    for factor in (2, HALF, 1 + sp.Rational(1, 10**12), X):
        yield replace(c, bound=c.bound * Monomial.of(factor))
    yield replace(c, bound=c.bound**2 * Monomial.of(3))


def conditions_changed(c: SumCertificate) -> Iterator[SumCertificate]:
    """Each is needed, but where another says the same; none may fail at the witness."""
    for k, terms in enumerate(c.conditions):
        rest = [*c.conditions[:k], *c.conditions[k + 1:]]
        if not follows(terms, rest, c.program.domain):
            yield replace(c, conditions=tuple(rest))
            weaker = (*terms, (UNIT, terms[0][1] * Monomial.of(HALF)))
            yield replace(c, conditions=(*rest, weaker))
        yield replace(c, conditions=(*c.conditions, tuple((-e, m) for e, m in terms)))


def witnesses_changed(c: SumCertificate) -> Iterator[SumCertificate]:
    for s in c.program.parameters:
        yield replace(c, witness={k: v for k, v in c.witness.items() if k != s})
        yield replace(c, witness={**c.witness, s: -c.witness[s]})
        for value in (sp.Integer(10) ** 60, HALF**200):
            witness = {**c.witness, s: value}
            if not all(exceeds_zero(terms, witness) for terms in c.conditions):
                yield replace(c, witness=witness)


def programs_changed(c: SumCertificate) -> Iterator[SumCertificate]:
    program = c.program
    yield replace(c, program=replace(program, inverse=not program.inverse))
    more = (*program.objective, Monomial.of(HALF**9))
    yield replace(c, program=replace(program, objective=more))
    x = program.variables[0]
    stricter = SumConstraint("more", (Monomial.of(2 * x) / c.point[x],), "<=", "")
    yield replace(c, program=replace(program, constraints=(*program.constraints, stricter)))
    for k, constraint in enumerate(program.constraints):
        if constraint.name not in c.multipliers:
            continue
        rest = (*program.constraints[:k], *program.constraints[k + 1:])
        yield replace(c, program=replace(program, constraints=rest))
        scaled = tuple(t * Monomial.of(HALF) for t in constraint.terms)
        other = replace(constraint, terms=scaled)
        yield replace(c, program=replace(program, constraints=(*rest, other)))


TAMPERED: list[Callable[[SumCertificate], Iterator[SumCertificate]]] = [
    weights_changed, multipliers_changed, points_changed, bounds_changed, conditions_changed,
    witnesses_changed, programs_changed,
]  # fmt: skip


@pytest.mark.parametrize("tamper", TAMPERED)
def test_what_is_changed_is_noticed(
    tamper: Callable[[SumCertificate], Iterator[SumCertificate]]
) -> None:
    proofs = [p for _, _, p in random_certificates()[:15]]
    proofs += [p for name in WITH_SUMS for _, p in of_sums(example(name))]
    count = 0
    for proof in proofs:
        for false in tamper(proof):
            count += 1
            with pytest.raises(CheckFailedError, match=r"^\S*.*: "):
                check(false)
    assert count >= 30


def test_pieces_do_not_share_their_proofs() -> None:
    for name in WITH_SUMS:
        proofs = [p for _, p in of_sums(example(name))]
        for one in proofs:
            for other in proofs:
                for field in ("point", "multipliers", "bound", "weights"):
                    if getattr(one, field) != getattr(other, field):
                        with pytest.raises(CheckFailedError):
                            check(replace(one, **{field: getattr(other, field)}))


def test_findings_name_what_fails() -> None:
    (_, proof), *_ = of_sums(example("mixed-parallelism"))
    names = [f.name for f in examine(proof)]
    assert names == ["form", "weights", "bound", "signs", "point", "witness"]
    found = examine(replace(proof, bound=proof.bound * Monomial.of(2)))
    assert [f.holds for f in found] == [True, True, True, True, False]
    assert "not its share" in found[-1].detail


def test_a_hand_made_certificate() -> None:
    """J N + K/N under N <= C, where N = C: the multiplier is the difference of the shares."""
    program = GeometricProgram(
        (X,), (Monomial.of(J * X), Monomial.of(K / X)), (at_most("cap", X / C),), Domain()
    )
    value = Monomial.of(J * C + K / C)
    shares = (Monomial.of(J * C) / value, Monomial.of(K / C) / value)
    proof = SumCertificate(
        program, "cap", value, {"objective": shares},
        {"cap": ((UNIT, shares[1]), (-UNIT, shares[0]))}, {X: Monomial.of(C)},
        (((UNIT, Monomial.of(K)), (-UNIT, Monomial.of(J * C**2))),),
        {J: UNIT, K: sp.Integer(4), C: UNIT},
    )  # fmt: skip
    check(proof)
    assert_optimal(proof)
    with pytest.raises(CheckFailedError, match="'cap' may be negative"):
        check(replace(proof, conditions=()))
    with pytest.raises(CheckFailedError, match="strictly"):
        check(replace(proof, witness={J: UNIT, K: UNIT, C: UNIT}))


def test_a_closed_form_that_rules_nowhere_has_no_certificate() -> None:
    """N >= 2 and N <= 1 at once."""
    program = GeometricProgram(
        (X,), (Monomial.of(J * X), Monomial.of(K / X)),
        (at_most("low", 2 / X), at_most("high", X)), Domain(),
    )  # fmt: skip
    with pytest.raises(NowhereError):
        certify_sums(
            program, "low", ("low",), 2 * J + K / 2, {X: sp.Integer(2)}, [(J + 4 * K, J)]
        )


# Identities


def test_identities_agree_with_numbers() -> None:
    """Random true and false identities, decided exactly and in 50 digits."""
    random = Random(7)
    atoms = [J, K, C, J + K, C - 1, J + 2 * sp.sqrt(J * K) + K]
    for _ in range(60):
        parts = [
            sp.Mul(*(a ** sp.Rational(random.randint(-4, 4), random.choice((1, 2))) for a in
                     random.sample(atoms, 3)))
            for _ in range(3)
        ]  # fmt: skip
        inside = [sp.Integer(random.randint(-3, 3)) for _ in parts]
        base = tuple(zip(inside, map(as_monomial, parts), strict=True))
        factor = as_monomial(random.choice(atoms))
        spread = tuple(
            (c * d, m * n) for c, m in base for d, n in expanded(factor)
        )
        true = (*((c, m * factor) for c, m in base), *((-c, m) for c, m in spread))
        assert vanishes(true)
        false = (*true, (sp.Rational(1, 10**6), as_monomial(parts[0])))
        assert not vanishes(false)


def as_monomial(expr: sp.Expr) -> Monomial:
    powers: dict[sp.Expr, sp.Expr] = {}
    for factor in sp.Mul.make_args(expr):
        base, exponent = factor.as_base_exp()
        powers[base] = powers.get(base, sp.Integer(0)) + exponent
    return Monomial.from_powers(powers)


def expanded(factor: Monomial) -> Terms:
    (atom, _), = factor.powers
    pairs = []
    for term in sp.Add.make_args(atom):
        number, rest = term.as_coeff_Mul()
        pairs.append((number, as_monomial(rest) if rest != 1 else ONE))
    return tuple(pairs)


def test_identities_that_would_grow_for_ever_are_refused() -> None:
    base = Monomial.from_powers({J + K + 1: UNIT})
    large = [(UNIT, base ** sp.Integer(MOST_FACTORS + 1)), (-UNIT, ONE)]
    with pytest.raises(FormulaError, match="differ by more"):
        vanishes(large)
    wide = Monomial.from_powers({sp.Add(*symbols("J K C b L N P T E b_0 t_d tau")): UNIT})
    with pytest.raises(FormulaError, match=r"more than|too large"):
        vanishes([(UNIT, wide**40), (-UNIT, ONE)])
    with pytest.raises(FormulaError, match="too large"):
        vanishes([(UNIT, Monomial.of(2) ** sp.Integer(10**9))])


def test_what_follows_is_true() -> None:
    """Claims that are said to follow, against numbers at which the given ones hold."""
    random = Random(5)
    shapes = [Monomial.of(J), Monomial.of(K), Monomial.of(J * K), Monomial.of(sp.sqrt(C)), ONE]
    said = 0
    for _ in range(400):
        given, claim = (
            tuple((sp.Integer(random.choice((-1, 1, 2))), m) for m in random.sample(shapes, 2))
            for _ in range(2)
        )
        if random.random() < 0.3:
            claim = tuple((c, m * shapes[2]) for c, m in given)
        if follows(claim, [given], Domain()):
            said += 1
            for _ in range(20):
                top, bottom = (random.randint(1, 50) for _ in range(2))
                at = {s: sp.Rational(top, bottom) ** random.randint(-2, 2) for s in (J, K, C)}
                if exceeds_zero(given, at):
                    assert sum(float(c) * float(m.evaluate(at)) for c, m in claim) > -1e-9
    assert said >= 60


# What the checker is made of

CHECKER = {
    "kernel.checker", "kernel.certificate", "kernel.sum_certificate", "kernel.sum_checker",
    "algebra.exact.combinations", "algebra.exact.inequalities", "algebra.sums.program",
}  # fmt: skip
TRUSTED = {
    "algebra.exact.domain", "algebra.exact.monomial", "algebra.exact.primes",
    "algebra.products.program", "errors",
}  # fmt: skip


def test_the_checker_is_short_and_knows_no_solver() -> None:
    """All that it imports, at any depth, within the package."""
    folder = Path(symscale.__file__).parent
    reached, todo = set(), ["symscale.kernel.checker"]
    while todo:
        module = todo.pop()
        path = folder.parent / f"{module.replace('.', '/')}.py"
        if module in reached or not module.startswith("symscale") or not path.exists():
            continue
        reached.add(module)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                todo += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
    assert {m.removeprefix("symscale.") for m in reached} == CHECKER | TRUSTED
    for name in CHECKER:
        text = (folder / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")
        assert len(text.splitlines()) < 200, name
