"""`LeadlineCallback` for TRL and the Hugging Face Trainer.

The class is made when it is first asked for, since its base is theirs: importing this module imports nothing of them.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import need
from .attached import Attached, attach
from .guard import Keeper
from .keep import note
from .quiet import LOGGER, quiet

# Which of TRL's trainers it is, by the class of its settings: their logs look alike (leadline/vocabulary/trl.csv).
TRAINERS = {"GRPOConfig": "grpo", "RLOOConfig": "rloo", "PPOConfig": "ppo", "OnlineDPOConfig": "onlinedpo"}
AGREE_EVERY = 10  # steps between two moments at which the processes of one training ask each other
GO_ON, STOP, SAVE, UNSAVED = range(4)  # what they tell each other: to stop, and whether to save a last state


class Hooks:
    """What the callback does at each of the Trainer's events. Only the first process of a training writes."""

    def __init__(
        self,
        name: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        *,
        look: bool = True,
        stop: bool = False,
        tell: Sequence[str] = (),
    ) -> None:
        """`name`: of the run, else its `run_name`. `folder`: where journals go, else `leadline` in its `output_dir`.
        `look`: have another process read the journal meanwhile. `stop`: let it end the training through the Trainer's
        own control when the bar for acting holds (docs/live.md); without it, it is only said. `tell`: where alerts go,
        as `leadline watch --tell` takes them."""
        self._name, self._folder, self._look, self._stop, self._tell = name, folder, look, stop, tell
        self.run: Attached | None = None  # None: not begun, or not the first process
        self.stopped_at: int | None = None
        self._guard: Keeper | None = None  # None: not begun, or not the first process
        self._kept = ""
        self._told: str | None = None  # the kept checkpoint that the journal names
        self._resume: str | None = None
        self._safe: tuple[int | None, str | None] = None, None  # the advice of which the checkpoint is safe

    @quiet
    def on_train_begin(self, args: Any, state: Any, control: Any, **_: object) -> None:
        if not state.is_world_process_zero or self.run is not None:
            return
        output = Path(args.output_dir)
        settings = {**args.to_dict(), "max_steps": state.max_steps}
        if (trainer := TRAINERS.get(type(args).__name__)) is not None:
            settings["trl_trainer"] = trainer
        self.run = attach(
            self._name or _run_name(args, output),
            output / "leadline" if self._folder is None else self._folder,
            planned_steps=state.max_steps,
            config=settings,
            look=self._look,
            stop=self._stop,
            tell=self._tell,
            resume=state.global_step > 0,
        )
        self._guard = Keeper(output, rotates=getattr(args, "save_total_limit", None) is not None)
        if getattr(args, "log_completions", False):
            self.run.link("completions", output / "completions")

    @quiet
    def on_log(
        self, args: Any, state: Any, control: Any, logs: Mapping[str, object] | None = None, **_: object
    ) -> None:
        if self.run is not None and logs:
            self.run.log(state.global_step, logs)

    @quiet
    def on_save(self, args: Any, state: Any, control: Any, **_: object) -> None:
        if self.run is not None:
            self.run.log_checkpoint(state.global_step, Path(args.output_dir) / f"checkpoint-{state.global_step}")

    @quiet
    def on_step_end(self, args: Any, state: Any, control: Any, **_: object) -> None:
        over = self.run is not None and self.run.is_over()  # which says it once where it may not stop
        self._protect()
        if not self._stop:
            self._before_saving(state, control)
            return
        word = _agreed(args, state, self._way_to_stop(args) if over else GO_ON)
        if word != GO_ON:
            self.stopped_at = state.global_step
            control.should_training_stop = True
            if word != STOP:
                control.should_save = word == SAVE  # as the Trainer does at its own end
            if self.run is not None:
                self._say(args, state, saves=word == SAVE)
        self._before_saving(state, control)

    @quiet
    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: object) -> None:
        self._before_saving(state, control)

    def _before_saving(self, state: Any, control: Any) -> None:
        """Whether it will save is settled by now: the Trainer's own callback comes before those of its user."""
        if control.should_save and self._guard is not None:
            self._guard.before_saving(f"checkpoint-{state.global_step}")

    def _protect(self) -> None:
        """Make the checkpoint safe that the last answer would go back to, whatever else it says: when it says that the
        run should end, the best one may have been deleted long ago."""
        if self.run is None or self._guard is None or self.run.best_checkpoint == self._safe:
            return
        step, advised = self.run.best_checkpoint
        path = self._guard.advised(step, advised)
        if path is None:
            return
        self._guard.protect(path)
        safe = self._guard.safe(path)
        if safe is None:
            return  # it is tried again
        self._safe = step, advised
        if safe != path and safe != self._told and path == advised:
            self._told = safe
            self.run.log_checkpoint(step or 0, safe)  # so that later answers can advise it, when the first name is gone

    def _way_to_stop(self, args: Any) -> int:
        """Whether to save a last state, which must not cost what the answer advises to keep."""
        assert self.run is not None
        saves = str(getattr(args.save_strategy, "value", args.save_strategy)) != "no"
        step, advised = self.run.best_checkpoint
        path = advised if self._guard is None else self._guard.advised(step, advised)
        safe = None if path is None or self._guard is None else self._guard.safe(path)
        if step is None and path is None:
            self._kept = "No earlier checkpoint was recommended"
        elif path is None or path != advised:
            self._kept, self._resume = f"The recommended checkpoint, of step {step}, is gone", safe or path
            if self._resume is not None:
                self._kept += f"; the nearest that is left: {self._resume}"
        elif safe is not None and safe != path:
            self._kept, self._resume = f"The recommended checkpoint, kept out of the rotation: {safe}", safe
            self.run.log_checkpoint(step or 0, safe)
        else:
            self._kept, self._resume = f"The recommended checkpoint: {path}", path
            if saves and safe is None:
                return UNSAVED  # it could not be made safe
        return SAVE if saves else STOP

    def _say(self, args: Any, state: Any, *, saves: bool) -> None:
        assert self.run is not None
        saved = (
            f"The last state: {Path(args.output_dir) / f'checkpoint-{state.global_step}'}"
            if saves
            else "The last state was not saved"
            + (": saving it could have deleted the recommended one." if self._resume is not None else ".")
        )
        LOGGER.warning(
            "leadline: stops the training at step %s. %s %s. %s", state.global_step, self.run.said, self._kept, saved
        )
        note(
            Path(args.output_dir),
            step=state.global_step,
            said=self.run.said,
            kept=self._kept,
            saved=saved,
            resume=self._resume,
        )

    @quiet
    def on_train_end(self, args: Any, state: Any, control: Any, **_: object) -> None:
        if self.run is not None:
            self.run.close("closed" if self.stopped_at is None else f"stopped by leadline at step {self.stopped_at}")
            self.run = None


