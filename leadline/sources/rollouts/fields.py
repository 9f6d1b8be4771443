"""The fields of a sample: which holds the prompt, the response, the score. By name, a word in it, else by content."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from ...records import dataclass
from ...vocabulary.names import listed, tokens
from ..clock import OF_SAMPLES
from ..number import as_number

PROMPTS = ("prompt", "input", "input_prompt", "question", "query", "problem", "instruction", "prompt_tokens")
OUTPUTS = (*listed("output"),)
NESTED = (*OUTPUTS, "text")  # as a response may be called inside a list of them
SCORES = ("score", "reward", "total_reward", "scores", "rewards", "final_reward", "return", "acc", "accuracy")
GROUPS = ("group", "group_id", "group_idx", "prompt_idx", "prompt_id", "example_id", "uid", "task_id")
LOOKED_AT = 32  # records by which the fields of a file are known
DEEPEST = 3  # records within records
DEEPEST_TEXT = 8  # messages nest a few levels; what nests deeper is no text
PROSE, SENTENCE = 3, 32  # words of a text whose field has a name that says nothing; letters, if no path says it either

OUTPUT_WORDS = {"output", "completion", "response", "generation", "transcript", "trajectory", "prediction", "reply"}
PROMPT_WORDS = {"prompt", "input", "question", "query", "problem", "instruction", "task"}
SCORE_WORDS = {"score", "reward", "return", "accuracy", "correct", "success", "pass", "grade"}
TOTALS = {"total", "final", "overall"}
# Fields about a sample that are neither its text nor its score.
ASIDE = {*listed("beside a sample")}
# What a response is compared with, or what was taken from it.
REFERENCE = {*listed("reference")}
ANSWERS = {"answer", "solution"}  # a reference as well, if nothing says that the policy wrote it
TAKEN = {"extracted", "parsed", "filtered", "format", "clipped", "truncated"}
POLICY = {"assistant", "gpt", "model", "agent", "policy"}  # roles of a chat that the policy speaks in
OTHERS = {*listed("other role")}
OPEN, CLOSE = "<tool_response>", "</tool_response>"  # as text/written.py knows them

Record = Mapping[str, object]
Path = tuple[str, ...]  # of keys, from the record inwards


@dataclass(frozen=True, slots=True)
class Raw:
    """A sample: what was asked, what was written, what that was worth, and the dump's own mark of its group."""

    prompt: str
    output: str
    score: float = math.nan
    group: object = None  # hashable


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
        group = _at(record, self.group) if self.group else None
        if isinstance(group, list) and len(group) == 1:
            group = group[0]
        return Raw(
            text_of(before if self.prompt is None else _at(record, self.prompt)),
            response_of(output if response is None else response),
            score_of(_at(record, self.score)) if self.score else math.nan,
            group if isinstance(group, (int, str)) and not isinstance(group, bool) else None,
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


def rows_of(record: Record) -> list[Record]:
    """Return a record that holds a list of samples, or whose response is a list of texts and a list as long beside it,
    as one record for each.

    >>> rows_of({"step": 3, "completions": ["a", "b"], "rewards": [1, 0]})
    [{'step': 3, 'completions': 'a', 'rewards': 1}, {'step': 3, 'completions': 'b', 'rewards': 0}]
    >>> rows_of({"step": 3, "samples": [{"prompt": "q", "response": "a"}]})
    [{'step': 3, 'prompt': 'q', 'response': 'a'}]
    """
    if not any(isinstance(value, list) for value in record.values()):
        return [record]
    record = {key: _as_chat(value) for key, value in record.items()}
    inner = next((key for key, value in record.items() if _holds_samples(value)), None)
    if inner is not None and not record.keys() & {*OUTPUTS}:
        shared = {key: value for key, value in record.items() if not isinstance(value, (list, dict)) or key in PROMPTS}
        held: Iterable[Record] = record[inner]  # type: ignore[assignment]  # as was seen
        return [{**shared, **sample} for sample in held]
    lists = {key: value for key, value in record.items() if isinstance(value, list) and len(value) > 1}
    texts = [(key,) for key, value in lists.items() if all(isinstance(one, str) for one in value)]
    output = _named(texts, OUTPUTS, OUTPUT_WORDS)
    columns = [key for key, value in lists.items() if output and len(value) == len(lists[output[0]])]
    if output is None or len(columns) < 2:
        return [record]
    return [{**record, **{key: lists[key][at] for key in columns}} for at in range(len(lists[output[0]]))]


def _as_chat(value: object) -> object:
    """Return turns that hold what each side said, `[{"user": "q", "assistant": "a"}]`, as the messages of a chat."""
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(one, dict) and one.keys() & POLICY for one in value)
    ):
        return value
    said = ((role, text) for turn in value for role, text in turn.items() if role in POLICY | OTHERS)
    return [{"role": role, "content": text} for role, text in said if isinstance(text, str)] or value


def _holds_samples(value: object) -> bool:
    """Return whether a value is a list of records that each hold a response, and no chat."""
    if not isinstance(value, list) or not value or _is_chat(value):
        return False
    return all(isinstance(one, dict) and any(isinstance(one.get(key), str) for key in NESTED) for one in value)


def samples_in(records: Iterable[Record]) -> Iterator[Raw]:
    """The samples among records."""
    rest = iter(records)
    first = list(islice(rest, LOOKED_AT))
    fields = fields_of(first)
    for record in chain(first, rest):
        sample = fields.sample(record) if fields else None
        if sample is None and (own := fields_of([record])) is not None:
            sample = own.sample(record)  # a file may hold records of several makes
        if sample is not None:
            yield sample


