"""Evidence about the reward from samples and logged numbers: what proves that it is broken, and what needs eyes.

`gather(run, batches)` looks at the samples of a run by step (`text.sampler.Batch`) and at its logged numbers, and
returns one `GamedEvidence`. Everything is a relation within the run, against its own first samples and their scatter;
no task is known, no level of any metric decides. The same input gives the same evidence, bit for bit.

    evidence = gather(run, batches)
    evidence.outcome         "gamed": degenerate whatever the task, and the reward holds; "decayed": the reward fell
                             with it; "changed": something else changed, a reader has to look; "none"; or "blind"
    evidence.p               probability of that
    evidence.begun           when it began, as an interval: a tenth of the way was behind what moved first

Proof is what no task wants (`relation.py`): one response to every prompt, loops, empty responses, everything truncated
that used to end, or half of it together with another move. Everything smaller, and responses that surprise the
reference far more than its own did, asks for a reader. See docs/decisions/0037 and bench/gamed.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..facts.finding import BEGUN, SAID, Move
from ..records import dataclass
from ..run import REWARD, Rollout, Run, Steps, Values
from .numbers import Numbers, calm, end_of, logged_since, numbers, surprise, truncated
from .relation import Begun, Relation, pair, relation
from .sampler import Batch
from .written import Written, since, written

TOLD = 0.3  # of the responses, or of the surprise at first: from here on it is told and dated
Outcome = Literal["gamed", "changed", "decayed", "none", "blind"]

ALL_CUT = 0.94  # of the responses truncated that used to end: proof by itself, if the reward holds


@dataclass(frozen=True, slots=True, eq=False)
class GamedEvidence:
    """All that samples and logged numbers say about the reward."""

    p: float  # of what the outcome says
    outcome: Outcome
    begun: Begun | None  # of what the outcome says
    relation: Relation | None
    text: Written | None  # all that was looked at
    numbers: Numbers

    @property
    def proven(self) -> bool:
        return self.outcome in ("gamed", "decayed")

    @property
    def moves(self) -> tuple[Move, ...]:
        """Return what moved: truncation, by which most is proven, then the furthest first."""
        moves = () if self.relation is None else self.relation.moves
        return (Move("cut", *self.numbers.truncated), *moves) if self.numbers.cut > TOLD else moves

    @property
    def pair(self) -> tuple[Rollout, Rollout] | None:
        """A response from before it began and a late one, as the furthest move shows them."""
        if self.begun is None or self.relation is None or not len(self.relation.worse):
            return None
        return pair(self.relation.text, self.relation.worse, self.begun.step)


def gather(run: Run, batches: Sequence[Batch], baseline: int | None = None) -> GamedEvidence:
    """Gather the evidence of a run as it stands, and of its samples by step. Everything is compared with what the run
    wrote at first, or from `baseline` on: other prompts get other responses, and a reader has found some right."""
    text = written(batches)
    alike = text
    if text is not None and baseline is not None:
        alike = since(text, int(np.searchsorted(text.steps, baseline)))
    related = None if alike is None or alike.batches < 2 else relation(alike)
    logged = numbers(run, baseline)
    related_p = 0.0 if related is None else related.p_proven(truncated=logged.cut > 0.5)
    p = max(related_p, float(logged.cut > ALL_CUT))
    changed = 0.0 if related is None else related.p_changed
    near = max(changed, float(logged.cut > TOLD), float(logged.unlike > 0.5))
    outcome: Outcome = "none" if text is not None else "blind"
    if p > SAID:
        reward = run.get(REWARD)
        fell = reward is not None and end_of(reward.values, late=True) < end_of(reward.values, late=False)
        outcome = "decayed" if fell else "gamed"
    elif near > 0.5:
        outcome = "changed"
    return GamedEvidence(
        {"gamed": p, "decayed": p, "changed": near}.get(outcome, 0.0),
        outcome,
        None if outcome in ("none", "blind") else _begun(logged_since(run, baseline), related, logged),
        related,
        text,
        logged,
    )


def _begun(run: Run, related: Relation | None, logged: Numbers) -> Begun | None:
    """Return when it began: with whatever moved first."""
    found = [] if related is None or not len(related.worse) else [related.begun]
    if logged.cut > TOLD:
        cut = truncated(run)
        found += [] if cut is None else [_dated(*cut.known)]
    if logged.unlike > TOLD:
        nats = surprise(run)
        found += [] if nats is None else [_dated(*nats[:2])]
    return min(found, key=lambda begun: begun.step, default=None)


def _dated(steps: Steps | Values, values: Values) -> Begun:
    """Return the last step at which a tenth of the way to now was behind it."""
    values = calm(values)
    start, now = end_of(values, late=False), end_of(values, late=True)
    below = np.flatnonzero((values - start) / (now - start) <= BEGUN) if now != start else np.zeros(0, dtype=np.int64)
    step = int(steps[below[-1]] if len(below) else steps[0])
    return Begun(step, step, step)
