"""Which step the rows of a Trainer have: it prints none, and its progress bar tells."""

from __future__ import annotations

import pytest

from leadline.sources import console
from leadline.sources.source import Log

TRAINING = "{'loss': 0.1, 'reward': 0.0%d, 'learning_rate': 1e-06, 'epoch': 0.1}"
EVALUATION = "{'eval_loss': 0.1, 'eval_reward': 0.5, 'eval_runtime': 1.0, 'epoch': 0.1}"
CLOSING = "{'train_runtime': 9.0, 'train_loss': 0.1, 'epoch': 1.0}"


def other(count: int) -> str:
    """A bar of something else."""
    return f" 10%|#     | {count}/2 [00:00<00:02,  2.28it/s]"


def drawn(*script: object, total: int = 60) -> bytes:
    """A console: a number is a bar drawn at that count, "row" the next row of training, other text as it is."""
    lines, rows = [], 0
    for one in script:
        if isinstance(one, int):
            lines.append(f"{one * 100 // total:3}%|###   | {one}/{total} [00:00<00:02,  2.28it/s]")
        elif one == "row":
            rows += 1
            lines.append(TRAINING % rows)
        else:
            lines.append(str(one))
    return "\n".join(lines).encode() + b"\n"


def read(data: bytes, piece: int | None = None) -> Log:
    parser = console.parser()
    for start in range(0, len(data), piece or len(data)):
        parser.feed(data[start : start + (piece or len(data))])
        if piece:
            parser.log()  # looking must change nothing
    return parser.log()


