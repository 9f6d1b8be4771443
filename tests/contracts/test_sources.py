"""What every source promises: it survives any cut and any garbage, reads the same twice, and knows its own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXAMPLES, trl_bytes, verl_bytes
from hypothesis import given
from hypothesis import strategies as st

from leadline.sources import SOURCES, Source, open_run, read_stream
from leadline.sources.assemble import assemble
from leadline.sources.folder import Surroundings

ROWS = [(step, {"reward": step / 10, "critic/score/mean": step / 10, "loss": float("nan")}) for step in range(1, 9)]
SAMPLES = {"trainer_state": trl_bytes(ROWS), "verl_file": verl_bytes(ROWS)}
every_source = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.NAME)


@every_source
def test_there_is_a_sample_and_a_bundled_run(source: Source) -> None:
    assert source.NAME in SAMPLES
    assert any(source.find(place) for place in EXAMPLES.iterdir() if place.is_dir())
    assert source.EXPECTS


@every_source
def test_a_log_cut_at_any_byte_gives_the_complete_rows_before_the_cut(source: Source) -> None:
    data = SAMPLES[source.NAME]
    whole = source.parse(data)
    assert [row.step for row in whole.rows] == list(range(1, 9))
    before = 0
    for cut in range(len(data) + 1):
        log = source.parse(data[:cut])
        assert repr(log.rows) == repr(whole.rows[: len(log.rows)])
        assert len(log.rows) >= before, f"a longer piece of the log gave fewer rows at byte {cut}"
        before = len(log.rows)
        run = assemble("x", log, Surroundings())
        if log.torn and log.rows:
            assert any(event.kind == "torn" for event in run.events)
    assert before == len(whole.rows)


@every_source
@given(st.binary(max_size=300))
def test_garbage_is_no_run_and_no_crash(source: Source, garbage: bytes) -> None:
    assert source.parse(garbage).rows == ()
    source.recognises(garbage)


@every_source
@given(where=st.integers(0, 400), garbage=st.binary(min_size=1, max_size=8))
def test_garbage_inside_a_log_is_survived(source: Source, where: int, garbage: bytes) -> None:
    data = SAMPLES[source.NAME]
    assemble("x", source.parse(data[:where] + garbage + data[where:]), Surroundings())


@every_source
def test_the_same_bytes_give_the_same_rows(source: Source) -> None:
    data = SAMPLES[source.NAME]
    assert repr(source.parse(data)) == repr(source.parse(data))


@every_source
def test_only_one_source_recognises_a_log(source: Source) -> None:
    assert [one.NAME for one in SOURCES if one.recognises(SAMPLES[source.NAME])] == [source.NAME]


@every_source
def test_a_log_through_a_pipe_reads_like_the_file(source: Source, tmp_path: Path) -> None:
    file = tmp_path / {"trainer_state": "trainer_state.json"}.get(source.NAME, "metrics.jsonl")
    file.write_bytes(SAMPLES[source.NAME])
    opened, piped = open_run(file), read_stream(SAMPLES[source.NAME])
    assert [one.name for one in opened.series] == [one.name for one in piped.series]
    assert opened.last_step == piped.last_step == 8


@every_source
def test_a_folder_without_such_a_log_is_not_claimed(source: Source, tmp_path: Path) -> None:
    assert source.find(tmp_path) == ()
