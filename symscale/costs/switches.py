"""What a plan says besides its degrees: switches, and those that people run today."""

from dataclasses import dataclass
from typing import Literal

Recomputation = Literal["none", "selective", "full"]
Schedule = Literal["1f1b", "zero-bubble"]
Mask = Literal["full", "causal"]


@dataclass(frozen=True, kw_only=True)
class Switches:
    """What a plan says besides its degrees; all off, as textbooks count.

    Attributes:
        sequence_parallel: Whether what tensor parallelism leaves whole (norms, dropout) is
            split over the tokens instead: all-reduces become reduce-scatter and all-gather.
        zero: What is sharded over the replicas: 0 nothing, 1 optimizer states, 2 gradients
            too, 3 weights too (fully sharded data parallelism).
        schedule: "1f1b", interleaved where v > 1, or "zero-bubble".
        recompute: What the backward pass computes again: "none", "selective" (scores and
            softmax of attention), "full" (each block from its input).
        fused_attention: Whether a kernel never writes attention's scores to memory.
        mask: "full" counts every pair of tokens in attention, "causal" only those that a
            kernel which skips masked pairs computes.
        recipe: Name of the precision recipe: how many bytes a parameter takes.
    """

    sequence_parallel: bool = False
    zero: int = 0
    schedule: Schedule = "1f1b"
    recompute: Recomputation = "none"
    fused_attention: bool = False
    mask: Mask = "full"
    recipe: str = "mixed"

    @property
    def words(self) -> dict[str, str]:
        """Each switch in words, by name.

        Example:
            >>> USUAL.words["zero"], Switches().words["recompute"]
            ('sharding stage 1', 'no recomputation')
        """
        return {
            "sequence_parallel": f"{'' if self.sequence_parallel else 'no '}sequence parallelism",
            "zero": f"sharding stage {self.zero}",
            "schedule": "1F1B" if self.schedule == "1f1b" else f"{self.schedule} schedule",
            "recompute": f"{'no' if self.recompute == 'none' else self.recompute} recomputation",
            "fused_attention": f"{'' if self.fused_attention else 'no '}fused attention",
            "mask": f"{self.mask} mask",
            "recipe": f"recipe {self.recipe}",
        }


USUAL = Switches(sequence_parallel=True, zero=1, fused_attention=True)
"""What people run today, and what is taken where a user says nothing."""
