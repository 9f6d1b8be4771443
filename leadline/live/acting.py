"""Stopping a run where its user asked for it: when that may be, how it is done, and what is written down about it.

The bar is higher than the one for saying so (docs/live.md). What is done is done once a run, written down before and
after, and on first use only written down.
"""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ..errors import BadOrder
from ..report.plain import printable
from .alert import Alert, key_of
from .process import Identity, NotTheSame, identify, runs, send

LOOKS = 2  # in a row, at least, that must say so
ENDS = ("stop", "roll_back")  # the verdicts by which they do

Kind = Literal["stop", "sigterm", "sigint", "sigkill", "file"]
State = Literal["identified", "dry", "begun", "done", "refused"]

SIGNALS = {one.name.lower(): one for one in signal.Signals if one.name in ("SIGTERM", "SIGINT", "SIGKILL")}
FORMS = "stop, sigterm:PID, sigint:PID, sigkill:PID, file:PATH"


@dataclass(frozen=True, slots=True)
class Bar:
    """What looks must say, and for how long, before a run is ended."""

    p: float  # that going on pays must be less likely; for saying so more is enough (leadline/judgement/ending.py)
    span: float  # of the plan over which they must say it


# What findings testify to is seen, and going on costs more; a plateau may end, and must hold as long again as it took
# to be called one.
FOUND = Bar(p=0.1, span=0.05)
PLATEAU = Bar(p=0.05, span=0.2)


@dataclass(frozen=True, slots=True)
class Said:
    """What one look said, as far as acting goes."""

    step: int
    verdict: str
    p_continue_pays: float | None
    plan: int  # steps of the plan
    over: bool = False  # the plan is at its end
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


@dataclass(frozen=True, slots=True)
class Target:
    """What is acted on."""

    kind: Kind
    process: Identity | None = None
    path: Path | None = None

    def told(self) -> str:
        """The target in words."""
        if self.process is not None:
            return printable(f"process {self.process.pid} ({' '.join(self.process.command)[:200]})")
        return printable(f"the file {self.path}") if self.path is not None else "the training's own callback"


@dataclass(frozen=True, slots=True)
class Action:
    """What was done to a run, or would have been."""

    state: State
    kind: Kind
    life: int
    step: int
    target: str
    says: str
    why: str
    best: str | None = None  # the checkpoint to keep
    process: Identity | None = None

    def as_data(self) -> dict[str, object]:
        return {
            "state": self.state,
            "kind": self.kind,
            "life": self.life,
            "step": self.step,
            "target": self.target,
            "says": self.says,
            "why": self.why,
            "best": self.best,
            "process": None if self.process is None else self.process.as_data(),
        }


class Records(Protocol):
    """The part of the store that remembers actions."""

    def names(self) -> dict[str, int]: ...
    def record_action(self, run: int, action: Mapping[str, object], now: float) -> None: ...
    def actions(self, run: int) -> tuple[tuple[float, dict[str, object]], ...]: ...


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
        planned is not None and last >= planned,
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
            most = max(one.p_continue_pays or 0.0 for one in agreed)
            why = (
                f"{len(agreed)} looks from step {agreed[0].step} to {last.step} all say that the run should end; "
                f"that going on pays had at most p {most:.2f}"
            )
            return Decision(True, last.verdict, last.step, why, last.best)
    return Decision(False, last.verdict, last.step, _why_not(last, streaks), last.best)


def _streak(looks: Sequence[Said], bar: Bar) -> list[Said]:
    """The latest looks in a row that say clearly that the run should end."""
    agreed: list[Said] = []
    for one in reversed(looks):
        p = one.p_continue_pays
        ended = one.verdict in ENDS and p is not None and p < bar.p
        if not ended or (bar is FOUND and not one.found):
            break
        agreed.append(one)
    return agreed[::-1]


def _why_not(last: Said, streaks: Sequence[tuple[Bar, list[Said]]]) -> str:
    if last.over:
        return "the plan is at its end: the run ends by itself"
    agreeing = [(bar, agreed) for bar, agreed in streaks if agreed]
    if not agreeing:
        return f"the look at step {last.step} does not say clearly enough that the run should end"
    bar, agreed = agreeing[0]
    return f"the looks since step {agreed[0].step} agree, but not yet over {bar.span:.0%} of the plan"


def target(order: str, records: Records) -> Target:
    """What an order of the user (`--act`) names. A process is looked up at once. It must be running, unless it is one
    that was watched before: a watch that is started again after the training has ended goes on."""
    kind, _, rest = order.partition(":")
    if kind == "stop" and not rest:
        return Target("stop")
    if kind == "file" and rest:
        return Target("file", path=Path(rest).absolute())
    if kind in SIGNALS and rest.isdecimal():
        earlier = [one for run in records.names().values() for one in _identified(records, run, int(rest))]
        return Target(kind, process=earlier[-1] if earlier and not runs(int(rest)) else identify(int(rest)))  # type: ignore[arg-type]
    raise BadOrder(
        f"--act {order} cannot be followed.", tried="to read it as an action", next_step=f"use one of {FORMS}"
    )


