"""From a run to requests, and from answers to an audit: the flow of the second reading."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from ..contract import Finding, Judgement, Reading, Rollout
from ..facts import by_weight
from ..facts.audit import Audit, Blind, Claim, Cost, Shown
from ..findings import MEANINGS
from ..judgement import judge
from ..judgement.evidence import OF_THE_TEXT
from ..pipeline import read_view, view_of
from ..questions.bars import EVEN
from ..questions.since_peak import p_held_while_other_fell
from ..reading import View
from ..reading.still import long_still
from ..reading.view import HEADLINE
from ..run import Grade, Review, Run, Samples
from .answers import Unusable, claims_of, grades_of
from .choose import choose
from .endpoint import NoAnswer
from .hearing import finding_of, heard, series_of
from .requests import Redaction, Request, checking, grading

AUDIT = "audit:"  # in front of the reader of a review that came from an audit


class SecondReader(Protocol):
    """Who answers: an endpoint, or files that somebody wrote."""

    @property
    def name(self) -> str: ...

    def ask(self, request: Request) -> bytes:
        """The raw answer, or NoAnswer."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A run that was read, and what a second reader is asked about it."""

    view: View
    reading: Reading
    shown: tuple[Shown, ...]
    requests: tuple[Request, ...]
    cards: Mapping[str, Rollout]

    @property
    def tokens(self) -> int:
        return sum(request.tokens for request in self.requests)


def prepare(
    run: Run,
    *,
    budget: int | None = None,
    samples: bool = True,
    redaction: Redaction | None = None,
    now: float | None = None,
) -> Prepared:
    """Our own reading, and the requests. `samples`: what the policy wrote may be sent. `now`: as for a reading."""
    redaction = redaction or Redaction()
    kept: Samples = run.rollouts
    silent = now is not None and long_still(run, now)
    view = _without_audits(view_of(run, budget=budget, silent=silent))
    reading = read_view(view, charts="main")
    shown = choose(kept) if samples else ()
    claims, cards = checking(reading.findings, redaction, samples=samples)
    requests = (*grading(shown, redaction), *((claims,) if claims.ids else ()))
    return Prepared(view, reading, shown, requests, cards)


def _without_audits(view: View) -> View:
    """So that the verdict "without" knows nothing of what this audit may have said before."""
    reviews = tuple(review for review in view.run.reviews if not review.reader.startswith(AUDIT))
    return view if reviews == view.run.reviews else replace(view, run=replace(view.run, reviews=reviews))


@dataclass(slots=True)
class _Taken:
    """What came back, as far as it can be used."""

    grades: dict[str, float] = field(default_factory=dict)
    marks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tasks: list[str] = field(default_factory=list)
    claims: tuple[Claim, ...] = ()
    problems: list[str] = field(default_factory=list)


def audit(prepared: Prepared, reader: SecondReader) -> Audit:
    """The second reading. The verdict changes only where the grades are heard; both verdicts are given."""
    begun = time.monotonic()
    before = getattr(reader, "called", 0)
    taken = _asked(prepared.requests, reader)
    blind = heard(prepared.shown, taken.grades, taken.marks, taken.tasks[0] if taken.tasks else "")
    blind, judgement, found = _judged(prepared, blind, taken)
    cost = Cost(
        len(prepared.requests),
        getattr(reader, "called", 0) - before,
        len(taken.problems),
        prepared.tokens,
        round(time.monotonic() - begun, 2),
    )
    return Audit(
        reader.name,
        blind,
        taken.claims,
        prepared.reading.judgement,
        judgement,
        cost,
        found,
        tuple(taken.problems),
        tuple(prepared.cards.items()),
    )


def review_of(found: Audit) -> Review | None:
    """The audit as a review of the run, with its grades by step; None if the grades were not heard, or neither accuse
    nor excuse the score."""
    blind = found.blind
    if blind.hearing != "heard" or blind.p_parted is None or (found.found is None and not blind.on_prompt):
        return None
    grades = tuple(Grade(point.step, point.step, point.mean) for point in blind.points)
    since = None if found.found is None else found.found.since_step
    answer: Literal["ok", "hacked"] = "ok" if found.found is None else "hacked"
    return Review(answer, grades[-1].last_step, since, grades, f"{AUDIT}{found.reader}", time.time())


def _asked(requests: Sequence[Request], reader: SecondReader) -> _Taken:
    taken = _Taken()
    for request in requests:
        try:
            raw = reader.ask(request)
            if request.kind == "grade":
                graded = grades_of(request, raw)
                taken.grades.update(graded.grades)
                taken.marks.update(graded.marks)
                taken.tasks.append(graded.task)
            else:
                taken.claims = claims_of(request, raw)
            keep = getattr(reader, "keep", None)
            if keep is not None:
                keep(request, raw)  # an answer that could be used is not paid for twice
        except (NoAnswer, Unusable) as error:
            taken.problems.append(f"{request.name}: {error}")
    return taken


def _judged(prepared: Prepared, blind: Blind, taken: _Taken) -> tuple[Blind, Judgement, Finding | None]:
    reading, view = prepared.reading, prepared.view
    if blind.hearing != "heard" or blind.p_parted is None:
        return blind, reading.judgement, None
    p = max(blind.p_parted, _fell_while_held(view, blind))
    blind = replace(blind, p_parted=p)
    parted = finding_of(blind, prepared.shown, taken.grades, p)
    if parted is None and not blind.on_prompt:
        return blind, reading.judgement, None  # nothing to add, and nothing that would excuse what we found
    findings = [_weighed(finding, 1 - p) for finding in reading.findings]
    found = by_weight((*findings, *((parted,) if parted is not None else ())))
    judgement = judge(view, found)
    return blind, judgement, parted


def _fell_while_held(view: View, blind: Blind) -> float:
    """The blind grades as a held-out score: whether they fell while the training reward held."""
    train, curve = view.curve(HEADLINE), view.fit(series_of(blind))
    if train is None or not train.decidable or not curve.decidable:
        return 0.0
    return round(p_held_while_other_fell(train, curve), 4)


def _weighed(finding: Finding, p_honest: float) -> Finding:
    """A finding against the score, given that a reader of the text found the score honest with `p_honest`. Whether what
    is learned carries over to other prompts, it cannot see."""
    weight = MEANINGS.get(finding.id)
    if weight != "gamed" or not finding.id.startswith(OF_THE_TEXT) or p_honest <= EVEN:
        return finding
    return replace(finding, p=round(finding.p * (1 - p_honest), 4))
