"""Where two things that one reading says cannot both be true: `contradictions(reading)`.

Looked at are the verdict, its reason, prospect, checkpoint and next step, the findings, the lines about reward and KL,
and the same number in different places, as printed. `bench/first_lines.py` asks all runs at hand,
`tests/judgement/test_contradictions.py` runs that lie in the repository.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterator

from leadline.contract import Reading
from leadline.digits import apart, number, percent
from leadline.facts.finding import REWARD_DROPPED, Cause, Finding
from leadline.findings.agent_turns import FailingTools, TurnsChange
from leadline.findings.generation_length import LengthChange
from leadline.findings.generation_truncation import Truncation
from leadline.findings.kl_destructive import KlDestructive
from leadline.findings.kl_drift import KlDrift
from leadline.findings.policy_frozen import KlFrozen
from leadline.findings.reward_break import RewardBreak
from leadline.findings.reward_fall import RewardFall
from leadline.findings.reward_gamed import Gamed, ResponsesChanged
from leadline.findings.reward_outage import RewardOutage
from leadline.findings.reward_prompts_changed import PromptsChanged
from leadline.findings.signal_no_learning_signal import AllTied, AllTruncated
from leadline.findings.signal_train_eval_gap import TrainEvalGap
from leadline.findings.stability_moved import EntropyMoved, GradientNorm
from leadline.findings.stability_spike import Spikes
from leadline.findings.stability_stuck import StuckSeries
from leadline.findings.timeline_order import OnsetOrder
from leadline.findings.unexplained_break import UnexplainedBreak
from leadline.judgement.decide import GO_ON, OPEN, STOP
from leadline.run import REWARD

APART = 0.02  # of the run: what moved so near moved at the same step
CUT = "truncated answers"  # told in whole percent
FELL = {*REWARD_DROPPED, "kl.destructive"}
DROPPED = {*FELL, "generation.degraded", "stability.entropy"}  # findings that say that the reward dropped
UP = ("accelerating", "rising", "decelerating")
DOWN = ("declining", "peaked")
SAME = {"rising": UP, "flat": ("flat", "noise", "undecided"), "fallen": ("declining", "peaked", "undecided", "flat")}
EXCLUDE = (  # findings of which at most one can be true
    ("policy.frozen", {"kl.destructive", "kl.drift_without_benefit"}),
    ("reward.peaked", {"reward.declining"}),
)
ENOUGH = 0.005  # of a probability: what rounding may add
CHANCES = {"continue": (GO_ON, 1.0), "undecided": (STOP, GO_ON), "stop": (0.0, GO_ON), "roll_back": (0.0, GO_ON)}
SURE = 0.8  # of a reason: a verdict cannot wait beside it
TOLD = 5e-5  # of a chance: where its last digit is rounded


def contradictions(reading: Reading) -> Iterator[str]:
    looks = (_directions, _levels, _chances, _verdicts, _ceilings, _dates, _endings, _checkpoints, _causes, _pairs)
    for look in (*looks, _outcomes, _stretches, _next_steps):
        yield from look(reading)


def _outcomes(reading: Reading) -> Iterator[str]:
    """What the run came to, beside its reason and the word for its curve."""
    judgement, shape = reading.judgement, _shape(reading)
    reason, outcome = judgement.reason, judgement.outcome
    if (outcome in ("plateaued", "no_trend", "saturated")) is not reason.is_flat:
        yield f"{outcome}, and {'flat' if reason.is_flat else 'not flat'}"
    if outcome == "no_trend" and shape in (*UP, *DOWN):
        yield f"never moved, above {shape}"
    if outcome == "unclear" and reason.kind != "too_noisy" and shape in ("flat", "noise"):
        yield f"cannot be told yet, above {shape}"
    if judgement.starts_over and judgement.best_checkpoint is not None and judgement.best_checkpoint.also_evaluate:
        yield "starts over, beside steps that are as good"
    if judgement.starts_over and judgement.is_open:
        yield "starts over, and goes on"
    if judgement.is_open and reason.kind == "gamed" and (reason.p or 0.0) > SURE:
        yield "goes on, though it is sure of hacking"


def _stretches(reading: Reading) -> Iterator[str]:
    """The part of the run that counts, beside what is said of all of it."""
    since = reading.judgement.judged_since
    facts = [finding.facts for finding in reading.findings]
    if since is not None and any("since the start" in fact.say() for fact in facts if isinstance(fact, KlFrozen)):
        yield f"still since the start, and judged since step {since}"
    changed = {change.after for fact in facts if isinstance(fact, PromptsChanged) and not fact.apart
               for change in (fact.change, *fact.later)[-1:]}  # fmt: skip
    stepped = {fact.cause.prompts.after for fact in facts if isinstance(fact, RewardBreak) and fact.cause.prompts}
    if changed & stepped:
        yield f"reward stepped and did not step as prompts changed by step {max(changed & stepped)}"
    for fact in facts:
        if isinstance(fact, RewardBreak) and fact.cause.kind == "unlogged" and since == fact.step:
            yield "judged since a gap of the log"


def _next_steps(reading: Reading) -> Iterator[str]:
    """What to do next, beside what was found."""
    judgement = reading.judgement
    found = {one.id: one for one in reading.findings}
    changed = found.get("generation.changed")
    unsure = changed is not None and isinstance(changed.facts, ResponsesChanged) and not changed.facts.clear
    if judgement.asks_for_review and (changed is None or unsure):
        yield "asks for a review of responses that did not clearly change"
    tools = found.get("agent.tool_failures")
    blamed = any(advice.finding == "reward.break" and advice.knob == "learning_rate" for advice in judgement.advice)
    if tools is not None and tools.severity != "note" and blamed:
        yield "blames the learning rate for a drop while tools fail"
    if judgement.verdict == "undecided" and len(judgement.deciding) < len(judgement.would_change):
        yield "undecided, and what would decide is not told"


def _serious(reading: Reading) -> set[str]:
    return {finding.id for finding in reading.findings if finding.severity != "note"}


def _directions(reading: Reading) -> Iterator[str]:
    """Rise, rest and fall, as the first line, the shape, the regime and the findings have it."""
    judgement, serious = reading.judgement, _serious(reading)
    reason, on_reward = judgement.reason, judgement.judged == REWARD
    shape = _shape(reading)
    if reason.kind == "rising" and on_reward and serious & FELL:
        yield "rising above a finding that it fell"
    if reason.kind == "gamed" and on_reward and serious & {*REWARD_DROPPED}:
        yield "no longer measures the policy, above a finding that it fell"
    again = reason.kind == "fallen" and reason.turn is not None  # it says itself that it rises again
    if reason.kind in SAME and shape is not None and reason.kind != "rising" and shape in UP and not again:
        yield f"{reason.kind} above {shape}"
    if reason.kind == "rising" and shape is not None and shape not in (*UP, "undecided"):
        yield f"rising above {shape}"
    if reason.kind == "flat" and shape in DOWN:
        yield f"flat above {shape}"
    if reason.kind in ("rising", "flat") and reason.clear and shape == "undecided":
        yield f"{reason.kind} without a doubt above undecided"
    if reason.kind == "no_trend" and shape is not None and shape not in ("noise", "undecided", "flat"):
        yield f"no trend above {shape}"
    if reason.kind == "fallen" and on_reward and reason.clear and not serious & FELL and not again:
        yield "fallen, and no finding says so"
    if reason.kind == "no_signal" and shape in UP:
        yield f"nothing can be learned above {shape}"
    if on_reward and reason.clear and reason.kind in ("rising", "flat") and "/" in reading.kl_reward.regime:
        beside = reading.kl_reward.regime.split("/")[1]
        if beside != reason.kind and reading.reward.trajectory.changed_at is None:
            yield f"{reason.kind} above a regime that says {beside}"
    yield from _meanwhile(reading)


def _meanwhile(reading: Reading) -> Iterator[str]:
    """What findings say that the reward did, beside its own line."""
    shape, now, start = reading.reward.shape, reading.reward.trajectory.now, reading.reward.trajectory.start
    lower, higher = (False, False) if now is None or start is None else (now < start, now > start)
    lost = _serious(reading) & FELL
    dropped = [found for found in reading.findings if found.id in FELL]
    since = min((found.since_step for found in dropped if found.since_step is not None), default=math.inf)
    broke = any(isinstance(found.facts, RewardBreak) and found.severity != "note" for found in reading.findings)
    for finding in reading.findings:
        match finding.facts:
            case Gamed(reward_fell=True) if shape in (*UP, "noise"):
                yield f"{finding.id} says that the reward fell, above {shape}"
            case Gamed(reward_fell=False, reward_rose=rose) if lower and (rose or shape in (*DOWN, "flat")):
                yield f"{finding.id} says that the reward {'rose' if rose else 'holds'}, which stands lower"
            case GradientNorm(reward_lost=True) | EntropyMoved() if shape in UP and not lost:
                yield f"{finding.id} says that the reward was lost, above {shape}"
            case LengthChange(reward="rose") | TurnsChange(reward="rose") | FailingTools(reward="rose") if lower:
                yield f"{finding.id} while the reward rose, which stands lower"
            case GradientNorm(reward_rose=True) | Truncation(reward_rose=True) if lower:
                yield f"{finding.id} while the reward rose, which stands lower"
            case LengthChange(reward="fell") | TurnsChange(reward="fell") | FailingTools(reward="fell") if higher:
                yield f"{finding.id} while the reward fell, which stands higher"
            case KlDrift(ever_gained=True) if reading.judgement.reason.kind == "no_trend":
                yield "drift after a gain, above no trend"
            case KlDrift(ever_gained=False) if shape in UP:
                yield f"drift without any gain, above {shape}"
            case AllTied() if shape in UP:
                yield f"no learning signal, above {shape}"
            case Spikes(reward_fell=False, series=values) if any(value.step >= since for value in values):
                yield "a spike at which the reward did not drop, within its drop"
            case LengthChange(reward="unclear") | TurnsChange(reward="unclear") if broke or lost:
                yield f"{finding.id} without a clear change of the reward, which broke"
            case PromptsChanged(apart=True) if reading.reward.trajectory.changed_at is None:
                yield "rewards that cannot be compared, and are"


def _shape(reading: Reading) -> str | None:
    """The word for the judged series, as its own line has it."""
    judged = reading.judgement.judged
    if judged == REWARD:
        return reading.reward.shape
    return next((other.shape for other in reading.reward.others if other.name == judged), None)


def _levels(reading: Reading) -> Iterator[str]:
    """One number in several places, as printed, and numbers that deny their own words."""
    told: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name, role, value, where in _numbers(reading):
        if value is not None:
            printed = percent(value) if name == CUT else number(value)
            told[name, role].setdefault(printed, where)
    for (name, role), values in told.items():
        if len(values) > 1:
            yield f"two values of {name} {role}: {' and '.join(values.values())}"
    reason, judged = reading.judgement.reason, reading.judgement.judged
    if reason.kind == "rising" and not _higher(reason.level, reason.turn.level if reason.turn else reason.start):
        yield "rising, from a level that is no lower"
    if reason.kind == "fallen" and not _higher(reason.high, reason.level):
        yield "fallen, from a level that is no higher"
    if judged is not None and judged not in {signal.name for signal in reading.run.signals}:
        yield "judged by a series that was not read"
    for finding in reading.findings:
        facts = {field.name: getattr(finding.facts, field.name) for field in dataclasses.fields(finding.facts)}
        start, now, rose = facts.get("start"), facts.get("now"), facts.get("rose")
        if isinstance(rose, bool) and not (_higher(now, start) if rose else _higher(start, now)):
            yield f"{finding.id} moves the other way"
        if not _higher(facts.get("high", facts.get("reward_high")), facts.get("now", facts.get("reward_now"))):
            yield f"{finding.id} falls from a level that is no higher"


def _higher(high: object, low: object) -> bool:
    """Whether one number is printed higher than another; nothing is denied where one is missing."""
    if not isinstance(high, float) or not isinstance(low, float):
        return True
    told = apart(high, low)
    return high > low and told[0] != told[1]


def _numbers(reading: Reading) -> Iterator[tuple[str, str, float | None, str]]:
    """Series, which of its levels, the value, and where it is told."""
    reason, judged, numbers = reading.judgement.reason, reading.judgement.judged, reading.reward.trajectory
    if judged is not None and reason.kind not in ("lost_numbers", "too_few"):
        yield judged, "now", reason.level, "the first line"
        yield judged, "start", reason.start, "the first line"
        if reason.kind == "fallen":
            yield judged, "high", reason.high, "the first line"
    if numbers.changed_at is None and numbers.last_number_step is None:
        yield REWARD, "now", numbers.now, "the reward's line"
        yield REWARD, "start", numbers.start, "the reward's line"
        yield REWARD, "high", numbers.peak if reading.reward.shape == "peaked" else None, "the reward's line"
    course = reading.kl_reward.course
    if course is not None:
        yield "kl/ref", "now", course.now, "the line of KL"
    for finding in reading.findings:
        where = finding.id
        match finding.facts:
            case RewardFall() as facts:
                yield REWARD, "now", facts.now, where
                yield REWARD, "high", facts.high, where
                yield REWARD, "start", facts.start, where
            case KlDestructive() as facts:
                yield REWARD, "now", facts.reward_now, where
                yield REWARD, "high", facts.reward_high, where
                yield "kl/ref", "now", facts.kl_now, where
            case KlDrift() as facts:
                yield "kl/ref", "now", facts.now, where
            case TrainEvalGap() as facts:
                if facts.high_step == reading.run.first_step:
                    yield facts.held_out, "start", facts.high, where
                    yield REWARD, "start", facts.train_then, where
                yield facts.held_out, "now", facts.now, where
                yield facts.held_out, "high", facts.high, where
                yield REWARD, "now", facts.train_now, where
            case AllTied(reward_at="between", reward=reward):
                yield REWARD, "now", reward, where
            case EntropyMoved() as facts:
                yield "entropy", "now", facts.now, where
                yield "entropy", "start", facts.start, where
            case Truncation() as facts:
                yield CUT, "start", facts.start, where
                yield CUT, "now", facts.now, where
            case Gamed(moves=moves) | ResponsesChanged(moves=moves):
                for move in (move for move in moves if move.way == "cut"):
                    yield CUT, "start", move.start, where
                    yield CUT, "now", move.now, where
            case AllTruncated(share=share):
                yield CUT, "now", share, where
            case StuckSeries(series=values):
                for value in values:
                    yield value.series, "now", value.value, where
    for other in reading.reward.others:
        yield other.name, "start", other.start, "the line of held-out scores"
        yield other.name, "now", other.now, "the line of held-out scores"
    for drift in reading.kl_reward.drift:
        yield drift.series, "now", drift.now, "the line of KL"


def _chances(reading: Reading) -> Iterator[str]:
    """The chance of a gain, of a loss, and what is still to gain."""
    judgement = reading.judgement
    p, worse, upside = judgement.p_continue_pays, judgement.risk.p_worse, judgement.upside
    if p is None or worse is None or upside.mean is None or upside.p10 is None or upside.p90 is None:
        return
    if p + worse > 1 + ENOUGH and judgement.reason.kind != "gamed":
        yield "chances of a gain and of a loss beyond 1"
    worth = upside.worth_having or 0.0
    if p > 0.1 + ENOUGH and upside.p90 < worth:
        yield "a chance of a gain that lies outside what 9 of 10 bring"
    if p < 0.9 - ENOUGH and upside.p10 > worth:
        yield "no chance of a gain that 9 of 10 bring"
    loss = judgement.risk.mean_loss
    if loss is not None and judgement.reason.kind == "fallen" and loss < (worse - ENOUGH) * worth:
        yield "a chance of a loss beyond the loss that is expected"


def _verdicts(reading: Reading) -> Iterator[str]:
    judgement, reason = reading.judgement, reading.judgement.reason
    yield from _bars(reading)
    if judgement.verdict == "stop" and reason.kind in OPEN:
        yield f"stop because {reason.kind}"
    if judgement.verdict == "continue" and reason.kind in ("flat", "no_trend", "no_signal", "ceiling"):
        yield f"continue because {reason.kind}"
    if judgement.verdict == "roll_back" and reason.kind not in ("gamed", "fallen", "no_signal", "degraded"):
        yield f"roll back because {reason.kind}"
    if judgement.verdict == "continue" and reason.kind in ("fallen", "gamed", "no_signal") and reason.clear:
        yield f"continue though {reason.kind}"
    if any(one.kind == "samples_hold_up" for one in judgement.would_change) and reason.rests_on("signal."):
        yield "samples are asked for, and a held-out score decides"
    known = {finding.id for finding in reading.findings}
    if len(judgement.advice) > 2 or any(advice.finding not in known for advice in judgement.advice):
        yield "advice without its finding"
    if {advice.knob for advice in judgement.advice if advice.way == "raise"} & {
        advice.knob for advice in judgement.advice if advice.way == "lower"
    }:
        yield "a knob to raise and to lower"
    advised = {advice.finding for advice in judgement.advice}
    if advised & DROPPED and (_shape(reading) in UP or reason.kind in ("rising", "no_trend")):
        yield "a next step because the reward fell, which did not"
    if "policy.frozen" in advised and _shape(reading) in (*UP, *DOWN):
        yield "a next step because nothing moves, above something that does"
    if "reward.gamed" in advised and reason.kind == "fallen":
        yield "a reward that pays for what it fell with"
    if not known >= {*judgement.because, *reason.findings}:
        yield "rests on a finding that is not told"


def _bars(reading: Reading) -> Iterator[str]:
    """The verdict beside the chance that it is chosen by, and that chance beside what forbids any."""
    judgement, p = reading.judgement, reading.judgement.p_continue_pays
    if p is None:
        return
    # Where nothing ever moved and no plan is known, all that was seen may be the beginning.
    beginning = judgement.horizon is not None and not judgement.horizon.planned and _shape(reading) not in (*UP, *DOWN)
    low, high = CHANCES.get(judgement.verdict, (0.0, 1.0))
    open_still = judgement.verdict == "undecided" and (beginning or judgement.reason.kind in OPEN)
    if p > high + TOLD or (p < low - TOLD and not open_still and not judgement.nearly_through):
        yield f"{judgement.verdict} at a chance that is {'above' if p > high else 'below'} its bar"
    stopped = any(isinstance(found.facts, KlFrozen) and found.facts.since_step for found in reading.findings)
    if stopped and p > GO_ON + TOLD:
        yield "going on pays at a learning rate of 0"


def _ceilings(reading: Reading) -> Iterator[str]:
    judgement = reading.judgement
    reason, upside = judgement.reason, judgement.upside
    if reason.kind != "ceiling" or reason.high is None or reason.level is None:
        return
    if judgement.would_change:
        yield "asks for more than the ceiling"
    if upside.p90 is not None and reason.level + upside.p90 > reason.high + 1e-9:
        yield "a gain beyond the ceiling"
    if judgement.verdict == "continue":
        yield "continue at the ceiling"


def _dates(reading: Reading) -> Iterator[str]:
    """Onsets, peaks and breaks: one date for one thing, within what was seen, and the step to keep before a decay."""
    judgement = reading.judgement
    reason, best = judgement.reason, judgement.best_checkpoint
    first, last = reading.run.first_step or 0, reading.run.last_step or 0
    onset, sure = reason.since_step, (reason.p or 0) > 0.9
    between = reason.since_between
    if onset is not None and between is not None and not between[0] <= onset <= between[1]:
        yield "a date outside its own interval"
    for where, step in (("the first line", onset), *((found.id, found.since_step) for found in reading.findings)):
        if step is not None and not first <= step <= last:
            yield f"{where} dates it outside what was seen"
    if reason.kind == "gamed" and onset is not None:
        latest = onset if between is None else between[1]
        first_kept = min((checkpoint.step for checkpoint in reading.run.checkpoints), default=None)
        if sure and best is not None and best.step > latest and best.step != first_kept:  # nothing older was saved
            yield "keeps a step after the onset"
        if sure and best is not None and any(step > latest for step in best.also_evaluate):
            yield "takes a step after the onset for as good"
        rests = [finding.since_step for finding in reading.findings if finding.id in reason.findings]
        if any(step is not None for step in rests) and onset not in rests:
            yield "an onset that no finding names"
    if reason.kind == "flat" and onset is not None and judgement.judged == REWARD:
        for finding in reading.findings:
            late = isinstance(finding.facts, RewardBreak) and finding.facts.step > onset + 0.1 * (last - first)
            if late and finding.severity != "note":
                yield "flat since before it broke"
    dropped = {found.since_step for found in reading.findings if isinstance(found.facts, RewardFall | KlDestructive)}
    if reason.kind == "fallen" and judgement.judged == REWARD and onset is not None:
        dropped.add(onset)
    if len(dropped) > 1:
        yield "two dates of one fall"
    for found in reading.findings:
        tiers = found.facts.tiers if isinstance(found.facts, OnsetOrder) else ()
        for tier in (tier for tier in tiers if REWARD in tier.names and dropped):
            if not any(tier.first_step <= step <= tier.last_step for step in dropped if step is not None):
                yield "a fall dated otherwise on the timeline"
    falls = [found.facts for found in reading.findings if isinstance(found.facts, RewardFall)]
    peak = reading.reward.peak
    if peak is not None and reading.reward.shape == "peaked":
        for fall in falls:
            if fall.peaked and fall.high_step != peak.step:
                yield "two dates of the peak"
    if peak is not None and best is not None and best.path is None and judgement.judged == REWARD:
        counted = reason.kind not in ("gamed", "degraded")  # else steps are ranked by what else is known
        if counted and any(not peak.interval[0] <= step <= peak.interval[1] for step in best.also_evaluate):
            yield "a step as good as the peak, outside its interval"
    kept = best.step if best is not None and best.path is None else None
    peaks = {fall.high_step for fall in falls if fall.peaked and reason.kind == "fallen"}
    if judgement.judged == REWARD and peaks and kept is not None and kept not in peaks:
        yield "keeps another step than the peak"
    if judgement.next_look_step is not None and judgement.next_look_step <= last:
        yield "the next look has passed"
    if judgement.horizon is not None and judgement.horizon.end_step < last:
        yield "a horizon that has passed"


def _endings(reading: Reading) -> Iterator[str]:
    """Finished or not, beside the plan."""
    judgement, planned, last = reading.judgement, reading.run.planned_steps, reading.run.last_step or 0
    if (judgement.verdict == "finished") is not (judgement.ended is not None):
        yield "finished, and not ended"
    if judgement.ended == "plan" and planned is not None and last < planned - 1:
        yield "the plan is said to be reached, and is not"
    if judgement.verdict != "finished" and planned is not None and last > planned and judgement.horizon is not None:
        yield "past its plan, and not finished"
    unknown = reading.reward.trajectory.last_number_step is not None and judgement.judged == REWARD
    if judgement.verdict == "finished" and unknown and judgement.reason.kind in ("rising", "flat", "ceiling"):
        yield f"finished and {judgement.reason.kind}, and its last values are no numbers"
    if judgement.ended is not None and judgement.next_look_step is not None:
        yield "finished, and to be looked at again"


def _checkpoints(reading: Reading) -> Iterator[str]:
    best, kept = reading.judgement.best_checkpoint, reading.run.checkpoints
    if best is None:
        return
    usable = {checkpoint.step for checkpoint in kept if checkpoint.complete is not False}
    if best.path is None and usable:
        yield "no checkpoint on disk, beside checkpoints on disk"
    if best.path is not None and best.step not in usable:
        yield "keeps a checkpoint that is not there"
    if best.path is not None and not any(best.path == checkpoint.path for checkpoint in kept):
        yield "keeps a path that is not there"
    if best.path is not None and any(step not in usable for step in best.also_evaluate):
        yield "evaluate a step that was not kept"
    if best.step in best.also_evaluate:
        yield "keep and evaluate the same step"
    if best.wanted_step is not None and best.wanted_step in usable:
        yield "a better step that was not kept, and was"
    if best.cost is not None and best.cost <= 0:
        yield "a better step that is no better"


def _causes(reading: Reading) -> Iterator[str]:
    """A cause that says that nothing else moved, beside a finding that something did."""
    reach = APART * max((reading.run.last_step or 0) - (reading.run.first_step or 0), 1)
    moved = [at for finding in reading.findings for at in _moved(finding)]
    ends = [found.facts.last_step + 1 for found in reading.findings if isinstance(found.facts, RewardOutage)]
    for finding in reading.findings:
        if isinstance(finding.facts, UnexplainedBreak) and any(abs(finding.facts.step - end) <= reach for end in ends):
            yield "unexplained, at the end of an outage"
        cause = getattr(finding.facts, "cause", None)
        step = getattr(finding.facts, "step", None)
        if isinstance(cause, Cause) and cause.kind in ("none", "outside") and isinstance(step, int):
            own = {REWARD, *(evidence.signal for evidence in finding.evidence)}  # nothing else is about others
            beside = {name for at, name in moved if abs(at - step) <= reach and name not in own}
            if beside and (cause.kind == "none" or beside & set(cause.still)):
                yield f"a cause that overlooks {', '.join(sorted(beside))}"
        if isinstance(cause, Cause) and set(cause.shifted) & set(cause.still):
            yield "a cause in which one series shifts and holds still"


def _moved(finding: Finding) -> list[tuple[int, str]]:
    """When which series moved, by a finding."""
    match finding.facts:
        case Spikes(series=values):
            return [(value.step, value.series) for value in values]
        case StuckSeries(series=values):
            return [(value.since_step, value.series) for value in values]
        case GradientNorm(step=int(step)):
            return [(step, "grad_norm")]
        case UnexplainedBreak(step=step, moves=moves):
            return [(step, move.series) for move in moves]
        case EntropyMoved() if finding.since_step is not None:
            return [(finding.since_step, "entropy")]
    return []


def _pairs(reading: Reading) -> Iterator[str]:
    """Findings that exclude each other."""
    known = {finding.id for finding in reading.findings}
    for found, others in EXCLUDE:
        if found in known and known & others:
            yield f"{found} beside {', '.join(sorted(known & others))}"
    odd = [finding for finding in reading.findings if not 0 <= finding.p <= 1]
    if odd:
        yield "a probability beyond 1"
    course, regime = reading.kl_reward.course, reading.kl_reward.regime
    if course is not None and reading.kl_reward.frozen and {"kl.destructive", "kl.drift_without_benefit"} & known:
        yield "KL too small to mean anything, beside a finding of drift"
    if course is not None and course.way == "still" and regime.split("/")[0] in ("rising", "falling"):
        yield f"KL {regime.split('/')[0]} without a trend"
