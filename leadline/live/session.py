"""A watch from its start to its end: signals, the screen or lines for a service, and what follows from a look."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from ..errors import BadOrder
from ..recorder import Recorder
from ..report.plain import printable
from ..report.png import png
from . import acting, memory, metrics
from .acting.process import Identity
from .answer import AnswerFile
from .entries import Options, WatchEntry
from .figures import figures_of
from .heartbeat import Heartbeat
from .look import Made
from .outbox import Outbox
from .places import state_file
from .records import Look
from .screen import Screen, keys
from .store import Store
from .telling import open_channels
from .watch import Watch
from .watched import Watched

TICK = 1.0  # seconds between two looks at signals and keys, at most
DRAWN = 0.25  # the same where a person watches
RECENT = 60  # looks of an earlier watch that are asked whether to act
REMEMBERED = 10_000  # and of this one: with --every there may be many
CAUGHT_UP = 60.0  # seconds that looks which were due when the bar was reached are waited for


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
    if any("stdout" in entry.tell for entry in options.entries) and not options.headless:
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
        ends.callback(session.close)
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
        session.settle()
        if signals.look.is_set():
            signals.look.clear()
            session.watch.ask()
        signals.end.wait(min(pause, TICK))


def _show(session: _Session, signals: Signals) -> None:
    with keys() as keyboard, Screen(session.watch, color=session.options.color) as screen:
        session.said = screen.say
        while not signals.end.is_set():
            session.watch.tick()
            session.settle()
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
        self._heart = Heartbeat(store.path, options.paths, also=options.heartbeat)
        self._grown: deque[Watched] = deque()
        self._decided: dict[str, tuple[tuple[str, float], acting.Decision]] = {}  # by run: after which look, and what
        self._reached: dict[str, tuple[int, float]] = {}  # by run: up to which step looks were due at the bar, and when
        self._dates: dict[str, list[tuple[float, int]]] = {}  # by run: when it had come to which step, by its looks
        self._warned: set[str] = set()
        self._dropped: dict[str, int] = {}  # by run: looks for which there was no time, as far as that was said
        self._pictures: dict[str, bytes | None] = {}  # of runs that alerts speak of
        # Looks that say that an attempt at a run should end, and what was last answered.
        self._agreeing: dict[tuple[str, int, int], deque[acting.Said]] = {}
        self._heard: dict[str, int] = {}  # the number of the last look that was asked
        self._acts: dict[str, tuple[str, bool]] = {}
        tells = tuple(dict.fromkeys(one for entry in options.entries for one in entry.tell))
        channels = open_channels(tells, os.environ)
        self._outbox = Outbox(store, channels, say=lambda says: self.said(says), picture=self._pictures.get)
        self._actors = {
            entry.path: self._ordered(entry, entry.act, store) for entry in options.entries if entry.act is not None
        }
        self.watch = Watch(
            options,
            store,
            looked=self._looked,
            grown=self._grown.append,
            problem=lambda says: self.said(says),
        )

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """What runs beside the watch and ends with it: telling, the metrics port, the recorder."""
        with contextlib.ExitStack() as ends:
            if self.options.metrics is not None:
                host, number = metrics.address(self.options.metrics)
                token = os.environ.get(metrics.TOKEN) or None
                served = metrics.MetricsPort(number, lambda: figures_of(self.watch), host=host, token=token)
                port = ends.enter_context(served)
                self.said(f"metrics at http://{f'[{host}]' if ':' in host else host}:{port.port}/metrics")
            if self.options.record:
                place = Path(self.options.paths[0])
                recorder = Recorder(place if place.is_dir() else place.absolute().parent, log=place)
                for note in recorder.notes:
                    self.said(note)
                recorder.start()
                ends.callback(recorder.stop)
            self._outbox.start()
            ends.callback(self._outbox.close)
            ends.enter_context(self._heart)
            yield

    def _looked(self, watched: Watched, made: Made) -> None:
        look = made.look
        if self.options.headless:
            if watched.dropped > self._dropped.get(watched.identity, 0):
                _print(f"{watched.name}: {watched.dropped} looks were dropped so far for want of time")
                self._dropped[watched.identity] = watched.dropped
            _print(f"{watched.name} step {look.step}: {look.says}")
            if made.surprise is not None:
                _print(f"{watched.name} surprise: {made.surprise.says}")
        if made.alerts:
            if self._outbox.takes_pictures:
                with contextlib.suppress(Exception):  # an alert without a picture is still an alert
                    self._pictures[watched.identity] = png(made.reading)
            self._outbox.wake()

    # --- acting, by the thread that follows: nothing waits for a look to be told

    def settle(self) -> None:
        """Do what follows from what is known by now. What could not be written down stays due."""
        self._heart.beat()
        if not self._actors and self._answer is None:
            self._grown.clear()
            return
        try:
            for watched in list(self.watch.runs.values()):
                self._settled(watched)
            self._grown.clear()
        except sqlite3.Error as error:
            self._say_once(f"What is to be done cannot be written down now: {error}. Trying again.")
        except Exception as error:  # acting that fails must not end the watch of all runs
            self._say_once(f"Acting failed: {type(error).__name__}: {error}. Nothing was done by it.")

    def _settled(self, watched: Watched) -> None:
        look, sighting = watched.last, watched.sighting
        actor = self._actors.get(watched.place.path)
        if actor is not None and actor.order.process is not None:
            warning = actor.sample(self._files(watched))
            if warning is not None:
                self._say_once(warning)
        if look is None or look.life != watched.cursor.life:
            return
        life = acting.Life(watched.number, watched.identity, look.life, sighting.attempt)
        decision = self._decision(watched, look, actor)
        act = decision.act
        if actor is not None:
            files = self._files(watched)
            self._tell(actor.gone(life, files))
            if watched in self._grown:
                self._tell(actor.grew_after(life))
            if self._has_caught_up(watched, look, act):
                self._tell(actor.consider(life, decision, files, alone=self._is_alone(watched)))
            if actor.order.kind == "stop":
                act = act and actor.asks_to_stop(life)
        if self._answer is not None and self._acts.get(watched.identity) != (look.digest, act):
            self._write_answer(watched, look, act=act)

    def _has_caught_up(self, watched: Watched, look: Look, act: bool) -> bool:
        """Whether all has been looked at that was there when the bar was reached; what came since does not delay."""
        if not act:
            self._reached.pop(watched.identity, None)
            return True
        due = max((due.step for due in list(watched.due)), default=look.step)
        upto, since = self._reached.setdefault(watched.identity, (due, time.monotonic()))
        return look.step >= upto or time.monotonic() - since > CAUGHT_UP

    def _is_alone(self, watched: Watched) -> bool:
        """Whether what an order names can only belong to this run: no other is at its path, nor may one come, and the
        order was given for this path alone."""
        others = [one for one in self.watch.runs.values() if one.place is watched.place]
        return len(others) == 1 and (self.options.by_table or len(self.watch.places) == 1)

    def _write_answer(self, watched: Watched, look: Look, *, act: bool) -> None:
        assert self._answer is not None
        best = json.loads(look.reading)["judgement"]["best_checkpoint"]
        writers = watched.sighting.writers
        to = writers[look.attempt - 1].get("token") if 0 < look.attempt <= len(writers) else None
        try:
            self._answer.say(look, best, name=watched.name, act=act, to=None if to is None else str(to))
            self._acts[watched.identity] = look.digest, act
        except OSError as error:
            self._say_once(f"The answer could not be written: {error.strerror or error}.")

    def _tell(self, done: acting.Action | None) -> None:
        """Say what was done, now and to those who are to be told."""
        if done is None or done.state == "begun":
            return
        self._outbox.wake()
        self.said(done.says)

    def _decision(self, watched: Watched, look: Look, actor: acting.Actor | None) -> acting.Decision:
        """Whether the looks at this attempt, the last one included, are reason enough to act. A run that was resumed
        begins anew: what was said of the process before it does not count, nor of rows that it may have written."""
        if look.attempt != watched.sighting.attempt:
            return acting.may_act(())
        looks = self._looks(watched, look)
        older = float("-inf") if actor is None else actor.older(self._files(watched))
        known = self._decided.get(watched.identity)
        if known is None or known[0] != (look.digest, older):
            decision = acting.may_act([one for one in looks if one.step > older])
            known = self._decided[watched.identity] = (look.digest, older), decision
        return known[1]

    def _files(self, watched: Watched) -> acting.RunFiles:
        """What tells who writes a run, and since when."""
        sighting = watched.sighting
        writers = [
            Identity(pid, str(writer["started"]), ())
            for writer in sighting.writers[-1:]
            if isinstance(pid := writer.get("pid"), int) and writer.get("started")
        ]
        dates = tuple(self._dates.get(watched.identity, ()))
        return acting.RunFiles(sighting.files, tuple(writers), dates, sighting.dated)

    def _looks(self, watched: Watched, look: Look) -> Sequence[acting.Said]:
        """The latest looks at this attempt at a run, as far back as they can matter: every one that was written down,
        by whichever watch. A reading is large, so each is asked for once."""
        key = watched.identity, look.life, look.attempt
        if key not in self._agreeing:
            self._agreeing = {one: heard for one, heard in self._agreeing.items() if one[0] != watched.identity}
            self._agreeing[key] = deque(maxlen=REMEMBERED)
            self._heard[watched.identity] = self.watch.store.look_before(watched.number, RECENT)
            self._dates[watched.identity] = []
        agreeing = self._agreeing[key]
        for number, made in self.watch.store.looks_after(watched.number, self._heard[watched.identity]):
            self._heard[watched.identity] = number
            said = acting.said(json.loads(made.reading)) if (made.life, made.attempt) == key[1:] else None
            if said is None:
                continue
            self._dates[watched.identity].append((made.at, made.step))
            if said.verdict not in acting.ENDS:
                agreeing.clear()
            agreeing.append(said)
        return agreeing

    def _ordered(self, entry: WatchEntry, text: str, store: Store) -> acting.Actor:
        """Who carries out the order. What it names is written down before anything else: a number may be taken by
        another process while nobody watches."""
        order = acting.parse(text, store.order(text))
        store.remember_order(text, order.as_data(), time.time())
        if entry.then is not None and order.process is None:
            raise BadOrder(
                "--then needs an order that sends a signal.",
                tried=f"to follow --act {text} by {entry.then}",
                next_step="use it with --act sigterm:PID or sigint:PID",
            )
        return acting.Actor(store, order, dry=entry.dry_run, then=entry.then, after=entry.after, channels=entry.tell)

    def _say_once(self, says: str) -> None:
        if says not in self._warned:
            self._warned.add(says)
            self.said(says)

    def close(self) -> None:
        for actor in self._actors.values():
            actor.close()


def _print(says: str) -> None:
    """One line for whoever reads a service's output."""
    _write(says, sys.stdout)


def _complain(says: str) -> None:
    _write(says, sys.stderr)


def _write(says: str, stream: TextIO) -> None:
    """A reader that is gone, or a full disk, must not end the watch: nobody hears it then."""
    with contextlib.suppress(OSError, ValueError):  # ValueError: it was closed
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {printable(says)}", file=stream, flush=True)
