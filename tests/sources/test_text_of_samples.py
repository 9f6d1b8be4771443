"""Samples as text, and samples in place of a log: what a policy wrote is read wherever it was kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leadline.errors import NothingReadable
from leadline.sources import open_run, open_runs

LOG = "".join(json.dumps({"step": step, "reward": step / 40, "loss": 0.1}) + "\n" for step in range(40))
ANSWER = "<think> I add both numbers and look at what comes out. </think>\n<answer> 4 </answer>"


def heading(minute: int, score: float, name: str = "Accuracy reward", part: int = 0) -> str:
    return f"------------- 04-02-{minute:02}-06-{338654 + part} {name}: {score} -------------\n"


def test_a_heading_that_comes_again_with_another_time_is_a_sample(tmp_path: Path) -> None:
    printed = [
        f"{heading(minute, float(n < minute), part=n)}Content: {ANSWER}\n"
        f"{'Output: 0' if n % 2 == 0 else ''}\nSolution: {minute}\n"
        f"{heading(minute, -0.5, 'Length reward', n)}Content: {ANSWER}\n"
        for minute in range(10)
        for n in range(8)
    ]
    (tmp_path / "debug_log.txt").write_text("".join(printed))
    run = open_run(tmp_path)
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.key == "Accuracy reward"
    np.testing.assert_allclose(reward.values, [min(minute, 8) / 8 for minute in range(10)])
    assert any("mean over the samples of each step" in note for note in run.notes)
    assert any("Length reward" in note for note in run.notes)
    first = run.rollouts.at(1)
    assert len(first) == 8
    assert first[0].output == f"{ANSWER}\nOutput: 0"
    assert {one.group for one in first} == {0}


def test_samples_beside_a_log_are_no_run_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    (tmp_path / "completion_samples.txt").write_text("".join(f"\n\n==============\n{ANSWER}" for _ in range(80)))
    (tmp_path / "success_completion_samples.txt").write_text(f"\n\n==============\n{ANSWER}" * 9)
    run = open_run(tmp_path)
    assert run.rollouts.steps == tuple(range(40))
    assert [one.output for one in run.rollouts.at(3)] == [ANSWER, ANSWER]


def test_parts_with_labels_are_read_from_the_log_itself(tmp_path: Path) -> None:
    lines = []
    for step in range(12):
        lines += [f"-------------------- Question:\nWhat is {step}+2?", f"Answer:\n{step + 2}"]
        lines += [f"Response:\nIt is {step + 2}.\nI am sure.", f"Extracted:\n{step + 2}"]
        lines += [str({"loss": 0.1, "reward": step / 12, "reward_std": 0.1, "kl": 0.01, "epoch": step / 12})]
    (tmp_path / "train.log").write_text("\n".join(lines))
    run = open_run(tmp_path)
    reward = run.get("reward/mean")
    assert reward is not None
    assert reward.points == 12
    sample = run.rollouts.at(run.rollouts.steps[3])[0]
    assert (sample.prompt, sample.output) == ("What is 3+2?", "It is 5.\nI am sure.")


@pytest.mark.parametrize("name", ["rollouts.jsonl", "what_it_wrote.jsonl", "table.csv"])
def test_samples_with_step_and_reward_are_a_curve_where_nothing_else_is(tmp_path: Path, name: str) -> None:
    rows = [
        {"step": step, "prompt": f"q{n // 2}", "response": "so it is four then", "reward": float(n < step)}
        for step in range(6)
        for n in range(4)
    ]
    lines = ["step,prompt,response,reward", *(",".join(map(str, row.values())) for row in rows)]
    told = "\n".join(lines if name.endswith("csv") else map(json.dumps, rows))
    (tmp_path / name).write_text(told)
    for place in (tmp_path, tmp_path / name):
        run = open_run(place)
        reward = run.get("reward/mean")
        assert reward is not None
        np.testing.assert_allclose(reward.values, [min(step, 4) / 4 for step in range(6)])
        assert run.rollouts.steps == tuple(range(6))


def test_samples_of_one_step_are_no_curve(tmp_path: Path) -> None:
    rows = [{"step": 3, "prompt": "q", "response": "so it is four then", "reward": 1.0} for _ in range(4)]
    (tmp_path / "samples.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(NothingReadable, match="contains sampled responses"):
        open_run(tmp_path / "samples.jsonl")


def test_predictions_of_the_last_model_are_of_the_last_step(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    rows = [{"question": "2+2", "prediction": "I think that it is 4", "score": 1.0} for _ in range(20)]
    (tmp_path / "predictions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run = open_run(tmp_path)
    assert run.rollouts.steps == (39,)
    assert run.rollouts.at(39)[0].score == 1.0


def test_a_long_pause_is_told_and_only_the_last_start_belongs_to_a_log(tmp_path: Path) -> None:
    starts = [(hour, minute) for hour in (1, 9) for minute in range(20)]
    told = [
        f"----- 04-{hour:02}-{minute:02}-00-000001 Accuracy reward: {float(hour == 9)} -----\nContent: {ANSWER}\n"
        for hour, minute in starts
    ]
    (tmp_path / "debug_log.txt").write_text("".join(told))
    run = open_run(tmp_path)
    assert len(run.rollouts.steps) == 40
    assert any("pauses for long before batch 21" in note for note in run.notes)
    (tmp_path / "metrics.jsonl").write_text("".join(LOG.splitlines(keepends=True)[:10]))
    run = open_run(tmp_path)
    assert {one.score for step in run.rollouts.steps for one in run.rollouts.at(step)} == {1.0}


def asked(number: int) -> str:
    return f"What is {number} plus {number}?"


def answered(number: int, step: int) -> str:
    return f"<think>I add both.</think> It is {2 * number}, as of {step}"


def table(file: Path, columns: list[str], rows: list[list[object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"columns": columns, "data": rows}))


def trl_in_wandb(run: Path) -> None:
    names = ["step", "prompt", "completion", "format_reward", "accuracy_reward", "advantage"]
    for step in (10, 20):
        rows = [[step, asked(n), answered(n, step), 0.25, 0.25, 9.0] for n in range(3)]
        table(run / f"files/media/table/completions_{step}_ab12.table.json", names, rows)


def an_mlflow_table(run: Path) -> None:
    for step in (10, 20):
        rows = [[asked(n), answered(n, step), 0.5] for n in range(3)]
        table(run / f"artifacts/completions_step_{step}.json", ["prompt", "completion", "reward"], rows)


def a_batch_a_record(run: Path) -> None:
    rows = [
        {
            "global_step": step,
            "prompts": [asked(n) for n in range(3)],
            "completions": [answered(n, step) for n in range(3)],
            "rewards": [0.5] * 3,
        }
        for step in (10, 20)
    ]
    (run / "rollouts.jsonl").write_text("\n".join(map(json.dumps, rows)))


def answers_of_the_model(run: Path) -> None:
    rows = [
        {"step": step, "question": asked(n), "model_answer": answered(n, step), "gold": "x", "score": 0.5}
        for step in (10, 20)
        for n in range(3)
    ]
    (run / "eval_samples.jsonl").write_text("\n".join(map(json.dumps, rows)))


def below_headings(run: Path) -> None:
    printed = (
        f"### Step {step}/20\n"
        + "".join(f"Prompt: {asked(n)}\nResponse: {answered(n, step)}\nReward: 0.5\n" for n in range(3))
        for step in (10, 20)
    )
    (run / "samples.txt").write_text("\n".join(printed))


def tables_in_panels(run: Path) -> None:
    """As TRL prints completions with rich."""
    lines = []
    for step in (10, 20):
        lines += [f"╭──────── Step {step} ────────╮", "│ ┏━━━━┳━━━━┳━━━━┓ │", "│ ┃ Prompt ┃ Completion ┃ reward ┃ │"]
        for n in range(3):
            lines += [f"│ │ {asked(n)} │ {answered(n, step)} │ 0.50 │ │", "│ ├────┼────┼────┤ │"]
        lines += ["│ └────┴────┴────┘ │", "╰──────────────╯"]
    (run / "printed.log").write_text("\n".join(lines))


def a_text_file_a_step(run: Path) -> None:
    (run / "generations").mkdir()
    for step in (10, 20):
        parts = (f"=== {n} ===\nPrompt: {asked(n)}\nResponse: {answered(n, step)}\nReward: 0.5\n" for n in range(3))
        (run / f"generations/step_{step:04d}.txt").write_text("\n".join(parts))


def a_page(run: Path) -> None:
    parts = (
        f"## Step {step}\n\n"
        + "".join(
            f"**Prompt:** {asked(n)}\n\n**Completion:** {answered(n, step)}\n\n**Reward:** 0.5\n\n" for n in range(3)
        )
        for step in (10, 20)
    )
    (run / "samples.md").write_text("\n".join(parts))


def in_rows_of_metrics(run: Path) -> None:
    for at, line in enumerate(rows := (run / "metrics.jsonl").read_text().splitlines()):
        if at in (10, 20):
            texts = [{"prompt": asked(n), "response": answered(n, at), "reward": 0.5} for n in range(3)]
            rows[at] = json.dumps({**json.loads(line), "samples": texts})
    (run / "metrics.jsonl").write_text("\n".join(rows) + "\n")


def a_document_by_step(run: Path) -> None:
    held = {
        f"step_{step}": [{"question": asked(n), "generated": answered(n, step), "reward": 0.5} for n in range(3)]
        for step in (10, 20)
    }
    (run / "generated.json").write_text(json.dumps(held))


def a_page_of_headings(run: Path) -> None:
    parts = (
        f"## Step {step}\n\n"
        + "".join(
            f"### Prompt\n{asked(n)}\n\n### Completion\n{answered(n, step)}\n\n**Reward:** 0.5/1\n\n" for n in range(3)
        )
        for step in (10, 20)
    )
    (run / "samples.md").write_text("\n".join(parts))


def scores_in_a_mapping(run: Path) -> None:
    """The prompt holds labels of its own."""
    printed = (
        f"Step {step}\n"
        + "".join(
            f"Question:  {asked(n)}\nGeneration:  {answered(n, step)}\n"
            f"Metrics:  {{'format_reward': 1.0, 'reward': 0.5}}\nGT Answer:  {n}\n--------------------------------\n"
            for n in range(3)
        )
        for step in (10, 20)
    )
    (run / "samples.log").write_text("\n".join(printed))


def a_replay_buffer(run: Path) -> None:
    rows = [
        {"query": asked(n), "response": answered(n, step), "reward": 0.5, "iteration": step, "state": "x" * 5000}
        for step in (10, 20)
        for n in range(3)
    ]
    (run / "replay_buffer.json").write_text(json.dumps(rows))


def a_document_a_step(run: Path) -> None:
    (run / "outputs").mkdir()
    for step in (10, 20):
        rows = [{"prompt": asked(n), "completion": answered(n, step), "reward": 0.5} for n in range(3)]
        (run / f"outputs/step_{step}.json").write_text(json.dumps(rows))


def names_that_say_nothing(run: Path) -> None:
    rows = [
        {"step": step, "prompt": asked(n), "it_said": answered(n, step) + " " * 40, "reward": 0.5}
        for step in (10, 20)
        for n in range(3)
    ]
    (run / "seen.jsonl").write_text("\n".join(map(json.dumps, rows)).replace(" " * 40, ""))


@pytest.mark.parametrize(
    "write",
    [
        a_document_by_step,
        a_document_a_step,
        a_replay_buffer,
        a_page_of_headings,
        scores_in_a_mapping,
        names_that_say_nothing,
        trl_in_wandb,
        an_mlflow_table,
        a_batch_a_record,
        answers_of_the_model,
        below_headings,
        tables_in_panels,
        a_text_file_a_step,
        a_page,
        in_rows_of_metrics,
    ],
    ids=lambda write: write.__name__,
)
def test_text_beside_a_log_is_read_with_its_steps_and_scores(tmp_path: Path, write: Callable[[Path], None]) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    write(tmp_path)
    run = open_run(tmp_path)
    assert run.rollouts.steps == (10, 20)
    assert [(one.prompt, one.output, one.score) for one in run.rollouts.at(20)] == [
        (asked(n), answered(n, 20), 0.5) for n in range(3)
    ]


THINGS = ["apples", "pears", "plums", "boats", "stones", "cards", "shells", "coins", "ropes", "lamps"]


def told(number: int, step: int) -> str:
    return f"She sold {number} {THINGS[step]} before\n\nand some {THINGS[number - step]} more.\nFinal answer: {number}"


@pytest.mark.parametrize(
    ("form", "prompts", "scored"),
    [
        ("--- Sample {n} (reward={score}) ---\n{told}\n", False, True),
        ("Q: How many {thing}?\nGold: {n}\nA: {told}\nReward: {score}\n", True, True),
        ("Prompt {n}: How many {thing}?\nCompletion {n}: {told}\nReward {n}: {score}\n", True, True),
        ("Target: {n} | Numbers: [1 2]\nSolution string: {told}\nReward: {score}\n", False, True),
    ],
)
def test_samples_of_a_loop_stand_at_the_row_that_follows(
    tmp_path: Path, form: str, prompts: bool, scored: bool
) -> None:
    lines = []
    for step in range(10):
        for n in range(4):
            text, score = told(n, step), n / 4
            lines.append(form.format(thing=THINGS[step], n=n, told=text, score=score))
        lines.append(f"step {step}: loss = 0.{step}, mean_reward = 0.{step}\n[timing] {step}.5s\n")
    (tmp_path / "train.log").write_text("loading the model\n" + "".join(lines))
    run = open_run(tmp_path)
    samples = run.rollouts.at(3)
    assert len(run.rollouts.steps) == 10
    assert [one.output for one in samples] == [told(n, 3) for n in range(4)]
    assert [one.score for one in samples] == pytest.approx([n / 4 if scored else np.nan for n in range(4)], nan_ok=True)
    assert all(THINGS[3] in one.prompt for one in samples) == prompts


@pytest.mark.parametrize(
    "form",
    [
        "Episode {step} is over after {n} steps in the maze\nreward: 0.{n}\n",
        "Epoch {step}\nTraining loss: 0.{n}\nValidation loss: 0.{n}\nAccuracy: 0.{n}\n===\n",
        "the agent went on with episode {n} of this batch\n=====\nsaving the weights of update {step} now\n=====\n",
    ],
)
def test_what_a_program_says_again_and_again_is_no_sample(tmp_path: Path, form: str) -> None:
    row = "step {0}: loss = 0.1, mean_reward = 0.{0}\n"
    text = "".join(row.format(step) + form.format(step=step, n=step * 7 % 10) for step in range(40))
    (tmp_path / "train.log").write_text(text)
    assert not open_run(tmp_path).rollouts.steps


@pytest.mark.parametrize(("cells", "steps"), [(1, (1, 4, 7)), (2, (9,))])
def test_samples_behind_the_training_of_a_notebook_are_of_its_last_step(
    tmp_path: Path, cells: int, steps: tuple[int, ...]
) -> None:
    rows = "".join(f"<tr><td>{step}</td><td>0.{step}</td><td>0.{step}</td></tr>" for step in range(1, 10))
    page = f"<table><tr><th>Step</th><th>Training Loss</th><th>reward</th></tr>{rows}</table>"
    texts = "".join(f"Question: {asked(n)}\nModel Output:\n{answered(n, 1)}\nGold: {n}\n" for n in range(3))
    outputs = [{"output_type": "display_data", "data": {"text/html": [page]}}, {"output_type": "stream", "text": texts}]
    parts = [outputs] if cells == 1 else [outputs[:1], outputs[1:]]
    (tmp_path / "grpo.ipynb").write_text(
        json.dumps({"cells": [{"cell_type": "code", "outputs": one} for one in parts]})
    )
    assert open_run(tmp_path).rollouts.steps == steps


@pytest.mark.parametrize("name", ["train.jsonl", "math.json"])
def test_a_data_set_beside_a_log_is_no_sample(tmp_path: Path, name: str) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    (tmp_path / "data").mkdir()
    rows = [{"prompt": asked(n), "response": answered(n, 2)} for n in range(400)]
    scored = [{**row, "score": 4.5} for row in rows]
    text = json.dumps(scored) if name.endswith("json") else "\n".join(map(json.dumps, rows))
    (tmp_path / "data" / name).write_text(text)
    assert not open_run(tmp_path).rollouts.steps


def test_samples_that_ray_printed_are_read_and_a_score_among_them_is_no_metric(tmp_path: Path) -> None:
    ray = "\x1b[36m(TaskRunner pid=12)\x1b[0m "
    printed = [
        f"{ray}step:{step} - actor/pg_loss:0.1 - critic/score/mean:{step / 30}\n"
        f"{ray}[prompt] {asked(step)}\n{ray}[response] {answered(step, step)}\n{ray}[score] 1.0\n"
        for step in range(1, 30)
    ]
    (tmp_path / "train.log").write_text("".join(printed))
    run = open_run(tmp_path)
    assert (run.framework, len(run.rollouts.steps)) == ("verl", 29)
    assert (run.rollouts.at(3)[0].prompt, run.rollouts.at(3)[0].score) == (asked(3), 1.0)


def test_a_reward_of_one_sample_below_a_row_is_not_that_of_the_step(tmp_path: Path) -> None:
    row = "Step {0}/30 | loss: 0.1 | reward: 0.{0}\n  Prompt: why?\n  Response: because it is so\n  Reward: 1.0\n"
    (tmp_path / "train.log").write_text("".join(row.format(step) for step in range(10, 30)))
    reward = open_run(tmp_path).get("reward/mean")
    assert reward is not None
    np.testing.assert_allclose(reward.values, [step / 100 for step in range(10, 30)])


def test_a_date_in_a_name_is_not_a_step(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    rows = [{"doc": {"question": asked(n)}, "resps": [[answered(n, 1)]], "exact_match": 1.0} for n in range(5)]
    (tmp_path / "samples_gsm8k_2025-01-01T00-00-07.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run = open_run(tmp_path)
    assert len(run.rollouts.steps) == 5
    assert run.rollouts.at(0)[0].output == answered(0, 1)


def test_a_list_of_texts_is_no_list_of_samples(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    tools = [{"tool": f"tool {n}", "about": f"It does the {n}th thing with great care."} for n in range(9)]
    (tmp_path / "tools_sample.json").write_text(json.dumps(tools))
    assert not open_run(tmp_path).rollouts.steps


def test_what_a_logger_prints_in_small_letters_is_read(tmp_path: Path) -> None:
    row = "{'loss': 0.1, 'learning_rate': 1e-06, 'reward': 0.5, 'reward_std': 0.2, 'kl': 0.1, 'epoch': %s}\n"
    sample = (
        "2026-01-18 16:32:03.236 | DEBUG    | __main__:accuracy_reward:112 - predict_answer: %s, \n"
        "ground_truth: 46, \nanswer_parsed: [], gold_parsed: [], reward: 1.0\n\n"
    )
    text = "".join(sample % answered(n, n) + row % (n / 10) for n in range(10))
    (tmp_path / "train.log").write_text(text)
    run = open_run(tmp_path)
    assert len(run.rollouts.steps) == 10
    first = run.rollouts.at(run.rollouts.steps[0])[0]
    assert (first.output.rstrip(", "), first.score) == (answered(0, 0), 1.0)


def test_labelled_numbers_are_no_samples(tmp_path: Path) -> None:
    text = "".join(f"step {n} reward: 0.{n}\nPrompt: 450\nResponse: 0.{n} ± 0.01 (n=150)\n" for n in range(1, 30))
    (tmp_path / "train.log").write_text(text)
    assert not open_run(tmp_path).rollouts.steps


def test_sentences_that_a_program_logs_are_no_samples(tmp_path: Path) -> None:
    rows = [{"step": n, "reward": n / 40, "message": f"the state of step {n} was saved to the disk"} for n in range(40)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert not open_run(tmp_path).rollouts.steps


def test_generations_without_a_step_or_score_are_of_the_last_model(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(LOG)
    rows = [{"prompt": asked(n), "generated": answered(n, n)} for n in range(9)]
    (tmp_path / "generated_grpo.json").write_text(json.dumps(rows))
    assert open_run(tmp_path).rollouts.steps == (39,)


def verl(step: int) -> str:
    return f"step:{step} - actor/pg_loss:0.1 - critic/score/mean:{step / 30}\n"


def spoken(number: int) -> str:
    return f"[prompt] {asked(number)}\n[response] {answered(number, 9)}\n[score] 1.0\n"


def test_samples_in_the_log_of_another_run_are_not_this_runs(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join(verl(step) + spoken(step) for step in range(1, 31)))
    (tmp_path / "b.log").write_text(
        "".join(verl(31 - step).replace(f"step:{31 - step}", f"step:{step}") for step in range(1, 31))
    )
    assert not open_run(tmp_path / "b.log").rollouts.steps
    assert len(open_run(tmp_path / "a.log").rollouts.steps) == 30
    kept = [len(run.rollouts.steps) for run in open_runs(tmp_path)]
    assert kept == [30, 0]


def test_samples_stand_at_the_step_of_the_row_above_them(tmp_path: Path) -> None:
    """As those of a last validation, printed after all steps: they are no series over the run."""
    text = "".join(map(verl, range(1, 31))) + "".join(map(spoken, range(40)))
    (tmp_path / "train.log").write_text(text)
    run = open_run(tmp_path)
    assert run.rollouts.steps == (30,)
    assert len(run.rollouts.at(30)) == 40


def test_samples_among_rows_that_name_no_step_keep_their_place(tmp_path: Path) -> None:
    row = "{'loss': 0.1, 'learning_rate': 1e-06, 'reward': 0.5, 'reward_std': 0.2, 'kl': 0.1, 'epoch': %s}\n"
    text = "".join(row % (step / 40) for step in range(40))
    (tmp_path / "train.log").write_text(text + "".join(map(spoken, range(40))))
    assert open_run(tmp_path).rollouts.steps == (40,)


def test_samples_beside_several_runs_are_nobodys_unless_they_are_named_after_one(tmp_path: Path) -> None:
    for number in (1, 2):
        rows = [{"step": step, "reward": (step * number) % 7 / 7, "loss": 0.1} for step in range(40)]
        (tmp_path / f"trial_{number}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    samples = "".join(f"\n\n==============\n{ANSWER}" for _ in range(80))
    (tmp_path / "completion_samples.txt").write_text(samples)
    (tmp_path / "trial_2_samples.txt").write_text(samples)
    first, second = open_runs(tmp_path)
    assert not first.rollouts.steps
    assert any("samples of any of 2 runs" in note for note in first.notes)
    assert len(second.rollouts.steps) == 40
