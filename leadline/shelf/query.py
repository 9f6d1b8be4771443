"""The table as the dashboard asks for it: triage, search, filters, order and groups, all worked out by the database.

Whether a run needs attention depends on the time of asking: rows are not written again because time goes by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from ..records import dataclass
from .row import FINISHED, NEEDS, Row
from .store import FIELDS, Shelf, as_row, meant, stored

Group = Literal["person", "training", "finished", "silent", "unreadable", "gone"]
GROUPS: tuple[Group, ...] = get_args(Group)
FRESH = 3 * 86400.0  # seconds after its last row during which a run can need a person now
SORTS = {  # what may be sorted by; nothing else ever reaches the SQL
    "urgency": "urgency",
    "name": "name",
    "last": "last_at",
    "steps": "last_step",
    "verdict": "verdict",
    "outcome": "outcome",
    "p": "p",
    "hours": "hours",
    "left": "gpu_hours_left",
    "framework": "framework",
    "project": "project",
    "level": "level",
}
FILTERS = {  # what may be filtered by, and the column that holds it
    "group": "now_group",
    "need": "now_needs",
    "verdict": "verdict",
    "outcome": "outcome",
    "project": "project",
    "framework": "framework",
    "variant": "variant",
}
BY = ("project", "variant", "seed", "framework", "verdict", "outcome")
MOST = 500  # rows a page

_LESS = ", ".join(f"'{need}'" for need in NEEDS[NEEDS.index("silent") :])  # what silence goes before
_FINISHED = ", ".join(f"'{ending}'" for ending in FINISHED)
NEED = (
    f"CASE WHEN quiet_at < ? AND (need IS NULL OR need IN ({_LESS})) THEN 'silent'"
    " WHEN need IS NOT NULL THEN need WHEN seeds_at IS NOT NULL THEN 'seeds' END"
)
GROUP = (
    "CASE WHEN vanished_at IS NOT NULL THEN 'gone' WHEN state = 'unreadable' THEN 'unreadable'"
    f" WHEN last_at > ? AND {NEED} IS NOT NULL AND (acknowledged IS NULL OR acknowledged <> {NEED})"
    " AND (muted_until IS NULL OR muted_until < ?) THEN 'person'"
    f" WHEN ended IN ({_FINISHED}) THEN 'finished' WHEN ended = 'silent' OR quiet_at < ? THEN 'silent'"
    " ELSE 'training' END"
)
URGENCY = (
    "CASE " + " ".join(f"WHEN now_needs = '{need}' THEN {place}" for place, need in enumerate(NEEDS)) + " ELSE 99 END"
)


SINCE = "CASE now_needs WHEN 'silent' THEN quiet_at WHEN 'seeds' THEN seeds_at ELSE need_at END"
ASKED = f"{FIELDS}, key, now_group, now_needs, handed_to"
RANK = "COALESCE(gpu_hours_left, hours_left, 0) DESC, last_at DESC, name"  # what is at stake goes first
OVER = f"CASE WHEN ended IN ({_FINISHED}) THEN 1 ELSE 0 END"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for part of the table."""

    words: str = ""
    group: str = ""
    need: str = ""
    verdict: str = ""
    outcome: str = ""
    project: str = ""
    framework: str = ""
    variant: str = ""
    sort: str = "urgency"
    down: bool = False
    first: int = 0  # row to begin with
    size: int = 100
    roots: tuple[str, ...] = ()  # only what was scanned below these
    gone: bool = True  # with runs that are not found anymore


@dataclass(frozen=True, slots=True)
class RowNow:
    """A row as the table shows it now."""

    key: str
    row: Row
    group: Group
    need: str | None
    handed_to: str | None


@dataclass(frozen=True, slots=True)
class Together:
    """Rows that belong together, in numbers."""

    name: str
    runs: int
    person: int
    lowest: float | None  # level of the judged series
    mean: float | None
    highest: float | None
    steps: int | None
    verdicts: int  # different ones


TOLD = (
    f"(SELECT {FIELDS}, key, handed_to, now_group, now_needs, {SINCE} AS now_since"
    f" FROM (SELECT runs.*, {GROUP} AS now_group, {NEED} AS now_needs FROM runs) AS needing) AS told"
)


def _rows(shelf: Shelf, what: str, rest: str, values: Sequence[object], now: float, table: str = TOLD) -> list[Any]:
    """Select from all rows with what they need now."""
    return shelf.base.rows(f"SELECT {what} FROM {table} {rest}", (now - FRESH, now, now, now, now, now, *values))


def _where(asked: Asked) -> tuple[str, list[object]]:
    parts: list[str] = ["1 = 1"]
    values: list[object] = []
    for name, column in FILTERS.items():
        if wanted := getattr(asked, name):
            parts.append(f"{column} = ?")
            values.append(stored(wanted))
    if not asked.gone:
        parts.append("now_group <> 'gone'")
    if asked.roots:
        parts.append(f"root IN ({', '.join('?' * len(asked.roots))})")
        values += [stored(root) for root in asked.roots]
    for word in asked.words.split()[:8]:
        like = f"%{stored(word.lower()).replace('!', '!!').replace('%', '!%').replace('_', '!_')}%"
        searched = ("name", "headline", "COALESCE(problem, '')", "COALESCE(framework, '')")
        found = " OR ".join(f"LOWER({column}) LIKE ? ESCAPE '!'" for column in searched)
        parts.append(f"({found})")
        values += [like] * len(searched)
    return " AND ".join(parts), values


