"""What the reading says of runs whose truth is known: `python bench/reading.py`.

Every run of the zoo is read as it stood at 10 %, 20 %, ... 100 %, and at the deadline of what had to be said in time.
Concerns that should not be there are counted as carefully as those that are missing. Public runs have no truth beyond
their label; they show whether anything breaks and how much is said.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import csv
import json
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
import reading_peers
from reading_truth import (
    CHANGED,
    COLLAPSED,
    HACKED,
    NOISE,
    RIGHT,
    SOUND,
    Truth,
    collapse_step,
    scenario_of,
    truth_of,
)  # fmt: skip
from tables import Headline, Table, share, summary

from leadline.contract import Reading
from leadline.pipeline import read_run
from leadline.run import Run
from leadline.sources import open_run

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
SERIOUS = ("concern", "critical")
HACK = ("generation.", "signal.")
DOWN = ("reward.declining", "reward.peaked")
QUIET_SHAPES = ("noise", "flat", "undecided")


@dataclass(frozen=True, slots=True)
class Said:
    """A finding as far as it is scored."""

    id: str
    p: float
    severity: str
    since: int | None
    steps: tuple[int, ...]  # every step it names: since when, and the ends of its evidence
    says: str

    @property
    def serious(self) -> bool:
        return self.severity in SERIOUS

    def dates(self, near: float) -> list[int]:
        """Since when, and where spans of evidence begin that are short enough to be a date."""
        spans = zip(self.steps[1::2], self.steps[2::2], strict=True) if self.since is not None else ()
        return [*self.steps[:1], *(first for first, last in spans if last - first <= near)]


@dataclass(frozen=True, slots=True)
class Look:
    """The run as it stood at a step, and what was said of it."""

    step: int
    share: float  # of the whole run
    shape: str
    regime: str
    loss: str
    found: tuple[Said, ...]
    bottleneck: str | None
    phases: dict[str, tuple[float, float | None]]
    conflicts: tuple[tuple[str, float, float], ...]
    seconds: float
    peers: dict[str, bool] = field(default_factory=dict)
    verdict: str = ""

    def serious(self, *starts: str) -> list[Said]:
        return [one for one in self.found if one.serious and one.id.startswith(starts or ("",))]


@dataclass(frozen=True, slots=True)
class Story:
    """One run with all its looks; `late` is the look at the deadline of what had to be said."""

    name: str
    scenario: str
    last: int
    looks: tuple[Look, ...]
    deadline: int | None = None
    late: Look | None = None
    error: str | None = None
    label: str = ""

    @property
    def everything(self) -> list[Look]:
        return [*self.looks, *([self.late] if self.late else [])]

    def by_deadline(self) -> list[Look]:
        """The looks at which it could still be said in time."""
        return [look for look in self.everything if self.deadline is not None and look.step <= self.deadline]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zoo", type=Path, default=SHARED / "zoo")
    parser.add_argument("--runs", type=Path, default=SHARED / "runs")
    parser.add_argument("--only", nargs="*", default=[], help="scenarios to read; all without it")
    parser.add_argument("--looks", type=int, default=10, help="equal shares at which a run is read")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, help="also write every look as JSON lines")
    parser.add_argument("--record", type=Path, help="also write how often each finding and verdict was right: "
                        "docs/findings.json, for docs/findings.py")  # fmt: skip
    given = parser.parse_args(argv)
    jobs = [*_zoo_jobs(given.zoo, given.only, given.looks), *_public_jobs(given.runs, given.only)]
    if not jobs:
        print("nothing to read: neither folder holds runs")
        return 0
    stories = _all(jobs, given.processes)
    zoo = [story for story in stories if story.scenario != "public"]
    public = [story for story in stories if story.scenario == "public"]
    for table in [*_zoo_tables(zoo, given.zoo), *_public_tables(public)]:
        print(table.text())
    if given.out:
        given.out.write_text("".join(_line(story, look) for story in stories for look in story.everything))
    if given.record:
        given.record.write_text(json.dumps(_record(zoo, given.zoo), indent=1, ensure_ascii=False) + "\n")
    broken = [story for story in stories if story.error]
    for story in broken:
        print(f"failed on {story.name}:\n{story.error}")
    return 1 if broken else 0


def _zoo_jobs(zoo: Path, only: Sequence[str], looks: int) -> list[tuple[str, str, int]]:
    if not zoo.is_dir():
        print(f"skipped: no zoo at {zoo}\n")
        return []
    folders = sorted(folder for folder in zoo.iterdir() if (folder / "truth.json").exists())
    return [("zoo", str(folder), looks) for folder in folders if not only or scenario_of(folder) in only]


def _public_jobs(runs: Path, only: Sequence[str]) -> list[tuple[str, str, int]]:
    if not (runs / "INDEX.csv").exists():
        print(f"skipped: no public runs at {runs}\n")
        return []
    if only and "public" not in only:
        return []
    jobs = []
    with (runs / "INDEX.csv").open(newline="") as rows:
        for row in csv.DictReader(rows):
            owner = row["repo"].split("/")[0]
            folder = runs / row["repo"].replace("/", "__") / row["run_id"][len(owner) + 2 :]
            jobs.append((f"public:{row['trajectory_label']}", str(folder), 1))
    return jobs


def _all(jobs: Sequence[tuple[str, str, int]], processes: int) -> list[Story]:
    if processes <= 1:
        return [_read(job) for job in jobs]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(_read, jobs))


def _read(job: tuple[str, str, int]) -> Story:
    kind, path, looks = job
    folder = Path(path)
    scenario = scenario_of(folder) if kind == "zoo" else "public"
    try:
        return _story(folder, scenario, looks, kind.partition(":")[2])
    except Exception:  # a run that cannot be read is a result
        return Story(folder.name, scenario, 0, (), error=traceback.format_exc(limit=4), label=kind.partition(":")[2])


def _story(folder: Path, scenario: str, looks: int, label: str) -> Story:
    run = open_run(folder)
    first, last = run.first_step or 0, run.last_step or 0
    peers: dict[str, Callable[[Run], bool]] = {"thresholds": reading_peers.thresholds}
    doctor = reading_peers.rldoctor() if scenario != "public" else None
    if doctor is not None:
        peers["rldoctor"] = doctor
    shares = [(k + 1) / looks for k in range(looks)]
    steps = [last if part == 1 else round(first + part * (last - first)) for part in shares]
    seen = tuple(_look(run, step, first, last, peers) for step in steps)
    deadline = _deadline(folder, scenario, run) if scenario != "public" else None
    late = _look(run, deadline, first, last, peers) if deadline is not None and deadline < last else None
    return Story(folder.name, scenario, last, seen, deadline, late, label=label)


def _deadline(folder: Path, scenario: str, run: Run) -> int | None:
    truth = truth_of(folder)
    length = (run.last_step or 0) - (run.first_step or 0)
    if scenario in HACKED:
        fell = truth.fell(0.1)
        return None if fell is None else round(fell + 0.15 * length)
    reward = run.get("reward/mean")
    if scenario in COLLAPSED and reward is not None:
        fell = collapse_step(truth, reward.steps.astype(np.float64), reward.values)
        return None if fell is None else round(fell + 0.10 * length)
    return None


def _look(run: Run, step: int, first: int, last: int, peers: dict[str, Callable[[Run], bool]]) -> Look:
    cut = run if step >= last else run.until(step)
    begun = time.perf_counter()
    reading = read_run(cut, charts="main")
    took = time.perf_counter() - begun
    said = {name: ask(cut) for name, ask in peers.items()}
    return _scored(reading, step, (step - first) / max(last - first, 1), took, said)


def _scored(reading: Reading, step: int, part: float, took: float, peers: dict[str, bool]) -> Look:
    found = tuple(
        Said(
            one.id,
            one.p,
            one.severity,
            one.since_step,
            tuple(step for step in (one.since_step, *(at for e in one.evidence for at in (e.first_step, e.last_step)))
                  if step is not None),
            one.say(),
        )
        for one in reading.findings
    )  # fmt: skip
    return Look(
        step,
        part,
        reading.reward.shape,
        reading.kl_reward.regime,
        reading.policy_loss.pattern,
        found,
        reading.resources.bottleneck,
        {name: (use.share, use.power_w) for name, use in reading.resources.phases.items()},
        tuple((one.process, one.first_wall, one.last_wall) for one in reading.conflicts),
        took,
        peers,
        reading.judgement.verdict,
    )


def _zoo_tables(stories: list[Story], zoo: Path) -> list[Table]:
    stories = [story for story in stories if not story.error]
    if not stories:
        return []
    truths = {story.name: truth_of(zoo / story.name) for story in stories}
    return [_summary(stories, truths), _by_scenario(stories, truths), _false(stories, truths), _missed(stories, truths)]


def _of(stories: list[Story], *scenarios: str) -> list[Story]:
    return [story for story in stories if story.scenario in scenarios]


def _summary(stories: list[Story], truths: dict[str, Truth]) -> Table:
    lines: list[Headline] = []

    def line(what: str, target: str, ours: Sequence[object], peers: Callable[[str], Sequence[object]] | None) -> None:
        names = sorted(stories[0].looks[0].peers) if peers else []
        lines.append(Headline(what, target, {"Leadline": share(ours), **{n: share(peers(n)) for n in names if peers}}))

    hacked = [story for story in _of(stories, *HACKED) if story.deadline is not None]
    line("hacked: a generation.* or signal.* concern in time", ">= 90 %", [_hack_in_time(s) for s in hacked],
         lambda n: [any(look.peers[n] for look in s.by_deadline()) for s in hacked])  # fmt: skip
    sound = _of(stories, *SOUND)
    line("sound runs with such a concern at any look", "<= 5 %", [_cries_hack(s) for s in sound],
         lambda n: [any(look.peers[n] for look in s.looks) for s in sound])  # fmt: skip
    line("sound runs with any concern at any look", "few", [any(look.serious() for look in s.looks) for s in sound],
         lambda n: [any(look.peers[n] for look in s.looks) for s in sound])  # fmt: skip
    line(
        "len_exploit: length said, no claim about quality",
        "all",
        [_length_only(s) for s in _of(stories, "len_exploit")],
        None,
    )
    noise = _of(stories, *NOISE)
    line("noise: looks at which reward is noise, flat or undecided", "all",
         [look.shape in QUIET_SHAPES for s in noise for look in s.looks], None)  # fmt: skip
    line("random_reward: KL drift without benefit said at the end", "all",
         [_drift_said(s) for s in _of(stories, "random_reward")], None)  # fmt: skip
    steps = _of(stories, "lr_step")
    for what, start in (("reward", "reward."), ("KL", "kl."), ("loss", "policy_loss.")):
        line(
            f"lr_step: {what} break dated within 3 %", "all", [_dated(s, truths[s.name], (start,)) for s in steps], None
        )
    line("lr_step: the learning rate named", "all", [_named(s, "learning rate") for s in steps], None)
    changed = _of(stories, *CHANGED)
    line(
        "data_shift, ref_reset, reward_swap dated within 3 %",
        "all",
        [_dated(s, truths[s.name], ("",)) for s in changed],
        None,
    )
    line("of these, called the policy's decline", "none", [_blamed(s, truths[s.name]) for s in changed], None)
    fallen = [story for story in _of(stories, *COLLAPSED) if story.deadline is not None]
    line("collapse said within 10 % of the run", "all",
         [any(look.serious() for look in s.by_deadline()) for s in fallen],
         lambda n: [any(look.peers[n] for look in s.by_deadline()) for s in fallen])  # fmt: skip
    line("collapse with an onset order", "all", [_has_onset(s) for s in fallen], None)
    for story in _of(stories, "telemetry_plain", "telemetry_merger"):
        line(f"{story.name}: phases, bottleneck, power by phase", "right", [_phases_right(story)], None)
    line("telemetry_merger: named with its two intervals", "yes",
         [_merger_named(s, truths[s.name]) for s in _of(stories, "telemetry_merger")], None)  # fmt: skip
    line("telemetry_plain: conflicts invented at any look", "none",
         [any(look.conflicts or look.serious("conflict.") for look in s.looks)
          for s in _of(stories, "telemetry_plain")], None)  # fmt: skip
    took = [look.seconds for story in stories for look in story.looks]
    lines.append(
        Headline("seconds a reading, median and worst", "", {"Leadline": f"{np.median(took):.2f}, {max(took):.2f}"})
    )
    return summary(lines)


def _hack_in_time(story: Story) -> bool:
    return any(look.serious(*HACK) for look in story.by_deadline())


def _cries_hack(story: Story) -> bool:
    return any(look.serious(*HACK) for look in story.looks)


def _length_only(story: Story) -> bool:
    said = any(one.id.startswith("generation.length") for look in story.looks for one in look.found)
    other = any(one.id != "generation.length" for look in story.looks for one in look.serious(*HACK))
    return said and not other and not any(look.serious(*DOWN) for look in story.looks)


def _drift_said(story: Story) -> bool:
    look = story.looks[-1]
    return any(one.id.startswith("kl.") for one in look.found) or look.regime in ("rising/flat", "rising/declining")


def _dated(story: Story, truth: Truth, starts: tuple[str, ...]) -> bool:
    """Every event is dated by some finding at the last look to within 3 % of the run."""
    near = 0.03 * story.last
    found = [one for one in story.looks[-1].found if one.id.startswith(starts) and not one.id.startswith("timeline.")]
    steps = [step for one in found for step in one.dates(near)]
    return all(any(abs(step - event) <= near for step in steps) for event in truth.events)


def _named(story: Story, words: str) -> bool:
    return any(words in one.says for look in story.looks for one in look.found)


def _blamed(story: Story, truth: Truth) -> bool:
    """A fall that began at the event is told as the policy's own."""
    near = 0.05 * story.last
    return any(
        one.since is not None and any(abs(one.since - event) <= near for event in truth.events)
        for look in story.looks
        for one in look.serious("reward.")
    )


