"""The largest training run, and how utilization falls beyond it."""

from typing import TYPE_CHECKING

from symscale.questions.reading import Settings, question, texts

if TYPE_CHECKING:
    from symscale.studies.training.answer import CliffsAnswer, LimitsAnswer


@question
def limits(
    hardware: str | None = None,
    *,
    set: Settings = (),
    level: str | None = None,
    duration: str | None = None,
    full: bool = False,
) -> "LimitsAnswer":
    """Largest training run at full utilization, with what binds it.

    Args:
        hardware: A preset or a TOML file; without it the answer is symbolic.
        set: Parameters: numbers, texts with a unit, or products of powers of symbols.
        level: What acts as one device: device, node, or another tier of the machine.
        duration: Wall-clock time allowed, t_d: 90d, 3mo, 1y. Default: 3mo.
        full: Whether every parallel degree is a variable within natural bounds.

    Raises:
        InputError: If something given cannot be used.
        NoAnswerError: If there is no such run, or no largest one.

    Example:
        >>> import symscale as ss
        >>> answer = ss.limits("h100-sxm", set={"t_d": "90d", "b_0": 8e6})
        >>> answer
        <limits: T = 7.4766e28 FLOP, data movement rules; 2 pieces>
        >>> answer.ruling.expr
        27*W_mem**2*W_net**4*b_0**2*t_d**2/(2560*C**4*E*L_0**2)
    """
    from symscale.studies.requests.parameters import read_study_settings
    from symscale.studies.training.answer import full_training_limits, training_limits

    ask = full_training_limits if full else training_limits
    settings = read_study_settings(texts("set", set), duration)
    answer = ask(hardware, level=level, settings=settings)
    answer.check()
    return answer


@question
def cliffs(
    hardware: str | None = None,
    *,
    set: Settings = (),
    level: str | None = None,
    duration: str | None = None,
) -> "CliffsAnswer":
    """Utilization as a function of training compute: its pieces, and where they meet.

    Args:
        hardware: A preset or a TOML file; without it the answer is symbolic.
        set: Parameters; T for the utilization of one run.
        level: What acts as one device.
        duration: Wall-clock time allowed, t_d.

    Raises:
        InputError: If something given cannot be used.
        NoAnswerError: If no such run fits.

    Example:
        >>> import symscale as ss
        >>> [cliff.between for cliff in ss.cliffs("h100-sxm").cliffs]
        [('full utilization', 'data movement'), ('data movement', 'infeasible')]
    """
    from symscale.studies.requests.parameters import read_study_settings
    from symscale.studies.training.answer import cliffs as ask

    settings = read_study_settings(texts("set", set), duration)
    answer = ask(hardware, level=level, settings=settings)
    answer.check()
    return answer
