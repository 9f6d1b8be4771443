"""A line of text as labelled numbers: whatever stands between them, a number belongs to the words before it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from ...vocabulary.names import tokens

LONGEST_LABEL = 60  # characters; what is longer is a sentence
MOST = 200  # numbers of a line; what has more is a dump of values
CALL = re.compile(r"(?:(?:np|numpy|torch)\.)?(?:float|int|tensor)\w*\(\s*([-+.\w]+)[^()]*\)")
ARRAY = re.compile(r"(?:(?:np|numpy|torch)\.)?(?:tensor|array)\((\[[^()]*\])[^()]*\)")
FLAT = re.compile(r"\]\s*,?\s*\[")  # between the rows of [[0.5], [1.0]]
CLOCK = re.compile(r"\d+:\d\d:\d\d(?:[.,]\d+)?|\d{4}-\d\d-\d\d")
UNITS = r"(?:s|ms|m|h|x|k|K|M|B|G|GB|GiB|MB|MiB|it|tok|tokens?)"
NUMBER = re.compile(
    rf"""(?<![\w.@])(?P<value>[-+]?(?:\d[\d_]*(?:,\d{{3}})*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)
       |[-+]?(?:nan|inf|NaN|Infinity|-inf)(?=[\s,;|)\]]|$))(?=$|[\s,;|)\]}}%/:"'±]|\+/-|{UNITS}(?:\b|/))(?!:\d\d)""",
    re.VERBOSE,
)
HARD = re.compile(r"[|;,\t•\n│{}±]|:\s|\s{2,}|\s[-–—>]+\s|[\])]\s*|\s[\[(]|\.\s")  # what parts one field from the next
WORDS = re.compile(r""".*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=]+)\s+(?=[^\s=])""")  # level=info msg="a step" before step=12
LEADERS = re.compile(r"(?<=\w)\s*\.{3,}\s*(?=[-+\d])|(?<=\w)\s+[._·]{3,}\s*(?=[-+\d])")  # Average reward ..... 0.41
EQUALS = re.compile(r"\s*(?:[:=]|=>|->)\s*[\[(\"']*\s*$")
TAG = re.compile(r"[\[(<]([A-Za-z _]+)[\])>]\s*$")
COUNTED_AFTER = re.compile(r"\s*(steps?|iterations?|episodes?|updates?|epochs?|rollouts?)\b", re.IGNORECASE)
# The words for what counts, the surest first, the last one of a heading: "Evaluation #3". Words that may stand with
# them follow.
COUNTERS = (
    "step", "iteration", "it", "update", "rollout", "round", "timestep", "t", "frame", "", "episode", "epoch",
    "batch", "eval",
)  # fmt: skip
QUALIFIERS = {
    "global", "train", "grpo", "ppo", "rl", "gspo", "dapo", "total", "current", "cur", "optimizer", "policy", "env",
    "num", "n", "learning", "time", "number", "id", "index", "idx", "no", "learner", "outer", "game",
    "count", "update", "rollout",
}  # fmt: skip
SURER = ("global", "train", "grpo", "ppo", "rl")


@dataclass(frozen=True, slots=True)
class Piece:
    """One number, or a list of them, and what it is called."""

    label: str
    values: tuple[str, ...]
    total: int | None = None  # of what: the 500 of 12/500
    joined: bool = False  # by a colon or an equals sign, and not by a space alone
    listed: bool = False
    before: str = ""  # the words before it, where they do not say that it counts
    first: bool = False  # nothing but brackets stands before it


def pieces(line: str) -> list[Piece]:
    """The labelled numbers of a line.

    >>> [(one.label, one.values, one.total) for one in pieces("Epoch:[1/1](2/500), Reward: 0.38, Avg Len: 12")]
    [('Epoch', ('1',), 1), ('', ('2',), 500), ('Reward', ('0.38',), None), ('Avg Len', ('12',), None)]
    >>> [(one.label, one.values) for one in pieces("Total T: 1200 Episode Num: 3 Reward: -7.5")]
    [('Total T', ('1200',)), ('Episode Num', ('3',)), ('Reward', ('-7.5',))]
    >>> [(one.label, one.values) for one in pieces('level=info msg="a step" step=12 reward=0.5')]
    [('step', ('12',)), ('reward', ('0.5',))]
    >>> [(one.label, one.values) for one in pieces("mean reward over the last 100 episodes: 21.5")]
    [('mean reward over the last 100 episodes', ('21.5',))]
    """
    if "[" in line:
        line = ARRAY.sub(lambda array: FLAT.sub(", ", array[1]), line)
    line = LEADERS.sub(": ", CLOCK.sub(" ", CALL.sub(r"\1", line)))
    found: list[Piece] = []
    end = 0
    for number in NUMBER.finditer(line):
        gap, value = line[end : number.start("value")], number["value"]
        last = found[-1] if found else None
        if last is not None and gap.strip() == "/" and last.total is None and len(last.values) == 1:
            found[-1] = replace(last, total=int(value) if value.isdigit() and len(value) < 16 else None, listed=False)
        elif last is not None and last.listed and re.fullmatch(r"['\"]?\s*,?\s*['\"]?", gap):
            found[-1] = replace(last, values=(*last.values, value))
        else:
            _open(found, gap, value, COUNTED_AFTER.match(line, number.end("value")))
        end = number.end("value")
        if len(found) > MOST:
            return []
    return [one for one in found if one.label or one.total]


