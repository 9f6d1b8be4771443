"""`LeadlineCallback` for TRL and the Hugging Face Trainer: `attach`, called at the Trainer's events.

The class is made when it is first asked for, since its base is theirs: importing this module imports nothing of them.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import need
from .attached import Attached, attach, check_place, checked_channels
from .keep import Keeper
from .quiet import LOGGER, quiet
from .ranks import GO_ON

# Which of TRL's trainers it is, by the class of its settings: their logs look alike (leadline/vocabulary/trl.csv).
TRAINERS = {"GRPOConfig": "grpo", "RLOOConfig": "rloo", "PPOConfig": "ppo", "OnlineDPOConfig": "onlinedpo"}
STOP, SAVE, UNSAVED = 1, 2, 3  # the word of the first process: to stop, and whether to save a last state
NOTE = "LEADLINE.md"


class Hooks:
    """The callback's part in each of the Trainer's events. Only the first process of a training writes."""

    def __init__(
        self,
        name: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        *,
        watch: bool = True,
        stop: bool = False,
        notify: Sequence[str] = (),
    ) -> None:
        """`name`: of the run, else its `run_name`. `folder`: where journals go, else `leadline` in its `output_dir`.
        `watch`: have another process check the journal meanwhile. `stop`: let it end the training through the Trainer's
        own control once the bar for acting holds (docs/live.md); without it, that is only logged. `notify`: where
        alerts go, as for `leadline watch --notify`."""
        check_place("run" if name is None else name, folder, watch=watch, stop=stop)
        self._name, self._folder, self._watch, self._stop = name, folder, watch, stop
        self._notify = checked_channels(notify)
        self.run: Attached | None = None  # None: not begun, or ended
        self.stopped_at: int | None = None
        self._keeper: Keeper | None = None  # None: not begun, or not the first process
        self._kept: tuple[str, str | None] = "", None  # what is said of the recommended checkpoint, where to resume
        self._told: str | None = None  # the kept checkpoint that the journal names
        self._safe: tuple[int | None, str | None] = None, None  # the advice of which the checkpoint is safe

    @quiet
    def on_train_begin(self, args: Any, state: Any, control: Any, **_: object) -> None:
        if self.run is not None:
            return
        output = Path(args.output_dir)
        settings = {**args.to_dict(), "max_steps": state.max_steps}
        if (trainer := TRAINERS.get(type(args).__name__)) is not None:
            settings["trl_trainer"] = trainer
        # transformers used to fill in the output folder as the name.
        named = getattr(args, "run_name", None)
        self.run = attach(
            self._name or (str(named) if named and named != args.output_dir else "run"),
            output / "leadline" if self._folder is None else self._folder,
            planned_steps=state.max_steps,
            config=settings,
            watch=self._watch,
            stop=self._stop,
            notify=self._notify,
            resume=state.global_step > 0,
        )
        if self.run.folder is not None:
            self._keeper = Keeper(output, rotates=getattr(args, "save_total_limit", None) is not None)
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
        if self.run is None:
            return
        over = self.run.is_over()
        self._protect(self.run)
        word = self.run.agreed(self._way_to_stop(self.run, args) if over else GO_ON)
        if word != GO_ON:
            self.stopped_at = state.global_step
            control.should_training_stop = True
            if word != STOP:
                control.should_save = word == SAVE  # as the Trainer does at its own end
            if self._keeper is not None:
                self._say(self.run, args, state, saves=word == SAVE)
        self._before_saving(state, control)

    @quiet
    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: object) -> None:
        self._before_saving(state, control)

    @quiet
    def on_train_end(self, args: Any, state: Any, control: Any, **_: object) -> None:
        if self.run is not None:
            self.run.close("closed" if self.stopped_at is None else f"stopped by leadline at step {self.stopped_at}")
            self.run = None

    def _before_saving(self, state: Any, control: Any) -> None:
        """Prepare for a save. Whether there is one is settled by now: the Trainer's own callback comes before those of
        its user."""
        if control.should_save and self._keeper is not None:
            self._keeper.before_saving(f"checkpoint-{state.global_step}")

    def _protect(self, run: Attached) -> None:
        """Make the best checkpoint so far safe, whatever else the last answer says: once it says that the run should
        end, that checkpoint may have been deleted long ago."""
        if self._keeper is None or run.best_checkpoint == self._safe:
            return
        step, advised = run.best_checkpoint
        path = self._keeper.advised(step, advised)
        safe = None if path is None else self._keeper.protect(path)
        if safe is None:
            return  # it is tried again
        self._safe = step, advised
        if safe != path and safe != self._told and path == advised:
            self._told = safe
            run.log_checkpoint(step or 0, safe)  # so that later answers can advise it, when the first name is gone

    def _way_to_stop(self, run: Attached, args: Any) -> int:
        """Return whether to save a last state, which must not cost the recommended checkpoint."""
        assert self._keeper is not None  # for the type checker: only the first process has an answer
        saves = str(getattr(args.save_strategy, "value", args.save_strategy)) != "no"
        step, advised = run.best_checkpoint
        path = self._keeper.advised(step, advised)
        safe = None if path is None else self._keeper.safe(path)
        if path is None:
            gone = f"The recommended checkpoint, of step {step}, is gone"
            self._kept = ("No earlier checkpoint was recommended" if step is None else gone), None
        elif path != advised:
            left = safe or path
            self._kept = f"The recommended checkpoint, of step {step}, is gone; the nearest that is left: {left}", left
        elif safe is None:
            self._kept = f"The recommended checkpoint: {path}", path
            return UNSAVED if saves else STOP  # it could not be made safe
        else:
            rotated = ", kept out of the rotation" if safe != path else ""
            self._kept = f"The recommended checkpoint{rotated}: {safe}", safe
        return SAVE if saves else STOP

    def _say(self, run: Attached, args: Any, state: Any, *, saves: bool) -> None:
        kept, resume = self._kept
        output, step = Path(args.output_dir), state.global_step
        saved = f"The last state: {output / f'checkpoint-{step}'}"
        if not saves:
            risk = ": saving it could have deleted the recommended one." if resume is not None else "."
            saved = f"The last state was not saved{risk}"
        LOGGER.warning("leadline: stops the training at step %s. %s %s. %s", step, run.said, kept, saved)
        how = "There is no checkpoint to go back to that Leadline knows of."
        if resume is not None:
            how = (
                f"To resume: trainer.train(resume_from_checkpoint={resume!r}). A resumed run is judged anew; fix the"
                " cause first, or pass stop=False to continue regardless."
            )
        at = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        told = f"Leadline stopped this training at step {step} ({at}).\n{run.said}\n{kept}.\n{saved}\n{how}"
        with (output / NOTE).open("a", encoding="utf-8", errors="replace") as note:
            note.write("".join(f"    {line}\n" for line in [*told.splitlines(), ""]))  # none of it is markup


@functools.cache
def _made() -> type:
    """Make the class with the base the Trainer expects. Without transformers it says what is missing when used."""
    if importlib.util.find_spec("transformers") is None:
        return type("LeadlineCallback", (Hooks,), {"__init__": _missing, "__doc__": Hooks.__init__.__doc__})
    theirs = importlib.import_module("transformers.trainer_callback")
    return type("LeadlineCallback", (Hooks, theirs.TrainerCallback), {"__doc__": Hooks.__init__.__doc__})


@functools.wraps(Hooks.__init__)  # so that help() and the docs show how it is called, with or without transformers
def _missing(*_: object, **__: object) -> None:
    need("transformers", extra="trl", to="be called by a Hugging Face Trainer")


def __getattr__(name: str) -> Any:
    if name == "LeadlineCallback":
        return _made()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
