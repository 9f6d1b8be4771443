"""A comparison in words: what differs, from where on, and what nobody can know from so few runs."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts import Facts
from ..facts.comparison import (
    BeginsLater,
    ClocksDiffer,
    ClockSource,
    Comparison,
    Difference,
    EndsEarlier,
    Gap,
    Grouped,
    KindsDiffer,
    LeftOut,
    MixedGroup,
    NoClock,
    NoCommonRange,
    NotLogged,
    Odd,
    OthersDiffer,
    PartsDiffer,
    RewardSettings,
    RunStanding,
    SameRun,
    SharedStart,
    TooFewPoints,
    Unit,
    Unreadable,
)
from .numbers import counted, number, several

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
NAMED = 3  # pairs in one sentence
RANKED = 8  # runs in one sentence
RAREST = 1e-4  # chance: what is rarer rests on the tails of a t-test, which nobody knows so well
THOUSANDS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
UNKNOWN = "One seed each: this doesn't show which config is better."
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
    "nothing_says": "every run by itself: nothing says which of them are seeds of one variant",
    "two_alike": "every run by itself: the two look like seeds of one variant",
    "named": "grouped as named",
    "typed": "grouped as typed: the runs of one path or pattern are taken as seeds",
    "by_seed": "by the seeds named in their paths",
    "by_settings": "by their settings, which agree but for the seed",
    "by_number": "by their names, which differ in a number only",
}


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


def _within(gap: Gap) -> str:
    return f"80% interval {signed(gap.interval[0])} to {signed(gap.interval[1])}"


def _level(standing: RunStanding) -> str:
    low, high = standing.interval
    return f"{number(standing.final)} (80% interval {number(low)}–{number(high)})"


def answer(comparison: Comparison) -> tuple[str, ...]:
    """The sentences a reader wants first: what differs, the surest first, then what does not; then odd runs."""
    by, pairs = comparison.by, comparison.by.differences
    told = sorted((pair for pair in pairs if pair.told != "no"), key=lambda pair: pair.chance)
    rest = [pair for pair in pairs if pair.told == "no"]
    said = [difference(comparison, pair) for pair in told]
    said += [difference(comparison, rest[0])] if len(rest) == 1 else [_untold(rest, by.name)] if rest else []
    if len(pairs) > 1 and not any(pair.beyond_seeds for pair in pairs):
        said = [_ranked(by.standings, pairs, by.name)]
    if not pairs:
        seeds = by.standings[0]
        apart = "" if comparison.odd else " No run stands apart from the others."
        said = [f"One group of {counted(len(seeds.runs), 'run')}: {by.name} ends at {_level(seeds)}.{apart}"]
    return (*said, *(odd(comparison, run) for run in comparison.odd))


def headline(comparison: Comparison) -> str:
    """The answer in a few words."""
    pairs, groups = comparison.by.differences, len(comparison.groups)
    if groups == 1:
        return "Seeds of one variant"
    if not any(pair.beyond_seeds for pair in pairs):
        told = any(pair.told != "no" for pair in pairs)
        return f"These {'two' if groups == 2 else groups} runs {'differ' if told else 'show no significant difference'}"
    told_apart = [pair for pair in pairs if pair.beyond_seeds and pair.told != "no"]
    if not told_apart:
        return "No significant difference"
    surest = min(told_apart, key=lambda pair: pair.chance)
    final = surest.told == "final"
    return _order(surest, "is" if final else "was", comparison.good) + ("" if final else " mid-run")


def difference(comparison: Comparison, pair: Difference) -> str:
    """What is said of two groups on one series."""
    judged = pair.series == comparison.by.name
    good, unit = judged and comparison.good, comparison.clock
    if not pair.beyond_seeds:
        return _two_runs(pair, unit, good) + (f" {UNKNOWN}" if judged and pair.told != "no" else "")
    seeds = f"Seed noise alone would put equal groups this far apart {odds(pair.chance)}."
    if pair.told == "final":
        ends = f"{pair.series} ends {number(abs(pair.final.size))} apart ({_size(pair.final)})"
        there = _there(pair, unit) if judged else ""
        return f"{_order(pair, 'is', good)}: {ends}. {seeds}{_when(pair, unit)}{there}"
    if pair.told == "on the way":
        apart = f"{pair.series} was {number(abs(pair.whole.size))} apart on average ({_size(pair.whole)})"
        end = f"{pair.second} {signed(pair.final.size)}, {_within(pair.final)}"
        at_the_end = f"At the end there is no significant difference ({end})."
        return f"{_order(pair, 'was', good)} mid-run: {apart}. {seeds} {at_the_end}"
    more = ""
    if pair.runs_needed is not None and pair.runs_needed > min(pair.runs):
        more = f" If the gap holds, ~{pair.runs_needed} seeds each would settle it."
    return (
        f"{pair.first} and {pair.second} show no significant difference: {pair.series} of {pair.second} ends "
        f"{signed(pair.final.size)} ({_within(pair.final)}), which is within seed noise for {pair.runs[0]} and "
        f"{counted(pair.runs[1], 'run')}.{more}"
    )


def _two_runs(pair: Difference, unit: Unit, good: bool) -> str:
    if pair.told == "final":
        ends = f"{pair.series} ends {number(abs(pair.final.size))} apart ({_size(pair.final)}, by within-run noise)"
        return f"These two runs differ: {_order(pair, 'is', good)}, {ends}.{_when(pair, unit)}"
    if pair.told == "on the way":
        apart = f"{_order(pair, 'was', good)}, {pair.series} {number(abs(pair.whole.size))} apart on average"
        return f"These two runs differed mid-run: {apart}; no significant difference at the end."
    return (
        f"{pair.first} and {pair.second} show no significant difference, even by within-run noise: {pair.series} of "
        f"{pair.second} ends {signed(pair.final.size)} ({_within(pair.final)})."
    )


def _ranked(standings: Sequence[RunStanding], pairs: Sequence[Difference], series: str) -> str:
    """Several runs, each by itself, by where they end."""
    order = sorted(standings, key=lambda standing: -standing.final)
    named = several([f"{standing.name} {number(standing.final)}" for standing in order], RANKED)
    close = [f"{pair.first} and {pair.second}" for pair in pairs if pair.told != "final"]
    which = "pairs" if 2 * len(pairs) == len(order) * (len(order) - 1) else f"pairs with {standings[0].name}"
    apart = f"By within-run noise, {len(pairs) - len(close) or 'none'} of the {len(pairs)} {which} differ"
    apart += f"; no significant difference: {several(close, NAMED)}." if close else "."
    return (
        f"{series} at the end, highest first: {named}. {apart} One seed each: this doesn't show which config is better."
    )


def _untold(pairs: Sequence[Difference], series: str) -> str:
    """Several pairs that are not told apart, in one sentence."""
    named = [f"{pair.first} and {pair.second} ({signed(pair.final.size)}, {_within(pair.final)})" for pair in pairs]
    more = f"; {len(pairs) - NAMED} more pairs" if len(pairs) > NAMED else ""
    seeds = "" if all(pair.beyond_seeds for pair in pairs) else ", some of them even by within-run noise"
    return f"No significant difference in {series}{seeds}: {'; '.join(named[:NAMED])}{more}."


def odd(comparison: Comparison, run: Odd) -> str:
    """What is said of a run that is not like the others."""
    way = "above" if run.final.size > 0 else "below"
    since = "" if run.sure_from is None else f", from {moment(run.sure_from, comparison.clock)} on at the latest"
    return (
        f"{run.run} stands apart from the {run.others} other runs of {run.group or 'this comparison'}: {run.series} "
        f"ends {number(abs(run.final.size))} {way} their mean{since}. Among so many equal runs one would stand this "
        f"far out {odds(run.chance)}."
    )


def grouped(comparison: Comparison) -> str:
    """Who decided which runs are seeds of one variant."""
    how = GROUPED[comparison.grouped]
    return f"grouped {how} (a guess: --group NAME=PATHS says otherwise)" if comparison.guessed else how


def clock_source(comparison: Comparison) -> str:
    """What the clock was read from."""
    return " or ".join(CLOCKS[source] for source in comparison.clock_sources)


def left_out(run: LeftOut) -> str:
    """Why a run takes no part."""
    match run.why:
        case Unreadable(error):
            return error
        case SameRun(other):
            return f"the same run as {other}"
        case NoClock(unit):
            return f"its log does not tell {unit}"
        case TooFewPoints(series, 0):
            return f"it does not log {series}"
        case TooFewPoints(series, points):
            return f"it logs {counted(points, 'point')} of {series}, too few to read"


def warning(facts: Facts, unit: Unit) -> str:
    """What speaks against comparing the numbers as they are, without a full stop."""
    match facts:
        case EndsEarlier():
            return _ends_earlier(facts, unit)
        case BeginsLater(run, at):
            return f"{run} begins at {moment(at, unit)}; what others did before is ignored"
        case ClocksDiffer(sources):
            return f"the runs do not keep time alike: {' or '.join(CLOCKS[source] for source in sources)}"
        case KindsDiffer(series, kinds):
            told = "; ".join(f"{several(runs, NAMED)}: {kind}" for kind, runs in kinds)
            return f"{series} may not be the same number in all runs ({told})"
        case OthersDiffer(names, judged_too):
            also = " too" if judged_too else ""
            return (
                f"{several(names)} may not be the same number in all runs{also}: `leadline sources` tells what each is"
            )
        case PartsDiffer(parts):
            told = "; ".join(f"{run}: {', '.join(names)}" for run, names in parts)
            return f"the rewards are not made of the same parts, so their levels may not compare ({told})"
        case RewardSettings(names):
            return f"settings about the reward differ ({several(names, 4)}): levels of the reward may not compare"
        case MixedGroup(group, settings):
            return f"the runs of {group} are not set alike ({several(settings, 4)}): that counts as seed noise here"
        case SharedStart(first, second, step):
            return (
                f"{first} and {second} hold the same numbers up to step {step}: one continues the other, or they share "
                "a seed, so they are not two independent runs"
            )
        case NotLogged() | NoCommonRange():
            return f"{facts.series} is not compared: {not_compared(facts, unit)}"
    raise TypeError(f"no words for {type(facts).__name__}")


def not_compared(facts: NotLogged | NoCommonRange, unit: Unit) -> str:
    """Why a series cannot be compared."""
    if isinstance(facts, NoCommonRange):
        return (
            f"no range is common to all runs, {facts.earliest} ends at {moment(facts.ends, unit)} and {facts.latest} "
            f"begins at {moment(facts.begins, unit)}"
        )
    if facts.lacking:
        return f"{several(facts.lacking)} do{'es' * (len(facts.lacking) == 1)} not log it"
    return "; ".join(f"{run} logs {counted(points, 'point')} of it, too few to read" for run, points in facts.short)


def _ends_earlier(facts: EndsEarlier, unit: Unit) -> str:
    more = facts.end_without_shortest
    without = "" if more is None else f"; without {facts.shortest} all could be compared up to {moment(more, unit)}"
    return (
        f"compared over {span(facts.first, facts.last, unit)}, where {facts.shortest} ends; {facts.longest} goes on to "
        f"{moment(facts.longest_end, unit)}{without}"
    )


def _order(pair: Difference, verb: str, good: bool) -> str:
    gap = pair.whole if pair.told == "on the way" else pair.final
    high, low = (pair.second, pair.first) if gap.size >= 0 else (pair.first, pair.second)
    return f"{high} {verb} {'better' if good else 'higher'} than {low}"


def _when(pair: Difference, unit: Unit) -> str:
    """Where the gap opens, and from where on it is sure."""
    if pair.sure_from is None:
        return ""
    sure = f"is sure from {moment(pair.sure_from, unit)} on"
    if pair.opens is None or pair.opens[1] >= pair.sure_from:
        return f" The gap {sure}."
    low, high = (amount(at, unit) for at in (pair.opens[0], pair.opens[2]))
    about = f" ({low} to {high})" if low != high else ""
    return f" The gap opens around {moment(pair.opens[1], unit)}{about} and {sure}."


def _there(pair: Difference, unit: Unit) -> str:
    if pair.there_by is None:
        return ""
    high, low = (pair.second, pair.first) if pair.final.size >= 0 else (pair.first, pair.second)
    return f" {high} was where {low} ends by {moment(pair.there_by, unit)}."


def _size(gap: Gap) -> str:
    """The interval of a gap as sizes: the sentence says which way it goes."""
    ends = gap.interval if gap.size >= 0 else (-gap.interval[1], -gap.interval[0])
    return f"80% interval {number(ends[0])}–{number(ends[1])}"
