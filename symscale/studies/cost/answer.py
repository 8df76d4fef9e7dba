"""The costs of a Transformer under a plan, ready to print."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import sympy as sp

from symscale.answers import Answer
from symscale.costs.cost import Cost
from symscale.costs.memory import Memory, Recipe, recipe_called
from symscale.costs.transformer.communication import Communication, communications
from symscale.costs.transformer.component import Component
from symscale.costs.transformer.model import Transformer
from symscale.costs.transformer.stages import block_order, heaviest_stage, stage_sizes
from symscale.costs.transformer.tiers import TierSplit, split_over_tiers, tiers_of, words_by_tier
from symscale.errors import InputError
from symscale.facts.machines.lumped import Machine, load_machine
from symscale.studies.requests.transformer import Request


@dataclass(frozen=True, repr=False)
class CostAnswer(Answer):
    """The costs of a model under a plan.

    Attributes:
        request: What was asked.
        recipe: How many bytes a parameter takes.
        machine: The machine whose tiers carry the communication, or None.
    """

    page = "cost"
    request: Request
    recipe: Recipe
    machine: Machine | None

    @property
    def model(self) -> Transformer:
        """The Transformer."""
        return self.request.model

    def amount(self, cost: Cost) -> sp.Expr:
        """An amount with the settings put in, tidied."""
        return tidy(self.request.number(cost.expr))

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The components."""
        return self.model.components

    @cached_property
    def communications(self) -> tuple[Communication, ...]:
        """What a device of the heaviest stage sends."""
        return communications(self.model)

    @cached_property
    def memory(self) -> Memory:
        """What the fullest device holds."""
        return self.model.memory(self.recipe)

    @cached_property
    def splits(self) -> Mapping[str, TierSplit] | None:
        """How each degree lies over the machine's tiers; None without a machine."""
        if self.machine is None:
            return None
        return split_over_tiers(self.model.plan, [tier.size for tier in self.machine.tiers])

    def tier(self, entry: Communication) -> str | None:
        """The outermost tier that a communication crosses."""
        if self.machine is None or self.splits is None:
            return None
        return self.machine.tiers[tiers_of(entry, dict(self.splits)).outermost].name

    def by_tier(self, entry: Communication) -> dict[str, sp.Expr]:
        """The words that a device sends over each tier."""
        if self.machine is None or self.splits is None:
            return {}
        words = words_by_tier(entry, tiers_of(entry, dict(self.splits)))
        return {
            tier.name: tidy(self.request.number(amount))
            for tier, amount in zip(self.machine.tiers, words, strict=True)
        }

    @property
    def per_token(self) -> sp.Expr:
        """Tokens by which a step's FLOP are divided."""
        return self.model.tokens

    @cached_property
    def stage(self) -> str:
        """In words, how the blocks lie on the pipeline's stages."""
        order = block_order(self.model.architecture)
        stages = self.model.plan.N_PP
        if order is None or not stages.is_Integer or stages == 1:
            return ""
        sizes = stage_sizes(len(order), int(stages))
        if len(set(sizes)) == 1:
            return f"{sizes[0]} blocks on each of {stages} stages"
        heaviest = sp.Add(*heaviest_stage(self.model))
        return (
            f"{len(order)} blocks on {stages} stages, {min(sizes)} or {max(sizes)} on each; "
            f"the heaviest has {heaviest}"
        )

    @property
    def conventions(self) -> dict[str, str]:
        """What the numbers count."""
        architecture = self.model.architecture
        decoder = len({stack.encoder for stack in architecture.stacks}) == 2
        return {
            "flop": "a multiplication and an addition are 2 FLOP; matrix products only: norms, "
            "softmax, activations and lookups are not counted; backward twice forward",
            "mask": {
                "full": "every pair of tokens counts in attention",
                "causal": "half of the pairs count in causal attention, as a kernel does that "
                "skips the masked half",
            }[self.model.plan.mask],
            "tokens": "b counts tokens: sequences of a batch times the length of a sequence"
            + ("; encoder and decoder see as many each" if decoder else ""),
            "communication": "of one device of the heaviest stage in one step; payload: words "
            "that it takes part with; words: over its links, zero at degree 1; between pipeline "
            "stages the average over all of them",
            "experts": "expert parallelism lies within data parallelism: devices = "
            "dp x tp x pp x cp, and ep divides dp",
            "sharding": "gradients of sharding 2 and 3 are reduced, weights of sharding 3 "
            "gathered, for every microbatch",
            "memory": f"{self.recipe.meaning}: {self.recipe.bytes} bytes a parameter; fragments, "
            "buffers of collectives and the framework are left out; with a pipeline, blocks as on "
            "the heaviest stage, with the embedding and the microbatches of the first; "
            + self._scores,
            "active": "of experts, only a token's own; with the input embedding",
        }

    @property
    def _scores(self) -> str:
        plan = self.model.plan
        if plan.fused_attention or plan.recompute != "none":
            return "attention's scores are not kept"
        return "attention's scores are kept, as --no-fused-attention says"


@lru_cache(maxsize=4096)
def tidy(expr: sp.Expr) -> sp.Expr:
    """Return an amount as a number, or factored where it is a formula; factoring takes long.

    Example:
        >>> from symscale.language.symbols import symbols
        >>> L, b = symbols("L b")
        >>> tidy(4*L*b + 8*L)
        4*L*(b + 2)
    """
    if expr.is_Rational:
        return expr
    if expr.has(sp.Max, sp.Min):
        return sp.factor_terms(expr)
    return sp.factor(expr)


def cost_answer(request: Request, hardware: str | None = None) -> CostAnswer:
    """Answer a question about the costs of a Transformer.

    Args:
        request: The model and its plan.
        hardware: A machine's name or file, whose tiers carry the communication.

    Raises:
        InputError: If the recipe or the machine is unknown, or the plan has open degrees
            that a tier would depend on.
    """
    machine = load_machine(hardware) if hardware is not None else None
    answer = CostAnswer(request, recipe_called(request.model.plan.recipe), machine)
    if machine is not None:
        plan = request.model.plan
        degrees = {"--tp": plan.N_TP, "--cp": plan.N_CP, "--dp": plan.N_DP, "--pp": plan.N_PP}
        missing = [option for option, degree in degrees.items() if not degree.is_Integer]
        if missing:
            raise InputError(
                f"--hardware {hardware}: which tier carries what depends on {', '.join(missing)}; "
                "give each a number"
            )
        _ = answer.splits
    return answer
