"""Replay finished runs: the verdicts Leadline would have given, and how right they were."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from ..comparison.gather import short_names
from ..digits import counted, percent, several
from ..errors import LeadlineError
from ..progress import end_with_parent, tell
from ..sources import Joining, open_runs
from .replay import CHECKS, Outcome, Replay, replay

__all__ = ["CHECKS", "Replay", "backtest", "replay", "summary", "table"]

TRUTH = (
    "Scored against the logged metric: the held-out eval if there is one, else the training reward, smoothed. A reward "
    "that was hacked counts as good here."
)
HEADS = ("run", "verdict", "at step", "keep", "saved", "short", "metric")
VERDICTS = {"roll_back": "roll back"}


def backtest(
    paths: Sequence[Path],
    *,
    checks: int = CHECKS,
    joining: Joining = "by evidence",
    processes: int | None = None,
) -> Iterator[tuple[Path, list[Replay] | LeadlineError]]:
    """Yield each place with its replayed runs, or the error if it could not be read, as they are done.

    Places are shared out over processes: in a folder of runs, each run is one place."""
    places = [place for path in paths for place in _places(path, joining)]
    count = min(processes or os.cpu_count() or 1, len(places))
    if count <= 1:
        for number, place in enumerate(places, 1):
            yield place, _replayed(place, checks, joining)
            tell("replaying", number, len(places))
        return
    # Spawned, not forked: the caller may hold threads.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(count, mp_context=context, initializer=end_with_parent, initargs=(os.getpid(),)) as pool:
        waiting = {pool.submit(_replayed, place, checks, joining): place for place in places}
        try:
            for number, done in enumerate(as_completed(waiting), 1):
                yield waiting[done], done.result()
                tell("replaying", number, len(places))
        except BaseException:  # Ctrl-C, or a caller that wants no more: waits for no run
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            raise


def _replayed(place: Path, checks: int, joining: Joining) -> list[Replay] | LeadlineError:
    try:
        return [replay(run, checks=checks) for run in open_runs(place, joining=joining)]
    except LeadlineError as error:
        return error


def _places(path: Path, joining: Joining) -> list[Path]:
    """Return the runs below a folder if each lies by itself, else the path."""
    try:
        found = [Path(run.path) for run in open_runs(path, joining=joining)] if path.is_dir() else []
    except LeadlineError:
        return [path]
    apart = len(set(found)) == len(found) > 1 and all(place.exists() and place != path for place in found)
    return found if apart else [path]


def summary(replays: Sequence[Replay], unread: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return labeled lines: the truth first, then what following Leadline would have saved and cost."""
    scored = [(one.run, one.outcome) for one in replays if one.outcome is not None]
    checks = [look.seconds for one in replays for look in one.looks]
    each = f" ({1000 * sum(checks) / len(checks):.0f} ms each)" if checks else ""
    runs = f"{counted(len(replays), 'run')} replayed, {counted(len(checks), 'check')}{each}, {len(scored)} scored."
    lines = [("truth", TRUTH), ("runs", runs)]
    if unread:
        lines.append(("skipped", f"{counted(len(unread), 'path')} could not be read: {several(unread)}"))
    if not scored:
        return lines
    outcomes = [outcome for _, outcome in scored]
    stopped = sum(outcome.stopped_at is not None for outcome in outcomes)
    saved = _tenths(1 - _mean([one.spent for one in outcomes]))
    lines.append(("saved", f"{stopped} of {counted(len(scored), 'run')} stopped early, saving {saved} of all steps."))
    lines.append(("cost", _cost(outcomes)))
    wrong = [run for run, outcome in scored if outcome.wrong]
    lines.append(
        ("wrong", f"{counted(len(wrong), 'stop')} before a clear gain: {several(wrong)}" if wrong else "None.")
    )
    return lines


def table(replays: Sequence[Replay]) -> list[tuple[str, ...]]:
    """Return one row per run under HEADS: where it would have been stopped, what it keeps, saves, and falls short."""
    listed = sorted(replays, key=lambda one: one.run)  # they come as they are done
    names = short_names([one.run for one in listed])
    return [HEADS, *(_row(name, one) for name, one in zip(names, listed, strict=True))]


def _row(name: str, one: Replay) -> tuple[str, ...]:
    last = one.looks[-1].last_step if one.looks else 0
    if one.outcome is None:
        return (name, "not scored", f"{last}/{last}", "", "", "", "")
    out = one.outcome
    verdict = VERDICTS.get(out.verdict, out.verdict) + (", too early" if out.wrong else "")
    at = f"{last if out.stopped_at is None else out.stopped_at}/{last}"
    kept = "last" if out.kept is None else str(out.kept)
    return name, verdict, at, kept, percent(1 - out.spent), percent(out.regret), one.truth


def _cost(outcomes: Sequence[Outcome]) -> str:
    ours = _tenths(_mean([one.regret for one in outcomes]))
    last = _tenths(_mean([one.regret_last for one in outcomes]))
    logged = _tenths(_mean([one.regret_best_logged for one in outcomes]))
    return (
        f"Kept checkpoints fall {ours} of a run's range short of its best step on average. For comparison, training to "
        f"the end: {last} for the last checkpoint, {logged} for the one with the highest logged value."
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _tenths(share: float) -> str:
    return f"{100 * share:.1f}%"
