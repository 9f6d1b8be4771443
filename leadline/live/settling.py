"""Do what follows from the checks of a run: act if the bar is reached, and keep the answer file."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..errors import BadOrder, CannotWrite
from ..inside.quiet import Once
from ..reading.wall_clock import row_times
from ..records import dataclass, field, replace
from ..report.data import dump
from ..report.files import write_whole
from .acting.actor import Actor
from .acting.orders import ENDS, Action, Decision, Life, Said, may_act, parse, said
from .acting.process import Identity
from .acting.writer import RunFiles
from .entries import Options, WatchEntry
from .records import Look
from .schedule import Watched
from .store import Store

RECENT = 60  # checks of an earlier watch that count for acting
REMEMBERED = 10_000  # and of this one: with --interval there may be many
CAUGHT_UP = 60.0  # seconds to wait for checks that were due when the bar was reached


@dataclass(slots=True)
class _Standing:
    """The result of all checks of one attempt at a run."""

    attempt: tuple[int, int]  # life and attempt
    heard: int = 0  # number of the last check that was taken
    growths: int = 0  # how often the log had grown when this was last settled
    said: deque[Said] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    dates: list[tuple[float, int]] = field(default_factory=list)  # when checks saw which step
    reached: tuple[int, float] | None = None  # the last step that was due when the bar was reached, and when
    answered: tuple[str, bool] | None = None  # the last check in the answer file, and whether to act

    def has_caught_up(self, due: Iterable[int], step: int, act: bool) -> bool:
        """Return whether all checks were made that were due when the bar was reached; later ones delay nothing."""
        if not act:
            self.reached = None
            return True
        if self.reached is None:
            self.reached = max(due, default=step), time.monotonic()
        return step >= self.reached[0] or time.monotonic() - self.reached[1] > CAUGHT_UP


class Settling:
    """Carries out the orders of a watch, in a thread of its own: nothing waits for it."""

    def __init__(
        self,
        options: Options,
        store: Store,
        *,
        say: Callable[[str], None],
        done: Callable[[Action], None],
        is_alone: Callable[[Watched], bool],
    ) -> None:
        """`say` is called once for each warning, `done` for what was done; `is_alone` tells whether what an order names
        can only belong to this run."""
        self._store, self._done, self._is_alone = store, done, is_alone
        self.warn = Once(say)
        self._answer = options.answer
        self._answers: dict[str, Mapping[str, object]] = {}  # by run
        self._standings: dict[str, _Standing] = {}
        self._actors = {entry.path: self._actor(entry, entry.act) for entry in options.entries if entry.act is not None}
        self.has_orders = bool(self._actors) or self._answer is not None

    def settle(self, watched: Watched) -> None:
        """Do what follows from what is known of a run by now. Raises sqlite3.Error: it stays due."""
        look, actor = watched.last, self._actors.get(watched.place.path)
        if actor is not None and (warning := actor.sample(self._files(watched))) is not None:
            self.warn(warning)
        if look is None or look.life != watched.cursor.life:
            return
        life = Life(watched.number, watched.identity, look.life, watched.sighting.attempt)
        growths, attempt = watched.growths, (look.life, look.attempt)
        standing = self._standings.get(watched.identity)
        if standing is None or standing.attempt != attempt:
            standing = self._standings[watched.identity] = _Standing(attempt, growths=growths)
        decision = self._decision(standing, watched, look, actor)
        act = decision.act
        if actor is not None:
            if not standing.has_caught_up((due.step for due in list(watched.due)), look.step, act):
                decision = replace(decision, act=False)
            alone = self._is_alone(watched)
            done = actor.consider(life, decision, self._files(watched), alone=alone, grew=growths > standing.growths)
            if done is not None and done.state != "begun":
                self._done(done)
            if actor.order.kind == "stop":
                act = act and actor.asks_to_stop(life)
        if self._answer is not None and standing.answered != (look.digest, act):
            self._write_answer(self._answer, standing, watched, look, act=act)
        standing.growths = growths

    def _decision(self, standing: _Standing, watched: Watched, look: Look, actor: Actor | None) -> Decision:
        """Decide whether the checks of this attempt are enough to act. Checks of an earlier process, or of rows that
        it may have written, do not count."""
        if look.attempt != watched.sighting.attempt:
            return may_act(())
        heard = self._said(standing, watched)
        older = float("-inf") if actor is None else actor.older(self._files(watched))
        return may_act([one for one in heard if one.step > older])

    def _said(self, standing: _Standing, watched: Watched) -> Sequence[Said]:
        """Return what the latest checks of this attempt said, by whichever watch. A reading is large: each is parsed
        once."""
        for made in self._store.looks(watched.number, after=standing.heard, last=None if standing.heard else RECENT):
            standing.heard = made.id
            heard = said(json.loads(made.reading)) if (made.life, made.attempt) == standing.attempt else None
            if heard is None:
                continue
            standing.dates.append((made.at, made.step))
            if heard.verdict not in ENDS:
                standing.said.clear()
            standing.said.append(heard)
        return standing.said

    def _files(self, watched: Watched) -> RunFiles:
        """Return what shows who writes a run, and since when."""
        sighting, standing = watched.sighting, self._standings.get(watched.identity)
        writers = tuple(
            Identity(pid, str(writer["started"]), ())
            for writer in sighting.writers[-1:]
            if isinstance(pid := writer.get("pid"), int) and writer.get("started")
        )
        return RunFiles(sighting.files, writers, tuple(standing.dates if standing else ()), row_times(sighting.run))

    def _write_answer(self, path: Path, standing: _Standing, watched: Watched, look: Look, *, act: bool) -> None:
        """Add the latest check to the answer file, which is replaced as a whole: a reader sees the old answer or the
        new one. `to` names the process of the training that it is meant for, if known: a later one must ignore it."""
        best = json.loads(look.reading)["judgement"]["best_checkpoint"]
        kept = None if best is None else {"step": best["step"], "path": best["path"]}
        writers = watched.sighting.writers
        to = writers[look.attempt - 1].get("token") if 0 < look.attempt <= len(writers) else None
        told = {key: getattr(look, key) for key in ("step", "verdict", "outcome", "p_continue_pays", "says", "at")}
        to = None if to is None else str(to)
        self._answers[look.run] = {"run": watched.name, **told, "best_checkpoint": kept, "act": act, "to": to}
        content = self._answers[look.run] if len(self._answers) == 1 else {"runs": list(self._answers.values())}
        try:
            write_whole(path, dump(content))
            standing.answered = look.digest, act
        except CannotWrite as error:
            self.warn(f"No verdict file: {error.what}")

    def _actor(self, entry: WatchEntry, text: str) -> Actor:
        """Return who carries out an order. Its target is written down first: a pid may be reused between watches."""
        known = self._store.order(text)
        order = parse(text, known)
        if known is None:
            self._store.remember_order(text, order.as_data(), time.time())
        if entry.then is not None and order.process is None:
            raise BadOrder(
                "--then needs an order that sends a signal.", next_step="use it with --act sigterm:PID or sigint:PID"
            )
        return Actor(self._store, order, dry=entry.dry_run, then=entry.then, after=entry.after, channels=entry.tell)
