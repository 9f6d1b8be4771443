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
from numpy.typing import NDArray

from ..facts.finding import SAID, Move
from ..records import dataclass
from ..run import REWARD, Flags, Rollout, Run
from .numbers import TOLD, Numbers, end_of, numbers
from .relation import NEAR, Begun, Relation, relation
from .sampler import Batch
from .written import Written, since, written

Outcome = Literal["gamed", "changed", "decayed", "none", "blind"]

WORST = 0.2  # of the rewarded samples, from which the shown one is taken
ALL_CUT = 0.94  # of the responses truncated that used to end: proof by itself, if the reward holds


@dataclass(frozen=True, slots=True, eq=False)
class GamedEvidence:
    """All that samples and logged numbers say about the reward."""

    p: float  # of what the outcome says
    outcome: Outcome
    begun: Begun | None  # of what the outcome says
    moves: tuple[Move, ...]  # what moved: truncation, by which most is proven, then the furthest first
    relation: Relation | None
    text: Written | None  # all that was looked at
    numbers: Numbers

    @property
    def proven(self) -> bool:
        return self.outcome in ("gamed", "decayed")

    @property
    def pair(self) -> tuple[Rollout, Rollout] | None:
        """Return of the samples before it began the one whose prompt is most like that of a late one that has gone far
        by the furthest move; among several such the one that had gone least. Both were paid for: a response that earned
        nothing shows nothing."""
        if self.begun is None or self.relation is None or not len(self.relation.worse):
            return None
        text, worse = self.relation.text, np.nan_to_num(self.relation.worse)
        third = max(len(text.steps) // 3, 1)
        steps = np.asarray([sample.step for sample in text.samples])
        early = _paid(text, (text.batch < max(third // 2, 1)) & (steps <= max(self.begun.step, steps.min()))).tolist()
        paid = _paid(text, text.batch >= len(text.steps) - third)
        late = paid[np.argsort(-worse[paid], kind="stable")][: max(round(WORST * len(paid)), 1)].tolist()
        asked = {place: {*text.prompts.ids[text.prompts.owner == place].tolist()} for place in (*early, *late)}
        best = (-1.0, 0.0, early[0], late[0])
        for new in late:
            for old in early:
                alike = len(asked[new] & asked[old]) / max(len(asked[new] | asked[old]), 1)
                best = max(best, (alike, -float(worse[old]), old, new))
            if best[0] == 1:
                break
        return text.samples[best[2]], text.samples[best[3]]


def _paid(text: Written, among: Flags) -> NDArray[np.int64]:
    """Return the samples that scored no worse than most of those."""
    places, scores = np.flatnonzero(among), text.scores[among]
    return places[scores >= np.nanmedian(scores)] if np.isfinite(scores).any() else places


def gather(run: Run, batches: Sequence[Batch], baseline: int | None = None) -> GamedEvidence:
    """Gather the evidence of a run as it stands, and of its samples by step. Everything is compared with what the run
    wrote at first, or from `baseline` on: other prompts get other responses, and a reader has found some right."""
    text = written(batches)
    alike = text
    if text is not None and baseline is not None:
        alike = since(text, int(np.searchsorted(text.steps, baseline)))
    related = None if alike is None or len(alike.steps) < 2 else relation(alike)
    logged = numbers(run, baseline)
    related_p = 0.0 if related is None else related.p_proven(truncated=logged.cut > 0.5)
    p = max(related_p, float(logged.cut > ALL_CUT))
    changed = 0.0 if related is None else float((related.distance > NEAR).mean())
    near = max(changed, float(logged.cut > TOLD), float(logged.unlike > 0.5))
    found = [Begun(step, step, step) for step in logged.begun]
    if related is not None and len(related.worse):
        found.insert(0, related.begun)
    moves = () if related is None else related.moves
    if logged.cut > TOLD:
        moves = (Move("cut", *logged.truncated), *moves)
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
        None if outcome in ("none", "blind") else min(found, key=lambda begun: begun.step, default=None),
        moves,
        related,
        text,
        logged,
    )
