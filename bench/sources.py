"""How much of what lies on public disks is read right: `python bench/sources.py [--runs DIR] [--zoo DIR]`.

First table: of the runs in INDEX.csv, the share whose framework, reward series and number of points come out as the
index says, without any `--map`. Second table: every single file there is opened, and none may end in a traceback.
Where the folders are not on this machine, it says so and ends with 0.
"""

from __future__ import annotations

import argparse
import csv
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from tables import Table, share

from leadline.errors import LeadlineError
from leadline.sources import open_run

ROOT = Path(__file__).resolve().parent.parent
TARGET = 0.95
NOT_TO_BE_READ = "truth.json"  # the outcome of a zoo run: no reader may open it

# What the index calls a framework, and what we may call it. Home-made loops have no framework to be named:
# a dialect of a framework would be a wrong claim, a guess of a dialect that is labelled so is none.
ACCEPTED = {
    "TRL": ("trl",),
    "Unsloth/TRL": ("trl", "unsloth"),
    "TRL-custom": ("trl", "generic", "custom", "none"),
    "tinker": ("tinker",),
    "verl": ("verl",),
    "custom": ("generic", "custom", "none"),
}
# Keys of the index that are not in the file under that name, because the index computed them from what is.
COMPUTED = {"reward_mean_of_list": "reward"}


