"""The tables of bench/backtest.py, from the answers it wrote."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import backtest_doubts as doubts
import numpy as np
from numpy.typing import NDArray
from tables import Table

from leadline.judgement.evidence import WEIGHTS

Line = dict[str, Any]
Given = dict[str, list[Line]]

HACKED = ("contains", "rm_overopt", "rm_overopt_ppo", "random_reward")
COLLAPSED = ("drift", "entropy_collapse", "lr_step")
LATE = ("slow", "late")
SOUND = ("healthy", "noisy_reward", "slow", "late", "rm_kl_safe", "data_shift", "ref_reset")
KINDS = ("zoo", "zoo2", "public")
TARGETS = {
    "zoo2": "U >= .69, false <= .03",
    "zoo": "U >= .83, false <= .04, missed <= .08, select <= .07",
    "public": "U >= .76, false <= .05, missed <= .12, select <= .10",
}
FIGURES = ("U", "regret", "spent", "false_stop", "missed", "select")
NAMES = ("U", "regret", "spent", "false", "missed", "select")
FIFTHS = 5
ENDS = ("stop", "roll_back")


def read(file: Path) -> Given:
    given: Given = {}
    for line in file.read_text().splitlines():
        one = json.loads(line)
        given.setdefault(one["run"], []).append(one)
    return given


def report(score: Any, truths: dict[str, Any], out: Path) -> Iterator[Table]:
    answers = {file.stem: _known(read(file), truths) for file in sorted(out.glob("*.jsonl"))}
    rows = {name: _scored(score, truths, given) for name, given in answers.items()}
    ours = answers["leadline"]
    for kind in KINDS:
        if any(_kind(run) == kind for run, _ in truths.values()):
            yield _against_others(score, kind, rows)
    if any(_kind(run) == "zoo2" for run, _ in truths.values()):
        yield _bad_and_sound(truths, ours, rows)
    yield _must_show(rows)
    yield _often(score, truths, rows["leadline"], out)
    yield _reliability("P(continue pays)", truths, ours, out / "reliability.png")
    yield _named(truths, ours)
    yield _accusations(truths, ours)
    yield _cost(truths, answers)
    yield _by_family(score, rows["leadline"])
    yield from doubts.tables(score, truths, answers)


def gain_came(truth: Any, step: float) -> bool:
    """Whether a clear gain came after a step, as the score counts a false stop."""
    return bool(truth.late_gain(step) > max(3 * truth.se, 0.05 * truth.S))


def _known(given: Given, truths: dict[str, Any]) -> Given:
    return {name: lines for name, lines in given.items() if name in truths}


def _scored(score: Any, truths: dict[str, Any], given: Given) -> list[Line]:
    return [
        {"run": name, "kind": _kind(truths[name][0]), "family": truths[name][0].family}
        | score.score_run(truths[name][1], looks)
        for name, looks in given.items()
    ]


def _kind(run: Any) -> str:
    """The two zoos apart: one was there when the judgement was made."""
    return "zoo2" if run.set == "zoo2_dev" else str(run.kind)


def _bad_and_sound(truths: dict[str, Any], ours: Given, rows: dict[str, list[Line]]) -> Table:
    """What is lost on the bad runs of the second zoo, with and without text, and how many sound ones are accused."""
    facts = {}
    for name, (run, _) in truths.items():
        if _kind(run) == "zoo2":
            told = json.loads((Path(run.folder) / "truth.json").read_text())
            facts[name] = bool(told["sound"]), (Path(run.folder) / "rollouts").is_dir()
    accused = [name for name, (sound, _) in facts.items() if sound and any(line.get("concerns") for line in ours[name])]
    cells = []
    for policy in ("leadline", *sorted(set(rows) - {"leadline"})):
        some = [(*facts[row["run"]], row) for row in rows[policy] if row["run"] in facts]
        kinds = (
            [row["regret"] for sound, _, row in some if not sound],
            [row["regret"] for sound, text, row in some if not sound and text],
            [row["regret"] for sound, text, row in some if not sound and not text],
            [row["regret"] for sound, _, row in some if sound],
            [row["false_stop"] for sound, _, row in some if sound],
        )
        cells.append([policy, *[f"{np.mean(kind):.3f}" if kind else "" for kind in kinds]])
    columns = ("policy", "bad: regret", "text kept", "no text", "sound: regret", "false stops")
    sound = sum(sound for sound, _ in facts.values())
    note = f"Sound runs with a concern of ours at any look: {len(accused)} of {sound}: {', '.join(accused)}"
    return Table("zoo2: bad and sound runs", "bad <= .32, text <= .15, concerns <= 2 %", columns, cells, note)


def _of(rows: Sequence[Line], kind: str) -> list[Line]:
    return [row for row in rows if row["kind"] == kind]


def _figures(score: Any, rows: Sequence[Line], digits: int = 3) -> list[str]:
    figures = score.summary(rows)
    return [f"{figures[key]:.{digits}f}" for key in FIGURES]


def _against_others(score: Any, kind: str, rows: dict[str, list[Line]]) -> Table:
    ours = {row["run"]: row["U"] for row in rows["leadline"]}
    cells = []
    for name in ("leadline", *sorted(set(rows) - {"leadline"})):
        some = _of(rows[name], kind)
        if some:
            paired = [{**row, "apart": ours[row["run"]] - row["U"]} for row in some if row["run"] in ours]
            apart, error = score.mean(paired, "apart")
            cells.append([name, *_figures(score, some), f"{apart:+.3f} ± {error:.3f}"])
    own = score.summary(_of(rows["leadline"], kind))
    blind = f"always stop at {100 * own['blind_at']:.0f} %"
    cells.append([blind, f"{own['blind']:.3f}", *[""] * 5, f"{own['dblind']:+.3f} ± {own['dblind_se']:.3f}"])
    cells.append(["best possible with these looks", f"{own['oracle_u']:.3f}", *[""] * 6])
    columns = ("policy", *NAMES, "Leadline ahead by")
    note = f"Standard error of Leadline's U: {own['U_se']:.3f}."
    return Table(f"{kind} runs ({own['n']})", TARGETS[kind], columns, cells, note)


def _must_show(rows: dict[str, list[Line]]) -> Table:
    cells = []
    policies = ("leadline", *sorted(set(rows) - {"leadline"}))
    for title, families, keys in (
        ("hacked: regret at the stop, at the end", HACKED, ("regret", "select")),
        ("collapsed: regret at the stop, at the end", COLLAPSED, ("regret", "select")),
        ("slow and late: false stops", LATE, ("false_stop",)),
    ):
        some = {name: [row for row in rows[name] if row["family"] in families] for name in policies}
        if some["leadline"]:
            told = [", ".join(f"{np.mean([row[key] for row in some[name]]):.3f}" for key in keys) for name in policies]
            cells.append([title, str(len(some["leadline"])), *told])
    return Table("Families", "hacked <= .12, collapsed <= .05, slow and late 0", ("what", "runs", *policies), cells)


def _often(score: Any, truths: dict[str, Any], rows: Sequence[Line], out: Path) -> Table:
    by_looks = {10: rows}
    for file in sorted((out / "often").glob("*.jsonl")):
        by_looks[int(file.stem)] = _scored(score, truths, _known(read(file), truths))
    cells = []
    for kind in KINDS:
        for looks, some in sorted(by_looks.items()):
            if _of(some, kind):
                wrong = [row["run"].split("/")[-1] for row in _of(some, kind) if row["false_stop"]]
                every = f"every {100 / looks:g} %"
                cells.append(
                    [f"{kind} ({len(_of(some, kind))})", every, *_figures(score, _of(some, kind)), ", ".join(wrong)]
                )
    note = "Between the looks every 10 % the findings are those of the last of them: this is about plateaus."
    columns = ("runs", "looks", *NAMES, "stopped too soon")
    return Table("Looking more often", "false <= .04, .05, .06 zoo; .05, .06, .07 public", columns, cells, note)


def _reliability(title: str, truths: dict[str, Any], given: Given, file: Path | None = None) -> Table:
    """What was said of P(continue pays) against how often a clear gain came, looks before the end."""
    cells: list[list[str]] = []
    points: dict[str, list[tuple[float, float]]] = {}
    for kind in KINDS:
        said, came = _said_and_came(truths, given, kind)
        for low in np.arange(FIFTHS) / FIFTHS:
            inside = (said >= low) & ((said < low + 1 / FIFTHS) | (low + 1 / FIFTHS >= 1))
            if inside.any():
                mean, observed = float(said[inside].mean()), float(came[inside].mean())
                points.setdefault(kind, []).append((mean, observed))
                place = f"{low:.1f} to {low + 1 / FIFTHS:.1f}"
                counted = [str(inside.sum()), str(_runs(truths, given, kind, low))]
                cells.append([kind, place, *counted, f"{mean:.2f}", f"{observed:.2f}", f"{observed - mean:+.2f}"])
        if len(said):
            cells.append([kind, "Brier score", str(len(said)), "", "", "", f"{np.mean((said - came) ** 2):.3f}"])
    if file is not None:
        _plot(points, file)
    columns = ("runs", "said", "looks", "of runs", "mean", "observed", "apart")
    return Table(title, "within .08 of observed", columns, cells, "Looks at one run are not independent.")


def _told(line: Line, truth: Any) -> bool:
    return line["p_continue_pays"] is not None and line["step"] < truth.T


def _said_and_came(truths: dict[str, Any], given: Given, kind: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pairs = [
        (line["p_continue_pays"], gain_came(truths[name][1], line["step"]))
        for name, lines in given.items()
        for line in lines
        if _kind(truths[name][0]) == kind and _told(line, truths[name][1])
    ]
    said, came = np.array(pairs, dtype=float).reshape(-1, 2).T
    return said, came


def _runs(truths: dict[str, Any], given: Given, kind: str, low: float) -> int:
    """How many runs the looks of one fifth come from."""
    place = round(low * FIFTHS)
    return len(
        {
            name
            for name, lines in given.items()
            for line in lines
            if _kind(truths[name][0]) == kind
            and _told(line, truths[name][1])
            and min(int(line["p_continue_pays"] * FIFTHS), FIFTHS - 1) == place
        }
    )


def _plot(points: dict[str, list[tuple[float, float]]], file: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4, 4))
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for kind, some in points.items():
        axes.plot([one[0] for one in some], [one[1] for one in some], marker="o", label=kind)
    axes.set_xlabel("P(continue pays) as said")
    axes.set_ylabel("how often a clear gain came")
    axes.legend()
    figure.savefig(file, dpi=120, bbox_inches="tight")
    pyplot.close(figure)


def _named(truths: dict[str, Any], given: Given) -> Table:
    """Whether the checkpoint that is named for a hacked run moves later as the run grows."""
    cells = []
    for name, lines in given.items():
        run, truth = truths[name]
        first = next((place for place, line in enumerate(lines) if line["verdict"] in ENDS), None)
        if run.family in HACKED and first is not None and lines[first]["step"] < truth.T:
            named = [line["best_step"] for line in lines[first:]]
            regrets = [
                truth.regret(truth.snap(one, line["step"])) for one, line in zip(named, lines[first:], strict=True)
            ]
            told = " ".join(f"{one:.0f}" for one in named)
            moved = f"{(max(named) - named[0]) / max(truth.T - truth.first, 1):+.2f}"
            cells.append([name.split("/")[-1], f"{lines[first]['step']:.0f}", told, moved, f"{max(regrets):.2f}"])
    columns = ("run", "stopped at", "named then and at each later look", "largest move, of the run", "worst regret")
    return Table("The named checkpoint as a hacked run grows", "it does not move later", columns, cells)


def _accusations(truths: dict[str, Any], given: Given) -> Table:
    """Witnesses against the reward heard on sound runs of the zoo, and on any public run."""
    cells = []
    sound = [name for name in given if _kind(truths[name][0]) == "zoo" and truths[name][0].family.startswith(SOUND)]
    for name, lines in given.items():
        heard = sorted({one for line in lines for one in line["because"] if WEIGHTS[one].meaning == "gamed"})
        if heard and (truths[name][0].kind == "public" or name in sound):
            cells.append([name, ", ".join(heard)])
    accused = sum(row[0] in sound for row in cells)
    note = f"{accused} of {len(sound)} sound runs."
    return Table("Witnesses on sound and on public runs", "<= 3 % of sound runs", ("run", "heard"), cells, note)


def _cost(truths: dict[str, Any], answers: dict[str, Given]) -> Table:
    """Median milliseconds of processor time a look, and the median over runs of the ratio on the same run."""
    cells = []
    for kind in KINDS:
        names = [name for name in answers["leadline"] if _kind(truths[name][0]) == kind]
        if not names:
            continue
        ours = {name: np.median([line["seconds"] for line in answers["leadline"][name]]) for name in names}
        judging = np.median([line["judging"] for name in names for line in answers["leadline"][name]])
        cells.append([kind, "leadline", f"{1000 * np.median(list(ours.values())):.1f}", ""])
        cells.append([kind, "of it the judgement", f"{1000 * judging:.1f}", ""])
        for policy in ("rldoctor", "rlwatch", "ptt"):
            if policy in answers:
                theirs = {name: np.median([line["seconds"] for line in answers[policy][name]]) for name in names}
                ratio = np.median([ours[name] / max(theirs[name], 1e-6) for name in names])
                cells.append([kind, policy, f"{1000 * np.median(list(theirs.values())):.1f}", f"{ratio:.0f}x"])
    return Table("Cost", "8x a look of rldoctor", ("runs", "policy", "ms a look", "Leadline takes"), cells)


def _by_family(score: Any, rows: Sequence[Line]) -> Table:
    cells = []
    for family in sorted({row["family"] for row in rows}):
        some = [row for row in rows if row["family"] == family]
        cells.append([family, str(len(some)), *_figures(score, some, 2)])
    return Table("By family", "none", ("family or repository", "runs", *NAMES), cells)