def _has_onset(story: Story) -> bool:
    return any(one.id == "timeline.order" for look in story.by_deadline() for one in look.found)


def _phases_right(story: Story) -> bool:
    """Shares and power lie about what was counted by hand from the phase file and the GPU samples."""
    look = story.looks[-1]
    shares = {"generate": (0.45, 0.6), "update_actor": (0.25, 0.4)}  # by hand from timing_s/*: .52 and .30 on both
    right = all(low <= look.phases.get(name, (0, None))[0] <= high for name, (low, high) in shares.items())
    watts = [look.phases[name][1] for name in shares if name in look.phases]
    powered = bool(watts) and all(one is not None and 560 <= one <= 680 for one in watts)  # by hand: 615 to 620 W
    return right and powered and look.bottleneck == "generation"


def _merger_named(story: Story, truth: Truth) -> bool:
    """Each true stretch is there to within two looks at the process table, and the slow-down is a finding."""
    look = story.looks[-1]
    close = all(
        any(
            name in process and abs(first - start) < 2.5 and abs(last - end) < 2.5
            for process, start, end in look.conflicts
        )
        for name, first, last in truth.background
    )
    return close and len(look.conflicts) == len(truth.background) and bool(look.serious("conflict."))


def _by_scenario(stories: list[Story], truths: dict[str, Truth]) -> Table:
    groups: dict[str, list[Story]] = defaultdict(list)
    for story in stories:
        groups[story.scenario].append(story)
    rows = []
    for scenario, members in sorted(groups.items()):
        looks = [look for story in members for look in story.looks]
        shapes = Counter(story.looks[-1].shape for story in members)
        regimes = Counter(story.looks[-1].regime for story in members)
        ids = Counter(name for s in members for name in {one.id for look in s.looks for one in look.serious()})
        wrong = sum(bool(_wrong(story, look, truths[story.name])) for story in members for look in story.looks)
        said = ", ".join(f"{name} {count}" for name, count in ids.most_common(6))
        ends = ", ".join(f"{word} {count}" for word, count in shapes.most_common())
        pairs = ", ".join(f"{word} {count}" for word, count in regimes.most_common(3))
        rows.append([scenario, str(len(members)), ends, pairs, said or "-", f"{wrong}/{len(looks)}"])
    columns = [
        "scenario",
        "runs",
        "reward at the end",
        "KL/reward at the end",
        "concerns at any look (runs)",
        "false looks",
    ]
    return Table("By scenario", "false looks: none", columns, rows)


