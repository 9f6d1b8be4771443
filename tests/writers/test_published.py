"""Logging code of published frameworks writes; it is compared with what was read.

They are too large to install whole. LEADLINE_PUBLISHED names a folder with each of them below its name: by
`pip install --no-deps --target $LEADLINE_PUBLISHED/openrlhf openrlhf` (so too ms-swift, skyrl, areal), else a checkout
of its repository. They need `pip install colorlog loguru tabulate`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from leadline.sources import open_run

PUBLISHED = os.environ.get("LEADLINE_PUBLISHED")
PROGRAM = Path(__file__).parent / "programs" / "published.py"
# Folder, the key of the reward, another key with the name it is read under, decimals that are printed.
FRAMEWORKS = {
    "openrlhf": ("reward", "policy_loss", "loss/policy", 16),
    "roll": ("critic/score/mean", "actor/pg_loss", "loss/policy", 16),
    "slime": ("rollout/raw_reward", "rollout/response_lengths", "len/response_mean", 16),
    "skyrl": ("reward/avg_raw_reward", "policy/policy_loss", "loss/policy", 4),
    "areal": ("ppo_actor/task_reward/avg", "ppo_actor/update/entropy/avg", "entropy", 4),
    "open_instruct": ("scores", "loss/policy_avg", "loss/policy", 2),
    "ms_swift": ("reward", "completions/mean_length", "len/response_mean", 16),
    "prime_rl": ("train/agg/all/reward/mean", "optim/grad_norm", "grad_norm", 16),
    "rllm": ("reward/mean", "episode/response_tokens", "len/response_mean", 16),
    "torchforge": ("reward/evaluate_response/avg_total_reward", "rl_trainer/avg_loss", "loss/total", 16),
}


@pytest.mark.writers
@pytest.mark.skipif(PUBLISHED is None, reason="LEADLINE_PUBLISHED names no folder of frameworks")
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_published_framework_is_read_as_it_logs(framework: str, tmp_path: Path) -> None:
    reward, key, name, decimals = FRAMEWORKS[framework]
    held = [(step, {reward: round(step / 40, 4), key: round(0.3 + step / 80, 4)}) for step in range(1, 21)]
    source = Path(str(PUBLISHED)) / framework
    done = subprocess.run(
        [sys.executable, str(PROGRAM), framework, str(source), str(tmp_path)],
        input=json.dumps(held), capture_output=True, text=True, check=True, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    if not list(tmp_path.glob("*.jsonl")):
        (tmp_path / "console.log").write_text(done.stdout + done.stderr)
    log = next(tmp_path.glob("*.jsonl"), tmp_path / "console.log")
    run = open_run(log)
    for wanted, logged in (("reward/mean", reward), (name, key)):
        series = run.get(wanted)
        assert series is not None, (wanted, [one.name for one in run.series])
        assert series.key == logged.rpartition("/")[2] or series.key == logged
        assert series.values.tolist() == [float(f"{values[logged]:.{decimals}f}") for _, values in held]
        assert series.steps.tolist() == [step for step, _ in held]
