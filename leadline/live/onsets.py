"""Find what began at a check, so that each thing is sent once: plain data in, plain data out, no clock.

A thing is sent when a check first reports it, and again only after it was withdrawn: several checks in a row over a
share of the planned steps did not report it. A finding that flickers, or whose onset moves a little, is one onset.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ..contract import Reading
from ..digits import duration, steps, sure
from ..facts.finding import NEEDS_EYES, Finding, side_by_side
from ..facts.judgement import BestCheckpoint, calls_for
from ..records import asdict, dataclass, replace
from ..report.plain import printable
from ..words.verdict import verdict_lines
from .records import SEVERITIES, Alert, Severity, key_of

LOOKS_GONE = 2  # checks in a row that must not report a thing before it counts as withdrawn
COOL_DOWN = 0.05  # of the planned steps that they must span
EVIDENCE = 4  # lines: an alert is read on a phone
LONGEST_LINE = 400  # characters
VERDICTS: dict[str, Severity] = {"stop": "concern", "roll_back": "critical"}
ROLL_BACK, FAILED = "verdict.roll_back", "verdict.finished"  # a run that ended badly is sent once, as either


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that holds at a check and is worth an alert."""

    about: str
    severity: Severity
    says: str
    onset_step: int | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Episode:
    """Alerts sent about one thing, and whether it still holds."""

    count: int  # how often it has begun
    severity: Severity | None  # the gravest since it began; None: withdrawn, so that it may begin again
    gone_looks: int = 0  # looks in a row that said otherwise
    gone_step: int | None = None  # of the first of them


def new_alerts(
    previous: Mapping[str, Any], reading: Reading, *, run: str, life: int = 0
) -> tuple[dict[str, object], tuple[Alert, ...]]:
    """Return what to remember for the next check, and the alerts of this one. `previous` is what the last check
    remembered, empty at first; `life` counts how often the log was replaced."""
    step = reading.run.last_step
    if step is None:
        return dict(previous), ()
    known = previous.get("episodes", {}) if previous.get("life") == life else {}  # nothing if the log was replaced
    episodes = {about: Episode(**one) for about, one in known.items()}
    standing = {one.about: one for one in (*_verdict(reading), *_findings(reading))}
    begun = [one for one in standing.values() if _begins(one, episodes.get(one.about))]
    ended = any(_is_verdict(about) for about in standing)
    if any(_is_verdict(one.about) for one in begun):  # the rest is its evidence, and no alert of its own
        told_before = (said := episodes.get(ROLL_BACK)) is not None and said.severity is not None
        told = [one for one in begun if _is_verdict(one.about) and not (one.about == FAILED and told_before)]
        held_back = set[str]()
    else:  # whoever was told to end the run need not hear of each thing that follows from not doing so
        held_back = {one.about for one in begun if ended and one.severity == "concern"}
        told = [one for one in begun if one.about not in held_back]
    judged = reading.judgement
    keeps = judged.a_step_stands_out and not judged.starts_over
    best = best_checkpoint(judged.best_checkpoint) if keeps else None
    alerts = tuple(_alert(one, f"{run}\0{life}", run, step, best, episodes.get(one.about)) for one in told)
    for about, one in standing.items():
        if about not in held_back:
            episodes[about] = _stands(episodes.get(about), one)
    for about in episodes.keys() - standing.keys():
        if not (ended and _is_verdict(about)):  # a stop that becomes a roll back is not withdrawn
            episodes[about] = _is_gone(episodes[about], step, span=COOL_DOWN * _plan(reading))
    return {"life": life, "episodes": {about: asdict(one) for about, one in episodes.items()}}, alerts


def silence(run: str, seconds: float, step: int, gap: float | None, *, life: int = 0) -> Alert:
    """Return the alert that nothing was logged after `step` for so long, the same for the same step.

    >>> silence("a", 660, 40, 12.0).says, silence("a", 1800, 2, None).says
    ('No log rows for 11 min after step 40 (typical: every 12 s).', \
'No log rows for 30 min after step 2 (step time not known yet).')
    """
    if gap is None:
        usual = "step time not known yet"
    else:
        usual = f"typical: every {duration(gap)}" if gap >= 0.5 else "typical: several per second"
    says = f"No log rows for {duration(seconds)} after step {step} ({usual})."
    return Alert(run, "silence", step, step, "concern", says, (), None, key_of(f"{run}\0{life}", "silence", step))


