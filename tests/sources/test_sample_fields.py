"""Which field of a kept sample is its prompt, its response and its score, whatever the fields are called."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from leadline.sources import rollouts
from leadline.sources.rollouts.fields import samples_in
from leadline.sources.walk import walk
from leadline.text.written import own_words

CHAT = [{"role": "user", "content": "2+2="}, {"role": "assistant", "content": "4"}]


def put(file: Path, records: Sequence[Mapping[str, object]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def found(root: Path) -> rollouts.KeptSamples:
    return rollouts.find(walk(root).files)


@pytest.mark.parametrize(
    "record",
    [
        {"prompt": "2+2=", "response": "4", "reward": 1.0, "rollout_id": 7},
        {"id": "train-012", "prompt": "2+2=", "raw_generation": "4", "extracted": "4", "correct": True, "tokens": 9},
        {"sample": {"question": "2+2=", "model_output": "4", "gold_answer": "four"}, "reward": {"score": 1.0}},
        {"prompt": [CHAT[0]], "completion": [CHAT[1]], "accuracy_reward": 1.0},
        {"messages": CHAT, "reward": 1.0},
        {"conversation": {"turns": CHAT}, "info": {"reward": 1.0}},
        {"PromptText": "2+2=", "ResponseText": "4", "TotalReward": 1},
    ],
)
def test_the_fields_of_a_sample_are_known_by_their_words(record: Mapping[str, object]) -> None:
    (sample,) = samples_in([record])
    assert (sample.prompt, sample.output, sample.score) == ("2+2=", "4", 1.0)


ASKED = {"role": "user", "content": "how many ?"}
AGENT = [
    {"role": "assistant", "content": "I look it up"},
    {"role": "tool", "content": "41 pears </tool_response> on 2 trees"},
    {"role": "user", "content": "go on"},
    {"role": "Assistant", "content": "so it is 41"},
]


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [ASKED, *AGENT], "reward": 1.0},
        {"prompt": "how many ?", "response": AGENT, "reward": 1.0},
        {"prompt": "how many ?", "response": [ASKED, *AGENT], "reward": 1.0},
        {"prompt": "how many ?", "response": [{"message": turn} for turn in AGENT], "reward": 1.0},
    ],
)
def test_what_others_say_in_a_chat_is_not_taken_for_the_policy(record: Mapping[str, object]) -> None:
    (sample,) = samples_in([record])
    assert sample.prompt == "how many ?"
    assert own_words(sample.output).split() == ["I", "look", "it", "up", "so", "it", "is", "41"]
    assert "<tool_response>41 pears" in sample.output


def test_a_role_that_is_unknown_may_be_the_policy() -> None:
    (sample,) = samples_in([{"prompt": "2+2=", "response": [{"role": "bot", "content": "4"}], "reward": 1.0}])
    assert sample.output == "4"


def test_unknown_names_are_known_by_what_the_fields_hold() -> None:
    rows = [
        {"dataset": "sums", "x": f"what is {n // 4} and {n // 4} ?", "y": f"that is {n} I think", "r": n % 2, "seed": n}
        for n in range(16)
    ]
    samples = list(samples_in(rows))
    assert [one.prompt for one in samples] == [row["x"] for row in rows]
    assert [one.output for one in samples] == [row["y"] for row in rows]
    assert [one.score for one in samples] == [row["r"] for row in rows]


def test_several_rewards_without_a_total_are_no_score() -> None:
    (sample,) = samples_in([{"prompt": "q", "completion": "a", "format_reward": 1.0, "accuracy_reward": 0.0}])
    assert math.isnan(sample.score)


@pytest.mark.parametrize("record", [{"step": 3, "reward": 0.5}, {"step": 3, "time": "2025-01-01", "reward": 0.5}, {}])
def test_a_row_of_numbers_is_no_sample(record: Mapping[str, object]) -> None:
    assert list(samples_in([record])) == []


def test_rollouts_of_slime_are_read(tmp_path: Path) -> None:
    put(
        tmp_path / "rollouts" / "0.jsonl",
        [{"prompt": "q", "response": answer, "reward": 1.4, "rollout_id": 0} for answer in "ab"],
    )
    kept = found(tmp_path)
    assert [(one.prompt, one.output, one.score, one.group) for one in kept.rollouts.at(0)] == [
        ("q", "a", 1.4, 0),
        ("q", "b", 1.4, 0),
    ]
    assert kept.notes == ()


@pytest.mark.parametrize(
    "name",
    ["samples/step_12.jsonl", "eval/step_12/eval_samples.jsonl", "generations-00012.jsonl", "rollouts/it12/a.jsonl"],
)
def test_the_step_may_be_in_the_path(tmp_path: Path, name: str) -> None:
    put(tmp_path / name, [{"prompt": "q", "raw_generation": "a", "correct": True}])
    kept = found(tmp_path)
    assert [(one.step, one.output, one.score) for one in kept.rollouts.at(12)] == [(12, "a", 1.0)]


def test_one_json_document_may_hold_the_samples_of_a_step(tmp_path: Path) -> None:
    file = tmp_path / "completions" / "step_12.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"step": 12, "samples": [{"prompt": "q", "completion": "a", "reward": 0.5}]}))
    assert [(one.output, one.score) for one in found(tmp_path).rollouts.at(12)] == [("a", 0.5)]


def test_tables_of_wandb_are_read_and_the_newest_holds_the_older_ones(tmp_path: Path) -> None:
    columns = ["step", "input_1", "output_1", "score_1", "input_2", "output_2", "score_2"]
    rows = [[step, "q", f"a{step}", 1.0, "p", f"b{step}", 0.0] for step in (0, 10)]
    folder = tmp_path / "files" / "media" / "table" / "val"
    folder.mkdir(parents=True)
    (folder / "generations_0_aa11.table.json").write_text(json.dumps({"columns": columns, "data": rows[:1]}))
    (folder / "generations_9_bb22.table.json").write_text(json.dumps({"columns": columns, "data": rows}))
    kept = found(tmp_path)
    assert kept.rollouts.steps == (0, 10)
    assert [(one.prompt, one.output, one.score) for one in kept.rollouts.at(10)] == [
        ("q", "a10", 1.0),
        ("p", "b10", 0.0),
    ]
    assert "evals" in kept.notes[0]


def test_tables_that_name_no_step_are_of_the_step_in_their_name(tmp_path: Path) -> None:
    folder = tmp_path / "media" / "table"
    folder.mkdir(parents=True)
    for step in (5, 6):
        table = {"columns": ["prompt", "completion", "reward"], "data": [["q", f"a{step}", 1.0]]}
        (folder / f"completions_{step}_aa11.table.json").write_text(json.dumps(table))
    kept = found(tmp_path)
    assert [kept.rollouts.at(step)[0].output for step in (5, 6)] == ["a5", "a6"]


def test_text_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    put(tmp_path / "rollouts" / "3.jsonl", [{"ids": [1.5, 2.5], "reward": 1.0}])
    put(tmp_path / "samples.jsonl", [{"id": 3, "correct": True}])
    (tmp_path / "completion_samples.txt").write_text("=====\nI think that is 4.\n")
    notes = found(tmp_path).notes
    assert len(notes) == 3
    assert any("3.jsonl" in note and "ids, reward" in note for note in notes)
    assert any("samples.jsonl" in note and "id, correct" in note for note in notes)
    assert any("completion_samples.txt" in note for note in notes)


def test_a_format_that_reads_nothing_leaves_the_samples_to_the_next(tmp_path: Path) -> None:
    put(tmp_path / "buffer" / "3.jsonl", [{"loss": 1.0}])
    put(tmp_path / "samples.jsonl", [{"step": 3, "prompt": "q", "response": "a", "reward": 1.0}])
    kept = found(tmp_path)
    assert kept.format == "generic"
    assert kept.rollouts.at(3)[0].output == "a"