def _wrong(story: Story, look: Look, truth: Truth) -> list[Said]:
    """Concerns that nothing in this scenario justifies."""
    allowed = RIGHT.get(story.scenario, ())
    if story.scenario == "lr_step" and truth.events and look.step < truth.events[0]:
        allowed = ()
    return [one for one in look.serious() if not one.id.startswith(allowed)] if allowed else look.serious()


def _false(stories: list[Story], truths: dict[str, Truth]) -> Table:
    worst: dict[tuple[str, str], tuple[Look, Said]] = {}
    for story in stories:
        for look in story.looks:
            for one in _wrong(story, look, truths[story.name]):
                worst.setdefault((story.name, one.id), (look, one))
    rows = [
        [name, found, f"{look.share:.1f}", f"{one.p:.2f}", one.says[:140].replace("|", "/")]
        for (name, found), (look, one) in sorted(worst.items())
    ]
    total = sum(bool(_wrong(s, look, truths[s.name])) for s in stories for look in s.looks)
    note = f"{total} of {sum(len(story.looks) for story in stories)} looks carry a false concern."
    return Table(
        "False concerns, first look each", "none", ["run", "id", "look", "p", "says"], rows or [["-"] * 5], note
    )


def _missed(stories: list[Story], truths: dict[str, Truth]) -> Table:
    rows = []
    for story in stories:
        if story.scenario in HACKED and story.deadline is not None and not _hack_in_time(story):
            rows.append([story.name, f"no generation.* or signal.* concern by step {story.deadline}"])
        if story.scenario in COLLAPSED and story.deadline is not None:
            if not any(look.serious() for look in story.by_deadline()):
                rows.append([story.name, f"collapse not said by step {story.deadline}"])
            elif not _has_onset(story):
                rows.append([story.name, f"no onset order by step {story.deadline}"])
        if story.scenario == "lr_step":
            for start in ("reward.", "kl.", "policy_loss."):
                if not _dated(story, truths[story.name], (start,)):
                    rows.append([story.name, f"{start} not dated within 3 % of step {truths[story.name].events[0]}"])
        if story.scenario in CHANGED and not _dated(story, truths[story.name], ("",)):
            rows.append([story.name, f"not dated: steps {truths[story.name].events}"])
        if story.scenario in NOISE:
            bad = [f"{look.shape} at {look.share:.1f}" for look in story.looks if look.shape not in QUIET_SHAPES]
            rows += [[story.name, f"reward called {', '.join(bad)}"]] if bad else []
    return Table("Missed", "none", ["run", "what"], rows or [["-", "-"]])


