"""Kept samples, as each framework keeps them."""

from __future__ import annotations

import json
import math
import resource
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from extras import needs
from hypothesis import given
from hypothesis import strategies as st

from leadline.run import Rollout, Rollouts
from leadline.sources import rollouts
from leadline.sources.rollouts import FORMATS, files, grouped, index
from leadline.sources.rollouts.fields import Raw
from leadline.sources.walk import walk


def put(file: Path, records: Sequence[Mapping[str, object]], end: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records) + end)
    return file


def found(root: Path) -> rollouts.KeptSamples:
    return rollouts.find(walk(root).files)


def told(samples: Sequence[Rollout]) -> list[tuple[str, str, float, int | None]]:
    return [(one.prompt, one.output, one.score, one.group) for one in samples]


def verl(root: Path) -> None:
    rows = [{"input": q, "output": a, "gts": "x", "score": s, "step": 12} for q, a, s in TRIPLES]
    put(root / "rollouts" / "12.jsonl", rows, end='{"input": "torn", "out')
    put(root / "validation" / "12.jsonl", [{"input": "held", "output": "out", "score": 1.0}])


def nemo_rl(root: Path) -> None:
    rows = [{"content": [[q, a]], "rewards": [s], "token_ids": [[1, 2]], "idx": [0]} for q, a, s in TRIPLES]
    put(root / "logs" / "exp_002" / "train_data_step12.jsonl", rows)
    put(root / "logs" / "exp_001" / "train_data_step12.jsonl", [{"content": [["old", "old"]], "rewards": [9.0]}])
    put(root / "logs" / "exp_002" / "val_data_step12.jsonl", [{"content": [["held", "out"]], "rewards": [1.0]}])


def skyrl(root: Path) -> None:
    folder = root / "exports" / "dumped_evals" / "global_step_12_evals"
    put(folder / "gsm8k.jsonl", [{"input_prompt": q, "output_response": a, "score": s} for q, a, s in TRIPLES])
    put(folder / "aggregated_results.jsonl", [{"score": 0.5}])


def prime_rl(root: Path) -> None:
    rows = [{"prompt": [{"role": "user", "content": q}], "completion": a, "reward": s} for q, a, s in TRIPLES]
    put(root / "rollouts" / "step_12" / "train" / "all" / "traces.jsonl", rows)
    put(root / "rollouts" / "step_12" / "train" / "effective" / "traces.jsonl", rows[:1])
    put(root / "rollouts" / "step_12" / "eval" / "all" / "traces.jsonl", rows[:1])


def roll(root: Path) -> None:
    columns = {"global_step": [12] * 4, "prompt": [q for q, _, _ in TRIPLES], "responses": [a for _, a, _ in TRIPLES]}
    put(root / "dump" / "rollout_dump_data.step_12.jsonl", [{**columns, "scores": [s for _, _, s in TRIPLES]}])


def areal(root: Path) -> None:
    for task, prompt in enumerate(("q1", "q2", "q3")):
        rows = [
            {"task_id": task, "sample_idx": n, "prompt": q, "completion": a, "reward": s, "head_version": 12}
            for n, (q, a, s) in enumerate(TRIPLES)
            if q == prompt
        ]
        put(root / "rollout" / "12" / f"{task}.jsonl", rows)


def trl(root: Path) -> None:
    arrow, parquet = needs("pyarrow", "parquet"), needs("pyarrow.parquet", "parquet")
    columns = {
        "step": [12] * 4,
        "prompt": [q for q, _, _ in TRIPLES],
        "completion": [a for _, a, _ in TRIPLES],
        "format_reward": [s / 2 for _, _, s in TRIPLES],
        "answer_reward": [s / 2 for _, _, s in TRIPLES],
        "advantage": [9.0] * 4,
    }
    (root / "completions").mkdir()
    parquet.write_table(arrow.table(columns), root / "completions" / "completions_00012.parquet")


def wandb_table(root: Path) -> None:
    table = {"columns": ["step", "prompt", "completion", "reward"], "data": [[12, *triple] for triple in TRIPLES]}
    file = root / "media" / "table" / "completions_12_ab12.table.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(table))


def blocks(root: Path) -> None:
    printed = (f"----- step 12 reward: {s} -----\nPrompt: {q}\nResponse: {a}\n" for q, a, s in TRIPLES)
    (root / "debug.txt").write_text("".join(printed))


def generic_table(root: Path) -> None:
    lines = ["step,prompt,response,reward", *(f"12,{q},{a},{s}" for q, a, s in TRIPLES)]
    (root / "samples.csv").write_text("\n".join(lines))


