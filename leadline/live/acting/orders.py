"""An order as `--act` gives it: the action, what it names, the bar that checks must clear first, and the record of what
came of it. The bar is higher than the one for advising (docs/live.md)."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from ...errors import BadOrder
from ...records import asdict, dataclass
from ...report.plain import printable
from ..records import Alert, key_of
from . import programs
from .process import Identity, identify, ticks

SIGNALS = {name: getattr(signal, name.upper()) for name in ("sigterm", "sigint", "sigkill")}
FORMS = (
    "stop, sigterm:PID[:next], sigint:PID[:next], sigkill:PID[:next], file:PATH,"
    " slurm:JOBID[:int|:usr1|:full|:requeue], kubectl:NAMESPACE/NAME, ray:JOBID, command:'PROGRAM ...'"
)
State = Literal["dry", "begun", "sent", "running", "escalated", "orphan", "done", "again", "failed", "refused"]
OPEN: tuple[State, ...] = ("sent", "running", "escalated", "orphan")  # done; whether the run ended is not known yet
LOOKS = 2  # in a row, at least, that must say so
ENDS = ("stop", "roll_back")  # the verdicts by which they do


@dataclass(frozen=True, slots=True)
class Order:
    """One thing to do when the bar is reached."""

    text: str  # as the user wrote it
    kind: str
    process: Identity | None = None
    known_at: int = 0  # ticks since boot when it was named
    sends_on: bool = False  # a script that waits for the process may continue
    path: Path | None = None
    job: programs.Job | None = None  # of a scheduler, as it was found
    words: tuple[str, ...] = ()  # of a command

    def told(self) -> str:
        """Return its target in words."""
        if self.process is not None or self.job is not None:
            return printable((self.process or self.job).told())  # type: ignore[union-attr]
        if self.path is not None:
            return printable(f"the file {self.path}")
        return printable(f"the command {shlex.join(self.words)}") if self.words else "the training's own callback"

    def doing(self) -> str:
        """Return what it does, in words that follow "has" or "would have"."""
        if self.job is not None:
            return printable(self.job.does)
        verb = f"sent {self.kind.upper()} to" if self.process else {"file": "written", "command": "run"}.get(self.kind)
        return f"asked {self.told()} to stop it" if verb is None else f"{verb} {self.told()}"

    def as_data(self) -> dict[str, object]:
        """Return what identifies the target, for a watch that is restarted."""
        found = {"process": self.process, "job": self.job}
        targets = {name: None if one is None else asdict(one) for name, one in found.items()}
        return {"kind": self.kind, "known_at": self.known_at, **targets}


def parse(text: str, known: Mapping[str, object] | None = None) -> Order:
    """Parse an order. `known` is what an earlier watch with the same order wrote down: its process or job is meant,
    even if its number was reused since. Raises BadOrder."""
    kind, _, rest = text.partition(":")
    if kind == "stop" and not rest:
        return Order(text, "stop")
    if kind == "file" and rest:
        return Order(text, "file", path=Path(rest).absolute())
    number, _, after = rest.partition(":")
    known = known or {}
    if kind in SIGNALS and number.isdecimal() and after in ("", "next"):
        process, at = known.get("process"), known.get("known_at")
        found = Identity.from_data(process) if isinstance(process, dict) else identify(int(number))
        return Order(text, kind, found, at if isinstance(at, int) else ticks(), sends_on=after == "next")
    if kind in programs.SCHEDULERS and rest:
        job = known.get("job")
        found_job = programs.Job.from_data(job) if isinstance(job, dict) else programs.find(kind, rest)
        return Order(text, kind, job=found_job)
    with suppress(ValueError):
        if kind == "command" and (words := tuple(shlex.split(rest))):
            return Order(text, "command", words=words)
    raise BadOrder(f"unknown action {text!r} for --act.", next_step=f"use {FORMS}")


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


@dataclass(frozen=True, slots=True)
class Life:
    """One attempt at one run, to which an order is carried out once."""

    run: int  # in the store
    name: str  # the run's identity
    life: int = 0
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Action:
    """One entry in the record of a deed; the last one is its state."""

    state: State
    kind: str
    order: str
    life: int
    attempt: int
    step: int
    target: str
    says: str
    why: str
    best: str | None = None  # the checkpoint to keep
    trains: tuple[Identity, ...] = ()  # the process that got the signal
    ticks: int = 0  # when, in ticks since boot
    tree: tuple[str, ...] = ()  # its ancestors and descendants

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Action:
        trains = tuple(Identity.from_data(one) for one in data["trains"])
        return cls(**{**data, "trains": trains, "tree": tuple(data["tree"])})

    def alert(self, run: str) -> Alert:
        """Return the alert about it."""
        key = key_of(f"{run}\0{self.life}\0{self.attempt}", f"action.{self.order}.{self.state}", self.step)
        return Alert(run, "action", self.step, None, "critical", f"{self.says} Why: {self.why}.", (), self.best, key)


def begun(life: Life, order: Order, decision: Decision) -> Action:
    """Return the first entry of a deed."""
    told, deed = order.told(), (order.kind, order.text, life.life, life.attempt, decision.step)
    return Action("begun", *deed, told, f"About to act on {told}.", decision.why, decision.best)


def latest(actions: Sequence[tuple[float, Mapping[str, object]]], life: Life, order: Order) -> Action | None:
    """Return the last entry of a deed; None if there is none."""
    found = (Action.from_data(data) for _, data in reversed(actions))
    deed = (order.text, life.life, life.attempt)
    return next((one for one in found if (one.order, one.life, one.attempt) == deed), None)
