"""Saved states of the policy: how each framework names them, and whether they are whole by the framework's own mark.

A mark is what the framework writes last. Where there is none, `complete` stays None: a folder that
exists proves nothing, and neither does one that has stopped growing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ..records import dataclass
from ..run import Checkpoint
from .number import as_step, content_of, object_in

STATE_LIMIT = 1 << 28  # bytes of a JSON file we are ready to look into
SHARD = re.compile(r"(?P<kind>model|optim|extra_state)_world_size_(?P<world>\d+)_rank_(?P<rank>\d+)\.pt$")
TRACKER = "latest_checkpointed_iteration.txt"  # what verl and Megatron write last
RLLIB = ("rllib_checkpoint.json", "algorithm_state.pkl")
ZERO_RANK = re.compile(r"(?:bf16_)?zero_pp_rank_(?P<rank>\d+)_mp_rank_(?P<kind>\d+)")


@dataclass(frozen=True, slots=True)
class Naming:
    """How a framework calls its states, and how it marks a whole one."""

    pattern: re.Pattern[str]
    whole: Callable[[Path, int], bool | None]  # is the state at this path, of this step, whole?
    folder: bool = True  # else a single file


def find(saved: Iterable[Path], files: Iterable[Path], last_step: int | None) -> tuple[Checkpoint, ...]:
    """Return the saved states at these places, and those that a list among `files` names, one a step: of several
    (actor and critic, weights exported beside) the one a run would be resumed from, and a whole one before a partial
    one. `last_step` is where the log ends: some are saved there without a step."""
    found: list[Checkpoint] = []
    counted: dict[Path, list[Checkpoint]] = {}  # those of RLlib, whose names say how many there were before
    for place in saved:
        state = recognise(place) or without_step(place, last_step)
        if state is not None:
            (counted.setdefault(place.parent, []) if place.name.startswith("checkpoint_") else found).append(state)
    for folder, states in counted.items():
        found += rllib_iterations(states, folder / "result.json")
    for file in files:
        found += from_list(file) if file.name == "checkpoints.jsonl" else ()
    best: dict[int, Checkpoint] = {}
    for one in sorted(found, key=lambda one: one.path):
        other = best.get(one.step)
        if other is None or _rank(one) < _rank(other):
            best[one.step] = one
    return tuple(best[step] for step in sorted(best))


def recognise(place: Path) -> Checkpoint | None:
    """Return the saved state at a path, told by its name and what lies in it; None if it is none."""
    for naming in NAMINGS:
        if (name := naming.pattern.fullmatch(place.name)) and len(name["step"]) < 16:
            try:
                if place.is_dir() != naming.folder or _is_something_else(place):
                    return None
                return Checkpoint(int(name["step"]), str(place), naming.whole(place, int(name["step"])))
            except OSError:  # not ours to look into
                return Checkpoint(int(name["step"]), str(place), None)
    return None


def looks_saved(name: str) -> bool:
    """Return whether a folder of that name is a saved state, which a search for logs need not enter deeply."""
    return any(naming.folder and naming.pattern.fullmatch(name) for naming in NAMINGS)


def _rank(one: Checkpoint) -> tuple[object, ...]:
    place = Path(one.path)
    lesser = any(part in ("critic", "_critic", "pipeline", "reference", "weights") for part in place.parts[-2:-1])
    export = place.name.endswith("_hf")
    actor = "actor" in place.parent.name
    return ({True: 0, None: 1, False: 2}[one.complete], lesser, export, not actor, len(place.parts), one.path)


def _is_something_else(place: Path) -> bool:
    """Return whether other things are kept under the name of a state: samples, weights on their way to the sampler."""
    if place.parent.name in ("rollouts", "broadcasts"):
        return True
    if place.name.startswith("old_"):  # NeMo RL: what `step_N` is about to replace
        return place.with_name(place.name.removeprefix("old_")).exists()
    if place.name.startswith("step_") and "checkpoint" not in place.parent.name and place.parent.name != "weights":
        held = {one.name for one in _children(place)}
        return not held & {"training_info.json", "policy", "trainer"} and not any(
            name.endswith((".safetensors", ".bin", ".index.json")) for name in held
        )
    return False


# TRL and the HF Trainer, Unsloth, ms-swift; ROLL


def _trainer(place: Path, step: int) -> bool | None:
    if (place.parent.parent / "pipeline").is_dir() and not (place / "trainer_state.json").exists():
        # ROLL: clusters write first, the pipeline last
        return (place.parent.parent / "pipeline" / place.name / "pipeline").exists()
    state = content_of(place / "trainer_state.json", STATE_LIMIT).strip()
    if not (state.startswith(b"{") and state.endswith(b"}") and state.count(b"{") == state.count(b"}")):
        return False  # it was not written to its end
    if _all_shards(place) is False:
        return False
    latest = place / "latest"  # of DeepSpeed inside a Trainer: it names a folder that must be there
    if latest.is_file() and not (place / _text(latest)).is_dir():
        return False
    # The weights are written before the optimizer's state, and may have been removed since.
    weights = {file.name for file in _children(place) if file.suffix in (".safetensors", ".bin")}
    return not (place / "optimizer.pt").is_file() or bool(weights - {"training_args.bin"})


def _all_shards(place: Path) -> bool | None:
    """Return whether each file that a weight index names is there; None if no index tells."""
    told = None
    for index in sorted(place.glob("*.index.json")):
        shards = (object_in(content_of(index, STATE_LIMIT)) or {}).get("weight_map")
        if not isinstance(shards, dict):
            return False
        told = all((place / str(shard)).is_file() for shard in set(shards.values()))
        if not told:
            return False
    return told


# verl, rLLM; SkyRL


def _global_step(place: Path, step: int) -> bool | None:
    sky = place.parent / "latest_ckpt_global_step.txt"
    if sky.is_file() or (place / "policy").is_dir() or (place / "trainer_state.pt").exists():
        if not ((place / "policy").is_dir() and (place / "trainer_state.pt").exists()):
            return False
        return _up_to(sky, step)
    # verl: the weights, then data.pt, then the tracker file. Rotation removes the weights and leaves the rest.
    roles = [place / role for role in ("actor", "critic") if (place / role).is_dir()]
    if not roles or not (place / "data.pt").is_file() or not all(_whole_role(role) for role in roles):
        return False
    return _up_to(place.parent / TRACKER, step)


def _whole_role(role: Path) -> bool:
    """FSDP writes one file a rank for each of model, optimizer and extra state (those that were asked for); Megatron
    writes the metadata of a distributed checkpoint last."""
    if (told := _every_rank(role, SHARD)) is not None:
        return told
    for distributed in (role / "dist_ckpt", role / "model" / "dist_ckpt"):
        if distributed.is_dir():
            return _has_metadata(distributed)
    return any(_children(role))


def _every_rank(place: Path, shard: re.Pattern[str]) -> bool | None:
    """Return whether each kind of shard is there from every rank: of as many as it names, else up to the last one that
    is there; None if there are none."""
    ranks: dict[tuple[str | None, ...], set[int]] = {}
    for name in filter(None, (shard.match(file.name) for file in _children(place))):
        ranks.setdefault((name["kind"], name.groupdict().get("world")), set()).add(int(name["rank"]))
    every = (seen == set(range(int(world or max(seen) + 1))) for (_, world), seen in ranks.items())
    return all(every) if ranks else None


def _has_metadata(place: Path) -> bool:
    """torch and Megatron write the table of contents of a distributed checkpoint last."""
    return _any_file(place, ".metadata", "metadata.json")


def _any_file(place: Path, *names: str) -> bool:
    return any((place / name).is_file() for name in names)


def _up_to(tracker: Path, step: int) -> bool | None:
    """Return whether a text file that is written last names this step or a later one; None if it does not exist."""
    if not tracker.is_file():
        return None
    last = re.search(r"(\d+)$", _text(tracker))
    return last is not None and step <= int(last[1])


# DeepSpeed: OpenRLHF, open-instruct


def _deepspeed(place: Path, step: int) -> bool | None:
    if not any("mp_rank_" in file.name for file in _children(place)) or _every_rank(place, ZERO_RANK) is False:
        return False
    return _up_to(place.parent / "latest", step) or False  # the tag is written after the first state is whole


def _export(place: Path, step: int) -> bool | None:
    """Weights exported for inference: whole when the index says so, else by the lengths inside the file."""
    if (told := _all_shards(place)) is not None:
        return told
    single = sorted(place.glob("*.safetensors"))
    if not single:
        return None if any(place.glob("*.bin")) else False
    lengths = [_whole_safetensors(file) for file in single]
    return False if False in lengths else None if None in lengths else True


def _whole_safetensors(file: Path) -> bool | None:
    """Return whether the file is as long as its own header says; None if the header cannot be read."""
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(8), "little")
            if not 2 <= length <= STATE_LIMIT:
                return None
            header = object_in(opened.read(length))
            size = file.stat().st_size
    except OSError:
        return None
    if header is None:
        return None
    ends = [
        entry["data_offsets"][1]
        for entry in header.values()
        if isinstance(entry, dict) and isinstance(entry.get("data_offsets"), list) and len(entry["data_offsets"]) == 2
    ]
    return all(isinstance(end, int) and 8 + length + end <= size for end in ends)


# NeMo RL, prime-rl, open-instruct: all say step_N


def _step(place: Path, step: int) -> bool | None:
    if place.name.startswith("tmp_"):
        return False  # NeMo RL renames it once it is whole
    if (place / "training_info.json").is_file() or place.name.startswith("old_"):
        return True
    if (place / "trainer").is_dir():  # prime-rl
        return _has_metadata(place / "trainer") or any(map(_has_metadata, _children(place / "trainer")))
    if place.parent.name == "weights":  # prime-rl, for the inference engine
        return (place / "STABLE").exists()
    return _export(place, step)


def _aligner(place: Path, step: int) -> bool | None:
    """NeMo 1 puts a marker beside a state while it is written."""
    stem = re.sub(r"\.(?:ckpt|nemo)$", "", place.name)
    return not place.with_name(f"{stem}-unfinished").exists()


# Classical RL


def _zip(place: Path, step: int) -> bool | None:
    """Return whether a zip file is whole: it ends with its table of contents."""
    import zipfile  # here, as few runs keep one

    try:
        return zipfile.is_zipfile(place) if place.stat().st_size else None  # empty: a stand-in for a remote file
    except OSError:
        return None


NAMINGS: tuple[Naming, ...] = (
    Naming(re.compile(r"checkpoint-(?P<step>\d+)"), _trainer),
    Naming(re.compile(r"global_step_(?P<step>\d+)"), _global_step),
    Naming(re.compile(r"(?:best_)?global_step(?P<step>\d+)"), _deepspeed),
    Naming(re.compile(r"global_step(?P<step>\d+)_hf"), _export),
    Naming(re.compile(r"(?:tmp_|old_)?step_(?P<step>\d+)"), _step),
    Naming(re.compile(r"step-(?P<step>\d+)"), lambda place, _: _has_metadata(place)),
    Naming(re.compile(r"iter_(?P<step>\d{7,})"), lambda place, step: _up_to(place.parent / TRACKER, step)),  # Megatron
    Naming(re.compile(r"epoch\d+epochstep\d+globalstep(?P<step>\d+)"), _export),
    Naming(re.compile(r"checkpoint_(?P<step>\d{6})"), lambda place, _: _any_file(place, *RLLIB)),
    Naming(re.compile(r".*step=(?P<step>\d+)-consumed_samples=[\d.]+(?:-last)?"), _aligner),
    Naming(re.compile(r".*step=(?P<step>\d+)\b[^/]*\.(?:ckpt|nemo)"), _aligner, folder=False),
    Naming(re.compile(r".*_(?P<step>\d+)_steps\.zip"), _zip, folder=False),
)


def without_step(place: Path, last_step: int | None = None) -> Checkpoint | None:
    """Return a state whose name tells no step. Stable-baselines3 keeps the count in a JSON part of its zip; it is the
    only part that is opened, the others are pickles. CleanRL saves once, at the end."""
    if place.name.endswith(".cleanrl_model"):
        return None if last_step is None else Checkpoint(last_step, str(place), _zip(place, 0))
    if place.suffix != ".zip":
        return None
    import zipfile

    try:
        with zipfile.ZipFile(place) as archive:
            if "data" not in archive.namelist() or archive.getinfo("data").file_size > STATE_LIMIT:
                return None
            data = object_in(archive.read("data")) or {}
    except (OSError, ValueError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError):
        return None
    step = as_step(data.get("num_timesteps", ""))
    return None if step is None else Checkpoint(step, str(place), True)


def from_list(file: Path) -> tuple[Checkpoint, ...]:
    """Return the states that a `checkpoints.jsonl` of tinker-cookbook or of our own journal names: a record exists only
    once the save is over. States on this disk may have been removed since, and are asked themselves."""
    found = []
    for line in content_of(file, STATE_LIMIT).splitlines():
        record = object_in(line)
        if record is None or "name" not in record:
            continue
        step = as_step(record.get("batch", record.get("step", "")))
        path = record.get("state_path") or record.get("sampler_path")
        if step is None or not isinstance(path, str):
            continue
        if "://" in path or not (place := Path(path)).is_absolute():
            found.append(Checkpoint(step, path, True))
        elif place.exists():
            known = recognise(place)
            found.append(Checkpoint(step, path, None if known is None else known.complete))
    return tuple(found)


def rllib_iterations(found: Iterable[Checkpoint], result_file: Path) -> tuple[Checkpoint, ...]:
    """RLlib states by training iteration. Tune counts the states themselves; `result.json` says which is which."""
    counted = {
        name: int(step)
        for line in content_of(result_file, STATE_LIMIT).splitlines()
        for name in re.findall(rb'"checkpoint_dir_name": ?"(checkpoint_\d+)"', line)
        for step in re.findall(rb'"training_iteration": ?(\d+)', line)[:1]
    }
    return tuple(
        Checkpoint(counted.get(Path(one.path).name.encode(), one.step), one.path, one.complete) for one in found
    )


def _children(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir())
    except OSError:
        return []


def _text(file: Path) -> str:
    return content_of(file, 256).decode("utf-8", errors="replace").strip()