def generic(root: Path) -> None:
    put(root / "samples.jsonl", [{"step": 12, "prompt": q, "response": a, "reward": s} for q, a, s in TRIPLES])


def generic_parquet(root: Path) -> None:
    arrow, parquet = needs("pyarrow", "parquet"), needs("pyarrow.parquet", "parquet")
    rows = [{"step": 12, "question": q, "output": a, "score": s} for q, a, s in TRIPLES]
    parquet.write_table(arrow.Table.from_pylist(rows), root / "samples.parquet")


FORMAT = {"generic_parquet": "generic", "generic_table": "generic"}
TRIPLES = [("q1", "a", 1.0), ("q1", "b", 0.0), ("q2", "c", 0.5), ("q2", "d", 0.25)]
WRITERS = [
    verl,
    nemo_rl,
    skyrl,
    prime_rl,
    roll,
    areal,
    trl,
    wandb_table,
    generic,
    generic_parquet,
    generic_table,
    blocks,
]


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_samples_come_with_prompt_output_score_and_group(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path)
    kept = found(tmp_path)
    assert kept.rollouts.steps == (12,)
    assert kept.format == FORMAT.get(write.__name__, write.__name__)
    assert told(kept.rollouts.at(12)) == [
        ("q1", "a", 1.0, 0),
        ("q1", "b", 0.0, 0),
        ("q2", "c", 0.5, 1),
        ("q2", "d", 0.25, 1),
    ]


def test_every_format_is_tested() -> None:
    assert FORMATS.keys() == {FORMAT.get(write.__name__, write.__name__) for write in WRITERS} | {
        "tinker",
        "open_instruct",
    }


def test_tinker_keeps_rewards_and_groups_and_text_only_where_it_was_logged(tmp_path: Path) -> None:
    turn = {"ob_len": 5, "ac_len": 7, "reward": 1.0, "logs": {"Problem": "2+2=", "Response": "4"}}
    rows = [
        {"iteration": 3, "group_idx": 0, "traj_idx": 0, "total_reward": 1.0, "steps": [turn]},
        {"iteration": 3, "group_idx": 0, "traj_idx": 1, "total_reward": 0.0, "steps": [{**turn, "logs": {}}]},
    ]
    put(tmp_path / "iteration_000003" / "train_rollout_summaries.jsonl", rows)
    put(tmp_path / "iteration_000003" / "eval_gsm8k_rollout_summaries.jsonl", rows)
    assert told(found(tmp_path).rollouts.at(3)) == [("2+2=", "4", 1.0, 0), ("", "", 0.0, 0)]


def test_open_instruct_keeps_token_ids_and_that_is_said(tmp_path: Path) -> None:
    rows = [
        {"step": step, "prompt_idx": n // 2, "prompt_tokens": [5, n // 2], "response_tokens": [n], "reward": 10.0 * n}
        for step in (1, 2)
        for n in range(4)
    ]
    put(tmp_path / "run_rollouts_000000.jsonl", rows[:6])
    put(tmp_path / "run_rollouts_000001.jsonl", rows[6:])
    put(tmp_path / "run_metadata.jsonl", [{"run_name": "run"}])
    kept = found(tmp_path)
    assert kept.rollouts.steps == (1, 2)
    assert told(kept.rollouts.at(2)) == [
        ("5 0", "0", 0.0, 0),
        ("5 0", "1", 10.0, 0),
        ("5 1", "2", 20.0, 1),
        ("5 1", "3", 30.0, 1),
    ]
    assert kept.notes == ("the samples hold token ids, not text",)


def test_evaluation_samples_stand_in_where_no_others_were_kept_and_that_is_said(tmp_path: Path) -> None:
    put(tmp_path / "val_dump" / "5.jsonl", [{"input": "q", "output": "a", "score": 1.0}])
    kept = found(tmp_path)
    assert kept.rollouts.steps == (5,)
    assert "evals" in kept.notes[0]


def test_a_prompt_that_was_sampled_once_is_no_group() -> None:
    samples = grouped(1, [Raw("q1", "a"), Raw("q2", "b"), Raw("q1", "c"), Raw("", "d"), Raw("", "e")])
    assert [one.group for one in samples] == [0, None, 0, None, None]


def test_a_group_that_the_dump_names_stands_before_equal_prompts() -> None:
    samples = grouped(1, [Raw("q", "a", group=7), Raw("q", "b"), Raw("q", "c", group="x"), Raw("q", "d", group="x")])
    assert [one.group for one in samples] == [7, None, 0, 0]


def test_too_many_samples_are_thinned_by_whole_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "MOST", 20)
    raws = [Raw(f"q{n // 4}", str(n)) for n in range(100)]
    samples = grouped(1, raws)
    assert len(samples) == 20
    assert samples[0].prompt == "q0"
    assert samples[-1].prompt == "q24"
    assert all(sum(one.group == two.group for two in samples) == 4 for one in samples)


