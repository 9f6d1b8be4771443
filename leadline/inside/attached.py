"""`leadline.attach`: one line in a training loop, and the run is written down, looked at, and asked about."""

from __future__ import annotations

import atexit
import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from .answer import Answer
from .journal import JOURNAL, Journal, folder_for
from .quiet import LOGGER, complain, quiet
from .ranks import JointStop, rank_and_size
from .sidecar import ANSWER, Sidecar

__all__ = ["Attached", "attach"]


def attach(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    planned_steps: int | None = None,
    config: Mapping[str, object] | None = None,
    look: bool = True,
    stop: bool = False,
    tell: Sequence[str] = (),
    resume: bool = False,
) -> Attached:
    """A journal for the run `name`, below `folder` (./leadline when not given). `look` starts a process that reads it
    while it grows and goes away with this one. `stop`: `should_stop()` may become true; without it, it never does.
    `tell`: where alerts go, as `leadline watch --tell` takes them. `resume`: this process goes on where an earlier one
    of that name left off. Of several processes of one training, the first writes. Never raises for what the disk does:
    where no journal can be written, the calls do nothing and say so once."""
    attached = Attached(stop=stop)
    if rank_and_size()[0] != 0:
        return attached
    attached.open(
        name, Path("leadline" if folder is None else folder), planned_steps=planned_steps, config=config, resume=resume
    )
    if look:
        attached.look(act=stop, tell=tell)
    return attached


class Attached:
    """What a training loop holds. Every call costs microseconds and none of them raises."""

    def __init__(self, *, stop: bool = False) -> None:
        self._may_stop = stop
        self.folder: Path | None = None  # None: nothing could be opened
        self._journal: Journal | None = None
        self._answer: Answer | None = None
        self._sidecar: Sidecar | None = None
        self._agreement = JointStop()
        self._owner = os.getpid()
        self._told = False  # that it would have been stopped

    @quiet
    def open(
        self,
        name: str,
        parent: Path,
        *,
        planned_steps: int | None,
        config: Mapping[str, object] | None,
        resume: bool,
    ) -> None:
        """Begin the journal."""
        folder = folder_for(name, parent.absolute(), resume=resume)
        self._journal = Journal(folder, name=name, planned_steps=planned_steps, config=config)
        self.folder, self._answer = folder, Answer(folder / ANSWER, token=self._journal.token)
        atexit.register(self._at_exit)
        LOGGER.info("leadline: journal at %s", folder / JOURNAL)

    @quiet
    def look(self, *, act: bool = False, tell: Sequence[str] = ()) -> None:
        """Have another process look at the journal from now on. `act`: it may ask us to stop, and writes that down."""
        if self.folder is not None:
            self._sidecar = Sidecar(self.folder, act=act, tell=[tell] if isinstance(tell, str) else tell)
            self._sidecar.start()

    @quiet
    def link(self, name: str, target: str | os.PathLike[str]) -> None:
        """Lay a link to where the framework keeps samples or checkpoints beside the journal, so that a look finds
        them."""
        if self.folder is not None and not (link := self.folder / name).is_symlink():
            link.symlink_to(os.path.abspath(target), target_is_directory=True)  # noqa: PTH100

    def log(self, step: int, metrics: Mapping[str, object]) -> None:
        """One step's metrics, under whatever names. Numbers of numpy and torch are taken; what is no number is not."""
        if self._journal is not None:
            try:
                self._journal.log(step, metrics)
                if self._sidecar is not None:
                    self._sidecar.check()
            except Exception as error:  # as @quiet does, without the price of one more call a step
                complain("a row could not be written", error)

    @quiet
    def log_rollouts(self, step: int, rows: Iterable[Mapping[str, object]]) -> None:
        """What the policy wrote at a step: mappings with `output`, and `prompt`, `score` and `group` where known."""
        if self._journal is not None:
            self._journal.log_rollouts(step, rows)

    @quiet
    def log_checkpoint(self, step: int, path: str | os.PathLike[str]) -> None:
        """A state that was saved and is complete, so that going back to it can be advised."""
        if self._journal is not None:
            self._journal.log_checkpoint(step, path)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times a part of the step that is logged next: `with run.phase("generate"): ...`"""
        start = time.time()
        try:
            yield
        finally:
            if self._journal is not None:
                self._journal.add_phase(name, start, time.time())

    def should_stop(self) -> bool:
        """Whether the sidecar holds the run to be over, by the bar for acting, and you opted in. Where you did not, it
        is said once in the log that the run would have been stopped. In a training of several processes all of them
        ask after each step, and all of them are told at the same one."""
        return self._agreement.stops(self.is_over()) if self._may_stop else self.is_over()

    def is_over(self) -> bool:
        """The same, as this process alone knows it."""
        answer = self._answer
        if answer is None:
            return False
        if answer.changed() and answer.acts and not self._may_stop and not self._told:
            self._told = True
            LOGGER.warning("leadline: would stop this run (dry run: stop=True makes it so). %s", answer.says)
        return answer.acts and self._may_stop

    @property
    def answer(self) -> Mapping[str, object]:
        """What the sidecar said last; nothing before its first look."""
        if self._answer is None:
            return {}
        self._answer.changed()
        return self._answer.latest

    @property
    def best_checkpoint(self) -> tuple[int | None, str | None]:
        """The step and the path of the checkpoint that the last answer advises to keep, as far as they are known."""
        return (None, None) if self._answer is None else (self._answer.best_step, self._answer.best_path)

    @property
    def said(self) -> str:
        """The same in words."""
        return "" if self._answer is None else self._answer.says

    @quiet
    def close(self, why: str = "closed") -> None:
        """The run is over. Called at the end of the process where nobody did."""
        if self._journal is not None and os.getpid() == self._owner:  # a forked worker is not the run
            self._journal.close(why)
            self._journal = None
            atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        self.close("exit")

    def __enter__(self) -> Attached:
        return self

    def __exit__(self, *error: object) -> None:
        self.close("error" if error[0] is not None else "closed")
