"""A comparison in words: what differs, from where on, and what so few runs can't show."""

from __future__ import annotations

from collections.abc import Sequence

from ..digits import counted, duration, interval, level, number, several, steps
from ..facts.comparison import ClockSource, Comparison, Difference, Gap, Grouped, Odd, Unit

NAMED = 3  # pairs in one sentence
RANKED = 8  # runs in one sentence
SHOWN_SETTINGS = 6
RAREST = 1e-4  # chance: what is rarer rests on the far tails of a t-test
THOUSANDS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
UNKNOWN = "One seed each: this doesn't show which config is better."
APART = {"final": "different", "mid-run": "different mid-run", "no": "no significant difference"}
CLOCKS: dict[ClockSource, str] = {
    "steps": "steps",
    "time_of_each_step": "the time of each step",
    "running_time": "the running time in the log",
    "row_times": "the times of the log rows",
    "running_tokens": "the running count of tokens",
    "tokens_of_each_step": "the tokens of each step",
}
GROUPED: dict[Grouped, str] = {
    "each_by_itself": "every run by itself",
    "nothing_says": "every run by itself: nothing shows which of them are seeds of one config",
    "two_alike": "every run by itself: the two look like seeds of one config",
    "named": "grouped as named",
    "typed": "grouped as typed: the runs of one path or pattern are seeds",
    "by_seed": "by the seeds in their paths",
    "by_settings": "by their settings, which agree but for the seed",
}


def moment(shown: float, unit: Unit) -> str:
    """Format a place on the clock.

    >>> moment(180, "step"), moment(5400, "time"), moment(1.25e6, "tokens")
    ('step 180', '90 min', '1.25M tokens')
    """
    return {"step": f"step {amount(shown, unit)}", "tokens": f"{amount(shown, unit)} tokens"}.get(
        unit, amount(shown, unit)
    )


def amount(shown: float, unit: Unit) -> str:
    """Format the same without its unit, for a line that names it."""
    if unit == "step":
        return str(round(shown))
    if unit == "tokens":
        size, letter = next(((size, letter) for size, letter in THOUSANDS if shown >= size), (1.0, ""))
        return f"{shown / size:.3g}{letter}"
    return duration(round(shown))


def span(first: float, last: float, unit: Unit) -> str:
    """Format a range of the clock.

    >>> span(1, 400, "step"), span(0, 7200, "time")
    ('steps 1–400', '0 s to 2 h')
    """
    if unit == "step":
        return steps(round(first), round(last))
    return f"{amount(first, unit)} to {moment(last, unit)}"


def odds(chance: float) -> str:
    """Format a small probability.

    >>> odds(0.0123), odds(1e-9)
    ('1 in 81', 'below 1 in 10000')
    """
    return f"1 in {round(1 / chance)}" if chance >= RAREST else f"below 1 in {round(1 / RAREST)}"


def signed(value: float) -> str:
    return f"{'+' if value >= 0 else '-'}{level(abs(value))}"


def _within(gap: Gap) -> str:
    return f"{signed(gap.size)}, 80% interval {signed(gap.interval[0])} to {signed(gap.interval[1])}"


def answer(comparison: Comparison) -> tuple[str, ...]:
    """Return the sentences a reader wants first: what differs, the surest first, what does not, then odd runs."""
    by, pairs = comparison.by, comparison.by.differences
    if not pairs:
        seeds = by.standings[0]
        apart = "" if comparison.odd else " No run stands out."
        ends = interval(seeds.final, *seeds.interval).replace("(", "(80% interval ")
        said = [f"One group of {counted(len(seeds.runs), 'run')}: {by.name} ends at {ends}.{apart}"]
    elif len(pairs) > 1 and not any(pair.beyond_seeds for pair in pairs):
        order = sorted(by.standings, key=lambda standing: -standing.final)
        named = several([f"{standing.name} {level(standing.final)}" for standing in order], RANKED)
        close = [f"{pair.first} and {pair.second}" for pair in pairs if pair.told != "final"]
        every = 2 * len(pairs) == len(order) * (len(order) - 1)
        which = "pairs" if every else f"pairs with {by.standings[0].name}"
        apart = f"By within-run noise, {len(pairs) - len(close) or 'none'} of the {len(pairs)} {which} differ"
        apart += f"; no significant difference: {several(close, NAMED)}." if close else "."
        said = [f"{by.name} at the end, highest first: {named}. {apart} {UNKNOWN}"]
    else:
        told = sorted((pair for pair in pairs if pair.told != "no"), key=lambda pair: pair.chance)
        rest = [pair for pair in pairs if pair.told == "no"]
        said = [difference(comparison, pair) for pair in (*told, *(rest if len(rest) == 1 else ()))]
        if len(rest) > 1:
            alike = [f"{pair.first} and {pair.second} ({_within(pair.final)})" for pair in rest[:NAMED]]
            more = f"; {len(rest) - NAMED} more pairs" if len(rest) > NAMED else ""
            said.append(f"No significant difference on {by.name}: {'; '.join(alike)}{more}.")
    return (*said, *(odd(comparison, run) for run in comparison.odd))


def headline(comparison: Comparison) -> str:
    """Return the answer in a few words."""
    pairs, groups = comparison.by.differences, len(comparison.groups)
    if groups == 1:
        return "Seeds of one config"
    told = [pair for pair in pairs if pair.told != "no"]
    if not any(pair.beyond_seeds for pair in pairs):
        return f"These {'two' if groups == 2 else groups} runs {'differ' if told else 'show no significant difference'}"
    known = [pair for pair in told if pair.beyond_seeds]
    return _order(min(known, key=lambda pair: pair.chance), comparison.good) if known else "No significant difference"


