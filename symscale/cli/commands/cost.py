"""Command `cost`."""

from typing import Annotated

from symscale.cli.options.plan import ModelArgument, PlanOf, SizeSetOption, request_of
from symscale.cli.options.study import HardwareOption
from symscale.cli.output.output import Output, Writes, emit
from symscale.studies.requests.plan_options import PlanOptions


def cost(
    model: ModelArgument,
    plan: Annotated[PlanOptions, PlanOf("cost")],
    output: Annotated[Output, Writes(fragment=True)],
    hardware: HardwareOption = None,
    sets: SizeSetOption = None,
) -> None:
    """Costs of a Transformer by component: FLOP, parameters, communication, memory.

    What is not given stays symbolic.
    """
    from symscale.studies.cost.answer import cost_answer

    emit(cost_answer(request_of(model, plan, sets, rates=False), hardware), output)
