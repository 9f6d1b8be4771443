"""The fields of a sample: which holds the prompt, the response, the score. By name, a word in it, else by content."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from ...vocabulary.names import tokens
from ..number import as_number
from .sample import GROUPS, OUTPUTS, PROMPTS, SCORES, Raw, group_of, score_of, text_of

LOOKED_AT = 32  # records by which the fields of a file are known
DEEPEST = 3  # records within records
PROSE = 3  # words of a text whose field has a name that says nothing

OUTPUT_WORDS = {"output", "completion", "response", "generation", "transcript", "trajectory", "prediction", "reply"}
PROMPT_WORDS = {"prompt", "input", "question", "query", "problem", "instruction", "task"}
SCORE_WORDS = {"score", "reward", "return", "accuracy", "correct", "success", "pass", "grade"}
TOTALS = {"total", "final", "overall"}
# Fields about a sample that are neither its text nor its score.
ASIDE = {
    "id", "ids", "idx", "index", "uid", "uuid", "hash", "step", "iteration", "epoch", "seed", "rank", "version", "time",
    "timestamp", "date", "length", "token", "count", "num", "n", "max", "min", "std", "logprob", "logprobs", "logp",
    "advantage", "kl", "temperature", "turn", "turns", "model", "name", "dataset", "source", "split", "type", "status",
    "path", "file", "reason", "error", "mask", "weight",
}  # fmt: skip
# What a response is compared with, or what was taken from it.
REFERENCE = {
    "gold", "golden", "reference", "ref", "ground", "truth", "gt", "gts", "target", "label", "expected", "true",
}  # fmt: skip
TAKEN = {"extracted", "parsed", "format", "clipped", "truncated"}
POLICY = {"assistant", "gpt", "model", "agent", "policy"}  # roles of a chat that the policy speaks in
OTHERS = {
    "tool", "function", "ipython", "observation", "environment", "env", "user", "human", "system", "developer",
}  # fmt: skip
OPEN, CLOSE = "<tool_response>", "</tool_response>"  # as evidence/parting.py knows them

Record = Mapping[str, object]
Path = tuple[str, ...]  # of keys, from the record inwards


@dataclass(frozen=True, slots=True)
class Fields:
    """Where in a record the parts of a sample are; a chat holds both its prompt and its response."""

    output: Path
    prompt: Path | None
    score: Path | None
    group: Path | None

    def sample(self, record: Record) -> Raw | None:
        """The sample in a record; None when its response is missing."""
        output = _at(record, self.output)
        if output is None:
            return None
        before, response = _turns(output)
        if response is None and self.prompt is None:
            return None
        return Raw(
            text_of(before if self.prompt is None else _at(record, self.prompt)),
            response_of(output if response is None else response),
            score_of(_at(record, self.score)) if self.score else math.nan,
            group_of(_at(record, self.group)) if self.group else None,
        )


def response_of(value: object) -> str:
    """Return the text of a response. In a chat, turns of tools and users are marked as what the policy did not write.

    >>> response_of([{"role": "assistant", "content": "look"}, {"role": "tool", "content": "41"}])
    'look\\n<tool_response>41</tool_response>'
    """
    if not isinstance(value, list) or not _is_chat(value):
        return text_of(value)
    said = ((_role(turn) in OTHERS, text_of(_message(turn))) for turn in value)
    return "\n".join(f"{OPEN}{text.replace(CLOSE, '')}{CLOSE}" if other else text for other, text in said if text)


def samples_in(records: Iterable[Record], *, guessed: bool = True) -> Iterator[Raw]:
    """The samples among records. `guessed`: fields whose names say nothing may be known by what they hold."""
    rest = iter(records)
    first = list(islice(rest, LOOKED_AT))
    fields = fields_of(first, guessed=guessed)
    for record in chain(first, rest):
        sample = fields.sample(record) if fields else None
        if sample is None and (own := fields_of([record], guessed=guessed)) is not None:
            sample = own.sample(record)  # a file may hold records of several makes
        if sample is not None:
            yield sample


def fields_of(records: Sequence[Record], *, guessed: bool = True) -> Fields | None:
    """The fields of the samples that these records are; None when they hold no response."""
    columns: dict[Path, list[object]] = {}
    for record in records:
        for path, value in _leaves(record):
            columns.setdefault(path, []).append(value)
    texts = [path for path, values in columns.items() if any(_is_text(value) for value in values)]
    numbers = [path for path, values in columns.items() if any(as_number(value) is not None for value in values)]
    output = _named(texts, OUTPUTS, OUTPUT_WORDS)
    prompt = _named([path for path in texts if path != output], PROMPTS, PROMPT_WORDS)
    if output is None and prompt is None:
        output = next((path for path in texts if any(_is_chat(value) for value in columns[path])), None)
    if output is None and guessed:
        output, prompt = _by_content({path: columns[path] for path in texts}, prompt)
    if output is None:
        return None
    return Fields(output, prompt, _score(numbers, columns, guessed), _exact(list(columns), GROUPS))


def _leaves(record: Record, above: Path = ()) -> Iterator[tuple[Path, object]]:
    """All that a record holds, and where; a message stays whole."""
    for key, value in record.items():
        path = (*above, str(key))
        if isinstance(value, Mapping) and "content" not in value and len(path) < DEEPEST:
            yield from _leaves(value, path)
        else:
            yield path, value


def _at(record: Record, path: Path) -> object:
    value: object = record
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def _is_text(value: object) -> bool:
    """Whether a value is text, a message, a chat, or token ids."""
    if isinstance(value, str) or _is_chat(value):
        return True
    if isinstance(value, Mapping):
        return isinstance(value.get("content"), str)
    if isinstance(value, Sequence) and not isinstance(value, bytes) and value:
        return all(isinstance(one, (str, Mapping)) or type(one) is int for one in value) and bool(text_of(value))
    return False


def _is_chat(value: object) -> bool:
    return isinstance(value, list) and any(_role(turn) for turn in value)


def _role(turn: object) -> str:
    """The role in which a turn of a chat is spoken; "" for anything else."""
    said = _message(turn)
    role = (said.get("role") or said.get("from")) if isinstance(said, Mapping) else None
    return role.lower() if isinstance(role, str) else ""


def _message(turn: object) -> object:
    return turn.get("message", turn) if isinstance(turn, Mapping) else turn


def _turns(value: object) -> tuple[object, object]:
    """A chat parted where the policy first speaks, without a response where it never does. All of anything else is the
    response."""
    if not isinstance(value, list) or not _is_chat(value):
        return "", value
    spoken = [place for place, turn in enumerate(value) if _role(turn) in POLICY]
    turns = [_message(turn) for turn in value]
    return (turns[: spoken[0]], turns[spoken[0] :]) if spoken else (turns, None)


def _named(paths: Sequence[Path], names: Sequence[str], meant: set[str]) -> Path | None:
    """The field of a usual name, else the first one with a word that means the same."""
    if (exact := _exact(paths, names)) is not None:
        return exact
    return next((path for path in paths if (said := set(tokens(path[-1]))) & meant and _speaks(said)), None)


def _exact(paths: Sequence[Path], names: Sequence[str]) -> Path | None:
    by_name = {path[-1]: path for path in sorted(paths, key=len, reverse=True)}  # the outermost of a name stands
    return next((by_name[name] for name in names if name in by_name), None)


def _speaks(said: set[str]) -> bool:
    """Whether a field with these words in its name may be a part of the sample itself."""
    return not said & (ASIDE | REFERENCE | TAKEN)


def _score(paths: Sequence[Path], columns: Mapping[Path, Sequence[object]], guessed: bool) -> Path | None:
    """The field of the score: of a usual name, the one with a word for it, or the only number that may be one."""
    held = list(columns)
    if (exact := _exact([path for path in held if _holds_a_score(columns[path])], SCORES)) is not None:
        return exact
    open_ones = [path for path in paths if not set(tokens(path[-1])) & (ASIDE | REFERENCE)]
    worded = [path for path in open_ones if set(tokens(path[-1])) & SCORE_WORDS]
    totals = [path for path in worded if set(tokens(path[-1])) & TOTALS]
    likely = totals or worded or (open_ones if guessed else [])
    return likely[0] if len(likely) == 1 else None


def _holds_a_score(values: Sequence[object]) -> bool:
    return any(not math.isnan(score_of(value)) for value in values)


def _by_content(columns: Mapping[Path, Sequence[object]], prompt: Path | None) -> tuple[Path | None, Path | None]:
    """The response and the prompt where no name says which: texts that differ, the response more often than the
    prompt, which is sampled several times. Among equals the prompt is written first."""
    texts = {path: [text_of(value) for value in values] for path, values in columns.items()}
    differ = {
        path: len(set(held))
        for path, held in texts.items()
        if path != prompt
        and _speaks(set(tokens(path[-1])))
        and (len(held) == 1 or len(set(held)) > 1)
        and (prompt is not None or _mean(held, lambda text: len(text.split())) >= PROSE)
    }
    if not differ:
        return None, prompt
    most = max(differ.values())
    output = [path for path, count in differ.items() if count == most][-1]
    others = [path for path in differ if path != output]
    if prompt is None and others:
        prompt = max(others, key=lambda path: _mean(texts[path], len))
    return output, prompt


def _mean(texts: Sequence[str], measure: Callable[[str], int]) -> float:
    return sum(map(measure, texts)) / len(texts)
