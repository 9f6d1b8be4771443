"""The reading on one screen: the verdict, what the curves look like, and what speaks for it, by weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise, repeat

from rich.text import Text

from ..contract import Finding, Reading, RunSummary
from ..findings.reward_gamed import side_by_side
from ..words import event, events_told, sentence, sentences
from ..words.conflict import effect
from ..words.kl import regime
from ..words.machine import remark
from ..words.missing import blind, why
from ..words.numbers import counted, several, sure
from ..words.report import (
    curves_say,
    expected_says,
    left_out_of_screen,
    loss_says,
    reward_says,
    steps,
    time_says,
    what_was_read,
    worried_about,
    would_change,
)
from ..words.verdict import verdict_lines
from . import palette
from .lines import MARGIN, NARROWEST, beside, first_sentence, shortened, shown, wrapped
from .panels import panels, strip
from .pictures import pictures
from .plain import line, name, printable

NAME = "terminal"
HEIGHT = 40  # lines of a screen where there is none
PLOT = {34: 7, 28: 5, 20: 4, 16: 3}  # lines of plot on a screen of at least so many
EVENTS = 3  # in one screen: a run may be resumed at every step
CUTS = (1, 2, 3, 9)  # lines a finding may take
SERIOUS = ("critical finding", "concern")
CURVE = "curve"
ALWAYS = (*SERIOUS, CURVE)  # shortened before they are left out


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be said, whole or shortened."""

    name: str  # what it is about, in the margin
    says: str
    tail: str = ""  # never cut off
    style: str = ""  # of the margin
    lead: str = ""  # what it begins with and stands out, such as the headline of the verdict
    lead_style: str = "bold"
    counts_as: str = ""  # what it is called where it has to be left out

    def lines(self, room: int, most: int | None = None) -> list[Text]:
        says = line(self.says)
        text = f"{says}{self.tail}" if most is None else shortened(says, room, most, self.tail)
        told = Text(text)
        told.stylize(self.lead_style, 0, min(len(line(self.lead)), len(text)))
        return beside(self.name, wrapped(told, room), style=self.style or "dim")


def render(
    reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False, height: int = HEIGHT
) -> str:
    """A screenful. What weighs most comes first and is shortened last; what did not fit is counted.

    Verbose: all of it, with the probabilities behind the words."""
    width = max(width, NARROWEST)
    lines = _everything(reading, width) if verbose else _one_screen(reading, width, height)
    return shown(lines, color=color, width=width)


def _one_screen(reading: Reading, width: int, height: int) -> list[Text]:
    room = width - MARGIN
    head = _head(reading, room, height)
    rows = next((rows for least, rows in PLOT.items() if height >= least), 0)
    drawn = _drawn(reading, width, rows) if rows else []
    foot = [line for item in _foot(reading) for line in item.lines(room, 2 if item.name == "blind" else 1)]
    left = height - len(head) - len(drawn) - len(foot)
    return [*head, *drawn, *_fit(list(_items(reading)), room, left), *foot]


def _fit(items: list[Item], room: int, left: int) -> list[Text]:
    """Items in the order of their weight, as long as there is room; once one of a sort is left out, so is the rest of
    its sort. The last line counts what was left out."""
    always = [item for item in items if item.counts_as in ALWAYS]
    shares = _shares(always, room, left - 1)
    lighter = min(shares, default=CUTS[-1])
    made = [item.lines(room, most) for item, most in zip(items, chain(shares, repeat(lighter)), strict=False)]
    events = [item for item in items if item.counts_as == "event"]
    if sum(map(len, made)) <= left and len(events) <= EVENTS:
        return [line for lines in made for line in lines]
    left -= 1
    out: dict[str, int] = {}
    lines = []
    for item, one in zip(items, made, strict=True):
        if len(one) > left or out.get(item.counts_as) or item in events[EVENTS:]:
            out[item.counts_as] = out.get(item.counts_as, 0) + 1
        else:
            left -= len(one)
            lines += one
    out.pop(CURVE, None)  # on so small a screen nobody misses them
    if out:
        lines += Item("more", left_out_of_screen(out), style="dim").lines(room, 1)
    return lines


def _shares(always: list[Item], room: int, left: int) -> list[int]:
    """How many lines each serious finding and each curve may take: one, so that all are seen, and more where that
    leaves room, the heaviest first."""
    shares = [CUTS[0]] * len(always)
    left -= len(always)
    for before, most in pairwise(CUTS):
        for place, item in enumerate(always):
            longer = len(item.lines(room, most)) - len(item.lines(room, shares[place]))
            if shares[place] == before and longer <= left:
                shares[place], left = most, left - longer
    return shares


