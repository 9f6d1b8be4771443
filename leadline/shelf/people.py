"""Notes of people about runs: seen, muted, noted, handed over. Kept for good, and heeded by `leadline watch`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from ..errors import LeadlineError
from ..records import dataclass
from .base import POSTGRES, SQLITE, default_store
from .store import Shelf, meant, stored

What = Literal["acknowledge", "mute", "unmute", "note", "hand_over"]
WHATS: tuple[What, ...] = get_args(What)
LONGEST = 2000  # characters of a note


@dataclass(frozen=True, slots=True)
class Note:
    """One thing a person said about a run."""

    at: float
    who: str
    what: str
    about: str | None
    until: float | None
    note: str


def say(
    shelf: Shelf,
    identity: str,
    what: What,
    *,
    who: str,
    about: str | None = None,
    until: float | None = None,
    note: str = "",
) -> None:
    """Write it down and let it hold from now on."""
    run, now = stored(identity), shelf.base.now()
    effect = {
        "acknowledge": ("acknowledged = ?", (about,)),
        "mute": ("muted_until = ?", (until,)),
        "unmute": ("muted_until = ?, acknowledged = ?", (None, None)),
        "hand_over": ("handed_to = ?", (stored(note[:LONGEST]),)),
    }.get(what)
    with shelf.base.writing():
        shelf.base.run(
            "INSERT INTO said (identity, at, who, what, about, until, note) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (run, now, stored(who[:200]), what, about, until, stored(note[:LONGEST])),
        )
        changes, values = effect or ("key = key", ())
        shelf.base.run(f"UPDATE runs SET {changes}, change = ? WHERE identity = ?", (*values, shelf.changed(), run))


def said_of(shelf: Shelf, identity: str) -> tuple[Note, ...]:
    """Return all that was said about a run, the latest first."""
    rows = shelf.base.rows(
        "SELECT at, who, what, about, until, note FROM said WHERE identity = ? ORDER BY id DESC", (stored(identity),)
    )
    return tuple(Note(at, meant(who), what, about, until, meant(note)) for at, who, what, about, until, note in rows)


def is_muted(identity: str, about: str, now: float) -> bool:
    """Return whether a person wants to hear nothing more of a run, or has seen just this. Asked before every alert: a
    shelf that is not there, or does not answer, mutes nothing."""
    url = default_store()
    if not url.startswith(POSTGRES) and not Path(url.removeprefix(SQLITE)).is_file():
        return False
    try:
        with Shelf(url, write=False) as shelf:
            try:
                rows = shelf.base.rows(
                    "SELECT muted_until, acknowledged FROM runs WHERE identity = ?", (stored(identity),)
                )
            except shelf.base.fails:
                return False
    except LeadlineError:
        return False
    return any((until is not None and until > now) or about in ABOUT.get(seen, ()) for until, seen in rows)


ABOUT = {  # which alerts of a watch speak of a need
    "silent": ("silence",),
    "hacked": ("reward.gamed", "reward.reviewed", "verdict.stop", "verdict.roll_back", "verdict.finished"),
    "changed": ("generation.changed",),
    "falling": ("verdict.stop", "verdict.roll_back", "verdict.finished"),
    "broken": ("signal.no_learning_signal", "verdict.stop", "verdict.roll_back", "verdict.finished"),
    "wasting": ("verdict.stop",),
}
