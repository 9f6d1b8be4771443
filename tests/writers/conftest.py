"""Real packages write, Leadline reads. Each writer runs once, in a process of its own, and leaves in held.json what it
was given or held itself; the tests compare the two, value for value.

These tests need the `writers` extra and run with `-m writers` (the README's second test command). Without that option
nothing here is collected, so the light command needs none of the packages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from writers.launch import PROGRAMS, run_program

HERE = Path(__file__).parent
MARKER = "writers"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = MARKER in str(config.getoption("markexpr")).replace(f"not {MARKER}", "")
    if not asked or PROGRAMS in (collection_path, *collection_path.parents):
        return True  # programs are run, not imported: --doctest-modules would import them
    return None


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(MARKER)


@pytest.fixture(scope="session")
def grpo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GRPO run with a reference model that reports to four trackers at once; what it printed is in console.log."""
    out = tmp_path_factory.mktemp("grpo")
    printed = run_program(
        "train_trl",
        out,
        "grpo",
        "--report",
        *("tensorboard", "wandb", "mlflow", "trackio"),
        TENSORBOARD_LOGGING_DIR=str(out / "tensorboard"),
        WANDB_DIR=str(out),
        MLFLOW_TRACKING_URI=f"sqlite:///{out / 'mlflow.db'}",
        TRACKIO_DIR=str(out / "trackio"),
    )
    (out / "console.log").write_text(printed)
    return out


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Trains with a TRL trainer, once for the same words, and returns the folder."""
    done: dict[tuple[str, ...], Path] = {}

    def train(*words: str) -> Path:
        if words not in done:
            out = tmp_path_factory.mktemp(words[0])
            (out / "console.log").write_text(run_program("train_trl", out, *words))
            done[words] = out
        return done[words]

    return train


@pytest.fixture(scope="session")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PPO on CartPole by stable-baselines3, with all its writers."""
    out = tmp_path_factory.mktemp("sb3")
    run_program("train_sb3", out)
    return out


@pytest.fixture(scope="session")
def rllib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PPO on CartPole by RLlib under Tune: the folder above the trial's."""
    out = tmp_path_factory.mktemp("rllib")
    run_program("train_rllib", out)
    return out


@pytest.fixture(scope="session")
def verl_logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run logged by verl's own loggers; what they printed is in console.log."""
    out = tmp_path_factory.mktemp("verl")
    (out / "console.log").write_text(run_program("log_verl", out))
    return out


@pytest.fixture(scope="session")
def tracked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Logs the same rows with the tracker of that name (programs/track.py), once; its files are in `run` below."""
    done: dict[str, Path] = {}

    def track(name: str) -> Path:
        if name not in done:
            done[name] = tmp_path_factory.mktemp(name)
            run_program("track", done[name], name)
        return done[name]

    return track
