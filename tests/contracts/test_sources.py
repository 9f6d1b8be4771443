"""What every source promises: it survives any cut and any garbage, invents nothing, reads the same twice, and knows its
own files. The text sources are put through it with every hand-written sample they recognise."""

from __future__ import annotations

import functools
import gzip
import itertools
import math
import re
from pathlib import Path

import pytest
from conftest import EXAMPLES, trl_bytes, verl_bytes
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leadline.sources import SOURCES, Log, Source, open_run, read_stream
from leadline.sources.assemble import Surroundings, assemble
from leadline.sources.folders import search

TEXT = [source for source in SOURCES if source.is_text]
TEXTS = Path(__file__).parent.parent / "sources" / "samples" / "text"
ROWS = [(step, {"reward": step / 10, "critic/score/mean": step / 10, "loss": float("nan")}) for step in range(1, 9)]
SAMPLES: dict[str, bytes] = {"trainer_state.json": trl_bytes(ROWS), "metrics.jsonl": verl_bytes(ROWS)} | {
    file.name: file.read_bytes() for file in sorted(TEXTS.iterdir())
}
NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
LISTS = {"own_words.log"}  # rewards of single samples, of which the mean is taken


def source_for(name: str) -> Source:
    return next(source for source in TEXT if source.recognises(Path(name), SAMPLES[name]))


def parse(source: Source, data: bytes, *cuts: int) -> Log:
    parser = source.parser()
    for start, end in itertools.pairwise((0, *sorted(min(cut, len(data)) for cut in cuts), len(data))):
        parser.feed(data[start:end])
    return parser.log()


def columns(log: Log) -> dict[str, list[str]]:
    """Every value as text, so that NaN equals NaN, with its step."""
    return {
        key: [f"{step} {value!r}" for step, value in zip(column.steps.tolist(), column.values.tolist(), strict=True)]
        for key, column in log.table.columns().items()
    }


@functools.cache
def whole(name: str) -> dict[str, list[str]]:
    """Columns of a sample as it is."""
    return columns(parse(source_for(name), SAMPLES[name]))


def invented(name: str, log: Log, data: bytes) -> list[float]:
    """Values of the log that do not stand in the bytes, nor between them where a mean was taken."""
    numbers = NUMBER.findall(data)
    there = {float(number) for number in (*numbers, *(number.lstrip(b".") for number in numbers))}  # "sampling...5"
    there |= {0.0, 1.0}  # true and false are numbers too
    there |= {-number for number in there}
    values = [value for column in log.table.columns().values() for value in column.values.tolist()]
    if name in LISTS:
        return [value for value in values if math.isfinite(value) and not min(there) <= value <= max(there)]
    return [value for value in values if math.isfinite(value) and value not in there]


every_source = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
every_sample = pytest.mark.parametrize("name", SAMPLES)


def test_every_text_source_has_a_sample() -> None:
    assert {source_for(name).name for name in SAMPLES} == {source.name for source in TEXT}


def test_bundled_runs_are_found() -> None:
    found = {place.name: len(search(place).runs) for place in EXAMPLES.iterdir() if place.is_dir()}
    assert found == {"healthy": 1, "collapsed": 1, "hacked": 1}


@every_source
@given(garbage=st.binary(max_size=300))
@example(garbage=b"\t" * 22 + b" " * 27)
def test_garbage_is_not_recognised(source: Source, garbage: bytes) -> None:
    assert not source.recognises(Path("x"), b"\x01 " + garbage)


@pytest.mark.parametrize("source", TEXT, ids=lambda source: source.name)
@given(garbage=st.binary(max_size=300))
def test_garbage_is_no_run_and_no_crash(source: Source, garbage: bytes) -> None:
    assert not parse(source, garbage).table


