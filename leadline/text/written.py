"""The samples of a run as numbers: who wrote what at which step, prompts and the policy's own words in one space of
tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kept import FEW, kept
from ..records import dataclass, replace
from ..run import Flags, Rollout, Steps, Values
from .sampler import TELLING, Batch

Ids = NDArray[np.int64]

BUDGET = 80_000  # tokens: more text in all is cut alike in every sample, early and late
LEAST_TOKENS = 48  # tokens: what a sample keeps, however many samples there are
PER_WORD = 6  # characters: a word and its space
LONGEST = 24  # characters: a longer "word" is cut here
WORDY = 3.5  # words: a run whose mean answer and prompt together have fewer is read by characters
BATCHES = 3  # two may coincide, a third makes a level
AS_GOOD_AS_ALL = 0.98  # of the samples, of a cap, or of an overlap: what so nearly is all, is all
TURN = (  # where a dump without prompts ends them: compiled for such a one
    r"<\|im_start\|>assistant\n?|<\|start_header_id\|>assistant<\|end_header_id\|>\s*|\[/INST\]|<start_of_turn>model\n?"
    r"|<｜Assistant｜>|<\|assistant\|>\n?|###\s*Response:\s*|(?:^|\n)(?:Assistant|ASSISTANT|AI|Answer|A):[ \n]"
)

# Blocks of a transcript that tools, retrievers, and interpreters write, and turns of anyone but the policy.
ENVIRONMENT = re.compile(
    r"<(results?|observations?|tool_(?:response|result|output)|information|documents?|interpreter|stdout"
    r"|execution_(?:results?|output))>.*?(?:</\1>|$)"
    r"|```output[^\S\n]*\n.*?(?:```|$)"
    r"|<\|im_start\|>(?:tool|user|system|observation)\b.*?(?:<\|im_end\|>|$)"
    r"|<\|start_header_id\|>(?:tool|ipython|user|system)<\|end_header_id\|>.*?(?:<\|eot_id\|>|$)",
    re.DOTALL | re.IGNORECASE,
)
# ReAct: what stands between an observation and the next line of the policy. Without actions it is a word as any other.
ACTED = re.compile(r"^[ \t]*Action(?: Input)?(?: \d+)?:", re.MULTILINE)
OBSERVED = re.compile(
    r"^[ \t]*Observation(?: \d+)?:.*?(?=^[ \t]*(?:Thought|Action|Final Answer)(?: \d+)?:|\Z)", re.MULTILINE | re.DOTALL
)
# A name alone or with attributes, or a token of a template. Code compares: `a<b and c>d` is no tag.
MARKUP = re.compile(r"</?[A-Za-z_][\w:.-]{0,24}(?:\s+[\w:.-]+=[^<>]*)?\s*/?>|<[|｜][^<>|｜]{1,24}[|｜]>")


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Texts one after the other."""

    ids: Ids
    owner: Ids  # (tokens,) which sample each belongs to
    count: Ids  # (samples,)


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """Responses of the policy, by batch: one sample a prompt, and beside them whole groups."""

    steps: Steps  # (batches,) the last step of each
    batch: Ids  # (samples,)
    samples: tuple[Rollout, ...]  # prompt and answer apart
    own: tuple[str, ...]  # each answer without what the environment wrote
    scores: Values  # (samples,) NaN where none was kept
    words: bool  # tokens are words; else characters
    answers: Tokens
    prompts: Tokens
    asks: Flags  # (samples,) a prompt is known
    kinds: int  # how many different tokens there are
    says: Flags  # (kinds,) a token with a letter or a digit: marks recur in any text
    grouped: Tokens  # answers of whole groups: several to one prompt
    group: Ids  # (grouped answers,)
    group_batch: Ids  # (groups,)

    def means(self, values: Values) -> Values:
        """Return the mean of a value a sample by batch, NaN left out; NaN where a batch has none."""
        known = np.isfinite(values)
        total = np.bincount(self.batch[known], weights=values[known], minlength=len(self.steps))
        count = np.bincount(self.batch[known], minlength=len(self.steps))
        means: Values = np.full(len(self.steps), np.nan)
        return np.divide(total, count, out=means, where=count > 0)


@kept(FEW)
def written(steps: Sequence[Batch]) -> Written | None:
    """Return the samples of these steps; None if no text was kept."""
    together = joined([step for step in steps if step.alone])
    batches = [(some[-1].step, [sample for step in some for sample in step.alone]) for some in together]
    groups = [(step.step, group) for step in steps if step.alone for group in step.groups]
    members = [sample for _, group in groups for sample in group]
    apart = parted([*(sample for _, samples in batches for sample in samples), *members])
    flat, members = apart[: len(apart) - len(members)], list(apart[len(apart) - len(members) :])
    if not any(sample.output for sample in flat):
        return None
    prompts, answers = [sample.prompt for sample in flat], [own_words(sample.output) for sample in flat]
    words = wordy(prompts, answers)
    room = room_for(2 * len(flat), words=words)
    vocabulary: dict[str, int] = {}
    told = _tokens(["".join(ends(text, room)) for text in answers], vocabulary, words=words)
    asked = _tokens([text[-room:] for text in prompts], vocabulary, words=words)
    shared = ["".join(ends(own_words(sample.output), room)) for sample in members]
    grouped = _tokens(shared, vocabulary, words=words)
    return Written(
        np.asarray([step for step, _ in batches], dtype=np.int64),
        np.repeat(np.arange(len(batches)), [len(samples) for _, samples in batches]),
        flat,
        tuple(answers),
        np.asarray([sample.score for sample in flat], dtype=np.float64),
        words,
        told,
        asked,
        np.asarray([bool(text) for text in prompts], dtype=bool),
        len(vocabulary) + 1,
        np.asarray([any(map(str.isalnum, token)) for token in vocabulary], dtype=bool),
        grouped,
        np.repeat(np.arange(len(groups)), [len(group) for _, group in groups]),
        np.searchsorted([step for step, _ in batches], [step for step, _ in groups]),
    )