def remember(records: Records, run: int, wanted: Target, now: float, *, life: int = 0) -> Target:
    """The target with the process that bore its number when the run was first watched: a watch that is started again
    with the same words must not act on a process that took the number since."""
    if wanted.process is None:
        return wanted
    for known in _identified(records, run, wanted.process.pid):
        return Target(wanted.kind, known)
    says = f"Will act on {wanted.told()} if the bar is reached."
    first = Action("identified", wanted.kind, life, 0, wanted.told(), says, "--act", process=wanted.process)
    records.record_action(run, first.as_data(), now)
    return wanted


def _identified(records: Records, run: int, pid: int) -> Iterator[Identity]:
    """The processes that bore a number when a run was first watched."""
    for _, action in records.actions(run):
        known = action.get("process")
        if action["state"] == "identified" and isinstance(known, dict) and known["pid"] == pid:
            yield Identity.from_data(known)


def act(decision: Decision, target: Target, *, dry: bool) -> tuple[State, str]:
    """Do it, or say what would be done: how it ended, and a sentence."""
    doing = _doing(target)
    if dry:
        return "dry", f"Dry run: would have {doing}. Nothing was done; the next run is acted on."
    try:
        if target.process is not None:
            send(target.process, SIGNALS[target.kind])
        elif target.path is not None:
            _write(target.path, decision)
    except (NotTheSame, OSError) as error:
        reason = printable(str(error))
        return "refused", f"Would have {doing}, and did not: {reason}."
    return "done", f"Has {doing}."


def carry_out(
    records: Records,
    run: int,
    decision: Decision,
    target: Target,
    now: float,
    *,
    life: int = 0,
    dry_run: bool = True,
    alone: bool = True,
) -> Action | None:
    """Act once on a life of a run, and write it down before and after. None where there is nothing to do. The first
    use of a state file is a dry run unless `dry_run` is off. `alone`: no other run is watched; else a process
    or a file could belong to any of them, and is left alone."""
    if not decision.act or _settled(records.actions(run), life, target.kind, dry_run):
        return None
    if not alone and target.kind != "stop":
        why = f"several runs are watched, and nobody said that {target.told()} belongs to this one"
        refused = _action("refused", target, decision, life, f"Would have {_doing(target)}, and did not: {why}.")
        records.record_action(run, refused.as_data(), now)
        return refused
    dry = dry_run and not any(_used(records.actions(one), target.kind) for one in records.names().values())
    if not dry:  # known before it is done: a watch that is killed in between must not do it twice
        begun = _action("begun", target, decision, life, f"About to act on {target.told()}.")
        records.record_action(run, begun.as_data(), now)
    state, says = act(decision, target, dry=dry)
    done = _action(state, target, decision, life, says)
    records.record_action(run, done.as_data(), now)
    return done


def asked_to_stop(actions: Sequence[tuple[float, Mapping[str, object]]], life: int = 0) -> bool:
    """Whether the training's own callback is to stop it: the field `act` of the answer."""
    return any(
        action["kind"] == "stop" and action["state"] in ("begun", "done") and action["life"] == life
        for _, action in actions
    )


def alert_of(action: Action, run: str) -> Alert:
    """What the user is told about an action."""
    key = key_of(f"{run}\0{action.life}", f"action.{action.kind}.{action.state}", action.step)
    says = f"{action.says} Why: {action.why}."
    return Alert(run, "action", action.step, None, "critical", says, (), action.best, key)


def _settled(actions: Sequence[tuple[float, Mapping[str, object]]], life: int, kind: Kind, dry_run: bool) -> bool:
    """Once is enough, and a dry run counts unless the user insists. What was begun and never finished is not repeated:
    a second signal makes many trainers give up without a checkpoint."""
    ends = ("begun", "done", "refused", "dry") if dry_run else ("begun", "done", "refused")
    return any(action["life"] == life and action["kind"] == kind and action["state"] in ends for _, action in actions)


def _used(actions: Sequence[tuple[float, Mapping[str, object]]], kind: Kind) -> bool:
    return any(action["kind"] == kind and action["state"] in ("dry", "done") for _, action in actions)


def _action(state: State, target: Target, decision: Decision, life: int, says: str) -> Action:
    return Action(
        state, target.kind, life, decision.step, target.told(), says, decision.why, decision.best, target.process
    )


def _doing(target: Target) -> str:
    if target.process is not None:
        return f"sent {target.kind.upper()} to {target.told()}"
    return f"written {target.told()}" if target.path is not None else "asked the training's own callback to stop it"


def _write(path: Path, decision: Decision) -> None:
    """Put the stop file there. One that is there already asks for the same."""
    text = json.dumps(
        {"stop": True, "verdict": decision.verdict, "step": decision.step, "why": decision.why, "best": decision.best}
    )
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
            file.write(text + "\n")
    except FileExistsError:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise
