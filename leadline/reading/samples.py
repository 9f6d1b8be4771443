"""What samples and logged numbers say about the reward, once a reading, and the review that counts."""

from __future__ import annotations

from ..records import replace
from ..run import Review, Series
from ..text.evidence import GamedEvidence, gather
from .whole import Whole, asked_once


def measures_of(whole: Whole) -> tuple[Series, ...]:
    """Return the measures of the text as series."""
    relation = evidence_of(whole).relation
    tracks = {} if relation is None else relation.tracks
    names = {way: f"text/{way}" for way in tracks}
    return tuple(Series(names[way], names[way], "samples", each.steps, each.values) for way, each in tracks.items())


@asked_once
def evidence_of(whole: Whole) -> GamedEvidence:
    """Gather what samples and logged numbers say about the reward, since the last baseline: a reader's "ok" makes the
    text it covers a new one, and so do new prompts. These do not undo what was proven before them and still stands."""
    review = last_review(whole)
    read = review.seen_until if review is not None and review.answer == "ok" else None  # the last step found right
    asked = [change.prompts for change in whole.prompt_changes if read is None or change.prompts.after > read]
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
