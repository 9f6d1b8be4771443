"""A watch from its start to its end: signals, the live view or lines for a service, and what follows from a check."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from ..errors import BadOrder
from ..records import replace
from ..report.plain import printable
from . import metrics
from .acting.orders import Action
from .entries import Options
from .heartbeat import Heartbeat
from .outbox import Outbox
from .records import Made
from .schedule import Watched
from .screen import Screen, keys
from .settling import Settling
from .store import Store, state_file
from .telling import open_channels
from .watch import Watch

TICK = 1.0  # seconds between two looks at signals, at most
DRAWN = 0.25  # and at keys, in the live view
HANGS = 5.0  # seconds that acting may delay the rest

Signals = tuple[threading.Event, threading.Event]  # set when a signal came: to end, to look now


@contextlib.contextmanager
def _signals() -> Iterator[Signals]:
    """Catch SIGTERM and SIGINT, which end the watch cleanly, and SIGUSR1, which requests a check."""
    end, look = threading.Event(), threading.Event()
    wanted = {signal.SIGTERM: end, signal.SIGINT: end, signal.SIGUSR1: look}
    before = {number: signal.signal(number, lambda *_, set=one.set: set()) for number, one in wanted.items()}
    try:
        yield end, look
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(options: Options) -> None:
    """Watch until asked to end."""
    if any("stdout" in entry.tell for entry in options.entries) and not options.headless:
        raise BadOrder(
            "--notify stdout would overwrite the live view.", next_step="add --headless, or use another channel"
        )
    with contextlib.ExitStack() as ends:
        store = ends.enter_context(Store(options.state or state_file(options.paths)))
        session = _Session(options, store)
        signals = ends.enter_context(_signals())
        session.begin(ends)
        session.watch.start()
        ends.callback(session.watch.end)
        if options.headless:
            _print(f"watching {', '.join(session.options.paths)}; state in {store.path}")
            _follow(session, signals, lambda pause: not signals[0].wait(min(pause, TICK)))
        else:
            _show(session, signals)


def _follow(session: _Session, signals: Signals, rest: Callable[[float], bool]) -> None:
    """Follow until a signal or the user ends it; `rest` waits so many seconds at most, and tells whether to go on."""
    end, look = signals
    while not end.is_set():
        pause = session.watch.tick()
        session.settle()
        if look.is_set():
            look.clear()
            session.watch.ask()
        if not rest(pause):
            return


def _show(session: _Session, signals: Signals) -> None:
    watch = session.watch
    with keys() as keyboard, Screen(watch.runs, watch.places, watch.ask, color=session.options.color) as screen:
        session.said = screen.say

        def shown(pause: float) -> bool:
            screen.draw()
            return screen.press(keyboard.wait(DRAWN))

        _follow(session, signals, shown)


class _Session:
    """A running watch with its alerts, orders, and metrics."""

    def __init__(self, options: Options, store: Store) -> None:
        tells = tuple(dict.fromkeys(one for entry in options.entries for one in entry.tell))
        opened = open_channels(tells, os.environ)
        # From here on by the channels' names, as alerts are kept for them: an order may hold an address.
        named = (replace(entry, tell=tuple(opened[one].name for one in entry.tell)) for entry in options.entries)
        self.options = options = replace(options, entries=tuple(named))
        self.said: Callable[[str], None] = partial(_print, to="stderr")
        self._heart = Heartbeat(store.path, options.paths, also=options.heartbeat)
        self._acts: threading.Thread | None = None
        channels = tuple({channel.name: channel for channel in opened.values()}.values())
        self._outbox = Outbox(store, channels, say=lambda says: self.said(says))
        self._settling = Settling(
            options, store, say=lambda says: self.said(says), done=self._acted, is_alone=self._is_alone
        )
        self.watch = Watch(options, store, looked=self._looked, problem=lambda says: self.said(says))

    def begin(self, ends: contextlib.ExitStack) -> None:
        """Begin what runs beside the watch and ends with it: sending alerts, and the metrics port."""
        if self.options.metrics is not None:
            host, number = metrics.address(self.options.metrics)
            token = os.environ.get(metrics.TOKEN) or None
            port = ends.enter_context(metrics.MetricsPort(number, self._samples, host=host, token=token))
            self.said(f"Metrics: http://{f'[{host}]' if ':' in host else host}:{port.port}/metrics")
        self._outbox.start()
        ends.callback(self._outbox.close)
        ends.enter_context(self._heart)

    def settle(self) -> None:
        """Do what follows from what is known by now, in a thread that is left behind while a disk hangs."""
        self._heart.beat()
        if self._settling.has_orders and (self._acts is None or not self._acts.is_alive()):
            runs = list(self.watch.runs.values())
            self._acts = threading.Thread(target=self._settle, args=(runs,), name="leadline-acts", daemon=True)
            self._acts.start()
            self._acts.join(HANGS)
        if self._acts is not None and self._acts.is_alive():
            self._settling.warn("Acting waits for a disk or a program that does not respond.")

    def _settle(self, runs: list[Watched]) -> None:
        """Act where that is due. What can't be written down stays due, and no run keeps the others waiting."""
        for watched in runs:
            try:
                self._settling.settle(watched)
            except sqlite3.Error as error:
                self._settling.warn(f"Can't write down what is to be done: {error}; retrying.")
            except Exception as error:  # acting that fails must not end the watch of all runs
                self._settling.warn(f"Acting failed: {type(error).__name__}: {error}. Check the run.")

    def _samples(self) -> Iterator[metrics.Sample]:
        watch = self.watch
        age = time.monotonic() - watch.went_round
        return metrics.samples_of(list(watch.runs.values()), watch.store, polled=age, hanging=len(watch.hanging))

    def _looked(self, watched: Watched, made: Made) -> None:
        look = made.look
        if self.options.headless:
            behind = f" ({watched.dropped} checks dropped so far for lack of time)" if watched.dropped else ""
            _print(f"{watched.name} step {look.step}: {look.says}{behind}")
        if made.alerts:
            self._outbox.wake()

    def _acted(self, done: Action) -> None:
        self._outbox.wake()
        self.said(done.says)

    def _is_alone(self, watched: Watched) -> bool:
        """Return whether an order can only mean this run: no other is or may come at its path, and the order was given
        for this path alone."""
        others = [one for one in list(self.watch.runs.values()) if one.place is watched.place]
        return len(others) == 1 and (self.options.by_table or len(self.watch.places) == 1)


def _print(says: str, *, to: str = "stdout") -> None:
    """Print a line; a closed pipe or a full disk must not end the watch."""
    with contextlib.suppress(OSError, ValueError):  # ValueError: it was closed
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {printable(says)}", file=getattr(sys, to), flush=True)
