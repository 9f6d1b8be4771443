"""Records of the machine, as their tools write them."""

from __future__ import annotations

import calendar
import gzip
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.run import Phases, Telemetry
from leadline.sources import telemetry
from leadline.sources.telemetry import gpus, join, own, part

NOON = float(calendar.timegm((2026, 11, 15, 12, 0, 0)))
HEADER = "timestamp, index, power.draw [W], utilization.gpu [%], memory.used [MiB], memory.total [MiB]\n"
ROWS = (
    "2026/11/15 12:00:00.250, 0, 412.50 W, 97 %, 70000 MiB, 81559 MiB\n"
    "2026/11/15 12:00:00.250, 1, [N/A], 3 %, 1000 MiB, 81559 MiB\n"
    "2026/11/15 12:00:05.250, 0, 100.00 W, 0 %, 70000 MiB, 81559 MiB\n"
)


def read(place: Path, text: str, name: str = "nvidia-smi.csv", **others: object) -> Telemetry:
    """What a record of that text tells, the file last changed long after."""
    file = place / name
    file.write_text(text)
    os.utime(file, (NOON + 1e7, NOON + 1e7))
    kind = telemetry.record_of(file)
    assert kind is not None
    return telemetry.read({file: kind}, **others)  # type: ignore[arg-type]


def check(told: Telemetry) -> None:
    gpus = told.gpus
    assert gpus.walls.tolist() == [NOON + 0.25, NOON + 0.25, NOON + 5.25]
    assert gpus.devices.tolist() == [0, 1, 0]
    assert gpus.power_w[[0, 2]].tolist() == [412.5, 100.0]
    assert math.isnan(gpus.power_w[1])
    assert gpus.utilisation.tolist() == [97, 3, 0]
    assert gpus.memory_gb[0] == pytest.approx(70000 * 2**20 / 1e9)


def units_off(text: str) -> str:
    for unit in (" W", " %", " MiB", " [W]", " [%]", " [MiB]"):
        text = text.replace(unit, "")
    return text


SPAN = (NOON, NOON + 6)


@pytest.mark.parametrize("units", [True, False], ids=["units", "nounits"])
def test_nvidia_smi_with_and_without_units(tmp_path: Path, units: bool) -> None:
    text = HEADER + ROWS
    told = read(tmp_path, text if units else units_off(text), span=SPAN)
    check(told)
    assert told.gpus.memory_total_gb[0] == pytest.approx(81559 * 2**20 / 1e9)
    assert not told.notes


def test_nvidia_smi_without_a_header_is_told_and_not_guessed_at(tmp_path: Path) -> None:
    told = read(tmp_path, ROWS, span=SPAN)
    assert not len(told.gpus)
    assert "no header" in " ".join(told.notes)


def test_a_torn_last_line_and_lines_of_something_else_are_left_out(tmp_path: Path) -> None:
    text = HEADER + ROWS + "Unable to determine the device handle\n" + HEADER + "2026/11/15 12:00:10.250, 0, 41"
    check(read(tmp_path, text, span=SPAN))


def test_a_packed_record_is_read(tmp_path: Path) -> None:
    file = tmp_path / "gpu.csv.gz"
    file.write_bytes(gzip.compress((HEADER + ROWS).encode()))
    check(telemetry.read({file: gpus.rows}, span=SPAN))


def test_gpus_that_only_have_identifiers_are_numbered_as_they_come(tmp_path: Path) -> None:
    text = "timestamp, uuid, power.draw [W]\n" + "".join(
        f"2026/11/15 12:00:0{second}.000, GPU-{name}, 100.0 W\n" for second in range(2) for name in "ba"
    )
    assert read(tmp_path, text, span=SPAN).gpus.devices.tolist() == [0, 1, 0, 1]


def test_gpus_that_nothing_names_are_told_by_their_common_time(tmp_path: Path) -> None:
    text = "timestamp, power.draw [W]\n" + "".join(f"2026/11/15 12:00:0{n // 2}.000, {n}.0 W\n" for n in range(4))
    assert read(tmp_path, text, span=SPAN).gpus.devices.tolist() == [0, 1, 0, 1]


def test_local_times_are_placed_by_the_run_s_own_clock(tmp_path: Path) -> None:
    elsewhere = (NOON - 8 * 3600, NOON - 8 * 3600 + 6)  # the machine's clock showed UTC+8
    told = read(tmp_path, HEADER + ROWS, span=elsewhere)
    assert told.gpus.walls[0] == NOON - 8 * 3600 + 0.25
    assert told.notes == ()


def test_a_time_zone_that_had_to_be_guessed_is_said(tmp_path: Path) -> None:
    assert "no time zone given and nothing tells which: UTC was assumed" in read(tmp_path, HEADER + ROWS).notes[0]
    file = tmp_path / "nvidia-smi.csv"
    os.utime(file, (NOON - 3600 + 10, NOON - 3600 + 10))
    told = telemetry.read({file: gpus.rows})
    assert told.gpus.walls[0] == NOON - 3600 + 0.25
    assert "UTC+01:00 fits the time the file was last changed" in told.notes[0]


def test_a_run_much_longer_than_its_record_fits_several_zones(tmp_path: Path) -> None:
    told = read(tmp_path, HEADER + ROWS, span=(NOON - 86400, NOON + 86400))
    assert "several zones fit the run: UTC was assumed" in told.notes[0]


