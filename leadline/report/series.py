"""Series in bins as a table, and a reader's check beside the run's own score."""

from __future__ import annotations

from collections.abc import Sequence

from ..digits import span
from ..review.bins import Binned, binned
from ..review.check import Checked
from ..run import Series
from ..words import review as words
from .data import plain
from .lines import aligned
from .plain import line, name

SHOWN = 300  # characters of an error


def table(told: Binned) -> str:
    """Return one row a bin, one column a series; ends with a newline."""
    rows = [["steps", *map(name, told.names)]]
    for steps, *means in zip(told.spans, *told.means, strict=True):
        rows.append([span(*steps), *map(words.value, means)])
    return "".join(f"{row.plain}\n" for row in aligned(rows))


def as_data(told: Binned) -> dict[str, object]:
    return {
        "steps": [list(span) for span in told.spans],
        "means": {one: [plain(mean) for mean in means] for one, means in zip(told.names, told.means, strict=True)},
    }


def listing(series: Sequence[Series]) -> list[str]:
    """Return a line a series."""
    return [
        words.listed_series(name(one.name), name(one.key), one.points, float(one.values[0]), float(one.values[-1]))
        for one in series
        if one.points
    ]


def listing_data(series: Sequence[Series]) -> list[dict[str, object]]:
    return [
        {
            "name": one.name,
            "key": one.key,
            "points": one.points,
            "first": plain(float(one.values[0])),
            "last": plain(float(one.values[-1])),
        }
        for one in series
        if one.points
    ]


def check_bins(found: Checked, bins: int) -> Binned:
    return binned([one for one in (found.check, found.score) if one is not None], bins)


def check_lines(found: Checked, rule: str, bins: int) -> list[str]:
    """Return what the check found: how it was made, both directions, and a table."""
    told = check_bins(found, bins)
    lines = [f"{found.check.name}  {words.checked(rule, found.samples, found.check.points)}"]
    both = ((found.check, found.check_now), (found.score, found.score_now))
    for (series, now), means in zip(both, told.means, strict=False):  # without scores there are no means of them
        if series is not None and now is not None:
            lines.append(f"{series.name}  {words.direction(now.word, now.p, means[0], means[-1])}")
    if found.failed:
        lines.append(words.failed(found.failed, line(found.error, SHOWN)))
    return [*lines, *table(told).splitlines()]


def check_data(found: Checked, bins: int) -> dict[str, object]:
    told = check_bins(found, bins)
    now = {"check": found.check_now, **({"score": found.score_now} if found.score_now is not None else {})}
    return {
        "samples": found.samples,
        "failed": found.failed,
        "error": line(found.error, SHOWN),
        "direction": {one: {"word": way.word, "p": round(way.p, 2)} for one, way in now.items()},
        **as_data(told),
    }
