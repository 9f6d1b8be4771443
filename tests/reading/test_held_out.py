"""Which held-out score is judged where a log has several: by what it means, then by how often it was written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from leadline.pipeline import read
from leadline.reading.scores import held_out_names
from leadline.reading.view import View
from leadline.sources import open_run

CHOICES = {
    "groups that are all right, as tinker writes them": (
        {"test/env/all/by_group/frac_all_good": 5, "test/env/all/reward/total": 5},
        "test/env/all/reward/total",
    ),
    "the best of several tries": ({"eval/math/pass@8": 5, "eval/math/pass@1": 10}, "eval/math/pass@1"),
    "a vote of several tries": (
        {"val-core/math/acc/maj@4/mean": 5, "val-core/math/acc/mean@4": 5},
        "val-core/math/acc/mean@4",
    ),
    "a score written five times": ({"eval/score": 60, "eval/reward": 10}, "eval/reward"),
    "a plain score seldom written, an odd one often": (
        {"eval/group_solve_all_frac": 5, "eval/reward": 20},
        "eval/reward",
    ),
}


def log(folder: Path, scores: dict[str, int]) -> Path:
    """A log of 300 steps in which each score is written every so many."""
    rng = np.random.default_rng(7)
    rows = []
    for step in range(1, 301):
        row = {"step": step, "reward": 0.2 + 0.002 * step + 0.05 * rng.standard_normal()}
        row |= {
            key: 0.3 + 0.001 * step + 0.02 * rng.standard_normal() for key, every in scores.items() if step % every == 0
        }
        rows.append(row)
    file = folder / "metrics.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.parametrize(("scores", "chosen"), CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("reverse", [False, True])
def test_a_plain_score_with_enough_points_is_judged(
    scores: dict[str, int], chosen: str, tmp_path: Path, *, reverse: bool
) -> None:
    file = log(tmp_path, dict(sorted(scores.items(), reverse=reverse)))
    judged = read(file).judgement.judged
    run = open_run(file)
    series = run.get(judged or "")
    assert series is not None
    assert series.key == chosen


@pytest.mark.parametrize("key", ["test/env/all/by_group/frac_all_bad", "test/env/all/by_group/frac_mixed"])
def test_a_share_that_falls_as_the_policy_improves_is_no_score(key: str, tmp_path: Path) -> None:
    assert held_out_names(View(open_run(log(tmp_path, {key: 5})))) == ()
