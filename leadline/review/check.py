"""A reader's own rule on every kept sample: a function or a regular expression, run in a process of its own."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..draws import spread
from ..errors import BadOrder, NothingReadable
from ..questions.shape import Shape, shape_of
from ..reading.view import View
from ..records import dataclass
from ..run import Rollout, Run, Series
from ..words.review import UNREADABLE_SAMPLES
from ..words.tools import KEEP_SAMPLES, NO_SAMPLES

TIMEOUT = 60.0  # seconds for all samples together
STEPS = 400  # that are read at most
LONGEST = 400  # characters of an error that are shown
NAME, OWN = "check", "score"

# The rule comes first on standard input, samples after it: an argument holds neither every character nor a long text.
# Results leave through the descriptor that was standard output, so whatever the rule prints cannot be taken for one.
CHILD = r"""
import json, os, re, runpy, sys
out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
kind, told = json.loads(sys.stdin.readline())
if kind == "regex":
    try:
        find = re.compile(told, re.DOTALL | re.MULTILINE).search
    except Exception as problem:
        sys.exit(f"leadline: the pattern is no regular expression: {problem}")
    score = lambda prompt, response: find(response) is not None
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(told)))
    score = runpy.run_path(told).get("score")
    if not callable(score):
        sys.exit("leadline: it defines no function score(prompt, response)")
for line in sys.stdin:
    prompt, response = json.loads(line)
    try:
        value = score(prompt, response)
        value = None if value is None else float(value)
        error = ""
    except Exception as problem:
        value, error = None, f"{type(problem).__name__}: {problem}"
    out.write(json.dumps([value, error[:300]]) + "\n")
out.flush()
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """The reader's rule beside the run's own score, on the same samples, by step."""

    check: Series
    score: Series | None  # None if no sample carries a score
    check_now: Shape  # the direction at the end, and how sure that is
    score_now: Shape | None
    samples: int
    failed: int = 0  # samples on which the rule raised an error
    error: str = ""  # the first of them


def check(run: Run, *, regex: str | None = None, python: Path | None = None, timeout: float = TIMEOUT) -> Checked:
    """Score all kept samples by a regular expression or by `score(prompt, response)` in a Python file."""
    if not run.rollouts.steps:
        raise NothingReadable(NO_SAMPLES, next_step=KEEP_SAMPLES)
    samples = [one for step in spread(run.rollouts.steps, STEPS) for one in run.rollouts.at(step)]
    if not samples:
        raise NothingReadable(UNREADABLE_SAMPLES, next_step=KEEP_SAMPLES)
    kind, told = ("regex", regex) if python is None else ("python", str(python))
    results = _scored(kind, told or "", samples, timeout)
    errors = [error for _, error in results if error]
    values = [math.nan if value is None else value for value, _ in results]
    if not any(map(math.isfinite, values)):
        why = errors[0] if errors else "it returned None each time"
        raise _failed(f"The check scored no sample: {why}.", kind)
    mine = _by_step(NAME, samples, values)
    own = _by_step(OWN, samples, [one.score for one in samples])
    view = View(run)
    return Checked(
        mine,
        own if own.finite.any() else None,
        _now(view, mine),
        _now(view, own) if own.finite.any() else None,
        len(samples),
        len(errors),
        errors[0] if errors else "",
    )


def _now(view: View, series: Series) -> Shape:
    part = view.whole.of(series)
    assert part is not None  # for the type checker: it holds numbers
    return shape_of(part)


def _by_step(name: str, samples: Sequence[Rollout], values: Sequence[float]) -> Series:
    by_step: dict[int, list[float]] = {}
    for one, value in zip(samples, values, strict=True):
        if math.isfinite(value):
            by_step.setdefault(one.step, []).append(value)
    steps = sorted(by_step)
    return Series.from_log(name, name, "mean over samples", steps, [float(np.mean(by_step[step])) for step in steps])


def _scored(kind: str, told: str, samples: Sequence[Rollout], timeout: float) -> list[tuple[float | None, str]]:
    asked = "".join(json.dumps(row) + "\n" for row in ([kind, told], *([one.prompt, one.output] for one in samples)))
    with subprocess.Popen(
        [sys.executable, "-I", "-c", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as child:
        try:
            answered, said = child.communicate(asked, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise _failed(f"The check took longer than {timeout:g} s for {len(samples)} samples.", kind) from None
        finally:  # the rule ends, and all that it started
            if sys.platform == "win32":
                child.kill()
            else:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
    rows = answered.splitlines()
    if child.returncode != 0 or len(rows) != len(samples):
        last = next((row for row in reversed(said.splitlines()) if row.strip()), f"exit code {child.returncode}")
        raise _failed(f"The check failed: {last.removeprefix('leadline: ').strip()[:LONGEST]}.", kind)
    return [(value, str(error)) for value, error in map(json.loads, rows)]


def _failed(what: str, kind: str) -> BadOrder:
    wanted = "a regular expression" if kind == "regex" else "a file that defines score(prompt, response) -> float"
    return BadOrder(what, next_step=f"pass {wanted} that runs on them")
