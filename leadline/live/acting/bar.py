"""When a run may be stopped by itself: the bar is higher than the one for saying so (docs/live.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LOOKS = 2  # in a row, at least, that must say so
ENDS = ("stop", "roll_back")  # the verdicts by which they do


@dataclass(frozen=True, slots=True)
class Bar:
    """What looks must say, and for how long, before a run is ended."""

    p: float  # that going on pays must be less likely; for saying so more is enough (leadline/judgement/decide.py)
    span: float  # of the plan over which they must say it


# What findings testify to is seen, and going on costs more; a plateau may end, and must hold as long again as it took
# to be called one.
FOUND = Bar(p=0.08, span=0.05)
PLATEAU = Bar(p=0.03, span=0.2)


@dataclass(frozen=True, slots=True)
class Said:
    """What one look said, as far as acting goes."""

    step: int
    verdict: str
    p_continue_pays: float | None
    plan: int  # steps of the plan
    over: bool = False  # the plan is at its end, or the run is finished by what it says itself
    found: bool = False  # the verdict rests on findings, and not on a plateau alone
    best: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to act after the last look, and why or why not."""

    act: bool
    verdict: str
    step: int
    why: str
    best: str | None = None
    since: int | None = None  # the step of the first look that says so


def said(reading: Mapping[str, object]) -> Said | None:
    """What a look said, from the JSON of its reading; None where it saw nothing."""
    run, judgement = reading["run"], reading["judgement"]
    assert isinstance(run, dict)
    assert isinstance(judgement, dict)
    first, last, planned = run["first_step"], run["last_step"], run["planned_steps"]
    if first is None or last is None:
        return None
    best = judgement["best_checkpoint"]
    return Said(
        last,
        judgement["verdict"],
        judgement["p_continue_pays"],
        max(planned or 0, last) - first,
        judgement.get("ended") is not None or (planned is not None and last >= planned),
        bool(judgement["because"]),
        None if best is None else best["path"] or f"step {best['step']}",
    )


def may_act(looks: Sequence[Said]) -> Decision:
    """Whether the looks at one life of a run, the latest last, are reason enough to stop it.

    >>> lost = [Said(step, "roll_back", 0.06, plan=100, found=True) for step in (40, 43, 46)]
    >>> may_act(lost).act, may_act(lost[:2]).act, may_act([*lost, Said(50, "undecided", 0.06, plan=100)]).act
    (True, False, False)
    """
    if not looks:
        return Decision(False, "undecided", 0, "there was no look yet")
    last = looks[-1]
    streaks = [(bar, _streak(looks, bar)) for bar in (FOUND, PLATEAU)]
    for bar, agreed in streaks:
        if not last.over and len(agreed) >= LOOKS and last.step - agreed[0].step >= bar.span * last.plan:
            most = max(look.p_continue_pays or 0.0 for look in agreed)
            why = (
                f"{len(agreed)} looks from step {agreed[0].step} to {last.step} all say that the run should end; "
                f"that going on pays had at most p {most:.2f}"
            )
            return Decision(True, last.verdict, last.step, why, last.best, agreed[0].step)
    return Decision(False, last.verdict, last.step, _why_not(last, streaks), last.best)


def _streak(looks: Sequence[Said], bar: Bar) -> list[Said]:
    """The latest looks in a row that say clearly that the run should end."""
    agreed: list[Said] = []
    for look in reversed(looks):
        p = look.p_continue_pays
        ended = look.verdict in ENDS and p is not None and p < bar.p
        if not ended or (bar is FOUND and not look.found):
            break
        agreed.append(look)
    return agreed[::-1]


def _why_not(last: Said, streaks: Sequence[tuple[Bar, list[Said]]]) -> str:
    if last.over:
        return "the plan is at its end: the run ends by itself"
    agreeing = [(bar, agreed) for bar, agreed in streaks if agreed]
    if not agreeing:
        return f"the look at step {last.step} does not say clearly enough that the run should end"
    bar, agreed = agreeing[0]
    return f"the looks since step {agreed[0].step} agree, but not yet over {bar.span:.0%} of the plan"
