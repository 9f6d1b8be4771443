"""Measures of one sample that hold for any task: how the answer relates to its prompt, to itself and to the others.

All are shares between 0 and 1 (length apart), so that a change of one says as much as the same change of another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ..draws import Stream
from ..records import replace
from ..run import Flags, Values
from .written import BUDGET, PER_WORD, Ids, Tokens, Written, ends

OTHERS = 3  # samples of the step that an answer is compared with: more cost time
PERIOD = 3  # characters: a stutter repeats at most so many
STRETCH = 24  # tokens: a word said again within so many is a repetition
PHRASE = 2  # tokens: to pick words out of a prompt is work, to repeat its phrases is not
SALT = np.int64(1_000_003)
TIMES = 1 << 16  # that a token may stand in a text: more count as so many
LOOKED_AT = 2000  # characters of an answer: a stutter is one long before
SHORTEST = 8  # tokens, or signs: in less text nothing can be said twice
LOOP = 4  # words: of real long answers 2 % hold more than half of their runs of four twice, of pairs 25 %
LOOP_SIGNS = 2 * PER_WORD  # characters: two words, where a run writes none


def copied(written: Written) -> tuple[Values, Values]:
    """Return how much of an answer stands in its own prompt, in runs of at least PHRASE tokens, and how much in prompts
    that other answers of the same step were given to; NaN without a prompt or an answer."""
    answers, prompts = written.answers, written.prompts
    theirs, whose = _grams(prompts.ids, prompts.owner, PHRASE)
    ours, _ = _grams(answers.ids, answers.owner, PHRASE)
    starts = np.flatnonzero(answers.owner[1:] == answers.owner[:-1])
    return _own_and_others(written, ours, starts, PHRASE, np.unique(whose * SALT * SALT + theirs), SALT * SALT)


def shared(written: Written) -> tuple[Values, Values]:
    """Return how many of an answer's tokens its own prompt offers, each counted as often as it stands there; and the
    same of prompts that other answers of the step were given to: what chance offers."""
    offered = np.unique(_numbered(written.prompts, np.arange(len(written.samples)), written.kinds))
    numbers = _numbered(written.answers, np.zeros(len(written.samples), dtype=np.int64), written.kinds)
    return _own_and_others(written, numbers, np.arange(len(numbers)), 1, offered, written.kinds * TIMES)


def _own_and_others(
    written: Written, ours: Ids, starts: Ids, length: int, known: Ids, each: int | np.int64
) -> tuple[Values, Values]:
    """Return the share of each answer that its own prompt has, and that prompts of others in its batch have: `ours` are
    its runs of `length` tokens, by where they start, and a prompt has those that are `known` at its number times
    `each`."""
    answers, every = written.answers, np.arange(len(written.samples))
    first = np.searchsorted(written.batch, np.arange(len(written.steps)))
    start, size = first[written.batch], np.bincount(written.batch, minlength=len(written.steps))[written.batch]
    shares = []
    for source in (every, *(start + (every - start + by) % size for by in range(1, OTHERS + 1))):
        covered = np.zeros(len(answers.ids))  # by tokens in a run that was found
        for shift in range(length):
            covered[starts[np.isin(source[answers.owner[starts]] * each + ours, known)] + shift] = 1.0
        found = np.bincount(answers.owner, weights=covered, minlength=len(written.samples))
        told = (answers.count > 0) & (written.prompts.count[source] > 0)
        shares.append(np.divide(found, answers.count, out=np.full(len(written.samples), np.nan), where=told))
    known = np.isfinite(shares[1:])
    total, count = np.where(known, shares[1:], 0.0).sum(axis=0), known.sum(axis=0)
    return shares[0], np.divide(total, count, out=np.full(len(written.samples), np.nan), where=count > 0)


def recurring(written: Written) -> Values:
    """Return how much is said again: the share of words that stood a sentence before, or of pairs that stood within as
    much text as an answer had at first. Words that most answers of the step hold are a format and count for nothing. A
    long answer may come back to its subject, and a style of writing decides how many words recur, so that this is a
    reason to look, never a proof. Of single characters there are few, so that only pairs of them count."""
    answers = written.answers
    if not len(answers.ids):
        return np.zeros(len(written.samples))
    stretch = _stretches(written)
    before = np.concatenate([[0], answers.ids[:-1]])
    follows = np.concatenate([[False], stretch[1:] == stretch[:-1]])
    again = follows & _seen(stretch, before * SALT + answers.ids, follows)
    if written.words:
        short = _stretches(written, most=STRETCH)
        again |= _seen(short, answers.ids, written.says[answers.ids])
        held = np.unique(answers.owner * written.kinds + answers.ids)
        owner, token = held // written.kinds, held % written.kinds
        places, times = np.unique(written.batch[owner] * written.kinds + token, return_counts=True)
        size = np.bincount(written.batch, minlength=len(written.steps))
        framed = places[times > 0.5 * size[places // written.kinds]]  # in most answers of their step
        again &= ~np.isin(written.batch[answers.owner] * written.kinds + answers.ids, framed)
    count = answers.count if written.words else np.bincount(answers.owner[follows], minlength=len(written.samples))
    share: Values = np.zeros(len(written.samples))  # an answer of one token repeats nothing
    hits = np.bincount(answers.owner, weights=again, minlength=len(written.samples))
    np.divide(hits, count, out=share, where=count > 0)
    return np.maximum(share, stuttered(written)) if written.words else share


def looped(written: Written) -> Values:
    """Return how much of an answer is a loop: runs of words that stood before, within as much text as an answer had at
    first, beyond what the same words hold in any order. An enumeration changes a word or a number each time; a loop
    changes nothing; labels, moves, and digits repeat by chance, since there are few of them. One word over and over is
    a loop in any order."""
    answers = written.answers
    stretch = _stretches(written, least=STRETCH)
    by_chance = _looped(written, _mixed(answers, stretch), stretch)
    share = np.maximum(_looped(written, answers.ids, stretch) - by_chance, 0.0)
    changes = (answers.ids[1:] != answers.ids[:-1]) & (answers.owner[1:] == answers.owner[:-1])
    same = np.bincount(answers.owner[1:], weights=changes, minlength=len(written.samples))
    share[(same == 0) & (answers.count >= STRETCH)] = 1.0
    share = np.maximum(share, np.where(answers.count >= STRETCH, _cycles(answers), 0.0))
    return np.maximum(share, stuttered(written)) if written.words else share


def _cycles(text: Tokens) -> Values:
    """Return the share of tokens that end a token, a pair, or a triple said for the third time in a row, by sample,
    beyond what the same tokens give in any order."""
    shares = []
    for ids in (text.ids, _mixed(text, text.owner)):
        again = np.zeros(len(ids), dtype=bool)
        for period in range(1, PERIOD + 1):
            if len(ids) > 2 * period:
                same = (ids[period:] == ids[:-period]) & (text.owner[period:] == text.owner[:-period])
                again[2 * period :] |= same[period:] & same[:-period]
        shares.append(np.bincount(text.owner, weights=again, minlength=len(text.count)) / np.maximum(text.count, 1))
    return np.maximum(shares[0] - shares[1], 0.0)


def _mixed(text: Tokens, pieces: Ids) -> Ids:
    """Return the tokens of each piece in another order."""
    return text.ids[np.lexsort((Stream(LOOP).order(len(text.ids)), pieces))]


def _looped(written: Written, ids: Ids, stretch: Ids) -> Values:
    """Return the share of runs that stood before, by sample."""
    runs, begins = _grams(ids, stretch, LOOP if written.words else LOOP_SIGNS)
    owner = begins // (len(ids) + 1)
    count = np.bincount(owner, minlength=len(written.samples))
    again = _seen(begins, runs, np.ones(len(runs), dtype=bool))
    hits = np.bincount(owner, weights=again, minlength=len(written.samples))
    return np.divide(hits, count, out=np.zeros(len(written.samples)), where=count > 0)


def empty(written: Written) -> Values:
    """Return whether an answer holds nothing, or one sign over and over. Arrows, brackets, or emojis may be what a task
    asks for."""
    signs = ["".join(own.split()) for own in written.own]
    return np.asarray([float(not own or (len(own) >= SHORTEST and own == own[0] * len(own))) for own in signs])


def stuttered(written: Written) -> Values:
    """Return how much of an answer is the same few letters over and over ("haha ha"), beyond what the same letters hold
    in any order: a word of its own each time, and so no loop of words. Blanks and marks are none: code is indented,
    tables are ruled."""
    texts = ["".join(filter(str.isalnum, "".join(ends(own, LOOKED_AT)))) for own in written.own]
    count = np.asarray([len(text) for text in texts], dtype=np.int64)
    signs = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    return _cycles(Tokens(signs, np.repeat(np.arange(len(texts)), count), count))


def _stretches(written: Written, least: int = SHORTEST, most: int = BUDGET * PER_WORD) -> Ids:
    """Tell which piece of its answer each token stands in. A piece has as many tokens as an answer had at first."""
    answers = written.answers
    window = min(max(least, int(np.median(answers.count[written.batch == 0]))), most)
    place = np.arange(len(answers.ids)) - (np.cumsum(answers.count) - answers.count)[answers.owner]
    pieces: Ids = answers.owner * (len(answers.ids) + 1) + place // window
    return pieces


def _seen(stretch: Ids, what: Ids, counted: Flags) -> Flags:
    """Tell which of these stood in their stretch before."""
    places = np.flatnonzero(counted)
    ranked = places[np.lexsort((what[places], stretch[places]))]  # in their order, where they are the same
    seen = np.zeros_like(counted)
    seen[ranked[1:]] = (stretch[ranked[1:]] == stretch[ranked[:-1]]) & (what[ranked[1:]] == what[ranked[:-1]])
    return seen


def alike(written: Written, answers: Tokens) -> Values:
    """Return how like an answer is to the answers to other prompts of its step: the mean overlap of what they hold
    (Jaccard, runs of three characters, or single and paired words)."""
    likeness = np.full(len(written.samples), np.nan)
    numbers: dict[str, int] = {}
    prompts = np.asarray([numbers.setdefault(sample.prompt, len(numbers)) for sample in written.samples])
    for _, inside, overlap in _together(answers, written.batch, len(written.steps), written.words):
        asked = prompts[inside]
        others = asked[:, None] != asked[None, :]
        if not written.asks[inside].any():
            others = ~np.eye(len(asked), dtype=bool)
        count, total = others.sum(axis=1), (overlap * others).sum(axis=1)
        np.divide(total, count, out=likeness[inside], where=count > 0)
    return likeness


def alike_by_chance(written: Written) -> Values:
    """Return the same of answers that hold the same words in any order, but for those that are word for word the same:
    few different words are alike in any text."""
    answers = written.answers
    mixed = alike(written, replace(answers, ids=_mixed(answers, answers.owner)))
    told = list(zip(written.batch.tolist(), written.own, strict=True))
    times, size = Counter(told), np.bincount(written.batch)[written.batch]
    same = (np.asarray([times[one] for one in told]) - 1) / np.maximum(size - 1, 1)
    return mixed * (1 - same)


def strange(written: Written) -> Values:
    """Return how much of an answer are words that no other answer or prompt of its step holds: little of a language,
    nearly all of random letters. NaN of an answer with so few words that each may be a name or number."""
    answers, prompts = written.answers, written.prompts
    share: Values = np.full(len(written.samples), np.nan)
    if not written.words:
        return share
    said = written.batch[answers.owner] * written.kinds + answers.ids
    owners = np.unique(np.stack([said, answers.owner]), axis=1)
    words, holders = np.unique(owners[0], return_counts=True)
    asked = written.batch[prompts.owner] * written.kinds + prompts.ids
    alone = np.isin(said, words[holders == 1]) & ~np.isin(said, asked)
    hits = np.bincount(answers.owner, weights=alone, minlength=len(written.samples))
    long = answers.count >= SHORTEST
    most = written.means(long.astype(np.float64))[written.batch] > 0.5  # few long ones have nothing to share words with
    return np.divide(hits, answers.count, out=share, where=long & most)


def agreement(written: Written) -> Values:
    """Return how like the answers to one prompt are to each other, by group."""
    likeness: Values = np.full(len(written.group_batch), np.nan)
    for place, _, overlap in _together(written.grouped, written.group, len(likeness), written.words):
        likeness[place] = (overlap.sum() - len(overlap)) / (len(overlap) * (len(overlap) - 1))
    return likeness


def _together(text: Tokens, part: Ids, parts: int, words: bool) -> Iterator[tuple[int, slice, Values]]:
    """Yield the parts of the samples with more than one of them, which samples they are, and (samples, samples) the
    share of all that two hold that both hold."""
    grams, owner = held(text, 2 if words else 3)
    edges = np.searchsorted(part, np.arange(parts + 1))
    at = np.searchsorted(owner, edges)
    for place, (first, last) in enumerate(pairwise(edges.tolist())):
        if last - first > 1:
            names, columns = np.unique(grams[at[place] : at[place + 1]], return_inverse=True)
            who = owner[at[place] : at[place + 1]] - first
            matrix = np.zeros((last - first, len(names) + 1), dtype=np.float32)
            matrix[who, columns.reshape(-1)] = 1
            matrix[matrix.sum(axis=1) == 0, -1] = 1  # empty answers are alike
            both = (matrix @ matrix.T).astype(np.float64)
            sizes = np.diag(both)
            yield place, slice(first, last), both / (sizes[:, None] + sizes[None, :] - both)


def _numbered(text: Tokens, source: Ids, kinds: int) -> Ids:
    """Return each token with whose prompt it is looked for in, and the how-manieth of its kind it is."""
    key = text.owner * kinds + text.ids
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    first = np.concatenate([[True], ranked[1:] != ranked[:-1]]) if len(ranked) else np.zeros(0, dtype=bool)
    start = np.maximum.accumulate(np.where(first, np.arange(len(ranked)), 0))
    times = np.empty(len(key), dtype=np.int64)
    times[order] = np.arange(len(ranked)) - start
    return (source[text.owner] * kinds + text.ids) * TIMES + np.minimum(times, TIMES - 1)


def _grams(ids: Ids, owner: Ids, size: int) -> tuple[Ids, Ids]:
    """Return a number for each run of `size` tokens, the same for the same tokens, by where it begins, and whose it
    is."""
    count = max(len(ids) - size + 1, 0)
    runs = np.zeros(count, dtype=np.int64)
    for shift in range(size):
        runs = runs * SALT + ids[shift : shift + count]
    inside = owner[:count] == owner[size - 1 :]
    return runs[inside], owner[:count][inside]


def held(text: Tokens, size: int) -> tuple[Ids, Ids]:
    """Return what each sample holds, each thing once, by sample. A text shorter than a run is held as a whole: only
    what holds nothing is like everything else that does."""
    parts = [_grams(text.ids, text.owner, count) for count in range(1 if size == PHRASE else size, size + 1)]
    short = (text.count > 0) & (text.count < size)
    if short.any():
        first, whose = np.cumsum(text.count) - text.count, np.flatnonzero(short)
        gram = np.full(len(whose), -1, dtype=np.int64)  # never that of a run
        for shift in range(int(text.count[whose].max())):
            inside = text.count[whose] > shift
            gram[inside] = gram[inside] * SALT - text.ids[first[whose[inside]] + shift] - 1
        parts.append((gram, whose))
    grams = np.concatenate([gram + place for place, (gram, _) in enumerate(parts)])
    owner = np.concatenate([who for _, who in parts])
    order = np.lexsort((grams, owner))
    grams, owner = grams[order], owner[order]
    anew = np.ones(len(order), dtype=bool)
    anew[1:] = (grams[1:] != grams[:-1]) | (owner[1:] != owner[:-1])
    return grams[anew], owner[anew]
