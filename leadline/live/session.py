"""A watch from its start to its end: signals, the screen or lines for a service, and what follows from a look."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from ..errors import BadOrder
from ..recorder import Recorder
from ..report.plain import printable
from ..report.png import png
from ..sources import Joining
from . import acting, memory
from .answer import AnswerFile
from .figures import figures_of
from .look import Made
from .metrics import MetricsPort
from .outbox import Outbox
from .places import state_file
from .records import Look
from .screen import Screen, keys
from .store import Store
from .telling import open_channels
from .watch import Watch, Watched

TICK = 1.0  # seconds between two looks at signals and keys, at most
DRAWN = 0.25  # the same where a person watches
RECENT = 60  # looks of an earlier watch that are asked whether to act
REMEMBERED = 10_000  # and of this one: with --every there may be many


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    paths: tuple[str, ...]
    state: Path | None = None
    headless: bool = False
    every: float | None = None
    mapping: Mapping[str, str] | None = None
    joining: Joining = "by evidence"
    budget: int | None = None
    price: float | None = None
    tell: tuple[str, ...] = ()
    act: str | None = None
    dry_run: bool = True  # the first use of a state file only says what it would do
    answer: Path | None = None
    metrics_port: int | None = None
    record: bool = False
    color: bool = False


@dataclass(slots=True)
class Signals:
    """What the system asked for since the last look at it."""

    end: threading.Event = field(default_factory=threading.Event)
    look: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        """SIGTERM and SIGINT end the watch in order; SIGUSR1 asks for a look."""
        wanted = {signal.SIGTERM: self.end, signal.SIGINT: self.end}
        if hasattr(signal, "SIGUSR1"):
            wanted[signal.SIGUSR1] = self.look
        before = {number: signal.signal(number, lambda *_, set=one.set: set()) for number, one in wanted.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(options: Options) -> None:
    """Watch until asked to end."""
    if "stdout" in options.tell and not options.headless:
        raise BadOrder(
            "--tell stdout would write over the live view.",
            tried="to print alerts where the view is drawn",
            next_step="add --headless, or tell another way",
        )
    memory.settle()
    with contextlib.ExitStack() as ends:
        store = ends.enter_context(Store(options.state or state_file(options.paths)))
        session = _Session(options, store)
        signals = Signals()
        ends.enter_context(signals.caught())
        ends.enter_context(session.beside())
        session.watch.start()
        ends.callback(session.watch.end)
        if options.headless:
            _serve(session, signals)
        else:
            _show(session, signals)


def _serve(session: _Session, signals: Signals) -> None:
    _print(f"watching {', '.join(session.options.paths)}; state in {session.watch.store.path}")
    while not signals.end.is_set():
        pause = session.watch.tick()
        if signals.look.is_set():
            signals.look.clear()
            session.watch.ask()
        signals.end.wait(min(pause, TICK))


def _show(session: _Session, signals: Signals) -> None:
    with keys() as keyboard, Screen(session.watch, color=session.options.color) as screen:
        session.said = screen.say
        while not signals.end.is_set():
            session.watch.tick()
            if signals.look.is_set():
                signals.look.clear()
                session.watch.ask()
            screen.draw()
            if not screen.press(keyboard.wait(DRAWN)):
                return


class _Session:
    """What follows from looks and from what goes wrong."""

    def __init__(self, options: Options, store: Store) -> None:
        self.options = options
        self.said: Callable[[str], None] = _complain
        self._answer = None if options.answer is None else AnswerFile(options.answer)
        self._target = None if options.act is None else acting.target(options.act, store)
        self._pictures: dict[str, bytes | None] = {}  # of runs that alerts speak of
        self._agreeing: dict[tuple[str, int], deque[acting.Said]] = {}  # looks that say that a life of a run should end
        channels = open_channels(options.tell, os.environ)
        self._outbox = Outbox(store, channels, say=lambda says: self.said(says), picture=self._pictures.get)
        self.watch = Watch(
            options.paths,
            store,
            mapping=options.mapping,
            joining=options.joining,
            budget=options.budget,
            price=options.price,
            every=options.every,
            channels=self._outbox.names,
            keep_readings=not options.headless,
            looked=self._looked,
            problem=lambda says: self.said(says),
        )

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """What runs beside the watch and ends with it: telling, the metrics port, the recorder."""
        with contextlib.ExitStack() as ends:
            if self.options.metrics_port is not None:
                port = ends.enter_context(MetricsPort(self.options.metrics_port, lambda: figures_of(self.watch)))
                self.said(f"metrics at http://127.0.0.1:{port.port}/metrics")
            if self.options.record:
                place = Path(self.options.paths[0])
                recorder = Recorder(place if place.is_dir() else place.absolute().parent, log=place)
                for note in recorder.notes:
                    self.said(note)
                recorder.start()
                ends.callback(recorder.stop)
            self._outbox.start()
            ends.callback(self._outbox.close)
            yield

    def _looked(self, watched: Watched, made: Made) -> None:
        look = made.look
        if self.options.headless:
            _print(f"{watched.name} step {look.step}: {look.says}")
            if made.surprise is not None:
                _print(f"{watched.name} surprise: {made.surprise.says}")
        if made.alerts:
            if self._outbox.takes_pictures:
                with contextlib.suppress(Exception):  # an alert without a picture is still an alert
                    self._pictures[watched.identity] = png(made.reading)
            self._outbox.wake()
        if self._target is None and self._answer is None:
            return
        act = self._act(watched, look)
        if self._answer is not None:
            try:
                self._answer.say(made, name=watched.name, act=act)
            except OSError as error:
                self.said(f"The answer could not be written: {error.strerror or error}.")

    def _act(self, watched: Watched, look: Look) -> bool:
        """Whether the bar for acting holds; where the user asked for it, it is acted on."""
        store, life = self.watch.store, look.life
        decision = acting.may_act(self._looks(watched, look))
        if self._target is None:
            return decision.act
        now = time.time()
        target = acting.remember(store, watched.number, self._target, now, life=life)
        alone = len(self.watch.runs) == 1
        done = acting.carry_out(
            store, watched.number, decision, target, now, life=life, dry_run=self.options.dry_run, alone=alone
        )
        if done is not None:
            store.put_alerts(watched.number, [acting.alert_of(done, watched.identity)], self._outbox.names, now)
            self._outbox.wake()
            self.said(done.says)
        if self._target.kind == "stop":
            return acting.asked_to_stop(store.actions(watched.number), life)
        return decision.act

    def _looks(self, watched: Watched, look: Look) -> deque[acting.Said]:
        """The latest looks at this life of a run, as far back as they can matter. What an earlier watch wrote down is
        asked for once: a reading is large."""
        key = watched.identity, look.life
        looks = [look]
        if key not in self._agreeing:
            looks = [one for one in self.watch.store.looks(watched.number, last=RECENT) if one.life == look.life]
            self._agreeing = {one: said for one, said in self._agreeing.items() if one[0] != watched.identity}
            self._agreeing[key] = deque(maxlen=REMEMBERED)
        agreeing = self._agreeing[key]
        for said in filter(None, (acting.said(json.loads(one.reading)) for one in looks)):
            if said.verdict not in acting.ENDS:
                agreeing.clear()
            agreeing.append(said)
        return agreeing


def _print(says: str) -> None:
    """One line for whoever reads a service's output."""
    _write(says, sys.stdout)


def _complain(says: str) -> None:
    _write(says, sys.stderr)


def _write(says: str, stream: TextIO) -> None:
    """A reader that is gone, or a full disk, must not end the watch: nobody hears it then."""
    with contextlib.suppress(OSError, ValueError):  # ValueError: it was closed
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {printable(says)}", file=stream, flush=True)
