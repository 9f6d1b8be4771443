"""Words of the reports of a comparison: the cells of its table and the lines below the plot."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.comparison import Comparison, Difference
from .compare import moment, signed
from .numbers import counted, number, several

APART = {"final": "different", "on the way": "different mid-run", "no": "no significant difference"}
SHOWN_SETTINGS = 6


def standing(comparison: Comparison, first: str, second: str) -> str:
    """How the second group stands to the first, for a cell of the table."""
    pair = next((one for one in comparison.by.differences if {one.first, one.second} == {first, second}), None)
    if pair is None:
        return ""
    gap = signed(pair.final.size if pair.second == second else -pair.final.size)
    if not pair.beyond_seeds:
        return f"{gap}, {'runs differ' if pair.told == 'final' else APART['no']}"
    if pair.told == "final":
        words = ("worse", "better") if comparison.good else ("lower", "higher")
        return f"{gap}, {words[(pair.final.size > 0) == (pair.second == second)]}"
    return f"{gap}, {APART[pair.told]}"


def difference(pair: Difference) -> str:
    """How far two groups are apart at the end, and whether that can be told."""
    own = "" if pair.beyond_seeds or pair.told == "no" else ", by within-run noise"
    return f"{number(pair.final.size)}, {APART[pair.told]}{own}"


def differing_settings(told: Sequence[str], *, verbose: bool) -> str:
    what = "differ between groups, so any of them may be the cause" if len(told) > 1 else "differs between groups"
    return f"{what}: {'; '.join(told) if verbose else several(told, SHOWN_SETTINGS)}"


def also(pairs: Sequence[Difference], comparison: Comparison) -> str:
    """The surest difference in a series beside the judged one, and how many there are besides."""
    first = pairs[0]
    gap = first.final if first.told == "final" else first.whole
    high, low = (first.second, first.first) if gap.size >= 0 else (first.first, first.second)
    since = None if first.told != "final" else first.sure_from
    when = "on average" if since is None else f"from {moment(since, comparison.clock)} on"
    own = "" if first.beyond_seeds else " (within-run noise)"
    more = f", {counted(len(pairs) - 1, 'more pair')}" if pairs[1:] else ""
    return f"{first.series}: {high} higher than {low} by {number(abs(gap.size))} {when}{own}{more}"


def not_told_apart(names: Sequence[str]) -> str:
    return f"no significant difference in {several(names)}"


def permuted(pair: Difference) -> str:
    """How many ways to give out the labels set two groups as far apart; empty where it was not tried."""
    ways = pair.shuffled
    if ways is None:
        return ""
    least = 2 if ways.of % 2 == 0 else 1
    text = f" {ways.as_far} of {ways.of} permutations of the labels set them as far apart"
    return f"{text}; no fewer than {least} ever do." if ways.as_far <= least else f"{text}."


def more_of(count: int, what: str = "") -> str:
    """What a screen left out."""
    return f"{counted(count, f'more {what}') if what else f'{count} more'} (--verbose shows all)"
