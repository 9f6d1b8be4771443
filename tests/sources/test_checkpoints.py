"""Saved states: each framework's names, and whole or not by its own mark (atlas.md section 4)."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.run import Checkpoint
from leadline.sources import checkpoints
from leadline.sources.walk import walk


def put(place: Path, *names: str, text: str = "") -> Path:
    """Files below a folder, with all the folders they need."""
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def states(root: Path, last_step: int | None = None) -> list[tuple[int, bool | None, str]]:
    """What is found below a folder: step, whole or not, and where."""
    seen = walk(root)
    found = checkpoints.find(seen.saved, seen.files, last_step)
    return [(one.step, one.complete, Path(one.path).relative_to(root).as_posix()) for one in found]


STATE = json.dumps({"global_step": 10, "log_history": []})


def test_trainer_states_are_whole_once_their_state_is(tmp_path: Path) -> None:
    put(tmp_path / "checkpoint-10", "trainer_state.json", text=STATE)
    put(tmp_path / "checkpoint-20", "trainer_state.json", text=STATE[:-3])
    put(tmp_path / "checkpoint-30", "model.safetensors")
    assert [(step, whole) for step, whole, _ in states(tmp_path)] == [(10, True), (20, False), (30, False)]


def test_trainer_states_of_adapters_and_without_an_optimizer_are_whole(tmp_path: Path) -> None:
    put(tmp_path / "checkpoint-10", "adapter_model.safetensors", "adapter_config.json")
    put(tmp_path / "checkpoint-10", "trainer_state.json", text=STATE)
    assert states(tmp_path) == [(10, True, "checkpoint-10")]


@pytest.mark.parametrize("lost", [False, True])
def test_trainer_states_need_every_shard_their_index_names(tmp_path: Path, lost: bool) -> None:
    place = put(tmp_path / "checkpoint-10", "trainer_state.json", text=STATE)
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    put(place, "model.safetensors.index.json", text=json.dumps({"weight_map": shards}))
    put(place, *list(shards.values())[: 1 if lost else 2])
    assert states(tmp_path) == [(10, not lost, "checkpoint-10")]


@pytest.mark.parametrize("there", [False, True])
def test_trainer_states_with_deepspeed_need_the_folder_that_latest_names(tmp_path: Path, there: bool) -> None:
    place = put(tmp_path / "checkpoint-10", "trainer_state.json", text=STATE)
    put(place, "latest", text="global_step10")
    if there:
        put(place / "global_step10", "mp_rank_00_model_states.pt")
    assert states(tmp_path) == [(10, there, "checkpoint-10")]


def verl(root: Path, step: int, *, world: int = 2, lost: str = "", done: bool = True) -> None:
    names = [
        f"{role}/{kind}_world_size_{world}_rank_{rank}.pt"
        for role in ("actor", "critic")
        for kind in ("model", "optim", "extra_state")
        for rank in range(world)
    ]
    put(root / f"global_step_{step}", *(name for name in names if name != lost), *(["data.pt"] if done else []))


def test_verl_states_are_whole_up_to_the_tracker_file(tmp_path: Path) -> None:
    for step in (10, 20, 30):
        verl(tmp_path, step)
    assert [whole for _, whole, _ in states(tmp_path)] == [None, None, None]  # saved in the background: no mark
    put(tmp_path, "latest_checkpointed_iteration.txt", text="20")
    assert [whole for _, whole, _ in states(tmp_path)] == [True, True, False]


def test_verl_states_need_one_file_a_rank_and_the_data_state(tmp_path: Path) -> None:
    put(tmp_path, "latest_checkpointed_iteration.txt", text="30")
    verl(tmp_path, 10, lost="actor/optim_world_size_2_rank_1.pt")
    verl(tmp_path, 20, done=False)
    verl(tmp_path, 30)
    assert [whole for _, whole, _ in states(tmp_path)] == [False, False, True]


def test_a_verl_state_that_rotation_emptied_is_no_state_to_go_back_to(tmp_path: Path) -> None:
    put(tmp_path, "latest_checkpointed_iteration.txt", text="30")
    put(tmp_path / "global_step_10", "data.pt")
    assert states(tmp_path) == [(10, False, "global_step_10")]


@pytest.mark.parametrize("contents", ["dist_ckpt", "model/dist_ckpt"])
def test_verl_states_of_megatron_end_with_their_metadata(tmp_path: Path, contents: str) -> None:
    put(tmp_path, "latest_checkpointed_iteration.txt", text="20")
    put(tmp_path / "global_step_10", "data.pt", f"actor/{contents}/__0_0.distcp")
    put(tmp_path / "global_step_20", "data.pt", f"actor/{contents}/__0_0.distcp", f"actor/{contents}/.metadata")
    assert [whole for _, whole, _ in states(tmp_path)] == [False, True]


def test_skyrl_states_are_whole_up_to_their_tracker_file(tmp_path: Path) -> None:
    for step in (5, 10):
        put(tmp_path / f"global_step_{step}", "policy/model.pt", "data.pt", "trainer_state.pt")
    put(tmp_path / "global_step_3", "policy/model.pt")
    put(tmp_path, "latest_ckpt_global_step.txt", text="5\n")
    assert [(step, whole) for step, whole, _ in states(tmp_path)] == [(3, False), (5, True), (10, False)]


def test_openrlhf_states_are_whole_up_to_latest_and_the_actor_stands_for_both(tmp_path: Path) -> None:
    shards = ("mp_rank_00_model_states.pt", "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt")
    for role in ("_actor", "_critic"):
        put(tmp_path / role, "latest", text="global_step20")
        for step in (10, 20, 30):
            put(tmp_path / role / f"global_step{step}", *shards)
    put(tmp_path / "_actor" / "global_step10", "bf16_zero_pp_rank_2_mp_rank_00_optim_states.pt")  # rank 1 is lost
    put(tmp_path / "_critic" / "global_step10", "bf16_zero_pp_rank_2_mp_rank_00_optim_states.pt")
    assert states(tmp_path) == [
        (10, False, "_actor/global_step10"),
        (20, True, "_actor/global_step20"),
        (30, False, "_actor/global_step30"),
    ]


def test_openrlhf_keeps_its_best_state_apart_and_exports_weights(tmp_path: Path) -> None:
    put(tmp_path / "_actor", "latest", text="global_step40")
    put(tmp_path / "_actor" / "best_global_step20", "mp_rank_00_model_states.pt")
    put(tmp_path / "global_step40_hf", "config.json", "model.safetensors")
    assert [(step, where) for step, _, where in states(tmp_path)] == [
        (20, "_actor/best_global_step20"),
        (40, "global_step40_hf"),
    ]


def test_nemo_rl_renames_a_state_once_it_is_whole(tmp_path: Path) -> None:
    put(tmp_path / "step_10", "training_info.json", "policy/weights/x", "train_dataloader.pt")
    put(tmp_path / "tmp_step_20", "policy/weights/x")
    put(tmp_path / "old_step_10", "training_info.json")  # what is about to be replaced
    put(tmp_path / "old_step_5", "training_info.json")  # the swap was cut off: this is all there is
    assert states(tmp_path) == [(5, True, "old_step_5"), (10, True, "step_10"), (20, False, "tmp_step_20")]


def test_prime_rl_states_end_with_their_metadata_and_samples_are_none(tmp_path: Path) -> None:
    put(tmp_path / "checkpoints" / "step_10" / "trainer", ".metadata", "__0_0.distcp")
    put(tmp_path / "checkpoints" / "step_20" / "trainer", "__0_0.distcp")
    put(tmp_path / "rollouts" / "step_30" / "train" / "all", "traces.jsonl")
    put(tmp_path / "broadcasts" / "step_40", "model.safetensors", "STABLE")
    assert [(step, whole) for step, whole, _ in states(tmp_path)] == [(10, True), (20, False)]


def test_prime_rl_weights_are_ready_once_marked_stable(tmp_path: Path) -> None:
    put(tmp_path / "weights" / "step_10", "model.safetensors", "STABLE")
    put(tmp_path / "weights" / "step_20", "model.safetensors")
    assert [whole for _, whole, _ in states(tmp_path)] == [True, False]


def test_megatron_states_are_whole_up_to_the_tracker_file(tmp_path: Path) -> None:
    for step in (1, 2):
        put(tmp_path / f"iter_000000{step}", "__0_0.distcp", "metadata.json")
    assert [whole for _, whole, _ in states(tmp_path)] == [None, None]
    put(tmp_path, "latest_checkpointed_iteration.txt", text="1")
    assert [whole for _, whole, _ in states(tmp_path)] == [True, False]


def safetensors(file: Path, *, short: bool) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * (4 if short else 8))


def test_areal_states_are_told_by_their_weights_since_the_folder_comes_first(tmp_path: Path) -> None:
    whole, short, index, empty = (
        put(tmp_path / f"epoch0epochstep{step}globalstep{step}", "config.json") for step in (1, 2, 3, 4)
    )
    safetensors(whole / "model.safetensors", short=False)
    safetensors(short / "model.safetensors", short=True)
    put(index, "model.safetensors.index.json", text=json.dumps({"weight_map": {"a": "model-1.safetensors"}}))
    assert empty.is_dir()
    assert [(step, whole) for step, whole, _ in states(tmp_path)] == [(1, True), (2, False), (3, False), (4, False)]


def test_roll_states_are_whole_once_the_pipeline_is(tmp_path: Path) -> None:
    for step in (9, 19):
        for cluster in ("actor_train", "critic"):
            put(tmp_path / cluster / f"checkpoint-{step}", "model.safetensors")
    put(tmp_path / "pipeline" / "checkpoint-9" / "pipeline", "state.json")
    assert states(tmp_path) == [(9, True, "actor_train/checkpoint-9"), (19, False, "actor_train/checkpoint-19")]


def test_open_instruct_exports_are_told_by_their_index(tmp_path: Path) -> None:
    root = tmp_path / "run_checkpoints"
    for step, shards in ((100, ("model-1.safetensors", "model-2.safetensors")), (200, ("model-1.safetensors",))):
        place = put(root / f"step_{step}", *shards)
        names = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
        put(place, "model.safetensors.index.json", text=json.dumps({"weight_map": names}))
    assert [(step, whole) for step, whole, _ in states(root)] == [(100, True), (200, False)]


def test_torchforge_states_end_with_their_metadata(tmp_path: Path) -> None:
    put(tmp_path / "checkpoint" / "step-10", ".metadata", "__0_0.distcp")
    put(tmp_path / "checkpoint" / "step-20", "__0_0.distcp")
    assert [whole for _, whole, _ in states(tmp_path)] == [True, False]


def test_tinker_states_are_those_its_record_names(tmp_path: Path) -> None:
    record = '{"name":"000020","batch":20,"state_path":"tinker://a/000020","sampler_path":"tinker://b"}\n'
    put(tmp_path, "checkpoints.jsonl", text=record + 'garbage\n{"name":"000040","batch":40,"sta')
    found = checkpoints.find((), walk(tmp_path).files, None)
    assert found == (Checkpoint(20, "tinker://a/000020", True),)


def test_stable_baselines_states_are_whole_zip_files(tmp_path: Path) -> None:
    for name, steps in (("ppo_1000_steps.zip", 1000), ("best_model.zip", 700)):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("data", json.dumps({"num_timesteps": steps, "policy": {":serialized:": "never opened"}}))
    whole = (tmp_path / "ppo_1000_steps.zip").read_bytes()
    (tmp_path / "ppo_2000_steps.zip").write_bytes(whole[:-30])
    (tmp_path / "photos.zip").write_bytes(whole[:40])
    assert states(tmp_path) == [
        (700, True, "best_model.zip"),
        (1000, True, "ppo_1000_steps.zip"),
        (2000, False, "ppo_2000_steps.zip"),
    ]


def test_cleanrl_saves_once_at_the_last_step(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ppo.cleanrl_model", "w") as archive:
        archive.writestr("model/data.pkl", "x")
    assert states(tmp_path, last_step=5000) == [(5000, True, "ppo.cleanrl_model")]
    assert states(tmp_path) == []  # without a log nobody knows which step that was


def test_rllib_states_carry_the_iteration_that_result_json_names(tmp_path: Path) -> None:
    put(tmp_path / "checkpoint_000000", "rllib_checkpoint.json", text="{}")
    put(tmp_path / "checkpoint_000001", "algorithm.pkl")
    assert [(step, whole) for step, whole, _ in states(tmp_path)] == [(0, True), (1, False)]
    rows = [{"training_iteration": 10 * (n + 1), "checkpoint_dir_name": f"checkpoint_00000{n}"} for n in range(2)]
    put(tmp_path, "result.json", text="\n".join(map(json.dumps, rows)))
    assert [(step, whole) for step, whole, _ in states(tmp_path)] == [(10, True), (20, False)]


def test_nemo_aligner_states_are_marked_while_they_are_written(tmp_path: Path) -> None:
    put(tmp_path / "megatron_gpt--val_loss=0.1-step=10-consumed_samples=80", "model")
    put(tmp_path / "megatron_gpt--val_loss=0.1-step=20-consumed_samples=160", "model")
    put(tmp_path, "megatron_gpt--val_loss=0.1-step=20-consumed_samples=160-unfinished")
    assert [(step, whole) for step, whole, _ in states(tmp_path)] == [(10, True), (20, False)]


@pytest.mark.parametrize("name", ["step_5", "checkpoint-x", "global_step_", "step_99999999999999999999", "models"])
def test_other_folders_are_no_states(tmp_path: Path, name: str) -> None:
    put(tmp_path / name, "plot.png")
    assert states(tmp_path) == []


def test_a_file_that_is_called_like_a_state_is_none(tmp_path: Path) -> None:
    put(tmp_path, "checkpoint-10")
    assert checkpoints.recognise(tmp_path / "checkpoint-10") is None


@pytest.mark.parametrize("reader", [checkpoints.recognise, checkpoints.without_step])
def test_what_is_gone_is_no_state_and_no_error(tmp_path: Path, reader: Callable[[Path], Checkpoint | None]) -> None:
    for name in ("checkpoint-1", "a_1_steps.zip", "best_model.zip"):
        state = reader(tmp_path / name)
        assert state is None or state.complete is None
