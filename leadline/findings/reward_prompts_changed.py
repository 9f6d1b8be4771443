"""The prompts changed: levels before and after are of different tasks."""

from __future__ import annotations

from ..digits import counted
from ..facts.finding import Evidence, Facts, Finding, Guide, PromptChange
from ..reading.breaks import breaks_of
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD
from ..text.prompts import SHUFFLES

GUIDE = {
    "reward.prompts_changed": Guide(
        "The sampled prompts differ in kind from those before.",
        "The words of the prompts before and after.",
        "Compare rewards only between changes. If no change was intended, check the data loader.",
    ),
}


@dataclass(frozen=True, slots=True)
class PromptsChanged(Facts):
    """Levels before and after are of different tasks."""

    change: PromptChange
    later: tuple[PromptChange, ...] = ()  # further changes, in order
    apart: bool = True  # the reward stepped at the last of them, so that only what follows is read

    def say(self) -> str:
        before, after = self.change.before, self.change.after
        when = f"between steps {before} and {after}"
        if self.later:
            when = f"{counted(1 + len(self.later), 'time')}, first {when}, last by step {self.later[-1].after}"
        if not self.apart:
            return f"Prompts changed {when}: reward did not step there, so the run is read as one."
        return (
            f"Prompts changed {when}: rewards before and after aren't comparable, and a lower reward doesn't mean a "
            "worse policy."
        )


def detect(view: View) -> tuple[Finding, ...]:
    """Report one finding for all changes, where there is a reward to compare."""
    changes = view.whole.prompt_changes
    if not changes or view.of(REWARD) is None:
        return ()
    evidence = tuple(Evidence("rollouts", change.before, change.after) for change in changes)
    first, *later = changes
    stepped = [broke.cause.prompts for broke in breaks_of(view.whole)]
    apart = view.stretch.because == "prompts" or changes[-1] in stepped
    facts = PromptsChanged(first, tuple(later), apart)
    p = 1 - 1 / (SHUFFLES + 1)  # only the true order parts so far
    return (Finding("reward.prompts_changed", p, "note", facts, changes[-1].after, evidence),)
