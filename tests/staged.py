"""Scenes: patterns that a practitioner knows, as small runs of random sizes, and what must be said of each.

A scene writes its run by `Stage.write`: curves are functions of the share of the run, in units of the run's own range.
The stage draws length, noise, scale, offset, KL level and log format from its name and seed, because levels carry no
meaning; shapes and relations do. `broken` compares what was said with what `Must` asks for.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from leadline.contract import Reading
from leadline.facts.judgement import ReasonKind, Verdict

Course = Callable[[float], float]
Sample = tuple[str, str, float]  # prompt, response, score
Writes = Callable[[float], Iterable[Sample]]

PER_BATCH = 24  # samples
BATCHES = 30
VERL = {
    "reward": "critic/score/mean",
    "kl": "actor/kl_loss",
    "entropy": "actor/entropy",
    "gradient": "actor/grad_norm",
    "loss": "actor/pg_loss",
    "length": "response_length/mean",
    "lr": "actor/lr",
    "held_out": "val-core/task/reward/mean@1",
}
TRL = {
    "reward": "reward",
    "kl": "kl",
    "entropy": "entropy",
    "gradient": "grad_norm",
    "loss": "loss",
    "length": "completions/mean_length",
    "lr": "learning_rate",
    "held_out": "eval_reward",
}


def flat(level: float = 1.0) -> Course:
    return lambda share: level


EVEN, NONE = flat(), flat(0.0)


def linear(share: float) -> float:
    return share


def plateau(share: float) -> float:
    return 1 - math.exp(-15 * share)


def slowing(share: float) -> float:
    return 1 - math.exp(-3 * share)


def hump(top: float) -> Course:
    """Up to its top, then down by most of it."""
    return lambda share: math.sin(math.pi / 2 * share / top) if share < top else 1 - 0.7 * (share - top) / (1 - top)


def step(before: float, after: float, at: float) -> Course:
    return lambda share: before if share < at else after


def turn(at: float, pace: float = 30.0) -> Course:
    """From 0 to 1 about one place."""
    return lambda share: 1 / (1 + math.exp(-pace * (share - at)))


@dataclass(frozen=True)
class Must:
    """What has to be said. An accusation is `reward.gamed`, or a verdict for that reason."""

    verdicts: tuple[Verdict, ...]
    accused: bool = False
    calm: bool = False  # no finding is worse than a note
    kinds: tuple[ReasonKind, ...] = ()  # the reasons that may be given; empty: any
    keep: tuple[float, float] | None = None  # between which shares of the run the step to keep lies
    found: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


class Stage:
    """One run, written where a log of its framework would be."""

    def __init__(self, name: str, folder: Path, seed: int = 0) -> None:
        self.dice = random.Random(f"{name}, seed {seed}")
        self.folder = folder
        self.steps = self.dice.randint(120, 240)
        self.noise = self.dice.uniform(0.02, 0.06)
        self.scale, self.offset = 10 ** self.dice.uniform(-1, 1), self.dice.choice((0, 0, -1, 5))
        self.kl_level = 10 ** self.dice.uniform(-2.5, -0.3)  # nats a token at the end of an ordinary rise
        self.entropy_lost = self.dice.choice((0.0, 0.1, 0.3, 0.5))
        self.trl = self.dice.random() < 0.5

    def between(self, low: float, high: float) -> float:
        return self.dice.uniform(low, high)

    def right(self, chance: float) -> bool:
        return self.dice.random() < chance

    def write(
        self,
        reward: Course,
        kl: Course = EVEN,
        *,
        entropy: Course | None = None,
        loss: Course = NONE,
        length: Course = EVEN,
        lr: Course = EVEN,
        held_out: Course | None = None,
        samples: Writes | None = None,
        beside: Mapping[str, Course] | None = None,
    ) -> None:
        """Write the log and, if there are any, the samples. `beside`: further keys of TRL, as they are logged."""
        self.trl = self.trl or beside is not None
        drift, rows = 0.0, []
        for at in range(1, self.steps + 1):
            share = at / self.steps
            drift = 0.3 * drift + self.dice.gauss(0, self.noise)
            row = {
                "reward": self.offset + self.scale * (reward(share) + drift),
                "kl": max(0.0, self.kl_level * kl(share) * (1 + self.dice.gauss(0, 0.08))),
                "entropy": 0.6 * self._entropy(entropy, share) * (1 + self.dice.gauss(0, 0.02)),
                "gradient": 1 + self.dice.gauss(0, 0.1),
                "loss": 0.02 * loss(share) + self.dice.gauss(0, 0.003),
                "length": 240 * length(share) * (1 + self.dice.gauss(0, 0.02)),
                "lr": 1e-6 * lr(share),
            }
            if held_out is not None and at % 10 == 0:
                row["held_out"] = self.offset + self.scale * (held_out(share) + self.dice.gauss(0, self.noise / 3))
            named = {(TRL if self.trl else VERL)[key]: value for key, value in row.items()}
            rows.append({"step": at, **named, **{key: course(share) for key, course in (beside or {}).items()}})
        self._log(rows)
        if samples is not None:
            self._samples(samples)

    def _entropy(self, course: Course | None, share: float) -> float:
        return 1 - self.entropy_lost * share if course is None else course(share)

    def _log(self, rows: list[dict[str, float]]) -> None:
        if self.trl:
            held = [
                {"step": row["step"], "eval_reward": row.pop("eval_reward")} for row in rows if "eval_reward" in row
            ]
            history = sorted([*rows, *held], key=lambda row: row["step"])
            text = json.dumps({"global_step": self.steps, "log_history": history})
            (self.folder / "trainer_state.json").write_text(text)
            return
        lines = ({"step": row.pop("step"), "data": row} for row in rows)
        (self.folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def _samples(self, samples: Writes) -> None:
        place = self.folder / "rollouts"
        place.mkdir()
        for at in range(5, self.steps + 1, max(1, self.steps // BATCHES)):
            lines = (
                {"input": prompt, "output": response, "score": score, "step": at}
                for prompt, response, score in samples(at / self.steps)
            )
            (place / f"{at}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def broken(reading: Reading, must: Must) -> list[str]:
    """Return what was said that must not be, and what was not said that must be."""
    return list(_broken(reading, must))


def _broken(reading: Reading, must: Must) -> Iterator[str]:
    said, ids = reading.judgement, {finding.id for finding in reading.findings}
    if said.verdict not in must.verdicts:
        yield f"verdict {said.verdict} ({said.reason.kind})"
    if must.kinds and said.reason.kind not in must.kinds:
        yield f"reason {said.reason.kind}"
    if ("reward.gamed" in ids or said.reason.kind == "gamed") is not must.accused:
        yield "no accusation" if must.accused else "an accusation"
    worse = sorted(finding.id for finding in reading.findings if finding.severity != "note")
    if must.calm and worse:
        yield f"worse than a note: {' '.join(worse)}"
    yield from (f"no {name}" for name in must.found if name not in ids)
    yield from (name for name in must.never if name in ids)
    if must.keep is not None:
        best, last = said.best_checkpoint, reading.run.last_step or 1
        share = None if best is None else best.step / last
        if share is None or not must.keep[0] <= share <= must.keep[1]:
            yield f"keeps {share}"
