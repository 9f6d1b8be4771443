"""Scenes of logged numbers: how reward, KL, entropy and length move together, and what must be said of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from staged import TRL, VERL, Must, Stage, broken, flat, hump, linear, plateau, slowing, step

from leadline.pipeline import read

Scene = Callable[[Stage], tuple[float, Must]]  # writes the run; the budget in runs of its length

OPEN = Must(("continue",), calm=True)
SPENT = ("stop", "undecided")


def kl_up_reward_up(stage: Stage) -> tuple[float, Must]:
    """Changing and improving."""
    bend = stage.between(0.7, 1.0)
    stage.write(lambda share: share**bend, linear)
    return 2, OPEN


def far_and_better(stage: Stage) -> tuple[float, Must]:
    """The same, half a nat a token away and more: a level of KL means nothing."""
    stage.kl_level = stage.between(0.5, 2)
    return kl_up_reward_up(stage)


def kl_up_reward_flat(stage: Stage) -> tuple[float, Must]:
    """Drift without benefit: it has run its course, and the score does not lie."""
    stage.write(plateau, lambda share: 0.2 + share)
    return 1.4, Must(SPENT)


def kl_tiny_reward_flat(stage: Stage) -> tuple[float, Must]:
    """A plateau, whatever creeps."""
    stage.kl_level = 10 ** stage.between(-4.5, -3)
    stage.write(plateau, linear)
    return 1.4, Must(SPENT)


def kl_up_reward_down(stage: Stage) -> tuple[float, Must]:
    """Destructive: back to before the fall."""
    top = stage.between(0.4, 0.65)
    stage.write(hump(top), lambda share: 0.3 + max(0.0, 12 * (share - top)))
    return 1.5, Must(("roll_back",), keep=(top - 0.2, top + 0.2), found=("kl.destructive",))


def kl_flat_reward_up(stage: Stage) -> tuple[float, Must]:
    """Ideal."""
    stage.write(linear)
    return 2, Must(("continue",), never=("policy.frozen",))


def kl_flat_reward_flat(stage: Stage) -> tuple[float, Must]:
    """Converged."""
    stage.write(plateau, plateau)
    return 1.5, Must(SPENT, calm=True)


def noise_only(stage: Stage) -> tuple[float, Must]:
    """No trend at all: neither rising nor fallen."""
    stage.noise *= 4
    stage.write(flat(0.0))
    return 1.5, Must((*SPENT, "continue"), kinds=("no_trend", "too_noisy", "time_left", "flat"))


def accelerating(stage: Stage) -> tuple[float, Must]:
    """A slow start, then faster and faster."""
    stage.write(lambda share: share**2.5, linear)
    return 1.8, Must(("continue",), kinds=("rising",))


def decelerating(stage: Stage) -> tuple[float, Must]:
    """Ever more slowly, with most of the plan done: nothing to worry about."""
    stage.write(slowing, slowing)
    return 1.15, Must(("continue", *SPENT), calm=True)


def peaked(stage: Stage) -> tuple[float, Must]:
    """A slow decline at a steady KL: the best version exists already."""
    top = stage.between(0.35, 0.6)
    stage.write(hump(top), lambda share: 0.5 + 0.2 * share)
    return 1.4, Must(("roll_back",), keep=(top - 0.2, top + 0.2))


def outside_step(stage: Stage) -> tuple[float, Must]:
    """The reward steps down and nothing of the policy moves: the task changed, and no checkpoint helps."""
    stage.write(step(1.0, 0.4, stage.between(0.4, 0.6)), entropy=flat())
    return 1.4, Must(("continue", *SPENT))


def outside_step_then_rise(stage: Stage) -> tuple[float, Must]:
    """The same, and it climbs again: what moves is not frozen."""
    at = stage.between(0.4, 0.6)
    stage.write(lambda share: 1.0 if share < at else 0.4 + 0.5 * (share - at) / (1 - at), entropy=flat())
    return 1.5, Must(("continue",), never=("policy.frozen",))


def just_collapsed(stage: Stage) -> tuple[float, Must]:
    """A few points after a collapse to the floor."""
    at, stage.noise = 1 - 6 / stage.steps, 0.02
    stage.write(lambda share: plateau(share) if share < at else 0.0, step(0.3, 20.0, at), entropy=step(1.0, 3.0, at))
    return 2, Must(("roll_back",), keep=(0.0, at))


def learning_rate_step(stage: Stage) -> tuple[float, Must]:
    """The loss doubles with the learning rate, and nothing is lost."""
    at = stage.between(0.4, 0.6)
    stage.write(linear, linear, loss=step(1.0, 2.5, at), lr=step(1.0, 2.5, at))
    return 1.8, Must(("continue",))


def longer_and_better(stage: Stage) -> tuple[float, Must]:
    """Threefold length with a held-out score that rises: reasoning, not padding."""
    stage.write(linear, linear, length=lambda share: 1 + 2 * share, held_out=lambda share: 0.8 * share)
    return 1.8, OPEN


def entropy_falls(stage: Stage) -> tuple[float, Must]:
    """To a fifth, while reward and held-out score rise: learning looks like this."""
    stage.write(linear, linear, entropy=lambda share: 1 - 0.8 * share, held_out=lambda share: 0.8 * share)
    return 1.8, Must(("continue",))


def held_out_turns(stage: Stage) -> tuple[float, Must]:
    """The training reward rises on, the held-out score peaked: keep its peak."""
    top, stage.noise = stage.between(0.35, 0.55), 0.03
    stage.write(linear, linear, held_out=hump(top))
    verdicts = ("roll_back", "stop")
    return 1.6, Must(verdicts, keep=(top - 0.25, top + 0.25), accused=True)


def zero_inflated(stage: Stage) -> tuple[float, Must]:
    """Most steps earn exactly nothing, fewer and fewer of them: neither an outage nor a collapse."""
    stage.noise, stage.offset = 0.0, 0
    stage.write(lambda share: float(stage.right(0.1 + 0.85 * share)) * stage.between(0.5, 1.0), linear)
    return 1.6, Must(("continue", "undecided"), never=("reward.outage", "kl.destructive"))


def saturated(stage: Stage) -> tuple[float, Must]:
    """At the top for most of the run while entropy falls: nothing left to gain, and nothing wrong."""
    stage.noise, stage.scale, stage.offset = 0.004, 1.0, 0
    stage.write(lambda share: 0.99 * (1 - math.exp(-20 * share)), linear, entropy=lambda share: 1 - 0.8 * share)
    return 1.4, Must(SPENT)


def kl_sawtooth(stage: Stage) -> tuple[float, Must]:
    """The reference is replaced five times, and KL begins anew each time: no drift and no harm."""
    stage.write(linear, lambda share: 0.05 + (5 * share) % 1.0)
    return 1.8, Must(("continue",), never=("kl.destructive", "kl.drift_without_benefit"))


def tools_out_briefly(stage: Stage) -> tuple[float, Must]:
    """Tools fail for six steps, and the reward with them: left out, and the run goes on."""
    first = stage.between(0.5, 0.7)

    def out(share: float) -> bool:
        return first <= share < first + 6 / stage.steps

    stage.write(
        lambda share: 0.0 if out(share) else share,
        linear,
        beside={"tools/failure_frequency": lambda share: 0.97 if out(share) else stage.between(0.01, 0.04)},
    )
    return 1.8, Must(("continue",), found=("reward.outage",), never=("reward.break", "reward.peaked"))


def accuracy_falls(stage: Stage) -> tuple[float, Must]:
    """The reward rises on while the share of right answers, logged beside it, falls: keep a step before that."""
    top = stage.between(0.3, 0.5)
    right = hump(top)
    stage.write(linear, linear, beside={"accuracy": lambda share: 0.1 + 0.6 * right(share) + stage.dice.gauss(0, 0.02)})
    return 1.6, Must(("roll_back", "stop"), accused=True, keep=(0.0, top + 0.2), found=("signal.train_eval_gap",))


def one_part_for_another(stage: Stage) -> tuple[float, Must]:
    """The reward rises by its format while its accuracy falls: whether that is meant is for the user."""
    stage.scale, stage.offset = 1.0, 0
    right = hump(stage.between(0.3, 0.4))

    def part(course: Callable[[float], float]) -> Callable[[float], float]:
        return lambda share: course(share) + stage.dice.gauss(0, 0.02)

    stage.write(
        lambda share: 0.6 * right(share) + 2 * share,
        linear,
        beside={
            "rewards/accuracy_reward/mean": part(lambda share: 0.6 * right(share)),
            "rewards/format_reward/mean": part(lambda share: 2 * share),
        },
    )
    return 1.6, Must(("continue", "undecided"))


def weight_anneals(stage: Stage) -> tuple[float, Must]:
    """The reward falls with the weight of its format part while right answers rise: nothing is lost."""
    stage.scale, stage.offset = 1.0, 0
    right = {"rewards/accuracy_reward/mean": lambda share: 0.2 + 0.4 * share + stage.dice.gauss(0, 0.03)}
    stage.write(lambda share: 1.15 - 0.55 * share, linear, beside=right)
    return 1.5, Must(("continue", "undecided"), never=("kl.destructive",))


def two_held_out(stage: Stage) -> tuple[float, Must]:
    """One held-out score gains much, another, first by name, slips a little: a trade, and no regression."""
    stage.write(
        linear,
        linear,
        beside={
            "eval_alpaca_accuracy": lambda share: 0.6 - 0.04 * share + stage.dice.gauss(0, 0.005),
            "eval_gsm8k_accuracy": lambda share: 0.3 + 0.4 * share + stage.dice.gauss(0, 0.005),
        },
    )
    return 1.5, Must(("continue",), kinds=("rising",))


def just_got_harder(stage: Stage) -> tuple[float, Must]:
    """A few points after the prompts got harder, at a steady policy: too early to tell, and no collapse."""
    at, stage.noise = 1 - 6 / stage.steps, 0.02
    stage.write(lambda share: plateau(share) if share < at else 0.5, entropy=flat())
    return 2, Must(("undecided", "continue"))


def just_collapsed_quietly(stage: Stage) -> tuple[float, Must]:
    """The same collapse, of a policy whose entropy and KL moved by little more than their noise: no harder prompts."""
    at, stage.noise = 1 - 10 / stage.steps, 0.02
    stage.write(lambda share: plateau(share) if share < at else 0.0, step(0.3, 0.4, at), entropy=step(1.0, 1.05, at))
    return 2, Must(("roll_back",), keep=(0.0, at))


def format_holds(stage: Stage) -> tuple[float, Must]:
    """Right formats rise on while the reward collapses: form is no measure of right answers."""
    form = {"rewards/format_success/mean": lambda share: 0.4 + 0.5 * share + stage.dice.gauss(0, 0.02)}
    stage.write(hump(0.5), lambda share: 0.3 + max(0.0, 12 * (share - 0.5)), beside=form)
    return 1.5, Must(("roll_back",))


def grader_down(stage: Stage) -> tuple[float, Must]:
    """Every response has scored exactly 0 for a while, at a steady policy: the grader is down, and no step helps."""
    at, stage.noise, stage.offset = 0.9, 0.03, 0
    stage.write(lambda share: 0.2 + 0.5 * share, entropy=flat())
    log = stage.folder / ("trainer_state.json" if stage.trl else "metrics.jsonl")
    text, first = log.read_text(), round(at * stage.steps)
    rows = json.loads(text)["log_history"] if stage.trl else [json.loads(line) for line in text.splitlines()]
    for row in rows[first:]:
        values, names = (row, TRL) if stage.trl else (row["data"], VERL)
        values |= {names["reward"]: 0.0, names["gradient"]: 0.001}
    log.write_text(
        json.dumps({"global_step": stage.steps, "log_history": rows})
        if stage.trl
        else "".join(json.dumps(row) + "\n" for row in rows)
    )
    return 1.5, Must(("continue", "undecided", "stop"))


SCENES: tuple[Scene, ...] = (
    kl_up_reward_up,
    far_and_better,
    kl_up_reward_flat,
    kl_tiny_reward_flat,
    kl_up_reward_down,
    kl_flat_reward_up,
    kl_flat_reward_flat,
    noise_only,
    accelerating,
    decelerating,
    peaked,
    outside_step,
    outside_step_then_rise,
    just_collapsed,
    learning_rate_step,
    longer_and_better,
    entropy_falls,
    held_out_turns,
    zero_inflated,
    saturated,
    kl_sawtooth,
    tools_out_briefly,
    accuracy_falls,
    one_part_for_another,
    weight_anneals,
    two_held_out,
    just_got_harder,
    just_collapsed_quietly,
    format_holds,
    grader_down,
)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_scene_is_read_as_a_practitioner_would(scene: Scene, tmp_path: Path) -> None:
    stage = Stage(scene.__name__, tmp_path)
    planned, must = scene(stage)
    assert broken(read(tmp_path, budget=round(planned * stage.steps), charts="main"), must) == []
