"""What a second reader said of a run, and what came of it: data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..run import Rollout
from .finding import Finding
from .judgement import Judgement

Role = Literal["sample", "repeat", "bad", "foreign"]
Mark = Literal["copying", "padding", "looping", "format_only"]
Answered = Literal["supported", "not_supported", "cannot_tell"]
Hearing = Literal[
    "heard",
    "no_samples",  # nothing to grade was kept, or it was not to be sent
    "no_answer",  # nothing came back that could be used
    "inconsistent",  # samples that were shown twice got different grades
    "blind_to_quality",  # answers and spoiled copies of them got the same grades
    "swayed",  # late answers are graded high whatever they answer: it grades something else in the text
]


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer that the reader grades, under an id that tells it nothing."""

    id: str
    role: Role
    of: int  # number of the sample it was made from
    rollout: Rollout  # with the text as it is shown
    late: bool = False  # of a foreign one: made from a late answer


@dataclass(frozen=True, slots=True)
class BlindPoint:
    """The mean grade of one step, 0 to 1, with an interval for the few answers and the reader's own noise."""

    step: int
    mean: float
    low: float
    high: float
    answers: int


@dataclass(frozen=True, slots=True)
class Blind:
    """Blind grading: how far the reader can be trusted, and what its grades amount to."""

    hearing: Hearing
    task: str = ""
    graded: int = 0
    asked: int = 0
    agreement: float | None = None  # of grades of samples shown twice; 1: always the same
    told_apart: float | None = None  # mean grade of answers less that of their spoiled copies, where they differ
    points: tuple[BlindPoint, ...] = ()  # `eval/blind`
    p_parted: float | None = None  # that a high score no longer means a good answer
    early: float | None = None
    late: float | None = None
    on_prompt: bool = False  # late high-scored answers are graded better under their own prompt than under another
    marks: tuple[tuple[Mark, float, float], ...] = ()  # share of the early and of the late answers that were marked


@dataclass(frozen=True, slots=True)
class Claim:
    """One of our findings in the reader's eyes."""

    finding: str
    answer: Answered
    evidence: tuple[str, ...] = ()  # ids of the samples it cites


@dataclass(frozen=True, slots=True)
class Cost:
    """What it took."""

    requests: int
    called: int  # the others were answered before
    failed: int
    tokens: int  # by our count
    seconds: float


@dataclass(frozen=True, slots=True)
class Audit:
    """A second reading: apart from ours, with the verdict before and after."""

    reader: str
    blind: Blind
    claims: tuple[Claim, ...]
    without: Judgement
    judgement: Judgement  # with the blind grades, where they were heard
    cost: Cost
    found: Finding | None = None  # that score and quality have parted
    problems: tuple[str, ...] = ()  # what went wrong with an answer, by request
    cards: tuple[tuple[str, Rollout], ...] = ()  # samples of the claims by id
