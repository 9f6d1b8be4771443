"""Nothing leaks: a log cut after step k reads like the whole log with `until(k)`."""

from __future__ import annotations

import numpy as np
from conftest import Rows, trl_bytes, verl_bytes
from hypothesis import assume, example, given
from hypothesis import strategies as st

from leadline.run import Run, Series
from leadline.sources import Log, Source, json_document, json_lines
from leadline.sources.assemble import Surroundings, assemble

TRL_KEYS = [
    "reward",
    "kl",
    "ratio",
    "completion_length",
    "completions/mean_length",
    "eval_reward",
    "odd",
    "train_runtime",
]
VERL_KEYS = ["critic/score/mean", "timing_s/step", "perf/time_per_step", "actor/entropy", "actor/entropy_loss", "odd"]
numbers = st.none() | st.sampled_from([0, 0.0, 1.5, float("nan"), float("inf"), True, "0.25", "word"])


def logs(keys: list[str]) -> st.SearchStrategy[Rows]:
    values = st.dictionaries(st.sampled_from(keys), numbers, max_size=4)
    return st.lists(st.tuples(st.integers(0, 12), values), min_size=1, max_size=14)


def parse(source: Source, data: bytes) -> Log:
    parser = source.parser()
    parser.feed(data)
    return parser.log()


def told(series: Series) -> tuple[object, ...]:
    return series.name, series.key, series.kind, series.steps.tobytes(), series.values.tobytes()


def assert_same(one: Run, other: Run) -> None:
    assert list(map(told, one.series)) == list(map(told, other.series))
    assert list(map(told, one.unread)) == list(map(told, other.unread))
    assert [(event.kind, event.step, event.facts) for event in one.events] == [
        (event.kind, event.step, event.facts) for event in other.events
    ]
    assert (one.first_step, one.last_step) == (other.first_step, other.last_step)
    assert one.config == other.config


@given(logs(TRL_KEYS), st.integers(0, 12))
def test_a_cut_trl_log_reads_like_until(rows: Rows, k: int) -> None:
    whole = assemble("x", parse(json_document, trl_bytes(rows)), Surroundings())
    assume(not any("restarts from" in note for note in whole.notes))  # a cut by steps takes away what tells a restart
    cut_rows = [(step, values) for step, values in rows if step <= k]
    if not cut_rows:
        assert whole.until(k).series == ()
        return
    cut = assemble("x", parse(json_document, trl_bytes(cut_rows, global_step=k)), Surroundings())
    assume(cut.config.algorithm == whole.config.algorithm)  # a key of a later row tells the algorithm
    assert_same(whole.until(k), cut)


@given(logs(VERL_KEYS), st.integers(0, 12))
@example([(1, {}), (10, {}), (5, {}), (7, {"critic/score/mean": 0})], 7)
@example([(7, {}), (3, {}), (10, {}), (5, {"critic/score/mean": 0})], 7)
def test_a_cut_verl_log_reads_like_until(rows: Rows, k: int) -> None:
    whole = assemble("x", parse(json_lines, verl_bytes(rows)), Surroundings())
    assume(not any("restarts from" in note for note in whole.notes))  # a cut by steps takes away what tells a restart
    cut_rows = [(step, values) for step, values in rows if step <= k]
    if not cut_rows:
        assert whole.until(k).series == ()
        return
    cut = assemble("x", parse(json_lines, verl_bytes(cut_rows)), Surroundings())
    assume(cut.framework is not None or whole.framework is None)  # rows before those that tell the framework
    assert_same(whole.until(k), cut)


@given(logs(VERL_KEYS), st.integers(0, 12), st.integers(0, 12))
def test_until_twice_is_until_the_earlier(rows: Rows, one: int, other: int) -> None:
    whole = assemble("x", parse(json_lines, verl_bytes(rows)), Surroundings())
    assert_same(whole.until(one).until(other), whole.until(min(one, other)))


@given(logs(VERL_KEYS), st.randoms(use_true_random=False))
def test_the_order_of_keys_in_a_row_does_not_matter(rows: Rows, random: np.random.Generator) -> None:
    shuffled = [(step, dict(sorted(values.items(), key=lambda _: random.random()))) for step, values in rows]
    assert_same(
        assemble("x", parse(json_lines, verl_bytes(rows)), Surroundings()),
        assemble("x", parse(json_lines, verl_bytes(shuffled)), Surroundings()),
    )


@given(logs(VERL_KEYS), st.integers(0, 12))
def test_what_is_written_after_a_step_does_not_change_it(rows: Rows, k: int) -> None:
    """Also where the log begins anew: the file as it was when its last row up to that step had been written."""
    upto = max((place for place, (step, _) in enumerate(rows, 1) if step <= k), default=0)
    assume(upto)
    whole = assemble("x", parse(json_lines, verl_bytes(rows)), Surroundings())
    then = assemble("x", parse(json_lines, verl_bytes(rows[:upto])), Surroundings())
    assume(then.framework is not None or whole.framework is None)  # rows before those that tell the framework
    assert_same(whole.until(k), then.until(k))
