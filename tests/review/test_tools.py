"""`leadline series`, `check` and `samples --compact`: what a reader computes for themselves."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from conftest import EXAMPLES, trl_bytes
from waiting import gone, wait_for

from leadline.cli import main
from leadline.errors import BadOrder
from leadline.review.check import check
from leadline.sources import open_run

RUN = str(EXAMPLES / "hacked")
ADDS = r"""
import re
def score(prompt, response):
    print("not a result")
    one, other = map(int, re.findall(r"\d+", prompt))
    told = re.search(r">(\d+)\.$", response.strip())
    return bool(told) and int(told[1]) == one + other
"""


def test_series_by_bins_and_all_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["series", RUN, "--json"]) == 0
    keys = json.loads(capsys.readouterr().out)["series"]
    reward = next(one for one in keys if one["name"] == "reward/mean")
    assert {"key", "points", "first", "last"} <= set(reward)
    for key in ("reward/mean", reward["key"]):
        assert main(["series", RUN, key, "kl/ref", "--bins", "4", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert len(told["steps"]) == len(told["means"]["reward/mean"]) == 4
        assert told["steps"][0][0] == 1
        assert all(after[0] == before[1] + 1 for before, after in zip(told["steps"], told["steps"][1:], strict=False))
    assert main(["series", RUN, "reward/mean", "--bins", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["series", RUN, "rewward"]) == 2
    assert "list all keys" in capsys.readouterr().err
    assert main(["series", RUN]) == 0
    assert "reward/mean" in capsys.readouterr().out


def test_bins_hold_the_means_of_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trainer_state.json"
    file.write_bytes(trl_bytes([(step, {"reward": float(step)}) for step in (1, 2, 3, 10)]))
    assert main(["series", str(file), "reward/mean", "--bins", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"steps": [[1, 5], [6, 10]], "means": {"reward/mean": [2.0, 10.0]}}
    assert main(["series", str(file), "reward/mean", "--bins", "8", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["steps"]) == 4


def test_a_checker_sees_what_the_score_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "adds.py"
    file.write_text(ADDS)
    assert main(["check", RUN, "--python", str(file), "--json", "--bins", "5"]) == 0
    told = json.loads(capsys.readouterr().out)
    right, score = told["means"]["check"], told["means"]["score"]
    assert right[0] > 0.4
    assert right[-1] < 0.1
    assert score[-1] > 0.8
    assert told["failed"] == 0
    assert set(told["direction"]) == {"check", "score"}
    assert main(["check", RUN, "--regex", r">\d+\.$"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("check  by regex, on ")
    assert "\nscore  " in shown


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def score(prompt, response): raise ValueError('\x1b[31mno')", "ValueError: \\x1b[31mno"),
        ("def score(prompt, response): return None", "None each time"),
        ("def score(prompt, response): return 'good'", "ValueError"),
        ("x = 1", "no function score"),
        ("import nowhere_at_all", "ModuleNotFoundError"),
        ("def broken(:", "SyntaxError"),
        ("import os; os._exit(3)", "exit code 3"),
        ("import sys\ndef score(prompt, response): sys.exit('gone')", "gone"),
    ],
)
def test_a_checker_that_fails_is_explained(
    code: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rule.py"
    file.write_text(code)
    assert main(["check", RUN, "--python", str(file)]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told
    assert "\x1b" not in told


def test_a_checker_that_never_ends_is_ended_with_its_children(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun_by_it = tmp_path / "child"
    file = tmp_path / "rule.py"
    file.write_text(
        f"import subprocess, time\n"
        f"def score(prompt, response):\n"
        f"    child = subprocess.Popen(['sleep', '600'])\n"
        f"    open({str(begun_by_it)!r}, 'w').write(str(child.pid))\n"
        f"    time.sleep(60)\n"
    )
    begun = time.monotonic()
    assert main(["check", RUN, "--python", str(file), "--timeout", "1"]) == 2
    assert time.monotonic() - begun < 20
    assert "longer than 1 s" in capsys.readouterr().err
    wait_for(lambda: gone(int(begun_by_it.read_text())))


def test_a_pattern_that_never_ends_is_ended(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", RUN, "--regex", r"(.*,)*(.*,)*(.*,)*(.*,)*x", "--timeout", "1"]) == 2
    assert main(["check", RUN, "--regex", "("]) == 2
    assert main(["check", RUN]) == 2


@pytest.mark.parametrize("pattern", ["\0", "\ud800", "x" * 200_000], ids=["NUL", "surrogate", "long"])
def test_a_pattern_may_hold_any_character_and_be_long(pattern: str) -> None:
    assert set(check(open_run(Path(RUN)), regex=pattern).check.values) == {0.0}


@pytest.mark.parametrize("pattern", ["(" * 200_000, "[\udfff-\ud800]", "\0("], ids=["long", "surrogate", "NUL"])
def test_a_pattern_that_is_none_is_explained(pattern: str) -> None:
    with pytest.raises(BadOrder, match="no regular expression"):
        check(open_run(Path(RUN)), regex=pattern)


def test_samples_by_steps_at_random_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["samples", RUN, "--steps", "1,300,660", "--per-step", "3", "--random", "--compact"]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert main(asked) == 0
    assert capsys.readouterr().out == told
    lines = told.splitlines()
    assert len(lines) == 10
    assert all(line.startswith("step ") for line in lines[1:])
    assert len({line.split()[1] for line in lines[1:]}) == 3
    assert main(["samples", RUN, "--steps", "1,x"]) == 2
    assert main(["samples", RUN, "--random", "--json"]) == 0
    drawn = json.loads(capsys.readouterr().out)["samples"]
    assert len({one["step"] for one in drawn}) > 4
