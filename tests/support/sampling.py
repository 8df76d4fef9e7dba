"""How many random cases are tried, and which: a few each time, many in a campaign.

`pytest --campaign SEED:COUNT` tries COUNT cases from SEED on in place of the few.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypothesis import HealthCheck, settings

chosen: tuple[int, int] | None = None
"""First seed and count of a campaign; conftest.py sets it before it imports tests."""


@dataclass(frozen=True)
class Sample:
    """Seeds of the cases that a test tries, and how many it tries each time."""

    seeds: range
    few: int

    def least(self, count: int) -> int:
        """How often something must occur that occurs so often among the few."""
        return count * len(self.seeds) // self.few


def sample(few: int) -> Sample:
    """Seeds from 0 on, or those of the campaign."""
    first, count = chosen or (0, few)
    return Sample(range(first, first + count), few)


def examples(few: int, *suppressed: "HealthCheck") -> "settings":
    """Let Hypothesis try a few examples, the same each time, or those of the campaign."""
    from hypothesis import settings  # it takes as long as all else here

    count = chosen[1] if chosen else few
    return settings(
        max_examples=count, derandomize=not chosen, deadline=None, database=None,
        suppress_health_check=suppressed,
    )