@given(st.integers(-48, 56), st.integers(60, 100_000))
def test_the_zone_is_found_whenever_record_and_run_are_about_as_long(quarters: int, length: int) -> None:
    run = (NOON, NOON + length)
    local = np.array([NOON - quarters * 900, NOON - quarters * 900 + length])
    assert gpus.zone(local, run, None) == (quarters * 900, None)


DMON = """#Date       Time        gpu    pwr  gtemp     sm    mem     fb   bar1
#YYYYMMDD   HH:MM:SS    Idx      W      C      %      %     MB     MB
 20261115   12:00:00      0    412     60     97     50  70000     10
 20261115   12:00:00      1      -     60      3      0   1000     10
#Date       Time        gpu    pwr  gtemp     sm    mem     fb   bar1
#YYYYMMDD   HH:MM:SS    Idx      W      C      %      %     MB     MB
 20261115   12:00:05      0    100     60      0      0  70000     10
"""


def test_dmon(tmp_path: Path) -> None:
    gpus = read(tmp_path, DMON, "dmon.log", span=SPAN).gpus
    assert gpus.walls.tolist() == [NOON, NOON, NOON + 5]
    assert gpus.devices.tolist() == [0, 1, 0]
    assert gpus.utilisation.tolist() == [97, 3, 0]
    assert math.isnan(gpus.power_w[1])


def test_dmon_without_dates_cannot_be_placed_and_says_how_it_could(tmp_path: Path) -> None:
    text = "# gpu    pwr     sm\n# Idx      W      %\n    0    412     97\n"
    told = read(tmp_path, text, "gpu.txt")
    assert not told
    assert "dmon -o DT" in told.notes[0]


PHASES = (
    '{"step": 1, "gen": [100.0, 103.0], "update": [103.0, 104.0]}\n'
    "garbage\n"
    '{"step": 2, "gen": [[104.0, 105.0], [106.0, 107.0]], "bad": [3, 1], "odd": "x"}\n'
    '{"step": 3, "gen": [107.0, 1'
)


def test_phases_by_step_a_phase_may_come_twice(tmp_path: Path) -> None:
    told = read(tmp_path, PHASES, "phases.jsonl")
    phases = told.phases
    assert phases.names == ("gen", "update")
    assert list(zip(phases.steps.tolist(), phases.starts.tolist(), phases.ends.tolist(), strict=True)) == [
        (1, 100.0, 103.0),
        (1, 103.0, 104.0),
        (2, 104.0, 105.0),
        (2, 106.0, 107.0),
    ]
    assert told.notes == ("phases.jsonl: 1 line could not be read",)


def test_processes_are_told_apart_by_pid_and_name(tmp_path: Path) -> None:
    trainer = '{"pid": 7, "name": "train.py", "cpu_s": %s, "rss_mb": 1000}'
    rows = [
        f'{{"t": 5.0, "procs": [{trainer % 1.5}]}}',
        f'{{"t": 6.0, "procs": [{trainer % 2.5}, {{"pid": 9, "name": "merger"}}]}}',
    ]
    seen = read(tmp_path, "\n".join(rows) + "\n", "processes.jsonl").processes
    assert [(one.pid, one.name) for one in seen.table] == [(7, "train.py"), (9, "merger")]
    assert (seen.walls.tolist(), seen.processes.tolist()) == ([5.0, 6.0, 6.0], [0, 0, 1])


def test_of_two_records_of_the_same_gpu_the_first_stands(tmp_path: Path) -> None:
    one = read(tmp_path, HEADER + ROWS, span=SPAN)
    both = join([one, one, Telemetry(phases=Phases())])
    assert len(both.gpus) == len(one.gpus)


def test_a_record_that_is_gone_is_noted(tmp_path: Path) -> None:
    told = telemetry.read({tmp_path / "gone.csv": gpus.rows})
    assert not told
    assert told.notes == ("gone.csv could not be read: No such file or directory",)


@pytest.mark.parametrize("parse", [own.phases, own.processes, gpus.rows])
@given(garbage=st.binary(max_size=300))
def test_any_bytes_are_survived(
    tmp_path_factory: pytest.TempPathFactory, parse: telemetry.Parse, garbage: bytes
) -> None:
    file = tmp_path_factory.mktemp("x") / "phases.jsonl"
    file.write_bytes(garbage)
    telemetry.record_of(file)
    assert isinstance(parse(file), part.Part)


@pytest.mark.parametrize("text", [HEADER + ROWS, DMON, PHASES])
@given(cut=st.integers(0, 600))
def test_a_record_cut_anywhere_gives_a_first_part_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, text: str, cut: int
) -> None:
    place = tmp_path_factory.mktemp("x")
    name = "phases.jsonl" if text is PHASES else "gpu.csv"
    file = place / name
    file.write_text(text)
    kind = telemetry.record_of(file)
    assert kind is not None
    whole = kind(file)
    file.write_text(text[:cut])
    less = kind(file)
    assert less.phases.ends.tolist() == whole.phases.ends.tolist()[: len(less.phases)]
    np.testing.assert_array_equal(less.gpus.power_w, whole.gpus.power_w[: len(less.gpus)])
