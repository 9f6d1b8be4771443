"""How much of what lies on public disks is read right: `python bench/sources.py [--runs DIR] [--logs DIR] [--third DIR]
[--zoo DIR]`.

First tables: of the runs in an INDEX.csv, the share whose framework, reward series and number of points come out as the
index says, without any `--map`, and every miss. `runs` is what the reader was written with, `logs` and `third` what it
was not (an archive is unpacked to a temporary folder), with the share of runs whose kept text comes out as samples.
Nothing in the reader is learned from a repository, so none has to be left out. Then, what is meant for logs that nobody
has shown: every log whose framework is known, read as if it were not, and logs carried over into other formats
(`bench/sources_unseen.py`).
Last, every single file is opened, and none may end in a traceback. Where the folders are not on this machine, it says
so and goes on with the samples of the tests.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import re
import sys
import tarfile
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import sources_trial
import sources_unseen
from tables import Table, share

from leadline.errors import LeadlineError, NotOneRun
from leadline.run import Run
from leadline.sources import find_runs, open_run, open_runs
from leadline.vocabulary.names import words

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "tests/sources/samples/text"
TARGET = 0.95
NOT_TO_BE_READ = "truth.json"  # the outcome of a zoo run: no reader may open it

# What the index calls a framework, and what we may call it; naming none is no wrong claim.
ACCEPTED = {
    "TRL": ("trl",),
    "Unsloth/TRL": ("trl", "unsloth"),
    "TRL-custom": ("trl",),
    "tinker": ("tinker",),
    "verl": ("verl",),
    "AReaL": ("areal",),
    "open-instruct": ("open-instruct",),
    "Agent Lightning (verl)": ("verl", "agent-lightning"),
    "Agent Lightning (Tinker)": ("tinker", "agent-lightning"),
    "SkyRL tx (Tinker API, TPU)": ("tinker", "skyrl"),
    "miles (slime)": ("slime",),
    "ROLL": ("roll",),
    "RLlib": ("rllib",),
    "Stable-Baselines3": ("sb3",),
    "CleanRL-style (ManiSkill)": ("cleanrl",),
}
MISCOUNTED = 1  # rows by which an index that counts lines may be off
AFTER_EACH_OTHER = re.compile(r"#run\d+$")
NEARLY = 0.02  # of the rows, likewise
# Keys of the index that are not in the file under that name, because the index computed them from what is.
COMPUTED = {"reward_mean_of_list": "rewards"}


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
    has_text: bool = False

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
            int(row.get("n_duplicate_steps") or 0),
            row.get("has_text") == "1",
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
    text: int = 0  # steps of which samples were read
    one_of_several: bool = False

    @property
    def framework_right(self) -> bool:
        """Named as it is, or not at all."""
        listed = self.listed.framework
        accepted = ACCEPTED.get(listed, ACCEPTED.get(listed.split(" (")[0], ("none",)))
        return self.framework == "none" or self.framework.startswith(accepted)

    @property
    def reward_right(self) -> bool:
        wanted = COMPUTED.get(self.listed.reward_key, self.listed.reward_key)
        inside = wanted.split("/")[-1]  # of one run among several in a file, whose path the index gives
        return words(self.reward_key) in (words(_plain(wanted)), words(inside) if self.one_of_several else "")

    @property
    def rows_as_listed(self) -> bool:
        return abs(self.rows - self.listed.rows) <= max(MISCOUNTED, NEARLY * self.listed.rows)

    @property
    def points_right(self) -> bool:
        """As many rows as listed, or as many points, or as many as distinct steps: a step has one value, whether it was
        trained again (the last stands) or logged in parts (their mean does)."""
        wanted = (self.listed.rows, self.listed.rows - self.listed.repeats)
        return self.rows_as_listed or any(abs(self.points - one) <= max(MISCOUNTED, NEARLY * one) for one in wanted)

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


def _plain(key: str) -> str:
    """The key in an expression that some indexes give instead of it, or behind the path to the run in its file."""
    if "(" not in key:
        return key
    if heading := re.match(r"Evaluation #.*?([a-z]+/[a-z]+):", key):
        return f"eval/{heading[1]}"
    name = re.match(r"(?:\(\?<![^)]*\))?['\"]?([\w/ .-]+)", key)
    return name[1] if name else key


def look(listed: Listed) -> Outcome:
    """What `leadline read FOLDER` would make of the run's files."""
    try:
        run = _opened(listed)
    except LeadlineError as error:
        return Outcome(listed, "none", "", 0, failure=error.what)
    except Exception:
        return Outcome(listed, "none", "", 0, failure=f"TRACEBACK {traceback.format_exc().splitlines()[-1]}")
    reward = run.get("reward/mean") or run.get("eval/reward/mean")  # some log no other
    points = rows = 0
    if reward is not None:
        points, rows = reward.points, reward.rows
        if AFTER_EACH_OTHER.search(run.path):  # an index that counts the rows of a file counts those of all runs in it
            points = rows = sum(one.points for each in open_runs(listed.place) if (one := each.get(reward.name)))
    return Outcome(
        listed,
        run.framework or "none",
        reward.key if reward is not None else "",
        points,
        rows,
        text=len(run.rollouts.steps),
        one_of_several="#" in run.path,
    )


