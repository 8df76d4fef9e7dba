"""What plans on clusters achieve, model by model."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from symscale.questions.reading import question, texts

if TYPE_CHECKING:
    from symscale.simulator.tables.runs import SimulatedCurves


@question
def simulate(
    hardware: str,
    *,
    widths: str | None = None,
    sparse: bool = False,
    batch_rule: str = "default",
    rules: Mapping[str, str] | Iterable[str] = (),
    duration: str | None = None,
    as_published: bool = False,
    wide: bool = False,
) -> "SimulatedCurves":
    """Utilization against training compute: for each model the best plan that is in time.

    Args:
        hardware: Presets or TOML files, separated by commas.
        widths: Which d_model: LOW..HIGH among those of the study, or a list.
        sparse: Whether the number of experts grows with the width.
        batch_rule: Batch size in tokens: default, none, deepseek or an expression.
        rules: Scaling rules of one's own: depth, experts or data.
        duration: Wall-clock time allowed. Default: 0.25 x 3.154e7 s.
        as_published: Whether zero-bubble schedules leave latency out.
        wide: Whether to search every split, not the published space.

    Raises:
        InputError: If something given cannot be used.
        NoAnswerError: If no cluster finishes the smallest model in time.

    Example:
        >>> import symscale as ss
        >>> curves = ss.simulate("h100-sxm", widths="12288")
        >>> round(curves.runs[0].rows[0]["utilization"], 2)
        0.7
    """
    from symscale.simulator.sparse_mlp.curve import QUARTER_S
    from symscale.simulator.tables.requests import (
        read_machines,
        read_rules,
        read_seconds,
        read_shapes,
    )
    from symscale.simulator.tables.runs import Assumptions, curves_of, simulated_run

    machines = read_machines(hardware)
    scaling = read_rules(sparse, batch_rule, texts("rules", rules))
    shapes = read_shapes(widths, scaling)
    assumed = Assumptions(scaling, read_seconds(duration) or QUARTER_S, as_published, wide)
    return curves_of([simulated_run(m, shapes, assumed) for m in machines], shapes[0].d_model)
