"""What lies around a log file: checkpoints, kept rollouts, the settings of the run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..run import Checkpoint, Config, Rollout, Rollouts
from .number import as_number, as_step, loads

CHECKPOINT_FOLDER = re.compile(r"(?:checkpoint-|global_step_)(\d+)")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that was found beside a log; nothing for a log that came through a pipe."""

    config: Config = field(default_factory=Config)
    checkpoints: tuple[Checkpoint, ...] = ()
    rollouts: Rollouts = field(default_factory=Rollouts)


def look_around(log_file: Path, *, asked_for: Path) -> Surroundings:
    """The surroundings of a log file. A log inside a checkpoint folder belongs to the run of the folder above; when
    that checkpoint itself was asked for, later ones are left out."""
    folder = log_file.parent
    inside = CHECKPOINT_FOLDER.fullmatch(folder.name)
    root = folder.parent if inside else folder
    checkpoints = sorted(_checkpoints(root), key=lambda checkpoint: checkpoint.step)
    if inside and asked_for in (log_file, folder):
        checkpoints = [checkpoint for checkpoint in checkpoints if checkpoint.step <= int(inside[1])]
    return Surroundings(_config(root / "config.json"), tuple(checkpoints), _rollouts(root / "rollouts"))


def _checkpoints(root: Path) -> list[Checkpoint]:
    found = []
    for place in root.iterdir():
        name = CHECKPOINT_FOLDER.fullmatch(place.name)
        if name and place.is_dir():
            complete = (
                _trl_complete(place) if place.name.startswith("checkpoint-") else _verl_complete(place, int(name[1]))
            )
            found.append(Checkpoint(int(name[1]), str(place), complete))
    return found


def _trl_complete(place: Path) -> bool:
    """`trainer_state.json` is written last, so a whole one means that all before it was written; shards may still
    have been lost since."""
    state = _bytes(place / "trainer_state.json").strip()
    whole = state.startswith(b"{") and state.endswith(b"}") and state.count(b"{") == state.count(b"}")
    index = _mapping(place / "model.safetensors.index.json")
    shards = index.get("weight_map", {})
    return whole and all(
        (place / str(shard)).is_file() for shard in set(shards.values() if isinstance(shards, dict) else ())
    )


def _verl_complete(place: Path, step: int) -> bool | None:
    """verl writes `data.pt` after the weights and the tracker file last, but no tracker file when saving in the
    background: then there is no mark that would tell."""
    if not (place / "data.pt").is_file():
        return False
    tracker = as_step(_bytes(place.parent / "latest_checkpointed_iteration.txt").decode("ascii", errors="replace"))
    return None if tracker is None else step <= tracker


def _rollouts(folder: Path) -> Rollouts:
    """Samples kept as `<step>.jsonl`. Only the names are read now."""
    if not folder.is_dir():
        return Rollouts()
    files = {int(file.stem): file for file in folder.glob("*.jsonl") if file.stem.isascii() and file.stem.isdigit()}
    return Rollouts(tuple(sorted(files)), lambda step: _samples(files[step], step))


def _samples(file: Path, step: int) -> tuple[Rollout, ...]:
    """The samples of one step; a line that is torn or no sample is left out, since the last file may be short."""
    samples = []
    for line in _bytes(file).splitlines():
        sample = _parsed(line)
        if "output" in sample:
            score = as_number(sample.get("score"))
            samples.append(
                Rollout(
                    step,
                    str(sample.get("input", "")),
                    str(sample["output"]),
                    float("nan") if score is None else score,
                    as_step(sample.get("group")),
                )
            )
    return tuple(samples)


def _config(file: Path) -> Config:
    """The settings of a run. A Hugging Face folder holds a `config.json` too, of the model: it names no algorithm."""
    raw = _mapping(file)
    if not isinstance(algorithm := raw.get("algo"), str):
        return Config()
    epochs, parts = as_number(raw.get("mu")) or 0.0, as_number(raw.get("mini")) or 0.0
    return Config(
        algorithm=algorithm,
        kl_coefficient=as_number(raw.get("beta", "")),
        updates_per_batch=epochs * parts if epochs > 0 and parts > 0 else None,
        group_size=as_step(raw.get("G")),
        planned_steps=as_step(raw.get("steps")),
        learning_rate=as_number(raw.get("lr", "")),
        raw=raw,
    )


def _mapping(file: Path) -> dict[str, object]:
    return _parsed(_bytes(file))


def _parsed(data: bytes) -> dict[str, object]:
    try:
        value = loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