def _head(reading: Reading, room: int, height: int) -> list[Text]:
    judgement = reading.judgement
    tall = max(height // 3, 2)
    style = "bold" if judgement.verdict == "undecided" else f"bold {palette.VERDICTS[judgement.verdict].terminal}"
    said = verdict_lines(reading)
    for parts in ((said.headline, *said.details), (said.headline, said.reason, said.best), (said.headline, said.best)):
        says = " ".join(filter(None, parts))
        lines = Item("verdict", says, lead=said.headline, lead_style=style).lines(room)
        if len(lines) <= tall:
            break
    else:  # what to keep matters more than what may come
        lines = Item("verdict", says, lead=said.headline, lead_style=style).lines(room, tall)
    changes = would_change(reading)
    if changes:
        lines += Item("", changes).lines(room, max(height // 12, 1))
    return [*lines, *_run(reading.run, room)]


def _run(run: RunSummary, room: int) -> list[Text]:
    """One line; of a path that is too long the end is what tells runs apart."""
    path, rest = printable(run.path), " · ".join(map(printable, what_was_read(run)))
    free = room - len(rest) - 3
    if len(path) > free:
        path = f"…{path[len(path) - max(free - 1, 0) :]}" if free > 8 else "…"
    return Item("run", f"{path} · {rest}").lines(room, 1)


def _drawn(reading: Reading, width: int, rows: int) -> list[Text]:
    regimes = strip(reading.kl_reward.segments, width - MARGIN)
    return [
        *panels(pictures(reading), width=width, rows=rows),
        *(beside("regime", [regimes]) if regimes is not None else []),
    ]


def _items(reading: Reading) -> Iterator[Item]:
    """What there is to say, by weight. Each fact once: what a finding tells, no other line tells again."""
    found = [_found(finding, says) for finding, says in sentences(reading.findings)]
    yield from (item for item in found if item.counts_as in SERIOUS)
    yield from _side_by_side(reading)
    yield from (Item(about.lower(), says, counts_as=CURVE) for about, says in curves_say(reading).items())
    yield from (item for item in found if item.counts_as not in SERIOUS)
    for expected in reading.expected:
        if worried_about(expected, reading.policy_loss.because):
            yield Item("normal", expected_says(expected), counts_as="normal")
    told = {happened for finding in reading.findings for happened in events_told(finding)}
    for happened in reading.run.events:
        if happened not in told:
            yield Item("event", event.sentence(happened), counts_as="event")


def _side_by_side(reading: Reading) -> Iterator[Item]:
    """Where answers are the witness, an early and a late one: two of them settle most cases."""
    for finding in reading.findings:
        yield from (Item(when, says) for when, says in side_by_side(finding.facts))


def _found(finding: Finding, says: str) -> Item:
    serious = finding.severity != "note"
    return Item(
        finding.severity,
        says,
        f" ({sure(finding.p)})",
        f"bold {palette.SEVERITIES[finding.severity].terminal}" if serious else "",
        first_sentence(line(says)) if finding.severity == "critical" else "",
        counts_as="critical finding" if finding.severity == "critical" else finding.severity,
    )


def _foot(reading: Reading) -> Iterator[Item]:
    """What a reader has to know about the reading itself."""
    run = reading.run
    for note in run.notes[:2]:
        yield Item("note", note)
    if run.missing:
        yield Item("missing", ", ".join(one.what for one in run.missing))
    if unseen := blind(run.missing):
        yield Item("blind", unseen)
    if run.unread_keys:
        yield Item("unread", several(run.unread_keys))


def _everything(reading: Reading, width: int) -> list[Text]:
    room = width - MARGIN
    said = verdict_lines(reading)
    items = [Item("verdict", said.text, lead=said.headline)]
    changes = would_change(reading)
    items += [Item("", changes)] if changes else []
    items.append(Item("run", f"{reading.run.path} · {' · '.join(what_was_read(reading.run))}"))
    lines = [line for item in items for line in item.lines(room)]
    lines += _drawn(reading, width, rows=10)
    return lines + [line for item in _in_full(reading) for line in item.lines(room)]


def _processes(reading: Reading) -> Iterator[str]:
    """Each process once, however many stretches of time it ran for."""
    stretches = Counter((one.process, effect(one.did), one.p) for one in reading.conflicts)
    for (process, did, p), times in stretches.items():
        ran = f" ({counted(times, 'interval')})" if times > 1 else ""
        yield f"{process}{ran}: {did} ({sure(p)})"


def _in_full(reading: Reading) -> Iterator[Item]:
    """The words of every section with the probabilities behind them, every finding with what it rests on."""
    reward, kl, machine = reading.reward, reading.kl_reward, reading.resources
    yield Item("reward", reward_says(reading))
    ranked = sorted(reward.probabilities.items(), key=lambda item: -item[1])
    yield Item("", ", ".join(f"{word} {sure(p)}" for word, p in ranked if p >= 0.01))
    yield from (Item("reward", f"{one.name}: {one.shape} ({sure(one.p)})") for one in reward.others)
    if says := regime(kl):
        yield Item("kl", f"{kl.regime}: {says}")
    for one in kl.segments:
        yield Item("", f"{steps(one.first_step, one.last_step)}: {one.regime} ({sure(one.p)})")
    if says := loss_says(reading):
        yield Item("loss", says)
    if machine.phases:
        yield Item("time", time_says(reading, most=len(machine.phases)))
    yield from (Item("time", remark(facts)) for facts in machine.remarks)
    yield from (Item("process", says) for says in _processes(reading))
    for finding in reading.findings:
        yield Item(finding.severity, sentence(finding), f" ({sure(finding.p)}; {finding.id})")
        for evidence in finding.evidence:
            more = f": {evidence.text}" if evidence.text else ""
            samples = f", {counted(len(evidence.samples), 'sample')}" if evidence.samples else ""
            yield Item("", f"{evidence.signal}, {steps(evidence.first_step, evidence.last_step)}{samples}{more}")
        yield from (Item(when, says) for when, says in side_by_side(finding.facts))
    for expected in reading.expected:
        yield Item("normal", expected_says(expected))
    yield from (Item("event", event.sentence(happened)) for happened in reading.run.events)
    yield from (Item("note", note) for note in reading.run.notes)
    for lacking in reading.run.missing:
        yield Item("missing", f"{lacking.what}: {why(lacking)}")
    yield from (Item("unread", name(key)) for key in reading.run.unread_keys)
