"""The topics of a reading and their sentences: reward, KL, and policy loss; what looks odd, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..digits import counted, level, number, on_scale, percent, span, went
from ..records import dataclass
from .finding import TurningPoint, called

SHAPES = {
    "accelerating": "accelerating",
    "rising": "rising",
    "decelerating": "rising, slowing",
    "flat": "plateaued",
    "declining": "declining",
    "peaked": "peaked",
    "noise": "flat",
    "undecided": "trend unclear",
}
RIVAL = 0.15  # probability: a direction below it is not named


@dataclass(frozen=True, slots=True)
class RewardPeak:
    """The step at which the reward stood highest before it came down."""

    step: int
    interval: tuple[int, int]  # 80 %
    p: float


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The numbers behind the reward's shape.

    - missing: no training reward was logged
    - not_numbers: none of its values is a number
    - too_few: too few points to tell anything
    - constant: the same value at every point
    - read: the shape says what it does
    """

    state: Literal["missing", "not_numbers", "too_few", "constant", "read"]
    points: int = 0
    points_needed: int = 0
    start: float | None = None
    now: float | None = None
    peak: float | None = None  # level at the peak
    turn: TurningPoint | None = None  # where a rise or a fall began that did not begin at the start
    noise: float | None = None  # sd of one logged point about the curve
    changed_at: int | None = None  # read from this step on only: the level was set anew from outside
    last_number_step: int | None = None  # where the values after it are no numbers


@dataclass(frozen=True, slots=True)
class OtherReward:
    """The shape of a reward other than the training reward, in one word."""

    name: str
    shape: str
    p: float
    start: float | None = None  # level it began at
    now: float | None = None


@dataclass(frozen=True, slots=True)
class RewardReading:
    """The training reward's shape in one word, its rivals and its numbers; the other rewards apart."""

    shape: str
    probabilities: dict[str, float]
    peak: RewardPeak | None
    others: tuple[OtherReward, ...] = ()  # held-out rewards and components
    trajectory: Trajectory = Trajectory("missing")

    @property
    def caption(self) -> str:
        """Its course in a few words, for a curve."""
        numbers = self.trajectory
        if numbers.start is None or numbers.now is None:
            return SHAPES[self.shape]
        if self.shape == "peaked" and self.peak is not None:
            now = on_scale(numbers.now, numbers.peak or 0.0)
            return f"peaked at step {self.peak.step} ({span(*self.peak.interval)}), now {now}"
        return course_says(numbers.start, numbers.now, self.shape)

    def say(self) -> str:
        """Return its course, with its noise and what else it may be."""
        numbers = self.trajectory
        if numbers.state == "missing":
            return "no reward metric found in the log"
        if numbers.state == "not_numbers":
            return f"all {numbers.points} values are NaN or Inf"
        ended, anew = numbers.last_number_step, numbers.changed_at
        until = "" if ended is None else f"until step {ended}, its last finite value: "
        since = "" if anew is None else f"since the change at step {anew}: "
        return f"{until}{since}{self._course()}"

    def _course(self) -> str:
        numbers = self.trajectory
        if numbers.state == "constant":
            return f"constant at {level(numbers.now or 0.0)} (all {numbers.points} points)"
        if numbers.state == "too_few":
            return f"{counted(numbers.points, 'point')} logged, {numbers.points_needed} needed"
        course, turn = self.caption, numbers.turn
        course += f", {SHAPES[self.shape]}" * (self.shape == "undecided")
        if turn is not None and self.shape not in ("peaked", "noise"):
            since = "" if turn.step is None else f" since step {turn.step}"
            started = level(numbers.start or 0.0)
            course = f"{went(turn.level, numbers.now or 0.0)}{since}, {SHAPES[self.shape]} (started at {started})"
        if self.shape == "undecided":
            p = self.probabilities
            ways = {
                "rising": p.get("rising", 0.0) + p.get("accelerating", 0.0) + p.get("decelerating", 0.0),
                "falling": p.get("declining", 0.0) + p.get("peaked", 0.0),
                "flat": p.get("flat", 0.0),
                "only noise": p.get("noise", 0.0),
            }
            likely = sorted(((share, way) for way, share in ways.items() if share > RIVAL), reverse=True)
            if likely:
                course += f" ({' or '.join(f'{way} {percent(share)}' for share, way in likely)})"
        return f"{course}; noise ±{number(numbers.noise or 0.0)} per step"


def course_says(start: float, now: float, shape: str) -> str:
    """Return the course of a curve in a few words; without a word for its shape if that is open.

    >>> course_says(0.2, 0.7, "rising"), course_says(0.81, 0, "flat"), course_says(0.4, 0.5, "undecided")
    ('0.200 → 0.700, rising', '0.810 → 0, flat now', '0.400 → 0.500')
    """
    if shape == "noise":
        return f"flat around {level(now)}"
    word = "flat now" if shape == "flat" and now < start else SHAPES[shape]
    return went(start, now) + f", {word}" * (shape != "undecided")


