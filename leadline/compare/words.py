"""A comparison in words: what differs, from where on, and what nobody can know from so few runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..reading.reward import number
from .clocks import Unit
from .comparison import Difference, Odd, Standing
from .contrast import Gap

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
NAMED = 3  # pairs in one sentence
RANKED = 8  # runs in one sentence
RAREST = 1e-4  # chance: what is rarer rests on the tails of a t-test, which nobody knows so well
THOUSANDS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
UNKNOWN = "Whether the variants do, two runs cannot tell: seed noise shows only in repeats."


def moment(shown: float, unit: Unit) -> str:
    """A place on the clock.

    >>> moment(180, "step"), moment(5400, "time"), moment(1.25e6, "tokens")
    ('step 180', '1 h 30 min', '1.25M tokens')
    """
    if unit == "step":
        return f"step {round(shown)}"
    if unit == "tokens":
        return f"{amount(shown, unit)} tokens"
    return amount(shown, unit)


def amount(shown: float, unit: Unit) -> str:
    """The same without its unit, where the line names it."""
    if unit == "step":
        return str(round(shown))
    if unit == "tokens":
        size, letter = next(((size, letter) for size, letter in THOUSANDS if shown >= size), (1.0, ""))
        return f"{shown / size:.3g}{letter}"
    if shown < 2 * MINUTE:
        return f"{shown:.0f} s"
    if shown < HOUR:
        return f"{shown / MINUTE:.0f} min"
    if shown < DAY:
        minutes = round(shown / MINUTE)
        return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"
    return f"{shown / DAY:.1f} days"


def span(first: float, last: float, unit: Unit) -> str:
    """A stretch of the clock.

    >>> span(1, 400, "step"), span(0, 7200, "time")
    ('steps 1 to 400', '0 s to 2 h')
    """
    if unit == "step":
        return f"steps {round(first)} to {round(last)}"
    return f"{amount(first, unit)} to {moment(last, unit)}"


def odds(chance: float) -> str:
    """How often something rare happens by chance.

    >>> odds(0.0123), odds(1e-9)
    ('1 time in 81', 'less than 1 time in 10000')
    """
    return f"1 time in {round(1 / chance)}" if chance >= RAREST else f"less than 1 time in {round(1 / RAREST)}"


def signed(value: float) -> str:
    return f"{'+' if value >= 0 else '-'}{number(abs(value))}"


def within(gap: Gap) -> str:
    return f"80 %: {signed(gap.interval[0])} to {signed(gap.interval[1])}"


def level(one: Standing) -> str:
    return f"{number(one.final)} (80 %: {number(one.interval[0])} to {number(one.interval[1])})"


def several(names: Sequence[str], most: int = 5) -> str:
    """The first few names, and how many there are besides."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(number_: int, what: str) -> str:
    return f"{number_} {what}{'s' * (number_ != 1)}"


class Voice(NamedTuple):
    """How to speak of a series."""

    unit: Unit  # of the clock
    judged: bool = False  # the runs are compared by it
    good: bool = False  # more of it is better


def headline(pairs: Sequence[Difference], groups: int, good: bool) -> str:
    """The answer in a few words, from the pairs of groups on the judged series."""
    if groups == 1:
        return "Seeds of one variant"
    if not any(one.beyond_seeds for one in pairs):
        told = any(one.told != "no" for one in pairs)
        return f"These {'two' if groups == 2 else groups} runs {'differ' if told else 'are not told apart'}"
    told_apart = [one for one in pairs if one.beyond_seeds and one.told != "no"]
    if not told_apart:
        return "Not told apart"
    surest = min(told_apart, key=lambda one: one.chance)
    final = surest.told == "final"
    return _order(surest, "is" if final else "was", good) + ("" if final else " on the way")


def difference(one: Difference, *, counts: tuple[int, int], voice: Voice) -> str:
    """What is said of two groups of so many runs on one series."""
    unit, good = voice.unit, voice.good
    if not one.beyond_seeds:
        return _two_runs(one, unit, good) + (f" {UNKNOWN}" if voice.judged and one.told != "no" else "")
    seeds = f"Seeds alone would set equal groups this far apart {odds(one.chance)}."
    if one.told == "final":
        ends = f"{one.series} ends {number(abs(one.final.size))} apart ({_size(one.final)})"
        return (
            f"{_order(one, 'is', good)}: {ends}. {seeds}{_when(one, unit)}{_there(one, unit) if voice.judged else ''}"
        )
    if one.told == "on the way":
        apart = f"{one.series} was {number(abs(one.whole.size))} apart on average ({_size(one.whole)})"
        at_the_end = f"At the end they are not told apart ({one.second} {signed(one.final.size)}, {within(one.final)})."
        return f"{_order(one, 'was', good)} on the way: {apart}. {seeds} {at_the_end}"
    more = ""
    if one.runs_needed is not None and one.runs_needed > min(counts):
        more = f" If the gap is as seen, about {one.runs_needed} runs of each would tell."
    return (
        f"{one.first} and {one.second} are not told apart: {one.series} of {one.second} ends {signed(one.final.size)} "
        f"({within(one.final)}), which {counts[0]} and {counted(counts[1], 'run')} do not lift above seed noise.{more}"
    )


