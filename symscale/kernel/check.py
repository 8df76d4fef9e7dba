"""The check of a file: what it declares, then one theorem after the other."""

from dataclasses import dataclass
from typing import Any

from symscale.kernel.limits import MOST_WORK, Refused, budget, shown, spent
from symscale.kernel.polynomials import Interval
from symscale.kernel.problem import MOST, Declarations, StatedProblem, read_problem
from symscale.kernel.read import (
    as_dict,
    as_line,
    as_list,
    as_name,
    as_object,
    as_rational,
    read_json,
)
from symscale.kernel.region import ProofRegion
from symscale.kernel.sentences import problem_sentence, sentence
from symscale.kernel.theorems import Proved, show

FORMAT = "symscale-certificate"
VERSION = 3
MOST_SYMBOLS = 3
MOST_VARIABLES = 60


@dataclass(frozen=True)
class TheoremVerdict:
    """What the check of a theorem found.

    Attributes:
        name: The theorem's name.
        kind: Its kind.
        holds: Whether it was shown.
        text: The sentence that was shown, or why it was not.
    """

    name: str
    kind: str
    holds: bool
    text: str


@dataclass(frozen=True)
class FileVerdict:
    """What the check of a file found.

    Attributes:
        title: What the file is about, in its own words.
        problem: The problem that its theorems are about, or "".
        findings: One for each theorem, in the file's order.
        work: The units of work that it took.
    """

    title: str
    problem: str
    findings: tuple[TheoremVerdict, ...]
    work: int

    @property
    def holds(self) -> bool:
        """Whether every theorem was shown."""
        return all(f.holds for f in self.findings)


def check(text: str) -> FileVerdict:
    """Check a file of theorems, given as text.

    Raises:
        Refused: If it is no such file; the text says where it goes wrong.

    Example:
        >>> found = check('''{"format": "symscale-certificate", "version": 3, "title": "a square",
        ...  "exponents": {}, "domain": [], "abbreviations": [], "theorems": [
        ...   {"theorem": "inequality", "name": "means", "region": [], "witness": {},
        ...    "left": [{"product": {"a": "2"}}, {"product": {"b": "2"}}], "relation": ">=",
        ...    "right": [{"coefficient": "2", "product": {"a": "1", "b": "1"}}],
        ...    "proof": [{"square": [{"product": {"a": "1"}},
        ...                          {"coefficient": "-1", "product": {"b": "1"}}]}]}]}''')
        >>> found.findings[0].text
        'for all positive parameters: a^2 + b^2 >= 2*a*b'
    """
    with budget():
        try:
            return _checked(read_json(text))
        except RecursionError:
            raise Refused("it is nested too deeply") from None


def _checked(data: Any) -> FileVerdict:
    keys = ("format", "version", "title", "exponents", "domain", "abbreviations", "theorems")
    row = as_object(data, "the file", keys, ("problem",))
    if row["format"] != FORMAT or type(row["version"]) is not int or row["version"] != VERSION:
        raise Refused(f"it is no {FORMAT} of version {VERSION}")
    title = as_line(row["title"])
    scope = Declarations({as_name(s): _interval(s, ends) for s, ends in _symbols(row["exponents"])})
    if "problem" in row:
        scope.variables = _variables(as_dict(row["problem"], "a problem").get("variables"), scope)
    scope.domain = _domain(row["domain"], scope)
    for entry in as_list(row["abbreviations"], "the abbreviations", MOST):
        scope.declare(entry)
    problem = read_problem(row["problem"], scope) if "problem" in row else None
    theorems = as_list(row["theorems"], "the theorems", MOST)
    if not theorems:
        raise Refused("the file has no theorem")
    known: dict[str, Proved] = {}
    findings = tuple(_finding(k, t, scope, problem, known) for k, t in enumerate(theorems, 1))
    names = [f.name for f in findings]
    if len(set(names)) < len(names):
        raise Refused("two theorems have one name")
    about = problem_sentence(problem, scope) if problem is not None else ""
    return FileVerdict(title, about, findings, spent(MOST_WORK))


def _finding(
    place: int,
    data: object,
    scope: Declarations,
    problem: StatedProblem | None,
    known: dict[str, Proved],
) -> TheoremVerdict:
    row = as_dict(data, "a theorem")
    name = as_line(row.get("name", f"theorem {place}"))
    kind = row.get("theorem")
    try:
        proved = show(data, scope, problem, known)
        known.setdefault(name, proved)
        return TheoremVerdict(name, proved.kind, True, sentence(proved, problem))
    except Refused as refusal:
        return TheoremVerdict(name, shown(kind).strip("'"), False, str(refusal))


def _symbols(data: object) -> list[tuple[str, Any]]:
    found = list(as_dict(data, "the exponents").items())
    if len(found) > MOST_SYMBOLS:
        raise Refused(f"there are more than {MOST_SYMBOLS} exponent symbols")
    return found


def _interval(name: str, data: object) -> Interval:
    ends = as_list(data, f"the interval of {name}", 2)
    if len(ends) != 2:
        raise Refused(f"the interval of {name} has not two ends")
    low, high = (None if e is None else as_rational(e) for e in ends)
    if low is not None and high is not None and low >= high:
        raise Refused(f"the interval of {name} is empty")
    return low, high


def _variables(data: object, scope: Declarations) -> tuple[str, ...]:
    names = [as_name(x) for x in as_list(data, "the variables", MOST_VARIABLES)]
    if not names:
        raise Refused("the problem has no variables")
    if len(set(names)) < len(names) or set(names) & set(scope.box):
        raise Refused("a variable stands twice, or is an exponent symbol")
    return tuple(names)


def _domain(data: object, scope: Declarations) -> tuple[Any, ...]:
    region = ProofRegion(scope)
    for row in as_list(data, "the domain", MOST):
        region.add(scope.condition(row))
    return tuple(region.conditions.values())
