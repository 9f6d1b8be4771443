"""Words that several report formats share: what was read, what the curves do, what is empty and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..contract import ChartData, Expected, Reading, RunSummary
from ..facts.chart import ChartId, Contrast
from .kl import kl_line
from .loss import loss_line
from .loss import pattern as loss_meaning
from .machine import equal_power
from .numbers import number, on_scale, percent, several, span, went
from .reward import trajectory
from .verdict import decides

NOTHING_LOGGED = "nothing was logged up to this step"
CHARTS: dict[ChartId, str] = {
    "reward": "Reward",
    "judged": "Primary metric",
    "kl": "KL to reference",
    "loss": "Policy loss",
    "grad_norm": "Gradient norm",
    "length": "Response length",
    "entropy": "Entropy",
    "diversity": "Overlap across prompts",
    "coherence": "Repetition within responses",
}
REWARDS = "Reward and held-out eval"
SMALL_PHASES = "other phases"
EMPTY: dict[ChartId, str] = {
    "reward": "No reward metric found in the log.",
    "kl": "KL to reference was not logged: watch entropy, response length, and the text for drift.",
    "loss": "Policy loss was not logged.",
    "grad_norm": "Gradient norm was not logged.",
    "length": "Response length was not logged.",
    "entropy": "Policy entropy was not logged.",
}
EXPLAINED: dict[ChartId, str] = {
    "diversity": "Similarity of responses to different prompts: 0 is nothing in common, 1 is identical.",
    "coherence": "Share of the text repeated verbatim within a response.",
}
NO_SAMPLES = {
    "not kept": "No sampled responses found, so the generated text could not be checked.",
    "without text": "The sampled responses contain no text.",
}
TOO_FEW_SAMPLES = "Sampled responses cover too few steps to follow this over time."
FOLDED = "Expected here, events, missing data"
FRAMEWORKS = {"trl": "TRL", "verl": "verl", "unsloth": "Unsloth", "openrlhf": "OpenRLHF", "slime": "slime"}
UNKNOWN_FRAMEWORK = "unknown framework"
NOT_RECOGNISED = "not recognized"
NOT_TOLD = "unknown"
BY_THE_RATE = "inferred from the learning rate"
ABOUT_THE_READING = "About this reading"
LOOKS_ODD = "Looks odd, but expected"
REWARD, HELD_OUT, KL = "reward", "held-out eval", "KL to reference"  # what is drawn first
READY, NOT_READY = "ready to read runs", "not ready: see what is missing above"
HOW_TO_MAP = "; --map NAME=KEY says what one is"


def past_the_plan(last_step: int, planned: int) -> str:
    return f"the run is at step {last_step}, past the {planned} steps that were planned"


def what_was_read(run: RunSummary) -> tuple[str, ...]:
    """Who wrote the log, how far it goes, how much is in it."""
    wrote = run.framework or UNKNOWN_FRAMEWORK
    wrote, algorithm = ("trl", wrote[4:]) if wrote.startswith("trl-") else (wrote, run.algorithm or "")
    return f"{FRAMEWORKS.get(wrote, wrote)} {algorithm.upper()}".strip(), _how_far(run)


def _how_far(run: RunSummary) -> str:
    if run.last_step is None:
        return "no step logged"
    if not run.planned_steps:
        return f"step {run.last_step}"
    done = "" if run.last_step >= run.planned_steps else f" ({percent(run.last_step / run.planned_steps)})"
    return f"step {run.last_step}/{run.planned_steps}{done}" + f", {BY_THE_RATE}" * (run.plan_from == "schedule")


def steps(first: int | None, last: int | None) -> str:
    return "no step" if last is None else f"steps {first} to {last}"


def settings(run: RunSummary) -> tuple[tuple[str, str], ...]:
    """What is known of the run before its first reading, by name."""
    known = run.settings
    told = (
        ("KL coefficient", known.kl_coefficient),
        ("Group size", known.group_size),
        ("Updates per batch", known.updates_per_batch),
        ("Learning rate", known.learning_rate),
        ("Max response length", known.length_cap),
    )
    return (
        ("Path", run.path),
        ("Framework", run.framework or NOT_RECOGNISED),
        ("Algorithm", run.algorithm or NOT_TOLD),
        ("Steps", "none" if run.last_step is None else span(run.first_step or 0, run.last_step)),
        ("Planned steps", _planned(run)),
        ("Points", str(run.points)),
        *((name, number(value)) for name, value in told if value is not None),
    )


def _planned(run: RunSummary) -> str:
    if run.planned_steps is None:
        return NOT_TOLD
    return f"{run.planned_steps}" + f", {BY_THE_RATE}" * (run.plan_from == "schedule")


CLAUSE = re.compile(r"[:.](?:\s|$)")
SHAPES = {
    "accelerating": "accelerating",
    "rising": "rising",
    "decelerating": "rising, slowing",
    "flat": "plateaued",
    "declining": "declining",
    "peaked": "peaked",
    "noise": "no trend",
    "undecided": "unclear",
}


def first_clause(says: str) -> str:
    """The short form of a sentence: up to its first colon or period.

    >>> first_clause("Entropy blew up, 0.209 → 1.81, as reward dropped: output is incoherent.")
    'Entropy blew up, 0.209 → 1.81, as reward dropped'
    """
    return CLAUSE.split(says, maxsplit=1)[0]


def folded(clauses: Sequence[str]) -> str:
    """Lesser findings in one line."""
    return f"{' · '.join(clauses)} (-v for details)"


def reward_caption(reading: Reading) -> str:
    """What the reward does, above its curve."""
    reward, numbers = reading.reward, reading.reward.trajectory
    if numbers.start is None or numbers.now is None:
        return SHAPES[reward.shape]
    if reward.shape == "peaked" and reward.peak is not None:
        now = on_scale(numbers.now, numbers.peak or 0.0)
        return f"peaked at step {reward.peak.step} ({span(*reward.peak.interval)}), now {now}"
    if reward.shape == "noise":
        return f"no trend around {number(numbers.now)}"
    return f"{went(numbers.start, numbers.now)}, {SHAPES[reward.shape]}"


def kl_caption(reading: Reading) -> str:
    """What KL does, above its curve."""
    course = reading.kl_reward.course
    if course is None:
        return ""
    kind = "" if course.identified else ", kind unknown"
    if course.way in ("still", "moved") and course.erratic is not None:
        return f"erratic around {number(course.now)}{kind}"
    flat = ", flat now" * (reading.kl_reward.regime.startswith("stable") and course.way != "still")
    return (
        f"no trend around {number(course.now)}{kind}"
        if course.way == "still"
        else f"{went(course.start, course.now)}{flat}{kind}"
    )


def written_twice(rows: int) -> str:
    return f"{rows} rows of steps that were written before"


def last_checkpoint(name: str) -> str:
    return f"{name} is the last"


def left_out(count: int) -> str:
    """How many items of a list are not shown."""
    return f"{count} more"


def would_change(reading: Reading) -> str:
    """What would turn the verdict, and when to check again; empty if there is neither."""
    step = reading.judgement.next_look_step
    return f"{decides(reading.judgement)} {'' if step is None else f'Check again at step {step}.'}".strip()


def missing_list(names: Sequence[str]) -> str:
    return f"Missing: {', '.join(names)}."


def unread_list(names: str) -> str:
    return f"Not understood: {names}."


def curves_say(reading: Reading) -> dict[str, str]:
    """What is said of the curves by what it is about, as far as there is something to say."""
    said = {
        "reward": _reward_says(reading),
        "KL": kl_line(reading.kl_reward),
        "loss": loss_line(reading.policy_loss),
        "time": time_says(reading),
    }
    return {about: says for about, says in said.items() if says}


def reward_says(reading: Reading) -> str:
    """What the training reward does, in one word and then in a sentence."""
    said = trajectory(reading.reward)
    return f"{reading.reward.shape}: {said}" if said else reading.reward.shape


def loss_says(reading: Reading) -> str:
    """What the policy loss does, and what that means here."""
    why = loss_meaning(reading.policy_loss)
    return f"{reading.policy_loss.pattern.replace('_', ' ')}: {why}" if why else ""


def expected_says(found: Expected) -> str:
    """What looks odd, and why it is normal here."""
    return f"{found.says.rstrip('.')}: {found.because}."


def _reward_says(reading: Reading) -> str:
    """The training reward, where no finding tells its course already."""
    if any(finding.id in ("reward.peaked", "reward.declining") for finding in reading.findings):
        return ""
    return trajectory(reading.reward) or reading.reward.shape


def time_says(reading: Reading, most: int = 3) -> str:
    """Where the time of a step goes."""
    machine = reading.resources
    shares = several([f"{name} {percent(use.share)}" for name, use in machine.phases.items()], most)
    slowest = f"; {machine.bottleneck} is the bottleneck" if machine.bottleneck else ""
    equal = next((says for facts in machine.remarks if (says := equal_power(facts))), "")
    return f"{shares}{slowest}{equal and f'; {equal}'}" if shares else ""


def chart_title(data: ChartData, chart: ChartId) -> str:
    """What a chart is called, given what is in it."""
    if chart == "reward" and any(name.startswith("eval/") for name in data.chart(chart)):
        return REWARDS
    return CHARTS[chart]


def chart_is_empty(data: ChartData, chart: ChartId) -> str:
    """Why there is nothing in a chart."""
    if chart in EXPLAINED:
        return NO_SAMPLES["not kept"] if data.samples.none_because == "not kept" else TOO_FEW_SAMPLES
    return EMPTY.get(chart, "")


def is_masked(contrast: Contrast) -> bool:
    """Whether its phrases hold a mark that stands for something else: any digit, or the end of the text."""
    phrases = (*contrast.only_here, *contrast.only_there)
    return any(("#" in phrase.phrase and not phrase.whole_words) or "<end>" in phrase.phrase for phrase in phrases)
