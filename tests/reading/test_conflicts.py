"""Processes beside the training: the one that costs something is named, the harmless one is called harmless."""

from __future__ import annotations

import numpy as np
from simulated import noise
from topics import Topic, read_conflicts

from leadline.reading.view import View
from leadline.run import Checkpoint, GpuSamples, Phases, Process, ProcessSamples, Run, Series, Telemetry

EPOCH = 1_790_000_000.0
STEPS = 200
USUAL = 10.0
NOTHING = Topic((), ())
SLOW = ((300.0, 500.0), (1100.0, 1300.0))  # seconds since the start


def there(at: float, spans: tuple[tuple[float, float], ...]) -> bool:
    return any(first <= at < last for first, last in spans)


def training(slowed_in: tuple[tuple[float, float], ...] = (), by: float = 1.3, trend: float = 0.0) -> Phases:
    """Steps that take longer while something runs."""
    scatter = 1 + 0.01 * noise(STEPS, seed=7)
    starts, ends, now = [], [], 0.0
    for step in range(STEPS):
        took = USUAL * scatter[step] * (1 + trend * step / STEPS) * (by if there(now, slowed_in) else 1.0)
        starts.append(EPOCH + now)
        now += took
        ends.append(EPOCH + now)
    return Phases(
        np.arange(1, STEPS + 1), np.zeros(STEPS, dtype=np.int64), np.array(starts), np.array(ends), names=("gen",)
    )


def processes(end: float, **guests: tuple[tuple[float, float], ...]) -> ProcessSamples:
    table = (Process(1, "train.py"), *(Process(2 + k, name) for k, name in enumerate(guests)))
    walls, which = [], []
    for second in np.arange(0.0, end, 2.0).tolist():
        for place, process in enumerate(table):
            if place == 0 or there(second, guests[process.name]):
                walls.append(EPOCH + second)
                which.append(place)
    return ProcessSamples(np.array(walls), np.array(which), table=table)


def look(phases: Phases, seen: ProcessSamples, *, memory: GpuSamples | None = None, unit: float = 1.0) -> Topic:
    scaled = Phases(phases.steps, phases.kinds, phases.starts * unit, phases.ends * unit, names=phases.names)
    moved = ProcessSamples(seen.walls * unit, seen.processes, table=seen.table)
    return read_conflicts(View(Run("here", telemetry=Telemetry(memory or GpuSamples(), scaled, moved))))


def test_the_guest_that_slows_the_training_is_named_with_its_intervals() -> None:
    phases = training(SLOW)
    seen = look(phases, processes(phases.ends[-1] - EPOCH, merger=SLOW))
    assert [row.process for row in seen.section] == ["merger", "merger"]
    for row, (first, last) in zip(seen.section, SLOW, strict=True):
        assert abs(row.first_wall - EPOCH - first) <= 3
        assert abs(row.last_wall - EPOCH - last) <= 3
    (finding,) = seen.findings
    assert (finding.id, finding.severity) == ("conflict.step_time", "concern")
    assert "merger" in finding.say()
    assert finding.p > 0.9


def test_the_harmless_guest_is_called_harmless() -> None:
    phases = training()
    seen = look(phases, processes(phases.ends[-1] - EPOCH, uploader=SLOW))
    assert [row.did.step_time for row in seen.section] == ["harmless", "harmless"]
    assert seen.findings == ()


def test_of_two_guests_the_right_one_is_named() -> None:
    phases = training(SLOW)
    other = ((700.0, 800.0), (1500.0, 1650.0))
    seen = look(phases, processes(phases.ends[-1] - EPOCH, merger=SLOW, uploader=other))
    assert [finding.say().split(" while ")[1].split()[0] for finding in seen.findings] == ["merger"]


def test_a_trend_of_step_time_is_not_the_guests_doing() -> None:
    phases = training(trend=0.5)
    half = (phases.ends[-1] - EPOCH) / 2
    assert look(phases, processes(2 * half, uploader=((half, 2 * half),))).findings == ()


def test_the_trainer_itself_is_no_guest() -> None:
    phases = training(SLOW)
    assert look(phases, processes(phases.ends[-1] - EPOCH)) == NOTHING


def test_memory_that_a_guest_takes_is_said() -> None:
    phases = training()
    walls = EPOCH + np.arange(0.0, phases.ends[-1] - EPOCH, 1.0)
    used = np.array([40.0 + 5.0 * there(wall - EPOCH, SLOW) for wall in walls])
    memory = GpuSamples(
        walls, np.zeros(len(walls), dtype=np.int64), memory_gb=used, memory_total_gb=np.full(len(walls), 48.0)
    )
    (finding,) = look(phases, processes(phases.ends[-1] - EPOCH, merger=SLOW), memory=memory).findings
    assert (finding.id, finding.severity) == ("conflict.memory", "concern")  # a second one would not fit


def test_units_of_time_change_nothing_but_the_clock() -> None:
    phases = training(SLOW)
    seen = processes(phases.ends[-1] - EPOCH, merger=SLOW)
    seconds, minutes = look(phases, seen), look(phases, seen, unit=1 / 64)
    assert [(row.process, row.p, row.did) for row in seconds.section] == [
        (row.process, row.p, row.did) for row in minutes.section
    ]


def test_evaluations_are_a_known_cause() -> None:
    steps = np.arange(1, STEPS + 1)
    took = USUAL * (1 + 0.01 * noise(STEPS, seed=8)) * np.where(steps % 10 == 0, 3.0, 1.0)
    held_out = Series("eval/task/reward", "eval", "", steps[9::10], np.zeros(STEPS // 10))
    run = Run("here", series=(Series("time/step", "t", "s", steps, took), held_out))
    (finding,) = read_conflicts(View(run)).findings
    assert (finding.id, finding.severity) == ("resources.eval_overhead", "note")
    assert "take 3× as long" in finding.say()


def test_saving_that_costs_nothing_is_not_worth_a_word() -> None:
    steps = np.arange(1, STEPS + 1)
    took = USUAL * (1 + 0.01 * noise(STEPS, seed=8))
    saved = tuple(Checkpoint(step, f"checkpoint-{step}") for step in range(10, STEPS, 10))
    assert (
        read_conflicts(View(Run("here", series=(Series("time/step", "t", "s", steps, took),), checkpoints=saved)))
        == NOTHING
    )


def test_nothing_known_is_nothing_said() -> None:
    assert read_conflicts(View(Run("here"))) == NOTHING
