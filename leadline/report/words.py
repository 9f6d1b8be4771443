"""Words that several faces share: how sure, what was read, and each fact once."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract import Reading, RunSummary
from ..run import Event
from .plain import name

NAMED = 6  # names a line of a short text can hold


def sure(p: float) -> str:
    """A probability as a person would write it, in one word; a rounded 1.00 would claim too much.

    >>> sure(0.8123), sure(0.999), sure(0.001)
    ('p=.81', 'p>.99', 'p<.01')
    """
    return "p<.01" if p < 0.005 else "p>.99" if p >= 0.995 else f"p={p:.2f}".replace("0.", ".")


def what_was_read(run: RunSummary) -> tuple[str, ...]:
    """Who wrote the log, how far it goes, how much is in it."""
    who = run.framework or "unknown framework"
    if run.algorithm and not who.endswith(f"-{run.algorithm}"):
        who += f" ({run.algorithm})"
    span = "no step" if run.last_step is None else f"steps {run.first_step} to {run.last_step}"
    plan = f" of {run.planned_steps} planned" if run.planned_steps is not None else ""
    return who, span + plan, counted(len(run.signals), "signal")


def several(names: Sequence[str], most: int = NAMED) -> str:
    """The first few names, and how many there are besides."""
    return ", ".join(map(name, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(count: int, what: str) -> str:
    """
    >>> counted(1, "event"), counted(2, "event")
    ('1 event', '2 events')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def lead(reading: Reading) -> tuple[str, str]:
    """What the verdict says: its first sentence, and the rest of it."""
    says = reading.judgement.says or reading.judgement.verdict
    first, stop, rest = says.partition(". ")
    return first + stop.strip(), rest


def would_change(reading: Reading) -> str:
    """What would turn the verdict, and when to look again; empty where there is neither."""
    changes, step = reading.judgement.would_change, reading.judgement.next_look_step
    said = f"What would change this: {'; '.join(changes)}." if changes else ""
    return f"{said} {'' if step is None else f'Look again at step {step}.'}".strip()


class Once:
    """Each event in full where it is told first, in few words where it comes up again: findings name their causes, and
    several may have the same one."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = sorted(events, key=lambda event: -len(event.says))  # one may hold the words of another
        self._told: set[str] = set()

    def tell(self, says: str) -> str:
        for event in self._events:
            if event.says and event.says in says:
                if event.says in self._told:
                    says = says.replace(event.says, f"the {event.kind.replace('_', ' ')} at step {event.step}")
                self._told.add(event.says)
        return says

    def is_told(self, event: Event) -> bool:
        return event.says in self._told


def curves_say(reading: Reading) -> dict[str, str]:
    """What is said of the curves by what it is about, as far as there is something to say."""
    said = {
        "reward": _reward_says(reading),
        "KL": _kl_says(reading),
        "loss": _loss_says(reading),
        "time": time_says(reading),
    }
    return {about: says for about, says in said.items() if says}


def _loss_says(reading: Reading) -> str:
    """The policy loss, where no finding says it already."""
    loss = reading.policy_loss
    if (
        not loss.why
        or loss.pattern == "undecided"
        or any(one.id.startswith("policy_loss.") for one in reading.findings)
    ):
        return ""
    return f"{loss.pattern.replace('_', ' ')}: {loss.why}"


def _reward_says(reading: Reading) -> str:
    """The training reward, where no finding tells its course already."""
    if any(one.id in ("reward.peaked", "reward.declining") for one in reading.findings):
        return ""
    return reading.reward.says or reading.reward.shape


def _kl_says(reading: Reading) -> str:
    """KL against reward, where it is decided."""
    return reading.kl_reward.says if reading.kl_reward.regime not in ("undecided", "no_kl") else ""


def time_says(reading: Reading, most: int = 3) -> str:
    """Where the time of a step goes."""
    machine = reading.resources
    shares = several([f"{name} {use.share:.0%}" for name, use in machine.phases.items()], most)
    slowest = f"; {machine.bottleneck} is the bottleneck" if machine.bottleneck else ""
    return shares + slowest if shares else ""
