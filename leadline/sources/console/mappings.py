"""Rows printed as Python or JSON mappings, on one line or several."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from ...vocabulary.guess import meant
from ..clock import step_key
from ..number import as_number, as_step, mean_of
from ..row import unwrapped
from .line import BAR, METRIC, counted, has_metric, joined_values
from .rows import Rows

# One of these beside an epoch: the Hugging Face Trainer.
HF = {"loss", "train_runtime", "eval_loss", "eval_runtime", "train_loss", "reward"}
NO_STEPS = ("epoch", "episode", "batch", "round")  # keys that count something else where a trainer prints mappings
DAMAGE = "\ufffd"  # what stands for bytes that are no text
FEWEST = 3  # keys by which a row that is broken is known again
DEEPEST = 20  # values within values
SPACE = re.compile(r"\s*")
STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
# A number, a word such as nan or None, or a call such as np.float64(0.5) or tensor(0.5, device='cuda:0').
ATOM = re.compile(
    r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?(?![\w.])|\.\d+(?:[eE][-+]?\d+)?|[\w.]+(?:\((?:[^()]|\([^()]*\))*\))?)"
)
WORDS: dict[str, object] = {"None": None, "null": None, "True": True, "true": True, "False": False, "false": False}
CLOSING = {"{": "}", "[": "]", "(": ")"}


class Mappings:
    """HF Trainer and TRL, Unsloth, OpenRLHF, SkyRL, slime, ROLL, and whatever a loop prints with `print(metrics)`."""

    marks: tuple[bytes, ...] = (b"': ", b'": ', b"Step ", b"step ")
    LONGEST = 1 << 20  # characters of a mapping over several lines
    MOST_LINES = 400
    BEGUN = re.compile(r"\{\s*(?:['\"][^'\"{}]{1,80}['\"]\s*:|$)")  # a mapping, as far as its first key tells
    GOES_ON = re.compile(r"['\"}]|^[\d\s.,:eE+\-\[\]()]*$")  # a line of one: a key, an end, or numbers alone
    EVALUATED = re.compile(r"(?<![a-z])(?:eval|valid|test)", re.IGNORECASE)
    HEADER = re.compile(r"(?<![\w/])(?:global )?step (\d+)\s*[:=]?\s*$", re.IGNORECASE)
    SLIME = re.compile(r"(?<![\w/])(step|rollout|perf|eval|passrate) (\d+): \{")
    OPENS = re.compile(r"\{\s*(?:['\"]|$)")

    def __init__(self) -> None:
        # Rows that name neither a step nor a pass over the data: beside rows that do, they are about single samples.
        self.counted = self._last = Rows()
        self._named: Set[str] = frozenset()  # the keys of the last row that does
        self._open = ""  # the lines of a mapping that is not closed yet
        self._before = ""  # what stood before it
        self._header: int | None = None  # SkyRL names the step on the line before
        self._lines = 0  # of the open mapping
        self._keys: tuple[str, ...] = ()  # of the last row
        self._half = False  # the beginning of a row that cannot be read was met, and not its end

    @property
    def is_open(self) -> bool:
        """Whether the next line may go on with a mapping: printed over several lines, or wrapped by a terminal."""
        return bool(self._open)

    def take(self, line: str, rows: Rows) -> bool:
        if self._open:
            return self._go_on(line, rows)
        opened = self.OPENS.search(line)
        if opened is None:
            header = self.HEADER.search(line)
            self._header = int(header[1]) if header else None
            return self._is_lost(line, rows)
        return self._close(line[opened.start() :], line[: opened.start()], rows)

    def _go_on(self, line: str, rows: Rows) -> bool:
        self._lines += 1
        is_bar = BAR.search(line) is not None and "{" not in line and "'" not in line
        # What follows a mapping that breaks off, or words that only begin like one, is somebody's line.
        over = len(self._open) > self.LONGEST or self._lines > self.MOST_LINES
        over |= not is_bar and self.GOES_ON.search(line) is None
        if over or self.OPENS.match(line.strip()) or self._is_whole(line):
            broken, self._open = self._open, ""
            self._is_lost(broken, rows)
            return False if over else self.take(line, rows)
        if is_bar:
            return False  # in between
        text = f"{self._open}{line}"  # a terminal wraps in the middle of a word
        return self._close(text, self._before, rows) if "}" in line else self._leave_open(text, self._before, rows)

    def _is_whole(self, line: str) -> bool:
        """Return whether a line holds a mapping of its own, behind words, and not a value of the one that is open."""
        opened = self.OPENS.search(line)
        if opened is None or line[: opened.start()].rstrip().endswith(("':", '":', ",", "[", "(")):
            return False
        try:
            read_mapping(line, opened.start())
        except (Torn, RecursionError):
            return False
        return True

    def _close(self, text: str, before: str, rows: Rows) -> bool:
        try:
            values, end = read_mapping(text, 0)
        except (Torn, RecursionError):
            return self._leave_open(text, before, rows)
        self._open = ""
        taken = self._file(values, before, rows)
        if taken:
            self._keys, self._half = tuple(values), False
            rows.damaged += any(DAMAGE in str(held) for held in (*values, *values.values()))
            if (another := self.OPENS.search(text, end)) is not None:  # the end of a line was lost
                self._close(text[another.start() :], "", rows)
        return taken or self._is_lost(text, rows)

    def _leave_open(self, text: str, before: str, rows: Rows) -> bool:
        """Keep a text as the beginning of a mapping, as long as no brace has closed."""
        if "}" not in text[text.rfind("{") :] and self.BEGUN.match(text):
            self._lines = self._lines if self._open else 0
            self._open, self._before = text, before
            return True  # a line of a mapping is nobody else's, closed or not
        self._open = ""
        return self._is_lost(text, rows)

    def _is_lost(self, text: str, rows: Rows) -> bool:
        """Return whether a broken text was a mapping: it begins as the row before it did, or names most of its keys."""
        if len(self._keys) < FEWEST:
            return False
        begins = text.lstrip().startswith((f"{{'{self._keys[0]}'", f'{{"{self._keys[0]}"'))
        named = sum(f"'{key}'" in text or f'"{key}"' in text for key in self._keys)
        if not begins and 2 * named < len(self._keys):
            return False
        rest_of_it, self._half = self._half and not begins, begins and "}" not in text
        if not rest_of_it:
            self._last.lose()
        return True

    def _file(self, values: dict[str, object], before: str, rows: Rows) -> bool:
        header, self._header = self._header, None
        values = unwrapped(values) if "step" in values else values
        numbers = {
            key: value
            for key, value in values.items()
            if isinstance(value, dict) or as_number(value) is not None or mean_of(value) is not None
        }
        evaluated = numbers and all(self.EVALUATED.match(key) for key in numbers) and self.EVALUATED.search(before)
        if (len(numbers) < 2 and not evaluated) or len(numbers) * 2 < len(values):
            return False
        slime = self.SLIME.search(before + "{")
        step: int | None
        if slime is not None:
            step = int(slime[2])
            if slime[1] in ("rollout", "perf"):
                rows.rollout = step
            elif slime[1] == "step" and rows.rollout is not None:
                step = rows.rollout  # several updates belong to one rollout
        else:
            step = self._step(numbers, before, header)
            if "epoch" in numbers and HF & numbers.keys() and (step is None or "learning_rate" in numbers):
                rows.family = "trl"
            elif step is None and not _is_trained(tuple(numbers)):
                return False  # settings and the like are printed as mappings too
        if step is not None or "epoch" in numbers:
            self._named = numbers.keys()
        sure = step is not None or 2 * len(numbers.keys() & self._named) >= len(numbers)  # one may be damaged
        self._last = rows if sure else self.counted
        self._last.add(step, {**_beside(before), **numbers})
        return True

    def _step(self, values: dict[str, object], before: str, header: int | None) -> int | None:
        key = step_key([{key: value for key, value in values.items() if key not in NO_STEPS}])
        if key is not None and (step := as_step(values[key])) is not None:
            if key in ("step", "_step", "global_step"):
                del values[key]
            return step
        near = counted(before[-60:])
        return near.step if near is not None else header


@lru_cache(maxsize=64)
def _is_trained(keys: tuple[str, ...]) -> bool:
    """Return whether a reward or a loss is among the keys by their words."""
    return any(name == "reward/mean" or name.startswith("loss/") for name in meant(keys))


def _beside(before: str) -> dict[str, object]:
    """Return the labelled numbers before a mapping on its line: `loss: 0.1, entropy: 0.8, rewards: {...}`."""
    if BAR.search(before) or not METRIC.search(before):
        return {}
    return found if has_metric(found := joined_values(before)) else {}


class Torn(ValueError):
    """The text ends before the literal does, or is no literal."""


def read_mapping(text: str, start: int) -> tuple[dict[str, object], int]:
    """Return the mapping that begins at `start`, and where it ends. Raises Torn.

    >>> read_mapping("{'loss': '0.5', 'kl': np.float64(nan), 'n': [1, 2]} tail", 0)
    ({'loss': '0.5', 'kl': 'np.float64(nan)', 'n': [1, 2]}, 51)
    """
    value, end = _value(text, start, 0)
    if not isinstance(value, dict):
        raise Torn
    return value, end


def _value(text: str, at: int, depth: int) -> tuple[object, int]:
    at = _skip(text, at)
    mark = text[at : at + 1]
    if depth > DEEPEST or not mark:
        raise Torn
    if mark in CLOSING:
        return _items(text, at + 1, CLOSING[mark], depth)
    if string := STRING.match(text, at):
        return string[0][1:-1], string.end()
    atom = ATOM.match(text, at)
    if atom is None:
        raise Torn
    word = atom[0]
    number = as_number(word)
    if word in WORDS or number is None or "(" in word:
        return WORDS.get(word, word), atom.end()
    whole = word.isascii() and word.lstrip("+-").isdigit() and len(word) < 19
    return int(word) if whole else number, atom.end()


def _items(text: str, at: int, closing: str, depth: int) -> tuple[dict[str, object] | list[object], int]:
    """Return the items up to a closing mark: a mapping for a brace, else a list."""
    mapping: dict[str, object] = {}
    items: list[object] = []
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == closing:
            return mapping if closing == "}" else items, at + 1
        value, at = _value(text, at, depth + 1)
        if closing == "}":
            at = _skip(text, at)
            if text[at : at + 1] != ":" or isinstance(value, (dict, list)):
                raise Torn
            mapping[str(value)], at = _value(text, at + 1, depth + 1)
        else:
            items.append(value)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != closing:
            raise Torn


def _skip(text: str, at: int) -> int:
    space = SPACE.match(text, at)
    return space.end() if space else at
