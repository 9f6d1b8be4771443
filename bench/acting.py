"""Whether acting does harm, and how often it would end a run too early: `python bench/acting.py`. Needs Linux.

First the scenes of bench/acting_kinds.py, all of them listed with what became of each. Then, where `python
bench/backtest.py` has left its replays (`--out`), the rule of leadline/live/acting/orders.py is asked after every look
of them, and beside it: ending the run at the first stop or roll back that is said.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import acting_kinds
from backtest import OUT, SETS, _cases, _score_modules
from backtest_tables import read
from tables import Table, average, share

from leadline.live.acting.orders import FOUND, PLATEAU, Said, may_act

Looks = Sequence[dict[str, Any]]
Policy = Callable[[Looks], int | None]  # the place of the look at which it ends the run


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--jobs", type=int, default=6, help="scenes at a time: they mostly wait")
    parser.add_argument("--only", help="scenes whose name holds this")
    arguments = parser.parse_args(argv)
    harm = acting_kinds.run(arguments.jobs, arguments.only, every=True)
    if arguments.only is None and arguments.out.exists():
        _bars(arguments.out)
    return harm


def _bars(out: Path) -> None:
    runs, score = _score_modules()
    given = read(out)
    kept = [name for name in SETS if any(run.startswith(f"{name}/") for run in given)]
    truths = {run.id: score.Truth(run) for run in _cases(runs, kept, []) if run.id in given}
    for kind in kept:
        ids = [one for one in truths if one.startswith(f"{kind}/")]
        rows = [_row(name, policy, ids, given, truths) for name, policy in POLICIES.items()]
        looks = max((len(given[one]) for one in ids), default=0)
        if not ids:
            continue
        print(Table(f"Ending runs by itself: {kind}, {looks} looks a run", TARGET, COLUMNS, rows).text())


TARGET = "acting ends fewer runs too early than the verdict it rests on"
COLUMNS = ("rule", "ended", "ended too early", "share of the run spent")


def _row(name: str, policy: Policy, ids: Sequence[str], given: dict[str, Looks], truths: dict[str, Any]) -> list[str]:
    ended = {one: place for one in ids if (place := policy(given[one])) is not None}
    steps = {one: float(given[one][place]["step"]) for one, place in ended.items()}
    spent = [truths[one].spent(steps[one]) if one in steps else 1.0 for one in ids]
    early = [run in steps and _improved_later(truths[run], steps[run]) for run in ids]
    for run in (run for run, was in zip(ids, early, strict=True) if was):
        print(f"too early by {name}: {run} at step {steps[run]:.0f} of {given[run][-1]['last_step']:.0f}")
    return [name, share(one in ended for one in ids), share(early), average(spent)]


def _improved_later(truth: Any, step: float) -> bool:
    """As ../shared/score counts a false stop."""
    return bool(truth.late_gain(step) > max(3 * truth.se, 0.05 * truth.S))


def _first_said(looks: Looks) -> int | None:
    ends = (place for place, one in enumerate(looks[:-1]) if one["verdict"] in ("stop", "roll_back"))
    return next(ends, None)


def _acts(looks: Looks) -> int | None:
    said = []
    for place, one in enumerate(looks):
        step, last = int(one["step"]), int(one["last_step"])
        found = bool(one["because"])
        said.append(Said(step, one["verdict"], one["p_continue_pays"], plan=last, over=step >= last, found=found))
        if may_act(said).act:
            return place
    return None


POLICIES: dict[str, Policy] = {
    "the first stop or roll back said": _first_said,
    f"acting: findings p < {FOUND.p:g} over {FOUND.span:.0%}, plateau p < {PLATEAU.p:g} over {PLATEAU.span:.0%}": _acts,
}

if __name__ == "__main__":
    sys.exit(main())
