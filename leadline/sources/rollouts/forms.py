"""Forms in which a loop prints samples, one below the other: under a ruled heading with a time and a score (R1-V,
VLM-R1 and what came of them), between bare rules, in drawn tables, or as labelled parts (`[prompt]`, `Question:`,
`Response:`).

What varies in a heading is masked before headings are compared, so a time stamp names no kind of its own."""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ...records import dataclass, replace
from ...vocabulary.names import tokens
from ..clock import STAMP, seconds_in
from ..number import as_number
from ..paths import keeps_samples
from ..text import TRAINED
from .fields import OTHERS, POLICY, Raw, is_prose

OFTEN, ALONE = 3, 8  # times that a heading or a label has to come, and one beside which nothing else does
MOSTLY = 0.8  # of the samples have a label, where it is one and no word of theirs
PROSE = 2  # words of a sample
MOST_SECTIONS = 200_000
BEGINNING = 1 << 12  # characters before the first heading of a file that holds nothing else
RULED = re.compile(r"^[ \t]{0,200}([-=*#~_])\1{2,}([^\n]{0,300})$", re.MULTILINE)
# Colors, and what Ray or a logger puts before each line.
AROUND = re.compile(
    r"^(?:\x1b\[[\d;]*m)?\([\w.]+ pid=\d+[^)\n]*\)(?:\x1b\[[\d;]*m)? ?|\x1b\[[\d;]*m"
    r"|^(?:DEBUG|INFO|WARNING|ERROR):[\w.]{1,99}:"
    r"|^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^|\n]{0,40}?[|: -]+\[?(?:DEBUG|INFO|WARNING|ERROR)\]?[|: ]+"
    r"(?:[\w.<>]+:[\w<>]+:\d+ )?(?:- )?",
    re.MULTILINE,
)
LABEL = re.compile(
    r"^[ \t]{0,99}(?:(?P<rule>[-=*#~>]{2,99})[ \t]{0,99})?"
    r"(?:\[(?P<boxed>[A-Za-z][A-Za-z _]{2,24})\]:?"
    r"|(?P<plain>[A-Za-z][A-Za-z_ ]{0,24})"
    r"(?:[#\d]{0,5}:(?:\*\*)?|(?(rule)[ ]?(?:[-=*#~]{2,99}|$)|:)))(?=\s)",
    re.MULTILINE,
)
GIVEN = re.compile(  # a score among other things: "parsed: [], reward: 0.0", "{'format_reward': 1.0, 'reward': 0.5}"
    r"(?P<name>(?:[A-Za-z]+_)*(?:reward|score|accuracy|correct))['\"]?\s*[:=]\s*"
    r"(?P<value>[-+]?\d+(?:\.\d+)?|True|False)\b",
    re.IGNORECASE,
)
SCORED = re.compile(r"([A-Za-z][\w /-]{0,40}?)\s*[:=]\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)[\s)\]]*$")
STEP = re.compile(r"\b(?:step|iteration|iter)\s*[:#=]?\s*(\d{1,9})", re.IGNORECASE)
COUNTED = re.compile(r"(evaluation|eval|step|iteration|update|epoch)\s*#?\s*(\d{1,9})\b", re.IGNORECASE)
HEADING = re.compile(  # nothing but a count: "### Step 12/40"
    r"^[^\w\n]{0,12}(?:step|iteration|iter|update)\s*[:#=]?\s*(\d{1,9})(?:\s*/\s*\d{1,9})?[^\w\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
ROW = re.compile(  # numbers of a step, which may name it
    r"^(?:[^\n]{0,99}\bstep:(?P<step>\d{1,9}) - |[^\n{]{0,99}\{['\"][^\n]{0,999}['\"](?:reward|loss|epoch)['\"]: "
    r"|(?:[^\n|\]:]{0,60}[|\]:]){0,4}?[^\w\n|\]:]{0,40}(?i:step|iter|episode|update)\w{0,9}"
    r"[^\w\n]{1,3}(?P<named>\d{1,9})[^\n]{0,99}(?i:reward|loss|return|score)\w{0,12}[^\w\n]{1,9}\d)",
    re.MULTILINE,
)
BEHIND = re.compile(  # a row of numbers, a bar, or a rule behind a part
    r"\n(?=\{'|.{0,200}?\d{1,3}%\||[-=*#]{5}|\W{0,9}(?i:step|iter|epoch|episode)[^\n]{0,99}(?i:reward|loss)\W{1,9}\d)"
)
WORDS = {"true": 1.0, "false": 0.0}
LONGEST_HEADING = 300
LONG_RULE = 5  # signs, with which nobody else begins a line
DIGITS = re.compile(r"\d+(?:\.\d+)?")
WORD = re.compile(r"[^\W\d_]{2,}")
PARTS = {  # words for the parts of a sample, the surest first
    "output": ("response", "completion", "generation", "content", "output", "prediction", "predict", "answer"),
    "prompt": ("prompt", "question", "query", "problem", "input", "instruction", "user"),
    "score": ("score", "reward", "accuracy", "correct"),
}
SHORT = {"q": "question", "a": "answer", "gt": "reference", "solution_string": "response", "solution_str": "response"}
WRITTEN = {"response", "completion", "generation"}  # what a label alone says that nothing else is beside
SAMPLED = {"sample", "example", "model", "full", "text", "raw", "policy", "best", "worst", "first", "predict"}
SPEAKERS = POLICY | OTHERS
OUTCOMES = {"accuracy", "correct", "success", "outcome", "task"}
MEASURED = {"length", "token", "time", "count", "num", "size", "mean", "rate"}  # words of a number about a part
REFERENCES = {"gt", "ground", "truth", "solution", "gold", "reference", "target", "extracted", "expected", "parsed"}


@dataclass(frozen=True, slots=True)
class Printed:
    """One sample, and what its heading says of it."""

    sample: Raw
    step: int | None = None
    time: float | None = None  # seconds from the start of its month
    share: float | None = None  # of the rows of numbers in the file, those that stand before it


@dataclass(frozen=True, slots=True)
class Told:
    """What a file of samples holds, in order."""

    samples: tuple[Printed, ...]
    score: str = "reward"  # what the heading calls the score
    others: tuple[str, ...] = ()  # other scores that it gives, of the same samples
    pure: bool = False  # nothing else stands in the file
    held_out: bool = False  # they are of evaluations


def told_by(text: str, file: Path) -> Told | None:
    """Return the samples in a text by the first form that it has; None if it has none."""
    text = AROUND.sub("", text)
    if file.suffix == ".md" and not (keeps_samples(file) or HEADING.search(text) or ROW.search(text)):
        return None  # a page about the run
    return _under_headings(text) or _between_rules(text, file) or _tabled(text) or _labelled(text)


def promises(head: str, file: Path) -> bool:
    """Return whether a stretch of a file holds the sign of a sample more than once."""
    head = AROUND.sub("", head)
    rules = (rule for rule in RULED.finditer(head) if keeps_samples(file) or SCORED.search(_said(rule)))
    signs = Counter("rule" for _ in rules)
    names = map(_name, LABEL.finditer(head))
    signs.update(name for name in names if _rank(name, "output") is not None)
    return max(signs.values(), default=0) >= OFTEN


def _said(rule: re.Match[str]) -> str:
    """Return what stands in a ruled line."""
    return rule[2].strip().strip("-=*#~_").strip()


def _name(label: re.Match[str]) -> str:
    name = (label["boxed"] or label["plain"]).strip().lower().replace(" ", "_")
    return SHORT.get(name, name)


def _bodies(text: str, marks: Sequence[re.Match[str]]) -> list[str]:
    """Return the text behind each mark, up to the next one."""
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [text[mark.end() : end] for mark, end in zip(marks, ends if marks else [], strict=True)]


def _under_headings(text: str) -> Told | None:
    """Return samples that each stand under a ruled heading with a score in it."""
    heads = [rule for rule in RULED.finditer(text) if SCORED.search(_said(rule))]
    scores = [scored for rule in heads if (scored := SCORED.search(_said(rule)))]
    every = Counter(_masked(scored[1]) for scored in scores)
    kinds = {kind: count for kind, count in every.items() if count >= OFTEN}
    if not kinds or sum(kinds.values()) < MOSTLY * len(heads):
        return None
    chosen = max(kinds, key=lambda kind: (bool({*tokens(kind)} & OUTCOMES), kinds[kind]))
    blocks = [
        (rule, as_number(scored[2]), body[: row.start()] if (row := ROW.search(body)) else body)
        for rule, scored, body in zip(heads, scores, _bodies(text, heads), strict=True)
        if _masked(scored[1]) == chosen
    ]
    records = _parts([body for _, _, body in blocks])
    thin = any(len(rule[0].split()[0]) < LONG_RULE for rule in heads)
    if thin and not is_prose([DIGITS.sub("", one.get("output", "")) for one in records]):
        return None
    samples = [(rule.start(), _sample(one, score)) for one, (rule, score, _) in zip(records, blocks, strict=True)]
    printed = [
        replace(
            one, step=int(step[1]) if (step := STEP.search(_said(rule))) else one.step, time=seconds_in(_said(rule))
        )
        for one, (rule, _, _) in zip(_placed(text, samples), blocks, strict=True)
    ]
    others = tuple(sorted(kind for kind in kinds if kind != chosen))
    pure = heads[0].start() < BEGINNING and ROW.search(text) is None
    return _told_by(printed, score=chosen, others=others, pure=pure)


def _between_rules(text: str, file: Path) -> Told | None:
    """Return samples between bare rules, in a file whose name says that samples are kept there."""
    rules = [rule for rule in RULED.finditer(text) if not _said(rule) and len(rule[0].strip()) >= LONG_RULE]
    if not keeps_samples(file) or len(rules) < OFTEN:
        return None
    bodies = [body for body in _bodies(text, rules) if body.strip()]
    return _told_by([Printed(_sample(record)) for record in _parts(bodies)], pure=True)


def _tabled(text: str) -> Told | None:
    """Return samples in tables drawn with lines, a line of each cell a line of text (`rich`, as trlX and TRL print
    them): the heading above a table may count."""
    printed: list[Printed] = []
    heading: int | None = None
    held_out = False
    columns: list[str] = []
    row: list[list[str]] = []
    inside = False  # a panel that is drawn around tables, with its heading in its upper edge
    for line in text.split("\n"):
        drawn = line.strip()
        inside = drawn[:1] == "╭" or (inside and drawn[:1] == "│")
        if inside and drawn[:1] == "│":
            drawn = drawn[1:-1].strip()
        side = drawn[:1] or " "
        if side in "┃│":
            cells = [cell.strip() for cell in re.split("[┃│]", drawn)[1:-1]]
            if side == "┃":
                columns, row = [cell.lower() for cell in cells], []
            elif len(cells) == len(columns):
                row.append(cells)
        elif side in "├└" and row:
            held = ("\n".join(filter(None, cells)) for cells in zip(*row, strict=True))
            sample, row = _sample(dict(zip(columns, held, strict=True))), []
            printed += [Printed(sample, heading)] * bool(sample.output)
        elif len(drawn) < LONGEST_HEADING and (count := COUNTED.search(drawn)):
            heading, held_out = int(count[2]), count[1].lower().startswith("eval")
    return _told_by(printed, held_out=held_out)


def _labelled(text: str) -> Told | None:
    """Return samples whose parts are labelled, wherever in a log they stand. The first label begins a sample. A prompt
    may hold labels of its own, and so may a response that ends in its answer."""
    labels = list(islice(LABEL.finditer(text), MOST_SECTIONS))
    counts = Counter(map(_name, labels))
    outputs = [name for name in counts if counts[name] >= OFTEN and _rank(name, "output") is not None]
    output = min(outputs, key=lambda name: _rank(name, "output") or 0, default=None)
    if output is None:
        return None
    cycle = {name for name, count in counts.items() if MOSTLY * counts[output] <= count <= counts[output] / MOSTLY}
    beside = {name for name in cycle if _rank(name, "prompt") is not None or _is_reference(name)}
    if "answer" in tokens(output) and not any(_is_reference(name) for name in cycle):
        return None  # the right one, for all we know
    alone = {*tokens(output)} & WRITTEN and {*tokens(output)} <= WRITTEN | SAMPLED and counts[output] >= ALONE
    if not beside and not alone:
        return None
    if beside - SPEAKERS:
        cycle -= SPEAKERS  # they are words of the prompt and the response
    kept = [label for label in labels if _name(label) in cycle]
    first = next((_name(one) for one in kept if _name(one) == output or _rank(_name(one), "prompt") is not None), "")
    records: list[tuple[int, dict[str, str]]] = []
    part = ""
    for label, body in zip(kept, _bodies(text, kept), strict=True):
        name = _name(label)
        if name == first:
            records.append((label.start(), {}))
        if not records:
            continue
        record, told = records[-1][1], BEHIND.split(body, maxsplit=1)[0].strip()
        answers = _rank(name, "output") is not None
        known = answers or _is_reference(name) or _rank(name, "score") is not None
        if part in record and (answers if part == output else output not in record and not known):
            record[part] += f"\n{label[0].strip()} {told}"  # still the prompt, or the response
        elif name not in record:
            part = name
            record[name] = told
    return _told_by(_placed(text, [(at, _sample(record)) for at, record in records if output in record]))


def _placed(text: str, samples: Sequence[tuple[int, Raw]]) -> list[Printed]:
    """Return samples at the steps of the rows or headings of a log, by where in it they stand: those that begin before
    the first row belong to the one that follows, others to the one above. Without such steps, at their share."""
    rows = list(ROW.finditer(text))
    headings = [row for row in rows if row["step"] or row["named"]] or list(HEADING.finditer(text))
    following = bool(rows and headings and samples and samples[0][0] < headings[0].start())
    spots = [bisect(headings, at, key=lambda heading: heading.start()) - 1 + following for at, _ in samples]
    named = [int(next(filter(None, heading.groups()))) for heading in headings]
    steps = [named[min(spot, len(named) - 1)] if named and spot >= 0 else None for spot in spots]
    placed = None not in steps and (bool(rows) or len({*steps}) > 1)
    end = text.find(TRAINED)
    shares = [
        bisect(rows, at, key=lambda row: row.start()) / len(rows) if rows else 1.0 if 0 <= end < at else None
        for at, _ in samples
    ]
    return [
        Printed(sample, step if placed else None, share=share)
        for (_, sample), step, share in zip(samples, steps, shares, strict=True)
    ]


def _told_by(printed: Sequence[Printed], score: str = "reward", **about: Any) -> Told | None:
    """Return what a file holds; None if that is too little or not text."""
    samples = [one.sample for one in printed]
    wordy = sum(len(sample.output.split()) for sample in samples) >= PROSE * len(samples)
    if len(samples) < OFTEN or not (wordy or any(sample.prompt or "<" in sample.output for sample in samples)):
        return None
    scored = any(sample.prompt and not math.isnan(sample.score) for sample in samples)
    if not scored and 2 * sum(WORD.search(sample.output) is not None for sample in samples) < len(samples):
        return None  # numbers that somebody printed
    return Told(tuple(printed), score, **about)


def _masked(kind: str) -> str:
    """Return what a heading calls its score, without what varies from one to the next."""
    return " ".join(word for word in STAMP.sub(" ", kind).split() if not DIGITS.search(word)).strip("-_ :/")


def _parts(bodies: Sequence[str]) -> list[dict[str, str]]:
    """Return the labelled parts of each sample. A label that most samples lack is a word of theirs."""
    seen = Counter(name for body in bodies for name in {_name(label) for label in LABEL.finditer(body)})
    parts = {name for name, count in seen.items() if count >= MOSTLY * len(bodies)}
    outputs = [name for name in seen if name in parts and _rank(name, "output") is not None]
    records = []
    for body in bodies:
        # What the policy wrote may hold any label: behind its own, only the last one of each other is a part.
        spots: dict[str, re.Match[str]] = {}
        for label in LABEL.finditer(body):
            name = _name(label)
            if name in parts and (name not in spots or name not in outputs[:1]):
                spots[name] = label
        ordered = sorted(spots.values(), key=lambda label: label.start())
        held = zip(ordered, _bodies(body, ordered), strict=True)
        record = {_name(label): part.strip() for label, part in held}
        labelled = outputs and ordered and not body[: ordered[0].start()].strip()
        records.append(record if labelled else {"output": body.strip()})
    return records


def _rank(name: str, part: str) -> int | None:
    """Return how surely a label names a part of a sample, 0 most; None if it does not, or names a reference."""
    said = tokens(name)
    if {*said} & (REFERENCES | MEASURED):
        return None
    return min((PARTS[part].index(word) for word in said if word in PARTS[part]), default=None)


def _is_reference(name: str) -> bool:
    return bool({*tokens(name)} & REFERENCES)


def _sample(record: Mapping[str, str], score: float | None = None) -> Raw:
    named: dict[str, str] = {}
    for part in PARTS:
        ranks = {name: rank for name in record if (rank := _rank(name, part)) is not None}
        named |= {part: record[min(ranks, key=lambda name: ranks[name])]} if ranks else {}
    if score is None and (told := named.get("score", "").split()):
        score = as_number(told[0].partition("/")[0])
    if score is None:
        others = "\n".join(f"{name}: {told}" for name, told in record.items() if told not in named.values())
        given = min(GIVEN.finditer(others), key=lambda one: len(one["name"]), default=None)  # the plainest of several
        score = None if given is None else as_number(WORDS.get(given["value"].lower(), given["value"]))
    reference = next((record[name] for name in record if _is_reference(name)), None)
    return Raw(
        named.get("prompt", ""),
        named.get("output", ""),
        math.nan if score is None else score,
        None if "prompt" in named else reference,
    )