WENT = {"rose": "rose", "fell": "dropped"}
MEANING = {
    "rising/rising": "KL and reward both rising: policy is changing and improving",
    "rising/flat": "KL rising, reward flat: drift without gain",
    "rising/declining": "KL rising, reward falling: destructive updates",
    "stable/rising": "reward rising at constant KL: gain without further drift",
    "stable/flat": "KL and reward both flat now: nothing is changing",
    "stable/declining": "reward falling at constant KL: check data and reward function",
    "falling/rising": "KL falling, reward rising: policy is reverting to the reference and improving",
    "falling/flat": "KL falling, reward flat: policy is reverting to the reference",
    "falling/declining": "KL and reward falling: policy is reverting to the reference",
    "undecided": "no clear relation between KL and reward",
}


@dataclass(frozen=True, slots=True)
class Regime:
    """A stretch of the run in which KL and reward moved together in one way."""

    first_step: int
    last_step: int
    regime: str
    p: float
    first_between: tuple[int, int]  # interval of its first step


@dataclass(frozen=True, slots=True)
class Drift:
    """The course of a metric that may show drift."""

    series: str
    way: Literal["rose", "fell", "moved", "still"]
    start: float
    now: float

    def say(self) -> str:
        name, now = called(self.series), level(self.now)
        if self.way in WENT:
            return f"{name} {WENT[self.way]} {went(self.start, self.now)}"
        return f"{name} {'moved and ' * (self.way == 'moved')}is around {now}"


@dataclass(frozen=True, slots=True)
class KlCourse:
    """The course of KL itself, whatever the reward did meanwhile."""

    way: Literal["rose", "fell", "moved", "still", "too_few"]
    start: float
    now: float
    identified: bool = True  # as KL to the reference; else the log does not say between what and what


@dataclass(frozen=True, slots=True)
class KlReward:
    """The joint movement of KL and reward."""

    regime: str = "undecided"
    p: float | None = None
    since_step: int | None = None
    since_between: tuple[int, int] | None = None  # interval of that step
    segments: tuple[Regime, ...] = ()
    state: Literal["too_little", "read", "not_logged", "always_zero"] = "not_logged"
    below_best: bool = False  # the reward has plateaued below what it once had
    course: KlCourse | None = None  # None: not logged, or no number in it
    drift: tuple[Drift, ...] = ()  # without KL: what else may show drift
    frozen: bool = False  # the policy has hardly left its reference: the regime is one of noise

    @property
    def caption(self) -> str:
        """The course of KL in a few words, for a curve; empty if it was not logged."""
        return "" if self.course is None else self._moved(self.course, ", flat now" * self.regime.startswith("stable"))

    @staticmethod
    def _moved(course: KlCourse, now: str) -> str:
        kind = "" if course.identified else ", kind unknown"
        if course.way == "still":
            return f"around {level(course.now)}{kind}"
        return f"{went(course.start, course.now)}{now}{kind}"

    def line(self) -> str:
        """Return the course of KL and its relation to the reward; empty if KL was not logged."""
        if self.course is None:
            return self.say() if self.state == "always_zero" else ""
        related = self.state == "read" and self.course.identified and (self.regime != "undecided" or self.frozen)
        return f"{self._moved(self.course, '')}; {self.say()}" if related else self.caption

    def say(self) -> str:
        """Return how KL and reward move together."""
        if self.state == "too_little":
            return "too few points to relate KL and reward"
        if self.frozen:
            return "negligible: policy has barely left the reference"
        if self.state == "read":
            return f"{MEANING[self.regime]}{'; reward plateaued below its best' * self.below_best}"
        absent = (
            "KL to reference is 0 at every point: not computed, or the policy never moved."
            if self.state == "always_zero"
            else "KL to reference was not logged."
        )
        if not self.drift:
            return f"{absent} No other metric would show drift."
        return f"{absent} Other drift indicators: {'; '.join(one.say() for one in self.drift)}."


