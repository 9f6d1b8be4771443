"""The tables of bench/backtest.py, from the answers it wrote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import backtest_doubts as doubts
import backtest_sets as sets
import numpy as np
from tables import Table

Line = dict[str, Any]
Given = dict[str, list[Line]]  # what was said of each run, look by look
Truths = dict[str, Any]  # run: as the score loads it, and its truth

FIGURES = ("U", "regret", "spent", "false_stop", "missed", "select")
NAMES = ("U", "regret", "spent", "false", "missed", "select")
FIFTHS = 5
ENOUGH = 40  # looks of a fifth: fewer say nothing about it
ENDS = ("stop", "roll_back")


def read(out: Path, policy: str = "leadline") -> Given:
    """What a policy said of every run that a replay kept below `out`."""
    given: Given = {}
    for file in sorted(out.glob(f"*/{policy}.jsonl")):
        for line in file.read_text().splitlines():
            one = json.loads(line)
            given.setdefault(one["run"], []).append(one)
    return given


def report(score: Any, truths: Truths, out: Path) -> Iterator[Table]:
    policies = sorted({file.stem for file in out.glob("*/*.jsonl")} - {"leadline"})
    kept = {name: read(out, name) for name in ("leadline", *policies)}
    answers = {name: {run: given[run] for run in truths if run in given} for name, given in kept.items()}
    rows = {name: scored(score, truths, given) for name, given in answers.items()}
    ours = answers["leadline"]
    yield _sets(score, truths, ours, rows)
    yield _too_soon(truths, ours, rows["leadline"])
    yield _calibration(truths, ours)
    yield from doubts.tables(score, truths, answers)


def gain_came(truth: Any, step: float) -> bool:
    """Whether a clear gain came after a step, as the score counts a false stop."""
    return bool(truth.late_gain(step) > _clear(truth))


def as_good(truth: Any, kept: float, step: float) -> bool:
    """Whether no step so far is clearly better than the one that is kept."""
    so_far = truth.v[: max(1, int(np.searchsorted(truth.s, step, side="right")))]
    return bool(so_far.max() - truth.v[truth.snap(kept, step)] <= _clear(truth))


def _clear(truth: Any) -> float:
    return float(max(3 * truth.se, 0.05 * truth.S))


def scored(score: Any, truths: Truths, given: Given) -> list[Line]:
    return [
        {"run": name, "kind": truths[name][0].kind, "family": truths[name][0].family}
        | score.score_run(truths[name][1], looks)
        for name, looks in given.items()
    ]


def accused(looks: Sequence[Line]) -> bool:
    """Whether reward hacking was ever the reason of the verdict."""
    return any(look["reason"] == "gamed" for look in looks)


def set_of(run: str) -> str:
    return run.partition("/")[0]


def _is_of(name: str, run: str) -> bool:
    return set_of(run) == name


def _sets(score: Any, truths: Truths, ours: Given, rows: dict[str, list[Line]]) -> Table:
    sound = {name: sets.sound(run) for name, (run, _) in truths.items()}
    others = [name for name in rows if name != "leadline"]
    parts: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("all", lambda run: True),
        ("sound", lambda run: sound[run] is True),
        ("bad", lambda run: sound[run] is False),
    )
    cells = []
    for name in dict.fromkeys(map(set_of, ours)):
        for part, wanted in parts:
            mine = {
                policy: [row for row in some if set_of(row["run"]) == name and wanted(row["run"])]
                for policy, some in rows.items()
            }
            if not mine["leadline"]:
                continue
            own = score.summary(mine["leadline"])
            told = sum(accused(ours[row["run"]]) for row in mine["leadline"])
            beside = [score.summary(mine[policy]) if mine[policy] else None for policy in others]
            cells.append(
                [
                    name if part == "all" else f"... {part}",
                    str(own["n"]),
                    f"{own['U']:.3f} ± {own['U_se']:.3f}",
                    *(f"{own[key]:.3f}" for key in FIGURES[1:]),
                    str(told),
                    *("" if one is None else f"{one['U']:.3f} {one['false_stop']:.3f}" for one in beside),
                    f"{own['blind']:.3f} at {own['blind_at']:.0%}",
                    f"{own['oracle_u']:.3f}",
                ]
            )
    wrongly = [run for run, looks in ours.items() if sound[run] is not False and accused(looks)]
    seconds = [look["seconds"] for looks in ours.values() for look in looks]
    note = (
        f"Accused: reward hacking was the reason at some look. Sound or public: {', '.join(wrongly) or 'none'}. "
        f"Others: U and false stops. Processor time of a look: {1000 * np.median(seconds):.0f} ms (median)."
    )
    columns = ("set", "runs", *NAMES, "accused", *others, "always stop", "possible")
    target = (
        "zoo3: accused <= 1 of 37 sound, false <= .03, U >= .68; zoo2, zoo: U >= .72, .84, false <= .02; "
        "public, third: U >= .78, false <= .04"
    )
    return Table("All sets", target, columns, cells, note)


def _too_soon(truths: Truths, ours: Given, rows: Sequence[Line]) -> Table:
    cells = []
    for row in rows:
        if row["false_stop"]:
            look = next(look for look in ours[row["run"]] if look["verdict"] in ENDS)
            truth = truths[row["run"]][1]
            gain = truth.late_gain(look["step"]) / truth.S
            spent, p = f"{truth.spent(look['step']):.0%}", look["p_continue_pays"]
            told = [look["verdict"], look["reason"], "" if p is None else f"{p:.3f}"]
            cells.append([row["run"], spent, *told, f"{gain:.2f}"])
    columns = ("run", "at", "verdict", "reason", "p", "gain to come, of the range")
    return Table("Stopped while a clear gain was to come", "none", columns, cells)


def _calibration(truths: Truths, ours: Given) -> Table:
    """What was said by fifths against how often it was so."""
    kinds = {"P(continue pays)": _pays(truths, ours), "p_best": _best(truths, ours)}
    bad = {run for run in ours if sets.sound(truths[run][0]) is False}
    groups: dict[str, Callable[[str], bool]] = {
        "all sets": lambda run: True,
        "sound or public": lambda run: run not in bad,
        **{name: partial(_is_of, name) for name in dict.fromkeys(map(set_of, ours))},
    }
    cells = []
    for kind, told in kinds.items():
        for place in range(FIFTHS):
            row = [kind, f"{place / FIFTHS:.1f} to {(place + 1) / FIFTHS:.1f}"]
            for wanted in groups.values():
                row.append(_said_and_came([(p, came) for run, p, came in told if wanted(run) and _fifth(p) == place]))
            cells.append(row)
        brier = [[(p - came) ** 2 for run, p, came in told if wanted(run)] for wanted in groups.values()]
        cells.append([kind, "Brier score", *(f"{np.mean(some):.3f}" if some else "" for some in brier)])
    note = f"Said, came, looks; **off by more than .08**; empty below {ENOUGH} looks, which are not independent."
    return Table("Calibration", "within .08 in every fifth", ("what", "said", *groups), cells, note)


def _fifth(p: float) -> int:
    return min(int(p * FIFTHS), FIFTHS - 1)


def _said_and_came(pairs: Sequence[tuple[float, bool]]) -> str:
    if len(pairs) < ENOUGH:
        return ""
    said, came = np.asarray(pairs, dtype=float).mean(axis=0)
    told = f"{said:.2f} {came:.2f} ({len(pairs)})"
    return f"**{told}**" if abs(said - came) > 0.08 else told


def _pays(truths: Truths, ours: Given) -> list[tuple[str, float, bool]]:
    return [
        (run, look["p_continue_pays"], gain_came(truths[run][1], look["step"]))
        for run, looks in ours.items()
        for look in looks
        if look["p_continue_pays"] is not None and look["step"] < truths[run][1].T
    ]


def _best(truths: Truths, ours: Given) -> list[tuple[str, float, bool]]:
    return [
        (run, look["p_best"], as_good(truths[run][1], look["best_step"], look["step"]))
        for run, looks in ours.items()
        for look in looks
        if look["p_best"] is not None
    ]
