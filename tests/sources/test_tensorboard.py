"""Event files beyond the sample: every layout a scalar comes in, settings in texts, and what is passed over."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.sources import Log, open_run, tensorboard
from leadline.sources.crc32c import LONGEST, crc32c, crc32c_of_many, masked
from leadline.sources.event_file import EventDecoder


def field(number: int, kind: int, content: bytes) -> bytes:
    return varint(number << 3 | kind) + (varint(len(content)) if kind == 2 else b"") + content


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def simple(tag: str, number: float) -> bytes:
    return field(1, 2, tag.encode()) + field(2, 5, struct.pack("<f", number))


def summary(*values: bytes) -> bytes:
    return field(5, 2, b"".join(field(1, 2, value) for value in values))


def event(step: int, content: bytes, wall: float = 1e9) -> bytes:
    body = field(1, 1, struct.pack("<d", wall)) + (field(2, 0, varint(step)) if step else b"") + content
    return record(body)


def record(body: bytes) -> bytes:
    length = struct.pack("<Q", len(body))
    return length + struct.pack("<I", masked(crc32c(length))) + body + struct.pack("<I", masked(crc32c(body)))


def tensor(dtype: int, content: bytes, *, shape: bytes = b"") -> bytes:
    return field(1, 0, varint(dtype)) + field(2, 2, shape) + content


def scalars(data: bytes) -> dict[str, list[tuple[int, float]]]:
    columns = EventDecoder().decode(data).columns
    return {tag: list(zip(c[0].tolist(), c[1].tolist(), strict=True)) for tag, c in columns.items()}


def log_of(tmp_path: Path, *files: bytes) -> Log:
    for number, data in enumerate(files):
        (tmp_path / f"events.out.tfevents.{number}.host").write_bytes(data)
    reader = tensorboard.open(tmp_path)[0]
    reader.update()
    return reader.log


def test_checksums_agree_with_the_published_one_and_with_each_other() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    data = np.random.default_rng(0).integers(0, 256, 4000, dtype=np.uint8)
    lengths = np.arange(0, LONGEST + 1, dtype=np.int64)
    begins = np.arange(len(lengths), dtype=np.int64) * 7
    together = crc32c_of_many(data, begins, lengths)
    for begin, length, checksum in zip(begins.tolist(), lengths.tolist(), together.tolist(), strict=True):
        assert crc32c(data[begin : begin + length].tobytes()) == checksum


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 255, 256, 257, 511, 512, 513, 4000])
def test_the_checksum_of_a_long_record_is_that_of_its_bytes_one_by_one(size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8).tobytes()
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    assert crc32c(data) == state ^ 0xFFFFFFFF


@pytest.mark.parametrize("step", [0, 1, 127, 128, 20_000, 2**40, -1, -5])
def test_steps_of_every_size_and_sign(step: int) -> None:
    assert scalars(event(step, summary(simple("loss", 0.5)))) == {"loss": [(step, 0.5)]}


def test_a_step_that_no_trainer_counts_to_is_damage() -> None:
    found = EventDecoder().decode(event(2**60, summary(simple("loss", 0.5))))
    assert not found.columns
    assert found.damaged == 1


def test_a_scalar_may_come_as_a_tensor_of_any_number() -> None:
    layouts = {
        "packed": tensor(1, field(5, 2, struct.pack("<f", 1.5))),
        "plain": tensor(1, field(5, 5, struct.pack("<f", 2.5))),
        "raw": tensor(1, field(4, 2, struct.pack("<f", 3.5))),
        "double": tensor(2, field(6, 2, struct.pack("<d", 4.5))),
        "integer": tensor(9, field(4, 2, struct.pack("<q", 5))),
        "zero": tensor(1, b""),
    }
    data = b"".join(event(3, summary(field(1, 2, tag.encode()) + field(8, 2, one))) for tag, one in layouts.items())
    read = {tag: points[0][1] for tag, points in scalars(data).items()}
    assert read == {"packed": 1.5, "plain": 2.5, "raw": 3.5, "double": 4.5, "integer": 5.0, "zero": 0.0}


def test_a_tensor_of_several_numbers_is_no_scalar() -> None:
    two = field(2, 2, field(1, 0, varint(2)))
    several = tensor(1, field(4, 2, struct.pack("<ff", 1, 2)), shape=two)
    assert scalars(event(3, summary(field(1, 2, b"x") + field(8, 2, several)))) == {}


def test_many_values_in_one_event() -> None:
    data = event(4, summary(*(simple(f"metric/{number}", number / 2) for number in range(100))))
    assert scalars(data) == {f"metric/{number}": [(4, number / 2)] for number in range(100)}


def test_layouts_of_one_tag_keep_their_written_order() -> None:
    as_tensor = summary(field(1, 2, b"x") + field(8, 2, tensor(1, field(5, 5, struct.pack("<f", 1)))))
    data = event(5, summary(simple("x", 0))) + event(5, as_tensor) + event(5, summary(simple("x", 2)))
    assert scalars(data) == {"x": [(5, 0.0), (5, 1.0), (5, 2.0)]}


def test_a_record_larger_than_a_block_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = record(field(1, 1, struct.pack("<d", 1)) + field(5, 2, bytes(10_000)))
    monkeypatch.setattr("leadline.sources.text.BLOCK", 4096)
    monkeypatch.setattr("leadline.sources.tensorboard.BLOCK", 4096)
    log = log_of(tmp_path, event(1, summary(simple("x", 1))) + picture + event(2, summary(simple("x", 2))))
    assert log.table.columns()["x"].values.tolist() == [1.0, 2.0]
    assert not log.torn


def test_a_damaged_length_costs_one_record() -> None:
    pieces = [event(step, summary(simple("x", step))) for step in range(1, 6)]
    pieces[2] = b"\xff" + pieces[2][1:]
    found = EventDecoder().decode(b"".join(pieces))
    assert found.columns["x"][0].tolist() == [1, 2, 4, 5]
    assert found.damaged == 1


def test_damage_everywhere_costs_no_more_than_its_bytes() -> None:
    whole = b"".join(record(event(step, summary(simple("reward", step / 9)))) for step in range(12_000))
    begun = time.process_time()
    found = EventDecoder().decode(whole.replace(b"\n", b"\r\n"))
    assert found.damaged > 10_000
    assert time.process_time() - begun < 5  # it took minutes when every lost record was searched for afar


def test_a_tail_of_zeros_is_no_record(tmp_path: Path) -> None:
    log = log_of(tmp_path, event(1, summary(simple("x", 1))) + bytes(5000))
    assert log.table.columns()["x"].steps.tolist() == [1]


def test_the_attempt_that_began_later_stands(tmp_path: Path) -> None:
    first = b"".join(event(step, summary(simple("x", 1)), wall=1e9 + step) for step in range(1, 11))
    second = b"".join(event(step, summary(simple("x", 2)), wall=2e9 + step) for step in range(6, 9))
    log = log_of(tmp_path, second, first)  # whatever the names of the files say
    run = open_run(tmp_path)
    assert log.table.row_steps.tolist() == [*range(1, 11), *range(6, 9)]
    series = next(one for one in (*run.series, *run.unread) if one.key == "x")
    assert series.values.tolist() == [1] * 5 + [2] * 3 + [1] * 2
    assert [(one.kind, one.step) for one in run.events if one.kind == "resume"] == [("resume", 6)]


def test_of_several_starts_in_a_folder_the_latest_is_read(tmp_path: Path) -> None:
    starts = [
        b"".join(event(step, summary(simple("reward", start)), wall=start * 1e9 + step) for step in range(1, last))
        for start, last in ((1, 90), (2, 30), (3, 50))
    ]
    log_of(tmp_path, *starts)
    run = open_run(tmp_path)
    reward = run.get("reward/mean")
    assert reward is not None
    assert (reward.steps.tolist(), {*reward.values.tolist()}) == ([*range(1, 50)], {3.0})
    assert not run.events
    assert any("3 starts in" in note for note in run.notes)


def test_keys_that_count_different_things_are_no_resume(tmp_path: Path) -> None:
    train = [event(step, summary(simple("train/reward", 1))) for step in range(100, 110)]
    evaluation = event(1, summary(simple("eval/score", 1)))
    log_of(tmp_path, b"".join([*train[:5], evaluation, *train[5:]]))
    assert not open_run(tmp_path).events


def test_settings_are_read_from_json_and_from_tables(tmp_path: Path) -> None:
    def words(tag: str, text: str) -> bytes:
        return event(0, summary(field(1, 2, tag.encode()) + field(8, 2, tensor(7, field(8, 2, text.encode())))))

    log = log_of(
        tmp_path,
        words("args/text_summary", '{"max_steps": 300, "beta": 0.04, "nested": {"a": 1}}')
        + words("hyperparameters/text_summary", "|param|value|\n|-|-|\n|gamma|0.99|\n")
        + words("model_config/text_summary", '{"hidden_size": 8}')
        + words("prompt/text_summary", "|param|value|\n|-|-|\n|no|setting|\n"),
    )
    assert log.settings["max_steps"] == 300
    assert log.settings["gamma"] == "0.99"
    assert "hidden_size" not in log.settings
    assert "no" not in log.settings


@given(tag=st.text(min_size=1, max_size=300))
def test_any_tag_is_a_key(tag: str) -> None:
    encoded = tag.encode("utf-8", errors="replace").decode()
    assert scalars(event(7, summary(simple(encoded, 1)))) == {encoded: [(7, 1.0)]}


@given(body=st.binary(max_size=400))
def test_a_whole_record_of_nonsense_is_survived(body: bytes) -> None:
    found = EventDecoder().decode(record(body) + event(1, summary(simple("x", 1))))
    assert 1 in found.columns["x"][0]


def test_a_new_attempt_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(event(1, summary(simple("x", 1))))
    reader = tensorboard.open(tmp_path)[0]
    reader.update()
    (tmp_path / "events.out.tfevents.2").write_bytes(event(2, summary(simple("x", 2)), wall=2e9))
    assert reader.update()
    assert reader.log.table.columns()["x"].steps.tolist() == [1, 2]


def test_a_file_that_cannot_be_opened_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(event(1, summary(simple("x", 1))))
    (tmp_path / "events.out.tfevents.2").write_bytes(event(2, summary(simple("x", 2))))
    reader = tensorboard.open(tmp_path)[0]
    real = Path.open

    def denied(path: Path, *words: object, **more: object) -> object:
        if path.name.endswith(".2"):
            raise PermissionError(13, "Permission denied")
        return real(path, *words, **more)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "open", denied)
        reader.update()
    assert reader.log.table.columns()["x"].steps.tolist() == [1]
    assert reader.log.notes == ("events.out.tfevents.2 could not be read: Permission denied",)
    assert reader.update()
    assert reader.log.table.columns()["x"].steps.tolist() == [1, 2]
    assert not reader.log.notes


def test_a_folder_that_vanishes_keeps_what_was_read(tmp_path: Path) -> None:
    file = tmp_path / "run" / "events.out.tfevents.1"
    file.parent.mkdir()
    file.write_bytes(event(1, summary(simple("x", 1))))
    reader = tensorboard.open(file.parent)[0]
    reader.update()
    file.unlink()
    file.parent.rmdir()
    assert reader.update()
    assert reader.log.table.columns()["x"].steps.tolist() == [1]
