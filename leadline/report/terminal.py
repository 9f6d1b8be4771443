"""The reading on one screen: the headline, labeled lines, the curves, and the few findings that matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from ..contract import Finding, Reading
from ..digits import counted, steps, sure
from ..facts.finding import TIMELINE, side_by_side
from ..words.report import (
    MORE,
    first_clause,
    folded,
    head_lines,
    missing_says,
    what_was_read,
    worth_a_line,
)
from ..words.verdict import headline
from . import palette
from .lines import MARGIN, NARROWEST, labeled, shown, wrapped
from .panels import panels
from .plain import line, name, printable

HEIGHT = 30  # lines of a screen where there is none
PLOT = {24: 5, 20: 4, 16: 3}  # lines of plot on a screen of at least so many
NOTES = 2  # findings that ask for nothing: more are folded
FINDING, LABELED, FOLDED = 3, 2, 2  # lines that a finding, a labeled line and the folded rest may take


def render(
    reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False, height: int = HEIGHT
) -> str:
    """Return one screen. What weighs most comes first; what does not fit is folded into one line.

    Verbose: all of it, with the probabilities behind the words."""
    width = max(width, NARROWEST)
    path, read = printable(reading.run.path), " · ".join(map(printable, what_was_read(reading.run)))
    if verbose:
        head = [*_head(reading, width, most=None), *labeled("run", f"{path} · {read}", width)]
        drawn = panels(reading, width=width, rows=10)
        rest = [line for name, says in _in_full(reading) for line in labeled(name, says, width)]
        return shown([*head, *drawn, *rest], color=color, width=width)
    height = min(height, HEIGHT)
    free = width - MARGIN - len(read) - 3
    if len(path) > free:  # the end is what tells runs apart
        path = f"…{path[len(path) - max(free - 1, 0) :]}" if free > 8 else "…"
    head = [*_head(reading, width), *labeled("run", f"{path} · {read}", width, 1)]
    rows = next((rows for least, rows in PLOT.items() if height >= least), 0)
    drawn = panels(reading, width=width, rows=rows)
    foot = [("note", note) for note in reading.run.notes[:2]]
    if missing := missing_says(reading):
        foot.append(("missing", missing))
    rest = [line for name, says in foot for line in labeled(name, says, width, LABELED)]
    left = height - len(head) - len(drawn) - len(rest)
    return shown([*head, *drawn, *_findings(reading, width, left), *rest], color=color, width=width)


def _head(reading: Reading, width: int, most: int | None = LABELED) -> list[Text]:
    """Return the headline and the labeled lines; two samples if text is the evidence."""
    judgement = reading.judgement
    style = f"bold {palette.outcome(judgement.verdict, judgement.outcome).terminal}".strip()
    rows = _rows(line(headline(judgement)), width)
    lines = [*(part for row in rows for part in wrapped(Text(row, style), width)), Text()]
    for one in head_lines(reading):
        tail = "" if one.label == "cause" else _tail(one.finding)
        lines += labeled(one.label, one.says, width, most, tail=tail, quoted=one.quoted)
    return lines


def _rows(said: str, width: int) -> list[str]:
    """Return a headline that is too wide as rows of whole slots.

    >>> _rows("STOP, keep step 9 · reward flat at 0.6 · 2% chance", 40)
    ['STOP, keep step 9 · reward flat at 0.6 ·', '2% chance']
    """
    rows = [""]
    for slot in said.split(" · "):
        longer = f"{rows[-1]} · {slot}" if rows[-1] else slot
        if not rows[-1] or cell_len(longer) <= width:
            rows[-1] = longer
        else:
            rows = [*rows[:-1], f"{rows[-1]} ·", slot]
    return rows


def _findings(reading: Reading, width: int, left: int) -> list[Text]:
    """Findings by weight, as long as there is room; then the first clause of each of the others, and the order in
    which things changed. The findings in the head are not repeated."""
    asked, broke = worth_a_line(reading), reading.judgement.reason.kind == "fallen"
    told, after = [], []
    for one in reading.findings:
        if one in asked:
            told.append(one)
        elif one.id == TIMELINE and (broke or "→" in one.say()):  # what changed together only if the reward broke
            after += labeled("timeline", one.say().partition(": ")[2].removesuffix("."), width, 1)
    left -= len(after)
    lines: list[Text] = []
    rest: list[str] = []
    notes = 0
    for place, finding in enumerate(told):
        notes += finding.severity == "note"
        style = "" if finding.severity == "note" else f"bold {palette.SEVERITIES[finding.severity].terminal}"
        made = labeled(finding.severity, finding.say(), width, FINDING, tail=_tail(finding), label=style or "dim")
        kept_free = FOLDED if place < len(told) - 1 else 0
        if rest or notes > NOTES or len(lines) + len(made) + kept_free > left:
            rest.append(first_clause(finding.say()))
        else:
            lines += made
    if rest and left > len(lines):
        lines += labeled("also", folded(rest), width, max(min(FOLDED, left - len(lines)), 1), tail=MORE)
    return [*lines, *after]


def _tail(finding: Finding | None) -> str:
    return "" if finding is None else f" [{finding.id}, {sure(finding.p)}]"


def _in_full(reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield labels and words: of every section with the probabilities behind them, of every finding with what it rests
    on."""
    reward, kl, machine = reading.reward, reading.kl_reward, reading.resources
    yield "reward", f"{reward.shape}: {reward.say()}"
    ranked = sorted(reward.probabilities.items(), key=lambda item: -item[1])
    yield "", ", ".join(f"{word} {sure(p)}" for word, p in ranked if p >= 0.01)
    yield from (("reward", f"{one.name}: {one.shape} ({sure(one.p)})") for one in reward.others)
    yield "kl", f"{kl.regime}: {kl.say()}"
    for one in kl.segments:
        yield "", f"{steps(one.first_step, one.last_step)}: {one.regime} ({sure(one.p)})"
    yield "loss", reading.policy_loss.say()
    if machine.phases:
        yield "time", machine.time(most=len(machine.phases))
    yield from (("time", remark.say()) for remark in machine.remarks)
    # each process once, however many stretches of time it ran for
    processes = Counter((one.process, one.did.say(), one.p) for one in reading.conflicts)
    for (process, did, p), times in processes.items():
        ran = f" ({counted(times, 'interval')})" if times > 1 else ""
        yield "process", f"{process}{ran}: {did} ({sure(p)})"
    for finding in reading.findings:
        yield finding.severity, f"{finding.say()}{_tail(finding)}"
        for evidence in finding.evidence:
            samples = f", {counted(len(evidence.samples), 'sample')}" if evidence.samples else ""
            yield "", f"{evidence.signal}, {steps(evidence.first_step, evidence.last_step)}{samples}"
        yield from ((when, says) for when, says in side_by_side(finding.facts))
    yield from (("normal", expected.text) for expected in reading.benign)
    yield from (("event", happened.say()) for happened in reading.run.events)
    yield from (("note", note) for note in reading.run.notes)
    yield from (("missing", f"{lacking.name}: {lacking.why}") for lacking in reading.run.missing)
    yield from (("unread", name(key)) for key in reading.run.unread_keys)