def difference(comparison: Comparison, pair: Difference) -> str:
    """Return what is said of two groups on one metric: which is higher, by how much, how surely, from where on."""
    judged = pair.series == comparison.by.name
    seeds = f"{pair.runs[0]} vs. {pair.runs[1]} seeds" if pair.beyond_seeds else "within-run noise only"
    if pair.told == "no":
        more = ""
        if pair.runs_needed is not None and pair.runs_needed > min(pair.runs):
            more = f" If the gap holds, ~{pair.runs_needed} seeds each would settle it."
        return (
            f"No significant difference between {pair.first} and {pair.second} on {pair.series}: {pair.second} ends "
            f"{_within(pair.final)} ({seeds}).{more}"
        )
    low, high = pair.gap.interval if pair.gap.size >= 0 else (-pair.gap.interval[1], -pair.gap.interval[0])
    by, _, within = interval(abs(pair.gap.size), low, high).partition(" (")
    by += " on average" * (pair.told == "mid-run")
    order = _order(pair, judged and comparison.good)
    parts = [f"{order} on {pair.series} by {by} (80% interval {within[:-1]}, {seeds})."]
    if pair.beyond_seeds:
        parts.append(f"Chance under seed noise alone: {odds(pair.chance)}.")
    if pair.told == "mid-run":
        parts.append(f"No significant difference at the end ({pair.second} {_within(pair.final)}).")
    elif pair.sure_from is not None:
        parts.append(f"Significant from {moment(pair.sure_from, comparison.clock)}.")
    if judged and pair.there_by is not None:
        reached = moment(pair.there_by, comparison.clock)
        parts.append(f"{pair.order[0]} reached {pair.order[1]}'s final level by {reached}.")
    if judged and not pair.beyond_seeds:
        parts.append(UNKNOWN)
    return " ".join(parts)


def _order(pair: Difference, good: bool) -> str:
    higher, lower = pair.order
    if pair.told == "mid-run":
        return f"{higher} {'beat' if good else 'was higher than'} {lower} mid-run"
    return f"{higher} {'beats' if good else 'is higher than'} {lower}"


def odd(comparison: Comparison, run: Odd) -> str:
    """Return what is said of a run that is not like the others."""
    way = "above" if run.final.size > 0 else "below"
    since = "" if run.sure_from is None else f", significant from {moment(run.sure_from, comparison.clock)}"
    return (
        f"{run.run} stands out from the {run.others} other runs of {run.group or 'this comparison'}: {run.series} ends "
        f"{level(abs(run.final.size))} {way} their mean{since}. Chance that one of so many equal runs does: "
        f"{odds(run.chance)}."
    )


def grouped(comparison: Comparison) -> str:
    """Return who decided which runs are seeds of one config."""
    how = GROUPED[comparison.grouped]
    return f"grouped {how} (a guess: override with --group NAME=PATHS)" if comparison.guessed else how


def clock_source(comparison: Comparison) -> str:
    """Return what the clock was read from."""
    return " or ".join(CLOCKS[source] for source in comparison.clock_sources)


# --- cells of the table and lines below the plot


def standing(comparison: Comparison, group: str) -> str:
    """Return how a group stands to the first one, for a cell of the table."""
    first = comparison.by.standings[0].name
    pair = next((one for one in comparison.by.differences if (one.first, one.second) == (first, group)), None)
    if pair is None:
        return ""
    told = APART[pair.told]
    if pair.told == "final" and pair.beyond_seeds:
        told = (("worse", "better") if comparison.good else ("lower", "higher"))[pair.final.size > 0]
    elif pair.told == "final":
        told = "runs differ"
    return f"{signed(pair.final.size)}, {told}"


def differing_settings(told: Sequence[str]) -> str:
    what = "differ between groups, so any of them may be the cause" if len(told) > 1 else "differs between groups"
    return f"{what}: {several(told, SHOWN_SETTINGS)}"


def setting_values(values: Sequence[object], between: str = "|") -> str:
    """Return the value of a setting in a group; several if its runs do not agree.

    >>> setting_values([0.1, 0.1]), setting_values([None, "adam"])
    ('0.1', 'not set|adam')
    """
    told = ("not set" if one is None else number(one) if isinstance(one, float) else str(one) for one in values)
    return between.join(dict.fromkeys(told)) or "not known"


def also(pairs: Sequence[Difference], comparison: Comparison) -> str:
    """Return the surest difference in a further metric, and how many more there are."""
    first = pairs[0]
    when = "on average" if first.sure_from is None else f"from {moment(first.sure_from, comparison.clock)}"
    own = "" if first.beyond_seeds else " (within-run noise)"
    more = f", {counted(len(pairs) - 1, 'more pair')}" if pairs[1:] else ""
    higher, lower = first.order
    return f"{first.series}: {higher} higher than {lower} by {level(abs(first.gap.size))} {when}{own}{more}"


def not_told_apart(names: Sequence[str]) -> str:
    return f"no significant difference on {several(names)}"


def more_of(count: int, what: str = "") -> str:
    """Return how much a screen left out."""
    return f"{counted(count, f'more {what}') if what else f'{count} more'} (--html shows all)"
