"""Rows in the words of a home-made loop, and prime-rl's."""

from __future__ import annotations

import re

from ...vocabulary.guess import guess
from ..row import held_out
from .grammar import METRIC, has_metric
from .pieces import Piece, counted, is_value, pieces
from .rows import Rows

NEAR = 60  # lines below a step within which single numbers belong to it
LONG = 120  # characters of a line that heads a block, or of one below it
LONGEST = 20_000
MANY = 3  # numbers in a line that make it a row even if it names no step
FORMS = 400  # of lines without a step that are told apart
MOST_LINES = 64  # of an array
OFTEN = 3  # times that a form has to come for its lines to be rows


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
    HELD_OUT = re.compile(r"\W*(?:eval(?:uation)?|test(?:ing)?|valid(?:ation)?|val|held[ -]?out)\b", re.IGNORECASE)
    ARRAY = re.compile(r"[:=]\s*(?:[\w.]+\()?\[[-+\d.eE,\s\[\]]*$")  # numbers of a list that is not closed
    BARE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)s(?=\s|$|[|,)])")

    def __init__(self) -> None:
        self.counted = Rows()
        self._forms: dict[tuple[str, ...], int] = {}  # of lines that may be talk, and how often they came
        self._waiting: list[tuple[tuple[str, ...], int | None, dict[str, object]]] = []  # such lines
        self._form: tuple[str, ...] | None = None  # of the lines without a step that are rows
        self._step: int | None = None  # named by a line above
        self._left = 0  # lines for which it holds
        self._had: frozenset[str] = frozenset()  # the keys of that line, where it was a row itself
        self._held_out = False  # that line is the heading of an evaluation
        self._begun = ""  # an array that goes on in the next line
        self._lines = 0  # so many it has

    @property
    def is_open(self) -> bool:
        """Whether the next line belongs to an array that was begun."""
        return bool(self._begun)

    def take(self, line: str, rows: Rows) -> bool:
        if self._begun:
            line, self._begun = f"{self._begun} {line.strip()}", ""
        if len(line) > LONGEST or "%|" in line:
            return False  # a progress bar counts things that are no steps
        is_open = line.count("[") > line.count("]") and self.ARRAY.search(line)
        if is_open and self._lines < MOST_LINES and METRIC.search(line):
            self._begun, self._lines = line.rstrip(), self._lines + 1
            return True
        self._lines = 0
        self._left -= 1
        telling = METRIC.search(line) is not None
        if not telling and len(line) > LONG:
            return False  # too long for a heading
        found = pieces(line)
        count = counted(found)
        if count is not None and count.weak and self._step is not None and self._left > 0:
            count = None  # "Episode 3" above, "steps: 200" here
        if count is None:
            return telling and (self._below(found, line, rows) or self._stepless(found))
        values = self._values(found, line)
        step = rows.placed(count)
        if not has_metric(values):
            if not self.ASIDE.search(line):
                self._step, self._left, self._had = step, NEAR, frozenset()
                self._held_out = self.HELD_OUT.match(line) is not None
            return self._sentence(found, step, rows) if telling else False
        if "=" not in line and ":" not in line and "|" not in line and len(values) < 2:
            return self._sentence(found, step, rows)
        self._step, self._left, self._had, self._held_out = step, NEAR, frozenset(values), False
        rows.add(step, self._in_scope(values, line))
        return True

    def _in_scope(self, values: dict[str, object], line: str) -> dict[str, object]:
        """A line that begins with "Eval" is of an evaluation, whatever its numbers are called."""
        return held_out(values) if self.HELD_OUT.match(line) else values

    def _sentence(self, found: list[Piece], step: int, rows: Rows) -> bool:
        """A step and a number in running text: one such line is talk, lines of one form that come again are rows."""
        values: dict[str, object] = {
            one.label: one.values[0].replace(",", "") for one in found if one.label and is_value(one)
        }
        form = tuple(values)
        if not has_metric(values) or len(self._forms) >= FORMS:
            return False
        self._forms[form] = self._forms.get(form, 0) + 1
        if self._forms[form] < OFTEN:
            self._waiting.append((form, step, values))
            return False
        for other, before, held in self._waiting:
            if other == form and before is not None:
                rows.add(before, held)
        self._waiting = [held for held in self._waiting if held[0] != form]
        rows.add(step, values)
        return True

    def _below(self, found: list[Piece], line: str, rows: Rows) -> bool:
        """A line of a number or a few below a line that named the step."""
        if self._step is None or self._left <= 0 or len(line) > LONG:
            return False
        if any(one.label and not one.joined for one in found) and not (len(found) == 1 and self.APART.search(line)):
            return False  # it counts something of its own
        values = self._values(found, "")
        if not has_metric(values) or self._had & values.keys():
            return False
        rows.add(self._step, held_out(values) if self._held_out else self._in_scope(values, line))
        return True

    def _stepless(self, found: list[Piece]) -> bool:
        """A line with numbers and no step. Lines of one form that come again are rows, the others are talk."""
        values = self._values([one for one in found if one.joined], "")
        if len(values) < 1 or not has_metric(values):
            return False
        form = tuple(values)
        if self._form is not None:
            if form == self._form:
                self.counted.add(None, values)
            return False
        if len(self._forms) < FORMS:
            self._forms[form] = self._forms.get(form, 0) + 1
            self._waiting.append((form, None, values))
            rewarded = any(one.canonical == "reward/mean" for one in guess(form).values())
            if rewarded and (len(form) >= MANY or self._forms[form] >= OFTEN):
                self._form = form
                for other, step, held in self._waiting:
                    if other == form and step is None:
                        self.counted.add(None, held)
                self._waiting = [held for held in self._waiting if held[0] != form]
        return False

    def _values(self, found: list[Piece], line: str) -> dict[str, object]:
        values: dict[str, object] = {}
        for one in found:
            talk = not one.joined and one.label.count(" ") >= MANY
            if one.label and is_value(one) and not talk:
                numbers = [number.replace(",", "") for number in one.values]
                values.setdefault(one.label, numbers if one.listed else numbers[0])
        if bare := self.BARE.search(line):
            values.setdefault("time", bare[1])
        return values