@dataclass(frozen=True, slots=True)
class Listed:
    """One row of INDEX.csv: what somebody who looked at the files says is in them."""

    run: str
    repository: str
    place: Path
    framework: str
    reward_key: str
    rows: int  # with a reward, as written
    repeats: int  # of them, rows whose step had been written before

    @classmethod
    def of(cls, row: dict[str, str], runs: Path) -> Listed:
        owner = row["repo"].split("/")[0]
        folder = runs / row["repo"].replace("/", "__") / row["run_id"].removeprefix(f"{owner}__")
        return cls(
            row["run_id"],
            row["repo"],
            folder,
            row["framework"],
            row["reward_key"],
            int(row["n_logged_steps"]),
            int(row["n_duplicate_steps"] or 0),
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out, and which of the three things are right."""

    listed: Listed
    framework: str
    reward_key: str
    points: int
    rows: int = 0
    failure: str = ""

    @property
    def framework_right(self) -> bool:
        return any(self.framework.startswith(name) for name in ACCEPTED[self.listed.framework])

    @property
    def reward_right(self) -> bool:
        wanted = self.listed.reward_key
        if wanted in COMPUTED:
            return COMPUTED[wanted] in self.reward_key
        return self.reward_key == wanted

    @property
    def rows_as_listed(self) -> bool:
        return self.rows == self.listed.rows

    @property
    def points_right(self) -> bool:
        """As many as rows were written, or as many as distinct steps: a step has one value, whether it was trained
        again (the last stands) or logged in parts (their mean does)."""
        return self.points in (self.listed.rows, self.listed.rows - self.listed.repeats)

    @property
    def right(self) -> bool:
        return not self.failure and self.framework_right and self.reward_right and self.points_right

    def told(self) -> str:
        if self.failure:
            return self.failure
        wrong = []
        if not self.framework_right:
            wrong.append(f"framework {self.framework}, listed as {self.listed.framework}")
        if not self.reward_right:
            wrong.append(f"reward read from {self.reward_key or 'no key'}, listed as {self.listed.reward_key}")
        if not self.points_right:
            repeats = f" of which {self.listed.repeats} repeat a step" if self.listed.repeats else ""
            wrong.append(f"{self.points} points, listed {self.listed.rows}{repeats}")
        return "; ".join(wrong)


def look(listed: Listed) -> Outcome:
    """What `leadline read FOLDER` would make of the run's files."""
    try:
        run = open_run(listed.place)
    except LeadlineError as error:
        return Outcome(listed, "none", "", 0, failure=error.what)
    except Exception:
        return Outcome(listed, "none", "", 0, failure=f"TRACEBACK {traceback.format_exc().splitlines()[-1]}")
    reward = run.get("reward/mean")
    return Outcome(
        listed,
        run.framework or "none",
        reward.key if reward is not None else "",
        reward.points if reward is not None else 0,
        reward.rows if reward is not None else 0,
    )


def table_of(outcomes: Sequence[Outcome]) -> Table:
    by_repository: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_repository.setdefault(outcome.listed.repository, []).append(outcome)
    rows = [_row(name, some) for name, some in sorted(by_repository.items())]
    each = [share(outcome.right for outcome in some) for some in by_repository.values()]
    weighted = sum(float(figure.split()[0]) for figure in each) / max(len(each), 1)
    rows.append(_row("all runs", outcomes))
    note = (
        f"Repositories weighted alike: {weighted:.3f}. "
        "Points are right when they equal the rows listed, or the distinct steps among them; the last column compares "
        "the rows themselves, which are counted beside the points."
    )
    return Table(
        "Public logs, read without --map",
        f"all three right for at least {TARGET:.0%} of the runs",
        ["repository", "runs", "framework", "reward series", "points", "all three", "rows = rows listed"],
        rows,
        note,
    )


def _row(name: str, some: Sequence[Outcome]) -> list[str]:
    return [
        name,
        str(len(some)),
        share(one.framework_right and not one.failure for one in some),
        share(one.reward_right and not one.failure for one in some),
        share(one.points_right and not one.failure for one in some),
        share(one.right for one in some),
        share(one.rows_as_listed and not one.failure for one in some),
    ]


def misses(outcomes: Sequence[Outcome]) -> str:
    missed = [f"- {one.listed.run}: {one.told()}" for one in outcomes if not one.right]
    return "\n".join(["### Misses, one by one", "", *(missed or ["none"]), ""])


def every_place(folder: Path) -> Iterator[Path]:
    """Every file and folder below, the outcome of a zoo run left out."""
    yield from (place for place in sorted(folder.rglob("*")) if place.name != NOT_TO_BE_READ)


def census(folders: Sequence[Path]) -> tuple[Table, list[str]]:
    """What opening each file and folder ends in: a run, one of our sentences, or a defect."""
    rows, defects = [], []
    for folder in folders:
        ends: Counter[str] = Counter()
        for place in every_place(folder):
            try:
                open_run(place)
                ends["run"] += 1
            except LeadlineError:
                ends["sentence"] += 1
            except Exception:
                ends["traceback"] += 1
                defects.append(f"- {place}: {traceback.format_exc().splitlines()[-1]}")
        rows.append([folder.name, str(ends.total()), str(ends["run"]), str(ends["sentence"]), str(ends["traceback"])])
    columns = ["below", "files and folders", "read as a run", "one clear sentence", "traceback"]
    return Table("Every file and folder opened by itself", "no traceback", columns, rows), defects


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Read public logs and compare with what their index says.")
    shared = ROOT.parent / "shared"
    parser.add_argument("--runs", type=Path, default=shared / "runs", help="folder with INDEX.csv and the logs")
    parser.add_argument("--zoo", type=Path, default=shared / "zoo", help="folder of more runs, for the census only")
    asked = parser.parse_args(argv)
    index = asked.runs / "INDEX.csv"
    below_target = False
    if index.is_file():
        with index.open(newline="") as file:
            outcomes = [look(Listed.of(row, asked.runs)) for row in csv.DictReader(file)]
        print(table_of(outcomes).text())
        print(misses(outcomes))
        below_target = sum(one.right for one in outcomes) < TARGET * len(outcomes)
    else:
        print(f"Skipped the public logs: there is no {index}.\n")
    folders = [folder for folder in (asked.runs, asked.zoo) if folder.is_dir()]
    if not folders:
        print(f"Skipped the census: neither {asked.runs} nor {asked.zoo} is on this machine.")
        return 0
    table, defects = census(folders)
    print(table.text())
    print("\n".join(defects))
    return 1 if below_target or defects else 0


if __name__ == "__main__":
    sys.exit(main())
