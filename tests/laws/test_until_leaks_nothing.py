"""Nothing leaks into the verdict: the JSON of a run cut on disk after step k is, byte for byte, that of `--until k`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXAMPLES

from leadline.cli import main

CHECKPOINTS = (60, 120, 180, 240, 300)
LOOKS = (1, 59, 187, 304)  # before the first checkpoint and after; all three runs are longer

Writer = Callable[[Path, int], None]  # (folder, last step written)


def verl_with_rollouts(folder: Path, last: int) -> None:
    lines = (EXAMPLES / "collapsed" / "metrics.jsonl").read_text().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_text("".join(line for line in lines if json.loads(line)["step"] <= last))
    shutil.copy(EXAMPLES / "collapsed" / "config.json", folder)
    _samples("collapsed", folder, last)
    for step in (step for step in CHECKPOINTS if step <= last):
        place = folder / f"global_step_{step}"
        (place / "actor").mkdir(parents=True)
        for file in (place / "actor" / "model_world_size_1_rank_0.pt", place / "data.pt"):
            file.write_bytes(b"weights")
        (folder / "latest_checkpointed_iteration.txt").write_text(str(step))


def trl_with_checkpoints(folder: Path, last: int) -> None:
    state = json.loads((EXAMPLES / "hacked" / "trainer_state.json").read_text())
    kept = [row for row in state["log_history"] if row["step"] <= last]
    (folder / "trainer_state.json").write_text(json.dumps({**state, "global_step": last, "log_history": kept}))
    shutil.copy(EXAMPLES / "hacked" / "config.json", folder)
    _samples("hacked", folder, last)
    for step in (step for step in CHECKPOINTS if step <= last):
        place = folder / f"checkpoint-{step}"
        place.mkdir()
        (place / "model.safetensors").write_bytes(b"weights")
        kept = [row for row in state["log_history"] if row["step"] <= step]
        (place / "trainer_state.json").write_text(json.dumps({**state, "global_step": step, "log_history": kept}))


def console(folder: Path, last: int) -> None:
    rows = map(json.loads, (EXAMPLES / "collapsed" / "metrics.jsonl").read_text().splitlines())
    printed = [
        f"step:{row['step']} - " + " - ".join(f"{key}:{value:.5f}" for key, value in row["data"].items())
        for row in rows
        if row["step"] <= last
    ]
    (folder / "train.log").write_text("\n".join(["(TaskRunner pid=71) starting", *printed, ""]))


def _samples(example: str, folder: Path, last: int) -> None:
    (folder / "rollouts").mkdir()
    for file in (EXAMPLES / example / "rollouts").iterdir():
        if int(file.stem) <= last:
            shutil.copy(file, folder / "rollouts")


@pytest.mark.parametrize("write", [verl_with_rollouts, trl_with_checkpoints, console], ids=lambda one: one.__name__)
@pytest.mark.parametrize("k", LOOKS)
def test_a_copy_cut_on_disk_reads_byte_for_byte_like_until(
    k: int, write: Writer, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for last, options in ((10**9, ["--until", str(k)]), (k, [])):
        place = tmp_path_factory.mktemp("place")
        (place / "run").mkdir()
        write(place / "run", last)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)  # the JSON holds the path as it was given
            assert main(["read", "run", "--json", *options]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    reading = json.loads(said[0])
    assert reading["run"]["last_step"] == k
    if write is not console and k > CHECKPOINTS[0]:
        assert reading["judgement"]["best_checkpoint"]["complete"] is True
