"""What is kept from one look to the next changes nothing but the time that a look takes."""

from __future__ import annotations

import subprocess
import sys
import weakref

import numpy as np
import pytest
from conftest import EXAMPLES, ROOT
from hypothesis import given
from hypothesis import strategies as some

from leadline.curve.fit import break_at, fit_curve
from leadline.kept import forget, kept
from leadline.pipeline import read
from leadline.report.data import as_data, dump
from leadline.run import Series

FRESH = """
import sys
from leadline.pipeline import read
from leadline.report.data import as_data, dump
print(dump(as_data(read(sys.argv[1], until=int(sys.argv[2])))))
"""


def said(run: str, until: int) -> str:
    return dump(as_data(read(EXAMPLES / run, until=until)))


def series(values: list[float]) -> Series:
    return Series("reward/mean", "reward", "reward", np.arange(len(values)), np.array(values))


@pytest.mark.parametrize("run", ["healthy", "collapsed", "hacked"])
def test_a_look_after_others_says_what_the_first_of_a_process_says(run: str) -> None:
    last = read(EXAMPLES / run).run.last_step or 0
    steps = [last * share // 5 for share in (3, 4, 5, 4)]
    in_sequence = [said(run, step) for step in steps]
    alone = []
    for step in steps[:3]:
        forget()
        alone.append(said(run, step))
    assert in_sequence == [*alone, alone[1]]
    command = [sys.executable, "-c", FRESH, str(EXAMPLES / run), str(steps[2])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == alone[2].strip()


@given(some.lists(some.sampled_from([0.0, 0.1, 0.5, 0.52, 1.0]), min_size=4, max_size=40), some.integers(1, 12))
def test_a_curve_that_grew_is_as_if_it_had_never_been_shorter(values: list[float], more: int) -> None:
    def curve(count: int) -> bytes:
        fitted = fit_curve(series(values[:count]), breaks=[3], horizon_step=60)
        return fitted.paths.tobytes() + repr((fitted.breaks, break_at(series(values[:count]), 3, 2.0))).encode()

    counts = (max(len(values) - more, 1), len(values))
    grown = [curve(count) for count in counts]
    forget()
    assert grown == [curve(count) for count in counts]


def test_few_answers_are_kept_and_no_series() -> None:
    asked = []

    @kept(2)
    def mean(one: Series, *, more: float = 0.0) -> float:
        asked.append(one.values.tolist())
        return float(one.values.mean()) + more

    first = series([1.0, 2.0])
    assert (mean(first), mean(series([1.0, 2.0])), mean(first, more=1.0)) == (1.5, 1.5, 2.5)
    assert len(asked) == 2
    mean(series([3.0]))
    mean(first)
    assert len(asked) == 4  # the first answer had made room
    gone = weakref.ref(first.values)
    del first
    assert gone() is None
