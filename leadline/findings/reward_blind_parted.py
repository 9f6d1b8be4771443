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
        "A blind grader, who sees neither step nor reward, finds that responses get worse while the reward rises.",
        "`leadline audit`: its grades, used only if it passes control samples.",
        "Read the sample pairs. If the grader is right, fix the reward function.",
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
        since = "" if self.begun_step is None else f" since step ~{self.begun_step}"
        return (
            f"Blind grades contradict the reward{since}: high-scoring responses are graded "
            f"{number(self.late)} of 1, down from {number(self.early)}."
        )


SUSPECT: Suspect = ("reward_function", "check")
