"""What is wanted of each run that is watched: from the command line for all of them, or from a table in a
leadline.toml, one entry a path."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadOrder
from ..sources import Joining

POLICIES = ("tell", "ask", "act")
THEN = ("sigkill", "sigterm")
RUN_KEYS = ("path", "act", "policy", "then", "after", "tell", "budget", "price", "price_per_hour")
WATCH_KEYS = ("run", "tell", "state", "every", "metrics", "answer")


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
    price_per_hour: float | None = None  # of the machines it trains on, in whatever money


@dataclass(frozen=True, slots=True)
class Wanted:
    """A whole table."""

    entries: tuple[WatchEntry, ...]
    state: Path | None = None
    every: float | None = None
    metrics: str | None = None
    answer: Path | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for. `by_table`: each entry was written for its path alone."""

    entries: tuple[WatchEntry, ...]
    by_table: bool = False
    state: Path | None = None
    headless: bool = False
    every: float | None = None
    mapping: Mapping[str, str] | None = None
    joining: Joining = "by evidence"
    answer: Path | None = None
    heartbeat: Path | None = None
    metrics: str | None = None
    record: bool = False
    color: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(entry.path for entry in self.entries)


def load(file: Path) -> Wanted:
    """The [watch] table of a file. Raises BadOrder, with what is wrong and where."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = toml.loads(file.read_text(encoding="utf-8")).get("watch")
    except (ValueError, OSError) as error:
        raise _bad(file, f"it could not be read: {error}", "mend it") from error
    if not isinstance(table, dict):
        raise _bad(file, "it has no [watch] table", "begin with [watch], then [[watch.run]] for each path")
    _known(file, table, WATCH_KEYS, "[watch]")
    runs = table.get("run")
    if not isinstance(runs, list) or not runs:
        raise _bad(file, "it names no run", 'add [[watch.run]], then path = "..."')
    tell = _texts(file, table, "tell")
    entries = tuple(_entry(file, run, number, tell) for number, run in enumerate(runs, 1))
    _refuse_twice(file, entries)
    return Wanted(
        entries,
        _path(file, table, "state"),
        _number(file, table, "every", least=0.1),
        _text(file, table, "metrics"),
        _path(file, table, "answer"),
    )


def _entry(file: Path, run: object, number: int, tell: tuple[str, ...]) -> WatchEntry:
    if not isinstance(run, dict):
        raise _bad(file, f"run {number} is no table", "write [[watch.run]]")
    _known(file, run, RUN_KEYS, f"run {number}")
    path = _text(file, run, "path")
    if not path:
        raise _bad(file, f"run {number} has no path", 'add path = "..."')
    policy, act = _text(file, run, "policy") or "tell", _text(file, run, "act")
    if policy not in POLICIES:
        raise _bad(file, f"the policy of {path} is {policy!r}", f"write one of {', '.join(POLICIES)}")
    if policy != "tell" and act is None:
        raise _bad(file, f"{path} is to be acted on, and nothing says how", 'add act = "sigterm:PID" or the like')
    then = _text(file, run, "then")
    if then is not None and then not in THEN:
        raise _bad(file, f"`then` of {path} is {then!r}", f"write one of {', '.join(THEN)}")
    steps = _number(file, run, "budget", least=1)
    return WatchEntry(
        path if "://" in path else str(file.absolute().parent / path),
        act if policy != "tell" else None,
        policy != "act",
        then,
        _number(file, run, "after", least=1) or 300.0,
        _texts(file, run, "tell") or tell,
        None if steps is None else int(steps),
        _number(file, run, "price", least=0),
        _number(file, run, "price_per_hour", least=0),
    )


def _refuse_twice(file: Path, entries: tuple[WatchEntry, ...]) -> None:
    """A process, a job or a file belongs to one run."""
    seen: set[tuple[str, str]] = set()
    for what, name in [("path", entry.path) for entry in entries] + [
        ("order", entry.act) for entry in entries if entry.act not in (None, "stop")
    ]:
        kind, _, rest = name.partition(":")
        target = rest.partition(":")[0] if kind.startswith("sig") or kind == "slurm" else name
        if (what, target) in seen:
            raise _bad(file, f"the {what} {name} is named for several runs", f"give each run its own {what}")
        seen.add((what, target))


def _known(file: Path, table: Mapping[str, object], keys: tuple[str, ...], where: str) -> None:
    """A word that is misspelt must not be passed over: it may be the one that holds it back."""
    strange = sorted(table.keys() - set(keys))
    if strange:
        raise _bad(file, f"{where} has the key {strange[0]!r}", f"use {', '.join(keys)}")


def _text(file: Path, table: Mapping[str, object], key: str) -> str | None:
    value = table.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _bad(file, f"{key} = {value!r} is no text", f'write {key} = "..."')


def _path(file: Path, table: Mapping[str, object], key: str) -> Path | None:
    text = _text(file, table, key)
    return None if text is None else file.absolute().parent / Path(text).expanduser()


def _texts(file: Path, table: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise _bad(file, f"{key} = {value!r} is no list of texts", f'write {key} = ["...", "..."]')


def _number(file: Path, table: Mapping[str, object], key: str, *, least: float) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= least:
        return float(value)
    raise _bad(file, f"{key} = {value!r}", f"write a number of at least {least:g}")


def _bad(file: Path, what: str, next_step: str) -> BadOrder:
    return BadOrder(f"{file} cannot be followed: {what}.", tried="to read its [watch] table", next_step=next_step)
