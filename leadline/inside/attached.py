"""`leadline.attach`: one line in a training loop, and the run is written down, checked, and asked about."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ..arguments import check_kind, checked_steps
from .journal import JOURNAL, Appended, first_line, folder_for, record, row
from .quiet import LOGGER, complain, quiet
from .ranks import GO_ON, JointStop, rank_and_size
from .sidecar import ANSWER, Answer, Sidecar

__all__ = ["Attached", "attach"]


def attach(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    planned_steps: int | None = None,
    config: Mapping[str, object] | None = None,
    watch: bool = True,
    stop: bool = False,
    notify: Sequence[str] = (),
    resume: bool = False,
) -> Attached:
    """Begin a journal for the run `name` below `folder` (default: ./leadline).

    `watch`: start a process that checks the journal while it grows, and ends with this one.
    `stop`: `should_stop()` may become true; without it, it never does.
    `notify`: where alerts go, as for `leadline watch --notify`.
    `resume`: this process continues where an earlier one of that name left off.
    Of several processes of one training, the first writes. Wrong arguments raise a LeadlineError here; later nothing is
    raised: if no journal can be written, the calls do nothing and that is logged once.
    """
    check_place(name, folder, watch=watch, stop=stop, resume=resume)
    check_kind("config", config, (Mapping, type(None)), wanted="a mapping of settings", example="config={'lr': 1e-6}")
    planned_steps = checked_steps("planned_steps", planned_steps, least=1)
    channels = checked_channels(notify)
    attached = Attached(stop=stop)
    if rank_and_size()[0] == 0:
        attached._begin(name, Path("leadline" if folder is None else folder), planned_steps, config, resume)
        if watch:
            attached._watch(channels)
    return attached


def check_place(name: object, folder: object, **switches: object) -> None:
    """Raise unless these are a name, a path or None, and each switch a bool: the text "no" would count as yes."""
    check_kind("name", name, str, wanted="the run's name", example="'grpo-7'", filled=True)
    check_kind("folder", folder, (str, os.PathLike, type(None)), wanted="text or a path", example="folder='journals'")
    for name, value in switches.items():
        check_kind(name, value, bool, wanted="True or False", example=f"{name}=True")


def checked_channels(notify: object) -> tuple[str, ...]:
    """Return the channels for alerts; raise BadOrder for one that `leadline watch --notify` would refuse."""
    channels = (notify,) if isinstance(notify, str) else notify
    check_kind("notify", channels, (list, tuple), wanted="a list of channels", example="notify=['slack:$SLACK_URL']")
    assert isinstance(channels, (list, tuple))  # for the type checker
    for channel in channels:
        check_kind("notify", channel, str, wanted="a list of channels", example="notify=['slack:$SLACK_URL']")
    if channels:  # only then: a training imports as little as it can
        importlib.import_module("leadline.live.telling").open_channels(channels, os.environ)
    return tuple(channels)


class Attached:
    """The handle that a training loop holds. Every call costs microseconds and none of them raises.

    It writes journal.jsonl, rollouts/STEP.jsonl, phases.jsonl, and checkpoints.jsonl in the folder of the run."""

    def __init__(self, *, stop: bool = False) -> None:
        self._may_stop = stop
        self.folder: Path | None = None  # None: nothing could be opened
        self._rows: Appended | None = None  # None: not begun, or ended
        self._others: dict[str, Appended] = {}
        self._sampled: set[int] = set()  # steps whose samples were written by us
        self._phases: dict[str, list[tuple[float, float]]] = {}
        self._answer = Answer(Path(os.devnull))  # none before it begins, or in other processes than the first
        self._sidecar: Sidecar | None = None
        self._joint = JointStop()
        self._owner = os.getpid()
        self._told = False  # that it would have been stopped

    @quiet
    def _begin(
        self, name: str, parent: Path, planned_steps: int | None, config: Mapping[str, object] | None, resume: bool
    ) -> None:
        folder, token = folder_for(name, parent.absolute(), resume=resume), secrets.token_hex(8)
        rows = Appended(folder / JOURNAL)
        rows.write(first_line(name, token=token, planned_steps=planned_steps, config=config))
        self.folder, self._rows, self._answer = folder, rows, Answer(folder / ANSWER, token=token)
        atexit.register(self.close, "exit")
        LOGGER.info("leadline: journal at %s", folder / JOURNAL)

    @quiet
    def _watch(self, channels: Sequence[str]) -> None:
        if self.folder is not None:
            self._sidecar = Sidecar(self.folder, act=self._may_stop, tell=channels)
            self._sidecar.start()

    @quiet
    def link(self, name: str, target: str | os.PathLike[str]) -> None:
        """Link to the framework's folder of samples or checkpoints beside the journal, so that a check finds it."""
        if self.folder is not None and not (link := self.folder / name).is_symlink():
            link.symlink_to(os.path.abspath(target), target_is_directory=True)  # noqa: PTH100

    def log(self, step: int, metrics: Mapping[str, object]) -> None:
        """Log one step's metrics under any names. Numbers of numpy and torch are taken; the rest is left out."""
        if self._rows is not None:
            try:
                self._rows.write(row(step, metrics))
                if self._phases:
                    spans, self._phases = self._phases, {}
                    self._append("phases.jsonl", {"step": int(step), **spans})
                if self._sidecar is not None:
                    self._sidecar.check()
            except Exception as error:  # as @quiet does, without the price of one more call a step
                complain("a row could not be written", error)

    @quiet
    def log_rollouts(self, step: int, rows: Iterable[Mapping[str, object]]) -> None:
        """Log sampled responses of a step: mappings with `output`, and `prompt`, `score`, and `group` if known."""
        step = int(step)
        if self.folder is None or self._rows is None or not (lines := [record({"step": step, **one}) for one in rows]):
            return
        folder = self.folder / "rollouts"
        folder.mkdir(exist_ok=True)
        again = step in self._sampled  # a step that is trained anew after a restart replaces what was kept of it
        self._sampled.add(step)
        with (folder / f"{step}.jsonl").open("ab" if again else "wb", buffering=0) as file:
            file.write(b"".join(lines))

    @quiet
    def log_checkpoint(self, step: int, path: str | os.PathLike[str]) -> None:
        """Log a checkpoint that was saved and is complete, so that a rollback to it can be advised."""
        if self._rows is not None:
            place = os.path.abspath(path)  # noqa: PTH100 - Path.absolute keeps the dots
            saved = {"name": Path(place).name, "step": int(step), "state_path": place, "at": time.time()}
            self._append("checkpoints.jsonl", saved)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a part of the step that is logged next: `with run.phase("generate"): ...`"""
        start = time.time()
        try:
            yield
        finally:
            if self._rows is not None:
                self._phases.setdefault(name, []).append((start, time.time()))

    def _append(self, name: str, content: Mapping[str, object]) -> None:
        if self.folder is not None:
            if name not in self._others:
                self._others[name] = Appended(self.folder / name)
            self._others[name].write(record(content))

    def should_stop(self) -> bool:
        """Return whether to stop now: the bar for acting holds and you opted in. If you did not, the log says once that
        the run would have been stopped. In a training of several processes all of them ask after each step, and all of
        them are told at the same one."""
        return self.agreed(int(self.is_over())) != GO_ON

    def agreed(self, word: int) -> int:
        """Return what all processes of the training do at this step: GO_ON, or the first one's word."""
        return self._joint.word(word) if self._may_stop else GO_ON

    def is_over(self) -> bool:
        """Return whether the run should stop, as this process alone knows it."""
        answer = self._answer
        if answer.changed() and answer.acts and not self._may_stop and not self._told:
            self._told = True
            LOGGER.warning("leadline: would stop this run (pass stop=True to allow it). %s", answer.says)
        return answer.acts and self._may_stop

    @property
    def answer(self) -> Mapping[str, object]:
        """Return the sidecar's last answer; empty before its first check."""
        self._answer.changed()
        return self._answer.latest

    @property
    def best_checkpoint(self) -> tuple[int | None, str | None]:
        """Return the step and the path of the checkpoint that the last answer advises to keep, as far as they are
        known."""
        return self._answer.best

    @property
    def said(self) -> str:
        """Return the last answer in words."""
        return self._answer.says

    @quiet
    def close(self, why: str = "closed") -> None:
        """End the run. Called at the end of the process if you did not."""
        if (rows := self._rows) is not None and os.getpid() == self._owner:  # a forked worker is not the run
            self._rows = None
            atexit.unregister(self.close)
            rows.write(record({"end": why, "at": time.time()}))
            for file in (rows, *self._others.values()):
                file.close()

    def __enter__(self) -> Attached:
        return self

    def __exit__(self, *error: object) -> None:
        self.close("error" if error[0] is not None else "closed")
