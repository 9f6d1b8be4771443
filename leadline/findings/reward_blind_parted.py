"""Score and quality have parted, as a second reader sees who knows neither score nor step: made by an audit
(`audit/hearing.py`)."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Facts, Guide, Meaning
from ..facts.judgement import Suspect
from ..run import Rollout
from ..words.numbers import number

GUIDE = {
    "reward.blind_parted": Guide(
        "A second reader, who graded answers without knowing step or score, sees them get worse while the score rises.",
        "`leadline audit`: its grades as a series of their own, heard only where it tells planted samples apart.",
        "Read the pairs that are shown. If the grader is right, the reward function pays for something else.",
    ),
}
MEANS: dict[str, Meaning] = {"reward.blind_parted": "gamed"}


@dataclass(frozen=True, slots=True)
class BlindParted(Facts):
    """Answers with a high score were good and are not any more, as a reader sees who knows neither score nor step."""

    early: float  # mean grade of high-scored answers, 0 to 1
    late: float
    last_before: int | None
    begun_step: int | None
    old: Rollout
    new: Rollout

    def say(self) -> str:
        since = "" if self.begun_step is None else f" from about step {self.begun_step} on"
        return (
            f"A high score no longer means a good answer{since}: read blind, high-scored answers are graded "
            f"{number(self.late)} of 1, {number(self.early)} at first."
        )


SUSPECT: Suspect = ("reward_function", "check")
