"""A trainer's files are read while it writes them: what was seen stays, and the end is what the trainer held."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from writers.held import four_digits, held_in, same, single
from writers.launch import command, environment

from leadline.sources import Reader, open_run, source_of

STEPS = 12
PAUSE = 0.25  # seconds after each step


def rewards(reader: Reader) -> list[float]:
    columns = reader.log.table.columns()
    return next((columns[key].values.tolist() for key in ("reward", "train/reward") if key in columns), [])


def reader_of(path: Path) -> Reader | None:
    """A reader once there is enough to tell what the file is."""
    source = source_of(path) if path.exists() else None
    return None if source is None else source.open(path)[0]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[list[float]]]]:
    """Trains, looks at every file again and again meanwhile, and returns what was seen at each look that saw more."""
    out = tmp_path_factory.mktemp("live")
    places = {"console.log": out / "console.log", "tensorboard": out / "tensorboard", "wandb": out / "wandb"}
    words = ("train_trl", out, "grpo", "--steps", STEPS, "--pause", PAUSE, "--report", "tensorboard", "wandb")
    more = {"TENSORBOARD_LOGGING_DIR": str(places["tensorboard"]), "WANDB_DIR": str(out), "PYTHONUNBUFFERED": "1"}
    readers: dict[str, Reader] = {}
    looks: dict[str, list[list[float]]] = {name: [] for name in places}
    with places["console.log"].open("wb") as printed:
        trainer = subprocess.Popen(command(*words), env=environment(**more), stdout=printed, stderr=printed)
        try:
            over = False
            while not over:
                over = trainer.poll() is not None  # asked before the look, so that one look comes after the end
                for name, place in places.items():
                    if name not in readers and (reader := reader_of(_file(place))) is not None:
                        readers[name] = reader
                    if name in readers and readers[name].update():
                        looks[name].append(rewards(readers[name]))
                time.sleep(0.05)
        finally:
            trainer.kill()
            trainer.wait()
    assert trainer.returncode == 0, places["console.log"].read_text(errors="replace")[-2000:]
    return out, looks


def _file(place: Path) -> Path:
    """The log file itself: trackers make folders, whose names we cannot know before."""
    if place.suffix or not place.is_dir():
        return place
    return next((file for pattern in ("*.tfevents.*", "*/*.wandb") for file in place.glob(pattern)), place)


@pytest.mark.parametrize(("name", "kept"), [("console.log", four_digits), ("tensorboard", single), ("wandb", float)])
def test_a_growing_file_is_read_as_it_grows(
    name: str, kept: object, watched: tuple[Path, dict[str, list[list[float]]]]
) -> None:
    out, looks = watched
    held = [kept(value) for value in held_in(out / "held.json")["reward"].values()]  # type: ignore[operator]
    assert len(held) == STEPS
    for seen in looks[name]:
        assert all(same(mine, theirs) for mine, theirs in zip(seen, held, strict=False)), "a value changed later"
        assert len(seen) <= STEPS
    assert looks[name][-1] == held
    if name != "wandb":  # its service writes in blocks, so a short run may come in one piece
        assert len({len(seen) for seen in looks[name]}) >= STEPS / 2


def test_looking_again_and_again_ends_where_one_look_does(watched: tuple[Path, dict[str, list[list[float]]]]) -> None:
    out, looks = watched
    for name, seen in looks.items():
        reward = open_run(out / name).get("reward/mean")
        assert reward is not None
        assert reward.values.tolist() == seen[-1]
