"""The tools: each a function from what an agent asks to an answer that fits its page.

The server runs them below the roots (`roots.py`), so they open files as anything else does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import orjson

from ..comparison.gather import gather
from ..comparison.together import compare
from ..contract import Evidence, Finding, Reading
from ..digits import written
from ..errors import LeadlineError
from ..facts.comparison import RunStanding
from ..facts.sections import hidden
from ..inventory import take
from ..records import dataclass
from ..report import series as tables
from ..report.data import plain
from ..report.plain import line, name
from ..report.review import sections
from ..review.bins import MOST, binned, named
from ..review.check import check as checked
from ..review.grades import review_of, sheet_to_read
from ..review.store import load_of
from ..run import Rollout
from ..shelf.query import RowNow
from ..tokens import cost, cut
from ..words import compare as compare_words
from ..words.fleet import NEED_CALLED
from ..words.report import curves_say, what_was_read, would_change
from ..words.review import HOW_TO_GRADE, LOOK_FOR, said
from ..words.tools import KEEP_SAMPLES, NO_SAMPLES
from ..words.verdict import verdict_lines
from .answers import ANSWER, DATA, Plain, filled, page, paged, place_of, size
from .chosen import SCORES, chosen
from .library import Library

LISTED = 100  # rows asked for one answer: more never fit
SENTENCE, SIDE = 90, 110  # tokens a sentence or one side of a sample may take
FEW = 5  # findings in a short answer
POINTS = 10  # of a series, spread over its span
PATIENCE = 20.0  # seconds a check may take

Ask = Callable[[Library, Mapping[str, Any]], Plain]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, and its arguments as JSON schema."""

    name: str
    arguments: Plain
    ask: Ask
    required: tuple[str, ...] = ("path",)
    read_only: bool = True

    def input_schema(self) -> Plain:
        shape: Plain = {"type": "object", "properties": self.arguments}
        return {**shape, "required": list(self.required)} if self.required else shape


def triage(library: Library, asked: Mapping[str, Any]) -> Plain:
    first = place_of(asked.get("cursor"))
    lines, total, unread = library.rows(first, LISTED)
    shown, _ = page([_row(library, told) for told in lines], None, ANSWER - 60, size)
    after = first + len(shown)
    return filled(runs=shown, total=total + unread, unread=unread or None, next=str(after) if after < total else "")


def _row(library: Library, told: RowNow) -> Plain:
    row = told.row
    path = line(library.roots.shown(row.identity))
    if row.state == "unreadable":
        return filled(path=path, verdict="unreadable", says=cut(line(row.problem or ""), SENTENCE))
    says, needs = cut(line(row.says), SENTENCE), NEED_CALLED.get(told.need or "", "")
    verdict = row.verdict or "undecided"
    return filled(path=path, verdict=verdict, says=says, step=row.last_step, outcome=row.outcome, needs=needs)


def read_run(library: Library, asked: Mapping[str, Any]) -> Plain:
    reading = library.reading(
        asked["path"], until=asked.get("until"), budget=asked.get("budget"), mapping=asked.get("map")
    )
    high, judgement = asked.get("detail") == "high", reading.judgement
    best = judgement.best_checkpoint
    head = filled(
        verdict=judgement.verdict,
        says=line(verdict_lines(reading).text, 900),
        run=line(" · ".join(what_was_read(reading.run))),
        p_pays=judgement.p_continue_pays,
        best_step=None if best is None else best.step,
        best_path=None if best is None or best.path is None else line(library.roots.shown(best.path)),
        would_change="" if asked.get("cursor") else line(would_change(reading), 600),
        outcome=judgement.outcome,
        missing="" if high or asked.get("cursor") else line(hidden(reading.run.missing)),
        untrusted=DATA,
    )
    found = [_said(finding) for finding in reading.findings]
    if not high and len(found) > FEW:
        serious = [one for one in found if one["severity"] != "note"]
        notes = [one for one in found if one["severity"] == "note"]
        found = [*serious, *notes[: max(FEW - len(serious), 0)]]
    more = [cut(line(says), SENTENCE) for says in _more(reading)] if high else []
    return paged(head, asked, findings=found, more=more)


def _said(finding: Finding) -> Plain:
    says, p = cut(line(finding.say()), SENTENCE), round(finding.p, 2)
    return filled(id=finding.id, severity=finding.severity, p=p, says=says, since=finding.since_step)


def _more(reading: Reading) -> Sequence[str]:
    return (
        *(f"{about}: {says}" for about, says in curves_say(reading).items()),
        *(f"Normal here: {found.text}" for found in reading.benign),
        *(f"Event: {happened.say()}" for happened in reading.run.events),
        *(f"Missing: {missing.name}: {missing.why}" for missing in reading.run.missing),
        *reading.run.notes,
    )


