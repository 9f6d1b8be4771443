"""KL that falls at once because it is measured from a new reference: a saw-tooth, and nothing the policy did."""

from __future__ import annotations

from ..digits import listed, went
from ..facts.finding import SAID, Evidence, Facts, Finding, Guide
from ..questions.fall import p_fallen
from ..reading.kl import distance_series, kl_and_reward, resets_of
from ..reading.view import View
from ..records import dataclass

GUIDE = {
    "kl.reset": Guide(
        "The reference policy was reset, so KL restarts.",
        "The settings, or a KL that drops to nearly zero with reward unchanged.",
        "Nothing. Don't compare KL across the reset.",
    ),
}


@dataclass(frozen=True, slots=True)
class KlReset(Facts):
    """KL starts anew, because it is measured from a new reference."""

    steps: tuple[int, ...]
    announced: bool  # the run says so; else it is seen in KL alone
    before: float | None = None  # level before the first of them, where it is only seen
    after: float | None = None

    def say(self) -> str:
        when = _at(self.steps)
        if self.announced or self.before is None or self.after is None:
            return f"Reference policy reset {when}: KL restarts there, so a sawtooth is expected."
        levels = went(self.before, self.after)
        dropped = f"{levels} {when}" if len(self.steps) == 1 else f"{when} (first {levels})"
        return (
            f"KL dropped {dropped} with reward unchanged: likely a reference reset. "
            "KL before and after isn't comparable."
        )


NAMED = 4  # steps that are named one by one
SHOWN = 8  # resets that are shown one by one


def detect(view: View) -> tuple[Finding, ...]:
    """Report all resets as one note; if reward was lost, KL fell with it."""
    kl, both, resets = distance_series(view.run), kl_and_reward(view), resets_of(view.whole)
    if kl is None or not resets or (both is not None and p_fallen(both[1].curve) > SAID * SAID):
        return ()
    steps, first = tuple(reset.step for reset in resets), resets[0]
    announced = any(reset.announced for reset in resets)
    facts = KlReset(steps, announced, *(() if announced else (first.before, first.after)))
    evidence = tuple(Evidence(kl.name, step, min(step + 1, int(kl.steps[-1]))) for step in steps[:SHOWN])
    p = 1.0 if announced else round(min(reset.p for reset in resets), 4)
    return (Finding("kl.reset", p, "note", since_step=steps[0], evidence=evidence, facts=facts),)


def _at(steps: tuple[int, ...]) -> str:
    if len(steps) == 1:
        return f"at step {steps[0]}"
    if len(steps) <= NAMED:
        return f"at steps {listed([str(step) for step in steps])}"
    return f"{len(steps)} times between steps {steps[0]} and {steps[-1]}"
