"""Samples to look at: a few of a finding or of every step, early and late, high and low reward, shortened."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

from ..draws import spread
from ..facts.chart import Contrast, PhraseShared, SampleShown, SamplesShown, Span, StepSamples
from ..records import replace
from ..run import Rollout
from .phrases import DIGIT, END_MARK, START_MARK, shared
from .sampler import Batch, rank
from .written import BATCHES, LONGEST, ends

SHOWN = 2  # samples of each kind
CHARACTERS = 240  # of an output, from both ends of a longer one
PROMPT = 160  # characters of a prompt, its end
MARK = " [...] "
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def early_and_late(batches: Sequence[Batch]) -> tuple[Rollout, ...]:
    """Return high-reward samples of the first and of the last batches, and the lowest of the last."""
    early, late = by_score(batches[:BATCHES]), by_score(batches[-BATCHES:])
    return tuple(map(shortened, (*early[:SHOWN], *late[:SHOWN], *late[SHOWN:][-1:])))


def middling(batches: Sequence[Batch]) -> tuple[Rollout, ...]:
    """Return samples of middling length, early and late."""
    ends = ([sample for batch in side for sample in batch.alone] for side in (batches[:BATCHES], batches[-BATCHES:]))
    ranked = (sorted(samples, key=lambda sample: len(sample.output)) for samples in ends)
    return tuple(shortened(sample) for samples in ranked for sample in samples[len(samples) // 2 :][:SHOWN])


def by_score(batches: Sequence[Batch]) -> list[Rollout]:
    """Return one sample a prompt, the highest reward first; samples without one come last."""
    samples = [sample for batch in batches for sample in batch.alone]
    return sorted(samples, key=rank, reverse=True)


def shortened(sample: Rollout) -> Rollout:
    """Return what can be shown of a sample anywhere: bounded, valid text, control characters spelled out."""
    output = MARK.join(ends(sample.output, CHARACTERS))
    prompt = sample.prompt if len(sample.prompt) <= PROMPT else MARK.lstrip() + sample.prompt[-PROMPT:]
    return replace(sample, output=_harmless(output), prompt=_harmless(prompt))


def _harmless(text: str) -> str:
    return text.encode("utf-8", "replace").decode().translate(CONTROLS)


SIDE = 4  # samples of high and of low reward a step
ROOM = 800_000  # bytes of all samples together, as a page has to write them
LONGEST_OUTPUT = 2_400  # characters of one output
SHORTEST_OUTPUT = 60  # characters of one output: less shows nothing
WEIGHED = 300  # characters of an output by which its weight is judged
GAP = "\n\u22ee\n"  # where the middle of a text was left out
MARKS = 400  # places marked in one sample: more would be paint, not a mark
ESCAPED = re.compile("[<>&\x7f-\x9f\u2028\u2029]")  # what a page writes in six bytes


def shown_samples(batches: Sequence[Batch], *, kept: bool) -> SamplesShown:
    """Return the samples to show of each step, or why there are none; `kept`: the run kept samples at all."""
    if not batches:
        return SamplesShown("without text" if kept else "not kept")
    late, high = shared(batches)
    chosen = [_chosen(batch) for batch in batches]
    # Characters that one output may have, so that all of them, each with a prompt of a third of that, find room. What a
    # character weighs differs: an ideogram has three bytes, an escaped bracket six.
    looked_at = [sample.output[:WEIGHED] for some in chosen for sample in some]
    written = sum(len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) for text in looked_at)
    weight = (written + 5 * sum(len(ESCAPED.findall(text)) for text in looked_at)) / max(sum(map(len, looked_at)), 1)
    room = 0.75 * ROOM / (max(weight, 1.0) * max(len(looked_at), 1))
    most = int(min(max(room, SHORTEST_OUTPUT), LONGEST_OUTPUT))
    steps = (
        StepSamples(
            batch.step,
            _score(batch.mean),
            _score(batch.lowest),
            _score(batch.highest),
            pair,
            tuple(_sample(sample, most, late, pair) for sample in some),
        )
        for batch, some, pair in zip(batches, chosen, high, strict=True)
    )
    return SamplesShown(None, tuple(steps), late)


def _chosen(batch: Batch) -> list[Rollout]:
    """Return the highest and the lowest of a step; evenly spread where there is no reward to go by."""
    ranked = sorted(batch.samples, key=rank, reverse=True)
    if len(ranked) <= 2 * SIDE:
        return ranked
    scored = [sample for sample in ranked if math.isfinite(sample.score)]
    if len(scored) < len(ranked) or scored[0].score == scored[-1].score:
        return spread(ranked, 2 * SIDE)
    return [*ranked[:SIDE], *ranked[-SIDE:]]


def _sample(sample: Rollout, most: int, late: Contrast, high: Contrast) -> SampleShown:
    prompt, _ = _bounded(sample.prompt, most // 3)
    output, left_out = _bounded(sample.output, most)
    return SampleShown(
        _score(sample.score),
        prompt,
        output,
        left_out,
        len(sample.output),
        late=_places(output, late.only_here),
        early=_places(output, late.only_there),
        high=_places(output, high.only_here),
        low=_places(output, high.only_there),
    )


def _bounded(text: str, most: int) -> tuple[str, int]:
    """Return a text that may have lost its middle, and how many characters that were."""
    text = text.replace("\r\n", "\n")
    left_out = max(len(text) - most, 0)
    if left_out:
        head = most * 2 // 3
        text = text[:head] + GAP + text[-(most - head) :]
    return text, left_out


def _score(value: float) -> float | None:
    return round(value, 4) if math.isfinite(value) else None


def _places(text: str, phrases: Sequence[PhraseShared]) -> tuple[Span, ...]:
    """Return where the phrases stand, by place, none overlapping."""
    found: list[Span] = []
    for phrase in phrases:
        pattern = _pattern(phrase)
        if pattern is not None:
            found += [match.span() for match in pattern.finditer(text) if match.end() > match.start()]
    marks: list[Span] = []
    for first, last in sorted(found):
        if marks and first <= marks[-1][1]:
            marks[-1] = marks[-1][0], max(marks[-1][1], last)
        elif len(marks) < MARKS:
            marks.append((first, last))
    return tuple(marks)


def _pattern(phrase: PhraseShared) -> re.Pattern[str] | None:
    """Return what finds a phrase in a text: any white space between words, any digit for a digit's mark."""
    words = phrase.phrase.removeprefix(START_MARK).removesuffix(END_MARK).split()
    if not words:
        return None
    head = r"\A" if phrase.phrase.startswith(START_MARK) else r"(?<!\S)" if phrase.whole_words else ""
    tail = r"\Z" if phrase.phrase.endswith(END_MARK) else ""
    if not tail and phrase.whole_words and len(words[-1]) < LONGEST:
        tail = r"(?!\S)"
    pattern = r"\s+".join(map(re.escape, words))
    if not phrase.whole_words:
        pattern = pattern.replace(re.escape(DIGIT), "[0-9]")
    return re.compile(head + pattern + tail)
