"""Runs in groups, read together on one clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import LeadlineError
from ..reading.reward import HEADLINE
from ..reading.view import View
from . import words
from .caveats import caveats, ranges
from .choose import held_out, judged_by, logging, more_is_better, on_clock
from .clocks import Unit
from .comparison import Compared, Comparison, Difference, Odd, RunCompared
from .contrast import ALPHA, Contrast, holm
from .field import Board, Field
from .gather import Gathered, LeftOut
from .groups import Group, Grouping, each_by_itself
from .settings import differing

READ = (HEADLINE, "kl/ref", "kl/update", "entropy", "len/response_mean", "grad_norm", "time/step")
ALL_PAIRS = 6  # groups: of more, each is compared with the first only
LEAST_LIKE = 3  # runs that should be alike: which of two is the odd one nobody can tell
LONELY = 4  # runs of which nothing says that they are alike: fewer make no crowd to stand apart from


def compare(
    gathered: Gathered,
    *,
    by: str | None = None,
    clock: Unit = "step",
    started: Callable[[int], None] = lambda count: None,
    read: Callable[[], None] = lambda: None,
) -> Comparison:
    """What differs between the groups, from where on, beyond what seeds do. `by` is the series that says which is
    better, by its canonical name or its key: the held-out score where all runs log it, else the reward. `started` is
    told how many curves there are to fit, `read` is called after each."""
    grouping, left_out = on_clock(gathered, clock)
    views = {one.name: View(one.run) for group in grouping.groups for one in group.members}
    judged = by or judged_by(grouping, views)
    grouping, without = logging(grouping, judged)
    left_out = (*left_out, *without)
    if len(grouping.groups) == 1 and len(grouping.groups[0]) == LEAST_LIKE - 1:
        grouping = each_by_itself(
            grouping.groups[0].members, "every run by itself: the two look like seeds of one variant"
        )
    board = Board(grouping, views, clock, read)
    names = [name for name in (*held_out(grouping, views), *READ) if name != judged]
    started(len(board.names) * (1 + len(names)))
    main = board.field(judged)
    if isinstance(main, str):
        raise LeadlineError(
            f"The runs cannot be compared by {judged}: {main}.",
            tried=", ".join(one.name for group in grouping.groups for one in group.members),
            next_step="leave that run out, or name another series with --by",
        )
    fields, unread = [], []
    for name in names:
        found = board.field(name)
        if isinstance(found, Field):
            fields.append(found)
        elif found:
            unread.append(f"{name} is not compared: {found}")
    return _told(grouping, board, main, fields, left_out, unread)


def _told(
    grouping: Grouping,
    board: Board,
    main: Field,
    fields: Sequence[Field],
    left_out: tuple[LeftOut, ...],
    unread: Sequence[str],
) -> Comparison:
    good = more_is_better(main.name)
    (answer,) = _differences([main], board, words.Voice(board.unit, judged=True, good=good))
    rest = _differences(fields, board, words.Voice(board.unit))
    ranked = sorted(zip(fields, rest, strict=True), key=lambda pair: min((one.chance for one in pair[1]), default=1.0))
    by = main.compared(answer, board)
    odd = _odd_ones(main, board)
    settings = differing([(group.name, [one.run for one in group.members]) for group in grouping.groups])
    clocks = sorted({clock.says for clock in board.clocks.values()})
    runs = tuple(
        RunCompared(one.name, one.run.path, group.name, one.run.framework, one.run.first_step, one.run.last_step)
        for group in grouping.groups
        for one in group.members
    )
    return Comparison(
        clock=board.unit,
        clock_says=" or ".join(clocks),
        grouped=grouping.says,
        guessed=grouping.guessed,
        runs=runs,
        groups={group.name: tuple(one.name for one in group.members) for group in grouping.groups},
        by=by,
        others=tuple(field.compared(found, board) for field, found in ranked),
        odd=odd,
        settings=settings,
        left_out=left_out,
        warnings=(
            *ranges(main, board.unit),
            *([f"not all runs keep time alike: {' or '.join(clocks)}"] if len(clocks) > 1 else []),
            *caveats(grouping, by.name, [field.name for field in (main, *fields)], settings),
            *unread,
        ),
        good=good,
        headline=words.headline(answer, len(grouping.groups), good),
        says=_answer(answer, odd, by),
    )


def _pairs(groups: Sequence[Group]) -> list[tuple[Group, Group]]:
    every = list(itertools.combinations(groups, 2))
    return every if len(groups) <= ALL_PAIRS else [pair for pair in every if pair[0] is groups[0]]


def _differences(fields: Sequence[Field], board: Board, voice: words.Voice) -> list[tuple[Difference, ...]]:
    """Every pair of groups on each series. All that is asked here shares one ALPHA."""
    pairs = _pairs(board.grouping.groups)
    asked = [
        (field, pair, Contrast(field.name, *(field.of(group.members, board) for group in pair)))
        for field in fields
        for pair in pairs
    ]
    shares = holm([contrast.chance for _, _, contrast in asked])
    found = [
        _difference(field, pair, contrast, chance, share, voice)
        for (field, pair, contrast), (chance, share) in zip(asked, shares, strict=True)
    ]
    return [tuple(found[place * len(pairs) : (place + 1) * len(pairs)]) for place in range(len(fields))]


def _difference(
    field: Field,
    pair: tuple[Group, Group],
    contrast: Contrast,
    chance: float,
    share: float,
    voice: words.Voice,
) -> Difference:
    sure, opens, there, told = None, None, None, "no"
    if chance <= ALPHA:
        sure = contrast.sure_from(share)
        told = "on the way" if sure is None else "final"
        opens, there = (None, None) if sure is None else (contrast.opens(), contrast.there_by())
    one = Difference(
        series=field.name,
        first=pair[0].name,
        second=pair[1].name,
        beyond_seeds=contrast.seeds,
        told=told,
        final=field.scaled(contrast.final),
        whole=field.scaled(contrast.whole),
        chance=chance,
        opens=_opens(opens, sure, field),
        sure_from=field.at(sure),
        there_by=field.at(there),
        shuffled=contrast.shuffled(),
        runs_needed=contrast.seeds_needed() if told == "no" else None,
        says="",
    )  # fmt: skip
    counts = len(pair[0]), len(pair[1])
    return replace(one, says=words.difference(one, counts=counts, voice=voice))


def _opens(opens: tuple[int, int, int] | None, sure: int | None, field: Field) -> tuple[float, float, float] | None:
    """On the clock. Where the groups surely differ the gap has opened, however small it may still have been there."""
    if opens is None or sure is None:
        return None
    low, middle, high = (float(field.grid[min(cell, sure)]) for cell in opens)
    return low, middle, high


def _odd_ones(field: Field, board: Board) -> tuple[Odd, ...]:
    """Runs that are not like those they should be like: each against the rest of its group, which tells how much such
    runs scatter. Where nothing is grouped, all runs are one crowd."""
    groups = [group for group in board.grouping.groups if len(group) >= LEAST_LIKE]
    everybody = [one for group in board.grouping.groups for one in group.members]
    if not groups and len(everybody) == len(board.grouping.groups) >= LONELY:
        groups = [Group("this comparison", tuple(everybody))]
    asked = []
    for group in groups:
        for one in group.members:
            rest = [other for other in group.members if other is not one]
            asked.append((one, group, Contrast(field.name, field.of(rest, board), field.of([one], board))))
    found = []
    for (one, group, contrast), (chance, share) in zip(asked, holm([each.chance for _, _, each in asked]), strict=True):
        if chance <= ALPHA:
            sure = field.at(contrast.sure_from(share))
            odd = Odd(one.name, group.name, field.name, field.scaled(contrast.final), chance, sure, "")
            found.append(replace(odd, says=words.odd(odd, others=len(group) - 1, unit=board.unit)))
    return tuple(sorted(found, key=lambda one: one.chance))


def _answer(differences: Sequence[Difference], odd: Sequence[Odd], by: Compared) -> tuple[str, ...]:
    """The sentences a reader wants first: what differs, the surest first, then what does not; then odd runs."""
    told = sorted((one for one in differences if one.told != "no"), key=lambda one: one.chance)
    untold = [one for one in differences if one.told == "no"]
    said = [one.says for one in told]
    said += [untold[0].says] if len(untold) == 1 else [words.untold(untold, by.name)] if untold else []
    if len(differences) > 1 and not any(one.beyond_seeds for one in differences):
        said = [words.ranked(by.standings, differences, by.name)]
    if not differences:
        spread = by.standings[0]
        said = [
            f"One group of {words.counted(len(spread.runs), 'run')}: {by.name} ends at {words.level(spread)}. "
            + ("No run stands apart from the others." if not odd else "")
        ]
    return (*(text.strip() for text in said), *(one.says for one in odd))
