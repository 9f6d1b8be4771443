"""Readers that stay open: a place that is looked at again costs what was added to it."""

from __future__ import annotations

from pathlib import Path

from .source import Reader, Source


class Readers:
    """The readers of every file and tracker folder met so far. A file that was cut or replaced is read from its
    beginning again, as its reader notices by itself."""

    def __init__(self) -> None:
        self._held: dict[Path, tuple[Source, tuple[Reader, ...]]] = {}
        self._used: set[Path] = set()

    def of(self, place: Path, source: Source) -> tuple[Reader, ...]:
        """The readers of one place, the ones that have read it before where they still fit: a store that gained a run,
        or a file that became one of another kind, is opened anew."""
        self._used.add(place)
        fresh = source.open(place)
        held = self._held.get(place)
        if held is None or held[0] is not source or len(held[1]) != len(fresh):
            held = self._held[place] = source, fresh
        return held[1]

    def update(self) -> bool:
        """Take what was written to places already known; whether there was anything. What cannot be read now may be
        later."""
        changed = False
        for _, readers in self._held.values():
            for reader in readers:
                try:
                    changed |= reader.update()
                except OSError:
                    continue
        return changed

    def forget_unused(self) -> None:
        """Let go of the places that nobody asked for since this was last called: a trainer that keeps its whole log in
        every saved state would fill the memory."""
        self._held = {place: held for place, held in self._held.items() if place in self._used}
        self._used = set()
