"""Whether the output suffices: the part `questions` of bench/agents.py.

What an agent is asked most, answered by a script from the JSON that `leadline read` prints, and from nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import backtest
import backtest_tables
import line_files
import numpy as np
from tables import Table, share

OUT = Path(__file__).resolve().parent / "out"
SETS = ("zoo_dev", "zoo2_dev")
LOOKS = (1 / 3, 2 / 3, 1.0)
NEAR = 0.1  # of the run's range: a checkpoint so near to the best answers the question
BROKE = 0.3  # of the run's range, lost from the best to the last: a run of which one asks why it broke
FAITHFUL = ("exact", "gold", "hidden", "reach", "two", "noisy")  # scores that pay for what the policy is worth
CAUSES = ("the score", "the policy", "nothing")


def worth_its_gpus(told: Any) -> bool | None:
    """None: the output says that it is too early to say."""
    return {"continue": True, "stop": False, "roll_back": False}.get(told["judgement"]["verdict"])


def checkpoint(told: Any) -> int | None:
    best = told["judgement"]["best_checkpoint"]
    return None if best is None else int(best["step"])


def broken_by(told: Any) -> str:
    """What broke: the score no longer measures the policy, or the policy fell and its score with it."""
    return {"gamed": "the score", "fallen": "the policy"}.get(told["judgement"]["reason"]["kind"], "nothing")


def _cause(case: Any, truth: Any) -> str:
    """What broke in truth, at the end of the run."""
    if truth.regret(len(truth.v) - 1) <= BROKE:
        return "nothing"
    told = json.loads((Path(case.folder) / "truth.json").read_text())
    parted = told["config"]["proxy"] not in FAITHFUL or told.get("family") == "overfit"
    return "the score" if parted else "the policy"


def _told(folder: str, until: int, budget: int) -> Any:
    """What the command prints, parsed."""
    from leadline.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main(["read", folder, "--json", "--until", str(until), "--budget", str(budget)])
    assert code == 0, folder
    return json.loads(printed.getvalue())


def _asked(case: Any) -> list[dict[str, Any]]:
    _, score = backtest._score_modules()
    truth, lines = score.Truth(case), []
    rewards = case.metrics["reward"]
    for look in LOOKS:
        step = round(case.first + look * (case.last - case.first))
        told = _told(str(case.folder), step, int(case.last))
        best, seen = checkpoint(told), rewards[0] <= step
        named = {
            "leadline": best,
            "last": step,
            "highest": int(rewards[0][seen][np.argmax(rewards[1][seen])]) if seen.any() else step,
        }
        lines.append(
            {
                "run": case.id,
                "look": round(look, 2),
                "worth": worth_its_gpus(told),
                "paid": backtest_tables.gain_came(truth, step),
                "verdict": told["judgement"]["verdict"],
                "p": told["judgement"]["p_continue_pays"],
                "named": named,
                # against the best there was by then: what came later, nobody could keep
                "lost": {who: None if at is None else _lost(truth, at, step) for who, at in named.items()},
                "broken": broken_by(told),
                "cause": _cause(case, truth),
                "reason": told["judgement"]["reason"]["kind"],
                "concerns": [found["id"] for found in told["findings"] if found["severity"] != "note"],
                "missing": [entry["what"] for entry in told["run"]["missing"]],
            }
        )
    return lines


def _lost(truth: Any, step: float, now: float) -> float:
    by_now = max(1, int(np.searchsorted(truth.s, now, side="right")))
    return float(truth.regret(truth.snap(step, now)) - truth.regret(int(np.argmax(truth.v[:by_now]))))


def questions(arguments: argparse.Namespace) -> None:
    """Three questions to runs of both zoos at a third, two thirds and the end."""
    runs, _ = backtest._score_modules()
    cases = list(backtest._cases(runs, SETS, arguments.only))[:: arguments.every]
    out = OUT / "agents_questions.jsonl"
    if not arguments.score_only:
        line_files.written(_asked, cases, out, arguments.processes)
    asked = line_files.read(out)
    for name in SETS:
        mine = [line for line in asked if line["run"].startswith(f"{name}/")]
        if mine:
            print(_answers(name, mine).text())
            print(_causes(name, mine).text())


def _answers(name: str, asked: list[dict[str, Any]]) -> Table:
    """The first two questions, beside what one would say without looking."""
    going = [line for line in asked if line["look"] < 1]
    said = [line for line in going if line["worth"] is not None]
    always = max((True, False), key=lambda says: sum(line["paid"] is says for line in said))
    broke = [line for line in asked if line["look"] == 1]
    rows = [
        [
            "is it still worth its GPUs?",
            share(line["worth"] is not None for line in going),
            share(line["worth"] == line["paid"] for line in said),
            f"always {'yes' if always else 'no'}: {share(line['paid'] is always for line in said)}",
        ],
        [
            "which checkpoint?",
            share(line["named"]["leadline"] is not None for line in asked),
            share(_near(line, "leadline") for line in asked),
            f"the last: {share(_near(line, 'last') for line in asked)}; "
            f"highest reward: {share(_near(line, 'highest') for line in asked)}",
        ],
        [
            "why did it break?",
            share(line["reason"] != "no_trend" for line in broke),
            share(line["broken"] == line["cause"] for line in broke),
            f"always nothing: {share(line['cause'] == 'nothing' for line in broke)}",
        ],
    ]
    title = f"{name}: {len({line['run'] for line in asked})} runs, asked by script"
    return Table(title, "answered and right", ["question", "answered", "right", "without looking"], rows)


def _near(line: dict[str, Any], who: str) -> bool:
    lost = line["lost"][who]
    return lost is not None and lost <= NEAR


def _causes(name: str, asked: list[dict[str, Any]]) -> Table:
    ended = [line for line in asked if line["look"] == 1]
    rows = []
    for cause in CAUSES:
        mine = [line for line in ended if line["cause"] == cause]
        rows.append([cause, *(str(sum(line["broken"] == said for line in mine)) for said in CAUSES)])
    return Table(f"{name}: what broke, at the end", "diagonal", ["in truth", *(f"said: {x}" for x in CAUSES)], rows)
