"""Questions with their parameters put in, and their answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import mpmath as mp
import sympy as sp

from symscale.algebra.certify.theorems import Theorems, of_limit
from symscale.algebra.products.attained import OptimalPoint, optimal_point
from symscale.algebra.products.limit import Limit, Piece
from symscale.algebra.products.program import Program
from symscale.algebra.products.ranges import (
    FixedProduct,
    OptimalRange,
    fixed_products,
    ranges,
)
from symscale.algebra.products.solve import solve
from symscale.answers import Answer
from symscale.errors import InputError
from symscale.facts.machines.lumped import LumpedDevice, Machine, load_machine, lump
from symscale.language.symbols import notation, symbol
from symscale.studies.requests.parameters import (
    FOLDED,
    Parameter,
    assemble,
    defaults,
    numbers,
    substitutions,
)
from symscale.studies.training.cliffs import Cliff, cliffs_of, cliffs_program
from symscale.studies.training.limits import limits_program, own_bounds


@dataclass(frozen=True, repr=False)
class LimitsAnswer(Answer):
    """A solved study.

    Attributes:
        program: The program, with folded parameters put in.
        limit: Its closed form.
        parameters: All parameters by name, in the order of the notation.
        machine: The machine, or None.
        lumped: The machine at the level of the study, or None.
    """

    page = "limits"
    program: Program
    limit: Limit
    parameters: Mapping[str, Parameter]
    machine: Machine | None
    lumped: LumpedDevice | None

    @property
    def unit(self) -> str:
        """Unit of the objective."""
        (objective,) = self.program.objective.atoms
        return notation(str(objective)).unit

    @cached_property
    def values(self) -> dict[sp.Symbol, sp.Rational] | None:
        """Numbers of all the program's parameters, or None where one is missing."""
        known = numbers(self.parameters)
        if any(s not in known for s in self.program.parameters):
            return None
        return {s: known[s] for s in self.program.parameters}

    @cached_property
    def ruling(self) -> Piece | None:
        """The piece that rules, where all parameters have numbers.

        Raises:
            InfeasibleError: If nothing satisfies the constraints there.
            UnboundedError: If the objective has no bound.
        """
        return None if self.values is None else self.limit.ruling(self.values)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of the closed form."""
        return self.limit.pieces

    @property
    def expr(self) -> sp.Expr:
        """The closed form: the least of its pieces."""
        return self.limit.expr

    @property
    def value(self) -> mp.mpf | None:
        """The optimum, where all parameters have numbers."""
        return None if self.ruling is None else self.value_of(self.ruling)

    def value_of(self, piece: Piece) -> mp.mpf | None:
        """A piece's value, where all its parameters have numbers."""
        known = numbers(self.parameters)
        if any(s not in known for s in piece.bound.free_symbols):
            return None
        return piece.at(known)

    @cached_property
    def point(self) -> OptimalPoint | None:
        """A run that attains the limit, where all parameters have numbers."""
        if self.values is None or self.ruling is None:
            return None
        return optimal_point(self.program, self.values)

    @cached_property
    def free(self) -> Mapping[sp.Symbol, OptimalRange]:
        """Between what the variables lie that the limit leaves free, where a piece rules."""
        return {} if self.ruling is None else ranges(self.limit, self.ruling)

    @cached_property
    def fixed(self) -> tuple[FixedProduct, ...]:
        """Products of such variables that the limit does not leave free."""
        return () if self.ruling is None else fixed_products(self.limit, self.ruling)

    @cached_property
    def theorems(self) -> Theorems:
        """What the kernel shows of the closed form."""
        return of_limit(self.limit, self.program.title)

    def check(self) -> None:
        """Raise where there is no answer.

        Raises:
            InfeasibleError: If nothing satisfies the constraints.
            UnboundedError: If the objective has no bound.
        """
        self.limit.check()
        _ = self.ruling


@dataclass(frozen=True, repr=False)
class FullLimitsAnswer(LimitsAnswer):
    """The study with every degree a variable, beside the reduced one.

    Attributes:
        reduced: The reduced study's answer at the same parameters.
    """

    reduced: LimitsAnswer

    @property
    def responsible(self) -> tuple[str, ...]:
        """Binding constraints of the ruling piece that the reduced study does not have."""
        if self.ruling is None:
            return ()
        return own_bounds(self.ruling.binding)


def machine_at(hardware: str | None, level: str | None) -> tuple[Machine, LumpedDevice] | None:
    """Load a machine and lump it at a level; None where no hardware is named.

    Raises:
        InputError: If a level is given without hardware, or the machine lacks it.
    """
    if hardware is None:
        if level is not None:
            raise InputError(f"--level {level} needs a machine; name one with --hardware")
        return None
    machine = load_machine(hardware)
    return machine, lump(machine, level or machine.default_level())


