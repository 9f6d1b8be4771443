"""A second reading: shown apart from ours, who read, what it saw, where it disagrees, and both verdicts."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from ..contract import Reading, Rollout
from ..facts.audit import Audit
from ..words import sentence
from ..words.audit import blind_lines, claim_said, cost_said, sample_said, verdicts
from .data import as_data as reading_data
from .data import plain
from .lines import field, page
from .plain import line

MARGIN = 9
SAMPLE = 200  # characters of a sample


def render(audit: Audit, reading: Reading, *, color: bool = False, width: int = 100) -> str:
    """The audit as text that ends with a newline."""
    return page(_lines(audit, reading), color=color, width=width, margin=MARGIN)


def _lines(audit: Audit, reading: Reading) -> Iterator[tuple[str, Text]]:
    without, with_it = verdicts(audit)
    heard = audit.blind.hearing == "heard"
    yield field("verdict", with_it, "bold")
    if heard:
        yield field("without", without)
    yield field("reader", line(audit.reader))
    if audit.blind.task:
        yield field("task", line(audit.blind.task))
    for number, says in enumerate(blind_lines(audit.blind)):
        yield field("" if number else "blind", says)
    if audit.found is not None:
        yield field(audit.found.severity, sentence(audit.found))
        for spot in audit.found.evidence:
            for rollout in spot.samples:
                yield field("", _sample(rollout))
    said = {finding.id: sentence(finding) for finding in reading.findings}
    for number, claim in enumerate(audit.claims):
        yield field(
            "" if number else "claims", claim_said(line(said[claim.finding], 400), claim.answer, claim.evidence)
        )
    cited = {name for claim in audit.claims for name in claim.evidence}
    for name, rollout in audit.cards:
        if name in cited:
            yield field(name, _sample(rollout))
    for number, problem in enumerate(audit.problems[:8]):
        yield field("" if number else "unusable", line(problem, 200))
    yield field("cost", cost_said(audit))


def _sample(rollout: Rollout) -> str:
    return sample_said(rollout.step, rollout.score, line(rollout.prompt, SAMPLE), line(rollout.output, SAMPLE))


def as_data(audit: Audit, reading: Reading) -> dict[str, object]:
    """Our reading, and the second one beside it."""
    without, with_it = verdicts(audit)
    told = plain(audit)
    assert isinstance(told, dict)
    told["says"] = {"without": without, "with": with_it, "blind": list(blind_lines(audit.blind))}
    return {**reading_data(reading), "audit": told}
