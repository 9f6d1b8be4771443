"""What counts as the policy's own words: neither what the environment wrote nor markup."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from leadline.run import Rollout
from leadline.text import measures
from leadline.text.written import Written, own_words, written


@dataclass(frozen=True)
class Step:
    step: int
    alone: tuple[Rollout, ...]
    groups: tuple[tuple[Rollout, ...], ...] = ()


def read(*answers: str) -> Written:
    text = written([Step(1, tuple(Rollout(1, "how much ?", answer, 1.0) for answer in answers))])
    assert text is not None
    return text


@pytest.mark.parametrize(
    "block",
    [
        "<result> 41 pears </result>",
        "<results> 41 pears </results>",
        "<observation>41\npears</observation>",
        "<tool_response> 41 pears </tool_response>",
        "<Tool_Output> 41 pears </Tool_Output>",
        "<information> 41 pears </information>",
        "<document> 41 pears </document>",
        "<interpreter> 41 pears </interpreter>",
        "<execution_results> 41 pears </execution_results>",
        "\n```output\n41 pears\n```\n",
        "<|im_start|>tool\n41 pears<|im_end|>",
        "<|start_header_id|>ipython<|end_header_id|>\n41 pears<|eot_id|>",
    ],
)
def test_a_block_of_the_environment_is_left_out_and_what_stands_around_it_is_kept(block: str) -> None:
    assert own_words(f"look up pears {block} so it is 41").split() == ["look", "up", "pears", "so", "it", "is", "41"]


def test_a_block_that_never_ends_reaches_to_the_end() -> None:
    assert own_words("look up <result> 41 pears and then some").split() == ["look", "up"]


def test_observations_of_react_are_left_out() -> None:
    transcript = (
        "Thought: look\nAction: search\nAction Input: pears\nObservation: 41 pears\non 2 trees\n"
        "Thought 2: more\nAction 2: count\nObservation 2: 7\nFinal Answer: 41\n"
    )
    kept = own_words(transcript)
    assert "pears\n" in kept
    assert "Thought 2: more" in kept
    assert "Final Answer: 41" in kept
    assert "Observation" not in kept
    assert "trees" not in kept
    assert own_words("Action: search\nObservation: 41 pears").split() == ["Action:", "search"]


def test_an_observation_of_the_policy_itself_is_its_own() -> None:
    text = "Observation: both sides are even.\nSo the sum is even."
    assert own_words(text) == text


def test_a_block_ends_with_its_own_tag() -> None:
    assert own_words("<result> <b> 1 </b> </information> 2 </result> so").split() == ["so"]


def test_what_the_policy_frames_by_itself_is_its_own_and_the_tags_are_not() -> None:
    assert own_words("<think> two and two </think> <answer> 4 </answer>").split() == ["two", "and", "two", "4"]


@pytest.mark.parametrize("tag", ["<b>", "</b>", "<br/>", '<call name="add" to=3>', "<|im_end|>", "<｜Assistant｜>"])
def test_tags_and_tokens_of_a_template_are_markup(tag: str) -> None:
    assert own_words(f"two {tag} four").split() == ["two", "four"]


@pytest.mark.parametrize("text", ["if a < b and c > d", "a<b and c>d", "x<y", "1 < 2", "", "plain words"])
def test_signs_of_mathematics_are_no_markup(text: str) -> None:
    assert own_words(text) == text


@pytest.mark.parametrize("text", ["<pad><pad><pad>", "<result> 41 </result>", "<|im_end|>"])
def test_a_response_that_is_nothing_else_is_returned_whole(text: str) -> None:
    assert own_words(text) == text


def test_a_transcript_that_repeats_the_syntax_of_tools_is_no_loop() -> None:
    call = "<tool> lookup {} </tool> <result> the price in the list of today is {} </result>"
    wares = ("pears", "figs", "plums", "dates", "limes", "kiwis")
    transcript = " ".join(call.format(name, place) for place, name in enumerate(wares))
    bare = transcript.replace("<result>", "").replace("</result>", "")
    assert measures.looped(read(transcript)).tolist() == [0.0]
    assert measures.looped(read(bare))[0] > 0.1  # the same words, if the policy had written them


def test_an_enumeration_that_changes_a_number_each_time_is_no_loop_and_one_that_does_not_is() -> None:
    changing = " ".join(f"step {place} : add {7 * place} ." for place in range(1, 9))
    standing = " ".join("step 1 : add 7 ." for _ in range(8))
    shares = measures.looped(read(changing, standing))
    assert shares[0] == 0.0
    assert shares[1] > 0.5
