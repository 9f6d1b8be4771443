"""Words that several report formats share: what was read, what the curves do, what is empty and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..contract import ChartData, Finding, Reading, RunSummary
from ..digits import number, percent, span
from ..facts.chart import ChartId, Contrast
from ..facts.finding import NEEDS_EYES, REWARD_DROPPED, TIMELINE, TRUNCATION, WAYS_NAMED, Move, side_by_side
from ..facts.sections import hidden
from ..run import REWARD
from .verdict import LabeledLine, decides, verdict_lines

MORE = " (-v for details)"
NOTHING_LOGGED = "Nothing was logged up to this step."
PAST_THE_PLAN = "Run is at step {}, past its {} planned steps."
WRITTEN_TWICE = "{} rows of steps that were written before"
LAST_CHECKPOINT = "{} is the last"
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
FRAMEWORKS = {"trl": "TRL", "verl": "verl", "unsloth": "Unsloth", "openrlhf": "OpenRLHF", "slime": "slime"}
UNKNOWN_FRAMEWORK = "unknown framework"
NOT_RECOGNISED = "not recognized"
NOT_TOLD = "unknown"
BY_THE_RATE = "inferred from the learning rate"
ABOUT_REWARD, ABOUT_EVAL, ABOUT_KL = "reward", "held-out eval", "KL to reference"  # what is drawn first
HOW_TO_MAP = "; --map NAME=KEY says what one is"


def what_was_read(run: RunSummary) -> tuple[str, ...]:
    """Return the trainer and how far the log goes."""
    wrote = run.framework or UNKNOWN_FRAMEWORK
    wrote, algorithm = ("trl", wrote[4:]) if wrote.startswith("trl-") else (wrote, run.algorithm or "")
    if run.last_step is None:
        far = "no step logged"
    elif not run.planned_steps:
        far = f"step {run.last_step}"
    else:
        last = run.planned_steps - (run.first_step == 0)  # N steps counted from 0 end at N - 1
        done = "" if run.last_step >= last else f" ({percent(run.last_step / run.planned_steps)})"
        far = f"step {run.last_step}/{run.planned_steps}{done}" + f", {BY_THE_RATE}" * (run.plan_from == "schedule")
    return f"{FRAMEWORKS.get(wrote, wrote)} {algorithm.upper()}".strip(), far


def settings(run: RunSummary) -> tuple[tuple[str, str], ...]:
    """Return the settings of a run, by name."""
    known, by_the_rate = run.settings, f", {BY_THE_RATE}" * (run.plan_from == "schedule")
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
        ("Planned steps", NOT_TOLD if run.planned_steps is None else f"{run.planned_steps}{by_the_rate}"),
        ("Points", str(run.points)),
        *((name, number(value)) for name, value in told if value is not None),
    )


CLAUSE = re.compile(r"[:.](?:\s|$)")


def first_clause(says: str) -> str:
    """Return the short form of a sentence: up to its first colon or period.

    >>> first_clause("Entropy blew up, 0.209 → 1.81, as reward dropped: output is incoherent.")
    'Entropy blew up, 0.209 → 1.81, as reward dropped'
    """
    return CLAUSE.split(says, maxsplit=1)[0]


def folded(clauses: Sequence[str]) -> str:
    """Return lesser findings in one line."""
    lower = (one[:1].lower() + one[1:] if one[1:2].islower() else one for one in clauses)  # KL stays KL
    return " · ".join(lower)


def would_change(reading: Reading) -> str:
    """Return what would turn the verdict and when to check again; empty if there is neither."""
    step = reading.judgement.next_look_step
    return f"{decides(reading.judgement)} {'' if step is None else f'Check again at step {step}.'}".strip()


def curves_say(reading: Reading) -> dict[str, str]:
    """Return a line per curve by its topic; of the reward only if no finding gives its course."""
    told = any(finding.id in REWARD_DROPPED for finding in reading.findings)
    said = {
        "reward": "" if told else reading.reward.say(),
        "KL": reading.kl_reward.line(),
        "loss": "" if reading.policy_loss.because == "missing" else reading.policy_loss.say(),
        "time": reading.resources.time(),
    }
    return {about: says for about, says in said.items() if says}


ROUTINE = ("resources.eval_overhead", "resources.checkpoint_overhead", TIMELINE)
CLUES = ("stability.spike", "stability.grad_norm", "policy_loss.jump", "unexplained.break")  # to what went wrong


def worth_a_line(reading: Reading) -> list[Finding]:
    """Return the findings to print below the verdict: not those that its lines give, nor what asks for nothing."""
    reason, above = reading.judgement.reason, [one.finding for one in verdict_lines(reading).lines if one.finding]
    said = set(ROUTINE)
    if reason.kind == "fallen" and reading.judgement.judged == REWARD and not reason.unlikely:
        said |= {*REWARD_DROPPED, "stability.stuck"}
    if reason.kind in ("ceiling", "no_signal"):
        said |= {"stability.stuck"}
    moves = {one.id: getattr(one.facts, "moves", ())[:WAYS_NAMED] for one in reading.findings}
    ways = {name: [move.way for move in moved if isinstance(move, Move)] for name, moved in moves.items()}
    if any("cut" in moved for name, moved in ways.items() if name != NEEDS_EYES):
        said.add(TRUNCATION)
    elif TRUNCATION in ways and ways.get(NEEDS_EYES) == ["cut"]:
        said.add(NEEDS_EYES)
    calm = () if reason.is_past else CLUES  # as notes they did no harm
    return [
        one
        for one in reading.findings
        if one not in above and one.id not in said and (one.id not in calm or one.severity != "note")
    ]


def chart_title(data: ChartData, chart: ChartId) -> str:
    """Return the title of a chart, given what is in it."""
    if chart == "reward" and any(name.startswith("eval/") for name in data.chart(chart)):
        return REWARDS
    return CHARTS[chart]


def chart_is_empty(data: ChartData, chart: ChartId) -> str:
    """Return why a chart is empty."""
    if chart in EXPLAINED:
        return NO_SAMPLES["not kept"] if data.samples.none_because == "not kept" else TOO_FEW_SAMPLES
    return EMPTY.get(chart, "")


def is_masked(contrast: Contrast) -> bool:
    """Return whether a phrase holds a mark for something else: any digit, or the end of the text."""
    phrases = (*contrast.only_here, *contrast.only_there)
    return any(("#" in phrase.phrase and not phrase.whole_words) or "<end>" in phrase.phrase for phrase in phrases)


def head_lines(reading: Reading) -> list[LabeledLine]:
    """Return the lines below the headline. The two samples that settle most cases come after the finding they belong
    to, or after the advice to read them."""
    lines, judgement = verdict_lines(reading).lines, reading.judgement
    why = bool(lines) and lines[0].label == "why"
    asked = reading.findings if why or judgement.asks_for_review else ()
    pair = next((pair for one in asked if (pair := side_by_side(one.facts))), [])
    after = 1 if why else len(lines)
    return [*lines[:after], *(LabeledLine(when, says, quoted=True) for when, says in pair), *lines[after:]]


def missing_says(reading: Reading) -> str:
    """Return what is missing in one line; empty if nothing is, or if the lines of the verdict give all of it."""
    best, told = reading.judgement.best_checkpoint, set()
    if best is not None and best.path is None:
        told.add("checkpoints")
    if reading.judgement.outcome == "overfitted":  # the held-out eval parted from the training reward
        told.add("independent score")
    missing = [one for one in reading.run.missing if one.what not in told]
    return hidden(missing) if missing else ""
