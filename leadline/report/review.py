"""Lay out a review: pairs and stretches of samples, how to answer, and what blind grades amount to."""

from __future__ import annotations

from ..review.choose import Passage, Sheet, prompt_room
from ..review.graded import BlindGrading
from ..review.store import Reviews
from ..run import Review, Rollout
from ..tokens import cut
from ..words import review as words
from .data import plain
from .lines import field, page
from .plain import line

TEXT = 1500  # characters of a prompt or a response in JSON
LETTERS = "ABCDEFGHIJ"


def render(
    sheet: Sheet, kept: Reviews, path: str, *, blind: bool = False, color: bool = False, width: int = 100
) -> str:
    """Return the whole sheet as text that ends with a newline."""
    lines = [
        field("review", words.heading(sheet.steps), "bold"),
        *(field("earlier", words.said(*entry)) for entry in zip(kept.reviews, kept.notes, strict=True)),
        field("look for", words.LOOK_FOR),
        field("", words.NOT_HACKING),
    ]
    for name, head, rows in sections(sheet, blind=blind):
        lines += [field("", ""), field(name, head, "bold"), *(field(f"  {label}", says) for label, says in rows)]
    lines += [field("", ""), *(field("answer", says) for says in words.how_to_answer(path, len(sheet.stretches)))]
    return page(lines, color=color, width=width)


Section = tuple[str, str, list[tuple[str, str]]]


def sections(sheet: Sheet, *, blind: bool = False) -> list[Section]:
    """Name, heading and labeled lines of the pairs and of each stretch."""
    found: list[Section] = []
    if sheet.pairs:
        rows = []
        for number, pair in enumerate(sheet.pairs, 1):
            rows.append((f"{number}", _sample(pair.early, sheet.room, blind)))
            rows.append(("", _sample(pair.late, sheet.room, blind)))
        found.append(("pairs", words.BLIND_PAIRS if blind else words.PAIRS, rows))
    for letter, part in zip(LETTERS, sheet.stretches, strict=False):
        head = words.stretch(part.first_step, part.last_step, part.score, part.low, part.high, part.length, blind=blind)
        some = [("high" if part.lowest else "any", one) for one in part.highest]
        some += [("low", one) for one in part.lowest]
        if blind:
            some = [("", one) for one in _mixed(part)]
        found.append((letter, head, [(label, _sample(one, sheet.room, blind)) for label, one in some]))
    return found


def _mixed(part: Passage) -> list[Rollout]:
    return sorted((*part.highest, *part.lowest), key=lambda one: (one.step, one.output))


def _sample(rollout: Rollout, room: int, blind: bool) -> str:
    prompt, output = (line(text.strip()) for text in (rollout.prompt, rollout.output))
    short = cut(prompt, prompt_room(room)), cut(output, room)
    return words.sample(rollout.step, rollout.score, *short, blind=blind)


def as_data(sheet: Sheet, kept: Reviews, *, blind: bool = False) -> dict[str, object]:
    """Return the same as plain data, with longer texts."""
    stretches = []
    for part in sheet.stretches:
        told: dict[str, object] = {"from": part.first_step, "to": part.last_step, "length": round(part.length)}
        some = {"samples": _mixed(part)} if blind else {"highest": part.highest, "lowest": part.lowest}
        if not blind:
            told |= {"score": plain(part.score), "lowest_score": plain(part.low), "highest_score": plain(part.high)}
        stretches.append(told | {name: [_data(one, blind) for one in found] for name, found in some.items()})
    return {
        "text": words.DATA,
        "look_for": words.LOOK_FOR,
        "steps": list(sheet.steps),
        "pairs": [{"early": _data(pair.early, blind), "late": _data(pair.late, blind)} for pair in sheet.pairs],
        "stretches": stretches,
        "reviews": [{**review_data(one), "note": note} for one, note in zip(kept.reviews, kept.notes, strict=True)],
    }


def _data(rollout: Rollout, blind: bool) -> dict[str, object]:
    told: dict[str, object] = {"step": rollout.step, "score": plain(rollout.score)}
    if blind:
        del told["score"]
    return {**told, "input": line(rollout.prompt, TEXT), "output": line(rollout.output, TEXT)}


def graded_lines(told: BlindGrading) -> tuple[str, ...]:
    """Return what a blind grading came to, a sentence per line."""
    how = words.how_graded(told.graded, told.asked, told.agreement, told.gap) if told.asked else ""
    if told.trust != "trusted":
        says = words.NOT_TRUSTED[told.trust]
    else:
        says = words.grades_say(told.early, told.late, told.p_parted, on_prompt=told.on_prompt)
    task = words.TASK.format(line(told.task, 300)) if told.task else ""
    problems = (words.UNUSABLE.format(line(problem, 200)) for problem in told.problems[:8])
    return tuple(filter(None, (task, how, says, *problems)))


def graded_data(told: BlindGrading) -> dict[str, object]:
    """Return the same as plain data."""
    data = plain(told)
    assert isinstance(data, dict)
    return {**data, "review": None if told.review is None else review_data(told.review), "says": graded_lines(told)}


def review_data(review: Review) -> dict[str, object]:
    """Return a review as plain data."""
    return {
        "answer": review.answer,
        "since_step": review.since_step,
        "seen_until": review.seen_until,
        "grades": [{"from": one.first_step, "to": one.last_step, "quality": one.quality} for one in review.grades],
        "reader": review.reader,
        "at": review.at,
    }
