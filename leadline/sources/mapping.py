"""What the user says a key means: `--map canonical=key`, or the [map] table of a leadline.toml."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ..errors import BadMapping
from ..vocabulary import canonical_names
from ..vocabulary.names import listed
from .number import as_step
from .settings import toml

FILE = "leadline.toml"
SHORT = listed("short")  # what people call the series they mean
FREE = ("eval/", "env/", "reward/component/")  # what stands behind these is the user's to name
STEP = "step"  # not a series: the key to count steps by
ATTEMPT = "attempt"  # nor this: which attempt of a log that was started over, counted from 1


def parse_mapping(options: Sequence[str]) -> dict[str, str]:
    """From `canonical=key` to a mapping.

    >>> parse_mapping(["reward=my/score", "kl/ref=a=b"])
    {'reward/mean': 'my/score', 'kl/ref': 'a=b'}
    """
    mapping = {}
    for option in options:
        name, equals, key = option.partition("=")
        if not (name.strip() and equals and key.strip()):
            raise BadMapping(f"--map expects NAME=KEY, got {option!r}.", next_step="e.g. --map reward=my/score")
        mapping[name.strip()] = key.strip()
    return named(mapping) if mapping else {}


def named(mapping: Mapping[str, str]) -> dict[str, str]:
    """Return what the user says of keys, by canonical names; an error for a name that is none.

    >>> named({"reward": "my/score", "eval/held_out/acc": "acc"})
    {'reward/mean': 'my/score', 'eval/held_out/acc': 'acc'}
    """
    known = canonical_names() | {STEP, ATTEMPT}
    told = {}
    for name, key in mapping.items():
        full = SHORT.get(name, name)
        if full not in known and not full.startswith(FREE):
            near = _close(name, list(dict.fromkeys((*SHORT, *known))), 1, 0.5) or ["reward"]
            raise BadMapping(
                f"There is no series called {name!r}: nothing would be read from the key that is to be it.",
                next_step=f"write --map {near[0]}=KEY",
            )
        told[full] = key
    return told


def attempt_in(told: Mapping[str, str]) -> int | None:
    """Return which attempt the user wants; None for the newest."""
    if ATTEMPT not in told:
        return None
    wanted = as_step(told[ATTEMPT])
    if wanted is None or wanted < 1:
        raise BadMapping(
            f"--map attempt expects a number from 1, got {told[ATTEMPT]!r}.", next_step="e.g. --map attempt=1"
        )
    return wanted


def check(told: Mapping[str, str], logged: Collection[str], attempts: int) -> None:
    """Raise if something that the user named is not there: a key that was logged, an attempt."""
    wanted = attempt_in(told)
    if wanted is not None and wanted > attempts:
        raise BadMapping(
            f"no attempt {wanted}: this log has {attempts}.", next_step="omit --map attempt to read the latest."
        )
    for name, key in told.items():
        if key not in logged and name not in (STEP, ATTEMPT):
            near = _close(key, sorted(logged), 3)
            others = [other for other in sorted(logged) if other not in near]
            shown = ", ".join([*near, *others][:12]) + (" ..." if len(logged) > 12 else "")
            meant = f"did you mean --map {name}={near[0]}? " if near else ""
            raise BadMapping(
                f"key {key!r} (for {name}) has no numbers in the log.",
                next_step=f"{meant or '`leadline sources PATH` lists all keys. '}The log has: {shown or 'no keys'}.",
            )


def mapping_near(place: Path, *, working: Path) -> dict[str, str]:
    """Return the [map] table of the leadline.toml in the run's folder, or else in the working directory."""
    folder = place if place.is_dir() else place.parent
    file = next((file for file in (folder / FILE, working / FILE) if file.is_file()), None)
    if file is None:
        return {}
    try:
        table = toml(file.read_text(encoding="utf-8")).get("map", {})
    except (ValueError, OSError) as error:
        raise BadMapping(f"{file} could not be read: {error}.", next_step="fix or remove it.") from error
    if not isinstance(table, Mapping) or not all(isinstance(key, str) for key in table.values()):
        raise BadMapping(
            f"The [map] of {file} does not give one key for each name.", next_step="write each key in quotes"
        )
    return named(table)


def _close(name: str, names: Sequence[str], most: int, least: float = 0.6) -> list[str]:
    """Return the names that are written most alike."""
    import difflib  # here, as only a mistake needs it

    return difflib.get_close_matches(name, names, most, least)
