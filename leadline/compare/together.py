"""Runs in groups, read together on one clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from ..errors import LeadlineError
from ..facts import Facts
from ..facts.comparison import (
    ClocksDiffer,
    Comparison,
    Difference,
    LeftOut,
    NoCommonRange,
    Odd,
    RunCompared,
    Unit,
)
from ..reading.reward import HEADLINE
from ..reading.view import View
from ..words import compare as words
from .caveats import caveats, ranges
from .choose import held_out, judged_by, logging, more_is_better, on_clock
from .contrast import ALPHA, Contrasted, holm
from .field import Board, Field
from .gather import Gathered
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
    views = {member.name: View(member.run) for group in grouping.groups for member in group.members}
    judged = by or judged_by(grouping, views)
    grouping, without = logging(grouping, judged)
    left_out = (*left_out, *without)
    if len(grouping.groups) == 1 and len(grouping.groups[0]) == LEAST_LIKE - 1:
        grouping = each_by_itself(grouping.groups[0].members, "two_alike")
    board = Board(grouping, views, clock, read)
    names = [name for name in (*held_out(grouping, views), *READ) if name != judged]
    started(len(board.names) * (1 + len(names)))
    main = board.field(judged)
    if not isinstance(main, Field):
        raise LeadlineError(
            f"The runs cannot be compared by {judged}: {words.not_compared(main, clock)}.",
            tried=", ".join(member.name for group in grouping.groups for member in group.members),
            next_step="leave that run out, or name another series with --by",
        )
    fields: list[Field] = []
    unread: list[Facts] = []
    for name in names:
        found = board.field(name)
        if isinstance(found, Field):
            fields.append(found)
        elif isinstance(found, NoCommonRange) or len(found.lacking) < len(board.names):
            unread.append(found)
    return _told(grouping, board, main, fields, left_out, unread)


def _told(
    grouping: Grouping,
    board: Board,
    main: Field,
    fields: Sequence[Field],
    left_out: tuple[LeftOut, ...],
    unread: Sequence[Facts],
) -> Comparison:
    good = more_is_better(main.name)
    (answer,) = _differences([main], board)
    rest = _differences(fields, board)
    ranked = sorted(
        zip(fields, rest, strict=True), key=lambda pair: min((difference.chance for difference in pair[1]), default=1.0)
    )
    by = main.compared(answer, board)
    odd = _odd_ones(main, board)
    settings = differing([(group.name, [member.run for member in group.members]) for group in grouping.groups])
    clocks = tuple(sorted({clock.source for clock in board.clocks.values()}))
    runs = tuple(
        RunCompared(
            member.name, member.run.path, group.name, member.run.framework, member.run.first_step, member.run.last_step
        )
        for group in grouping.groups
        for member in group.members
    )
    return Comparison(
        clock=board.unit,
        clock_sources=clocks,
        grouped=grouping.how,
        runs=runs,
        groups={group.name: tuple(member.name for member in group.members) for group in grouping.groups},
        by=by,
        others=tuple(field.compared(found, board) for field, found in ranked),
        odd=odd,
        settings=settings,
        left_out=left_out,
        warnings=(
            *ranges(main),
            *([ClocksDiffer(clocks)] if len(clocks) > 1 else []),
            *caveats(grouping, by.name, [field.name for field in (main, *fields)], settings),
            *unread,
        ),
        good=good,
    )


def _pairs(groups: Sequence[Group]) -> list[tuple[Group, Group]]:
    every = list(itertools.combinations(groups, 2))
    return every if len(groups) <= ALL_PAIRS else [pair for pair in every if pair[0] is groups[0]]


def _differences(fields: Sequence[Field], board: Board) -> list[tuple[Difference, ...]]:
    """Every pair of groups on each series. All that is asked here shares one ALPHA."""
    pairs = _pairs(board.grouping.groups)
    asked = [
        (field, pair, Contrasted(field.name, *(field.of(group.members, board) for group in pair)))
        for field in fields
        for pair in pairs
    ]
    shares = holm([contrast.chance for _, _, contrast in asked])
    found = [
        _difference(field, pair, contrast, chance, share)
        for (field, pair, contrast), (chance, share) in zip(asked, shares, strict=True)
    ]
    return [tuple(found[place * len(pairs) : (place + 1) * len(pairs)]) for place in range(len(fields))]


def _difference(
    field: Field,
    pair: tuple[Group, Group],
    contrast: Contrasted,
    chance: float,
    share: float,
) -> Difference:
    sure, opens, there, told = None, None, None, "no"
    if chance <= ALPHA:
        sure = contrast.sure_from(share)
        told = "on the way" if sure is None else "final"
        opens, there = (None, None) if sure is None else (contrast.opens(), contrast.there_by())
    return Difference(
        series=field.name,
        first=pair[0].name,
        second=pair[1].name,
        runs=(len(pair[0]), len(pair[1])),
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
    )


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
    everybody = [member for group in board.grouping.groups for member in group.members]
    if not groups and len(everybody) == len(board.grouping.groups) >= LONELY:
        groups = [Group("", tuple(everybody))]
    asked = []
    for group in groups:
        for member in group.members:
            rest = [other for other in group.members if other is not member]
            asked.append((member, group, Contrasted(field.name, field.of(rest, board), field.of([member], board))))
    found = []
    for (member, group, contrast), (chance, share) in zip(
        asked, holm([each.chance for _, _, each in asked]), strict=True
    ):
        if chance <= ALPHA:
            sure = field.at(contrast.sure_from(share))
            gap = field.scaled(contrast.final)
            found.append(Odd(member.name, group.name or None, len(group) - 1, field.name, gap, chance, sure))
    return tuple(sorted(found, key=lambda odd: odd.chance))
