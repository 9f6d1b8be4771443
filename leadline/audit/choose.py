"""Which answers are shown: over steps, score levels and prompts, some twice, some made bad on purpose. The same run
gives the same choice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from ..facts.audit import Shown
from ..review.choose import spread
from ..run import Rollout, Samples

STEPS = 10  # looked at, the first and the last among them: a curve needs six points
EACH = 8  # answers a step
TWICE = 10  # answers shown a second time
SPOILED = 10  # answers of which a spoiled copy is shown: half of them the best-scored of the first steps
FOREIGN = 6  # early and as many late answers shown under another prompt
LONGEST = 1500  # characters of a prompt or an answer; of a longer one the middle is left out


def steps_shown(steps: Sequence[int]) -> tuple[int, ...]:
    """Steps spread over all that were kept."""
    return tuple(dict.fromkeys(spread(steps, STEPS)))


def choose(samples: Samples) -> tuple[Shown, ...]:
    """The answers to grade, in an order that tells nothing."""
    by_step = [samples.at(step) for step in steps_shown(samples.steps)]
    again = _asked_again(by_step)
    picked = [rollout for rollouts in by_step for rollout in _balanced(rollouts, again)]
    plain = [Shown("", "sample", number, _short(rollout)) for number, rollout in enumerate(picked)]
    if len(plain) < 2:
        return ()
    key = _key(picked)
    early, late = _third(plain, first=True), _third(plain, first=False)
    good = sorted(early, key=lambda shown: (-_score(shown), shown.of))[: SPOILED // 2]
    others = [shown for shown in _drawn(plain, len(plain), key + b"spoiled") if shown not in good]
    spoiled = (*good, *others[: SPOILED - len(good)])
    made = [
        *(replace(shown, role="repeat") for shown in _drawn(plain, TWICE, key)),
        *(replace(shown, role="bad", rollout=_spoiled(shown.rollout)) for shown in spoiled),
        *_foreign(good[:FOREIGN], plain, late=False),
        *_foreign(sorted(late, key=lambda shown: -_score(shown))[:FOREIGN], plain, late=True),
    ]
    mixed = sorted(enumerate((*plain, *made)), key=lambda entry: blake2b(key + str(entry[0]).encode()).digest())
    return tuple(replace(shown, id=f"a{number:03d}") for number, (_, shown) in enumerate(mixed, 1))


def is_spoiled_too(shown: Shown, all_shown: Sequence[Shown]) -> bool:
    """Whether a spoiled copy of it is shown as well."""
    return shown.role == "sample" and any(other.role == "bad" and other.of == shown.of for other in all_shown)


def _asked_again(by_step: Sequence[Sequence[Rollout]]) -> tuple[str, ...]:
    """Prompts that were asked early and late, those of the most steps first: the same question shows best what became
    of the answers."""
    asked = [{rollout.prompt for rollout in rollouts if rollout.prompt} for rollouts in by_step]
    count = max(len(asked) // 3, 1)
    both = set[str]().union(*asked[:count]) & set[str]().union(*asked[-count:]) if len(asked) > 1 else set[str]()
    ranked = sorted(both, key=lambda prompt: (-sum(prompt in some for some in asked), _digest(prompt)))
    return tuple(ranked[: EACH // 2])


def _balanced(rollouts: Sequence[Rollout], again: Sequence[str]) -> list[Rollout]:
    """Answers of one step: the prompts that are asked again, then other prompts, spread over the scores."""
    once: dict[str, Rollout] = {}
    for rollout in rollouts:
        once.setdefault(rollout.prompt, rollout)
    same = [once.pop(prompt) for prompt in again if prompt in once]
    room = EACH - len(same)
    pool = list(once.values())
    if len(pool) < room:
        pool += [rollout for rollout in rollouts if rollout not in same and rollout not in pool]
    ranked = sorted(
        pool, key=lambda rollout: (math.isnan(rollout.score), rollout.score, rollout.prompt, rollout.output)
    )
    if len(ranked) > room:
        ranked = [ranked[round(place * (len(ranked) - 1) / (room - 1))] for place in range(room)]
    return [*same, *ranked]


def _third(plain: Sequence[Shown], *, first: bool) -> list[Shown]:
    steps = sorted({shown.rollout.step for shown in plain})
    count = max(len(steps) // 3, 1)
    kept = set(steps[:count] if first else steps[-count:])
    return [shown for shown in plain if shown.rollout.step in kept]


def _score(shown: Shown) -> float:
    return _score_of(shown.rollout)


def _score_of(rollout: Rollout) -> float:
    return rollout.score if math.isfinite(rollout.score) else -math.inf


def _foreign(chosen: Sequence[Shown], plain: Sequence[Shown], *, late: bool) -> list[Shown]:
    """Answers under the prompt of another one, where there is another."""
    found = []
    for place, shown in enumerate(chosen):
        others = [other.rollout.prompt for other in plain if other.rollout.prompt != shown.rollout.prompt]
        if others:
            prompt = others[(7 * place + 3) % len(others)]
            found.append(replace(shown, role="foreign", rollout=replace(shown.rollout, prompt=prompt), late=late))
    return found


def _spoiled(rollout: Rollout) -> Rollout:
    """The same letters in an order that says nothing: bad by any task's measure."""
    text = rollout.output
    order = sorted(range(len(text)), key=lambda place: blake2b(f"{place}\0{text}".encode("utf-8", "replace")).digest())
    mixed = "".join(text[place] for place in order)
    return replace(rollout, output=mixed if mixed != text else f"{text[::-1]}?{text}"[: max(len(text), 2)])


def _drawn(plain: Sequence[Shown], count: int, key: bytes) -> list[Shown]:
    ranked = sorted(plain, key=lambda shown: blake2b(key + b"twice" + str(shown.of).encode()).digest())
    return ranked[:count]


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace")).digest()


def _key(picked: Sequence[Rollout]) -> bytes:
    digest = blake2b()
    for rollout in picked:
        digest.update(f"{rollout.step}\0{rollout.prompt}\0{rollout.output}\0".encode("utf-8", "replace"))
    return digest.digest()


def _short(rollout: Rollout) -> Rollout:
    return replace(rollout, prompt=shortened(rollout.prompt), output=shortened(rollout.output))


def shortened(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} […] {text[-half:]}"
