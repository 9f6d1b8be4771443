"""Part what a sample holds: prompt from response, and the policy's own words from what the environment wrote.

A dump without prompts is cut at the mark that ends them: the marker of the assistant's turn, or else the last sign
that every single sample holds. Prompts come from one source and never miss it; a policy that learns writes its own
signs now and then, not always. Without such a mark nothing is parted, and nothing that asks for prompts is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..run import Rollout
from .sampler import TELLING

NEARLY_ALL = 0.98  # of the samples, of a cap, or of an overlap: what so nearly is all, is all
TURN = re.compile(
    r"<\|im_start\|>assistant\n?|<\|start_header_id\|>assistant<\|end_header_id\|>\s*|\[/INST\]|<start_of_turn>model\n?"
    r"|<｜Assistant｜>|<\|assistant\|>\n?|###\s*Response:\s*|(?:^|\n)(?:Assistant|ASSISTANT|AI|Answer|A):[ \n]"
)

# Blocks of a transcript that tools, retrievers, and interpreters write, and turns of anyone but the policy.
ENVIRONMENT = re.compile(
    r"<(results?|observations?|tool_(?:response|result|output)|information|documents?|interpreter|stdout"
    r"|execution_(?:results?|output))>.*?(?:</\1>|$)"
    r"|```output[^\S\n]*\n.*?(?:```|$)"
    r"|<\|im_start\|>(?:tool|user|system|observation)\b.*?(?:<\|im_end\|>|$)"
    r"|<\|start_header_id\|>(?:tool|ipython|user|system)<\|end_header_id\|>.*?(?:<\|eot_id\|>|$)",
    re.DOTALL | re.IGNORECASE,
)
# ReAct: what stands between an observation and the next line of the policy. Without actions it is a word as any other.
ACTED = re.compile(r"^[ \t]*Action(?: Input)?(?: \d+)?:", re.MULTILINE)
OBSERVED = re.compile(
    r"^[ \t]*Observation(?: \d+)?:.*?(?=^[ \t]*(?:Thought|Action|Final Answer)(?: \d+)?:|\Z)", re.MULTILINE | re.DOTALL
)
# A name alone or with attributes, or a token of a template. Code compares: `a<b and c>d` is no tag.
MARKUP = re.compile(r"</?[A-Za-z_][\w:.-]{0,24}(?:\s+[\w:.-]+=[^<>]*)?\s*/?>|<[|｜][^<>|｜]{1,24}[|｜]>")


def own_words(output: str) -> str:
    """Return a response without what the environment wrote and without markup: both repeat by design. A response that
    is nothing else is returned whole."""
    own = output
    if ACTED.search(own):
        own = OBSERVED.sub(" ", own)
    if "<" in own or "```" in own:
        own = MARKUP.sub(" ", ENVIRONMENT.sub(" ", own))
    return own if any(map(str.isalnum, own)) else output


def parted(samples: Sequence[Rollout]) -> tuple[Rollout, ...]:
    """Return the samples with prompt and answer apart, in the same order."""
    if any(sample.prompt for sample in samples):
        return tuple(_without_prompt(sample) for sample in samples)
    mark = _mark([sample.output for sample in samples])
    return tuple(samples) if mark is None else tuple(_cut(sample, mark) for sample in samples)


def _without_prompt(sample: Rollout) -> Rollout:
    """Return a sample without its prompt in front: some dumps keep the prompt, and again the prompt with its answer."""
    if not sample.prompt or not sample.output.startswith(sample.prompt) or len(sample.output) == len(sample.prompt):
        return sample
    return replace(sample, output=sample.output[len(sample.prompt) :])


def _mark(texts: Sequence[str]) -> re.Pattern[str] | None:
    if len(texts) < TELLING:
        return None
    if sum(TURN.search(text) is not None for text in texts) >= NEARLY_ALL * len(texts):
        return TURN
    held = set(texts[0]).intersection(*texts[1:])
    found = []
    for mark in sorted(mark for mark in held if _may_part(mark)):
        places = sorted(text.find(mark) for text in texts)
        behind = sum(text.find(mark) < len(text.rstrip()) - 1 for text in texts)
        if places[len(places) // 2] > 0 and 2 * behind > len(texts):
            found.append((places[len(places) // 2], mark))
    return re.compile(re.escape(max(found)[1])) if found else None


def _may_part(mark: str) -> bool:
    return not mark.isalnum() and not (mark.isspace() and mark != "\n")


def _cut(sample: Rollout, mark: re.Pattern[str]) -> Rollout:
    match = mark.search(sample.output)
    if match is None:
        return sample
    return replace(sample, prompt=sample.output[: match.end()], output=sample.output[match.end() :])
