"""Rows in the words of a home-made loop, and prime-rl's."""

from __future__ import annotations

import re

from ...vocabulary.guess import guess
from .grammar import COUNTER, METRIC, NUMBER, WRAPPED, counted_step, has_metric, is_counter
from .rows import Rows

NEAR = 60  # lines below a step within which single numbers belong to it
LONG = 80  # characters of a line that heads a block
MANY = 3  # numbers in a line that make it a row even if it names no step


class Words:
    """Lines that name a step and some numbers: `[step 3/200] loss=0.1 rewards=['0.8', '0.1']`,
    `Iter 3 | reward: 0.4 | kl 0.01`, and prime-rl's `Step 12 | 31.20s | Loss 0.0012 | Mismatch KL 0.0007`; or a step,
    and below it a number a line. Lines that name no step are kept apart (`counted`), for a log that has no others."""

    marks: tuple[bytes, ...] = (b"tep", b"ter", b"TER", b"pisode", b"poch", b"pdate", b"ound", b": ", b"=")
    SPLIT = re.compile(r"\s*[|;]\s*|,\s+|\s+-\s+|\t+|\s{2,}|[\])]\s+")
    EQUALS = re.compile(rf"(?P<key>[A-Za-z][\w./@%-]*)\s*=\s*(?P<value>\[[^\[\]]*\]|{WRAPPED})(?P<rest>\S*)")
    LABEL = re.compile(
        rf"(?P<key>[A-Za-z][\w./@() %-]*?)\s*(?::|=|\s)\s*(?P<value>\[[^\[\]]*\]|{WRAPPED})\s*(?P<unit>%|[A-Za-z/]*)"
    )
    ALONE = re.compile(rf"\W*(?P<key>[A-Za-z][\w./@ -]*?)\s*[:=]\s*(?P<value>{WRAPPED})\s*%?")
    CALL = re.compile(rf"(?:(?:np|numpy|torch)\.)?(?:float|int|tensor)\w*\(\s*({NUMBER})[^()]*\)")
    COUNTED = re.compile(rf"{COUNTER.pattern}(?:\s*/\s*\d[\d,]*)?[\]):]*", re.IGNORECASE)
    AFTER = re.compile(r"([:=])\s+")  # columns are often padded
    BARE = re.compile(rf"({NUMBER})s")
    LIST = re.compile(r"[^\[\],\s'\"]+")

    def __init__(self) -> None:
        self.counted = Rows()
        self._keys: frozenset[str] = frozenset()  # of the lines that name no step
        self._step: int | None = None  # named by a line above
        self._left = 0  # lines for which it holds

    def take(self, line: str, rows: Rows) -> bool:
        if len(line) > 20_000 or "%|" in line or ("=" not in line and ":" not in line and "|" not in line):
            return False  # a progress bar counts things that are no steps
        self._left -= 1
        telling = METRIC.search(line) is not None
        if not telling and len(line) > LONG:
            return False  # too long for a heading
        step = counted_step(line)
        if step is None:
            return telling and (self._below(line, rows) or self._stepless(line))
        values = self._values(line)
        if not has_metric(values):
            self._step, self._left = step, NEAR
            return False
        self._step, self._left = None, 0
        rows.add(step, values)
        return True

    def _below(self, line: str, rows: Rows) -> bool:
        """A line of one number below a line that named the step."""
        alone = self.ALONE.fullmatch(line.rstrip()) if self._step is not None and self._left > 0 else None
        if alone is None or not has_metric({alone["key"]: None}):
            return False
        rows.add(self._step, {alone["key"].strip(): alone["value"]})
        return True

    def _stepless(self, line: str) -> bool:
        """A line with a reward and other numbers and no step; only lines of one form are taken, the others are talk."""
        if line.count("=") < MANY:
            return False
        values = self._values(line)
        keys = frozenset(values)
        if not self._keys and len(keys) >= MANY and any(one.canonical == "reward/mean" for one in guess(keys).values()):
            self._keys = keys
        if keys and keys == self._keys:
            self.counted.add(None, values)
        return False

    def _values(self, line: str) -> dict[str, object]:
        line = self.CALL.sub(r"\1", line)
        line = self.COUNTED.sub(" | ", line)
        line = self.AFTER.sub(r"\1 ", line)
        values: dict[str, object] = {}
        for pair in self.EQUALS.finditer(line):
            if not pair["rest"].startswith(("/", ".")) and not is_counter(pair["key"]):
                values[pair["key"]] = self._value(pair["value"])
        for part in self.SPLIT.split(self.EQUALS.sub(" | ", line)):
            part = part.strip().lstrip("[(").strip()
            if bare := self.BARE.fullmatch(part):
                values.setdefault("time", bare[1])
            elif (label := self.LABEL.fullmatch(part)) and not is_counter(label["key"]):
                values.setdefault(label["key"].strip(), self._value(label["value"]))
        return values

    def _value(self, text: str) -> object:
        return self.LIST.findall(text) if text.startswith("[") else text
