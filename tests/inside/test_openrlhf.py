"""What OpenRLHF's trainer hands to its loggers reaches the journal. OpenRLHF itself needs CUDA to be installed; its two
logger classes (0.11) are stood in for by ones with the same methods."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from leadline.inside import openrlhf
from leadline.sources import open_run


class Theirs:
    def __init__(self, args: Any) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def log_train(self, global_step: int, logs_dict: dict[str, Any]) -> None:
        self.calls.append(("train", global_step))

    def log_eval(self, global_step: int, logs_dict: dict[str, Any]) -> None:
        self.calls.append(("eval", global_step))

    def close(self) -> None:
        self.calls.append(("close",))


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    module: Any = ModuleType("openrlhf.utils.logging_utils")
    module.WandbLogger = type("WandbLogger", (Theirs,), {})
    module.TensorboardLogger = type("TensorboardLogger", (Theirs,), {})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "openrlhf", ModuleType("openrlhf"))
    monkeypatch.setitem(sys.modules, "openrlhf.utils", ModuleType("openrlhf.utils"))
    monkeypatch.setenv(openrlhf.FOLDER, str(tmp_path / "journals"))
    monkeypatch.setattr(openrlhf, "_told", {})
    monkeypatch.setattr(
        "leadline.inside.attached.Attached._watch", lambda self, channels: None
    )  # test_sidecar.py has it
    return module


def arguments(tmp_path: Path) -> SimpleNamespace:
    (tmp_path / "ckpt" / "_actor" / "global_step10").mkdir(parents=True)
    wandb = SimpleNamespace(key="hush", run_name="my run")
    algo = SimpleNamespace(kl=SimpleNamespace(init_coef=0.01, use_loss=True))
    return SimpleNamespace(
        logger=SimpleNamespace(wandb=wandb), algo=algo, ckpt=SimpleNamespace(path=str(tmp_path / "ckpt"))
    )


def test_of_two_loggers_one_tells_us_and_both_go_on(theirs: Any, tmp_path: Path) -> None:
    openrlhf.register()
    openrlhf.register()
    args = arguments(tmp_path)
    loggers = [theirs.WandbLogger(args), theirs.TensorboardLogger(args)]
    for step in (1, 2, 3):
        for logger in loggers:
            row = {"policy_loss": 0.1, "reward": step / 10, "kl": 0.01, "timing/ppo_train": 3.0, "nothing": None}
            logger.log_train(step, {**row, "generated_samples": [f"text {step}", step / 10]})
    for logger in loggers:
        logger.log_eval(3, {"eval_default_pass1": 0.5})
        logger.close()
    assert all(one.calls == [("train", 1), ("train", 2), ("train", 3), ("eval", 3), ("close",)] for one in loggers)
    run = open_run(tmp_path / "journals")
    assert run.framework == "openrlhf"
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.values.tolist() == [0.1, 0.2, 0.3]
    assert [one.output for one in run.rollouts.at(2)] == ["text 2"]
    assert run.config.kl_coefficient == 0.01
    assert [one.step for one in run.checkpoints] == [10]
    journal = (tmp_path / "journals" / "my-run" / "journal.jsonl").read_text()
    assert "hush" not in journal
    assert '"end":"closed"' in journal


def test_a_journal_that_cannot_be_written_leaves_their_logger_alone(
    theirs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "journals").write_text("a file, no folder")
    openrlhf.register()
    logger = theirs.WandbLogger(arguments(tmp_path))
    logger.log_train(1, {"reward": 0.5})
    logger.close()
    assert logger.calls == [("train", 1), ("close",)]
