"""How frameworks keep samples: a path that names the step, and what a record in such a file is. A new one is an entry
in DUMPS; only what cannot be told by the path and the fields of a record needs lines of its own."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...digits import exact_sum
from . import many_steps, parquet
from .fields import response_of, samples_in
from .sample import GROUPS, OUTPUTS, PROMPTS, SCORES, FoundSamples, Raw, first, group_of, score_of, text_of
from .sampling import MOST, parsed, records

HELD_OUT = ("val", "eval", "test")  # how people call the folder of validation samples
LARGEST = 1 << 27  # bytes of a step that is one JSON object, so that there is no reading a part of it
NO_REWARD = ("step", "prompt", "completion", "advantage", "images")  # columns of TRL that are none of a reward
SHARDS = re.compile(r".+_rollouts_\d{6}\.jsonl")


@dataclass(frozen=True, slots=True)
class Dump:
    """How one framework keeps samples: `path` names the `step`, perhaps the `split`, and `which` of several files."""

    NAME: str
    path: re.Pattern[str]
    samples: Callable[[Path], Iterator[Raw]]
    of_training: tuple[str, ...] = ()  # splits; none: all but those in a folder that says held out
    first: str = ""  # which of several files of one step stands, where it is there; else all of them do
    latest: bool = False  # of several files of one step the last stands: a run that was resumed wrote it again

    def index(self, files: Sequence[Path]) -> FoundSamples:
        found = FoundSamples()
        named = [(file, name) for file in sorted(files) if (name := self.path.search(file.as_posix()))]
        if self.path.pattern.endswith("parquet$") and not parquet.at_hand([file for file, _ in named], found.notes):
            return found
        held: dict[tuple[int, bool], list[tuple[str, Path]]] = {}
        for file, name in named:
            if file.suffix == ".parquet" and not parquet.whole(file):
                found.notes.append(f"{file.name} breaks off and was left out")
                continue
            told = name.groupdict()
            aside = any(word in file.parent.name.lower() for word in HELD_OUT)
            evaluation = told["split"] not in self.of_training if "split" in told else aside
            held.setdefault((int(told["step"]), evaluation), []).append((told.get("which", ""), file))
        for (step, evaluation), places in held.items():
            kept = [file for _, file in places]
            if self.first:
                kept = [file for which, file in places if which == self.first] or kept[:1]
            for file in kept[-1:] if self.latest else kept:
                found.add(step, file, evaluation=evaluation)
        return found

    def read(self, place: object, step: int) -> Iterator[Raw]:
        assert isinstance(place, Path)
        yield from self.samples(place)


class TokenShards:
    """open-instruct with `save_traces`: `<run>_rollouts_000000.jsonl`, shards of all steps. They hold token ids, no
    text: the ids stay numbers, by which groups, lengths and repetition can still be told."""

    NAME = "open_instruct"

    def index(self, files: Sequence[Path]) -> FoundSamples:
        found = many_steps.index(sorted(file for file in files if SHARDS.fullmatch(file.name)), steps=("step",))
        if found.training:
            found.notes.append("the samples hold token ids, not text")
        return found

    def read(self, place: object, step: int) -> Iterator[Raw]:
        for one in many_steps.at(place):
            if "response_tokens" in one:
                prompt, output = text_of(one.get("prompt_tokens")), text_of(one["response_tokens"])
                yield Raw(prompt, output, score_of(one.get("reward", "")), group_of(one.get("prompt_idx")))


def _lines(file: Path) -> Iterator[Raw]:
    yield from samples_in(records(file))


def _trl(file: Path) -> Iterator[Raw]:
    """One column a reward function, no total: TRL adds them up by weights that default to one, and so does this."""
    for row in parquet.rows(file, MOST):
        if "completion" not in row:
            return
        numbers = (value for name, value in row.items() if name not in NO_REWARD and type(value) in (int, float))
        told = [float(value) for value in numbers if not math.isnan(value)]  # None and NaN: it does not apply
        score = score_of(row["reward"]) if "reward" in row else exact_sum(told) if told else math.nan
        yield Raw(text_of(row.get("prompt")), response_of(row["completion"]), score)


def _nemo_rl(file: Path) -> Iterator[Raw]:
    """Values wrapped in lists of one."""
    for record in records(file):
        content = record.get("content")
        while isinstance(content, list) and len(content) == 1 and isinstance(content[0], list):
            content = content[0]
        if content is not None:
            parts = content if isinstance(content, list) else [content]
            score = score_of(record.get("rewards", record.get("reward", "")))
            yield Raw(text_of(parts[:-1]), text_of(parts[-1:]), score, group_of(record.get("prompt_idx")))


def _prime_rl(file: Path) -> Iterator[Raw]:
    yield from samples_in(trace for record in records(file) for trace in _traces(record))


def _traces(record: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """A record is a trace, or an episode that holds several and says what group they belong to."""
    traces = record.get("traces")
    if not isinstance(traces, list):
        yield record
        return
    shared = {key: record[key] for key in (*GROUPS, *PROMPTS, *SCORES) if key in record}
    yield from ({**shared, **trace} for trace in traces if isinstance(trace, dict))


def _roll(file: Path) -> Iterator[Raw]:
    """One JSON object of columns (`prompt`, `responses`, `scores`)."""
    if file.stat().st_size > LARGEST:
        return
    with file.open("rb") as opened:
        for line in opened:
            columns = parsed(line)
            outputs = columns.get("responses") if columns else None
            if columns is None or not isinstance(outputs, list):
                continue
            held = [columns.get(name) for name in ("prompt", "scores", "id")]
            fit = [one if isinstance(one, list) and len(one) == len(outputs) else [None] * len(outputs) for one in held]
            for output, prompt, score, group in zip(outputs, *fit, strict=True):
                yield Raw(text_of(prompt), response_of(output), score_of(score), group_of(group))


def _tinker(file: Path) -> Iterator[Raw]:
    """Text only where an environment logged it, turn by turn."""
    for record in records(file):
        turns = record.get("steps")
        logs = [turn.get("logs") for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
        said = [{str(key).lower(): value for key, value in one.items()} for one in logs if isinstance(one, dict)]
        prompt = next((text_of(first(one, PROMPTS)) for one in said if first(one, PROMPTS) is not None), "")
        output = "\n".join(text_of(first(one, OUTPUTS)) for one in said if first(one, OUTPUTS) is not None)
        if "total_reward" in record:
            yield Raw(prompt, output, score_of(record["total_reward"]), group_of(record.get("group_idx")))


def _areal(file: Path) -> Iterator[Raw]:
    """A file a prompt, so a file is a group."""
    for sample in samples_in(records(file, budget=1 << 20)):  # there are as many files as prompts
        yield sample if sample.group is not None else replace(sample, group=file.stem)


def _dump(name: str, path: str, samples: Callable[[Path], Iterator[Raw]] = _lines, *of_training: str) -> Dump:
    return Dump(name, re.compile(rf"(?:^|/){path}$"), samples, of_training)


DUMPS = (
    _dump("trl", r"completions_(?P<step>\d+)\.parquet", _trl),
    replace(_dump("nemo_rl", r"(?P<split>train|val)_data_step(?P<step>\d+)\.jsonl", _nemo_rl, "train"), latest=True),
    # Training batches of SkyRL are pickles, which are not opened.
    _dump("skyrl", r"(?P<split>global)_step_(?P<step>\d+)_evals/(?!aggregated_results\.)[^/]+\.jsonl"),
    # `effective` holds what was left after filtering: it is biased, and read only where nothing else was kept.
    replace(
        _dump(
            "prime_rl", r"step_(?P<step>\d+)/(?P<split>train|eval)/(?P<which>[^/]+)/traces\.jsonl", _prime_rl, "train"
        ),
        first="all",
    ),
    _dump("roll", r"rollout_dump_data\.step_(?P<step>\d+)\.jsonl", _roll),
    _dump("tinker", r"iteration_(?P<step>\d+)/(?P<split>train|)[^/]*_rollout_summaries\.jsonl", _tinker, "train"),
    TokenShards(),
    _dump("areal", r"(?P<split>rollout|eval-rollout)/(?P<step>\d+)/[^/]+\.jsonl", _areal, "rollout"),
    # verl, rLLM and slime: one object a sample, such as `input`, `output`, `score`, `step`.
    _dump("verl", r"(?P<step>[0-9]{1,11})\.jsonl"),
)
