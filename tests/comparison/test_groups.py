"""Who belongs together, as told and as guessed; what clocks show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import trl_bytes
from seeds import rise, run

from leadline.cli import main
from leadline.comparison.clocks import clock_of
from leadline.comparison.gather import Gathered, Member, essential, gather, guess, short_names
from leadline.errors import LeadlineError, NothingReadable


def guessed(names: list[str], settings: list[dict[str, object]] | None = None) -> dict[str, list[str]]:
    sets = settings or [{} for _ in names]
    members = [Member(name, run(rise(), settings=one)) for name, one in zip(names, sets, strict=True)]
    return {name: [one.name for one in group] for name, group in guess(members).groups.items()}


def sizes(found: Gathered) -> dict[str, int]:
    return {name: len(group) for name, group in found.groups.items()}


def test_seeds_in_the_names_make_groups() -> None:
    names = ["rho0.7_seed42", "rho0.7_seed43", "rho1_seed42_adq", "rho1_seed43_adq"]
    assert guessed(names) == {"rho0.7": names[:2], "rho1_adq": names[2:]}
    assert guessed(["a/s0", "a/s1", "b/s0"]) == {"a": ["a/s0", "a/s1"], "b": ["b/s0"]}


def test_equal_settings_make_groups_whatever_the_names() -> None:
    base = {"lr": 1e-5, "beta": 0.1, "clip": 0.2}
    sets = [{**base, "seed": 1}, {**base, "seed": 2}, {**base, "lr": 3e-5, "seed": 1}]
    assert list(guessed(["x", "y", "z"], sets).values()) == [["x", "y"], ["z"]]


def test_nothing_to_go_by_leaves_every_run_by_itself() -> None:
    assert guessed(["alpha", "beta"]) == {"alpha": ["alpha"], "beta": ["beta"]}
    assert guessed(["run-1", "run-2"]) == {"run-1": ["run-1"], "run-2": ["run-2"]}  # they may well be two configs


def test_a_guess_says_that_it_is_one() -> None:
    members = [Member(f"a_seed{place}", run(rise(seed=place))) for place in range(2)]
    assert guess(members).how == "by_seed"


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["out/a/log.json", "out/b/log.json"], ["a", "b"]),
        (["same", "same"], ["same", "same (2)"]),
        (["a", "b/a"], ["a", "b/a"]),
        (["runs/x"], ["x"]),
    ],
)
def test_names_are_short_and_never_the_same(paths: list[str], names: list[str]) -> None:
    assert short_names(paths) == names


def test_what_a_run_is_called_is_no_setting_of_its_training() -> None:
    kept = essential(
        run(
            rise(), settings={"trainer.seed": 1, "output_dir": "x", "run_name": "y", "lr": 1, "model_name_or_path": "m"}
        )
    )
    assert set(kept) == {"lr", "model_name_or_path"}


def write(path: Path, *, seed: int, level: float = 0.0, steps: int = 60) -> Path:
    path.mkdir(parents=True)
    values = rise(seed=seed, level=level, steps=steps)
    rows = [(step + 1, {"reward": float(one), "kl": 0.001 * step}) for step, one in enumerate(values)]
    (path / "trainer_state.json").write_bytes(trl_bytes(rows))
    return path


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for seed in range(3):
        write(tmp_path / f"base_{seed}", seed=seed, level=0.01 * seed)
        write(tmp_path / f"new_{seed}", seed=10 + seed, level=0.5 + 0.01 * seed)
    return tmp_path


def test_a_pattern_is_a_group(shelf: Path) -> None:
    found = gather([f"{shelf}/base_*", f"{shelf}/new_*"])
    assert list(sizes(found).values()) == [3, 3]
    assert found.how in ("named", "typed")


def test_a_folder_of_runs_is_a_group(shelf: Path) -> None:
    for name in ("base", "new"):
        (shelf / name).mkdir()
        for place in sorted(shelf.glob(f"{name}_*")):
            place.rename(shelf / name / place.name)
    found = gather([str(shelf / "base"), str(shelf / "new")])
    assert sizes(found) == {"base": 3, "new": 3}


def test_groups_are_as_told(shelf: Path) -> None:
    found = gather([], groups={"b": [f"{shelf}/base_0", f"{shelf}/new_0"], "n": [f"{shelf}/new_[12]"]})
    assert sizes(found) == {"b": 2, "n": 2}


def test_each_run_by_itself_when_asked(shelf: Path) -> None:
    found = gather([f"{shelf}/base_*", f"{shelf}/new_0"], alone=True)
    assert list(sizes(found).values()) == [1, 1, 1, 1]


def test_the_same_run_twice_is_said_and_left_out(shelf: Path) -> None:
    copy = shelf / "copy"
    copy.mkdir()
    (copy / "trainer_state.json").write_bytes((shelf / "base_0" / "trainer_state.json").read_bytes())
    found = gather([f"{shelf}/base_0", str(copy), f"{shelf}/new_0"])
    assert [(one.name, one.why) for one in found.left_out] == [("copy", "the same run as base_0")]
    with pytest.raises(LeadlineError, match="the same run as"):
        gather([f"{shelf}/base_0", str(copy)])
    with pytest.raises(LeadlineError, match="the same run as"):
        gather([f"{shelf}/base_0", f"{shelf}/base_0"])


def test_an_unreadable_path_among_good_ones_is_named_and_left_out(shelf: Path) -> None:
    (shelf / "broken").mkdir()
    (shelf / "broken" / "notes.txt").write_text("nothing here")
    found = gather([f"{shelf}/base_0", str(shelf / "broken"), str(shelf / "gone"), f"{shelf}/new_0"])
    assert {Path(one.name).name for one in found.left_out} == {"broken", "gone"}
    assert len(found.groups) == 2


def test_nothing_readable_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NothingReadable):
        gather([str(tmp_path / "gone"), str(tmp_path / "too")])


def test_one_run_has_nothing_to_be_compared_with(shelf: Path) -> None:
    with pytest.raises(LeadlineError, match=r"only one readable run .*; `compare` needs two"):
        gather([f"{shelf}/base_0"])


def test_clocks_count_what_each_step_took() -> None:
    logged = run({"reward/mean": rise(steps=4), "time/step": np.array([2.0, 3.0, 4.0, 5.0])}, first=10, every=10)
    clock = clock_of(logged, "time")
    assert clock is not None
    assert clock.at(10) == 2.0
    assert clock.at(20) == 2.0 + 30.0  # ten steps at what was logged for the last of them
    assert clock.steps_at(np.array([2.0, 32.0])).tolist() == [10.0, 20.0]


def test_a_running_total_that_starts_anew_goes_on() -> None:
    tokens = np.array([100.0, 200.0, 300.0, 50.0, 150.0])
    clock = clock_of(run({"reward/mean": rise(steps=5), "progress/tokens_total": tokens}), "tokens")
    assert clock is not None
    assert clock.shown.tolist() == [100.0, 200.0, 300.0, 350.0, 450.0]


def test_a_total_logged_as_if_it_were_of_each_step_is_not_summed_again() -> None:
    total = np.cumsum(np.full(30, 7.0))
    clock = clock_of(run({"reward/mean": rise(steps=30), "progress/tokens_step": total}), "tokens")
    assert clock is not None
    assert clock.shown[-1] == total[-1]


def test_no_clock_where_nothing_was_logged() -> None:
    assert clock_of(run(rise()), "tokens") is None
    assert clock_of(run(rise()), "time") is None


def test_usage_errors_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare"]) == 2
    assert main(["compare", "--group", "nameless", "x"]) == 2
    assert "NAME=PATHS" in capsys.readouterr().err
