"""Where time, power and memory go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated import noise
from topics import Topic, read_resources

from leadline.facts.machine import Resources
from leadline.reading.view import View
from leadline.run import Config, GpuSamples, Phases, Run, Series, Telemetry

STEPS = 60
EPOCH = 1_790_000_000.0


def timed(name: str, seconds: object, steps: object | None = None) -> Series:
    column = np.broadcast_to(np.asarray(seconds, dtype=np.float64), (STEPS,)) if steps is None else np.asarray(seconds)
    return Series(name, name, "s", np.arange(1, STEPS + 1) if steps is None else np.asarray(steps), column)


def phases(generate: float = 6.0, update: float = 3.0, gap: float = 0.0) -> Phases:
    starts = EPOCH + np.arange(STEPS) * (generate + update + gap)
    return Phases(
        np.repeat(np.arange(1, STEPS + 1), 2),
        np.tile([0, 1], STEPS),
        np.stack([starts, starts + generate], axis=1).ravel(),
        np.stack([starts + generate, starts + generate + update], axis=1).ravel(),
        names=("gen", "update_actor"),
    )


def gpus(
    seconds: float,
    *,
    power: object = 500.0,
    memory: object = 40.0,
    total: float = 80.0,
    limit: float = np.nan,
    device: int = 0,
) -> GpuSamples:
    walls = EPOCH + np.arange(0.0, seconds, 0.5)

    def column(value: object) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([value(wall - EPOCH) for wall in walls]) if callable(value) else np.full(len(walls), value)  # type: ignore[arg-type]

    return GpuSamples(
        walls,
        np.full(len(walls), device),
        power_w=column(power),
        memory_gb=column(memory),
        memory_total_gb=np.full(len(walls), total),
        power_limit_w=np.full(len(walls), limit),
    )


def both(one: GpuSamples, other: GpuSamples) -> GpuSamples:
    names = GpuSamples.__dataclass_fields__
    return GpuSamples(**{name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in names})


def look(*series: Series, telemetry: Telemetry | None = None, **config: object) -> Topic:
    made = Run("here", series=series, telemetry=telemetry or Telemetry(), config=Config(**config))  # type: ignore[arg-type]
    return read_resources(View(made))


def ids(seen: Topic) -> set[str]:
    return {finding.id for finding in seen.findings}


def test_shares_and_bottleneck_come_from_logged_timings() -> None:
    seen = look(timed("time/step", 10.0), timed("time/generate", 6.5), timed("time/update_actor", 2.5))
    assert {name: use.share for name, use in seen.phases.items()} == {"generate": 0.65, "update_actor": 0.25}
    assert seen.bottleneck == "generation"
    assert any("10%" in note for note in (remark.say() for remark in seen.remarks))  # belongs to no phase


def test_training_can_be_the_bottleneck() -> None:
    seen = look(timed("time/step", 10.0), timed("time/generate", 2.0), timed("time/update_actor", 7.0))
    assert seen.bottleneck == "training"


def test_what_takes_hardly_more_than_the_rest_is_no_bottleneck() -> None:
    seen = look(timed("time/step", 10.0), timed("time/generate", 5.2), timed("time/update_actor", 4.7))
    assert seen.bottleneck is None
    assert any("no clear bottleneck" in note for note in (remark.say() for remark in seen.remarks))


def test_what_takes_hardly_more_than_half_of_the_step_is_no_bottleneck() -> None:
    seen = look(timed("time/step", 10.0), timed("time/generate", 5.5), timed("time/update_actor", 3.0))
    assert seen.bottleneck is None


def test_as_much_power_in_generation_as_in_training_gets_a_word() -> None:
    seen = look(telemetry=Telemetry(gpus(STEPS * 9, power=600.0), phases()))
    assert any("as much power as training" in note for note in (remark.say() for remark in seen.remarks))


def test_two_that_take_turns_are_no_bottleneck() -> None:
    turns = np.where(np.arange(STEPS) % 2 == 0, 5.5, 4.5)
    seen = look(timed("time/step", 10.0), timed("time/generate", turns), timed("time/update_actor", 10 - turns))
    assert seen.bottleneck is None


def test_a_phase_that_happens_now_and_then_counts_for_what_it_takes() -> None:
    rare = timed("time/eval", np.full(6, 10.0), steps=np.arange(10, 61, 10))
    seen = look(timed("time/step", 10.0), timed("time/generate", 6.0), timed("time/update_actor", 3.0), rare)
    assert seen.phases["eval"].share == pytest.approx(0.1)


def test_overlapping_phases_are_said_to_overlap() -> None:
    seen = look(timed("time/step", 10.0), timed("time/generate", 9.0), timed("time/update_actor", 9.5))
    assert any("overlap" in note for note in (remark.say() for remark in seen.remarks))


def test_time_units_change_nothing() -> None:
    series = (timed("time/step", 10.0), timed("time/generate", 6.0), timed("time/update_actor", 3.0))
    milliseconds = tuple(replace(one, values=one.values * 1000) for one in series)
    assert look(*series) == look(*milliseconds)


def test_phases_on_the_wall_clock_give_power_and_memory_by_phase() -> None:
    def power(at: float) -> float:
        return 300.0 if at % 9 < 6 else 600.0

    seen = look(telemetry=Telemetry(gpus(STEPS * 9, power=power), phases()))
    assert seen.phases["generate"].share == pytest.approx(2 / 3, abs=1e-3)
    assert seen.phases["generate"].power_w == pytest.approx(300, abs=15)
    assert seen.phases["update_actor"].power_w == pytest.approx(600, abs=60)
    assert seen.phases["update_actor"].memory_gb == 40.0
    assert any("lower power in generation" in note for note in (remark.say() for remark in seen.remarks))
    assert any("40 GB (50%) headroom" in note for note in (remark.say() for remark in seen.remarks))
    assert seen.findings == ()  # low power in generation is normal


def test_low_power_in_every_phase_is_not_normal() -> None:
    quiet = Telemetry(gpus(STEPS * 9, power=100.0, limit=700.0), phases())
    assert ids(look(telemetry=quiet)) == {"resources.idle"}
    busy = Telemetry(gpus(STEPS * 9, power=500.0, limit=700.0), phases())
    assert ids(look(telemetry=busy)) == set()


def test_even_power_tells_no_phases() -> None:
    steady = 500 + 20 * noise(800, seed=5)
    seen = look(telemetry=Telemetry(gpus(400, power=lambda at: steady[int(2 * at)])))
    assert seen.phases == {}


def test_memory_that_grows_to_the_limit_is_a_concern() -> None:
    growing = Telemetry(gpus(STEPS * 9, memory=lambda at: 30.0 + 40.0 * at / (STEPS * 9)), phases())
    (finding,) = look(telemetry=growing, planned_steps=200).findings
    assert (finding.id, finding.severity) == ("resources.memory_growth", "concern")
    assert "OOM at step ~" in finding.say()


def test_memory_that_is_filled_once_does_not_grow() -> None:
    filled = Telemetry(gpus(STEPS * 9, memory=lambda at: min(40.0, 10 + 4 * at)), phases())
    assert ids(look(telemetry=filled)) == set()


def test_a_pause_out_of_rhythm_is_a_stall() -> None:
    held = phases()
    late = held.steps > 30
    stalled = Phases(held.steps, held.kinds, held.starts + 600.0 * late, held.ends + 600.0 * late, names=held.names)
    (finding,) = look(telemetry=Telemetry(phases=stalled)).findings
    assert (finding.id, finding.since_step) == ("resources.stall", 31)


def test_pauses_that_belong_to_the_rhythm_are_none() -> None:
    held = phases()
    breaks = 600.0 * (held.steps // 10)  # an hour's work now and then, always at the same distance
    rhythm = Phases(held.steps, held.kinds, held.starts + breaks, held.ends + breaks, names=held.names)
    assert ids(look(telemetry=Telemetry(phases=rhythm))) == set()


def test_a_log_that_stopped_with_memory_held_is_critical() -> None:
    watched = gpus(STEPS * 9 + 900, power=lambda at: 500.0 if at < STEPS * 9 else 80.0)
    (finding,) = look(telemetry=Telemetry(watched, phases()), planned_steps=1000).findings
    assert (finding.id, finding.severity) == ("resources.stall", "critical")
    assert "idle" in finding.say()


def test_a_run_that_gave_its_memory_back_has_ended() -> None:
    end = STEPS * 9
    watched = gpus(end + 900, power=lambda at: 500.0 if at < end else 80.0, memory=lambda at: 40.0 if at < end else 0.0)
    (finding,) = look(telemetry=Telemetry(watched, phases()), planned_steps=1000).findings
    assert finding.severity == "note"


def test_nothing_known_is_nothing_said() -> None:
    assert look() == Topic(Resources(), ())
    missing = timed("time/step", np.full(STEPS, np.nan))
    assert look(missing).phases == {}