SCRIPTS: dict[str, tuple[tuple[object, ...], list[int]]] = {
    "every step drawn, then drawn again": ((0, 1, "row", 1, 2, "row", 2, 3, "row", 3), [1, 2, 3]),
    "a fast step is drawn only after its row": ((0, 1, "row", 1, "row", 2, "row", 3, 4, "row", 4), [1, 2, 3, 4]),
    "fast from the start": ((0, "row", 1, "row", 2, "row", 3), [1, 2, 3]),
    "one fast step, logged every second": ((0, 1, 2, "row", 2, 3, "row", 4, 5, 6, "row", 6), [2, 4, 6]),
    "nothing is drawn again": ((0, 1, "row", 2, "row", 3, "row", 4), [1, 2, 3]),
    "the bar stands still": ((0, 1, "row", "row", "row"), [1, 2, 3]),
    "an evaluation stands where the bar does": ((0, 1, "row", 1, EVALUATION, 1, 2, "row", 2), [1, 1, 2]),
    "so does the summary": ((0, 1, "row", 1, 2, "row", 2, CLOSING, 2, 2), [1, 2, 2]),
    "an attempt that closes its bar and one that resumes": (
        (0, 1, "row", 1, 2, "row", 2, 3, "row", 3, 3, 0, 2, "row", 2, "row", 3),
        [1, 2, 3, 2, 3],
    ),
    "rows held back until the end": ((0, 1, 1, 2, 2, 3, 3, "row", "row", "row"), [1, 2, 3]),
    "rows held back until one of them is written": (
        (*range(21), 20, *range(21, 41), 40, *range(41, 61), "row", "row", "row", 60),
        [20, 40, 60],
    ),
    "and again later": (
        (*range(11), 10, *range(11, 21), "row", "row", 20, *range(21, 31), 30, *range(31, 41), 40, "row", "row"),
        [10, 20, 30, 40],
    ),
    "no bar at all": (("row", "row", EVALUATION, "row"), [1, 2, 2, 3]),
    "a bar that was full before all rows": ((60, "row", "row", EVALUATION, "row"), [1, 2, 2, 3]),
    "one that ran before": ((other(0), other(1), other(2), 0, 1, "row", 1, 2, "row", 2), [1, 2]),
    "two bars of something else": (
        (30, *["row"] * 5, other(1), *["row"] * 4, " 10%|#   | 3/7 [00:00<00:02,  2.28it/s]", *["row"] * 4),
        [*range(1, 14)],
    ),
    "a bar that is drawn once, long before its end": ((30, *["row"] * 5, CLOSING), [1, 2, 3, 4, 5, 5]),
    "one row behind the end is no reason to doubt the bar": (
        (0, 20, "row", 20, 40, "row", 40, 60, "row", 60, "row"),
        [20, 40, 60, 80],
    ),
    "a training after another": ((60, "row", "row", "row", CLOSING, "row", "row", CLOSING), [1, 2, 3, 3, 1, 2, 2]),
    "each with its bar": (
        (0, 2, "row", 2, 4, "row", 4, CLOSING, 4, other(0), other(1), "row", other(1), other(2), "row", other(2)),
        [2, 4, 4, 1, 2],
    ),
    "an evaluation after the end": ((0, 2, "row", 2, CLOSING, 2, other(0), other(1), EVALUATION), [2, 2, 2]),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_row_gets_the_step_it_was_logged_at(name: str) -> None:
    script, steps = SCRIPTS[name]
    assert read(drawn(*script)).table.row_steps.tolist() == steps


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("piece", [1, 7, 64])
def test_reading_along_gives_the_same_steps(name: str, piece: int) -> None:
    script, steps = SCRIPTS[name]
    assert read(drawn(*script), piece).table.row_steps.tolist() == steps


def test_values_move_with_their_step() -> None:
    column = read(drawn(0, 1, "row", 1, 2, 3, 4, "row", 5)).table.columns()["reward"]
    assert (column.steps.tolist(), column.values.tolist()) == ([1, 5], [0.01, 0.02])


def test_without_a_bar_rows_are_counted_and_that_is_said() -> None:
    assert read(drawn("row", "row")).counts_rows
    assert not read(drawn(0, "row", 1)).counts_rows


@pytest.mark.parametrize(
    ("script", "planned"),
    [
        ((0, 1, "row", 1), 60),
        ((60, "row", "row"), None),
        ((other(0), other(2), 0, 1, "row", 1), 60),
        ((30, *["row"] * 5), None),
        ((0, 2, "row", 2, CLOSING, 2, other(0), EVALUATION, other(1)), 60),
        ((0, 2, "row", 2, CLOSING, other(0), other(1), "row", other(1)), 2),
    ],
)
def test_the_bar_that_counts_the_rows_tells_the_plan(script: tuple[object, ...], planned: int | None) -> None:
    assert read(drawn(*script)).settings.get("max_steps") == planned


def row(step: int) -> str:
    values = {"loss": 0.1, "grad_norm": 0.2, "learning_rate": 1e-6, "reward": step / 100, "epoch": step / 300}
    return f"{values}\n"


def steps_of(text: str) -> list[int]:
    parser = console.parser()
    parser.feed(text.encode())
    log = parser.log()
    assert not log.counts_rows
    steps: list[int] = log.table.row_steps.tolist()
    return steps


def test_rows_between_bars_that_are_drawn_seldom_keep_their_pace() -> None:
    printed = "  0%|          | 0/100 [00:00<?, ?it/s]\n"
    for step in range(5, 101, 5):
        printed += row(step)
        if step % 25 == 20:
            printed += f" {step}%|##        | {step + 4}/100 [00:10<00:10, 1.0it/s]\n"
    assert steps_of(printed) == [*range(5, 101, 5)]


def test_rows_without_a_bar_are_spread_over_the_steps_that_the_trainer_says_it_did() -> None:
    printed = "GRPO: num_generations=4, max_steps=75\n" + "".join(map(row, range(5, 76, 5)))
    summary = {"train_runtime": 4037.192, "train_steps_per_second": 0.019, "train_loss": 1e-5, "epoch": 0.25}
    assert steps_of(f"{printed}{summary}\n") == [*range(5, 76, 5), 75]


def test_a_supervised_training_before_the_rl_is_left_out() -> None:
    supervised = "".join(
        f"{{'loss': {1 / step}, 'learning_rate': 1e-05, 'epoch': {step / 9}}}\n" for step in range(1, 9)
    )
    summary = "{'train_runtime': 10.0, 'train_steps_per_second': 0.8, 'train_loss': 0.2, 'epoch': 1.0}\n"
    parser = console.parser()
    parser.feed((supervised + summary + "".join(map(row, range(1, 7)))).encode())
    assert parser.log().table.row_steps.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_bar_that_begins_before_the_first_row_takes_over_from_one_that_broke_off() -> None:
    printed = "  0%|          | 0/192 [00:00<?, ?it/s]\n  0%|          | 0/768 [00:00<?, ?it/s]\n"
    for step in range(1, 13):
        printed += f"  {step}%|          | {step}/768 [00:10<00:10, 1.0it/s]\n" + (row(step + 1) if step % 2 else "")
    assert steps_of(printed)[-1] in (11, 12)


def test_what_was_read_while_it_grew_is_what_is_read_at_the_end() -> None:
    """Bars that are rare at first tell a pace, which those that come often later do not confirm."""
    often = [mark for step in range(51, 60) for mark in (step, "row")]
    first, all_of_it = drawn(*["row"] * 10, 50), drawn(*["row"] * 10, 50, *often)
    assert all_of_it.startswith(first)
    live, whole = console.parser(), console.parser()
    live.feed(first)
    assert live.log().table.row_steps.tolist()[:3] == [5, 10, 15]
    for parser, rest in ((live, all_of_it[len(first) :]), (whole, all_of_it)):
        parser.feed(rest)
    assert live.log().table.row_steps.tolist() == whole.log().table.row_steps.tolist()