def lines(shelf: Shelf, asked: Asked, now: float) -> tuple[list[RowNow], int]:
    """Return one page of the table, and how many rows there are in all."""
    where, values = _where(asked)
    column = SORTS.get(asked.sort, "urgency")
    order = URGENCY if column == "urgency" else column
    way = "DESC" if asked.down else "ASC"
    size = min(max(asked.size, 1), MOST)
    last = f", {OVER}, last_at DESC" if column == "urgency" else ""
    ordered = f"WHERE {where} ORDER BY {order} IS NULL, {order} {way}{last}, name LIMIT ? OFFSET ?"
    found = _rows(shelf, ASKED, ordered, (*values, size, max(asked.first, 0)), now)
    total = _rows(shelf, "COUNT(*)", f"WHERE {where}", values, now)[0][0]
    return [_line(row) for row in found], int(total)


def line_of(shelf: Shelf, key: str, now: float) -> RowNow | None:
    """Return the run of a key."""
    return next(map(_line, _rows(shelf, ASKED, "WHERE key = ?", (key,), now)), None)


def keys_of(shelf: Shelf, need: str, *, over: bool, now: float) -> list[str]:
    """Return the keys of all runs that need attention for this reason."""
    where = f"WHERE now_group = 'person' AND now_needs = ? AND {OVER} = ?"
    return [key for (key,) in _rows(shelf, "key", where, (need, int(over)), now)]


def _line(values: Sequence[object]) -> RowNow:
    *fields, key, group, need, handed = values
    return RowNow(str(key), as_row(fields), group, need, handed and meant(str(handed)))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Needy:
    """Runs that need attention for the same reason: how many, and those with most at stake."""

    need: str
    over: bool  # they have ended, so there is no hurry
    count: int
    lines: tuple[RowNow, ...]


def triage(
    shelf: Shelf, now: float, most: int, since: float | None = None
) -> tuple[dict[Group, int], list[RowNow], int, list[Needy]]:
    """Return how many runs there are in each group; those that came to need attention after `since`, and how many they
    are; and the others by reason, what still runs first. At most `most` of each."""
    reason = f"now_group, now_needs, {OVER}"
    found = _rows(shelf, f"{reason}, COUNT(*)", f"GROUP BY {reason}", (), now)
    groups: dict[Group, int] = dict.fromkeys(GROUPS, 0)
    many: dict[tuple[bool, str], int] = {}
    for group, need, over, count in found:
        groups[group] += int(count)
        if group == "person":
            many[bool(over), need] = int(count)
    new: list[RowNow] = []
    fresh = 0
    if since is not None:
        where = f"WHERE now_group = 'person' AND now_since > ? ORDER BY {URGENCY}, {OVER}, {RANK} LIMIT ?"
        found = _rows(shelf, f"COUNT(*) OVER (), {ASKED}", where, (since, 2 * most), now)
        new = [_line(values) for _, *values in found]
        fresh = int(found[0][0]) if found else 0
    nth = f"ROW_NUMBER() OVER (PARTITION BY now_needs, {OVER} ORDER BY {RANK}) AS nth"
    ranked = f"(SELECT told.*, {nth} FROM {TOLD} WHERE now_group = 'person') AS told"
    told = {line.key for line in new}
    shown: dict[tuple[bool, str], list[RowNow]] = {}
    for line in map(_line, _rows(shelf, ASKED, "WHERE nth <= ? ORDER BY nth", (most + len(new),), now, ranked)):
        of_reason = shown.setdefault((line.row.ended in FINISHED, line.need or ""), [])
        if line.key not in told and len(of_reason) < most:
            of_reason.append(line)
    order = sorted(many, key=lambda one: (one[0], NEEDS.index(one[1])))
    needy = [Needy(need, over, many[over, need], tuple(shown.get((over, need), ()))) for over, need in order]
    return groups, new, fresh, needy


def together(shelf: Shelf, asked: Asked, by: str, now: float) -> list[Together]:
    """Return the wanted rows grouped by a column, with the spread within each group."""
    if by not in BY:
        return []
    where, values = _where(asked)
    found = _rows(
        shelf,
        f"COALESCE({by}, ''), COUNT(*), SUM(CASE WHEN now_group = 'person' THEN 1 ELSE 0 END), MIN(level),"
        " AVG(level), MAX(level), MAX(last_step), COUNT(DISTINCT verdict)",
        f"WHERE {where} GROUP BY COALESCE({by}, '') ORDER BY 3 DESC, 2 DESC, 1 LIMIT ?",
        (*values, MOST),
        now,
    )
    return [Together(meant(name), *rest) for name, *rest in found]


def choices(shelf: Shelf) -> dict[str, list[str]]:
    """Return what can be filtered by, as far as it fits a list."""
    found: dict[str, list[str]] = {"group": list(GROUPS), "need": list(NEEDS)}
    for name in ("verdict", "outcome", "project", "framework"):
        asked = f"SELECT DISTINCT {name} FROM runs WHERE {name} IS NOT NULL ORDER BY {name} LIMIT 200"
        found[name] = [meant(value) for (value,) in shelf.base.rows(asked)]
    return found
