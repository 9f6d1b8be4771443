"""Findings: their facts and evidence, and what several of them share: causes, changes of the text, names of metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

from ..digits import listed, number, percent, times
from ..event import Event
from ..records import dataclass
from ..run import Rollout

SAID = 0.8  # probability: a finding, or the way something went, is said from here on
BEGUN = 0.1  # of the way of a fall or a change: by then it has begun
WORTH_SAYING = 1.5  # times the start, or as much less: smaller changes of a size are not worth a sentence
Severity = Literal["note", "concern", "critical"]
# What findings are about, in the order of a reader's questions.
TOPICS = (
    *("reward", "kl", "policy", "policy_loss", "generation", "signal", "agent", "stability", "resources", "conflict"),
    *("timeline", "unexplained"),
)
NEEDS_EYES = "generation.changed"  # the finding that asks the reader to look at two samples
TRUNCATION = "generation.truncation"
REWARD_DROPPED = ("reward.peaked", "reward.declining")  # findings that the training reward dropped
TIMELINE = "timeline.order"  # the finding that relates the others
Meaning = Literal["gamed", "degraded", "no_signal", "lost"]  # what a finding means for the verdict


class Guide(NamedTuple):
    """The entry of a finding in docs/findings.md."""

    means: str
    rests_on: str
    do: str


Knob = Literal["learning_rate", "length_cap", "reward_function", "data", "tools", "responses"]
Turn = Literal["lower", "raise", "check", "review"]
Suspect = tuple[Knob, Turn, str]  # and why, as a clause


@dataclass(frozen=True, slots=True)
class Beside:
    """All serious findings, as each of them sees the others."""

    ids: frozenset[str]
    lost: bool  # one of them shows that the reward dropped: what follows from that is no cause


@dataclass(frozen=True, slots=True)
class Facts:
    """The numbers, steps, and names of a finding; the JSON holds them under the same names."""

    MEANS: ClassVar[Meaning | None] = None  # what it weighs in the verdict (`judgement/weigh.py`)
    SUSPECT: ClassVar[Suspect | None] = None  # the knob it points at

    def say(self) -> str:
        """Return the sentence they make."""
        raise NotImplementedError

    def suspect(self, beside: Beside) -> Suspect | None:
        """Return the knob they point at, if that depends on them or on what else was found."""
        return self.SUSPECT

    @property
    def counts(self) -> bool:
        """Return whether they weigh in the verdict, if their kind does."""
        return True

    @property
    def since_between(self) -> tuple[int, int] | None:
        """The interval of their date, if one is known."""
        return None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place where a finding can be checked: a metric over a range of steps, or the samples themselves."""

    signal: str  # canonical name, or "rollouts"
    first_step: int
    last_step: int
    samples: tuple[Rollout, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something seen, with a stable id, its probability, its facts, and its evidence."""

    id: str  # dotted and stable: "signal.train_eval_gap"
    p: float  # probability that it is true
    severity: Severity
    facts: Facts
    since_step: int | None = None
    evidence: tuple[Evidence, ...] = ()

    def say(self) -> str:
        """Return its sentence."""
        return self.facts.say()


def by_weight(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Sort findings: the most serious first, a question to the reader before all other notes; among equals the surest
    first, then by topic, then the one that began first."""
    weight = {"critical": 0, "concern": 1, "note": 2}

    def place(one: Finding) -> tuple[int, bool, float, int, float, str]:
        topic = one.id.partition(".")[0]
        order = TOPICS.index(topic) if topic in TOPICS else len(TOPICS)
        since = math.inf if one.since_step is None else one.since_step
        return weight[one.severity], one.id != NEEDS_EYES, -one.p, order, since, one.id

    return tuple(sorted(findings, key=place))


# Names of metrics in sentences.

NAMES = {
    "reward/mean": "reward",
    "reward/std": "reward std",
    "kl/ref": "KL",
    "kl/ref_seq_sum": "KL",
    "kl/ref_seq_sum/per_token": "KL",
    "kl/unidentified": "KL",
    "kl/update": "approx KL",
    "entropy": "entropy",
    "grad_norm": "gradient norm",
    "lr": "learning rate",
    "kl/coef": "KL coefficient",
    "loss/policy": "policy loss",
    "loss/total": "loss",
    "clip/frac": "clip fraction",
    "mismatch/kl": "training–inference mismatch (KL)",
    "len/response_mean": "response length",
    "len/response_clip_frac": "truncated share",
    "len/prompt_mean": "prompt length",
    "group/zero_std_frac": "share of zero-variance groups",
    "group/solve_none_frac": "share of unsolved prompts",
    "group/solve_all_frac": "share of solved prompts",
}


def called(name: str) -> str:
    """Return the common name of a metric, or its own if it has none.

    >>> called("grad_norm"), called("eval/gsm8k/score")
    ('gradient norm', 'eval/gsm8k/score')
    """
    return NAMES.get(name, name)


def all_called(names: Sequence[str]) -> str:
    """Return several metrics as one list.

    >>> all_called(["kl/ref", "entropy", "grad_norm"])
    'KL, entropy, and gradient norm'
    """
    return listed(list(dict.fromkeys(map(called, names))))


def sentence_case(text: str) -> str:
    """Capitalize the first word unless it is a log key.

    >>> sentence_case("entropy and KL rose"), sentence_case("eval/score dropped")
    ('Entropy and KL rose', 'eval/score dropped')
    """
    first = text.partition(" ")[0].rstrip(",.;:")
    return text[:1].upper() + text[1:] if first.isalpha() else text


# Causes of sudden changes.

SHIFTED = 5  # metrics named in one sentence


@dataclass(frozen=True, slots=True)
class PromptChange:
    """The prompts before and after come from different sources."""

    before: int  # the last step seen with the old prompts
    after: int  # the first with the new


@dataclass(frozen=True, slots=True)
class Cause:
    """A likely cause of a sudden change.

    - event: something known happened there; `event` names it
    - prompts: the prompts changed there
    - policy: series that follow the policy shifted with it
    - outside: all that would show the policy change held still
    - none: nothing was found
    - unlogged: the change lies in a gap of the log
    """

    kind: Literal["event", "prompts", "policy", "outside", "none", "unlogged"]
    event: Event | None = None
    prompts: PromptChange | None = None
    shifted: tuple[str, ...] = ()  # series that shift at that step
    still: tuple[str, ...] = ()  # series that would have shown a change of the policy and did not move

    @property
    def clause(self) -> str:
        """The cause itself, without a full stop; empty if it is not known."""
        if self.kind == "event" and self.event is not None:
            return self.event.say()
        if self.kind == "prompts" and self.prompts is not None:
            return f"prompts changed between steps {self.prompts.before} and {self.prompts.after}"
        return ""

    def before(self, when: str = "") -> str:
        """Return the cause in a sentence or two, under a label that names it so; `when`: how long before its effect."""
        return f"{sentence_case(self.clause)}{when}.{self._also}" if self.clause else self.say()

    def say(self, *, rose: bool = False) -> str:
        """Return a sentence or two; `rose`: the change was for the better."""
        if self.clause:
            return f"Likely cause: {self.clause}.{self._also}"
        if self.kind == "unlogged":
            return "Cause unknown: the log has a gap there."
        if self.kind == "outside":  # a sudden gain in skill may show in none of them: a rise leaves more doubt
            suspect = "prompts or reward function may have changed" if rose else "suspect prompts or reward function"
            return f"{sentence_case(all_called(self.still))} didn't move: {suspect}.{self._also}"
        return self._also.strip() or "No cause found: no other metric shifts there."

    @property
    def _also(self) -> str:
        return f" {shifted_with(self.shifted)}" if self.shifted and self.kind != "prompts" else ""


def shifted_with(names: Sequence[str]) -> str:
    """Return metrics that shifted together with something else; a long list is cut."""
    more = len(names) - SHIFTED
    named = list(dict.fromkeys(map(called, names[:SHIFTED])))
    return f"{sentence_case(listed([*named, f'{more} more'] if more > 0 else named))} shifted too."


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """The lowest point before a rise, or the highest before a fall, if that is not the start."""

    level: float
    step: int | None  # None: not known well enough to name one


# Changes of the responses.

Way = Literal["detached", "copied", "looped", "recurring", "alike", "empty", "strange", "cut", "unlike"]
WAYS: dict[Way, str] = {
    "detached": "responses use less of the prompt ({start} → {now})",
    "copied": "responses copy the prompt ({start} → {now} of text)",
    "looped": "responses loop ({start} → {now} of text)",
    "recurring": "words recur more often ({start} → {now} of text)",
    "alike": "responses look alike across prompts (overlap {start} → {now})",
    "empty": "responses are blank or one repeated character ({start} → {now} of them)",
    "strange": "responses use words that nothing else does ({start} → {now} of text)",
    "cut": "responses are truncated ({start} → {now} of them)",
    "unlike": "responses surprise the reference policy {times} as much as its own",
}
WAYS_NAMED = 2  # in one sentence
ASKED, ANSWERED = 60, 160  # characters of a prompt, its end, and of a response, its beginning


@dataclass(frozen=True, slots=True)
class Move:
    """A relation of responses to their prompt, to themselves, or to each other: a share, then and now."""

    way: Way
    start: float
    now: float

    def say(self) -> str:
        start, now = max(self.start, 0.0), max(self.now, 0.0)
        return WAYS[self.way].format(start=percent(start), now=percent(now), times=times(now))


def sample_said(sample: Rollout) -> str:
    """Return one response with its prompt and reward."""
    output = sample.output.strip()
    asked, answered = sample.prompt[-ASKED:], output[:ANSWERED]
    prompt = f"{'…' if asked != sample.prompt else ''}{asked} → " if asked else ""
    answer = f"{answered}{'…' if answered != output else ''}"
    earned = f", scored {number(sample.score)}" if math.isfinite(sample.score) else ""
    return f"step {sample.step}{earned}: {prompt}{answer or '(nothing)'}"


def side_by_side(facts: Facts) -> list[tuple[str, str]]:
    """Return an early and a late response with what each earned, if a finding holds both."""
    old, new = getattr(facts, "old", None), getattr(facts, "new", None)
    if not isinstance(old, Rollout) or not isinstance(new, Rollout):
        return []
    return [("then", sample_said(old)), ("now", sample_said(new))]


Meanwhile = Literal["rose", "fell", "unclear"] | None  # what the reward did; None: not known
MEANWHILE: dict[Meanwhile, str] = {
    "rose": " while reward rose",
    "fell": " while reward dropped",
    "unclear": " with no clear change in reward",
    None: "",
}
