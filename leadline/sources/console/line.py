"""A line of a console: its text without what terminals, launchers and collectors of logs put around it, its labelled
numbers (whatever stands between them, a number belongs to the words before it), and the step that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ...records import dataclass, replace
from ...vocabulary.guess import OUTCOMES
from ...vocabulary.names import english, listed, tokens
from ..number import object_in

ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
DEEPEST = 6  # prefixes before one another: a collector's, a launcher's, a logger's
MESSAGES = ("log", "message", "msg", "textPayload")  # under which collectors keep a line as a field
LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL)"
CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
PREFIX = re.compile(
    rf"""\s*(?:
      \[?\d{{4}}[-/.]?\d\d[-/.]?\d\d[T\ _-]{CLOCK}\s?(?:Z|UTC|[+-]\d\d:?\d\d)?\]?[\s:|,-]*  # 2025-11-23T14:30:02.377Z
    | \[?(?:\d\d-\d\d\ )?{CLOCK}\]?[\s:|,-]+                                             # [11-23 14:30:02]
    | (?:<\d+>)?[A-Z][a-z]{{2}}\s+\d{{1,2}}\ {CLOCK}\ (?:\S+\ )?[\w./@-]+(?:\[\d+\])?:\s  # journald, syslog
    | [IWEF]\d{{4}}\ {CLOCK}\s+\d+\ \S+\]\s                                              # glog
    | \([\w.:\-=,\#\ ]*?pid=\d+(?:,\ ip=[^)]*)?\)\s?(?:\[repeated[^\]]*\]\s?)?           # Ray
    | \[(?:rank|default|worker|node)[\s_-]?\d+\]:?\s?                                    # torchrun
    | \[\d+,\d+\]<std(?:out|err)>:\s?                                                    # mpirun
    | \d+:\ (?=\S)                                                                       # srun -l
    | \[[A-Za-z][\w.-]*(?:/[\w.-]+)+\]\s                                                 # kubectl --prefix
    | [\w.]+[-_]\d+\s+\|\s(?=\S)                                                         # docker compose
    | std(?:out|err)\ [FP]\s                                                             # containerd
    | [^|=:{{}}\d│]{{0,60}}?\[?\b{LEVEL}\b\]?(?:[:|]|\s-)?(?:[\w.]+:)?\s+                 # a logger and its level
    | {LEVEL}:[\w.]+:                                                                    # logging's own form
    | \[?[\w./-]+\.(?:py|cc|cpp|go|rs):\d+(?::\w+)?\]?[\s:|,>-]*                         # where it was printed
    | \|?\s*[\w.<>]+:[\w.<>]+:\d+\s+[-|>]\s                                             # loguru
    )""",
    re.VERBOSE,
)
LOGFMT = re.compile(r'(?:\w+=(?:"[^"]*"|\S+)\s+)+(?:msg|message)="((?:[^"\\]|\\.)*)"\s*(?:\w+=\S+\s*)*')

LONGEST_LABEL = 60  # characters; what is longer is a sentence
MOST = 200  # numbers of a line; what has more is a dump of values
CALL = re.compile(r"(?:(?:np|numpy|torch)\.)?(?:float|int|tensor)\w*\(\s*([-+.\w]+)[^()]*\)")
ARRAY = re.compile(r"(?:(?:np|numpy|torch)\.)?(?:tensor|array)\((\[[^()]*\])[^()]*\)")
FLAT = re.compile(r"\]\s*,?\s*\[")  # between the rows of [[0.5], [1.0]]
TIME = re.compile(r"\d+:\d\d:\d\d(?:[.,]\d+)?|\d{4}-\d\d-\d\d|\b\d\d/\d\d/\d{4}\b")
UNITS = r"(?:s|ms|m|h|x|k|K|M|B|G|GB|GiB|MB|MiB|it|tok|tokens?)"
LABELLED = re.compile(
    rf"""(?<![\w.@])(?P<value>[-+]?(?:\d[\d_]*(?:,\d{{3}})*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)
       |[-+]?(?:nan|inf|NaN|Infinity|-inf)(?=[\s,;|)\]]|$))(?=$|[\s,;|)\]}}%/:"'±]|\+/-|{UNITS}(?:\b|/))(?!:\d\d)""",
    re.VERBOSE,
)
STATISTICS = {"mean", "std", "var", "min", "max", "median"}
# What parts one field from the next.
HARD = re.compile(r"[|;,\t•\n│{}±]|\+/-|:\s|\s{2,}|\s[-–—>]+\s|[\])]\s*|\s[\[(]|\.\s")
WORDS = re.compile(r""".*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=]+)\s+(?=[^\s=])""")  # level=info msg="a step" before step=12
EDGES = " []()<>*#\"'_=:-├└─┃→"
LEADERS = re.compile(r"(?<=\w)\s*\.{3,}\s*(?=[-+\d])|(?<=\w)\s+[._·]{3,}\s*(?=[-+\d])")  # Average reward ..... 0.41
EQUALS = re.compile(r"\s*(?:[:=]|=>|->)\s*[\[(\"']*\s*$")
TAG = re.compile(r"[\[(<]([A-Za-z _]+)[\])>]\s*$")
# The words for what counts, the surest first, the last one of a heading: "Evaluation #3". Words that may stand with
# them follow.
COUNTERS = (
    "step", "iteration", "it", "update", "rollout", "round", "timestep", "t", "frame", "", "episode", "batch",
    "epoch", "eval",
)  # fmt: skip
QUALIFIERS = {*listed("beside a counter")}
SURER = ("global", "train", "grpo", "ppo", "rl")
NUMBER = r"[-+]?(?:\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf|NaN|Infinity)"
BAR = re.compile(r"%(?:\||\s{0,9}\d{1,15}/\d{1,15} \[[\d:]{1,20}<)")  # Colab prints it without its middle
METRIC = re.compile(
    r"reward|(?<![a-z])rew(?![a-z])|return|score|loss|(?<![a-z])kl|acc|entropy|success|solve|correct|grad"
    r"|(?<![a-z])win(?:ning)?[\s_-]?(?:rate|ratio)|belohnung|verlust|recompensa|perdida",
    re.IGNORECASE,
)