def _answer(
    program: Program, chosen: tuple[Machine, LumpedDevice] | None, settings: Mapping[str, sp.Expr]
) -> LimitsAnswer:
    machine, lumped = chosen or (None, None)
    table = assemble([s.name for s in program.parameters], lumped, settings)
    solved = program.substitute(substitutions(table))
    return LimitsAnswer(solved, solve(solved), table, machine, lumped)


def _exact(settings: Mapping[str, sp.Expr] | None) -> dict[str, sp.Expr]:
    """Settings with plain numbers turned into the rationals that they print as."""
    return {
        name: sp.Rational(str(value)) if isinstance(value, int | float) else value
        for name, value in (settings or {}).items()
    }


def _has_network(
    chosen: tuple[Machine, LumpedDevice] | None, settings: Mapping[str, sp.Expr]
) -> bool:
    return "W_net" in settings or chosen is None or chosen[1].network_one_way_bytes is not None


def training_limits(
    hardware: str | None = None,
    *,
    level: str | None = None,
    settings: Mapping[str, sp.Expr] | None = None,
) -> LimitsAnswer:
    """Answer: how large can a training run be at full utilization?

    Args:
        hardware: A preset's name or a TOML file; None keeps everything symbolic.
        level: Which group of devices acts as one; by default a node, if there is one.
        settings: Values of parameters, in the units of the notation.

    Raises:
        InputError: If a name, level or setting cannot be used.

    Example:
        >>> answer = training_limits("h100-sxm")
        >>> answer.ruling.name
        'data movement'
        >>> f"{float(answer.value):.6e}"
        '1.924066e+28'
    """
    chosen, given = machine_at(hardware, level), _exact(settings)
    return _answer(limits_program(network=_has_network(chosen, given)), chosen, given)


def full_training_limits(
    hardware: str | None = None,
    *,
    level: str | None = None,
    settings: Mapping[str, sp.Expr] | None = None,
) -> FullLimitsAnswer:
    """Answer the same with every degree a variable of its own within its natural bounds.

    Exponents are numbers here: alpha and alpha_L take their defaults where not set.

    Raises:
        InputError: If a name, level or setting cannot be used.
    """
    given = _exact(settings)
    standard = defaults()
    given = {n: v for n in FOLDED if (v := standard[n].value) is not None} | given
    chosen = machine_at(hardware, level)
    network = _has_network(chosen, given)
    full = _answer(limits_program(full=True, network=network), chosen, given)
    reduced = _answer(limits_program(network=network), chosen, given)
    table = {
        n: standard[n] if n in FOLDED and n not in (settings or {}) else p
        for n, p in full.parameters.items()
    }
    return FullLimitsAnswer(full.program, full.limit, table, full.machine, full.lumped, reduced)


@dataclass(frozen=True, repr=False)
class CliffsAnswer(LimitsAnswer):
    """Utilization of runs, with its cliffs."""

    page = "cliffs"

    @cached_property
    def known(self) -> dict[sp.Symbol, sp.Rational] | None:
        """Numbers of all parameters but the compute T, or None where one is missing."""
        known = numbers(self.parameters)
        wanted = [s for s in self.program.parameters if s != symbol("T")]
        return None if any(s not in known for s in wanted) else {s: known[s] for s in wanted}

    @cached_property
    def cliffs(self) -> tuple[Cliff, ...]:
        """The cliffs: with numbers those that a growing run meets, in order."""
        return cliffs_of(self.limit, self.known)

    def compute_at(self, cliff: Cliff) -> mp.mpf | None:
        """The compute at a cliff, in FLOP, where all parameters have numbers."""
        return None if self.known is None else cliff.compute.evaluate(self.known)


def cliffs(
    hardware: str | None = None,
    *,
    level: str | None = None,
    settings: Mapping[str, sp.Expr] | None = None,
) -> CliffsAnswer:
    """Answer: how does utilization fall as a run grows, and where does it end?

    Set T to get the utilization of one run.

    Raises:
        InputError: If a name, level or setting cannot be used.

    Example:
        >>> [c.between for c in cliffs("h100-sxm").cliffs]
        [('full utilization', 'data movement'), ('data movement', 'infeasible')]
    """
    chosen, given = machine_at(hardware, level), _exact(settings)
    base = _answer(cliffs_program(network=_has_network(chosen, given)), chosen, given)
    return CliffsAnswer(base.program, base.limit, base.parameters, base.machine, base.lumped)
