"""W&B's transaction log beyond the sample: framing, axes, system metrics, console."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sources.test_tensorboard import field, varint

from leadline.sources import wandb_file
from leadline.sources.leveldb_log import BLOCK, Framing
from leadline.sources.wandb_file import WandbReader

HEADER = b":W&B\xe1\xbe\x00"


def framed(records: Iterable[bytes]) -> bytes:
    """As W&B frames records: blocks of 32 KiB, chunks that never cross one."""
    out = bytearray(HEADER)
    for content in records:
        first, rest = True, content
        while first or rest:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            piece, rest = rest[: room - 7], rest[room - 7 :]
            kind = (1 if first else 4) if not rest else (2 if first else 3)
            body = bytes([kind]) + piece
            out += struct.pack("<IH", zlib.crc32(body), len(piece)) + body
            first = False
    return bytes(out)


def item(key: str | list[str], value: object) -> bytes:
    names = field(1, 2, key.encode()) if isinstance(key, str) else b"".join(field(2, 2, one.encode()) for one in key)
    return names + field(16, 2, json.dumps(value).encode())


def history(values: Mapping[str, object]) -> bytes:
    return field(2, 2, b"".join(field(1, 2, item(key, value)) for key, value in values.items()))


def config(values: Mapping[str, object]) -> bytes:
    return field(5, 2, b"".join(field(1, 2, item(key, value)) for key, value in values.items()))


def stats(wall: int, values: Mapping[str, float]) -> bytes:
    samples = b"".join(field(3, 2, item(key, value)) for key, value in values.items())
    return field(7, 2, field(2, 2, field(1, 0, varint(wall))) + samples)


def metric(axis: str, *, name: str = "", glob: str = "") -> bytes:
    which = field(1, 2, name.encode()) if name else field(2, 2, glob.encode())
    return field(12, 2, which + field(4, 2, axis.encode()))


def read(tmp_path: Path, *records: bytes) -> WandbReader:
    path = tmp_path / "run-x.wandb"
    path.write_bytes(framed(records))
    reader = wandb_file.open(path)[0]
    assert isinstance(reader, WandbReader)
    reader.update()
    return reader


@given(sizes=st.lists(st.integers(0, 3 * BLOCK), min_size=1, max_size=6), cut=st.floats(0, 1))
def test_records_come_back_whole_from_any_two_pieces(sizes: list[int], cut: float) -> None:
    records = [bytes([number % 251 + 1]) * size for number, size in enumerate(sizes)]
    data = framed(records)
    framing = Framing()
    first, used = framing.records(data[: int(cut * len(data))], 0)
    second, end = framing.records(data[used:], used) if used else framing.records(data, 0)
    assert first + second == records
    assert used + end in (len(data), used + len(data))
    assert framing.damaged == 0


@given(st.binary(max_size=3000))
def test_any_bytes_are_survived_as_a_record(tmp_path_factory: pytest.TempPathFactory, record: bytes) -> None:
    reader = read(tmp_path_factory.mktemp("w"), record, history({"_step": 1, "x": 2.0}))
    assert reader.log.table.columns()["x"].values[-1] == 2.0


def test_a_trainer_s_own_step_counts_where_it_is_defined(tmp_path: Path) -> None:
    rows = [history({"_step": call, "train/global_step": 10 * call, "train/reward": call}) for call in range(1, 4)]
    log = read(tmp_path, metric("train/global_step", glob="*"), *rows).log
    assert log.table.columns()["train/reward"].steps.tolist() == [10, 20, 30]
    assert log.table.row_steps.tolist() == [10, 20, 30]


def test_a_trainer_s_own_step_counts_where_it_is_known(tmp_path: Path) -> None:
    rows = [history({"_step": call, "train/global_step": 10 * call, "train/reward": call}) for call in range(1, 4)]
    rows.append(history({"_step": 4, "eval/reward": 0.5}))  # no step of its own: it stands where the last row stood
    log = read(tmp_path, *rows).log
    assert log.table.columns()["train/reward"].steps.tolist() == [10, 20, 30]
    assert log.table.columns()["eval/reward"].steps.tolist() == [30]


def test_two_axes_do_not_look_like_a_run_that_went_back(tmp_path: Path) -> None:
    rows = [metric("rollout/step", glob="rollout/*"), metric("train/step", glob="train/*")]
    for rollout in range(3):
        rows.append(history({"_step": 5 * rollout, "rollout/step": rollout, "rollout/raw_reward": 0.1}))
        rows += [
            history({"_step": 5 * rollout + 1 + n, "train/step": 4 * rollout + n, "train/loss": 0.5}) for n in range(4)
        ]
    log = read(tmp_path, *rows).log
    assert log.table.row_steps.tolist() == [0, 1, 2]
    assert log.table.columns()["train/loss"].steps.tolist() == list(range(12))


def test_open_instruct_counts_training_steps_not_episodes(tmp_path: Path) -> None:
    log = read(tmp_path, history({"_step": 0, "training_step": 3, "global_step": 6144, "objective/kl": 0.1})).log
    assert log.table.columns()["objective/kl"].steps.tolist() == [3]


def test_values_json_cannot_write_are_read(tmp_path: Path) -> None:
    raw = b"".join(
        field(1, 2, field(1, 2, key) + field(16, 2, value))
        for key, value in ((b"_step", b"1"), (b"a", b"NaN"), (b"b", b"-Infinity"), (b"c", b"true"), (b"d", b"null"))
    )
    columns = read(tmp_path, field(2, 2, raw)).log.table.columns()
    assert {key: str(column.values[0]) for key, column in columns.items()} == {
        "a": "nan",
        "b": "-inf",
        "c": "1.0",
        "d": "nan",
    }


def test_nested_keys_are_joined_and_tables_are_passed_over(tmp_path: Path) -> None:
    items = [
        item("_step", 1),
        item(["group", "inner"], 2),
        item(["table", "_type"], "table-file"),
        item(["table", "nrows"], 9),
        item("whole", {"_type": "histogram", "bins": [1]}),
        item("plain", {"x": 3}),
    ]
    log = read(tmp_path, field(2, 2, b"".join(field(1, 2, one) for one in items))).log
    assert set(log.table.columns()) == {"group/inner", "plain/x"}
    assert not log.table.words()


def test_gpu_samples_become_telemetry(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        stats(100, {"gpu.0.powerWatts": 400.5, "gpu.1.powerWatts": 90, "gpu.0.memoryAllocatedBytes": 8e9, "cpu": 3}),
        stats(115, {"gpu.0.gpu": 97, "gpu.process.0.gpu": 50}),
    ).log
    gpus = log.telemetry.gpus
    assert gpus.walls.tolist() == [100, 100, 115]
    assert gpus.devices.tolist() == [0, 1, 0]
    assert gpus.power_w.tolist()[:2] == [400.5, 90]
    assert gpus.memory_gb.tolist()[0] == 8
    assert gpus.utilisation.tolist()[2] == 97


def test_settings_written_after_the_first_row_were_not_known_from_the_start(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        config({"beta": 0.1, "_wandb": {"cli_version": "1"}}),
        history({"_step": 1, "reward": 1}),
        config({"beta": 0.5, "stopped_early": True}),
    ).log
    assert log.settings == {"beta": 0.1}


def test_a_run_without_an_end_says_so(tmp_path: Path) -> None:
    log = read(tmp_path, history({"_step": 1, "reward": 1})).log
    assert "still running, or killed" in log.notes[0]
    assert not read(tmp_path, history({"_step": 1, "reward": 1}), field(18, 2, b"")).log.notes


def test_a_damaged_mark_does_not_hide_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run-x.wandb"
    data = framed([history({"_step": 1, "reward": 1})])
    path.write_bytes(b"X" + data[1:])
    assert wandb_file.recognises(path, path.read_bytes())
    path.write_bytes(b"not a run at all, only named like one")
    assert not wandb_file.recognises(path, path.read_bytes())
