"""Files about several runs, which are logs of none: an index, a sweep's results, what a launcher printed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from .carrier import Carrier
from .same_run import Logs
from .text import head_of

SHORTEST = 3  # letters of a name that is looked for
TWICE = 2  # rows for each run, at most, where nothing else tells


def without_index_files(groups: Sequence[Logs]) -> tuple[list[Logs], list[Carrier]]:
    """The runs, and the files that only tell about them."""
    lone = [held for held in groups if len(held.carriers) == 1]
    index = [held for held in lone if _is_index(held.carriers[0], [other for other in groups if other is not held])]
    return [held for held in groups if held not in index], [held.carriers[0] for held in index]


def _is_index(carrier: Carrier, others: Sequence[Logs]) -> bool:
    """Whether a file is a list of the runs beside and below it, or what their launcher said of them: it names several,
    or lies above one with hardly more rows than there are runs, or names no step and does so beside several."""
    if carrier.path.is_dir() or carrier.log.run_id is not None:
        return False
    folder = carrier.path.parent
    near = [held.carriers[0] for held in others if folder in held.carriers[0].path.parents]
    below = [other for other in near if other.path.parent != folder]
    names = {name for other in near for name in _called(other, folder)}
    return lists_runs(carrier, names, near=len(near), below=bool(below))


def lists_runs(carrier: Carrier, names: Collection[str], *, near: int, below: bool) -> bool:
    """Whether a file is about runs of these names: so many are `near`, and some lie `below` it."""
    counts = carrier.log.counts_rows
    few = len(carrier.log.table) <= TWICE * near
    if few and (below or (counts and near > 1)):
        return True
    return bool(near) and _named_in(carrier.path, names) >= (min(2, near) if counts else 2)


def _called(carrier: Carrier, folder: Path) -> set[str]:
    """What somebody who writes in `folder` would call a log: the folders on its way, or the file itself."""
    way = carrier.path.relative_to(folder).parts
    names = way[:-1] or (carrier.path.name, carrier.path.stem)
    return {name for name in names if len(name) >= SHORTEST}


def _named_in(file: Path, names: Collection[str]) -> int:
    """How many of the names stand in the beginning of a file, as words of their own."""
    try:
        text = head_of(file).decode(errors="replace")
    except OSError:
        return 0
    return sum(
        name in text and re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text) is not None
        for name in names
    )