def _two_runs(one: Difference, unit: Unit, good: bool) -> str:
    if one.told == "final":
        ends = f"{one.series} ends {number(abs(one.final.size))} apart ({_size(one.final)}, by the runs' own noise)"
        return f"These two runs differ: {_order(one, 'is', good)}, {ends}.{_when(one, unit)}"
    if one.told == "on the way":
        apart = f"{_order(one, 'was', good)}, {one.series} {number(abs(one.whole.size))} apart on average"
        return f"These two runs differed on the way: {apart}; their ends are not told apart."
    return (
        f"{one.first} and {one.second} are not told apart even by their own noise: {one.series} of {one.second} ends "
        f"{signed(one.final.size)} ({within(one.final)})."
    )


def ranked(standings: Sequence[Standing], pairs: Sequence[Difference], series: str) -> str:
    """Several runs, each by itself, by where they end."""
    order = sorted(standings, key=lambda one: -one.final)
    listed = several([f"{one.name} {number(one.final)}" for one in order], RANKED)
    close = [f"{one.first} and {one.second}" for one in pairs if one.told != "final"]
    which = "pairs" if 2 * len(pairs) == len(order) * (len(order) - 1) else f"pairs with {standings[0].name}"
    apart = f"By the runs' own noise {len(pairs) - len(close) or 'none'} of the {len(pairs)} {which} differ"
    apart += f"; not told apart: {several(close, NAMED)}." if close else "."
    return (
        f"{series} at the end, highest first: {listed}. {apart} Whether the variants differ, single runs cannot tell: "
        "seed noise shows only in repeats."
    )


def untold(pairs: Sequence[Difference], series: str) -> str:
    """Several pairs that are not told apart, in one sentence."""
    listed = [f"{one.first} and {one.second} ({signed(one.final.size)}, {within(one.final)})" for one in pairs[:NAMED]]
    more = f"; {len(pairs) - NAMED} more pairs" if len(pairs) > NAMED else ""
    seeds = "" if all(one.beyond_seeds for one in pairs) else ", some of them even by the runs' own noise"
    return f"Not told apart by {series}{seeds}: {'; '.join(listed)}{more}."


def odd(one: Odd, *, others: int, unit: Unit) -> str:
    """What is said of a run that is not like the others."""
    way = "above" if one.final.size > 0 else "below"
    since = "" if one.sure_from is None else f", from {moment(one.sure_from, unit)} on at the latest"
    return (
        f"{one.run} stands apart from the {others} other runs of {one.group}: {one.series} ends "
        f"{number(abs(one.final.size))} {way} their mean{since}. Among so many equal runs one would stand this far out "
        f"{odds(one.chance)}."
    )


def _order(one: Difference, verb: str, good: bool) -> str:
    gap = one.whole if one.told == "on the way" else one.final
    high, low = (one.second, one.first) if gap.size >= 0 else (one.first, one.second)
    return f"{high} {verb} {'better' if good else 'higher'} than {low}"


def _when(one: Difference, unit: Unit) -> str:
    """Where the gap opens, and from where on it is sure."""
    if one.sure_from is None:
        return ""
    sure = f"is sure from {moment(one.sure_from, unit)} on"
    if one.opens is None or one.opens[1] >= one.sure_from:
        return f" The gap {sure}."
    low, high = (amount(at, unit) for at in (one.opens[0], one.opens[2]))
    about = f" ({low} to {high})" if low != high else ""
    return f" The gap opens around {moment(one.opens[1], unit)}{about} and {sure}."


def _there(one: Difference, unit: Unit) -> str:
    if one.there_by is None:
        return ""
    high, low = (one.second, one.first) if one.final.size >= 0 else (one.first, one.second)
    return f" {high} was where {low} ends by {moment(one.there_by, unit)}."


def _size(gap: Gap) -> str:
    """The interval of a gap as sizes: the sentence says which way it goes."""
    ends = gap.interval if gap.size >= 0 else (-gap.interval[1], -gap.interval[0])
    return f"80 %: {number(ends[0])} to {number(ends[1])}"