def best_checkpoint(best: BestCheckpoint | None) -> str | None:
    """Return the checkpoint to keep, in words."""
    if best is None:
        return None
    if best.path is None:
        return f"step {best.step} (no checkpoint on disk)"
    whole = "complete" if best.complete else "not known to be complete"
    return printable(f"{best.path} (step {best.step}, {whole})")


def _verdict(reading: Reading) -> Iterable[Notice]:
    judgement, said = reading.judgement, verdict_lines(reading)
    cause = said.under("cause")
    severity = VERDICTS.get(calls_for(judgement.verdict, judgement.outcome))
    if severity is None:
        return
    serious = [one for one in reading.findings if one.severity != "note"]
    heard = [one for one in serious if one.id in judgement.because]
    onsets = [one.since_step for one in heard if one.since_step is not None]
    others = [one for one in serious if one.id not in judgement.because]
    yield Notice(
        f"verdict.{judgement.verdict}",
        severity,
        said.headline,
        min(onsets, default=None),
        (*([f"Cause: {cause}"] if cause else []), *map(_told, (*heard, *others))),
    )


def _told(finding: Finding) -> str:
    """Return a finding as an alert shows it."""
    return f"{finding.say()} [{finding.id}, {sure(finding.p)}]"


def _findings(reading: Reading) -> Iterable[Notice]:
    """Return the gravest finding of each id. A note that needs review comes with two samples and how to answer."""
    seen: dict[str, Notice] = {}
    for one in reading.findings:
        if one.id == NEEDS_EYES:
            pair = tuple(f"{when}: {sample}" for when, sample in side_by_side(one.facts))
            answer = f"Answer: leadline review {shlex.quote(reading.run.path)} ok (or hacked --since STEP)"
            seen[one.id] = Notice(one.id, "concern", _told(one), one.since_step, (*pair, answer))
        if one.severity == "note":
            continue
        rank = SEVERITIES.index(one.severity)
        if one.id not in seen or SEVERITIES.index(seen[one.id].severity) < rank:
            where = tuple(f"{each.signal}, {steps(each.first_step, each.last_step)}" for each in one.evidence)
            seen[one.id] = Notice(one.id, one.severity, _told(one), one.since_step, where)
    return seen.values()


def _is_verdict(about: str) -> bool:
    return about.startswith("verdict.")


def _begins(notice: Notice, episode: Episode | None) -> bool:
    if episode is None or episode.severity is None:
        return True
    return SEVERITIES.index(notice.severity) > SEVERITIES.index(episode.severity)


def _stands(episode: Episode | None, notice: Notice) -> Episode:
    if episode is None or _begins(notice, episode):
        return Episode(1 if episode is None else episode.count + 1, notice.severity)
    return Episode(episode.count, episode.severity)


def _is_gone(episode: Episode, step: int, *, span: float) -> Episode:
    if episode.severity is None:
        return episode
    looks, since = episode.gone_looks + 1, step if episode.gone_step is None else episode.gone_step
    if looks >= LOOKS_GONE and step - since >= span:
        return Episode(episode.count, None)
    return replace(episode, gone_looks=looks, gone_step=since)


def _plan(reading: Reading) -> int:
    """Return the planned steps, or those so far if there is no plan."""
    first, last = reading.run.first_step or 0, reading.run.last_step or 0
    return max(reading.run.planned_steps or last, last) - first


def _alert(one: Notice, life: str, run: str, step: int, best: str | None, episode: Episode | None) -> Alert:
    key = key_of(life, one.about, 0 if episode is None else episode.count)
    evidence = tuple(_line(text) for text in one.evidence[:EVIDENCE])
    return Alert(run, one.about, step, one.onset_step, one.severity, _line(one.says), evidence, best, key)


def _line(text: str) -> str:
    """Return `text` on one line, printable and short."""
    text = printable(" ".join(text.split()))
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1].rsplit(" ", 1)[0] + "…"
