"""Answers that have been cut off at the length cap from the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..curve.bins import LEAST
from ..evidence.numbers import CUT, ENDED, LENGTH, truncated
from ..facts import Evidence, Facts, Finding, Guide, Severity
from ..facts.judgement import Suspect
from ..questions.bars import CLEARLY, EVEN, HABIT, SAID
from ..questions.share import more_than
from ..questions.way import net_change
from ..reading.generations.truncation import witness
from ..reading.view import HEADLINE, View
from ..run import Series
from ..words.numbers import percent
from . import signal_no_learning_signal
from .signal_no_learning_signal import AllTruncated

GUIDE = {
    "generation.truncated_throughout": Guide(
        "Most or nearly all responses have been truncated at max length since the first steps.",
        "The logged share of truncated responses.",
        "Raise the max response length, or ask for shorter responses, unless they should have a fixed length.",
    ),
}
SUSPECT: Suspect = ("length_cap", "check")
ALMOST_ALL = 0.9  # share of the answers: of fewer it is not said that almost none finishes


@dataclass(frozen=True, slots=True)
class TruncatedThroughout(Facts):
    """Nearly every answer has been cut off at the length cap, from the first steps on."""

    share: float
    length_cap: int | None  # tokens, where the settings tell it
    reward_rose: bool
    one_length: int | None = None  # of all answers, where nobody counts what is cut off; `share` is then of steps

    def say(self) -> str:
        cap = "" if self.length_cap is None else f" ({self.length_cap} tokens)"
        cut = f"{percent(self.share)} of responses have hit max length{cap} since the start"
        if self.one_length is not None:
            cut = f"Mean response length is exactly {self.one_length} tokens, the max length"
        elif self.share <= ALMOST_ALL:
            return f"{cut}: their reward is unreliable."
        if self.reward_rose:
            truncated = "" if self.one_length is None else ": responses are truncated"
            return f"{cut}{truncated}. Reward rises anyway: fine if responses should have a fixed length."
        return f"{cut}: almost none finish. The limit is too low or the policy never emits EOS."


def detect(view: View) -> tuple[Finding, ...]:
    """Nearly every answer is cut off, or most are, and were from the start, so that nothing rose. Where reward rises
    all the same, answers may be meant to have a fixed length."""
    if any(isinstance(found.facts, AllTruncated) for found in signal_no_learning_signal.detect(view)):  # the same twice
        return ()
    run, series = view.run, truncated(view.run)
    if series is None or (run.get(CUT) is None and run.get(ENDED) is None):
        return _one_length(view)
    values = series.values[series.finite]
    if len(values) < LEAST:
        return ()
    learns, rose = _reward_rose(view)
    facts = TruncatedThroughout(float(values.mean()), run.config.length_cap, rose)
    for bar in (CLEARLY, EVEN):
        p = more_than(CLEARLY, int((values > bar).sum()), len(values))
        if p < SAID or float(values[:HABIT].mean()) <= bar:  # what grew into the cap is told as that
            continue
        if bar == CLEARLY:
            return (_finding(p, series, facts, "note" if learns else "concern"),)
        cut = witness(view)
        return () if cut is not None and cut.half > EVEN else (_finding(p, series, facts, "note"),)
    return ()


def _one_length(view: View) -> tuple[Finding, ...]:
    """Where nobody counts what is cut off, a mean length that is the cap at nearly every step shows that all are."""
    series, cap = view.run.get(LENGTH), view.run.config.length_cap
    values = series.values[series.finite] if series is not None else np.empty(0)
    if series is None or len(values) < LEAST:
        return ()
    longest = float(values.max())
    p = more_than(CLEARLY, int((values == longest).sum()), len(values))
    if p < SAID or longest <= 0 or longest != cap:
        return ()
    facts = TruncatedThroughout(float((values == longest).mean()), cap, _reward_rose(view)[1], cap)
    return (_finding(p, series, facts, "note"),)


def _finding(p: float, series: Series, facts: TruncatedThroughout, severity: Severity) -> Finding:
    steps = series.steps[series.finite]
    span = Evidence(series.name, int(steps[0]), int(steps[-1]))
    return Finding(
        "generation.truncated_throughout",
        round(p, 4),
        severity,
        facts=facts,
        since_step=int(steps[0]),
        evidence=(span,),
    )


def _reward_rose(view: View) -> tuple[bool, bool]:
    """Whether the reward may have risen, and whether it is known to."""
    reward = net_change(view.curve(HEADLINE))
    learns = reward is None or reward.rose >= SAID
    return learns, learns and reward is not None
