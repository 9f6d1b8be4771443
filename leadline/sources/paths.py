"""What a path says before anything is opened: samples, evaluations, settings, the machine, a part of a run, a step."""

from __future__ import annotations

import re
from pathlib import Path

from ..vocabulary.names import listed, tokens
from .checkpoints import looks_saved

# Kinds of files.
WEIGHTS = {".safetensors", ".bin", ".pt", ".pth", ".distcp", ".gguf", ".onnx", ".pkl", ".npy", ".npz"}
STATES = {".zip", ".cleanrl_model", ".ckpt", ".nemo"}  # states that are single files
NO_LOGS = {*listed("no log")}  # of our own sidecar, of trackers, of tokenizers
NO_SUFFIX = {".py", ".sh", ".html", ".toml", ".lock", ".cfg", ".ini", ".yaml", ".yml"}  # people's own files
NO_SUFFIX |= {".png", ".jpg", ".jpeg", ".gif", ".svg", ".mp4", ".pdf", ".model", ".jinja", ".arrow", ".tar", ".whl"}
NO_SUFFIX |= {".part"}  # not yet whole, or left by a kill (`state.replacing`)
NO_SUFFIX |= {".js", ".jsx", ".ts", ".tsx", ".css", ".c", ".cc", ".cpp", ".cu", ".h", ".rs", ".go", ".java"}
DIGITS = re.compile(r"\d+")
LOGGED = re.compile(
    r"log|metric|histor|train|progress|result|reward|scalar|state|stat|eval|curve|monitor", re.IGNORECASE
)
SETTINGS = re.compile(
    r"config\.(?:json|ya?ml)|args\.(?:json|ya?ml)|params\.json|training_args\.json|hparams\.ya?ml|config\.yml"
    r"|hyperparameters\.(?:json|ya?ml)|(?:ds|deepspeed).*config.*\.json|.*\.toml|README\.md"
)
MACHINE = re.compile(
    r"(?:nvidia|gpu|smi|dmon|phases|processes|metrics).*\.(?:csv|txt|log|jsonl|gz)$",
    re.IGNORECASE,
)
KEPT = re.compile(
    r"rollout|sample|completion|generat(?:ion|ed)|trajector|transcript|trace|dump|episode|respons|conversation",
    re.IGNORECASE,
)
NUMBERS = re.compile(r"metric|log|stat|summar|config|result", re.IGNORECASE)  # files of numbers in such a folder
OF_FOLDERS = {*listed("of folders")}  # words in the names of folders that evaluations are kept in
OF_THE_LAST = {"final", "prediction", "predictions", "preds", "trained", "inference", "best"}
STEP = re.compile(r"(?:step|it|iter|iteration|update|rollout|checkpoint)s?[_\-=]?(\d{1,9})(?!\d)", re.IGNORECASE)
COUNT = re.compile(  # before a number that is all of a name
    r"^(?:global_?)?(?:step|iter|iteration|update|epoch|batch|checkpoint|ckpt)[ _-]?", re.IGNORECASE
)
# Numbers in names that count something else: `sampler_s47`, `seed_3`, `rank0`.
NO_STEP = re.compile(r"(?<![a-z])(?:seed|s|rank|worker|gpu|run|part|shard|split|fold|v)[_-]?\d+", re.IGNORECASE)
LAST_NUMBER = re.compile(r"(?<!\d)(\d{1,9})$")
DATE = re.compile(
    r"(?<!\d)20\d\d[-_.]?[01]\d[-_.]?[0-3]\d(?:[T_ -]?\d\d[-_:.]?\d\d[-_:.]?\d\d(?:[-.,]\d+)?)?(?!\d)"
    r"|(?<!\d)[01]\d-?[0-3]\dT\d\d[-_:.]?\d\d(?:[-_:.]?\d+)?(?!\d)"  # without a year
)
# Folders, and words in names.
TRACKERS = {"wandb", "swanlog", "files", "logs", "tensorboard", "tb", "tensorboard_log", "mlruns"}
PARTS = {"eval", "evals", "evaluation", "val", "validation", "train", "training", "metrics"}
OF_THE_RUN = (*listed("of a run"),)
ROTATED = re.compile(r"[.-][\d_-]{1,24}(?:\.gz)?")  # how a log that was moved out of the way ends: `.1`, `-20261115.gz`
EVALUATIONS = {"eval", "probe", "probes", "benchmark", "benchmarks", "bench"}
# Words of no file in particular, by which two names do not differ.
OF_FILES = {"log", "logs", "metric", "metrics", "history", "results", "result", "train", "stats", "curve", "data"}


def may_hold_settings(path: Path) -> bool:
    """Return whether a file of that name may hold settings."""
    return SETTINGS.fullmatch(path.name) is not None and path.name != "leadline.toml"


def keeps_samples(file: Path) -> bool:
    """Return whether the path says that samples are kept there."""
    if file.suffix not in (".jsonl", ".json", ".txt", ".csv", ".parquet") or NUMBERS.search(file.stem):
        return False
    return any(KEPT.search(name) for name in _names(file))


def of_the_last(file: Path) -> bool:
    """Return whether the name of a file says that it is of the final model."""
    return bool({*tokens(file.stem)} & OF_THE_LAST)


def is_held_out(file: Path) -> bool:
    """Return whether the path says that a file is of an evaluation: its name, or a folder that is called so and no
    more, since a run may be called `test_of_a_new_reward`."""
    name, *folders = (set(tokens(name)) for name in _names(file))
    return "eval" in name or any(
        "eval" in said and all(word in OF_FOLDERS or word.isdigit() for word in said) for said in folders
    )


def _names(file: Path) -> tuple[str, ...]:
    """Return the names that say what a file is: its own, its folder's, and that of the folder of all steps."""
    folder = file.parent
    return (file.stem, folder.name, *([folder.parent.name] * bool(STEP.fullmatch(folder.name))))


def step_in(file: Path) -> int | None:
    """Return the step in a path: `step_12/samples.jsonl`, `rollouts/12.jsonl`, `generations-00012.jsonl`."""
    name = NO_STEP.sub("", DATE.sub("", file.stem))
    for number in (STEP.search(name), LAST_NUMBER.search(name), *map(STEP.search, file.parts[-2:-4:-1])):
        if number:
            return int(number[1])
    return None


def is_evaluation(file: Path) -> bool:
    """Return whether a path names a file of scores that one step got on held-out prompts."""
    return file.suffix == ".json" and is_held_out(file) and step_in(file) is not None and not keeps_samples(file)


def belongs_to_a_log(name: str) -> bool:
    """Return whether a folder beside a log file is of the same run by its name; a folder of files may hold many
    runs."""
    return looks_saved(name) or any(word in name.lower() for word in OF_THE_RUN)


def is_captured(place: Path) -> bool:
    """Return whether a file is a tracker's own copy of what the run printed."""
    folder = place.absolute().parent
    return (place.name == "output.log" and folder.name == "files" and any(folder.parent.glob("*.wandb"))) or (
        folder.name == "console" and any(folder.parent.glob("*.swanlab"))
    )
