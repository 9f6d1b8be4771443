"""Past checks of a run, from the state files that know it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import BadState, NothingReadable
from ..records import dataclass
from .alert import Alert
from .places import state_files
from .records import Look, Prediction
from .store import Store

SHOWN = ("life", "step", "why", "at", "verdict", "outcome", "p_continue_pays", "best_step", "says", "digest")


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """All that is remembered of one run."""

    run: str
    state: Path
    looks: tuple[Look, ...]
    scored: tuple[Prediction, ...]
    alerts: tuple[Alert, ...]
    actions: tuple[tuple[float, dict[str, object]], ...]


def past_of(path: str | None, *, state: Path | None = None, looks: bool = True) -> tuple[Past, ...]:
    """Return what is remembered of the run at `path`, of every run below it, or of all runs. Without `looks`, only
    alerts and actions: readings are large."""
    files = [state] if state is not None else state_files()
    found: list[Past] = []
    for file in files:
        try:
            with Store(file, write=False) as store:
                numbers = {name: number for name, number in store.names().items() if _is_meant(name, path)}
                found += [_past(store, name, number, looks) for name, number in numbers.items()]
        except BadState:
            if state is not None:
                raise
    if not found:
        raise NothingReadable(
            f"no history for {path or 'any run'}; it was never watched.",
            tried=", ".join(str(file) for file in files[:5]) or "no state file was found",
            next_step=f"leadline watch {path or 'PATH'}, or name the state file with --state.",
        )
    return tuple(found)


def _past(store: Store, name: str, number: int, looks: bool) -> Past:
    return Past(
        name,
        store.path,
        store.looks(number) if looks else (),
        store.scored_predictions(number) if looks else (),
        store.alerts(number),
        store.actions(number),
    )


def _is_meant(name: str, path: str | None) -> bool:
    """Return whether a run is at a path, below it, or in the folder of the file it names."""
    if path is None:
        return True
    if "://" in path:
        return name == path
    place = Path(path).absolute()
    home = Path(name.partition("#")[0])
    return home == place or place in home.parents or name == str(place)


def as_data(past: Sequence[Past]) -> list[dict[str, object]]:
    """Return it as plain data, one object per check."""
    return [{"run": one.run} | {name: getattr(look, name) for name in SHOWN} for one in past for look in one.looks]


def actions_as_data(past: Sequence[Past]) -> list[dict[str, object]]:
    """Return what was done, would have been, or was refused: one object per entry, the oldest first."""
    found = [{"run": one.run, "at": at, **action} for one in past for at, action in one.actions]
    return sorted(found, key=lambda entry: float(str(entry["at"])))
