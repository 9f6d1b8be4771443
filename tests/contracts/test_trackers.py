"""What every tracker's reader promises: it gives what the real package wrote, survives any cut and any flipped byte,
follows a file that grows, and claims no other file."""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sources.samples.write import KEYS, STEPS, value

from leadline.errors import LeadlineError
from leadline.sources import SOURCES, Log, Source, source_of
from leadline.sources.folders import search

SAMPLES = Path(__file__).parent.parent / "sources" / "samples"
RUNS = {  # every kind of place a tracker keeps runs in
    "tensorboard": SAMPLES / "tensorboard",
    "wandb": SAMPLES / "wandb" / "run-sample.wandb",
    "swanlab": SAMPLES / "swanlab" / "run-sample.swanlab",
    "mlflow": SAMPLES / "mlflow" / "mlflow.db",
    "mlflow-files": SAMPLES / "mlflow" / "mlruns",
    "trackio": SAMPLES / "trackio" / "sample.db",
}
FRAMED = {  # files with a checksum on every record, and how many values a record of theirs holds
    "tensorboard": (next((SAMPLES / "tensorboard").glob("*.first")), 1),
    "tensors": (next((SAMPLES / "tensorboard").glob("*.second")), 1),
    "wandb": (RUNS["wandb"], len(KEYS) + 1),
    "swanlab": (RUNS["swanlab"], 1),
}
every_run = pytest.mark.parametrize("place", RUNS.values(), ids=RUNS)
every_framed_file = pytest.mark.parametrize(("sample", "record"), FRAMED.values(), ids=FRAMED)
every_tracker = pytest.mark.parametrize(
    "source", [one for one in SOURCES if not one.is_text], ids=lambda source: source.name
)


def tracker(place: Path) -> Source:
    source = source_of(place)
    assert source is not None
    return source


def logs(place: Path) -> list[Log]:
    found = []
    for reader in tracker(place).open(place):
        assert reader.update()
        found.append(reader.log)
    return found


def points(log: Log) -> dict[tuple[str, int], float]:
    """The values of a log; the last one of a step stands."""
    return {
        (key, step): number
        for key, column in log.table.columns().items()
        for step, number in zip(column.steps.tolist(), column.values.tolist(), strict=True)
    }


def told(log: Log) -> list[str]:
    """Every value in written order, NaN equal to NaN."""
    return sorted(
        f"{key} {step} {number!r}"
        for key, column in log.table.columns().items()
        for step, number in zip(column.steps.tolist(), column.values.tolist(), strict=True)
    )


def same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6) or (math.isnan(one) and math.isnan(other))


@every_run
def test_what_the_package_wrote_is_what_is_read(place: Path) -> None:
    found = logs(place)
    assert found
    for log in found:
        read = points(log)
        for key in KEYS:
            for step in STEPS:
                second = place.name == "tensorboard" and step > 20  # its later attempt adds one
                assert same(read[key, step], value(key, step) + second), (key, step)
        assert {key for key, _ in read} <= {*KEYS, "group/inner"}
        assert not log.torn
        assert not log.notes
        assert log.label
        assert log.attempt is not None


@every_run
def test_settings_are_kept(place: Path) -> None:
    assert {float(str(log.settings["lr"])) for log in logs(place)} == {1e-6}


@pytest.mark.parametrize("name", ["mlflow", "mlflow-files", "trackio"])
def test_several_runs_in_one_place_are_told_apart(name: str) -> None:
    assert [log.label for log in logs(RUNS[name])] == ["one", "two"]


@pytest.mark.parametrize("name", ["mlflow", "mlflow-files", "trackio"])
def test_gpu_samples_are_telemetry_and_no_metric(name: str) -> None:
    found = logs(RUNS[name])
    assert len(found) == 2
    for log in found:
        gpus = log.telemetry.gpus
        assert gpus.power_w.tolist() == [300.0]
        assert gpus.utilisation.tolist() == [90.0]
        assert not any("gpu" in key for key in log.table.columns())


@every_run
def test_only_its_own_source_claims_it(place: Path) -> None:
    head = b"" if place.is_dir() else place.read_bytes()[: 1 << 16]
    assert len([source.name for source in SOURCES if source.recognises(place, head)]) == 1


@every_run
def test_it_is_found_in_its_folder(place: Path) -> None:
    folder = place if place.is_dir() else place.parent
    found = search(folder)
    read = [carrier.path for run in found.runs for carrier in run.carriers]
    assert any(place.absolute() in (path, *path.parents) for path in read)


