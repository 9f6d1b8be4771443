"""The whole run: the curve of any of its series over all that was logged, and what its samples say, made when first
asked for.

Findings look at a `View`, which hands out the part of the run that counts. The whole is for what decides that part, for
charts, and for the few findings that `tests/test_house.py` lists with their reason.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar

from ..curve.cells import Break
from ..curve.fit import breaks_in
from ..facts.finding import PromptChange
from ..plan import Plan
from ..progress import tell
from ..questions.level import Trace
from ..records import dataclass, field, replace
from ..run import REWARD, Review, Run, Series
from ..text.evidence import GamedEvidence, gather
from ..text.prompts import changes_in
from ..text.sampler import Batch, look

REGIME_EVENTS = ("resume", "reference_reset")  # after these a metric may start anew, though the policy didn't change

Made = TypeVar("Made")


def asked_once(answer: Callable[[Whole], Made]) -> Callable[[Whole], Made]:
    """Remember the answer to a question about a run."""

    @wraps(answer)
    def ask(whole: Whole) -> Made:
        return whole.once(answer, lambda: answer(whole))

    return ask


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """One run, all of it."""

    run: Run
    plan: Plan | None = None  # how long the run is to be, and whether it has ended
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Make what several findings need when it is first asked for. It depends on the run alone."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def of(self, wanted: str | Series | None) -> Trace | None:
        """Return a series, logged or derived, with its curve; None if there is none, or no number in it."""
        series = self.run.get(wanted) if isinstance(wanted, str) else wanted
        if series is None or not series.finite.any():
            return None
        if ("whole", wanted) not in self._made:
            end = None if self.plan is None else self.plan.end
            self._made["whole", wanted] = Trace(series, self._events(series), end)
            begun = sum(isinstance(one, Trace) for one in self._made.values())
            tell("fitting curves", begun, max(len(self.run.series), begun))
        made: Trace = self._made["whole", wanted]
        return made

    @property
    def prompt_changes(self) -> tuple[PromptChange, ...]:
        """The sudden changes of the prompts, in order."""
        return self.once("prompts", lambda: changes_in(self.batches))

    def breaks(self, series: Series) -> tuple[Break, ...]:
        """Return the breaks of its curve, for findings that ask for nothing else."""
        return breaks_in(series, breaks=self._events(series))

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The samples looked at, by step."""
        return self.once("batches", lambda: look(self.run.rollouts))

    def _events(self, series: Series) -> list[int]:
        """Return steps at which a series may break. A held-out score of few points breaks where the training reward
        did."""
        known = {event.step for event in self.run.events if event.kind in REGIME_EVENTS}
        training = self.of(REWARD) if series.name.startswith("eval/") else None
        return sorted(known | ({round(found.step) for found in training.curve.breaks} if training else set()))


@asked_once
def evidence_of(whole: Whole) -> GamedEvidence:
    """Gather what samples and logged numbers say about the reward, since the last baseline: a reader's "ok" makes the
    text it covers a new one, and so do new prompts. New prompts do not undo what was proven before and still stands."""
    review = last_review(whole)
    read = review.seen_until if review is not None and review.answer == "ok" else None  # the last step found right
    asked = [change for change in whole.prompt_changes if read is None or change.after > read]
    baselines = [read, *(prompts.after for prompts in asked)]
    latest = gather(whole.run, whole.batches, baselines[-1])
    if latest.proven:
        return latest
    for baseline, prompts in zip(baselines, asked, strict=False):
        earlier = [batch for batch in whole.batches if batch.step <= prompts.before]
        before = gather(whole.run.until(prompts.before), earlier, baseline)
        still = gather(whole.run, whole.batches, baseline) if before.proven else before
        if still.proven:
            return replace(still, begun=before.begun)
    return latest


def last_review(whole: Whole) -> Review | None:
    """Return the review that counts: of those who saw furthest the last one that was given."""
    ordered = sorted(whole.run.reviews, key=lambda review: (review.seen_until, review.at))
    return ordered[-1] if ordered else None