def plain(line: bytes) -> str:
    """Return the text of a line without colors and prefixes, whoever put them there.

    >>> plain(b"\\x1b[36m(TaskRunner pid=12, ip=10.0.0.1)\\x1b[0m step:1 - a:2")
    'step:1 - a:2'
    >>> plain(b"2025-11-23T14:30:19.23Z [rank0]: 2025-11-23 14:30:19,231 - INFO - trainer.py:12 - Step 3 | Loss 0.1")
    'Step 3 | Loss 0.1'
    """
    text = line.decode("utf-8", errors="replace")
    if "\x1b" in text:
        text = ANSI.sub("", text)
    start = text.lstrip()[:1]
    if start == "{" and any(f'"{name}"' in text[:200] for name in MESSAGES):
        text = _message(text) or text
    elif 'msg="' in text and (wrapped := LOGFMT.fullmatch(text.strip())):
        # If the message holds no number, the fields beside it may be the row.
        text = wrapped[1] if any(letter.isdigit() for letter in wrapped[1]) else text
    for _ in range(DEEPEST):
        prefix = PREFIX.match(text)
        if prefix is None:
            break
        text = text[prefix.end() :]
    return text if text.isascii() else english(text)


def _message(text: str) -> str | None:
    """Return the line that a collector keeps as one field of an object."""
    entry = object_in(text.strip().encode()) or {}
    found = next((held for name in MESSAGES if isinstance(held := entry.get(name), str)), None)
    return ANSI.sub("", found).rstrip("\n") if found is not None else None


@dataclass(frozen=True, slots=True)
class Piece:
    """One number, or a list of them, and what it is called."""

    label: str
    values: tuple[str, ...]
    total: int | None = None  # of what: the 500 of 12/500
    joined: bool = False  # by a colon or an equals sign, and not by a space alone
    listed: bool = False
    before: str = ""  # the words before it, if they do not say that it counts
    first: bool = False  # nothing but brackets stands before it