@every_sample
def test_a_log_cut_at_any_byte_gives_what_stands_before_the_cut(name: str) -> None:
    source, data = source_for(name), SAMPLES[name]
    assert whole(name)
    for cut in range(0, len(data) + 1, 1 + len(data) // 150):
        log = parse(source, data[:cut])
        for key, values in columns(log).items():
            assert values == whole(name)[key][: len(values)], f"{key} differs in a log cut at byte {cut}"
        run = assemble("x", log, Surroundings())
        if log.torn and len(log.table):
            assert any(event.kind == "torn" for event in run.events)


@every_sample
def test_a_cut_costs_no_more_than_the_record_it_falls_into(name: str) -> None:
    source, data = source_for(name), SAMPLES[name]
    steps = parse(source, data).table.row_steps.tolist()
    record = max(len(data) // max(len(set(steps)), 1), 1)
    for cut in range(0, len(data) + 1, 1 + len(data) // 60):
        seen = len(parse(source, data[:cut]).table)
        later = len(parse(source, data[: cut + 3 * record]).table)
        assert later >= seen
    assert len(parse(source, data[: len(data) - 1]).table) >= len(steps) - 1


@every_sample
@settings(max_examples=25)
@given(cuts=st.lists(st.integers(0, 5000), max_size=6))
def test_the_blocks_in_which_a_log_arrives_do_not_matter(name: str, cuts: list[int]) -> None:
    source, data = source_for(name), SAMPLES[name]
    assert columns(parse(source, data, *cuts)) == whole(name)


@every_sample
@settings(max_examples=25)
@given(where=st.integers(0, 6000), byte=st.integers(0, 255))
def test_a_flipped_byte_invents_nothing(name: str, where: int, byte: int) -> None:
    source, data = source_for(name), bytearray(SAMPLES[name])
    data[where % len(data)] = byte
    log = parse(source, bytes(data))
    assert invented(name, log, bytes(data)) == []
    assert len(assemble("x", log, Surroundings()).series) <= len(log.table.columns())


@every_sample
@settings(max_examples=25)
@given(where=st.integers(0, 6000), garbage=st.binary(min_size=1, max_size=8))
def test_garbage_inside_a_log_invents_nothing(name: str, where: int, garbage: bytes) -> None:
    source, data = source_for(name), SAMPLES[name]
    where %= len(data)
    noisy = data[:where] + garbage + data[where:]
    log = parse(source, noisy)
    pieces = {float(digits) for digits in re.findall(rb"\d+", noisy)}  # of a number that it stands in or before
    assert set(map(abs, invented(name, log, noisy))) <= pieces
    assert len(assemble("x", log, Surroundings()).series) <= len(log.table.columns())


@pytest.mark.parametrize("name", [name for name in SAMPLES if not name.endswith((".json", ".ipynb"))])
@settings(max_examples=25)
@given(
    where=st.integers(0, 40),
    garbage=st.binary(max_size=40).filter(lambda data: b"\n" not in data and b"\r" not in data),
)
def test_a_line_of_garbage_between_rows_costs_no_row(name: str, where: int, garbage: bytes) -> None:
    source, lines = source_for(name), SAMPLES[name].split(b"\n")
    ends = [place for place, line in enumerate(lines) if line.rstrip().endswith((b"}", b"+00", "╛".encode(), b"---"))]
    first = 1 + (name == "monitor.csv")
    place = max(ends[where % len(ends)] + 1 if ends else where % len(lines), first)
    noisy = b"\n".join([*lines[:place], b"\x01 " + garbage, *lines[place:]])
    assert columns(parse(source, noisy)) == whole(name)


@every_sample
def test_the_same_bytes_give_the_same_columns(name: str) -> None:
    source = source_for(name)
    assert columns(parse(source, SAMPLES[name])) == whole(name)


@every_sample
def test_a_log_through_a_pipe_and_packed_reads_like_the_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(SAMPLES[name])
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / f"{name}.gz").write_bytes(gzip.compress(SAMPLES[name]))
    runs = [open_run(tmp_path / name), open_run(tmp_path / "packed" / f"{name}.gz"), read_stream(SAMPLES[name])]
    told = [[(one.name, one.key, one.steps.tobytes(), one.values.tobytes()) for one in run.series] for run in runs]
    assert told[0]
    assert told[0] == told[1] == told[2]


@every_sample
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_a_file_that_grows_reads_like_the_whole_one(name: str, share: float, tmp_path: Path) -> None:
    source, data, file = source_for(name), SAMPLES[name], tmp_path / name
    file.write_bytes(data[: int(share * len(data))])
    reader = source.open(file)[0]
    assert reader.update()
    before = columns(reader.log)
    assert not reader.update()
    with file.open("ab") as stream:
        stream.write(data[int(share * len(data)) :])
    assert reader.update()
    after = columns(reader.log)
    assert after == whole(name)
    assert all(values == after[key][: len(values)] for key, values in before.items())


@every_sample
def test_a_file_that_is_replaced_or_cut_is_read_anew(name: str, tmp_path: Path) -> None:
    source, data, file = source_for(name), SAMPLES[name], tmp_path / name
    file.write_bytes(data)
    reader = source.open(file)[0]
    reader.update()
    file.write_bytes(data[: len(data) // 2])
    assert reader.update()
    assert columns(reader.log) == columns(parse(source, data[: len(data) // 2]))
    file.write_bytes(b"# another file\n" + b"x" * len(data))
    assert reader.update()
    assert not reader.log.table


def test_a_mapping_that_breaks_off_costs_no_row_behind_words() -> None:
    source, lines = source_for("openrlhf.log"), SAMPLES["openrlhf.log"].split(b"\n")
    noisy = b"\n".join([lines[0], b'\x01 {"tep":', *lines[1:]])
    assert columns(parse(source, noisy)) == columns(parse(source, SAMPLES["openrlhf.log"]))
