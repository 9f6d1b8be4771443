"""A trial on logs nobody here has seen, of which one has said beforehand what is in them: `sources.py --trial DIR`.

How to make one. Collect logs from repositories that are in none of the other sets. Before any of them is opened with
Leadline, read each file and write a row of DIR/INDEX.csv:

    run_id             a name of your own
    repo               owner/name: figures are weighted by it
    stored_at          the file, from DIR
    framework          as a person would call it; `none` for a loop of their own
    reward_key         as the log writes it. `a;b`: either is right. `ask:a;b`: nobody could tell, so asking for it is
                       right and so is either. Empty: there is no reward in it, and none may be read
    n_logged_steps     rows with a reward
    n_duplicate_steps  of them, rows whose step had been written before
    first_step, last_step   of the rows with a reward, where the log names steps; empty where it does not
    planned_steps      where the log says it

Then run it once and keep the figure: from the second time on, the set is known.
"""

from __future__ import annotations

import csv
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tables import Table, share

from leadline.errors import LeadlineError
from leadline.run import Run
from leadline.sources import open_run
from leadline.vocabulary.names import words

TARGET = 0.85
MISCOUNTED = 1  # rows by which somebody who counts lines may be off
NAMES = {"stable-baselines3": ("sb3", "monitor"), "trl-custom": ("trl",), "deepspeed-chat": ("deepspeed",)}


@dataclass(frozen=True, slots=True)
class Label:
    """What a person read in the log before Leadline saw it."""

    run: str
    repository: str
    place: Path
    framework: str
    keys: tuple[str, ...]
    may_ask: bool
    rows: int
    repeats: int
    first: int | None
    last: int | None
    planned: int | None

    @classmethod
    def of(cls, row: dict[str, str], folder: Path) -> Label:
        def number(name: str) -> int | None:
            return int(row[name]) if row.get(name) else None

        keys = row["reward_key"].removeprefix("ask:")
        return cls(
            row["run_id"],
            row["repo"],
            folder / row["stored_at"],
            row["framework"].lower(),
            tuple(key for key in keys.split(";") if key),
            row["reward_key"].startswith("ask:"),
            number("n_logged_steps") or 0,
            number("n_duplicate_steps") or 0,
            number("first_step"),
            number("last_step"),
            number("planned_steps"),
        )


@dataclass(frozen=True, slots=True)
class Tried:
    """What Leadline made of it; every judgement is a list of what is wrong, empty when nothing is."""

    label: Label
    run: Run | None
    refusal: str = ""

    @property
    def key(self) -> str:
        series = self.run and (self.run.get("reward/mean") or self.run.get("eval/reward/mean"))
        return series.key if series else ""

    @property
    def framework_wrong(self) -> bool:
        named = (self.run.framework or "none") if self.run else "none"
        label = self.label.framework
        return named != "none" and not named.startswith(NAMES.get(label, (label,)))

    @property
    def key_right(self) -> bool:
        if not self.label.keys:
            return not self.key
        if not self.key:
            return self.label.may_ask
        return any(words(self.key) == words(key) for key in self.label.keys)

    @property
    def key_wrong(self) -> bool:
        """Something else is taken for the reward, which is worse than none."""
        return bool(self.key) and not self.key_right

    @property
    def asked(self) -> bool:
        keys = [key for question in self.run.questions for key in question.keys] if self.run else []
        return not self.key and any(words(key) == words(right) for key in keys for right in self.label.keys)

    @property
    def axis_wrong(self) -> str:
        series = self.run and (self.run.get("reward/mean") or self.run.get("eval/reward/mean"))
        if not series or not self.label.keys:
            return ""
        label = self.label
        counts = (label.rows, label.rows - label.repeats)
        wrong = []
        if all(abs(found - count) > MISCOUNTED for found in (series.points, series.rows) for count in counts):
            wrong.append(f"{series.points} points of {series.rows} rows, listed {label.rows}")
        ends = (int(series.steps[0]), int(series.steps[-1]))
        for found, listed in zip(ends, (label.first, label.last), strict=True):
            if listed is not None and found != listed:
                wrong.append(f"steps {ends[0]} to {ends[1]}, listed {label.first} to {label.last}")
                break
        return "; ".join(wrong)

    @property
    def plan_wrong(self) -> str:
        planned = self.run.config.planned_steps if self.run else None
        if self.label.planned is None or not self.label.keys or planned == self.label.planned:
            return ""
        return f"planned {planned}, listed {self.label.planned}"

    @property
    def right(self) -> bool:
        return not self.framework_wrong and self.key_right and not self.axis_wrong and "TRACEBACK" not in self.refusal

    def told(self) -> str:
        wrong = []
        if self.framework_wrong and self.run:
            wrong.append(f"framework {self.run.framework}, listed as {self.label.framework}")
        if not self.key_right:
            wanted = " or ".join(self.label.keys) or "none"
            wrong.append(f"reward read from {self.key or 'no key'}{' (asked for)' if self.asked else ''}, is {wanted}")
        return "; ".join([*wrong, *filter(None, (self.axis_wrong, self.plan_wrong, self.refusal))])


def attempt(label: Label) -> Tried:
    try:
        return Tried(label, open_run(label.place))
    except LeadlineError as error:
        return Tried(label, None, error.what)
    except Exception:
        return Tried(label, None, f"TRACEBACK {traceback.format_exc().splitlines()[-1]}")


def labels_in(folder: Path) -> list[Label]:
    with (folder / "INDEX.csv").open(newline="") as file:
        return [Label.of(row, folder) for row in csv.DictReader(file)]


def table_of(tries: Sequence[Tried]) -> tuple[Table, list[str]]:
    by_repository: dict[str, list[Tried]] = {}
    for tried in tries:
        by_repository.setdefault(tried.label.repository, []).append(tried)
    rows = [_row(name, some) for name, some in sorted(by_repository.items())]
    rows.append(_row("all", tries))
    whole = [all(tried.right for tried in some) for some in by_repository.values()]
    plans = [not tried.plan_wrong for tried in tries if tried.label.planned is not None and tried.label.keys]
    note = (
        f"Repositories with every log right: {share(whole)}. Planned length read: {share(plans)}. "
        f"Wrong frameworks: {sum(tried.framework_wrong for tried in tries)}. "
        f"Wrong keys taken for the reward: {sum(tried.key_wrong for tried in tries)}. "
        f"Rewards asked for instead of read: {sum(tried.asked for tried in tries)}."
    )
    missed = [f"- {tried.label.run}: {tried.told()}" for tried in tries if not tried.right or tried.plan_wrong]
    columns = ["repository", "logs", "framework", "reward key", "steps and points", "all three"]
    title = "A trial on logs labelled before they were read"
    return Table(title, f"all three right for at least {TARGET:.0%} of the logs", columns, rows, note), missed


def _row(name: str, some: Sequence[Tried]) -> list[str]:
    return [
        name,
        str(len(some)),
        share(not tried.framework_wrong for tried in some),
        share(tried.key_right for tried in some),
        share(tried.key_right and not tried.axis_wrong for tried in some),
        share(tried.right for tried in some),
    ]


def trial(folder: Path) -> bool:
    """Print the trial; whether its target was met."""
    tries = [attempt(label) for label in labels_in(folder)]
    table, missed = table_of(tries)
    print(table.text())
    print("\n".join(["### Misses, one by one", "", *(missed or ["none"]), ""]))
    return sum(tried.right for tried in tries) >= TARGET * len(tries)