Explanation = Literal[
    "missing",  # no policy loss was logged
    "not_numbers",  # none of its values is a number
    "zero_advantages",  # exactly 0, with several updates a batch or where nothing tells how samples are weighed
    "kl_penalty",  # a multiple of KL
    "one_update",  # 0 or about 0, by one update a batch
    "too_few",  # too few points
    "jumped",
    "about_zero",  # where advantages are centered
    "around_zero",  # where nothing says so
    "falling",
    "rising",
    "at_rest",
    "open",  # its direction is not clear
]
INSTEAD = "Watch gradient norm and reward instead."
EXPLAINED: dict[Explanation, str] = {
    "missing": "no policy loss logged",
    "not_numbers": "all {points} values are NaN or Inf",
    "zero_advantages": "exactly 0 at {zeros} of {points} points: advantages are zero there, or the log rounds it off.",
    "kl_penalty": "loss = {kl_factor} × KL{beta}: the policy term is 0 by construction, only the KL penalty is left. "
    "Watch KL, gradient norm, and reward instead.",
    "one_update": "about 0 by construction with one update per batch and centered advantages; the rest is noise. "
    f"Its gradient is not 0. {INSTEAD}",
    "too_few": "{moved}; too few points for a trend; noise ±{noise} per step",
    "jumped": "{moved}; noise ±{noise} per step",
    "about_zero": "oscillates around 0 (±{noise}), as expected with centered advantages",
    "around_zero": "oscillates around 0 (±{noise})",
    "falling": "falling, {moved}",
    "rising": "rising, {moved}; that alone means nothing here",
    "at_rest": "stable at {now}; noise ±{noise} per step",
    "open": "{moved}, trend unclear; noise ±{noise} per step",
}


@dataclass(frozen=True, slots=True)
class LossNumbers:
    """The numbers of a loss; which of them are there depends on its explanation."""

    points: int = 0
    zeros: int = 0
    kl_factor: float | None = None  # it is so many times KL
    kl_coefficient: float | None = None  # where that factor is it
    start: float | None = None
    now: float | None = None
    noise: float | None = None


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """The logged policy loss: what it is, and its course."""

    informative: bool = False
    pattern: str = "undecided"
    because: Explanation = "missing"
    numbers: LossNumbers = LossNumbers()

    def say(self) -> str:
        """Return a description of the loss."""
        known, beta = self.numbers, self.numbers.kl_coefficient
        return EXPLAINED[self.because].format(
            points=known.points,
            zeros=known.zeros,
            kl_factor=number(known.kl_factor or 0.0),
            beta="" if beta is None else f" (KL coefficient {number(beta)})",
            now=number(known.now or 0.0),
            noise=number(known.noise or 0.0),
            moved=went(known.start or 0.0, known.now or 0.0),
        )


@dataclass(frozen=True, slots=True)
class Expected:
    """An odd value that is normal in this run."""

    id: str
    says: str  # what looks odd
    because: str  # why it is normal, without a full stop

    @property
    def text(self) -> str:
        return f"{self.says.rstrip('.')}: {self.because}."


WHY = {  # the most harmful first
    "reward": "nothing to judge without it",
    "rollouts": "reward hacking is hard to detect",
    "held-out reward": "hacking on train prompts would look like progress",
    "independent score": "the held-out eval uses the training reward function and shares its blind spots",
    "reference KL": "drift must be read from entropy, length, and text",
    "planned steps": "remaining budget unknown; set it with --budget STEPS",
    "checkpoints": "can't name a checkpoint to roll back to",
    "telemetry": "GPU, memory, and background processes can't be checked",
}
ORDER = tuple(WHY)
MISSING_NAMES = {
    "held-out reward": "held-out eval",
    "rollouts": "sampled responses",
    "independent score": "independent eval",
}
# What keeps the samples, by framework.
KEEP = {
    "trl": "log_completions=True",
    "unsloth": "log_completions=True",
    "ms-swift": "--log_completions true",
    "verl": "trainer.rollout_data_dir=DIR",
    "rllm": "trainer.rollout_data_dir=DIR",
    "skyrl": "trainer.dump_eval_results=true",
    "roll": "rollout_dump_dir: DIR",
    "open-instruct": "--save_traces --rollouts_save_path DIR",
    "nemo-rl": "keep train_data_step*.jsonl next to the log",
    "prime-rl": "keep the folder rollouts next to the log",
    "areal": "keep the folder rollout next to the log",
    "tinker-cookbook": "keep the folders iteration_* next to the log",
}
ANY = "write them to rollouts/STEP.jsonl"


@dataclass(frozen=True, slots=True)
class Missing:
    """Something a reader would look for that the run does not have."""

    what: str
    framework: str | None = None  # that wrote the log: what would have to be set differs

    @property
    def name(self) -> str:
        return MISSING_NAMES.get(self.what, self.what)

    @property
    def why(self) -> str:
        """The reason why that matters, and the setting that would keep samples."""
        said = WHY.get(self.what, "")
        if self.what != "rollouts":
            return said
        wrote = self.framework or ""  # the trainers of one library are one framework
        how = KEEP.get(wrote, KEEP.get(wrote.split("-")[0], ANY))
        return f"{said}; {how if how.startswith(('keep ', 'write ')) else f'set {how}'}"


def hidden(missing: Sequence[Missing]) -> str:
    """Return all that is missing in one line, with what the most important of it hides."""
    first, *others = sorted(missing, key=lambda one: ORDER.index(one.what) if one.what in ORDER else len(ORDER))
    return ", ".join((f"{first.name} ({first.why})", *(one.name for one in others)))
