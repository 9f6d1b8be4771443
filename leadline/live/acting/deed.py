"""The record of what was done to a run, or would have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ...records import asdict, dataclass, replace
from ..alert import Alert, key_of
from .bar import Decision
from .orders import Order
from .process import Identity

State = Literal["dry", "begun", "sent", "running", "escalated", "orphan", "done", "again", "failed", "refused"]
OPEN: tuple[State, ...] = ("sent", "running", "escalated", "orphan")  # done; whether the run ended is not known yet


@dataclass(frozen=True, slots=True)
class Life:
    """One attempt at one run, to which an order is carried out once."""

    run: int  # in the store
    name: str  # the run's identity
    life: int = 0
    attempt: int = 1

    def deed(self, order: Order) -> str:
        """Return the key of an order carried out on this attempt."""
        return f"{self.name}\0{self.life}\0{self.attempt}\0{order.text}"


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

    def as_data(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, object]) -> Action:
        kept = {name: data.get(name) for name in cls.__slots__}
        trains, tree = kept["trains"], kept["tree"]
        kept["trains"] = tuple(Identity.from_data(one) for one in trains) if isinstance(trains, list) else ()
        kept["tree"] = tuple(map(str, tree)) if isinstance(tree, list) else ()
        kept |= {name: kept[name] or usual for name, usual in (("order", kept["kind"]), ("attempt", 1), ("ticks", 0))}
        return cls(**kept)  # type: ignore[arg-type]

    def now(self, state: State, says: str) -> Action:
        """Return the next entry of the same deed."""
        return replace(self, state=state, says=says)


def begun(life: Life, order: Order, decision: Decision, state: State, says: str) -> Action:
    """Return the first entry of a deed."""
    return Action(
        state, order.kind, order.text, life.life, life.attempt, decision.step, order.told(), says, decision.why,
        decision.best,
    )  # fmt: skip


def latest(actions: Sequence[tuple[float, Mapping[str, object]]], life: Life, order: Order) -> Action | None:
    """Return the last entry of a deed; None if there is none."""
    for _, data in reversed(actions):
        action = Action.from_data(data)
        if (action.order, action.life, action.attempt) == (order.text, life.life, life.attempt):
            return action
    return None


def alert_of(action: Action, run: str) -> Alert:
    """Return the alert about an action."""
    about = f"action.{action.order}.{action.state}"
    key = key_of(f"{run}\0{action.life}\0{action.attempt}", about, action.step)
    says = f"{action.says} Why: {action.why}."
    return Alert(run, "action", action.step, None, "critical", says, (), action.best, key)
