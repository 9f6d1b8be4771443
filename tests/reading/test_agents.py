"""Answers in several turns: loops, giving up, failing tools."""

from __future__ import annotations

import pytest
from topics import findings
from written import flat, rising, run, view

from leadline.facts.finding import Finding
from leadline.findings.agent_turns import TurnsChange

N = 200
FALLING = [0.8 - 0.6 * place / N for place in range(N)]


def moving(first: float, last: float) -> list[float]:
    return [first + (last - first) * place / N + 0.01 * (place % 3 - 1) for place in range(N)]


def read(series: dict[str, list[float]]) -> tuple[Finding, ...]:
    return findings(view(run(None, series)), "agent.")


def test_turns_that_multiply_while_reward_falls_may_be_a_loop() -> None:
    (found,) = read({"reward/mean": FALLING, "agent/turns_mean": moving(2, 7.9)})
    assert (found.id, found.severity) == ("agent.turns", "concern")
    assert isinstance(found.facts, TurnsChange)
    assert "looping" in found.say()


def test_more_turns_with_more_reward_are_only_noted() -> None:
    (found,) = read({"reward/mean": rising(N), "agent/turns_mean": moving(2, 5)})
    assert found.severity == "note"
    assert "looping" not in found.say()


def test_tool_calls_that_vanish_while_reward_falls_are_giving_up() -> None:
    (found,) = read({"reward/mean": FALLING, "tools/calls_per_sample": moving(2, 0.1)})
    assert (found.id, found.severity) == ("agent.tool_calls", "concern")
    assert "giving up" in found.say()


def test_tools_that_fail_more_and_more() -> None:
    (found,) = read({"reward/mean": flat(N, 0.5), "tools/failure_frac": moving(0.05, 0.6)})
    assert (found.id, found.severity) == ("agent.tool_failures", "concern")
    assert "of tool calls fail since step" in found.say()
    assert read({"reward/mean": flat(N, 0.5), "tools/failure_frac": flat(N, 0.3, 0.02)}) == ()


def test_nothing_is_said_of_a_reward_that_rose_and_broke() -> None:
    broke = [*moving(0.4, 0.9)[: N // 2], *flat(N - N // 2, 0.4, 0.01)]
    (found,) = read({"reward/mean": broke, "agent/turns_mean": moving(2, 7.9)})
    assert isinstance(found.facts, TurnsChange)
    assert found.facts.reward is None
    assert "no clear change" not in found.say()


@pytest.mark.parametrize("name", ["agent/turns_mean", "tools/calls_per_sample"])
def test_turns_that_hold_are_no_finding(name: str) -> None:
    assert read({"reward/mean": FALLING, name: flat(N, 3.0, 0.2)}) == ()
