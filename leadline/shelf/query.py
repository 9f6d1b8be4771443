"""The table as the dashboard asks for it: triage, search, filters, order and groups, all worked out by the database.

Whether a run needs attention depends on the time of asking: rows are not written again because time goes by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

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
    page: int = 0
    size: int = 100
    first: int | None = None  # row to begin with, instead of a page
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


def _all(now: float) -> tuple[str, list[object]]:
    """Return a table of all rows with what they need now, and its values."""
    rows = f"SELECT runs.*, {GROUP} AS now_group, {NEED} AS now_needs FROM runs"
    table = f"(SELECT {FIELDS}, key, handed_to, now_group, now_needs, {SINCE} AS now_since"
    return f"{table} FROM ({rows}) AS needing) AS told", [now - FRESH, now, now, now, now, now]


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
        searched = ("name", "why", "headline", "COALESCE(framework, '')")
        found = " OR ".join(f"LOWER({column}) LIKE ? ESCAPE '!'" for column in searched)
        parts.append(f"({found})")
        values += [like] * len(searched)
    return " AND ".join(parts), values


def lines(shelf: Shelf, asked: Asked, now: float) -> tuple[list[RowNow], int]:
    """Return one page of the table, and how many rows there are in all."""
    table, first = _all(now)
    where, values = _where(asked)
    column = SORTS.get(asked.sort, "urgency")
    order = URGENCY if column == "urgency" else column
    way = "DESC" if asked.down else "ASC"
    size = min(max(asked.size, 1), MOST)
    last = f", {OVER}, last_at DESC" if column == "urgency" else ""
    found = shelf.base.rows(
        f"SELECT {ASKED} FROM {table} WHERE {where}"
        f" ORDER BY {order} IS NULL, {order} {way}{last}, name LIMIT ? OFFSET ?",
        (*first, *values, size, max(asked.page, 0) * size if asked.first is None else asked.first),
    )
    total = shelf.base.rows(f"SELECT COUNT(*) FROM {table} WHERE {where}", (*first, *values))[0][0]
    return [_line(row) for row in found], int(total)


def line_of(shelf: Shelf, key: str, now: float) -> RowNow | None:
    """Return the run of a key."""
    table, first = _all(now)
    return next(map(_line, shelf.base.rows(f"SELECT {ASKED} FROM {table} WHERE key = ?", (*first, key))), None)


def keys_of(shelf: Shelf, need: str, *, over: bool, now: float) -> list[str]:
    """Return the keys of all runs that need attention for this reason."""
    table, first = _all(now)
    found = shelf.base.rows(
        f"SELECT key FROM {table} WHERE now_group = 'person' AND now_needs = ? AND {OVER} = ?",
        (*first, need, int(over)),
    )
    return [key for (key,) in found]


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
    table, first = _all(now)
    found = shelf.base.rows(
        f"SELECT now_group, now_needs, {OVER}, COUNT(*) FROM {table} GROUP BY now_group, now_needs, {OVER}", first
    )
    groups: dict[Group, int] = dict.fromkeys(GROUPS, 0)
    many: dict[tuple[bool, str], int] = {}
    for group, need, over, count in found:
        groups[group] += int(count)
        if group == "person":
            many[bool(over), need] = int(count)
    new: list[RowNow] = []
    fresh = 0
    if since is not None:
        found = shelf.base.rows(
            f"SELECT COUNT(*) OVER (), {ASKED} FROM {table} WHERE now_group = 'person' AND now_since > ?"
            f" ORDER BY {URGENCY}, {OVER}, {RANK} LIMIT ?",
            (*first, since, 2 * most),
        )
        new = [_line(values) for _, *values in found]
        fresh = int(found[0][0]) if found else 0
    ranked = (
        f"SELECT {ASKED}, ROW_NUMBER() OVER (PARTITION BY now_needs, {OVER} ORDER BY {RANK}) AS nth FROM {table}"
        " WHERE now_group = 'person'"
    )
    told = {line.key for line in new}
    shown: dict[tuple[bool, str], list[RowNow]] = {}
    for *values, _ in shelf.base.rows(
        f"SELECT * FROM ({ranked}) AS ranked WHERE nth <= ? ORDER BY nth", (*first, most + len(new))
    ):
        line = _line(values)
        of_reason = shown.setdefault((line.row.ended in FINISHED, line.need or ""), [])
        if line.key not in told and len(of_reason) < most:
            of_reason.append(line)
    order = sorted(many, key=lambda reason: (reason[0], NEEDS.index(reason[1])))
    needy = [Needy(need, over, many[over, need], tuple(shown.get((over, need), ()))) for over, need in order]
    return groups, new, fresh, needy


def together(shelf: Shelf, asked: Asked, by: str, now: float) -> list[Together]:
    """Return the wanted rows grouped by a column, with the spread within each group."""
    if by not in BY:
        return []
    table, first = _all(now)
    where, values = _where(asked)
    found = shelf.base.rows(
        f"SELECT COALESCE({by}, ''), COUNT(*), SUM(CASE WHEN now_group = 'person' THEN 1 ELSE 0 END), MIN(level),"
        f" AVG(level), MAX(level), MAX(last_step), COUNT(DISTINCT verdict) FROM {table} WHERE {where}"
        f" GROUP BY COALESCE({by}, '') ORDER BY 3 DESC, 2 DESC, 1 LIMIT ?",
        (*first, *values, MOST),
    )
    return [Together(meant(name), *map(_number, rest)) for name, *rest in found]  # type: ignore[arg-type]


def _number(value: object) -> object:
    return int(value) if isinstance(value, int) else value


def choices(shelf: Shelf) -> dict[str, list[str]]:
    """Return what can be filtered by, as far as it fits a list."""
    found: dict[str, list[str]] = {"group": list(GROUPS), "need": list(NEEDS)}
    for name in ("verdict", "outcome", "project", "framework"):
        asked = f"SELECT DISTINCT {name} FROM runs WHERE {name} IS NOT NULL ORDER BY {name} LIMIT 200"
        found[name] = [meant(value) for (value,) in shelf.base.rows(asked)]
    return found