@every_run
def test_a_second_look_at_an_unchanged_place_changes_nothing(place: Path) -> None:
    reader = tracker(place).open(place)[0]
    assert reader.update()
    before = told(reader.log)
    assert not reader.update()
    assert told(reader.log) == before


@every_tracker
def test_a_folder_without_such_a_run_is_not_claimed(source: Source, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert not source.recognises(tmp_path, b"")


@every_tracker
@given(garbage=st.binary(max_size=200))
@example(garbage=b"SQLite format 3\0" + bytes(100))
@example(garbage=b":W&B\xe1\xbe\0" + bytes(100))
@example(garbage=b"PAR1 half a file")
def test_a_file_that_is_not_what_its_name_says(
    source: Source, tmp_path_factory: pytest.TempPathFactory, garbage: bytes
) -> None:
    folder = tmp_path_factory.mktemp("garbage")
    for name in ("events.out.tfevents.1.x", "run-x.wandb", "run-x.swanlab", "mlflow.db", "x.parquet"):
        (folder / name).write_bytes(garbage)
        for log in readable(source, folder / name):
            assert not log.table


def readable(source: Source, path: Path) -> Iterator[Log]:
    """What can be read of a file, one clear error aside."""
    with contextlib.suppress(LeadlineError):
        for reader in source.open(path):
            reader.update()
            yield reader.log


@every_framed_file
@given(data=st.data())
def test_a_file_cut_anywhere_gives_the_records_before_the_cut(
    sample: Path, record: int, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole, content = logs(sample)[0], sample.read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.mktemp("cut") / sample.name
    path.write_bytes(content[:cut])
    reader = tracker(sample).open(path)[0]
    reader.update()
    everything, seen = told(whole), told(reader.log)
    assert set(seen) <= set(everything)
    path.write_bytes(content)  # the rest arrives
    reader.update()
    assert told(reader.log) == everything
    assert not reader.log.torn


@every_framed_file
@given(data=st.data())
def test_a_flipped_byte_costs_its_record_and_never_becomes_a_value(
    sample: Path, record: int, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    everything, content = told(logs(sample)[0]), bytearray(sample.read_bytes())
    at, flip = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(1, 255))
    content[at] ^= flip
    path = tmp_path_factory.mktemp("flip") / sample.name
    path.write_bytes(content)
    reader = tracker(sample).open(path)[0]
    reader.update()
    seen = told(reader.log)
    assert set(seen) <= set(everything)
    assert len(everything) - len(seen) <= record
    if len(seen) < len(everything):
        assert reader.log.notes or reader.log.torn


@every_framed_file
def test_bytes_that_were_read_are_not_read_again(sample: Path, record: int, tmp_path: Path) -> None:
    content = sample.read_bytes()
    path = tmp_path / sample.name
    half = len(content) // 2
    path.write_bytes(content[:half])
    reader = tracker(sample).open(path)[0]
    reader.update()
    with path.open("r+b") as file:  # what is read already no longer stands in the file
        file.seek(64)
        file.write(bytes(half // 2 - 64))
        file.seek(half)
        file.write(content[half:])
    reader.update()
    assert told(reader.log) == told(logs(sample)[0])


@every_framed_file
def test_a_file_that_is_replaced_is_read_anew(sample: Path, record: int, tmp_path: Path) -> None:
    path = tmp_path / sample.name
    path.write_bytes(sample.read_bytes())
    reader = tracker(sample).open(path)[0]
    reader.update()
    other = tmp_path / "other"
    other.write_bytes(sample.read_bytes()[: sample.stat().st_size // 2])
    other.replace(path)
    assert reader.update()
    assert 0 < len(told(reader.log)) < len(told(logs(sample)[0]))


@every_framed_file
def test_a_file_that_vanishes_keeps_what_was_read_and_says_so(sample: Path, record: int, tmp_path: Path) -> None:
    path = tmp_path / sample.name
    shutil.copy(sample, path)
    reader = tracker(sample).open(path)[0]
    reader.update()
    path.unlink()
    assert reader.update()
    assert told(reader.log) == told(logs(sample)[0])
    assert "is gone" in " ".join(reader.log.notes)
    assert not reader.update()


@pytest.mark.parametrize("name", ["mlflow", "trackio"])
@given(data=st.data())
def test_a_damaged_database_is_one_sentence_or_part_of_its_rows(
    name: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(RUNS[name].read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    for _ in range(data.draw(st.integers(0, 3)) if content else 0):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("damaged") / "runs.db"
    path.write_bytes(content)
    source = tracker(RUNS[name])
    source.recognises(path, bytes(content[:100]))
    for log in readable(source, path):
        log.table.columns()
