"""The reading as Markdown for pull requests and chats: bold, lists, and code only, since chats know little more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..contract import Finding, Reading
from ..digits import several, sure
from ..words import events_told, sentences
from ..words.report import (
    ABOUT_THE_READING,
    LEFT_OUT,
    LOOKS_ODD,
    curves_say,
    head_lines,
    missing_says,
    what_was_read,
)
from ..words.verdict import headline
from .lines import shown
from .panels import panels
from .pictures import pictures
from .plain import line

# What Markdown would obey: marks, tags, entities, and names or numbers that call somebody or link an issue.
SPECIAL = re.compile(
    r"[\\`*\[\]$]|(?<!^)~|~(?!\d)|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|[@#](?=\w)"
)
START = re.compile(r"[#>]|[+=-]+$|\d+[.)]$")  # makes a heading, a quote or a list of the line that it begins
QUOTED = re.compile(r"`([^`]+)`")  # what our own sentences quote: keys, commands
ROWS = 6  # lines of plot where there are no files


def render(
    reading: Reading,
    *,
    color: bool = False,
    width: int = 100,
    verbose: bool = False,
    plots: Sequence[tuple[str, str]] = (),
) -> str:
    """Return verdict, plots, findings, what is normal here, and what is missing. `plots`: title and address of each;
    without any, small ones are drawn in text."""
    return "\n\n".join(_parts(reading, plots, verbose)) + "\n"


def _parts(reading: Reading, plots: Sequence[tuple[str, str]], verbose: bool) -> Iterator[str]:
    run = reading.run
    head = head_lines(reading)
    rest = [(one, says) for one, says in sentences(reading.findings) if all(one is not line.finding for line in head)]
    yield f"**{text(headline(reading.judgement))}**"
    if head:
        yield "\n".join(f"- **{line.label}** {text(line.says)}{_tail(line.finding)}" for line in head)
    yield f"{code(run.path)} · {' · '.join(map(text, what_was_read(run)))}"
    if plots:
        yield "\n".join(f"![{text(says)}]({address})" for says, address in plots)
    elif lines := panels(pictures(reading), width=100, rows=ROWS):
        yield f"```text\n{shown(lines, color=False, width=100)}```"
    found = [f"**{one.severity}** {text(says)}{_tail(one)}" for one, says in rest]
    yield from _list("Findings", found)
    yield from _list("Curves", [f"**{about}** {text(says)}" for about, says in curves_say(reading).items()])
    yield from _list(LOOKS_ODD, [text(one.text) for one in reading.benign])
    told = {happened for finding in reading.findings for happened in events_told(finding.facts)}
    events = [text(happened.say()) for happened in run.events if verbose or happened not in told]
    yield from _list("Events", events, most=None if verbose else 8)
    yield from _list(ABOUT_THE_READING, [text(note) for note in run.notes])
    if missing := missing_says(reading):
        yield f"**Missing** {text(missing)}"
    if run.unread_keys:
        yield f"**Unmapped keys** {text(several(run.unread_keys))}"


def _tail(finding: Finding | None) -> str:
    """Return its id and how sure it is, as code: Markdown would take a bracket for a link."""
    return "" if finding is None else " " + code(f"[{finding.id}, {sure(finding.p)}]")


def _list(title: str, items: Sequence[str], most: int | None = None) -> Iterator[str]:
    if items:
        more = [LEFT_OUT.format(len(items) - most)] if most is not None and len(items) > most else []
        yield "\n".join([f"**{title}**", "", *(f"- {item}" for item in [*items[:most], *more])])


def text(says: str) -> str:
    """Text that may quote a log, so that it is shown as it stands and calls nobody: what Markdown would obey becomes
    code, which every chat shows without marks of its own.

    >>> text("a_b <b> *x* p < .01")
    'a_b `<b> *x*` p < .01'
    >>> text("since step ~102, <1% chance, ~~gone~~")
    'since step ~102, <1% chance, `~~gone~~`'
    >>> text("`eval_reward` has 68 points, says @alice")
    '`eval_reward` has 68 points, says `@alice`'
    """
    parts = QUOTED.split(line(says).strip())
    return "".join(
        code(part) if place % 2 else _words(part, starts=not place) for place, part in enumerate(parts) if part
    )


def _words(part: str, *, starts: bool) -> str:
    """Return the words of a text, with neighbours that Markdown would obey together as one piece of code."""
    shown: list[str] = []

    def is_obeyed(word: tuple[int, str]) -> bool:
        begins = starts and not word[0]
        return SPECIAL.search(word[1]) is not None or (begins and START.match(word[1]) is not None)

    for obeyed, held in groupby(enumerate(part.split(" ")), key=is_obeyed):
        words = " ".join(word for _, word in held)
        shown.append(code(words) if obeyed and words.strip() else words)
    return " ".join(shown)


def code(says: str) -> str:
    """Return the same as code: in more backticks than it holds in a row."""
    says = line(says)
    fence = "`" * (max(map(len, re.findall("`+", says)), default=0) + 1)
    space = " " if "`" in says or not says.strip() else ""
    return f"{fence}{space}{says}{space}{fence}"
