"""Sentences about answers in several turns, with tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..facts.agent import FailingTools, Reward, TurnsChange
from .numbers import number, percent

MEANWHILE: dict[Reward, str] = {
    "rose": " The reward rose over the same steps.",
    "fell": " The reward fell over the same steps.",
    "unclear": " The reward did not clearly change over the same steps.",
    None: "",
}


def turns(facts: TurnsChange) -> str:
    what = "Turns" if facts.what == "turns" else "Tool calls"
    verb = "grew" if facts.now > facts.start else "fell"
    cap = "" if facts.most is None else f", of at most {number(facts.most)}"
    moved = f"{what} per answer {verb} from {number(facts.start)} to {number(facts.now)}{cap}."
    guess = ""
    if facts.reward in ("fell", "unclear"):
        guess = " The policy may be looping." if facts.now > facts.start else " The policy may be giving up early."
    return f"{moved}{MEANWHILE[facts.reward]}{guess}"


def failing_tools(facts: FailingTools) -> str:
    return f"{percent(facts.now)} of the tool calls fail, up from {percent(facts.start)}.{MEANWHILE[facts.reward]}"


SENTENCES: dict[str, Callable[[Any], str]] = {
    "agent.turns": turns,
    "agent.tool_calls": turns,
    "agent.tool_failures": failing_tools,
}