def _run_name(args: Any, output: Path) -> str:
    """The user's name for the run, where there is one: transformers used to fill in the output folder."""
    name = getattr(args, "run_name", None)
    return str(name) if name and name != args.output_dir else "run"


def _agreed(args: Any, state: Any, word: int) -> int:
    """What all processes of the training do now. They must do it at the same step, or those that go on wait for the
    others for ever: every few steps the first one's word is passed round."""
    if args.world_size <= 1:
        return word
    if state.global_step % AGREE_EVERY:
        return GO_ON
    torch = sys.modules["torch"]
    flag = torch.tensor([word], device=args.device)
    torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MAX)
    return int(flag.item())


@functools.cache
def _made() -> type:
    """The class, with the base the Trainer expects. Without transformers it can be imported, and says so when used."""
    if importlib.util.find_spec("transformers") is None:
        return type("LeadlineCallback", (Hooks,), {"__init__": _missing, "__doc__": Hooks.__init__.__doc__})
    theirs = importlib.import_module("transformers.trainer_callback")
    return type("LeadlineCallback", (Hooks, theirs.TrainerCallback), {"__doc__": Hooks.__init__.__doc__})


def _missing(*_: object, **__: object) -> None:
    need("transformers", extra="trl", to="be called by a Hugging Face Trainer")


def __getattr__(name: str) -> Any:
    if name == "LeadlineCallback":
        return _made()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