def _open(found: list[Piece], gap: str, value: str, after: re.Match[str] | None) -> None:
    """One more piece: its label is what stands before it, back to what parts two fields."""
    joined = EQUALS.search(gap)
    text = WORDS.sub("", gap[: joined.start()]) if joined else gap.rstrip()
    parts = HARD.split(text)
    label = parts[-1].strip(" []()<>*#\"'_=:-├└─┃→").strip()
    if not label and (tag := TAG.search(gap)):  # "[UPDATE] 12/300"
        label = tag[1] if counter_rank(tag[1]) is not None else ""
    label = re.sub(rf"^(?:{UNITS}|%)(?:/\w+)?(?=\s|$)", "", label).strip() if len(parts) == 1 and found else label
    last = found[-1] if found else None
    if joined and len(parts) == 1 and last and not last.joined and last.before:
        label = f"{last.before} {last.values[0]} {label}".strip()  # "over the last 100 episodes: 21.5"
        found.pop()
    if joined and tokens(label) == ("eval",):
        label = f"{label} score"  # "eval: 0.4" is a score, "Evaluation #4" a count
    before = "" if counter_rank(label) is not None else label
    if not joined and after is not None and before:
        label = after[1]  # "reward 0.5 after 20 updates"
    if len(label) <= LONGEST_LABEL:
        listed = joined is not None and "[" in gap[joined.start() :]
        found.append(Piece(label, (value,), joined=joined is not None, listed=listed, before=before))
    else:
        found.append(Piece("", (value,)))
    if last is None and not gap.strip(" \t[("):
        found[-1] = replace(found[-1], first=True)


@lru_cache(maxsize=4096)
def counter_rank(label: str) -> int | None:
    """How surely a label names what counts the rows, 0 most; None where it names something else.

    >>> counter_rank("Global Step") < counter_rank("step") < counter_rank("epoch"), counter_rank("reward")
    (True, None)
    """
    words = tokens(label)
    if "eval" in words and words != ("eval",):
        return None
    heads = [word for word in words if word in COUNTERS and word not in ("update", "rollout")]
    heads = heads or [word for word in words if word in ("update", "rollout")]
    if (
        len(words) > 4
        or len(heads) > 1
        or not heads
        or any(word not in QUALIFIERS for word in words if word not in heads)
    ):
        return None
    if label.rstrip().lower().endswith(("steps", "episodes", "iterations", "updates", "epochs")):
        return 2 * len(COUNTERS) + COUNTERS.index(heads[0])  # how many there were rather than which one it is
    surer = any(word in SURER for word in words) and heads[0] in ("step", "iteration", "update")
    return COUNTERS.index(heads[0]) * 2 + (0 if surer else 1)


def is_value(one: Piece) -> bool:
    """Whether a piece is a number that was measured, and not one that counts."""
    rank = counter_rank(one.label)
    return one.total is None and (rank is None or rank >= 2 * len(COUNTERS))


@dataclass(frozen=True, slots=True)
class Count:
    """Where a line says it stands."""

    step: int
    total: int | None = None
    weak: bool = False  # how many there were rather than which one it is: "steps: 200"
    epoch: int | None = None  # which pass over the data, where the step may begin anew with each
    epochs: int | None = None


def counted(found: list[Piece]) -> Count | None:
    """The step that a line names, "Epoch 1/3 Step 12/400" being step 12; None when it names none."""
    ranked: list[tuple[int, Piece]] = []
    epoch: Piece | None = None
    for place, one in enumerate(found):
        rank = counter_rank(one.label) if one.label else None
        if not one.label and (one.total or 0) > 1 and ((place == 0 and one.first) or ranked):  # [12/500], (12/500)
            rank = 2 * COUNTERS.index("")
        if rank is None or not one.values[0].replace(",", "").isdigit() or len(one.values[0]) > 16 or one.listed:
            continue
        if tokens(one.label)[-1:] == ("epoch",):
            epoch = one
        ranked.append((rank, one))
    if not ranked:
        return None
    rank, best = min(ranked, key=lambda pair: pair[0])
    weak = rank >= 2 * len(COUNTERS) and best.joined
    step = int(best.values[0].replace(",", ""))
    if epoch is None or best is epoch:
        return Count(step, best.total, weak)
    return Count(step, best.total, weak, int(epoch.values[0].replace(",", "")), epoch.total)