@kept(FEW)
def since(text: Written, batch: int) -> Written:
    """Return the batches from one place on."""
    kept, whole = text.batch >= batch, text.group_batch >= batch
    inside = whole[text.group]
    return replace(
        text,
        steps=text.steps[batch:],
        batch=text.batch[kept] - batch,
        samples=tuple(sample for sample, keep in zip(text.samples, kept.tolist(), strict=True) if keep),
        own=tuple(answer for answer, keep in zip(text.own, kept.tolist(), strict=True) if keep),
        scores=text.scores[kept],
        answers=_only(text.answers, kept),
        prompts=_only(text.prompts, kept),
        asks=text.asks[kept],
        grouped=_only(text.grouped, inside),
        group=(np.cumsum(whole) - 1)[text.group[inside]],
        group_batch=text.group_batch[whole] - batch,
    )


def _only(tokens: Tokens, kept: Flags) -> Tokens:
    inside = kept[tokens.owner]
    number = np.cumsum(kept) - 1
    return Tokens(tokens.ids[inside], number[tokens.owner[inside]], tokens.count[kept])


def joined(steps: Sequence[Batch]) -> list[list[Batch]]:
    """Return neighbours together until they hold enough samples; what is left over at the end goes to the last."""
    done: list[list[Batch]] = [[]]
    for step in steps:
        if sum(len(one.alone) for one in done[-1]) >= TELLING:
            done.append([])
        done[-1].append(step)
    if len(done) > 1 and sum(len(one.alone) for one in done[-1]) < TELLING:
        rest = done.pop()
        done[-1] += rest
    return done if steps else []


def wordy(prompts: Sequence[str], answers: Sequence[str]) -> bool:
    """Return whether the samples are to be read by words; else by characters."""
    counts = [len(text[:1000].split()) for text in (*prompts, *answers)]
    return 2 * float(np.mean(counts)) >= WORDY


def room_for(texts: int, *, words: bool) -> int:
    """Return the characters that each of so many texts may keep."""
    return max(BUDGET // max(texts, 1), LEAST_TOKENS) * (PER_WORD if words else 1)


def ends(text: str, room: int) -> list[str]:
    """Return a text, or of one without room its beginning and its end: what degenerates does so at the end."""
    return [text] if len(text) <= room else [text[: room // 2], text[-(room - room // 2) :]]


def _tokens(texts: Sequence[str], vocabulary: dict[str, int], *, words: bool) -> Tokens:
    split = [[word[:LONGEST] for word in text.split()] if words else list(text) for text in texts]
    ids = [vocabulary.setdefault(token, len(vocabulary)) for tokens in split for token in tokens]
    count = np.asarray([len(tokens) for tokens in split], dtype=np.int64)
    return Tokens(np.asarray(ids, dtype=np.int64), np.repeat(np.arange(len(texts)), count), count)


def own_words(output: str) -> str:
    """Return a response without what the environment wrote and without markup: both repeat by design. A response that
    is nothing else is returned whole."""
    own = output
    if ACTED.search(own):
        own = OBSERVED.sub(" ", own)
    if "<" in own or "```" in own:
        own = MARKUP.sub(" ", ENVIRONMENT.sub(" ", own))
    return own if any(map(str.isalnum, own)) else output


def parted(samples: Sequence[Rollout]) -> tuple[Rollout, ...]:
    """Return the samples with prompt and answer apart, in the same order. A dump without prompts is cut at the mark
    that ends them: the marker of the assistant's turn, or else the last sign that every single sample holds. Prompts
    come from one source and never miss it; a policy that learns writes its own signs now and then, not always. Without
    such a mark nothing is parted, and nothing that asks for prompts is said."""
    if any(sample.prompt for sample in samples):
        # Some dumps keep the prompt, and again the prompt with its answer.
        return tuple(
            replace(one, output=rest) if (rest := one.output.removeprefix(one.prompt)) not in ("", one.output) else one
            for one in samples
        )
    mark = _mark([sample.output for sample in samples])
    ends = [(sample, None if mark is None else mark.search(sample.output)) for sample in samples]
    return tuple(
        one if at is None else replace(one, prompt=one.output[: at.end()], output=one.output[at.end() :])
        for one, at in ends
    )


def _mark(texts: Sequence[str]) -> re.Pattern[str] | None:
    if len(texts) < TELLING:
        return None
    turn = re.compile(TURN)
    if sum(turn.search(text) is not None for text in texts) >= AS_GOOD_AS_ALL * len(texts):
        return turn
    held = set(texts[0]).intersection(*texts[1:])
    found = []
    for mark in sorted(held):
        if mark.isalnum() or (mark.isspace() and mark != "\n"):
            continue
        places = sorted(text.find(mark) for text in texts)
        behind = sum(text.find(mark) < len(text.rstrip()) - 1 for text in texts)
        if places[len(places) // 2] > 0 and 2 * behind > len(texts):
            found.append((places[len(places) // 2], mark))
    return re.compile(re.escape(max(found)[1])) if found else None
