"""Is the reward being gamed? The evidence of `leadline/evidence/` for this run, and how findings tell it."""

from __future__ import annotations

from dataclasses import replace

from ..evidence import GamedEvidence, gather
from ..evidence.numbers import CUT, KL
from ..facts import Evidence
from ..facts.gamed import Move
from ..questions.bars import EVEN, RARE, SELDOM
from ..run import Review, Rollout, Series
from .prompts import changes_of_prompts
from .view import View


def evidence_of(view: View) -> GamedEvidence:
    """Gather what samples and logged numbers say about the reward, once a reading. A reader's "ok" makes the text it
    covers the new baseline, and so do new prompts."""
    return view.once("gamed", lambda: _kept(view, _gathered(view)))


def _kept(view: View, evidence: GamedEvidence) -> GamedEvidence:
    """The same, with its measures of the text among what the run shows."""
    for way, track in () if evidence.relation is None else evidence.relation.tracks.items():
        view.keep(Series(f"text/{way}", f"text/{way}", "samples", track.steps, track.values))
    return evidence


def _gathered(view: View) -> GamedEvidence:
    """Gather it since the last baseline. New prompts do not undo what was proven before them and still stands."""
    read = _read_until(view)
    asked = [change.prompts for change in changes_of_prompts(view) if read is None or change.prompts.after > read]
    baselines = [read, *(prompts.after for prompts in asked)]
    latest = gather(view.run, view.batches, baselines[-1])
    if latest.proven:
        return latest
    for baseline, prompts in zip(baselines, asked, strict=False):
        earlier = [batch for batch in view.batches if batch.step <= prompts.before]
        before = gather(view.run.until(prompts.before), earlier, baseline)
        still = gather(view.run, view.batches, baseline) if before.proven else before
        if still.proven:
            return replace(still, begun=before.begun)
    return latest


def _read_until(view: View) -> int | None:
    """Return the last step that a reader found right."""
    review = last_review(view)
    return review.seen_until if review is not None and review.answer == "ok" else None


def last_review(view: View) -> Review | None:
    """Return the review that counts: of those who saw furthest the last one that was given."""
    ordered = sorted(view.run.reviews, key=lambda review: (review.seen_until, review.at))
    return ordered[-1] if ordered else None


def moves_of(evidence: GamedEvidence) -> tuple[Move, ...]:
    """What moved further than its error, the furthest first."""
    moves = () if evidence.shift is None else evidence.shift.moves
    clear = [move for move in moves if abs(move.now - move.start) > max(RARE, 2 * move.error)]
    found = tuple(Move(move.way, move.start, move.now, move.paid) for move in clear)
    cut = evidence.numbers.cut
    return (*found, Move("cut", 0.0, cut)) if cut > SELDOM else found


def pair_of(evidence: GamedEvidence) -> tuple[Rollout | None, Rollout | None]:
    """An early and a late response, as the relation that moved furthest shows them."""
    shift = evidence.shift
    return (None, None) if shift is None or shift.pair is None else shift.pair


def shown_by(view: View, evidence: GamedEvidence) -> tuple[Evidence, ...]:
    """Where it can be checked: the samples, or the numbers where none were kept."""
    if not view.batches:
        first, last = view.run.first_step or 0, view.run.last_step or 0
        named = ((CUT, evidence.numbers.cut > EVEN), (KL, evidence.numbers.unlike > EVEN))
        return tuple(Evidence(name, first, last) for name, told in named if told)
    samples = tuple(sample for sample in pair_of(evidence) if sample is not None)
    return (Evidence("rollouts", view.batches[0].step, view.batches[-1].step, samples=samples),)