def fields_of(records: Sequence[Record], *, guessed: bool = True) -> Fields | None:
    """The fields of the samples that these records are; None when they hold no response. `guessed`: fields whose names
    say nothing may be known by what they hold."""
    columns: dict[Path, list[object]] = {}
    for record in records:
        for path, value in _leaves(record):
            columns.setdefault(path, []).append(value)
    texts = [path for path, values in columns.items() if any(_is_text(value) for value in values)]
    output = _named(texts, OUTPUTS, OUTPUT_WORDS)
    prompt = _named([path for path in texts if path != output], PROMPTS, PROMPT_WORDS)
    if output is None and prompt is None:
        output = next((path for path in texts if any(_is_chat(value) for value in columns[path])), None)
    named = [path for path in columns if path[-1] in SCORES]
    score = _exact([path for path in named if any(not math.isnan(score_of(one)) for one in columns[path])], SCORES)
    if output is None and guessed and not _is_dataset(columns, texts, prompt, scored=score is not None):
        output, prompt = _by_content({path: columns[path] for path in texts}, prompt)
    if output is None:
        return None
    if score is None:  # the one with a word for it, or the only number that may be one
        numbers = [path for path, values in columns.items() if any(as_number(value) is not None for value in values)]
        open_ones = [path for path in numbers if not {*tokens(path[-1])} & (ASIDE | REFERENCE)]
        worded = [path for path in open_ones if {*tokens(path[-1])} & SCORE_WORDS]
        totals = [path for path in worded if {*tokens(path[-1])} & TOTALS]
        likely = totals or worded or (open_ones if guessed else [])
        score = likely[0] if len(likely) == 1 else None
    return Fields(output, prompt, score, _exact(list(columns), GROUPS))


def is_reference(path: Path) -> bool:
    """Return whether a field is called like what a response is compared with."""
    said = {*tokens(path[-1])}
    return bool(said & REFERENCE) or said <= ANSWERS


def _is_dataset(
    columns: Mapping[Path, Sequence[object]], texts: Sequence[Path], prompt: Path | None, *, scored: bool
) -> bool:
    """Return whether records are what a policy is trained on: a prompt and a reference, no step, and nothing else that
    somebody wrote. An answer that has a score of its own, and nothing to be compared with, is a response."""
    references = [path for path in columns if is_reference(path)]
    if prompt is None or not references or any(path[-1] in OF_SAMPLES for path in columns):
        return False
    if scored and [path[-1] for path in references] == ["answer"]:
        return False
    others = [path for path in texts if path != prompt and path not in references and _speaks({*tokens(path[-1])})]
    return not any(is_prose([text_of(value) for value in columns[path]]) for path in others)


def is_prose(texts: Sequence[str]) -> bool:
    """Return whether texts are written and not chosen from a list or put together by a program: they are long, and
    nearly each is another one. Some scripts have no spaces between words."""
    if len({*texts}) * 2 <= len(texts):
        return False
    spaced = all(map(str.isascii, texts))
    return _mean(texts, len) >= SENTENCE and (not spaced or _mean(texts, lambda text: len(text.split())) >= PROSE)


def _leaves(record: Record, above: Path = ()) -> Iterator[tuple[Path, object]]:
    """All that a record holds, and where; a message stays whole."""
    for key, value in record.items():
        path = (*above, str(key))
        if isinstance(value, dict) and "content" not in value and len(path) < DEEPEST:
            yield from _leaves(value, path)
        else:
            yield path, value


def _at(record: Record, path: Path) -> object:
    value: object = record
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def _is_text(value: object) -> bool:
    """Whether a value is text, a message, a chat, or token ids."""
    if isinstance(value, str) or _is_chat(value):
        return True
    if isinstance(value, dict):
        return isinstance(value.get("content"), str)
    if isinstance(value, list) and value:
        parts = [part for one in value for part in (one if isinstance(one, list) else [one])]
        return all(isinstance(part, (str, dict)) or type(part) is int for part in parts) and bool(text_of(value))
    return False


def _is_chat(value: object) -> bool:
    return isinstance(value, list) and any(_role(turn) for turn in value)


def _role(turn: object) -> str:
    """The role in which a turn of a chat is spoken; "" for anything else."""
    said = _message(turn)
    role = (said.get("role") or said.get("from")) if isinstance(said, dict) else None
    return role.lower() if isinstance(role, str) else ""


def _message(turn: object) -> object:
    return turn.get("message", turn) if isinstance(turn, dict) else turn


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


def text_of(value: object, depth: int = 0) -> str:
    """The text in a value: plain, a chat, or token ids, which stay numbers.

    >>> text_of([{"role": "user", "content": "2+2="}, {"role": "assistant", "content": "4"}])
    '2+2=\\n4'
    >>> text_of([17, 4])
    '17 4'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for key in ("content", "text", "value"):
            if key in value:
                return text_of(value[key], depth + 1)
        return ""
    if isinstance(value, list) and depth < DEEPEST_TEXT:
        if value and all(isinstance(one, int) for one in value):
            return " ".join(map(str, value))
        return "\n".join(part for part in (text_of(one, depth + 1) for one in value) if part)
    return ""


def score_of(value: object) -> float:
    """The number in a value, which may be wrapped in a list of one; NaN where there is none."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = next((value[key] for key in SCORES if key in value), "")
    number = as_number(value)
    return math.nan if number is None else number