def evidence(library: Library, asked: Mapping[str, Any]) -> Plain:
    reading = library.reading(asked["path"], mapping=asked.get("map"))
    named = [finding for finding in reading.findings if finding.id == asked["finding"]]
    if not named:
        ids = ", ".join(dict.fromkeys(finding.id for finding in reading.findings))
        raise LeadlineError(
            f"This run has no finding {asked['finding'][:80]!r}.",
            next_step=f"pass one of {ids}" if ids else "read_run names none",
        )
    finding = named[0]
    head = filled(
        id=finding.id,
        says=cut(line(finding.say()), SENTENCE),
        p=round(finding.p, 2),
        facts=_few(plain(finding.facts)),
        since=finding.since_step,
        untrusted=DATA,
    )
    spans = [span for span in (_span(reading, spot) for spot in finding.evidence) if span is not None]
    texts = [_sample(rollout) for spot in finding.evidence for rollout in _ends(spot.samples)]
    return paged(head, asked, numbers=spans, samples=texts)


def _few(facts: object) -> Plain:
    """Facts without the texts of samples, which follow by themselves, and within half of the room."""
    told: Plain = {}
    room = ANSWER // 2
    for key, value in (_bare(facts) or {}).items() if isinstance(facts, dict) else ():
        room -= cost(orjson.dumps({key: value}, option=orjson.OPT_NON_STR_KEYS).decode())
        if room > 0:
            told[key] = value
    return told


def _bare(value: Any) -> Any:
    """Plain data in few digits, without samples and without what is not there."""
    if isinstance(value, dict):
        kept = {key: _bare(item) for key, item in value.items() if not (isinstance(item, dict) and "output" in item)}
        return {key: item for key, item in kept.items() if item is not None and item != []}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if isinstance(value, str):
        return line(value, 200)
    return _number(value) if isinstance(value, float) else value


def _span(reading: Reading, spot: Evidence) -> Plain | None:
    series = reading.chart_data.series.get(spot.signal)
    if series is None:
        return None
    rows = [place for place, step in enumerate(series.steps.tolist()) if spot.first_step <= step <= spot.last_step]
    picked = [rows[round(place * (len(rows) - 1) / (POINTS - 1))] for place in range(POINTS)] if rows else []
    kept = list(dict.fromkeys(picked))
    return filled(
        signal=name(spot.signal),
        steps=[int(series.steps[place]) for place in kept],
        values=[_number(series.values[place]) for place in kept],
    )


def _number(value: float) -> float | None:
    return float(f"{written(float(value)):.4g}") if math.isfinite(value) else None


def _ends(samples: Sequence[Rollout]) -> tuple[Rollout, ...]:
    """Early beside late."""
    ordered = sorted(samples, key=lambda sample: sample.step)
    half = (len(ordered) + 1) // 2
    pairs = zip_longest(ordered[:half], reversed(ordered[half:]))
    return tuple(sample for pair in pairs for sample in pair if sample is not None)


def _sample(rollout: Rollout) -> Plain:
    prompt, output = (cut(line(text), SIDE) for text in (rollout.prompt, rollout.output))
    return filled(step=rollout.step, score=_number(rollout.score), prompt=prompt, output=output)


def compare_runs(library: Library, asked: Mapping[str, Any]) -> Plain:
    places = [str(library.roots.find(path)) for path in asked["paths"]]
    told = compare(gather(places, alone=True), by=asked.get("by"))
    head = filled(
        headline=cut(line(compare_words.headline(told)), SENTENCE),
        says=[cut(line(says), SENTENCE) for says in compare_words.answer(told)[:3]],
        by=told.by.name,
    )
    return paged(
        head,
        asked,
        runs=[_standing(one) for one in told.by.standings],
        warnings=[cut(line(one.says), SENTENCE) for one in told.warnings],
    )


def _standing(one: RunStanding) -> Plain:
    low, high = one.interval
    return {"name": name(one.name), "final": _number(one.final), "low": _number(low), "high": _number(high)}


def samples(library: Library, asked: Mapping[str, Any]) -> Plain:
    run = library.run(asked["path"])
    steps = run.rollouts.steps
    if not steps:
        raise LeadlineError(NO_SAMPLES, next_step=KEEP_SAMPLES)
    wanted = [asked["step"]] if "step" in asked else []
    looked = chosen(steps, run.rollouts.at, wanted=wanted, search=asked.get("search"), score=asked.get("score"))
    head = filled(steps=[steps[0], steps[-1], len(steps)], found=len(looked), untrusted=DATA)
    return paged(head, asked, samples=[_sample(rollout) for rollout in looked])


