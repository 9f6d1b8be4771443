"""Decide when a run may be stopped without a person: a higher bar than for advising it (docs/live.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import dataclass

LOOKS = 2  # in a row, at least, that must say so
ENDS = ("stop", "roll_back")  # the verdicts by which they do


@dataclass(frozen=True, slots=True)
class Bar:
    """The bar that checks must clear, and for how long, before a run is stopped."""

    p: float  # the chance of gain must be lower; advising needs less (leadline/judgement/decide.py)
    span: float  # of the planned steps over which they must agree


# Findings show damage that goes on; a plateau may end, so it must hold longer and be surer.
FOUND = Bar(p=0.08, span=0.05)
PLATEAU = Bar(p=0.03, span=0.2)


@dataclass(frozen=True, slots=True)
class Said:
    """One check, as far as acting needs it."""

    step: int
    verdict: str
    p_continue_pays: float | None
    plan: int  # steps of the plan
    over: bool = False  # it has ended, by its plan or by what it says itself
    found: bool = False  # the verdict rests on findings, and not on a plateau alone
    best: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision to act or not after the last check, and its reason."""

    act: bool
    verdict: str = "undecided"
    step: int = 0
    why: str = ""
    best: str | None = None


def said(reading: Mapping[str, object]) -> Said | None:
    """Return what a check said, from the JSON of its reading; None if it saw no steps."""
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
        judgement.get("ended") is not None,
        bool(judgement["because"]),
        None if best is None else best["path"] or f"step {best['step']}",
    )


def may_act(looks: Sequence[Said]) -> Decision:
    """Decide whether the checks of one life of a run, the latest last, are enough to stop it.

    >>> lost = [Said(step, "roll_back", 0.06, plan=100, found=True) for step in (40, 43, 46)]
    >>> may_act(lost).act, may_act(lost[:2]).act, may_act([*lost, Said(50, "undecided", 0.06, plan=100)]).act
    (True, False, False)
    """
    for bar in (FOUND, PLATEAU):
        agreed = _streak(looks, bar)
        if len(agreed) < LOOKS or (last := agreed[-1]).over or last.step - agreed[0].step < bar.span * last.plan:
            continue
        most = max(look.p_continue_pays or 0.0 for look in agreed)
        why = (
            f"{len(agreed)} checks from step {agreed[0].step} to {last.step} all recommend stopping;"
            f" chance of gain at most {most:.0%}"
        )
        return Decision(True, last.verdict, last.step, why, last.best)
    return Decision(False, looks[-1].verdict, looks[-1].step, best=looks[-1].best) if looks else Decision(False)


def _streak(looks: Sequence[Said], bar: Bar) -> list[Said]:
    """Return the latest checks in a row that clearly recommend stopping."""
    agreed: list[Said] = []
    for look in reversed(looks):
        p = look.p_continue_pays
        ended = look.verdict in ENDS and p is not None and p < bar.p
        if not ended or (bar is FOUND and not look.found):
            break
        agreed.append(look)
    return agreed[::-1]