def _opened(listed: Listed) -> Run:
    """The run; of several in one file, the one that the index's key begins with, or the first of those that were
    written one after the other."""
    try:
        return open_run(listed.place)
    except NotOneRun:
        runs = find_runs(listed.place)
        named = listed.reward_key.split("/")[0], "run1"
        return open_run(next((runs.path_of(run) for run in runs.runs if run.label in named), listed.place))


def table_of(title: str, outcomes: Sequence[Outcome]) -> Table:
    by_repository: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_repository.setdefault(outcome.listed.repository, []).append(outcome)
    rows = [_row(name, some) for name, some in sorted(by_repository.items())]
    each = [share(outcome.right for outcome in some) for some in by_repository.values()]
    weighted = sum(float(figure.split()[0]) for figure in each) / max(len(each), 1)
    rows.append(_row("all runs", outcomes))
    note = (
        f"Repositories weighted alike: {weighted:.3f}. "
        f"Wrong frameworks: {sum(not one.framework_right for one in outcomes)}. "
        f"Wrong keys taken for the reward: {sum(bool(one.reward_key) and not one.reward_right for one in outcomes)}. "
        f"Text read: {sum(one.text > 0 for one in outcomes if one.listed.has_text)} of "
        f"{sum(one.listed.has_text for one in outcomes)} runs that keep any. "
        "A framework is right when it is named as the index does or not at all. Points are right when they, the rows "
        "behind them or the distinct steps among these are as many as listed."
    )
    return Table(
        f"Public logs, read without --map: {title}",
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


@contextlib.contextmanager
def unpacked(folder: Path) -> Iterator[Path]:
    """The folder, or what its archive holds, unpacked for the time being."""
    archive = next(
        (one for end in ("gz", "xz") if (one := folder.with_name(f"{folder.name}.tar.{end}")).is_file()), None
    )
    if folder.is_dir() or archive is None:
        yield folder
        return
    with tempfile.TemporaryDirectory() as place, tarfile.open(archive) as packed:
        packed.extractall(place, filter="data")
        inside = [found.parent for found in Path(place).rglob("INDEX.csv")]
        yield inside[0] if inside else Path(place)


def listed_in(folder: Path) -> list[Listed]:
    index = folder / "INDEX.csv"
    if not index.is_file():
        return []
    with index.open(newline="") as file:
        return [Listed.of(row, folder) for row in csv.DictReader(file)]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Read public logs and compare with what their index says.")
    shared = ROOT.parent / "shared"
    logs = Path(os.environ.get("LEADLINE_LOGS", shared / "logs"))
    parser.add_argument("--runs", type=Path, default=shared / "runs", help="folder with INDEX.csv and the logs")
    parser.add_argument("--logs", type=Path, default=logs, help="the same of logs the reader was not written with")
    third = Path(os.environ.get("LEADLINE_THIRD", shared / "third"))
    parser.add_argument("--third", type=Path, default=third, help="the same, another set of such logs")
    parser.add_argument("--zoo", type=Path, default=shared / "zoo", help="folder of more runs, for the census only")
    parser.add_argument("--trial", type=Path, help="only this: a folder of labelled logs (see bench/sources_trial.py)")
    parser.add_argument("--no-census", action="store_true", help="do not open every single file")
    asked = parser.parse_args(argv)
    if asked.trial is not None:
        return 0 if sources_trial.trial(asked.trial) else 1
    failed = False
    with unpacked(asked.logs) as logs_folder, unpacked(asked.third) as third_folder:
        places = [file for file in sorted(SAMPLES.iterdir()) if not file.name.startswith(("own", "monitor"))]
        for title, folder in (("runs", asked.runs), ("logs", logs_folder), ("third", third_folder)):
            listed = listed_in(folder)
            if not listed:
                print(f"Skipped {title}: there is no {folder / 'INDEX.csv'}.\n")
                continue
            outcomes = [look(one) for one in listed]
            print(table_of(title, outcomes).text())
            print(misses(outcomes))
            failed |= sum(one.right for one in outcomes) < TARGET * len(outcomes)
            places += _one_of_each(listed)
        for table, missed in (
            sources_unseen.left_out_table(sources_unseen.read_without(places)),
            sources_unseen.carried_table(sources_unseen.carry(places)),
        ):
            print(table.text())
            print("\n".join([*missed, ""]))
        folders = [folder for folder in (asked.runs, logs_folder, third_folder, asked.zoo) if folder.is_dir()]
        if folders and not asked.no_census:
            counted, defects = census(folders)
            print(counted.text())
            print("\n".join(defects))
            failed |= bool(defects)
    return 1 if failed else 0


def _one_of_each(listed: Sequence[Listed]) -> list[Path]:
    """The first run of every repository and framework: the others of it are alike."""
    first = {(one.repository, one.framework): one.place for one in reversed(listed)}
    return [place for _, place in sorted(first.items())]


if __name__ == "__main__":
    sys.exit(main())