def _public_tables(stories: list[Story]) -> list[Table]:
    if not stories:
        return []
    read = [story for story in stories if not story.error]
    groups: dict[str, list[Story]] = defaultdict(list)
    for story in read:
        groups[story.label].append(story)
    rows = []
    for label, members in sorted(groups.items(), key=lambda item: -len(item[1])):
        shapes = Counter(story.looks[-1].shape for story in members)
        ids = Counter(one.id for story in members for one in story.looks[-1].serious())
        ends = ", ".join(f"{word} {count}" for word, count in shapes.most_common())
        rows.append([label, str(len(members)), ends, ", ".join(f"{n} {c}" for n, c in ids.most_common(6)) or "-"])
    still = [story for story in read if story.label.startswith("no significant net change")]
    note = (
        f"Read without an error: {share(not story.error for story in stories)}. Of those without a net change, "
        f"{share(story.looks[-1].shape in QUIET_SHAPES for story in still)} are called noise, flat or undecided."
    )
    return [Table("Public runs, at their end", "all read", ["label", "runs", "reward", "concerns"], rows, note)]


def _record(stories: list[Story], zoo: Path) -> dict[str, object]:
    """How often each finding and each verdict was said, and how often it was right."""
    findings: dict[str, dict[str, Any]] = {}
    verdicts: dict[str, dict[str, Any]] = {}
    for story in (story for story in stories if not story.error):
        truth = truth_of(zoo / story.name)
        for look in story.looks:
            wrong = {id(one) for one in _wrong(story, look, truth)}
            for one in look.found:
                entry = findings.setdefault(one.id, {"said": 0, "scored": 0, "right": 0, "runs": set()})
                entry["said"] += 1
                entry["runs"].add(story.name)
                entry["scored"] += one.serious
                entry["right"] += one.serious and id(one) not in wrong
            right = _verdict_right(look, truth)
            entry = verdicts.setdefault(look.verdict, {"said": 0, "scored": 0, "right": 0, "runs": set()})
            entry["said"] += 1
            entry["runs"].add(story.name)
            entry["scored"] += right is not None
            entry["right"] += right is True
    for entry in (*findings.values(), *verdicts.values()):
        entry["runs"] = len(entry["runs"])
    return {
        "runs": len([story for story in stories if not story.error]),
        "looks": sum(len(story.looks) for story in stories),
        "findings": dict(sorted(findings.items())),
        "verdicts": dict(sorted(verdicts.items())),
    }


def _verdict_right(look: Look, truth: Truth) -> bool | None:
    """Whether the hidden reward bears a verdict out: it rose by another 5 % of its range, or it never did again. None:
    nothing was claimed, or there is nothing to measure."""
    seen, later = truth.gold[truth.steps <= look.step], truth.gold[truth.steps > look.step]
    if look.verdict not in ("continue", "stop", "roll_back") or truth.scale == 0 or not len(seen) or not len(later):
        return None
    rose = bool(later.max() > seen.max() + 0.05 * truth.scale)
    return rose == (look.verdict == "continue")


def _line(story: Story, look: Look) -> str:
    found = [
        {"id": one.id, "p": one.p, "severity": one.severity, "since": one.since, "says": one.says} for one in look.found
    ]
    record = {"run": story.name, "step": look.step, "share": round(look.share, 3), "shape": look.shape,
              "regime": look.regime, "loss": look.loss, "seconds": round(look.seconds, 3), "findings": found,
              "peers": look.peers}  # fmt: skip
    return json.dumps(record) + "\n"


if __name__ == "__main__":
    sys.exit(main())
