"""Which files and folders below a place may be logs: what is known to be something else is passed over by its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path

from . import rollouts, settings
from .around import machine_files
from .checkpoints import looks_saved
from .evaluations import is_evaluation
from .rollouts import blocks, generic
from .source import Source
from .telemetry import record_of
from .text import head_of
from .walk import Walk

FAMILY = 100  # files of one folder whose names differ by their digits alone; more of them are as the first of them is
NO_LOGS = {  # of our own sidecar, of trackers, of tokenizers
    "answer.json", "sidecar.log", "LEADLINE.md", "checkpoints.jsonl", "timing_spans.jsonl", "debug.log",
    "debug-core.log", "debug-internal.log", "requirements.txt", "wandb-metadata.json", "wandb-summary.json",
    "tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt", "special_tokens_map.json",
    "added_tokens.json", "generation_config.json", "adapter_config.json", "preprocessor_config.json",
    "chat_template.json", "all_results.json", "dataset_infos.json", "latest_checkpointed_iteration.txt",
    "latest_ckpt_global_step.txt", "params.json",
}  # fmt: skip
NO_SUFFIX = {".py", ".sh", ".html", ".toml", ".lock", ".cfg", ".ini"}  # people's own files
NO_SUFFIX |= {".png", ".jpg", ".jpeg", ".gif", ".svg", ".mp4", ".pdf", ".model", ".jinja", ".arrow", ".tar", ".whl"}
DIGITS = re.compile(r"\d+")
LOGGED = re.compile(
    r"log|metric|histor|train|progress|result|reward|scalar|state|stat|eval|curve|monitor", re.IGNORECASE
)


def candidates(seen: Walk, sources: Sequence[Source]) -> list[list[Path]]:
    """Files and tracker folders that may be logs. Samples, settings and records of the machine are none. Where a state
    is kept in every saved one, they are alternatives, the newest first: each holds all that the older ones hold."""
    none = _samples(seen.files)
    none |= {file for file in machine_files(seen.files) if _is_record(file)}
    families = Counter(map(_family, seen.files))
    crowds = {family for family, count in families.items() if count > FAMILY}
    first_of = {family: file for file in reversed(seen.files) if (family := _family(file)) in crowds}
    none |= {file for file in seen.files if _family(file) in crowds and not _is_log(first_of[_family(file)], sources)}
    claimed = _tracker_folders(seen, sources)
    states: dict[tuple[Path, str], list[Path]] = {}
    single = []
    for file in seen.files:
        if file in none or file.name in NO_LOGS or file.suffix in NO_SUFFIX or settings.recognises(file):
            continue
        if file.name.endswith(".table.json"):  # of a tracker
            continue
        if file.suffix == ".md" and not _may_be_a_log(file):
            continue
        if _is_part(file, claimed):
            continue
        if looks_saved(file.parent.name):
            states.setdefault((file.parent.parent, file.name), []).append(file)
        elif not generic.is_samples(file) and not blocks.is_pure(file):
            single.append([file])
    logs = [file for held in single for file in held]
    if not all(is_evaluation(file) for file in (*logs, *(file for files in states.values() for file in files))):
        single = [held for held in single if not is_evaluation(held[0])]
        states = {place: files for place, files in states.items() if not is_evaluation(files[0])}
    single = [held for held in single if not _is_beside_a_log(held[0], logs)]
    if not single and not states and not claimed:  # a console that somebody kept as notes
        single = [[file] for file in seen.files if file.suffix == ".md" and not settings.recognises(file)]
    newest = [sorted(files, key=_state_step, reverse=True) for files in states.values()]
    return [*([folder] for folder in claimed), *single, *newest]


def _family(file: Path) -> tuple[Path, str]:
    return file.parent, DIGITS.sub("#", file.name)


def _is_log(file: Path, sources: Sequence[Source]) -> bool:
    """Whether a file that stands for many of its name begins with several rows, and not with samples."""
    try:
        head = head_of(file)
        source = recognised(file, head, sources)
        parser = getattr(source, "parser", None)
        if parser is None or generic.is_samples(file):
            return parser is None and source is not None
        begun = parser()
        begun.feed(head)
    except OSError:
        return False
    return len(begun.log().table) > 1


def _samples(files: Sequence[Path]) -> set[Path]:
    """Files that keep samples. Each folder is also asked about by itself: of one run, a format may take only the last
    file of a step."""
    by_folder: dict[Path, list[Path]] = {}
    for file in files:
        by_folder.setdefault(file.parent, []).append(file)
    lots = [files, *by_folder.values()] if len(by_folder) > 1 else [files]
    known = [form for form in rollouts.FORMATS if form not in (generic, blocks)]
    return {place for form in known for lot in lots for place in files_of(form.index(lot))}


def files_of(found: rollouts.FoundSamples) -> set[Path]:
    """The files that samples were found in."""
    places = [place for by_step in (found.training, found.evaluation) for held in by_step.values() for place in held]
    return {place if isinstance(place, Path) else place.file for place in places}  # type: ignore[attr-defined]


def _tracker_folders(seen: Walk, sources: Sequence[Source]) -> dict[Path, None]:
    """Folders that are one log as a whole, by a file in them that says so."""
    marked = dict.fromkeys(
        file.parent for file in seen.files if ".tfevents." in file.name or (file.name == "meta.yaml")
    )
    outer = {folder.parent for folder in marked if (folder / "meta.yaml").is_file()}  # an MLflow experiment holds runs
    return {folder: None for folder in marked if folder not in outer and recognised(folder, b"", sources)}


def _may_be_a_log(page: Path) -> bool:
    """Whether a page of Markdown is a log by its name, such as `20251225.md`, and not somebody's text."""
    return LOGGED.search(page.stem) is not None or re.search("[A-Za-z]", page.stem) is None


def _is_beside_a_log(file: Path, others: Sequence[Path]) -> bool:
    """Whether a JSON document that does not call itself a log lies in the folder of a file that may be one: it is then
    somebody's notes on the run, such as its outcome, which a reading must not know."""
    if file.suffix != ".json" or LOGGED.search(file.stem):
        return False
    return any(
        other.parent == file.parent and (other.suffix != ".json" or LOGGED.search(other.stem)) for other in others
    )


def _is_part(file: Path, claimed: Container[Path]) -> bool:
    """Whether a file belongs to a folder that is read as a whole."""
    if ".tfevents." in file.name:
        return file.parent in claimed
    return any(folder in claimed and (folder / "meta.yaml").is_file() for folder in file.parents)


def _state_step(file: Path) -> int:
    return int((DIGITS.findall(file.parent.name) or ["0"])[-1][:15])


def _is_record(file: Path) -> bool:
    """Whether a file records what the machine did."""
    try:
        return record_of(file, head_of(file)) is not None
    except OSError:
        return False


def recognised(place: Path, head: bytes, sources: Sequence[Source]) -> Source | None:
    """The source that reads a file or tracker folder."""
    return next((source for source in sources if source.recognises(place, head)), None)