def test_a_file_that_is_gone_is_a_step_without_samples(tmp_path: Path) -> None:
    verl(tmp_path)
    kept = found(tmp_path)
    (tmp_path / "rollouts" / "12.jsonl").unlink()
    assert kept.rollouts.at(12) == ()


def test_until_leaves_later_samples_out(tmp_path: Path) -> None:
    put(tmp_path / "s.jsonl", [{"step": n, "prompt": "q", "output": str(n), "score": n} for n in range(10)])
    early = found(tmp_path).rollouts.until(4)
    assert early.steps == (0, 1, 2, 3, 4)
    assert early.at(7) == ()


def test_parquet_without_its_extra_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trl(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    kept = found(tmp_path)
    assert not kept.rollouts
    assert "leadline[parquet]" in kept.notes[0]


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_half_written_parquet_is_left_out_and_said(tmp_path: Path, share: float) -> None:
    trl(tmp_path)
    file = tmp_path / "completions" / "completions_00012.parquet"
    whole = file.read_bytes()
    (file.parent / "completions_00013.parquet").write_bytes(whole[: int(len(whole) * share)])
    (file.parent / "completions_00014.parquet").write_bytes(b"PAR1" + b"\0" * 50 + b"PAR1")
    kept = found(tmp_path)
    assert kept.rollouts.at(13) == kept.rollouts.at(14) == ()
    assert "completions_00013.parquet breaks off and was left out" in kept.notes


def test_a_dump_far_beyond_the_budget_is_looked_into_from_start_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "BUDGET", 1 << 18)
    rows = [
        {"step": step, "prompt": f"{step}-{n // 8}", "output": "x" * 500 + str(n), "score": 0.0}
        for step in range(200)
        for n in range(64)
    ]
    file = put(tmp_path / "samples.jsonl", rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kept = found(tmp_path)
    steps = kept.rollouts.steps
    assert (steps[0], steps[-1]) == (0, 199)
    assert len(steps) > 50
    assert "a part of them was looked at" in kept.notes[0]
    samples = kept.rollouts.at(0)
    assert samples[0].output == "x" * 500 + "0"
    groups = [sum(one.group == two.group for two in samples) for one in samples if one.group is not None]
    assert 8 in groups  # neighbours are read together, so whole groups are among them
    assert found(tmp_path).rollouts.at(0) == samples
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < file.stat().st_size / 1024


@given(st.lists(st.integers(0, 60), max_size=80), st.integers(1, 400))
def test_lines_are_never_cut_nor_told_twice(lengths: list[int], budget: int) -> None:
    lines = [f"{n}:{'x' * length}".encode() for n, length in enumerate(lengths)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x"
        file.write_bytes(b"".join(line + b"\n" for line in lines))
        seen = [line.rstrip(b"\n") for _, line in files.lines_at(file, budget)]
    assert len(set(seen)) == len(seen)
    assert set(seen) <= set(lines)
    if file_size(lines) <= budget:
        assert seen == lines


def file_size(lines: Sequence[bytes]) -> int:
    return sum(len(line) + 1 for line in lines)


@pytest.mark.parametrize("form", FORMATS)
@given(garbage=st.binary(max_size=200))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, form: str, garbage: bytes) -> None:
    root = tmp_path_factory.mktemp("x")
    names = {
        "trl": "completions_1.parquet",
        "nemo_rl": "train_data_step1.jsonl",
        "skyrl": "global_step_1_evals/a.jsonl",
        "prime_rl": "a/b/rollouts/step_1/train/all/traces.jsonl",
        "roll": "rollout_dump_data.step_1.jsonl",
        "tinker": "iteration_1/train_rollout_summaries.jsonl",
        "open_instruct": "a_rollouts_000000.jsonl",
        "areal": "rollout/1/a.jsonl",
        "verl": "1.jsonl",
        "wandb_table": "media/table/completions_1_ab.table.json",
        "generic": "x.jsonl",
        "blocks": "x.txt",
    }
    file = root / names[form]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(garbage)
    kept = Rollouts(FORMATS[form]([file]).training, rollouts.read_step)
    assert all(isinstance(sample.output, str) for step in kept.steps for sample in kept.at(step))


def test_a_score_that_is_no_number_is_nan(tmp_path: Path) -> None:
    put(tmp_path / "1.jsonl", [{"input": "q", "output": "a", "score": "high"}, {"input": "q", "output": "b"}])
    assert [math.isnan(one.score) for one in found(tmp_path).rollouts.at(1)] == [True, True]
