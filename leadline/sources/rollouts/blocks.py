"""Samples that a loop printed as text, one below the other: under a ruled heading with a time and a score (R1-V, VLM-R1
and what came of them), between bare rules, or as labelled parts (`[prompt]`, `Question:`, `Response:`).

What varies in a heading is masked before headings are compared, so a time stamp names no kind of its own. Samples with
a time belong together where it is the same second; the others come in the order of the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from ...vocabulary.names import tokens
from ..number import as_number
from .paths import keeps_samples
from .sample import FoundSamples, Raw

NAME = "blocks"

SUFFIXES = {".txt", ".log", ".out", ".err", ""}
LARGEST = 1 << 25  # bytes of a file, which is read whole
HEAD = 1 << 18  # bytes by which a file is known
MOST_FILES = 40
OFTEN = 3  # times that a heading or a label has to come
MOSTLY = 0.8  # of the samples have a label, where it is one and no word of theirs
PROSE = 2  # words of a sample
PAUSE, FAR_LONGER, USUAL = 900.0, 10.0, 0.9  # seconds; times the gap that so large a share of the gaps is below
MONTH = 28 * 86400.0  # seconds: a stamp without a month begins anew
MOST_SECTIONS = 200_000
RULED = re.compile(r"^[ \t]{0,200}([-=*#~_])\1{4,}([^\n]{0,300})$", re.MULTILINE)
LABEL = re.compile(
    r"^[ \t]{0,99}(?:[-=*#~]{3,99}[ \t]{0,99})?"
    r"(?:\[(?P<boxed>[A-Za-z][A-Za-z _]{2,24})\]:?|(?P<plain>[A-Z][A-Za-z_ ]{2,24}):)(?=\s)",
    re.MULTILINE,
)
SCORED = re.compile(r"([A-Za-z][\w /-]{0,40}?)\s*[:=]\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*$")
STAMP = re.compile(
    r"(?<!\d)(?:(?:\d{4}-)?(?:\d\d-)?(?P<day>\d\d)[-T_ ])?(?P<hour>\d\d)[-:](?P<minute>\d\d)[-:](?P<second>\d\d)"
    r"(?:[-.,](?P<part>\d{1,6}))?(?!\d)"
)
STEP = re.compile(r"\b(?:step|iteration|iter)\s*[:#=]?\s*(\d{1,9})", re.IGNORECASE)
COUNTED = re.compile(r"(?:evaluation|eval|step|iteration|update|epoch)\s*#?\s*(\d{1,9})\b", re.IGNORECASE)
LONGEST_HEADING = 300
DIGITS = re.compile(r"\d+(?:\.\d+)?")
OUTPUTS = ("response", "completion", "content", "output", "generation", "answer")
PROMPTS = ("prompt", "question", "query", "problem", "input", "instruction")
SCORES = ("score", "reward", "accuracy", "correct")
OUTCOMES = {"accuracy", "correct", "success", "outcome", "task"}
REFERENCES = {"ground", "truth", "solution", "gold", "reference", "target", "extracted", "expected", "parsed"}


@dataclass(frozen=True, slots=True)
class Block:
    """One sample: where it lies, and what its heading says."""

    file: Path
    place: int  # among the samples of the file


@dataclass(frozen=True, slots=True)
class Told:
    """What a file of samples holds, in order."""

    samples: tuple[Raw, ...]
    times: tuple[float | None, ...]
    steps: tuple[int | None, ...]
    score: str = "reward"  # what the heading calls the score
    others: tuple[str, ...] = ()  # other scores that it gives, of the same samples
    pure: bool = False  # nothing else stands in the file


def index(files: Sequence[Path]) -> FoundSamples:
    """The samples among text files. Of two files of which one name holds all words of the other, the shorter name is
    of all samples, and the other of a choice among them."""
    looked = [file for file in files if file.suffix.lower() in SUFFIXES][:MOST_FILES]
    held = {file: told for file in looked if (told := told_in(file)) is not None}
    found = FoundSamples()
    for file, told in held.items():
        mine = {*tokens(file.stem)}
        if any(other.parent == file.parent and {*tokens(other.stem)} < mine for other in held):
            found.notes.append(f"{file.name} was left out: by its name it is a choice among the samples beside it")
            continue
        found.score = told.score
        if told.others:
            found.notes.append(f"{file.name} also scores its samples by {', '.join(told.others)}; {told.score} is read")
        *earlier, last = _starts(told, _batches(told))
        found.earlier += [[Block(file, place) for place in batch] for start in earlier for batch in start]
        for batch in last:
            step = told.steps[batch[0]]
            if step is None:
                found.unplaced.append([Block(file, place) for place in batch])
            for place in batch if step is not None else ():
                found.add(step or 0, Block(file, place))
        if earlier:
            begins = ", ".join(str(sum(map(len, earlier[:count])) + 1) for count in range(1, len(earlier) + 1))
            found.notes.append(f"{file.name} pauses for long before batch {begins}: another start may begin there")
    return found


def _starts(told: Told, batches: list[list[int]]) -> list[list[list[int]]]:
    """The batches of each start of the program: a gap far longer than nearly all others lies between two."""
    times = [told.times[batch[0]] for batch in batches]
    gaps = [max(after - before, 0.0) for before, after in pairwise(time for time in times if time is not None)]
    if len(gaps) != len(batches) - 1 or len(gaps) < OFTEN:
        return [batches]
    long = max(PAUSE, FAR_LONGER * sorted(gaps)[int(USUAL * len(gaps))])
    begins = [0, *(place for place, gap in enumerate(gaps, start=1) if gap > long), len(batches)]
    return [batches[first:last] for first, last in pairwise(begins)]


def read(place: object, step: int) -> Iterator[Raw]:
    assert isinstance(place, Block)
    told = told_in(place.file)
    if told is not None and place.place < len(told.samples):
        yield told.samples[place.place]


def is_pure(file: Path) -> bool:
    """Whether a text file holds samples and nothing else, so that it is no log."""
    return file.suffix.lower() in SUFFIXES and (told := told_in(file)) is not None and told.pure


def told_in(file: Path) -> Told | None:
    """The samples that a text file holds; None where it holds none."""
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
            some = [
                data[at : at + HEAD].decode(errors="replace") for at in {0, len(data) // 2, max(0, len(data) - HEAD)}
            ]
            if b"\0" in data[:4096] or not ("┃".encode() in data or any(map(_promises, some))):
                return None
            text = data.decode(errors="replace").replace("\r\n", "\n")
    except OSError:
        return None
    return _under_headings(text) or _between_rules(text, file) or _tabled(text) or _labelled(text)


def _promises(head: str) -> bool:
    """Whether a stretch of a file holds a rule or a part of a sample more than once."""
    if sum(1 for _ in zip(range(OFTEN), RULED.finditer(head), strict=False)) >= OFTEN:
        return True
    return any(count >= OFTEN for count in Counter(_name(label) for label in LABEL.finditer(head)).values())


def _said(rule: re.Match[str]) -> str:
    """What stands in a ruled line."""
    return rule[2].strip().strip("-=*#~_").strip()


def _name(label: re.Match[str]) -> str:
    return (label["boxed"] or label["plain"]).strip().lower().replace(" ", "_")


def _under_headings(text: str) -> Told | None:
    """Samples that each stand under a ruled heading with a score in it."""
    heads = [(rule, scored) for rule in RULED.finditer(text) if (scored := SCORED.search(_said(rule)))]
    if len(heads) < OFTEN:
        return None
    kinds = Counter(_masked(scored[1]) for _, scored in heads)
    kinds = Counter({kind: count for kind, count in kinds.items() if count >= OFTEN})
    if not kinds or sum(kinds.values()) < MOSTLY * len(heads):
        return None
    chosen = max(kinds, key=lambda kind: (bool({*tokens(kind)} & OUTCOMES), kinds[kind]))
    ends = [rule.start() for rule, _ in heads[1:]] + [len(text)]
    blocks = [
        (_said(rule), scored[2], text[rule.end() : end])
        for (rule, scored), end in zip(heads, ends, strict=True)
        if _masked(scored[1]) == chosen
    ]
    records = _parts([body for _, _, body in blocks])
    samples = [_sample(record, as_number(score)) for record, (_, score, _) in zip(records, blocks, strict=True)]
    if not _is_prose(samples):
        return None
    return Told(
        tuple(samples),
        tuple(_seconds(head) for head, _, _ in blocks),
        tuple(_step(head) for head, _, _ in blocks),
        chosen,
        tuple(sorted(kind for kind in kinds if kind != chosen)),
        pure=heads[0][0].start() < HEAD // 64,
    )


def _between_rules(text: str, file: Path) -> Told | None:
    """Samples between bare rules, in a file whose name says that samples are kept there."""
    rules = [rule for rule in RULED.finditer(text) if not _said(rule)]
    if len(rules) < OFTEN or not keeps_samples(file):
        return None
    ends = [rule.start() for rule in rules[1:]] + [len(text)]
    bodies = [text[rule.end() : end] for rule, end in zip(rules, ends, strict=True) if text[rule.end() : end].strip()]
    samples = [_sample(record, None) for record in _parts(bodies)]
    return _in_order(samples, pure=True) if _is_prose(samples) else None


def _tabled(text: str) -> Told | None:
    """Samples in tables drawn with lines, a line of each cell a line of text (`rich`, as trlX prints them): the heading
    above a table may count."""
    samples: list[Raw] = []
    steps: list[int | None] = []
    heading: int | None = None
    columns: list[str] = []
    row: list[list[str]] = []
    for line in text.split("\n"):
        drawn = line.strip()
        if drawn[:1] in "┃│" and drawn[:1]:
            cells = [cell.strip() for cell in re.split("[┃│]", drawn)[1:-1]]
            if drawn[0] == "┃":
                columns, row = [cell.lower() for cell in cells], []
            elif len(cells) == len(columns):
                row.append(cells)
            continue
        if drawn[:1] in "├└" and drawn[:1] and row:
            record = {
                name: "\n".join(filter(None, held)) for name, held in zip(columns, zip(*row, strict=True), strict=True)
            }
            row = []
            sample = _sample(record, None)
            if sample.output:
                samples.append(sample)
                steps.append(heading)
        elif len(drawn) < LONGEST_HEADING and (count := COUNTED.search(drawn)):
            heading = int(count[1])
    if len(samples) < OFTEN or not _is_prose(samples):
        return None
    return Told(tuple(samples), (None,) * len(samples), tuple(steps))


def _labelled(text: str) -> Told | None:
    """Samples whose parts are labelled, wherever in a log they stand. The first label begins a sample."""
    labels = [label for _, label in zip(range(MOST_SECTIONS), LABEL.finditer(text), strict=False)]
    counts = Counter(_name(label) for label in labels)
    if not labels or not counts:
        return None
    output = next((name for name in counts if counts[name] >= OFTEN and _means(name, OUTPUTS[:-1])), None)
    if output is None:
        return None
    cycle = {name for name, count in counts.items() if MOSTLY * counts[output] <= count <= counts[output] / MOSTLY}
    if not any(_means(name, PROMPTS) for name in cycle):
        return None
    kept = [label for label in labels if _name(label) in cycle]
    begin = _name(kept[0])
    records: list[dict[str, str]] = []
    for label, after in zip(kept, [*kept[1:], None], strict=True):
        name = _name(label)
        body = text[label.end() : after.start() if after is not None else len(text)]
        if name == begin or not records:
            records.append({})
        records[-1].setdefault(name, _cut(body))
    samples = [_sample(record, None) for record in records if output in record]
    return _in_order(samples) if _is_prose(samples) else None


def _cut(body: str) -> str:
    """A part without what a trainer printed behind it: a row of numbers, a bar, a rule."""
    return re.split(r"\n(?=\{'|.{0,200}?\d{1,3}%\||[-=*#]{5})", body, maxsplit=1)[0].strip()


def _in_order(samples: Sequence[Raw], *, pure: bool = False) -> Told:
    nothing = (None,) * len(samples)
    return Told(tuple(samples), nothing, nothing, pure=pure)


def _masked(kind: str) -> str:
    """What a heading calls its score, without what varies from one to the next."""
    return " ".join(word for word in STAMP.sub(" ", kind).split() if not DIGITS.search(word)).strip("-_ :/")


def _parts(bodies: Sequence[str]) -> list[dict[str, str]]:
    """The labelled parts of each sample. A label that most samples lack is a word of theirs."""
    seen = Counter(name for body in bodies for name in {_name(label) for label in LABEL.finditer(body)})
    parts = {name for name, count in seen.items() if count >= MOSTLY * len(bodies)}
    outputs = [name for name in seen if name in parts and _means(name, OUTPUTS)]
    records = []
    for body in bodies:
        # What the policy wrote may hold any label: behind its own, only the last one of each other is a part.
        spots: dict[str, re.Match[str]] = {}
        for label in LABEL.finditer(body):
            name = _name(label)
            if name in parts and (name not in spots or name not in outputs[:1]):
                spots[name] = label
        ordered = sorted(spots.values(), key=lambda label: label.start())
        ends = [label.start() for label in ordered[1:]] + [len(body)]
        record = {_name(label): body[label.end() : end].strip() for label, end in zip(ordered, ends, strict=False)}
        records.append(record if outputs else {"output": body.strip()})
    return records


def _means(name: str, words: Sequence[str]) -> bool:
    said = {*tokens(name)}
    return bool(said & {*words}) and not said & REFERENCES


def _sample(record: dict[str, str], score: float | None) -> Raw:
    named = [[name for name in record if _means(name, words)] for words in (OUTPUTS, PROMPTS, SCORES)]
    output, prompt, scored = (min(names, key=_rank) if names else None for names in named)
    if score is None and scored is not None:
        score = as_number(record[scored].split()[0]) if record[scored].split() else None
    reference = next((record[name] for name in record if {*tokens(name)} & REFERENCES), None)
    return Raw(
        record[prompt] if prompt is not None else "",
        record[output] if output is not None else "",
        float("nan") if score is None else score,
        None if prompt is not None else reference,
    )


def _rank(name: str) -> int:
    words = tokens(name)
    return min((list.index([*OUTPUTS, *PROMPTS, *SCORES], word) for word in words if word in _ALL), default=99)


_ALL = {*OUTPUTS, *PROMPTS, *SCORES}


def _is_prose(samples: Sequence[Raw]) -> bool:
    if len(samples) < OFTEN:
        return False
    return sum(len(sample.output.split()) for sample in samples) >= PROSE * len(samples) or any(
        sample.prompt or "<" in sample.output for sample in samples
    )


def _step(head: str) -> int | None:
    return int(step[1]) if (step := STEP.search(head)) else None


def _seconds(head: str) -> float | None:
    """The time in a heading, in seconds from the start of its month."""
    stamp = STAMP.search(head)
    if stamp is None:
        return None
    day, hour, minute, second = (int(stamp[name] or 0) for name in ("day", "hour", "minute", "second"))
    return ((day * 24 + hour) * 60 + minute) * 60 + second + float(f"0.{stamp['part'] or 0}")


def _batches(told: Told) -> list[list[int]]:
    """The samples that were scored together, in order: those of one second."""
    times = [time for time in told.times if time is not None]
    if len(times) < len(told.samples):
        return [[place] for place in range(len(told.samples))]
    months = 0.0
    for place, (before, after) in enumerate(pairwise(told.times), start=1):
        months += MONTH * ((before or 0.0) - (after or 0.0) > MONTH / 2)
        times[place] += months
    order = sorted(range(len(times)), key=lambda place: times[place])
    batches = [order[:1]]
    for before, place in pairwise(order):
        if int(times[place]) != int(times[before]):
            batches.append([])
        batches[-1].append(place)
    return batches
