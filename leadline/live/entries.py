"""Orders for each watched run: from the command line for all, or from the [watch] table of a leadline.toml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import BadOrder
from ..records import dataclass
from ..sources import Joining
from ..sources.settings import toml

THEN = ("sigkill", "sigterm")
# What a key takes: a text, a list of texts, true or false, or a number of at least so much.
RUN_KEYS: dict[str, type | float] = {
    "path": str, "act": str, "dry_run": bool, "then": str, "after": 1.0, "tell": list,
    "budget": 1.0, "price": 0.0,
}  # fmt: skip
WATCH_KEYS: dict[str, type | float] = {"tell": list, "state": str, "every": 0.1, "metrics": str, "answer": str}


@dataclass(frozen=True, slots=True)
class WatchEntry:
    """One path, and what is wanted of the runs there."""

    path: str
    act: str | None = None  # the order, as --act takes it
    dry_run: bool = True
    then: str | None = None
    after: float = 300.0
    tell: tuple[str, ...] = ()
    budget: int | None = None
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """The user's options. `by_table`: each entry was written for its path alone."""

    entries: tuple[WatchEntry, ...]
    by_table: bool = False
    state: Path | None = None
    headless: bool = False
    every: float | None = None
    share: float | None = None  # of one core, for following and checks; None: the usual ones
    mapping: Mapping[str, str] | None = None
    joining: Joining = "by evidence"
    answer: Path | None = None
    heartbeat: Path | None = None
    metrics: str | None = None
    color: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(entry.path for entry in self.entries)


def load(file: Path) -> Options:
    """Return the [watch] table of a file. Raises BadOrder with what is wrong and where."""
    try:
        table = toml(file.read_text(encoding="utf-8")).get("watch")
    except (ValueError, OSError) as error:
        raise _bad(file, f"it could not be read: {error}", "correct it") from error
    if not isinstance(table, dict):
        raise _bad(file, "it has no [watch] table", "begin with [watch], then [[watch.run]] for each path")
    runs = table.pop("run", None)
    watch = _values(file, table, WATCH_KEYS, "[watch]")
    if not isinstance(runs, list) or not runs:
        raise _bad(file, "it names no run", 'add [[watch.run]], then path = "..."')
    entries = tuple(_entry(file, run, number, watch.get("tell", [])) for number, run in enumerate(runs, 1))
    _refuse_twice(file, entries)
    state, answer = (
        file.absolute().parent / Path(watch[name]).expanduser() if name in watch else None
        for name in ("state", "answer")
    )
    every, metrics = watch.get("every"), watch.get("metrics")
    return Options(entries, by_table=True, state=state, every=every, answer=answer, metrics=metrics)


def _entry(file: Path, run: object, number: int, tell: list[str]) -> WatchEntry:
    if not isinstance(run, dict):
        raise _bad(file, f"run {number} is not a table", "write [[watch.run]]")
    given = _values(file, run, RUN_KEYS, f"run {number}")
    path, then = given.get("path"), given.get("then")
    if not path:
        raise _bad(file, f"run {number} has no path", 'add path = "..."')
    if "dry_run" in given and "act" not in given:
        raise _bad(file, f"dry_run of {path} is set, without an action", 'add act = "sigterm:PID" or the like')
    if then is not None and then not in THEN:
        raise _bad(file, f"`then` of {path} is {then!r}", f"write one of {', '.join(THEN)}")
    return WatchEntry(
        path if "://" in path else str(file.absolute().parent / path),
        given.get("act"),
        given.get("dry_run", True),
        then,
        given.get("after", 300.0),
        tuple(given.get("tell") or tell),
        None if "budget" not in given else int(given["budget"]),
        given.get("price"),
    )


def _refuse_twice(file: Path, entries: tuple[WatchEntry, ...]) -> None:
    """Raise BadOrder if a path, process, job or file is named for several runs."""
    seen: set[tuple[str, str]] = set()
    for what, name in [("path", entry.path) for entry in entries] + [
        ("order", entry.act) for entry in entries if entry.act not in (None, "stop")
    ]:
        kind, _, rest = name.partition(":")
        target = rest.partition(":")[0] if kind.startswith("sig") or kind == "slurm" else name
        if (what, target) in seen:
            raise _bad(file, f"the {what} {name} is named for several runs", f"give each run its own {what}")
        seen.add((what, target))


def _values(file: Path, table: Mapping[str, object], keys: Mapping[str, type | float], where: str) -> dict[str, Any]:
    """Return the values of a table, each checked. A misspelled key must not be ignored: it may be a restriction."""
    if strange := sorted(table.keys() - keys.keys()):
        raise _bad(file, f"{where} has the key {strange[0]!r}", f"use {', '.join(keys)}")
    for key, value in table.items():
        wanted = keys[key]
        if isinstance(wanted, float):
            fine = isinstance(value, int | float) and not isinstance(value, bool) and value >= wanted
            form = f"write a number of at least {wanted:g}"
        else:
            fine = isinstance(value, wanted) and (wanted is not list or all(isinstance(one, str) for one in value))  # type: ignore[attr-defined]
            form = f"write {key} = {'true or false' if wanted is bool else '...' if wanted is str else ['...', '...']}"
        if not fine:
            raise _bad(file, f"{key} = {value!r} is not valid", form)
    return dict(table)


def _bad(file: Path, what: str, next_step: str) -> BadOrder:
    return BadOrder(f"Can't use {file}: {what}.", next_step=next_step)
