"""Rows that stand in a line, or in a few below a line that names their step: the wordings of single frameworks, and
whatever words a loop of its own prints."""

from __future__ import annotations

import re
from functools import lru_cache

from ...vocabulary.guess import meant
from ...vocabulary.names import tokens
from ..number import as_number
from ..row import held_out
from .line import (
    BAR,
    METRIC,
    NUMBER,
    Count,
    Piece,
    counted,
    has_metric,
    is_value,
    joined_values,
    pieces,
    share_of,
)
from .rows import Rows

NEAR = 60  # lines below a step within which single numbers belong to it
LONG = 120  # characters of a line that heads a block, or of one below it
LONGEST = 20_000
MANY = 3  # numbers in a line that make it a row even if it names no step
MOST_FORMS = 16  # of lines without a step that are told apart
MEANS = {"mean", "avg", "average"}
FORMS = 400  # of lines that are told apart
MOST_LINES = 64  # of an array
OFTEN = 3  # times that a form has to come for what has it to be rows


class Recurring:
    """Rows of forms that may be talk: once is talk, what comes again is a row."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, ...], list[dict[str, object]]] = {}
        self._known: set[tuple[str, ...]] = set()

    def take(self, form: tuple[str, ...], row: dict[str, object], *, often: int = OFTEN) -> list[dict[str, object]]:
        """Return the rows that a row of this form proves: itself and those before it, or none yet."""
        if form in self._known:
            return [row]
        if form not in self._waiting and len(self._waiting) >= FORMS:
            return []
        self._waiting.setdefault(form, []).append(row)
        if len(self._waiting[form]) < often:
            return []
        self._known.add(form)
        return self._waiting.pop(form)


class Pairs:
    """verl: `step:12 - actor/pg_loss:0.0031 - critic/score/mean:np.float64(0.42)`, parted at the last colon."""

    marks: tuple[bytes, ...] = (b"step:",)
    START = re.compile(r"(?<![\w/])step:(\d+) - ")

    def take(self, line: str, rows: Rows) -> bool:
        start = self.START.search(line)
        if start is None:
            return False
        values: dict[str, object] = {}
        for pair in line[start.end() :].rstrip().split(" - "):
            key, _, value = pair.rpartition(":")
            number = as_number(value)
            if number is not None or value.strip() == "None":
                values[key] = number
        values.pop("", None)
        if not values:
            return False
        rows.add(int(start[1]), values)
        return True


class Bullets:
    """NeMo RL: `Step 12/1000` between rules, then `• Avg Reward: 0.41` and a block of timings. torchforge: `METRICS
    STEP 12` between rules, then `  reward/evaluate_response/avg_total_reward: 0.41`."""

    marks: tuple[bytes, ...] = ("•".encode(), b"= Step ", b"Timing", b"Total step time", b"METRICS STEP")
    HEADER = re.compile(r"=\s*Step (\d+)/\d+\s*=|- METRICS STEP (\d+) =")
    PATH = re.compile(rf"\s+([^\s:]+/[^\s:]+): ({NUMBER})\s*")
    BULLET = re.compile(
        rf"(?:•\s*(?P<key>[^:]+?)|(?P<total>Total step time)):\s*(?P<value>{NUMBER})(?P<s>s)?(?:\s|$|\()"
    )

    def __init__(self) -> None:
        self._step: int | None = None

    def take(self, line: str, rows: Rows) -> bool:
        if header := self.HEADER.search(line):
            self._step = int(header[1] or header[2])
            self.marks = (*Bullets.marks, b": ") if header[2] else Bullets.marks
            return False
        if self._step is not None and b": " in self.marks and (path := self.PATH.fullmatch(line)):
            rows.add(self._step, {path[1]: path[2]})
            return True
        bullet = self.BULLET.search(line)
        if self._step is None or bullet is None:
            return False
        key = bullet[1] or bullet[2]
        rows.family = "nemo_rl"
        rows.add(self._step, {f"console timing/{key}" if bullet[4] else key: bullet[3]})
        return True


class Bars:
    """`Training: 10%|█ | 12/240 [00:10<01:30, 1.2it/s, reward=0.4, loss=0.1]`. A bar is drawn many times and may count
    anything, so these rows are kept apart (`counted`), for a log that has no others."""

    marks: tuple[bytes, ...] = (b"it/s,", b"s/it,")
    BAR = re.compile(r"\|\s*(\d{1,15})/(\d{1,15})\s*\[[^\[\]]*?(?:it/s|s/it)(,[^\]]*)\]")

    def __init__(self) -> None:
        self.counted = Rows()

    def take(self, line: str, rows: Rows) -> bool:
        bar = self.BAR.search(line)
        if bar is not None and has_metric(values := joined_values(bar[3])):
            self.counted.add(self.counted.placed(Count(int(bar[1]), int(bar[2]))), values)
        return False


class Words:
    """Lines that name a step and some numbers: `[step 3/200] loss=0.1 rewards=['0.8', '0.1']`,
    `Iter 3 | reward: 0.4 | kl 0.01`, `Epoch:[1/1](2/500), Reward: 0.4`, `Total T: 900 Reward: 2.5` and prime-rl's
    `Step 12 | 31.20s | Loss 0.0012 | Mismatch KL 0.0007`; or a step, and below it a number or a few a line. Lines that
    name no step are kept apart (`counted`), for a log that has no others."""

    marks: tuple[bytes, ...] = (
        b"tep", b"ter", b"TER", b"pisode", b"poch", b"pdate", b"ound", b": ", b"=", b"eward", b"...",
    )  # fmt: skip
    APART = re.compile(r"\w[ ]{2,}[-+.\d]\S*\s*$|\w\t+[-+.\d]\S*\s*$")  # a name and its number, in columns
    ASIDE = re.compile(r"checkpoint|saving|saved|loading|loaded|resum", re.IGNORECASE)  # steps of something else
    # A line that begins so is of an evaluation, whatever its values are called.
    HELD_OUT = re.compile(r"\W*(?:eval(?:uation)?|test(?:ing)?|valid(?:ation)?|val|held[ -]?out)\b", re.IGNORECASE)
    ARRAY = re.compile(r"[:=]\s*(?:[\w.]+\()?\[[-+\d.eE,\s\[\]]*$")  # numbers of a list that is not closed
    SECTION = re.compile(r"\W*([A-Za-z][\w ]{2,40}):\s*")  # a heading of what stands indented below it
    BARE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)s(?=\s|$|[|,)])")

    def __init__(self) -> None:
        self._forms: dict[tuple[str, ...], Rows] = {}  # lines without a step, by what they hold
        self._stepless = Recurring()
        self._step: int | None = None  # named by a line above
        self._left = 0  # lines for which it holds
        self._had: frozenset[tuple[str, ...]] = frozenset()  # the keys of that line as words, if it was a row itself
        self._section = ""  # what the numbers below are of, as a heading says
        self._held_out = False  # that line is the heading of an evaluation
        self._begun = ""  # an array that goes on in the next line
        self._lines = 0  # so many it has

    @property
    def counted(self) -> Rows:
        """The lines without a step of the form that came most often, one that tells a mean before all others."""
        told = {form: any(MEANS & {*tokens(key)} for key in form) for form in self._forms}
        form = max(told, key=lambda form: (told[form], self._forms[form].taken), default=())
        return self._forms.get(form, Rows())

    @property
    def is_open(self) -> bool:
        """Whether the next line belongs to an array that was begun."""
        return bool(self._begun)

    def take(self, line: str, rows: Rows) -> bool:
        if self._begun:
            line, self._begun = f"{self._begun} {line.strip()}", ""
        if len(line) > LONGEST or BAR.search(line):
            return False  # a progress bar counts things that are no steps
        telling = METRIC.search(line) is not None
        if telling and (heading := self.SECTION.fullmatch(line)):
            self._section = heading[1]
            return False
        self._section = self._section if line[:1] in (" ", "\t") else ""
        telling = telling or bool(self._section)
        is_open = telling and line.count("[") > line.count("]") and self.ARRAY.search(line)
        if is_open and self._lines < MOST_LINES:
            self._begun, self._lines = line.rstrip(), self._lines + 1
            return True
        self._lines = 0
        self._left -= 1
        if not telling and len(line) > LONG:
            return False  # too long for a heading
        count = counted(line)
        if count is not None and count.weak and self._step is not None and self._left > 0:
            count = None  # "Episode 3" above, "steps: 200" here
        if count is None:
            return telling and (self._below(line, rows) or self._count(line))
        values = self._values(pieces(line))
        if bare := self.BARE.search(line):
            values.setdefault("time", bare[1])
        step = rows.placed(count)
        talk = "=" not in line and ":" not in line and "|" not in line and len(values) < 2
        if has_metric(values) and not talk:
            self._step, self._left, self._had, self._held_out = step, NEAR, frozenset(map(tokens, values)), False
            rows.add(step, held_out(values) if self.HELD_OUT.match(line) else values)
            return True
        if not has_metric(values) and not self.ASIDE.search(line):
            self._step, self._left, self._had = step, NEAR, frozenset()
            self._held_out = self.HELD_OUT.match(line) is not None
            rows.head(step)
        return False

    def _below(self, line: str, rows: Rows) -> bool:
        """Take a line of a number or a few below a line that named the step."""
        if self._step is None or self._left <= 0 or len(line) > LONG:
            return False
        found = pieces(line)
        if any(one.label and not one.joined for one in found) and not (len(found) == 1 and self.APART.search(line)):
            return False  # it counts something of its own
        values = self._values(found)
        if not has_metric(values) or self._had.intersection(map(tokens, values)):
            return False
        values = held_out(values) if self._held_out or self.HELD_OUT.match(line) else values
        rows.add(self._step, values, headed=not self._had)
        return True

    def _count(self, line: str) -> bool:
        """Take a line with a reward and no step, of a form that comes again or has several numbers."""
        values = self._values([one for one in pieces(line) if one.joined])
        form = tuple(values)
        sure = len(form) >= MANY or any(
            {"reward", "return"} & {*tokens(key)} for key in form
        )  # a score may be anything
        known = form in self._forms or len(self._forms) < MOST_FORMS
        if sure and known and has_metric(values) and is_rewarded(form):
            for held in self._stepless.take(form, values, often=1 if len(form) >= MANY else OFTEN):
                self._forms.setdefault(form, Rows()).add(None, held)
        return False

    def _values(self, found: tuple[Piece, ...] | list[Piece]) -> dict[str, object]:
        values: dict[str, object] = {}
        for one in found:
            talk = not one.joined and one.label.count(" ") >= MANY
            if one.total and (share := share_of(one)) is not None:
                values.setdefault(one.label, share)
            if one.label and is_value(one) and not talk:
                numbers = [number.replace(",", "") for number in one.values]
                label = one.label if METRIC.search(one.label) else f"{self._section} {one.label}".strip()
                values.setdefault(label, numbers if one.listed else numbers[0])
        return values


@lru_cache(maxsize=1024)
def is_rewarded(keys: tuple[str, ...]) -> bool:
    """Return whether a reward is among the keys by their words."""
    return "reward/mean" in meant(keys)
