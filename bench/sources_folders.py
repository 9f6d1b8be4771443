"""Known logs put together in the ways people do: `python bench/sources_folders.py [--from DIR]`.

Each folder says how many runs it holds and how many points the reward of the first has. No two runs may be merged and
none may be split. The numbers are drawn, or with `--from` those of the first logs with a reward below a folder.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from tables import Table

from leadline.errors import LeadlineError
from leadline.sources import find_runs, open_runs

Row = dict[str, object]
STEPS = 120
TEXT = "<think> I add both numbers and look at what comes out of it. </think> <answer> 4 </answer>"


def drawn(seed: int, steps: int = STEPS, first: int = 1) -> list[Row]:
    draws = np.random.default_rng(seed)
    values = 0.2 + 0.5 * np.linspace(0, 1, steps) + 0.05 * draws.standard_normal((3, steps))
    return [
        {"step": first + n, "reward": round(float(values[0, n]), 6), "kl": round(float(abs(values[1, n])) / 9, 6)}
        | {"loss": round(float(values[2, n]), 6), "reward_std": round(float(abs(values[1, n])), 6)}
        for n in range(steps)
    ]


def logged(folder: Path) -> Iterator[list[Row]]:
    """Rewards of the logs below a folder, as rows."""
    for place in sorted(one for one in folder.iterdir() if one.is_dir()):
        try:
            for run in open_runs(place):
                reward, loss = run.get("reward/mean"), run.get("loss/policy") or run.get("loss/total")
                if reward is not None and loss is not None and reward.points >= 60:
                    losses = dict(zip(loss.steps.tolist(), loss.values.tolist(), strict=True))
                    yield [
                        {"step": step, "reward": value, "loss": losses.get(step, 0.0)}
                        for step, value in zip(reward.steps.tolist(), reward.values.tolist(), strict=True)
                    ]
        except LeadlineError:
            continue


def put_lines(file: Path, rows: Sequence[Row]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def put_table(file: Path, rows: Sequence[Row]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def every(rows: Sequence[Row], nth: int) -> list[Row]:
    return [row for place, row in enumerate(rows) if place % nth == nth - 1]


def scores(rows: Sequence[Row], *names: str, nth: int = 20) -> list[Row]:
    draws = np.random.default_rng(99)
    return [
        {"step": row["step"], **{name: round(float(draws.random()), 4) for name in names}} for row in every(rows, nth)
    ]


def samples(rows: Sequence[Row], *, nth: int = 20, step: bool = True) -> list[Row]:
    held: list[Row] = []
    for row in every(rows, nth):
        for n in range(4):
            sample: Row = {"prompt": f"What is {n // 2} + 2?", "response": f"{TEXT} {n}", "reward": float(n % 2)}
            held.append({"step": row["step"], **sample} if step else sample)
    return held


@dataclass(frozen=True, slots=True)
class Made:
    """A folder, and what a person sees in it."""

    name: str
    write: Callable[[Path, Sequence[list[Row]]], None]
    runs: int = 1
    text: bool = False


def _beside(name: str, make: Callable[[Sequence[Row]], Sequence[Row]], *, text: bool = False) -> Made:
    def write(root: Path, logs: Sequence[list[Row]]) -> None:
        put_lines(root / "metrics.jsonl", logs[0])
        rows = make(logs[0])
        if name.endswith(".csv"):
            put_table(root / name, rows)
        elif name.endswith(".json"):
            (root / name).write_text(json.dumps(rows))
        else:
            put_lines(root / name, rows)

    return Made(f"log + {name}", write, text=text)


def _several(name: str, count: int) -> Made:
    def write(root: Path, logs: Sequence[list[Row]]) -> None:
        for n in range(count):
            rows = logs[n] if n < len(logs) else drawn(1000 + n, 30)
            put_lines(root / name.format(n), rows)

    return Made(f"{count} x {name}", write, runs=count)


def _with(made: Made, more: Callable[[Path, Sequence[list[Row]]], None], name: str) -> Made:
    def write(root: Path, logs: Sequence[list[Row]]) -> None:
        made.write(root, logs)
        more(root, logs)

    return Made(f"{made.name}, {name}", write, made.runs)


def _index(root: Path, logs: Sequence[list[Row]]) -> None:
    runs = sorted(file.relative_to(root) for file in root.rglob("*.jsonl"))
    put_table(
        root / "index.csv", [{"run": str(run.with_suffix("")), "reward": 0.5 + n / 9} for n, run in enumerate(runs)]
    )


def _numbered_index(root: Path, logs: Sequence[list[Row]]) -> None:
    count = sum(1 for _ in root.rglob("*.jsonl"))
    put_table(root / "results.csv", [{"run": n, "reward": 0.5 + n / 9, "kl": 0.1} for n in range(count)])


def _resumed(root: Path, logs: Sequence[list[Row]]) -> None:
    half = len(logs[0]) // 2
    put_lines(root / "metrics.jsonl", logs[0][:half])
    put_lines(root / "metrics_resumed.jsonl", logs[0][half:])


def _copied(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "metrics.jsonl", logs[0])
    put_table(root / "progress.csv", [{**row, "reward": round(float(str(row["reward"])), 4)} for row in logs[0]])


def _in_two(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "rewards.jsonl", [{"step": row["step"], "reward": row["reward"]} for row in logs[0]])
    put_lines(root / "losses.jsonl", [{"step": row["step"], "loss": row["loss"]} for row in logs[0]])


def _evaluated_each(root: Path, logs: Sequence[list[Row]]) -> None:
    for n in range(3):
        put_lines(root / f"seed{n}" / "metrics.jsonl", logs[n])
        put_lines(root / f"seed{n}" / "eval.jsonl", scores(logs[n], "reward", "accuracy"))


def _only_samples(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "what_it_wrote.jsonl", samples(logs[0], nth=1))


def _all_of_it(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "train_log.jsonl", logs[0])
    (root / "eval_history.json").write_text(json.dumps(scores(logs[0], "reward", "accuracy")))
    put_lines(root / "generations.jsonl", samples(logs[0], step=False))
    put_lines(root / "probes.jsonl", samples(logs[0], nth=40))
    (root / "predictions.json").write_text(json.dumps(samples(logs[0], step=False)))
    put_table(root / "validation_metrics.csv", scores(logs[0], "reward", "loss", nth=10))
    (root / "config.json").write_text(json.dumps({"learning_rate": 1e-6, "max_steps": 200}))


def put_printed(file: Path, rows: Sequence[Row]) -> None:
    """What a loop prints: fewer digits than it logs."""
    told = [" ".join(f"{key}={value:.4g}" for key, value in row.items()) for row in rows]  # type: ignore[str-format]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"[train] {line}\n" for line in told))


def _printed(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "metrics.jsonl", logs[0])
    put_printed(root / "stdout.log", logs[0])


def _printed_each(root: Path, logs: Sequence[list[Row]]) -> None:
    for n in range(2):
        put_lines(root / f"seed{n}" / "metrics.jsonl", logs[n])
        put_printed(root / f"seed{n}" / "train.log", logs[n])


def _copied_below(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "metrics.jsonl", logs[0])
    put_table(root / "logs" / "progress.csv", logs[0])


def _resumed_twice(root: Path, logs: Sequence[list[Row]]) -> None:
    third = len(logs[0]) // 3
    for n in range(3):
        put_lines(root / f"metrics_{n}.jsonl", logs[0][n * third : (n + 1) * third if n < 2 else None])


def _one_file_of_seeds(root: Path, logs: Sequence[list[Row]]) -> None:
    shortest = min(map(len, logs[:3]))
    first = int(str(logs[0][0]["step"]))
    seeds = [[{**row, "step": first + n} for n, row in enumerate(log[:shortest])] for log in logs[:3]]
    put_lines(root / "all_seeds.jsonl", [row for rows in seeds for row in rows])


def _one_table_of_seeds(root: Path, logs: Sequence[list[Row]]) -> None:
    seeds = [[{"seed": seed, **row} for row in log] for seed, log in enumerate(logs[:3])]
    put_table(root / "all_seeds.csv", [row for rows in zip(*seeds, strict=False) for row in rows])


def _one_table_of_methods(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(
        root / "all.jsonl", [{"method": name, **row} for name, log in zip("ab", logs, strict=False) for row in log]
    )


def _started_over(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "metrics.jsonl", [*logs[1][: len(logs[1]) // 3], *logs[0]])


def _evaluated_by_step(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "metrics.jsonl", logs[0])
    for row in scores(logs[0], "accuracy", "reward"):
        place = root / "eval" / f"step_{row['step']}" / "metrics.json"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps({"accuracy": row["accuracy"], "reward": row["reward"]}))


def _with_papers(root: Path, logs: Sequence[list[Row]]) -> None:
    put_lines(root / "train.jsonl", logs[0])
    (root / "README.md").write_text("# A run\n\nReward 0.7 at step 100, loss 0.2 at step 200.\n")
    (root / "config.yaml").write_text("learning_rate: 1.0e-6\nmax_steps: 300\n")
    (root / "summary.json").write_text(json.dumps({"final_reward": 0.71, "best_step": 90, "steps": [90, 100]}))


def _text(form: str) -> Made:
    def write(root: Path, logs: Sequence[list[Row]]) -> None:
        put_lines(root / "metrics.jsonl", logs[0])
        held = samples(logs[0], nth=4)
        if form == "headings":
            told = [
                f"------------- 04-{n // 60:02}-{n % 60:02}-06-338654 Accuracy reward: {one['reward']} -------------\n"
                f"Content: {one['response']}\nSolution: 4\n"
                for n, one in enumerate(held)
            ]
            (root / "debug_log_2b.txt").write_text("".join(told))
        elif form == "rules":
            (root / "completion_samples.txt").write_text(
                "".join(f"\n\n==============\n{one['response']}" for one in held)
            )
        elif form == "labels":
            told = [
                f"[prompt] {one['prompt']}\n[response] {one['response']}\n[score] {one['reward']}\n" for one in held
            ]
            (root / "console.out").write_text("".join(told))
        else:
            table = {"columns": list(held[0]), "data": [list(one.values()) for one in held]}
            place = root / "media/table/train/samples_9_abcdef.table.json"
            place.parent.mkdir(parents=True)
            place.write_text(json.dumps(table))

    return Made(f"log + text as {form}", write, text=True)


def made() -> list[Made]:
    held_out = ("eval_history.json", "eval_history.jsonl", "eval.csv", "validation_metrics.jsonl", "val_metrics.json")
    held_out += ("test_results.csv", "heldout.jsonl", "evaluation_log.jsonl", "probe_metrics.jsonl", "benchmark.csv")
    text = ("generations.jsonl", "samples.jsonl", "probes.jsonl", "eval_samples.jsonl", "outputs.jsonl", "debug.jsonl")
    several = [_several("seed{}.jsonl", 3), _several("seed{}/metrics.jsonl", 4), _several("run_{:03}.jsonl", 128)]
    several += [_several("train_log_lr{}.jsonl", 5), _several("exp{}/logs/train.jsonl", 3)]
    folders = [_beside(name, lambda rows: scores(rows, "reward", "accuracy")) for name in held_out]
    folders += [_beside(name, lambda rows: scores(rows, "accuracy")) for name in ("accuracy.csv", "gsm8k.jsonl")]
    folders += [_beside(name, lambda rows: scores(rows, "val_reward")) for name in ("history.jsonl", "curve.csv")]
    folders += [_beside(f"more_{name}", lambda rows: scores(rows, "reward", nth=5)) for name in held_out[:5]]
    folders += [_beside(name, lambda rows: samples(rows), text=True) for name in text]
    folders += [_beside(f"all_{name}", lambda rows: samples(rows, step=False), text=True) for name in text]
    folders += [
        _beside(name, lambda rows: samples(rows, step=False), text=True)
        for name in ("predictions.json", "final_predictions.jsonl")
    ]
    folders += several
    folders += [_with(one, _index, "an index") for one in several[:2]]
    folders += [_with(one, _numbered_index, "results") for one in several[:2]]
    folders += [Made("resumed", _resumed), Made("copied", _copied), Made("in two files", _in_two)]
    folders += [Made("3 seeds with evaluations", _evaluated_each, 3), Made("samples alone", _only_samples, text=True)]
    folders += [Made("all of it", _all_of_it, text=True)]
    folders += [Made("a log and what was printed", _printed), Made("the same of 2 seeds", _printed_each, 2)]
    folders += [Made("copied below", _copied_below), Made("resumed twice", _resumed_twice)]
    folders += [Made("started over", _started_over), Made("evaluations by step", _evaluated_by_step)]
    folders += [Made("papers about a run", _with_papers), Made("3 seeds in one file", _one_file_of_seeds, 3)]
    folders += [Made("3 seeds in one table, told by a column", _one_table_of_seeds, 3)]
    folders += [Made("2 methods in one file, told by a column", _one_table_of_methods, 2)]
    return folders + [_text(form) for form in ("headings", "rules", "labels", "table")]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Put known logs together and count the runs that come out.")
    parser.add_argument("--from", dest="logs", type=Path, help="a folder of runs whose numbers are used")
    asked = parser.parse_args(argv)
    logs = [rows for rows, _ in zip(logged(asked.logs), range(5), strict=False)] if asked.logs else []
    logs += [drawn(seed) for seed in range(5 - len(logs))]
    wrong, merged, split, unread, texts = [], 0, 0, 0, 0
    folders = made()
    for one in folders:
        with tempfile.TemporaryDirectory() as place:
            root = Path(place) / "run"
            root.mkdir()
            one.write(root, logs)
            try:
                found = find_runs(root)
                runs = list(open_runs(root))
            except LeadlineError as error:
                wrong.append(f"- {one.name}: {error.what}")
                continue
            merged, split = merged + (len(found.runs) < one.runs), split + (len(found.runs) > one.runs)
            reward = runs[0].get("reward/mean")
            texts += one.text
            if len(found.runs) != one.runs:
                names = ", ".join(run.name for run in found.runs[:6])
                wrong.append(f"- {one.name}: {len(found.runs)} runs, {one.runs} there: {names}")
            elif reward is None or reward.points != len(logs[0]):
                wrong.append(f"- {one.name}: {reward.points if reward is not None else 'no'} points of {len(logs[0])}")
            elif one.text and not runs[0].rollouts:
                unread += 1
                wrong.append(f"- {one.name}: no text was read")
    rows = [
        [str(len(folders)), str(len(folders) - len(wrong)), str(merged), str(split), f"{texts - unread} of {texts}"]
    ]
    columns = ["folders", "right", "merged", "split", "text read"]
    print(Table("Known logs put together", "none merged, none split", columns, rows).text())
    print("\n".join(["### Misses, one by one", "", *(wrong or ["none"]), ""]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