def review(library: Library, asked: Mapping[str, Any]) -> Plain:
    run = library.run(asked["path"]).until(asked.get("until"))
    answer, grades = asked.get("answer"), asked.get("grades")
    if answer is not None or grades is not None:
        told, why = review_of(run, answer=answer, since=asked.get("since"), grades=grades, reader="mcp")
        library.keep(run, told)
        return filled(saved=said(told), why=why, untrusted=DATA)
    sheet, kept = sheet_to_read(run), load_of(run)
    first = not asked.get("cursor")
    head = filled(
        task=f"{LOOK_FOR} {HOW_TO_GRADE}" if first else "",
        untrusted=DATA,
        reviews=[cut(line(said(one)), SENTENCE) for one in kept.reviews[-3:]] if first else [],
    )
    lines = [
        row
        for name_, heading, rows in sections(sheet)
        for row in (f"{name_}: {heading}", *(f"{label} {says}".strip() for label, says in rows))
    ]
    return paged(head, asked, lines=[cut(row, ANSWER // 3) for row in lines])


def series(library: Library, asked: Mapping[str, Any]) -> Plain:
    run = library.run(asked["path"]).until(asked.get("until"))
    keys = asked.get("keys") or ()
    found = named(run, keys)
    rows = tables.table(binned(found, _bins(asked))).splitlines() if keys else tables.listing(found)
    return paged({}, asked, rows=[cut(line(row), SENTENCE) for row in rows])


def check(library: Library, asked: Mapping[str, Any]) -> Plain:
    """Check by a pattern only: code from a client is never run."""
    run = library.run(asked["path"]).until(asked.get("until"))
    found = checked(run, regex=asked["regex"], timeout=PATIENCE)
    rows = tables.check_lines(found, "regex", _bins(asked))
    return paged({}, asked, rows=[cut(line(row), SENTENCE) for row in rows])


def _bins(asked: Mapping[str, Any]) -> int:
    return min(max(int(asked.get("bins", POINTS)), 1), MOST)


def sources(library: Library, asked: Mapping[str, Any]) -> Plain:
    found = take(library.roots.find(asked["path"]), mapping=asked.get("map"))
    if len(found.runs) > 1:
        raise LeadlineError(
            f"There are {len(found.runs)} runs here.", next_step="pass the path of one of them, as triage lists it"
        )
    held = found.runs[0]
    logs = [f"{name(log.path)}: {log.source}, {log.rows} rows" for log in held.logs]
    return paged(
        filled(framework=held.framework, logs=logs[:6]),
        asked,
        series=[f"{name(one.name)} = {name(one.key)} ({one.points}, {one.decided})" for one in held.series],
        unread=[name(key) for key in held.unread_keys],
        missing=[f"{entry.name}: {entry.why}" for entry in held.missing],
        notes=[cut(line(note), SENTENCE) for note in held.notes],
    )


TEXT, WHOLE, MAP = ({"type": kind} for kind in ("string", "integer", "object"))
NAMES: Plain = {"type": "array", "items": TEXT}
_PAGED = {"path": TEXT, "cursor": TEXT}

TOOLS: tuple[Tool, ...] = (
    Tool("triage", {"cursor": TEXT}, triage, required=()),
    Tool(
        "read_run",
        {**_PAGED, "detail": {"enum": ["low", "high"]}, "until": WHOLE, "budget": WHOLE, "map": MAP},
        read_run,
    ),
    Tool("evidence", {**_PAGED, "finding": TEXT}, evidence, required=("path", "finding")),
    Tool(
        "compare",
        {"paths": {**NAMES, "minItems": 1}, "by": TEXT, "cursor": TEXT},
        compare_runs,
        required=("paths",),
    ),
    Tool("samples", {**_PAGED, "step": WHOLE, "score": {"enum": list(SCORES)}, "search": TEXT}, samples),
    Tool("sources", {**_PAGED, "map": MAP}, sources),
    Tool(
        "review",
        {**_PAGED, "answer": {"enum": ["ok", "hacked"]}, "since": WHOLE, "grades": TEXT, "until": WHOLE},
        review,
        read_only=False,
    ),
    Tool("series", {**_PAGED, "keys": NAMES, "bins": WHOLE, "until": WHOLE}, series),
    Tool("check", {**_PAGED, "regex": TEXT, "bins": WHOLE, "until": WHOLE}, check, required=("path", "regex")),
)
