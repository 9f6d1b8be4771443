"""The backtest for people: what it is measured against, a few sentences, and a table of runs."""

from __future__ import annotations

from collections.abc import Sequence

from ..comparison.gather import short_names
from ..digits import counted, percent, several
from .replay import Outcome, Replay

TRUTH = (
    "Scored against the logged metric: the held-out eval if there is one, else the training reward, smoothed. A reward "
    "that was hacked counts as good here."
)
HEADS = ("run", "verdict", "at step", "keep", "saved", "short", "metric")
VERDICTS = {"roll_back": "roll back"}


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
