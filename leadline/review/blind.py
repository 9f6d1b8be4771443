"""Choose samples for blind grading: spread over steps, scores, and prompts, with control copies that show whether the
grader can be trusted. The same run gives the same choice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import Literal

from ..records import dataclass, replace
from ..run import Rollout, Samples
from ..text.sampler import rank, spread

STEPS = 10  # graded, the first and the last among them
EACH = 8  # samples per step
TWICE = 10  # samples shown a second time
SPOILED = 10  # samples of which a copy with shuffled letters is shown: half of them the best-scored early ones
FOREIGN = 6  # early samples, and as many late ones, shown under another prompt
LONGEST = 1500  # characters of a prompt or a response; the middle of a longer one is left out

Role = Literal["sample", "repeat", "bad", "foreign"]


@dataclass(frozen=True, slots=True)
class Shown:
    """One response to grade, under an id that says nothing about it."""

    id: str
    role: Role
    of: int  # number of the sample it was made from
    rollout: Rollout  # with the text as it is shown
    late: bool = False  # of a foreign one: made from a late response


def choose_blind(samples: Samples) -> tuple[Shown, ...]:
    """Return the responses to grade, shuffled; empty if there are fewer than two."""
    by_step = [samples.at(step) for step in dict.fromkeys(spread(samples.steps, STEPS))]
    again = _asked_again(by_step)
    picked = [rollout for rollouts in by_step for rollout in _balanced(rollouts, again)]
    if len(picked) < 2:
        return ()
    plain = []
    for number, rollout in enumerate(picked):
        short = replace(rollout, prompt=_shortened(rollout.prompt), output=_shortened(rollout.output))
        plain.append(Shown("", "sample", number, short))
    key = blake2b(b"".join(_digest(f"{one.step}\0{one.prompt}\0{one.output}") for one in picked)).digest()
    early, late = thirds([shown.rollout.step for shown in plain])
    best = sorted(plain, key=lambda shown: (-rank(shown.rollout), shown.of))
    good = [shown for shown in best if shown.rollout.step in early][: SPOILED // 2]
    others = [shown for shown in _drawn(plain, key + b"spoiled") if shown not in good]
    made = [
        *(replace(shown, role="repeat") for shown in _drawn(plain, key)[:TWICE]),
        *(replace(shown, role="bad", rollout=_spoiled(shown.rollout)) for shown in (*good, *others)[:SPOILED]),
        *_foreign(good[:FOREIGN], plain, late=False),
        *_foreign([shown for shown in best if shown.rollout.step in late][:FOREIGN], plain, late=True),
    ]
    mixed = sorted(enumerate((*plain, *made)), key=lambda entry: blake2b(key + str(entry[0]).encode()).digest())
    return tuple(replace(shown, id=f"a{number:03d}") for number, (_, shown) in enumerate(mixed, 1))


def thirds(steps: Sequence[int]) -> tuple[set[int], set[int]]:
    """Return the first and the last third of the distinct steps; at least one each."""
    distinct = sorted(set(steps))
    count = max(len(distinct) // 3, 1)
    return set(distinct[:count]), set(distinct[-count:])


def _asked_again(by_step: Sequence[Sequence[Rollout]]) -> tuple[str, ...]:
    """Return prompts asked both early and late, those of the most steps first: equal prompts compare best."""
    asked = [{rollout.prompt for rollout in rollouts if rollout.prompt} for rollouts in by_step]
    count = max(len(asked) // 3, 1)
    both = set[str]().union(*asked[:count]) & set[str]().union(*asked[-count:]) if len(asked) > 1 else set[str]()
    ranked = sorted(both, key=lambda prompt: (-sum(prompt in some for some in asked), _digest(prompt)))
    return tuple(ranked[: EACH // 2])


def _balanced(rollouts: Sequence[Rollout], again: Sequence[str]) -> list[Rollout]:
    """Return samples of one step: the prompts asked again, then other prompts, spread over the scores."""
    once: dict[str, Rollout] = {}
    for rollout in rollouts:
        once.setdefault(rollout.prompt, rollout)
    same = [once.pop(prompt) for prompt in again if prompt in once]
    room = EACH - len(same)
    pool = list(once.values())
    if len(pool) < room:
        pool += [rollout for rollout in rollouts if rollout not in same and rollout not in pool]
    ranked = sorted(pool, key=lambda one: (math.isnan(one.score), one.score, one.prompt, one.output))
    return [*same, *(ranked[place] for place in spread(range(len(ranked)), room))]


def _foreign(chosen: Sequence[Shown], plain: Sequence[Shown], *, late: bool) -> list[Shown]:
    """Return responses under the prompt of another sample, if there is another prompt."""
    found = []
    for place, shown in enumerate(chosen):
        others = [other.rollout.prompt for other in plain if other.rollout.prompt != shown.rollout.prompt]
        if others:
            prompt = others[(7 * place + 3) % len(others)]
            found.append(replace(shown, role="foreign", rollout=replace(shown.rollout, prompt=prompt), late=late))
    return found


def _spoiled(rollout: Rollout) -> Rollout:
    """Return the sample with its letters shuffled: bad by any task's measure."""
    text = rollout.output
    order = sorted(range(len(text)), key=lambda place: _digest(f"{place}\0{text}"))
    mixed = "".join(text[place] for place in order)
    return replace(rollout, output=mixed if mixed != text else f"{text[::-1]}?{text}"[: max(len(text), 2)])


def _drawn(plain: Sequence[Shown], key: bytes) -> list[Shown]:
    return sorted(plain, key=lambda shown: blake2b(key + b"twice" + str(shown.of).encode()).digest())


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace")).digest()


def _shortened(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} […] {text[-half:]}"
