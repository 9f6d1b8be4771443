"""The door: exit codes, options, and a clear sentence for every bad input."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace

import click
import pytest
from conftest import EXAMPLES, trl_bytes
from strange import STRANGE

import leadline
import leadline.cli
from leadline.cli import VERBS, main, verbs


@pytest.mark.parametrize("case", STRANGE)
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["terminal", "json"])
def test_strange_input_gets_a_sensible_sentence(
    case: str, options: list[str], trl: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    file = trl(STRANGE[case], max_steps=20 if case == "past the plan" else 200)
    assert main(["read", str(file), *options]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    if options:
        reading = json.loads(out.out)
        assert len(reading["reward"]["says"]) > 10
        if case == "past the plan":
            assert reading["run"]["notes"] == ["Run is at step 79, past its 20 planned steps."]
        if case in ("no reward at all", "one point", "two points", "all NaN", "words"):
            assert reading["reward"]["shape"] == "undecided"
    else:
        assert "nan" not in out.out.replace("NaN", "").replace("signal.nan", "")


@pytest.mark.parametrize(
    "case", ["nowhere", "empty folder", "empty file", "binary", "other json", "no rows", "unreadable"]
)
def test_nothing_readable_is_exit_code_3_and_says_what_next(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if case == "unreadable" and os.geteuid() == 0:
        path = Path("a" * 5000)  # root may open anything; a name that is too long fails in the same way
    else:
        path = tmp_path / {"no rows": "trainer_state.json", "empty file": "metrics.jsonl"}.get(case, "run\x1b[31m.bin")
    match case:
        case "empty folder":
            path.mkdir()
        case "empty file":
            path.touch()
        case "binary":
            path.write_bytes(bytes(range(256)) * 10)
        case "other json":
            path.write_text('{"hello": [1, 2]}')
        case "no rows":
            path.write_text('{"log_history": []}')
        case "unreadable" if os.geteuid() != 0:
            path.touch(mode=0)
    assert main(["read", str(path)]) == 3
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.startswith("error: ")
    assert "\nhint: " in out.err
    assert "\x1b" not in out.err
    assert "Traceback" not in out.err


@pytest.mark.parametrize(
    "argv",
    [["read"], ["read", "x", "--budget", "0"], ["read", "x", "--until", "soon"], ["read", "x", "--no"], ["sing"]],
)
def test_wrong_usage_is_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert "Usage:" in capsys.readouterr().err


def test_every_command_is_listed_with_the_first_sentence_of_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = " ".join(re.sub(r"-\n +", "-", capsys.readouterr().out).split())
    for name in VERBS:
        command = verbs.get_command(click.Context(verbs), name)
        assert command is not None
        assert command.name == name
        sentence = " ".join((command.help or "").split()).partition(". ")[0].rstrip(".")
        assert f" {name} {sentence}." in listed
    files = {info.name for info in iter_modules(leadline.cli.__path__)} - {"one_thread", "options", "screen"}
    assert files == set(VERBS)


def test_only_the_command_that_is_asked_for_is_imported() -> None:
    program = "import sys, leadline.cli as cli; cli.main(['read', '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.removeprefix("leadline.cli.") for name in done.stdout.split() if name.startswith("leadline.cli.")}
    assert loaded & set(VERBS) == {"read"}


@pytest.mark.parametrize("argv", [["--help"], ["read", "-h"], ["--version"]])
def test_help_and_version_are_exit_code_0(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert leadline.__version__ in out if "--version" in argv else "Example" in out or "Analyze" in out


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    data = trl_bytes([(step, {"reward": step / 10}) for step in range(1, 30)])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert main(["read", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"]["last_step"] == 29


def test_until_and_budget_reach_the_reading(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(EXAMPLES / "healthy"), "--json", "--until", "100", "--budget", "900"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    assert (run["last_step"], run["planned_steps"]) == (100, 900)


def test_until_before_the_first_step_reads_nothing_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(EXAMPLES / "healthy"), "--json", "--until", "0"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["run"]["last_step"], data["run"]["signals"], data["reward"]["shape"]) == (None, {}, "undecided")
    assert data["run"]["notes"] == ["Nothing was logged up to this step."]


def test_the_installed_command_prints_only_the_reading() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "leadline", "read", str(EXAMPLES / "hacked"), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["run"]["last_step"] == 679


def test_a_reader_that_hangs_up_gets_no_traceback() -> None:
    command = f"{sys.executable} -m leadline read {EXAMPLES / 'hacked'} --json | true"  # gone before the first byte
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("example", "until", "code"),
    [
        ("collapsed", "400", 11),
        ("healthy", "60", 0),
        ("healthy", "230", 10),
        ("collapsed", "9999", 11),  # finished, and badly
        ("hacked", "9999", 11),
        ("healthy", "9999", 0),
    ],
)
def test_the_verdict_is_the_exit_code_where_asked_for(example: str, until: str, code: int) -> None:
    command = ["read", str(EXAMPLES / example), "--until", until]
    assert main(command) == 0
    assert main([*command, "--exit-code"]) == code


def test_an_exit_code_for_many_runs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(EXAMPLES), "--all", "--exit-code"]) == 2
    assert "with --all" in capsys.readouterr().err
