"""The samples viewer: a few of every step looked at, high and low, with what is shared marked in the text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from ...contract import Reading
from ...reading.generations.grams import END_MARK
from ...reading.generations.shared import Pair, Phrase, shared
from ...reading.generations.text import DIGIT, LONGEST
from ...reading.sampler import Batch, spread
from ...run import Rollout
from . import text

Data = dict[str, object]

SIDE = 4  # samples of high and of low reward a step
ROOM = 800_000  # bytes of all samples together
LONGEST_OUTPUT = 2_400  # characters of one output
WEIGHED = 300  # characters of an output by which its weight is judged
START_MARK = "<start>"
MARKS = 400  # places marked in one sample: more would be paint, not a mark


def samples(reading: Reading) -> Data:
    """What can be looked at, or in one sentence why there is nothing."""
    portrait = reading.portrait
    batches = () if portrait is None else portrait.batches
    if not batches:
        kept = portrait is not None and bool(portrait.run.rollouts)
        why = (
            "The samples that were found hold no text."
            if kept
            else "No samples were found beside the log, so what the policy writes could not be looked at."
        )
        return {"empty": why, "steps": []}
    found = shared(batches)
    chosen = [_chosen(batch) for batch in batches]
    most = _most(chosen)
    steps = [
        _step(batch, some, most, found.late, pair)
        for batch, some, pair in zip(batches, chosen, found.high, strict=True)
    ]
    return {"empty": "", "steps": steps, "late": _pair(found.late)}


def _most(chosen: Sequence[Sequence[Rollout]]) -> int:
    """Characters that one output may have, so that all of them, each with a prompt of a third of that, find room.
    What a character weighs in the file differs: an ideogram has three bytes, an escaped bracket six."""
    looked_at = [one.output[:WEIGHED] for some in chosen for one in some]
    shown = text.embedded([text.lines(one, WEIGHED)[0] for one in looked_at])
    weight = len(shown.encode()) / max(sum(map(len, looked_at)), 1)
    return int(np.clip(0.75 * ROOM / (max(weight, 1.0) * max(len(looked_at), 1)), 60, LONGEST_OUTPUT))


def _chosen(batch: Batch) -> list[Rollout]:
    """The highest and the lowest of a step; evenly spread where there is no reward to go by."""
    ranked = sorted(batch.samples, key=lambda one: -one.score if math.isfinite(one.score) else math.inf)
    if len(ranked) <= 2 * SIDE:
        return ranked
    scored = [one for one in ranked if math.isfinite(one.score)]
    if len(scored) < len(ranked) or scored[0].score == scored[-1].score:
        return spread(ranked, 2 * SIDE)
    return [*ranked[:SIDE], *ranked[-SIDE:]]


def _step(batch: Batch, chosen: Sequence[Rollout], most: int, late: Pair, high: Pair) -> Data:
    return {
        "step": batch.step,
        "mean": _score(batch.mean),
        "lowest": _score(batch.lowest),
        "highest": _score(batch.highest),
        "pair": _pair(high),
        "samples": [_sample(one, most, late, high) for one in chosen],
    }


def _sample(sample: Rollout, most: int, late: Pair, high: Pair) -> Data:
    prompt, _ = text.lines(sample.prompt, most // 3)
    output, left_out = text.lines(sample.output, most)
    return {
        "score": _score(sample.score),
        "prompt": prompt,
        "output": output,
        "left_out": left_out,
        "length": len(sample.output),
        # Marks by what is compared: what only late, only early, only rewarded, only unrewarded samples have.
        "late": _places(output, late.only_here),
        "early": _places(output, late.only_there),
        "high": _places(output, high.only_here),
        "low": _places(output, high.only_there),
    }


def _score(value: float) -> float | None:
    return round(value, 4) if math.isfinite(value) else None


def _pair(pair: Pair) -> Data:
    return {
        "here": pair.here,
        "there": pair.there,
        "enough": pair.enough,
        "only_here": [_phrase(one) for one in pair.only_here],
        "only_there": [_phrase(one) for one in pair.only_there],
        "masked": any(
            (not one.words and DIGIT in one.phrase) or END_MARK in one.phrase
            for one in (*pair.only_here, *pair.only_there)
        ),
    }


def _phrase(one: Phrase) -> Data:
    return {"phrase": text.name(one.phrase), "here": round(one.here, 3), "there": round(one.there, 3)}


def _places(shown: str, phrases: Sequence[Phrase]) -> list[int]:
    """Where the phrases stand: beginnings and ends in turn, none overlapping, counted as a browser counts."""
    found: list[tuple[int, int]] = []
    for one in phrases:
        pattern = _pattern(one)
        if pattern is not None:
            found += [match.span() for match in pattern.finditer(shown) if match.end() > match.start()]
    flat: list[int] = []
    for first, last in sorted(found):
        if flat and first <= flat[-1]:
            flat[-1] = max(flat[-1], last)
        elif len(flat) < 2 * MARKS:
            flat += [first, last]
    return flat if shown.isascii() else [len(shown[:place].encode("utf-16-le")) // 2 for place in flat]


def _pattern(one: Phrase) -> re.Pattern[str] | None:
    """What finds a phrase in a text as it is shown: any white space between words, any digit for a digit's mark."""
    bare = one.phrase.removeprefix(START_MARK).removesuffix(END_MARK)
    words = text.lines(bare, len(bare) + 1)[0].split()
    if not words:
        return None
    head = r"\A" if one.phrase.startswith(START_MARK) else r"(?<!\S)" if one.words else ""
    tail = r"\Z" if one.phrase.endswith(END_MARK) else r"(?!\S)" if one.words and len(words[-1]) < LONGEST else ""
    inner = [re.escape(word) if one.words else re.escape(word).replace(re.escape(DIGIT), "[0-9]") for word in words]
    return re.compile(head + r"\s+".join(inner) + tail)
