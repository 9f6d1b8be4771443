"""Lay out a review: pairs and stretches of samples, and how to answer."""

from __future__ import annotations

from ..review.choose import Sheet, prompt_room
from ..review.store import Reviews
from ..run import Review, Rollout
from ..tokens import cut
from ..words import review as words
from .data import plain
from .lines import field, page
from .plain import line

TEXT = 1500  # characters of a prompt or a response in JSON
LETTERS = "ABCDEFGHIJ"


def render(sheet: Sheet, kept: Reviews, path: str, *, color: bool = False, width: int = 100) -> str:
    """Return the whole sheet as text that ends with a newline."""
    lines = [
        field("review", words.heading(sheet.steps), "bold"),
        *(field("earlier", words.said(one)) for one in kept.reviews),
        field("look for", words.LOOK_FOR),
        field("", words.NOT_HACKING),
    ]
    for name, head, rows in sections(sheet):
        lines += [field("", ""), field(name, head, "bold"), *(field(f"  {label}", says) for label, says in rows)]
    lines += [field("", ""), *(field("answer", says) for says in words.how_to_answer(path, len(sheet.stretches)))]
    return page(lines, color=color, width=width)


Section = tuple[str, str, list[tuple[str, str]]]


def sections(sheet: Sheet) -> list[Section]:
    """Name, heading and labeled lines of the pairs and of each stretch."""
    found: list[Section] = []
    if sheet.pairs:
        rows = []
        for number, pair in enumerate(sheet.pairs, 1):
            rows.append((f"{number}", _sample(pair.early, sheet.room)))
            rows.append(("", _sample(pair.late, sheet.room)))
        found.append(("pairs", words.PAIRS, rows))
    for letter, part in zip(LETTERS, sheet.stretches, strict=False):
        head = words.stretch(part.first_step, part.last_step, part.score, part.low, part.high, part.length)
        some = [("high" if part.lowest else "any", one) for one in part.highest]
        some += [("low", one) for one in part.lowest]
        found.append((letter, head, [(label, _sample(one, sheet.room)) for label, one in some]))
    return found


def _sample(rollout: Rollout, room: int) -> str:
    prompt, output = (line(text.strip()) for text in (rollout.prompt, rollout.output))
    short = cut(prompt, prompt_room(room)), cut(output, room)
    return words.sample(rollout.step, rollout.score, *short)


def as_data(sheet: Sheet, kept: Reviews) -> dict[str, object]:
    """Return the same as plain data, with longer texts."""
    stretches = [
        {
            "from": part.first_step,
            "to": part.last_step,
            "length": round(part.length),
            "score": plain(part.score),
            "lowest_score": plain(part.low),
            "highest_score": plain(part.high),
            "highest": [_data(one) for one in part.highest],
            "lowest": [_data(one) for one in part.lowest],
        }
        for part in sheet.stretches
    ]
    return {
        "text": words.DATA,
        "look_for": words.LOOK_FOR,
        "steps": list(sheet.steps),
        "pairs": [{"early": _data(pair.early), "late": _data(pair.late)} for pair in sheet.pairs],
        "stretches": stretches,
        "reviews": [review_data(one) for one in kept.reviews],
    }


def _data(rollout: Rollout) -> dict[str, object]:
    texts = {"input": line(rollout.prompt, TEXT), "output": line(rollout.output, TEXT)}
    return {"step": rollout.step, "score": plain(rollout.score), **texts}


def review_data(review: Review) -> dict[str, object]:
    """Return a review as plain data."""
    return {
        "answer": review.answer,
        "since_step": review.since_step,
        "seen_until": review.seen_until,
        "grades": [{"from": one.first_step, "to": one.last_step, "quality": one.quality} for one in review.grades],
        "reader": review.reader,
        "at": review.at,
        "note": review.note,
    }
