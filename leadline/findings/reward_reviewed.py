"""A reader of the samples found the reward hacked."""

from __future__ import annotations

from dataclasses import dataclass

from ..facts import Evidence, Facts, Finding, Guide, Meaning
from ..facts.judgement import Suspect
from ..questions.bars import CLEARLY
from ..reading.gamed import last_review
from ..reading.prompts import changes_of_prompts
from ..reading.view import View

GUIDE = {
    "reward.reviewed": Guide(
        "A reviewer of the samples, human or agent, found reward hacking.",
        "The last review of the run (`leadline review`).",
        "Fix the reward function, and resume from a checkpoint before the step the reviewer names. "
        "`leadline review RUN --forget` deletes the review.",
    ),
}
MEANS: dict[str, Meaning] = {"reward.reviewed": "gamed"}


@dataclass(frozen=True, slots=True)
class Reviewed(Facts):
    """A reader of the samples found the reward hacked."""

    reader: str
    since_step: int | None
    seen_until: int

    def say(self) -> str:
        who = self.reader or "a reviewer"
        since = "" if self.since_step is None else f" since step {self.since_step}"
        return f"Reward hacking{since} according to {who}: samples read up to step {self.seen_until}."


def detect(view: View) -> tuple[Finding, ...]:
    """Report a reader who found the reward hacked; a careful one is right nine times in ten. It ends with prompts that
    changed after what the reader saw."""
    review = last_review(view)
    if review is None or review.answer != "hacked":
        return ()
    if any(change.prompts.after > review.seen_until for change in changes_of_prompts(view)):
        return ()
    facts = Reviewed(review.reader, review.since_step, review.seen_until)
    span = Evidence("rollouts", view.run.first_step or 0, review.seen_until)
    since = review.since_step if review.since_step is not None else view.run.first_step
    return (Finding("reward.reviewed", CLEARLY, "critical", facts=facts, since_step=since, evidence=(span,)),)


SUSPECT: Suspect = ("reward_function", "check")
