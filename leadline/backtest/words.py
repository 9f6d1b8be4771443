"""The backtest for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .outcome import Outcome
from .replay import Replay

NAMED = 10  # runs a line may list: --json holds all


def summary(replays: Sequence[Replay], unread: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What Leadline would have done with these runs, line by line: what it is about, what is said."""
    scored = [(one, one.outcome) for one in replays if one.outcome is not None]
    lines = [("runs", _counted(replays, scored, unread))]
    if not scored:
        return lines
    outcomes = [outcome for _, outcome in scored]
    stopped = [outcome for outcome in outcomes if outcome.stopped_at is not None]
    lines.append(("stopped", f"{len(stopped)} of {len(scored)}"))
    lines.append(("saved", f"{_percent(1 - _mean([one.spent for one in outcomes]))} of all steps"))
    lines.append(("lost", _lost(outcomes)))
    wrong = [one.run for one, outcome in scored if outcome.wrong]
    lines.append(("wrong", f"{len(wrong)} stopped although a clear gain was still to come{_listed(wrong)}"))
    for truth, count in Counter(one.truth for one, _ in scored).most_common():
        lines.append(("truth", f"{truth}: {count} run{'s' * (count != 1)}"))
    return lines


def _counted(replays: Sequence[Replay], scored: Sequence[object], unread: Sequence[str]) -> str:
    looks = sum(len(one.looks) for one in replays)
    seconds = sum(look.seconds for one in replays for look in one.looks)
    each = f", {1000 * seconds / looks:.0f} ms each" if looks else ""
    text = f"{len(replays)} replayed, {looks} looks{each}; {len(scored)} scored"
    return text + (f"; {len(unread)} could not be read{_listed(list(unread))}" if unread else "")


def _lost(outcomes: Sequence[Outcome]) -> str:
    ours = _percent(_mean([one.regret for one in outcomes]))
    last = _percent(_mean([one.regret_last for one in outcomes]))
    logged = _percent(_mean([one.regret_best_logged for one in outcomes]))
    return f"{ours} of a run's range; to the end and the last checkpoint {last}, the best logged {logged}"


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f": {', '.join(names[:NAMED])}{more}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
