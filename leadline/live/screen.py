"""The live view: one run as its one-screen report, several as a list, updated in place."""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..comparison.gather import short_names
from ..digits import duration, sure
from ..facts.finding import NEEDS_EYES
from ..report import palette, terminal
from ..report.plain import printable
from ..shelf.row import NEEDS, Need
from ..shelf.summary import need_of
from ..words.serve import ago, verdict_called
from .follow import NamedPath
from .schedule import Watched

KEYS = "l check now   q quit"
KEY = re.compile(r"\x1b[\[O][A-D]|.", re.DOTALL)  # an arrow comes as three characters
NEWS = 30.0  # seconds a message stays
LIST_KEYS = "up/down choose   enter open   l check now   q quit"
READING_KEYS = "escape back   l check now   q quit"


class Screen:
    """The terminal while a watch goes on."""

    def __init__(
        self,
        runs: Mapping[str, Watched],
        places: Sequence[NamedPath],
        ask: Callable[[], None],
        *,
        color: bool = True,
        console: Console | None = None,
    ) -> None:
        """`ask` requests a check of every run."""
        self._runs, self._places, self._ask = runs, places, ask
        self._color = color
        self._console = console or Console(no_color=not color)
        self._live = Live(console=self._console, screen=True, auto_refresh=False, transient=True)
        self._chosen = 0
        self._open: str | None = None
        self._message, self._since = "", 0.0

    def say(self, message: str) -> None:
        """Show a message for a while."""
        self._message, self._since = message, time.monotonic()

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def draw(self) -> None:
        self._live.update(self.shown(), refresh=True)

    def shown(self) -> RenderableType:
        """Return what is on the screen now."""
        runs = self._ordered()
        if not runs:
            return self._waiting()
        if len(runs) == 1:
            return self._reading(runs[0], KEYS)
        opened = next((watched for watched in runs if watched.identity == self._open), None)
        return self._list(runs) if opened is None else self._reading(opened, READING_KEYS)

    def _ordered(self) -> list[Watched]:
        """Return the runs, the neediest first, then in the order they were named."""
        runs = list(self._runs.values())
        return sorted(runs, key=lambda one: (urgency(one), self._places.index(one.place), one.identity))

    def press(self, key: str) -> bool:
        """Act on a key; return false if the user quits."""
        runs = [watched.identity for watched in self._ordered()]
        if key in ("q", "\x03"):
            return False
        if key == "l":
            self._ask()
        elif key in ("\x1b[A", "\x1bOA", "k"):
            self._chosen = max(0, self._chosen - 1)
        elif key in ("\x1b[B", "\x1bOB", "j"):
            self._chosen = min(len(runs) - 1, self._chosen + 1)
        elif key in ("\r", "\n") and runs:
            self._open = runs[min(self._chosen, len(runs) - 1)]
        elif key == "\x1b":
            self._open = None
        return True

    def _waiting(self) -> RenderableType:
        problems = [place.problem for place in self._places if place.problem is not None]
        lines = [Text(f"Waiting for the first row at {_paths(self._places)}.", style="bold")]
        lines += [Text(printable(one.what), style="dim") for one in problems[:5]]
        return Group(*lines, self._status(KEYS))

    def _reading(self, watched: Watched, keys: str) -> RenderableType:
        size = self._console.size
        if watched.made is None:
            said = "" if watched.last is None else f" At step {watched.last.step}: {watched.last.says}"
            return Group(Text(printable(f"{watched.name}: first check in progress.{said}")), self._status(keys))
        page = terminal.render(
            watched.made.reading, color=self._color, width=size.width, height=max(8, size.height - 3)
        )
        return Group(Text.from_ansi(page.rstrip("\n")), self._freshness(watched), self._status(keys))

    def _list(self, runs: Sequence[Watched]) -> RenderableType:
        table = Table(box=None, pad_edge=False, expand=True)
        for name in ("", "run", "step", "of", "verdict", "gain", "last row", "why"):
            table.add_column(name, no_wrap=True, overflow="ellipsis", ratio={"run": 2, "why": 4}.get(name))
        height = max(3, self._console.size.height - 4)
        top = max(0, min(self._chosen - height // 2, len(runs) - height))
        names = short_names([watched.name for watched in runs])
        for place in range(top, min(top + height, len(runs))):
            table.add_row(*self._row(runs[place], names[place], chosen=place == self._chosen))
        return Group(table, self._status(LIST_KEYS))

    def _row(self, watched: Watched, name: str, *, chosen: bool) -> Iterator[str | Text]:
        look = watched.last
        planned = watched.sighting.run.config.planned_steps
        verdict = "" if look is None else verdict_called(look.verdict, look.outcome)
        style = "" if look is None else palette.outcome(look.verdict, look.outcome).terminal
        pays = "" if look is None or look.p_continue_pays is None else sure(look.p_continue_pays)
        why = "First check in progress." if look is None else look.says
        if watched.silent:
            still = duration(time.monotonic() - watched.grown)
            why = f"No log rows for {still} after step {watched.sighting.current}."
        yield ">" if chosen else " "
        yield Text(printable(name))
        yield str(watched.sighting.current)
        yield "" if planned is None else str(planned)
        yield Text(verdict, style=style)
        yield pays
        yield Text(ago(watched.grown, time.monotonic()), style="yellow" if watched.silent else "dim")
        yield Text(printable(why))

    def _freshness(self, watched: Watched) -> Text:
        look, sighting = watched.last, watched.sighting
        at = "" if look is None else f"checked at step {look.step}"
        later = "" if look is None or sighting.current <= look.step else f", now at {sighting.current}"
        row = f"last row {ago(watched.grown, time.monotonic())}"
        behind = f"; {watched.dropped} checks dropped for lack of time" if watched.dropped else ""
        return Text(f"{at}{later}; {row}{behind}", style="dim")

    def _status(self, keys: str) -> Text:
        problems = [place.problem.what for place in self._places if place.problem is not None]
        news = [self._message] if time.monotonic() - self._since < NEWS else problems[:1]
        shown = [printable(one) for one in news if one and self._runs]
        return Text("   ".join([*shown, keys]), style="dim", no_wrap=True, overflow="ellipsis")


def _paths(places: Sequence[NamedPath]) -> str:
    shown = ", ".join(place.path for place in places[:3])
    return printable(shown + (f" and {len(places) - 3} more" if len(places) > 3 else ""))


@contextmanager
def keys() -> Iterator[Keys]:
    """Yield the keyboard: single key presses if standard input is a terminal."""
    try:
        file = sys.stdin.fileno()
        before = termios.tcgetattr(file)
    except (OSError, ValueError, termios.error):  # no terminal
        yield Keys(None)
        return
    try:
        tty.setcbreak(file)
        yield Keys(file)
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)


class Keys:
    """The keyboard, if there is one."""

    def __init__(self, file: int | None) -> None:
        self._file = file
        self._pressed: deque[str] = deque()

    def wait(self, seconds: float) -> str:
        """Return the key that is pressed within that time, or ""."""
        if self._file is None:
            time.sleep(seconds)
            return ""
        if not self._pressed and select.select([self._file], [], [], seconds)[0]:
            self._pressed.extend(KEY.findall(self._read(self._file).decode("utf-8", errors="replace")))
        return self._pressed.popleft() if self._pressed else ""

    def _read(self, file: int) -> bytes:
        """Return what was typed; a closed terminal has no more keys."""
        try:
            typed = os.read(file, 64)
        except OSError:
            typed = b""
        if not typed:
            self._file = None
        return typed


def urgency(watched: Watched) -> int:
    """Return the place of a run among those that need a person, in the order of the page of all runs."""
    needs = set[Need | None](["silent"] if watched.silent else [])
    if watched.made is not None:
        reading = watched.made.reading
        needs.add(need_of(reading.judgement, asks=any(one.id == NEEDS_EYES for one in reading.findings)))
    return next((place for place, need in enumerate(NEEDS) if need in needs), len(NEEDS))
