"""How well keys are understood that no table lists: logs of a framework read without its table, and logs that were
carried over into another format, under other separators, or behind a collector. Used by `bench/sources.py`."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tables import Table, share

from leadline.errors import LeadlineError
from leadline.run import Run, Series
from leadline.sources import open_run, read_stream
from leadline.vocabulary import dialect, family_of, framework, guess, names

MODULES = (dialect, framework, guess, names)
# Series whose type has to survive a change of carrier; the reward is counted apart.
TYPED = ("kl/", "entropy", "loss/policy", "loss/value", "len/response_mean", "clip/", "grad_norm", "lr", "mismatch/")
STEPS = 60  # of a log that is carried over
CANNOT_TELL = {"hf-trainer"}  # a base that writes no reward of its own


@contextmanager
def without(family: str) -> Iterator[None]:
    """The vocabulary as if nobody had ever told us of a framework."""
    kept = dialect.HERE
    with tempfile.TemporaryDirectory() as folder:
        for file in kept.glob("*.csv"):
            if file.stem != family:
                shutil.copy(file, folder)
        dialect.HERE = Path(folder)
        _forget()
        try:
            yield
        finally:
            dialect.HERE = kept
            _forget()


def _forget() -> None:
    for module in MODULES:
        for member in vars(module).values():
            if hasattr(member, "cache_clear"):
                member.cache_clear()


@dataclass(frozen=True, slots=True)
class Left:
    """A log read without the table of its framework."""

    name: str
    family: str
    wanted: str  # the key of the reward
    found: str
    same: bool  # the numbers are those of the reward, whatever their key
    claimed: str | None  # the framework it was taken for
    asked: bool

    @property
    def right(self) -> bool:
        return self.found == self.wanted or self.same

    @property
    def wrong_key(self) -> bool:
        return bool(self.found) and not self.right


def read_without(places: Sequence[Path]) -> list[Left]:
    """Every log whose framework is known, read again without that knowledge."""
    known: list[tuple[Path, str, Series]] = []
    for place in places:
        run = _opened(place)
        reward = run.get("reward/mean") if run is not None else None
        if run is not None and reward is not None and run.framework and (family := family_of(run.framework)):
            known.append((place, family, reward))
    outcomes = []
    for family in sorted({family for _, family, _ in known}):
        with without(family):
            for place, own, wanted in known:
                if own == family:
                    outcomes.append(_left(place, family, wanted))
    return outcomes


def _left(place: Path, family: str, wanted: Series) -> Left:
    run = _opened(place)
    reward = run.get("reward/mean") if run is not None else None
    return Left(
        f"{place.parent.name}/{place.name}",
        family,
        wanted.key,
        reward.key if reward is not None else "",
        reward is not None and reward.points == wanted.points and bool((reward.values == wanted.values).all()),
        run.framework if run is not None else None,
        bool(run is not None and run.questions),
    )


def _opened(place: Path) -> Run | None:
    try:
        return open_run(place)
    except LeadlineError:
        return None


def left_out_table(outcomes: Sequence[Left]) -> tuple[Table, list[str]]:
    rows = []
    for family in (*sorted({one.family for one in outcomes}), "all"):
        some = [one for one in outcomes if family in ("all", one.family)]
        rows.append(
            [
                family,
                str(len(some)),
                share(one.right for one in some),
                share(one.asked and not one.found for one in some),
                share(one.wrong_key for one in some),
                share(one.claimed is not None and one.claimed not in CANNOT_TELL for one in some),
            ]
        )
    columns = ["table left out", "logs", "reward right", "asked for", "wrong key", "taken for another framework"]
    table = Table(
        "Frameworks read as if nobody knew them",
        "reward right for at least 85 %, no wrong key, no wrong framework",
        columns,
        rows,
    )
    misses = [
        f"- {one.name} without {one.family}: reward {one.found or ('asked for' if one.asked else 'not found')}, "
        f"wanted {one.wanted}; taken for {one.claimed or 'none'}"
        for one in outcomes
        if not one.right or (one.claimed is not None and one.claimed not in CANNOT_TELL)
    ]
    return table, misses


Rows = list[tuple[int, dict[str, float]]]


def _rows(run: Run) -> Rows:
    """What was logged, a row a step, under the keys it had."""
    steps = sorted({int(step) for series in run.series for step in series.steps})
    held = {
        series.key: dict(zip(series.steps.tolist(), series.values.tolist(), strict=True))
        for series in run.series
        if not series.name.startswith("progress/")
    }
    rows = [(step, {key: values[step] for key, values in held.items() if step in values}) for step in steps]
    return [(step, row) for step, row in rows if row]


def _begun(run: Run) -> Run:
    """The first steps of a run: what a key means does not take more."""
    reward = run.get("reward/mean")
    steps = reward.steps if reward is not None else ()
    return run.until(int(steps[STEPS - 1])) if len(steps) > STEPS else run


def _csv(rows: Rows, rename: Callable[[str], str] = str, step: str = "step") -> bytes:
    keys = list(dict.fromkeys(key for _, row in rows for key in row))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([step, *map(rename, keys)])
    writer.writerows([number, *(row.get(key, "") for key in keys)] for number, row in rows)
    return text.getvalue().encode()


def _json(rows: Rows, rename: Callable[[str], str] = str, step: str = "step") -> bytes:
    lines = [json.dumps({step: number, **{rename(key): value for key, value in row.items()}}) for number, row in rows]
    return "\n".join([*lines, ""]).encode()


def _lines(rows: Rows, prefix: str = "", mark: str = "=", between: str = " ") -> bytes:
    lines = [
        f"{prefix}step {number} | {between.join(f'{key}{mark}{value!r}' for key, value in row.items())}"
        for number, row in rows
    ]
    return "\n".join([*lines, ""]).encode()


def _markdown(rows: Rows) -> bytes:
    keys = list(dict.fromkeys(key for _, row in rows for key in row))
    head = [f"| step | {' | '.join(keys)} |", f"|{'---|' * (len(keys) + 1)}"]
    body = [f"| {number} | {' | '.join(str(row.get(key, '')) for key in keys)} |" for number, row in rows]
    return "\n".join([*head, *body, ""]).encode()


CARRIERS: dict[str, Callable[[Rows], bytes]] = {
    "csv": _csv,
    "csv, slashes to underscores": lambda rows: _csv(rows, lambda key: key.replace("/", "_")),
    "csv, slashes to dots": lambda rows: _csv(rows, lambda key: key.replace("/", ".")),
    "csv, a prefix before every key": lambda rows: _csv(rows, lambda key: f"run7/{key}"),
    "csv, chart export": lambda rows: _csv(rows, lambda key: f"warm-sun-12 - {key}", "Step"),
    "csv, capitals": lambda rows: _csv(rows, str.upper),
    "json lines, grpo_step": lambda rows: _json(rows, step="grpo_step"),
    "json lines, nested": lambda rows: b"".join(
        json.dumps({"iteration": number, "metrics": row}).encode() + b"\n" for number, row in rows
    ),
    "console": _lines,
    "console, colons and commas": lambda rows: _lines(rows, mark=": ", between=", "),
    "console behind docker": lambda rows: _lines(rows, "2025-11-23T14:30:19.245774298Z stdout F "),
    "console behind Ray and a logger": lambda rows: _lines(
        rows, "(TaskRunner pid=12) 2025-11-23 14:30:19,231 - trainer - INFO - "
    ),
    "console behind journald": lambda rows: _lines(rows, "Nov 23 14:30:19 node7 python[812]: "),
    "console behind kubectl": lambda rows: _lines(rows, "[pod/train-0/main] [rank0]: "),
    "markdown table": _markdown,
}


@dataclass(frozen=True, slots=True)
class Carried:
    """A log after a change of carrier."""

    carrier: str
    name: str
    reward: bool  # read from the same key, with the same values
    kept: int  # series whose meaning survived
    typed: int  # series that had one
    wrong_framework: str | None


def carry(places: Sequence[Path]) -> list[Carried]:
    outcomes = []
    for place in places:
        run = _opened(place)
        if run is None or run.get("reward/mean") is None:
            continue
        run = _begun(run)
        rows = _rows(run)
        for carrier, write in CARRIERS.items():
            outcomes.append(_carried(carrier, place.name, run, write(rows)))
    return outcomes


def _carried(carrier: str, name: str, run: Run, data: bytes) -> Carried:
    wanted = {series.name: series for series in run.series if series.name.startswith(TYPED) and "@" not in series.name}
    wanted = {name: series for name, series in wanted.items() if "_count" not in name}
    try:
        again = read_stream(data)
    except LeadlineError:
        return Carried(carrier, name, False, 0, len(wanted), None)
    before, after = run.get("reward/mean"), again.get("reward/mean")
    same = before is not None and after is not None and before.points == after.points
    claimed = again.framework if again.framework != run.framework else None
    related = claimed and run.framework and family_of(claimed) == family_of(run.framework)
    return Carried(
        carrier,
        name,
        bool(same and after is not None and before is not None and (after.values == before.values).all()),
        sum(again.get(name) is not None for name in wanted),
        len(wanted),
        None if related else claimed,
    )


def carried_table(outcomes: Sequence[Carried]) -> tuple[Table, list[str]]:
    rows = []
    for carrier in (*CARRIERS, "all"):
        some = [one for one in outcomes if carrier in ("all", one.carrier)]
        kept, typed = sum(one.kept for one in some), sum(one.typed for one in some)
        rows.append(
            [
                carrier,
                str(len(some)),
                share(one.reward for one in some),
                f"{kept / max(typed, 1):.3f} ({kept}/{typed})",
                share(one.wrong_framework for one in some),
            ]
        )
    columns = ["carried over into", "logs", "same reward", "meanings kept", "wrong framework"]
    table = Table("Known logs in other carriers", "the same reward everywhere, no wrong framework", columns, rows)
    misses = [
        f"- {one.name} as {one.carrier}: {'reward lost' if not one.reward else ''}"
        f"{' taken for ' + one.wrong_framework if one.wrong_framework else ''}"
        for one in outcomes
        if not one.reward or one.wrong_framework
    ]
    return table, misses
