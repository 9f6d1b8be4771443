"""The callback's own steps, without a Trainer: what is recommended is kept whatever `stop` says."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from leadline.inside.keep import KEPT
from leadline.inside.sidecar import ANSWER
from leadline.inside.trainer import Hooks


class Training:
    """What a Trainer tells its callbacks; it keeps the two newest checkpoints."""

    def __init__(self, folder: Path, *, stop: bool) -> None:
        self.output = folder / "out"
        self.output.mkdir()
        self.args = SimpleNamespace(
            output_dir=str(self.output), save_total_limit=2, world_size=1, save_strategy="steps", run_name="seven",
            to_dict=dict,
        )  # fmt: skip
        self.state = SimpleNamespace(is_world_process_zero=True, max_steps=1000, global_step=0)
        self.control = SimpleNamespace(should_save=False, should_training_stop=False)
        self.hooks = Hooks(watch=False, stop=stop)
        self.hooks.on_train_begin(self.args, self.state, self.control)

    def save(self, step: int) -> None:
        """A step at which it saves, and deletes what it holds too many of."""
        self.step(step, saves=True)
        (self.output / f"checkpoint-{step}").mkdir()
        (self.output / f"checkpoint-{step}" / "model.safetensors").write_text(f"weights {step}")
        self.hooks.on_save(self.args, self.state, self.control)
        saved = sorted(self.output.glob("checkpoint-*"), key=lambda one: int(one.name.rpartition("-")[2]))
        for old in saved[:-2]:
            shutil.rmtree(old)

    def step(self, step: int, *, saves: bool = False) -> None:
        self.state.global_step, self.control.should_save = step, saves
        self.hooks.on_step_end(self.args, self.state, self.control)

    def answer(self, step: int, verdict: str = "continue", *, act: bool = False) -> None:
        """What the sidecar says: the best step so far, and where it was."""
        assert self.hooks.run is not None
        assert self.hooks.run.folder is not None
        path = self.output / f"checkpoint-{step}"
        told = {
            "verdict": verdict, "says": verdict, "act": act, "at": time.time() + 1,
            "best_checkpoint": {"step": step, "path": str(path) if path.exists() else None},
        }  # fmt: skip
        (self.hooks.run.folder / ANSWER).write_text(json.dumps(told))

    def kept(self) -> list[str]:
        return sorted(one.name for one in (self.output / KEPT).glob("*"))


@pytest.mark.parametrize("stop", [False, True])
def test_the_best_so_far_is_kept_from_the_first_recommendation_on(tmp_path: Path, stop: bool) -> None:
    one = Training(tmp_path, stop=stop)
    one.save(50)
    one.answer(50)
    one.step(60)
    for step in (100, 150, 200):
        one.save(step)
    assert one.kept() == ["checkpoint-50"]
    one.answer(200)
    one.step(210)
    assert one.kept() == ["checkpoint-200", "checkpoint-50"]  # the advice may change back
    for step in (250, 300):
        one.save(step)
        one.answer(step)
        one.step(step + 1)
        assert len(one.kept()) <= 2
    assert (one.output / KEPT / "checkpoint-300" / "model.safetensors").read_text() == "weights 300"


def test_a_run_that_is_stopped_goes_back_to_the_nearest_that_is_left(tmp_path: Path) -> None:
    one = Training(tmp_path, stop=True)
    for step in (50, 100, 150):
        one.save(step)
    one.answer(60, "roll_back", act=True)  # of which nothing was ever saved
    one.step(160)
    assert one.control.should_training_stop
    note = (one.output / "LEADLINE.md").read_text()
    assert "The recommended checkpoint, of step 60, is gone; the nearest that is left: " in note
    assert "There is no checkpoint to go back to" not in note
    assert one.kept() == ["checkpoint-100"]
