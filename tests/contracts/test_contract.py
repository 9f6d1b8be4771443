"""The JSON form, schema 2: field names are fixed, and every field is there from the start."""

from __future__ import annotations

import contextlib
import io
import json
from functools import cache
from pathlib import Path

from conftest import EXAMPLES

from leadline.cli import main

KEYS = {
    "": "schema run reward kl_reward policy_loss findings benign judgement resources conflicts chart_data",
    "run": "path framework algorithm first_step last_step points planned_steps signals unread_keys missing events"
    " notes checkpoints settings plan_from",
    "reward": "shape p peak says others trajectory",
    "kl_reward": "regime p since_step since_between course segments says state below_best drift frozen",
    "policy_loss": "informative pattern why because numbers",
    "judgement": "verdict outcome headline reason p_continue_pays upside risk horizon ended best_checkpoint because"
    " would_change next_look_step says judged expected_utility advice leans_to_stop nearly_through"
    " judged_since judged_because cause",
    "judgement.upside": "mean p10 p90 worth_having to_pass",
    "judgement.risk": "p_worse mean_loss",
    "resources": "phases bottleneck notes remarks",
    "chart_data": "charts bands kl_path samples machine neighbours derived",
    "chart_data.samples": "none_because steps contrast",
    "chart_data.machine": "steps step_seconds phases power_steps power_w",
}
SHAPES = {"accelerating", "rising", "decelerating", "flat", "declining", "peaked", "noise", "undecided"}


@cache
def printed(*argv: str) -> dict[str, object]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main(["read", "--json", *argv]) == 0
    assert err.getvalue() == ""
    data = json.loads(out.getvalue())
    assert isinstance(data, dict)
    return data


def test_every_field_is_there(example: Path) -> None:
    data = printed(str(example))
    for where, names in KEYS.items():
        part: object = data
        for key in filter(None, where.split(".")):
            part = part[key]  # type: ignore[index]
        assert isinstance(part, dict)
        assert set(part) == set(names.split()), where
    assert data["schema"] == 2


def test_the_reward_part_is_filled(example: Path) -> None:
    reward = printed(str(example))["reward"]
    assert isinstance(reward, dict)
    assert reward["shape"] in SHAPES
    assert set(reward["p"]) <= SHAPES
    assert all(0 <= p <= 1 for p in reward["p"].values())
    assert reward["says"]
    if reward["peak"] is not None:
        assert set(reward["peak"]) == {"step", "interval", "p"}
        low, high = reward["peak"]["interval"]
        assert low <= reward["peak"]["step"] <= high


def test_signals_are_named_with_key_points_and_kind() -> None:
    run = printed(str(EXAMPLES / "collapsed"))["run"]
    assert isinstance(run, dict)
    signal = run["signals"]["reward/mean"]
    assert set(signal) == {"key", "points", "kind", "rows"}
    assert (signal["key"], signal["points"], signal["rows"]) == ("critic/score/mean", 524, 524)
    assert "before KL penalty" in signal["kind"]


def test_findings_carry_their_evidence(example: Path) -> None:
    findings = printed(str(example))["findings"]
    assert isinstance(findings, list)
    for finding in findings:
        assert set(finding) == {"id", "p", "severity", "says", "since_step", "evidence", "facts"}
        assert finding["severity"] in {"note", "concern", "critical"}
        for evidence in finding["evidence"]:
            assert {"signal", "from", "to"} <= set(evidence) <= {"signal", "from", "to", "text", "samples"}


def test_the_judgement_part_is_filled(example: Path) -> None:
    judgement = printed(str(example), "--until", "120")["judgement"]
    assert isinstance(judgement, dict)
    assert judgement["verdict"] in {"continue", "stop", "roll_back", "undecided"}
    assert 0 <= judgement["p_continue_pays"] <= 1
    assert {"step", "p_best", "path", "complete", "also_evaluate"} <= set(judgement["best_checkpoint"])
    assert judgement["best_checkpoint"]["step"] <= 120
    assert judgement["says"]
