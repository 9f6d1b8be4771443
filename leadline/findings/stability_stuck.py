"""Series that end on one and the same number."""

from __future__ import annotations

from ..digits import number
from ..facts.finding import Beside, Evidence, Facts, Finding, Guide, Severity, Suspect, called, sentence_case
from ..questions.level import stuck_at
from ..reading.kl import ANY_KL
from ..reading.view import View
from ..records import dataclass
from ..run import REWARD, Series

GUIDE = {
    "stability.stuck": Guide(
        "A metric moved and is now stuck at one value.",
        "A run of equal values longer than any before.",
        "Check that the metric is still computed: a cached value or a dead worker looks like this.",
    ),
}

STICKING = (REWARD, "entropy", *ANY_KL)  # a gradient norm of 0 is told as no learning signal


@dataclass(frozen=True, slots=True)
class StuckValue:
    """One series that ends on one and the same number."""

    series: str
    value: float
    since_step: int
    points: int


@dataclass(frozen=True, slots=True)
class StuckSeries(Facts):
    """Series that moved and then stuck."""

    series: tuple[StuckValue, ...]

    @property
    def no_entropy(self) -> bool:
        return any(stuck.series == "entropy" and stuck.value == 0 for stuck in self.series)

    def say(self) -> str:
        why = " The policy is deterministic and no longer explores." if self.no_entropy else ""
        return f"{sentence_case('; '.join(map(_stuck, self.series)))}.{why}"

    def suspect(self, beside: Beside) -> Suspect | None:
        if self.no_entropy:
            return "learning_rate", "lower", "entropy is exactly 0"
        if beside.lost or REWARD not in [value.series for value in self.series]:
            return None
        return "reward_function", "check", "it scores every response the same"


def _stuck(stuck: StuckValue) -> str:
    stuck_at = f"stuck at exactly {number(stuck.value)} since step {stuck.since_step}"
    return f"{called(stuck.series)} {stuck_at} ({stuck.points} points)"


def detect(view: View) -> tuple[Finding, ...]:
    """Report all that stick as one finding; a concern where nothing can be learned from what it is stuck at."""
    logged = [series for name in STICKING if (series := view.run.get(name)) is not None]
    found = [(series, stuck) for series in logged if (stuck := stuck_at(series)) is not None]
    if not found:
        return ()
    values = (StuckValue(series.name, stuck.value, stuck.since_step, stuck.points) for series, stuck in found)
    facts = StuckSeries(tuple(values))
    first = min(stuck.since_step for _, stuck in found)
    bad = any(_worthless(series, stuck.value) for series, stuck in found)
    evidence = tuple(Evidence(series.name, stuck.since_step, int(series.steps[-1])) for series, stuck in found)
    severity: Severity = "concern" if bad else "note"
    return (Finding("stability.stuck", 1.0, severity, since_step=first, evidence=evidence, facts=facts),)


def _worthless(series: Series, value: float) -> bool:
    """Return whether it is stuck at nothing worth having: a policy that tries nothing any more, or a reward that pays
    every answer the same and has paid more."""
    values = series.numbers
    if series.name == REWARD:
        return value < float(values.max())
    return series.name == "entropy" and value <= float(values.min())
