"""Samples that a loop printed as text, one below the other: under a ruled heading with a time and a score (R1-V, VLM-R1
and what came of them), between bare rules, or as labelled parts (`[prompt]`, `Question:`, `Response:`).

What varies in a heading is masked before headings are compared, so a time stamp names no kind of its own. Samples with
a time belong together where it is the same second; the others come in the order of the file."""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, groupby, islice, pairwise
from pathlib import Path
from typing import Any

from ...records import dataclass
from ...vocabulary.names import tokens
from ..clock import STAMP, seconds_in
from ..number import as_number
from ..paths import KEPT, is_held_out, keeps_samples, step_in
from .fields import Raw
from .index import FoundSamples, Place

SUFFIXES = {".txt", ".log", ".out", ".err", ".md", ".ipynb", ""}
LARGEST = 1 << 25  # bytes of a file, which is read whole
HEAD = 1 << 18  # bytes by which a file is known
MOST_FILES = 40
OFTEN, ALONE = 3, 8  # times that a heading or a label has to come, and one beside which nothing else does
MOSTLY = 0.8  # of the samples have a label, where it is one and no word of theirs
PROSE = 2  # words of a sample
PAUSE, FAR_LONGER, USUAL = 900.0, 10.0, 0.9  # seconds; times the gap that so large a share of the gaps is below
MONTH = 28 * 86400.0  # seconds: a stamp without a month begins anew
MOST_SECTIONS = 200_000
RULED = re.compile(r"^[ \t]{0,200}([-=*#~_])\1{4,}([^\n]{0,300})$", re.MULTILINE)
# Colors, and what Ray or a logger puts before each line.
AROUND = re.compile(
    r"^(?:\x1b\[[\d;]*m)?\([\w.]+ pid=\d+[^)\n]*\)(?:\x1b\[[\d;]*m)? ?|\x1b\[[\d;]*m"
    r"|^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^|\n]{0,40}?[|: -]+\[?(?:DEBUG|INFO|WARNING|ERROR)\]?[|: ]+"
    r"(?:[\w.<>]+:[\w<>]+:\d+ )?(?:- )?",
    re.MULTILINE,
)
LABEL = re.compile(
    r"^[ \t]{0,99}(?:(?P<rule>[-=*#~>]{2,99})[ \t]{0,99})?"
    r"(?:\[(?P<boxed>[A-Za-z][A-Za-z _]{2,24})\]:?"
    r"|(?P<plain>[A-Za-z][A-Za-z_ ]{2,24})(?::(?:\*\*)?|(?(rule)[ ]?[-=*#~]{2,99}|:)))(?=\s)",
    re.MULTILINE,
)
TAGGED = re.compile(
    r"^\[[\w ./-]{1,24}\][ \t]*(?P<boxed>(?!))?(?P<plain>[A-Za-z][A-Za-z_ ]{2,24}):(?=\s)", re.MULTILINE
)
GIVEN = re.compile(  # a score among other things: "parsed: [], reward: 0.0", "{'format_reward': 1.0, 'reward': 0.5}"
    r"(?P<name>(?:[A-Za-z]+_)*(?:reward|score|accuracy|correct))['\"]?\s*[:=]\s*"
    r"(?P<value>[-+]?\d+(?:\.\d+)?|True|False)\b",
    re.IGNORECASE,
)
SCORED = re.compile(r"([A-Za-z][\w /-]{0,40}?)\s*[:=]\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*$")
STEP = re.compile(r"\b(?:step|iteration|iter)\s*[:#=]?\s*(\d{1,9})", re.IGNORECASE)
COUNTED = re.compile(r"(evaluation|eval|step|iteration|update|epoch)\s*#?\s*(\d{1,9})\b", re.IGNORECASE)
HEADING = re.compile(  # nothing but a count: "### Step 12/40"
    r"^[^\w\n]{0,12}(?:step|iteration|iter|update)\s*[:#=]?\s*(\d{1,9})(?:\s*/\s*\d{1,9})?[^\w\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
ROW = re.compile(  # numbers of a step, which may name it
    r"^(?:[^\n]{0,99}\bstep:(?P<step>\d{1,9}) - |[^\n{]{0,99}\{['\"][^\n]{0,999}['\"](?:reward|loss|epoch)['\"]: "
    r"|\W{0,9}(?i:step|iter|episode)\w{0,9}\W{1,3}(?P<named>\d{1,9})[^\n]{0,99}(?i:reward|loss)\W{1,9}\d)",
    re.MULTILINE,
)
BEHIND = re.compile(  # a row of numbers, a bar, or a rule behind a part
    r"\n(?=\{'|.{0,200}?\d{1,3}%\||[-=*#]{5}|\W{0,9}(?i:step|iter|epoch|episode)[^\n]{0,99}(?i:reward|loss)\W{1,9}\d)"
)
WORDS = {"true": 1.0, "false": 0.0}
LONGEST_HEADING = 300
DIGITS = re.compile(r"\d+(?:\.\d+)?")
WORD = re.compile(r"[^\W\d_]{2,}")
PARTS = {  # words for the parts of a sample, the surest first
    "output": ("response", "completion", "generation", "content", "output", "prediction", "predict", "answer"),
    "prompt": ("prompt", "question", "query", "problem", "input", "instruction", "user"),
    "score": ("score", "reward", "accuracy", "correct"),
}
WRITTEN = {"response", "completion", "generation"}  # what a label alone says that nothing else is beside
SAMPLED = {"sample", "example", "model", "full", "text", "raw", "policy", "best", "worst", "first", "predict"}
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


def index(files: Sequence[Path]) -> FoundSamples:
    """Return the samples among text files. If the name of one holds all words of another's, the shorter name is of all
    samples, and the other of a choice among them."""
    looked = [file for file in files if file.suffix.lower() in SUFFIXES][:MOST_FILES]
    held = {file: told for file in looked if (told := told_in(file)) is not None}
    found = FoundSamples()
    found.notes += [
        f"{file.name} was not read: no rule or label parts the samples in it"
        for file in looked
        if file not in held and keeps_samples(file)
    ]
    for file, told in held.items():
        mine = {*tokens(file.stem)}
        if any(other.parent == file.parent and {*tokens(other.stem)} < mine for other in held):
            found.notes.append(f"{file.name} was left out: by its name it is a choice among the samples beside it")
            continue
        found.score = told.score
        if told.others:
            found.notes.append(f"{file.name} also scores its samples by {', '.join(told.others)}; {told.score} is read")
        *earlier, last = _starts(told, _batches(told))
        found.earlier += [[Place(file, place) for place in batch] for start in earlier for batch in start]
        named = step_in(file) if keeps_samples(file) else None
        for batch in last:
            step = told.samples[batch[0]].step
            places = [Place(file, place, share=told.samples[place].share) for place in batch]
            step = named if step is None else step
            if step is None:
                found.unplaced.append(places)
                continue
            for place in places:
                found.add(step, place, evaluation=told.held_out or is_held_out(file))
        if earlier:
            begins = ", ".join(str(sum(map(len, earlier[:count])) + 1) for count in range(1, len(earlier) + 1))
            found.notes.append(f"{file.name} pauses for long before batch {begins}: another start may begin there")
    return found


def _starts(told: Told, batches: list[list[int]]) -> list[list[list[int]]]:
    """Return the batches of each start of the program: a gap far longer than nearly all others lies between two."""
    times = [told.samples[batch[0]].time for batch in batches]
    gaps = [max(after - before, 0.0) for before, after in pairwise(time for time in times if time is not None)]
    if len(gaps) != len(batches) - 1 or len(gaps) < OFTEN:
        return [batches]
    long = max(PAUSE, FAR_LONGER * sorted(gaps)[int(USUAL * len(gaps))])
    begins = [0, *(place for place, gap in enumerate(gaps, start=1) if gap > long), len(batches)]
    return [batches[first:last] for first, last in pairwise(begins)]


def read(place: Place) -> Iterator[Raw]:
    """Yield the sample at a place."""
    told = told_in(place.file)
    if told is not None and place.at is not None and place.at < len(told.samples):
        yield told.samples[place.at].sample


def is_pure(file: Path) -> bool:
    """Return whether a text file holds samples and nothing else, so that it is not a log."""
    told = told_in(file) if file.suffix.lower() in SUFFIXES else None
    return told is not None and (told.pure or keeps_samples(file) or KEPT.search(file.stem) is not None)


def told_in(file: Path) -> Told | None:
    """Return the samples that a text file holds; None if it holds none."""
    try:
        state = file.stat()
    except OSError:
        return None
    if not 0 < state.st_size <= LARGEST:
        return None
    return _told(file, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4)
def _told(file: Path, size: int, written: int) -> Told | None:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST)
            if file.suffix == ".ipynb":
                from ..notebook import printed_in  # only if there is one

                data = printed_in(data).encode()
            places = {0, len(data) // 2, max(0, len(data) - HEAD)}
            some = [AROUND.sub("", data[at : at + HEAD].decode(errors="replace")) for at in places]
            if b"\0" in data[:4096] or not ("┃".encode() in data or any(map(_promises, some))):
                return None
            text = AROUND.sub("", data.decode(errors="replace").replace("\r\n", "\n"))
    except OSError:
        return None
    return (
        _under_headings(text)
        or _between_rules(text, file)
        or _tabled(text)
        or _labelled(text)
        or _labelled(text, TAGGED)
    )


def _promises(head: str) -> bool:
    """Return whether a stretch of a file holds a rule or a part of a sample more than once."""
    if len(list(islice(RULED.finditer(head), OFTEN))) == OFTEN:
        return True
    labels = Counter(_name(label) for form in (LABEL, TAGGED) for label in form.finditer(head))
    return any(count >= OFTEN and _rank(name, "output") is not None for name, count in labels.items())


def _said(rule: re.Match[str]) -> str:
    """Return what stands in a ruled line."""
    return rule[2].strip().strip("-=*#~_").strip()


def _name(label: re.Match[str]) -> str:
    return (label["boxed"] or label["plain"]).strip().lower().replace(" ", "_")


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
        (_said(rule), as_number(scored[2]), body)
        for rule, scored, body in zip(heads, scores, _bodies(text, heads), strict=True)
        if _masked(scored[1]) == chosen
    ]
    records = _parts([body for _, _, body in blocks])
    printed = [
        Printed(_sample(record, score), int(step[1]) if (step := STEP.search(head)) else None, seconds_in(head))
        for record, (head, score, _) in zip(records, blocks, strict=True)
    ]
    others = tuple(sorted(kind for kind in kinds if kind != chosen))
    return _told_by(printed, score=chosen, others=others, pure=heads[0].start() < HEAD // 64)


def _between_rules(text: str, file: Path) -> Told | None:
    """Return samples between bare rules, in a file whose name says that samples are kept there."""
    rules = [rule for rule in RULED.finditer(text) if not _said(rule)] if keeps_samples(file) else []
    bodies = [body for body in _bodies(text, rules) if body.strip()]
    return _told_by([Printed(_sample(record)) for record in _parts(bodies)], pure=True) if len(rules) >= OFTEN else None


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


def _labelled(text: str, form: re.Pattern[str] = LABEL) -> Told | None:
    """Return samples whose parts are labelled, wherever in a log they stand. The first label begins a sample; its step
    is that of the heading above it, if all samples stand below one. A prompt may hold labels of its own."""
    labels = list(islice(form.finditer(text), MOST_SECTIONS))
    counts = Counter(map(_name, labels))
    outputs = [name for name in counts if counts[name] >= OFTEN and _rank(name, "output") is not None]
    output = min(outputs, key=lambda name: _rank(name, "output") or 0, default=None)
    if output is None:
        return None
    cycle = {name for name, count in counts.items() if MOSTLY * counts[output] <= count <= counts[output] / MOSTLY}
    beside = any(_rank(name, "prompt") is not None or _is_reference(name) for name in cycle)
    if "answer" in tokens(output) and not any(_is_reference(name) for name in cycle):
        return None  # the right one, for all we know
    alone = {*tokens(output)} & WRITTEN and {*tokens(output)} <= WRITTEN | SAMPLED and counts[output] >= ALONE
    if not beside and not alone:
        return None
    kept = [label for label in labels if _name(label) in cycle]
    first = next((_name(one) for one in kept if _name(one) == output or _rank(_name(one), "prompt") is not None), "")
    headings, rows = list(HEADING.finditer(text)), list(ROW.finditer(text))
    headings = [
        row for row in rows if row["step"] or row["named"]
    ] or headings  # rows that name their step, if there are such
    records: list[tuple[int | None, float | None, dict[str, str]]] = []
    part = ""
    for label, body in zip(kept, _bodies(text, kept), strict=True):
        name = _name(label)
        if name == first:
            above = bisect(headings, label.start(), key=lambda heading: heading.start())
            before = bisect(rows, label.start(), key=lambda row: row.start())
            step = int(next(filter(None, headings[above - 1].groups()))) if above else 0 if rows and headings else None
            records.append((step, before / len(rows) if rows else None, {}))
        if not records:
            continue
        record, told = records[-1][2], BEHIND.split(body, maxsplit=1)[0].strip()
        known = _is_reference(name) or any(_rank(name, kind) is not None for kind in ("output", "score"))
        if part in record and output not in record and not known:
            record[part] += f"\n{label[0].strip()} {told}"  # still the prompt
        elif name not in record:
            part = name
            record[name] = told
    held = [record for record in records if output in record[2]]
    steps = [step for step, _, _ in held]
    placed = None not in steps and (bool(rows) or len({*steps}) > 1)
    return _told_by([Printed(_sample(one), step if placed else None, share=share) for step, share, one in held])


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
        records.append(record if outputs else {"output": body.strip()})
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
        score = as_number(told[0])
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


def _batches(told: Told) -> list[list[int]]:
    """Return the places of samples that were scored together, in order: those of one second."""
    times = [one.time for one in told.samples if one.time is not None]
    if len(times) < len(told.samples):
        return [[place] for place in range(len(told.samples))]
    months = [0.0, *accumulate(MONTH * (before - after > MONTH / 2) for before, after in pairwise(times))]
    times = [time + month for time, month in zip(times, months, strict=False)]
    order = sorted(range(len(times)), key=lambda place: times[place])
    return [list(batch) for _, batch in groupby(order, key=lambda place: int(times[place]))]