@lru_cache(maxsize=8)  # several grammars ask about a line
def pieces(line: str) -> tuple[Piece, ...]:
    """Return the labelled numbers of a line.

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
    line = LEADERS.sub(": ", TIME.sub(" ", CALL.sub(r"\1", line)))
    found: list[Piece] = []
    end = 0
    for number in LABELLED.finditer(line):
        gap, value = line[end : number.start("value")], number["value"]
        last = found[-1] if found else None
        if last is not None and gap.strip() == "/" and last.total is None and len(last.values) == 1:
            found[-1] = replace(last, total=int(value) if value.isdigit() and len(value) < 16 else None, listed=False)
        elif last is not None and last.listed and re.fullmatch(r"['\"]?\s*,?\s*['\"]?", gap):
            found[-1] = replace(last, values=(*last.values, value))
        else:
            _open(found, gap, value)
        end = number.end("value")
        if len(found) > MOST:
            return ()
    return tuple(one for one in found if one.label or one.total)


def _open(found: list[Piece], gap: str, value: str) -> None:
    """Add a piece: its label is what stands before it, back to what parts two fields."""
    joined = EQUALS.search(gap)
    text = WORDS.sub("", gap[: joined.start()]) if joined else gap.rstrip()
    parts = HARD.split(text)
    label = parts[-1].strip(EDGES).strip()
    if not label and (tag := TAG.search(gap)):  # "[UPDATE] 12/300"
        label = tag[1] if counter_rank(tag[1]) is not None else ""
    label = re.sub(rf"^(?:{UNITS}|%)(?:/\w+)?(?=\s|$)", "", label).strip() if len(parts) == 1 and found else label
    last = found[-1] if found else None
    if joined and len(parts) == 1 and last and not last.joined and last.before:
        label = f"{last.before} {last.values[0]} {label}".strip()  # "over the last 100 episodes: 21.5"
        found.pop()
    if label and {*tokens(label)} <= STATISTICS:
        label = f"{_measured(parts[:-1], last)} {label}".strip()
    if joined and tokens(label) == ("eval",):
        label = f"{label} score"  # "eval: 0.4" is a score, "Evaluation #4" a count
    label = "" if "' " in label else label  # a name that is talked about: "'reward' reached 0.5"
    before = "" if counter_rank(label) is not None else label
    if len(label) <= LONGEST_LABEL:
        listed = joined is not None and "[" in gap[joined.start() :]
        found.append(Piece(label, (value,), joined=joined is not None, listed=listed, before=before))
    else:
        found.append(Piece("", (value,)))
    if last is None and not gap.strip(" \t[("):
        found[-1] = replace(found[-1], first=True)


def _measured(before: list[str], last: Piece | None) -> str:
    """Return what a bare `mean=` is the mean of: the words before it, or those of the statistic before it.

    >>> [one.label for one in pieces("Rewards: min=0.0, mean=0.4 | KL - mean: 0.1")]
    ['Rewards min', 'Rewards mean', 'KL mean']
    """
    named = [part.strip(EDGES) for part in before if part.strip(EDGES)]
    if named or last is None:
        return named[-1] if named else ""
    about = " ".join(word for word in last.label.split() if not {*tokens(word)} <= STATISTICS)
    return about if counter_rank(about) is None else ""


@lru_cache(maxsize=4096)
def counter_rank(label: str) -> int | None:
    """Return how surely a label names what counts the rows, 0 most; None if it names something else.

    >>> counter_rank("Global Step") < counter_rank("step") < counter_rank("epoch"), counter_rank("reward")
    (True, None)
    """
    words = tokens(label)
    words = words[words.index("at") + 1 :] if "at" in words else words  # "Validation at step 12"
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
    """Return whether a piece is a number that was measured, and not one that counts."""
    rank = counter_rank(one.label)
    return one.total is None and (rank is None or rank >= 2 * len(COUNTERS))


def share_of(one: Piece) -> float | None:
    """Return the share in a piece such as `solved 12/64`; None if it does not say how many succeeded."""
    if not one.total or not OUTCOMES & {*tokens(one.label)}:
        return None
    return float(one.values[0].replace(",", "")) / one.total


@dataclass(frozen=True, slots=True)
class Count:
    """Where a line says it stands."""

    step: int
    total: int | None = None
    weak: bool = False  # how many there were rather than which one it is: "steps: 200"
    epoch: int | None = None  # which pass over the data, if the step may begin anew with each
    epochs: int | None = None
    by_epoch: bool = False  # nothing but the pass over the data is named


@lru_cache(maxsize=8)
def counted(line: str) -> Count | None:
    """Return where a line says it stands, "Epoch 1/3 Step 12/400" being step 12; None if it names no step."""
    found = pieces(line)
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
        return Count(step, best.total, weak, by_epoch=best is epoch)
    return Count(step, best.total, weak, int(epoch.values[0].replace(",", "")), epoch.total)


def has_metric(keys: Iterable[str]) -> bool:
    """Return whether some key can be that of a metric one would log."""
    return any(METRIC.search(key) for key in keys)


def joined_values(line: str) -> dict[str, object]:
    """Return the numbers of a line that a colon or an equals sign joins to their labels, counts left out."""
    joined = (one for one in pieces(line) if one.label and one.joined and not one.listed and is_value(one))
    return {one.label: one.values[0].replace(",", "") for one in joined}
