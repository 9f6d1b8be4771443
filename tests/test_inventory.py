"""`leadline sources` and `leadline doctor`: what is there, and how that was decided."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT, verl_bytes

from leadline import inventory
from leadline.cli import doctor, main
from leadline.report import inventory as inventory_text


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 0
    return capsys.readouterr().out


def test_sources_shows_each_series_and_how_it_was_decided(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = printed(capsys, "sources", str(EXAMPLES / "collapsed"))
    assert re.search(r"reward/mean +critic/score/mean +524  known key: reward", text)
    assert "metrics.jsonl (jsonl) · steps 1–524 · 524 rows · exact" in text
    assert "settings    algorithm grpo" in text
    assert "missing     checkpoints: can't name a checkpoint to roll back to" in text
    assert re.search(r"event +learning rate jumped .* at step 203", " ".join(text.split()))


def test_sources_as_json_holds_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(printed(capsys, "sources", str(EXAMPLES), "--json"))
    assert [run["name"] for run in data["runs"]] == ["collapsed", "hacked", "healthy"]
    run = data["runs"][0]
    assert run["series"][0] == {
        "name": "reward/mean",
        "key": "critic/score/mean",
        "kind": run["series"][0]["kind"],
        "points": 524,
        "decided": "known key",
    }
    assert run["settings"]["group_size"] == 8
    assert run["samples_format"] == "verl"
    assert {one["what"] for one in run["missing"]} >= {"checkpoints", "telemetry"}


@pytest.fixture
def home_made(tmp_path: Path) -> Path:
    rows = [{"step": n, "mean_reward": n / 10, "odd": n % 3} for n in range(1, 20)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_a_guess_is_called_a_guess_and_a_mapping_yours(home_made: Path) -> None:
    guessed = inventory.take(home_made).runs[0]
    assert [(one.name, one.decided) for one in guessed.series if one.key == "mean_reward"] == [("reward/mean", "guess")]
    assert guessed.unread_keys == ("odd",)
    told = inventory.take(home_made, mapping={"reward/mean": "odd"}).runs[0]
    assert ("reward/mean", "odd", "your mapping") in [(one.name, one.key, one.decided) for one in told.series]


def test_steps_that_were_written_twice_are_counted(tmp_path: Path) -> None:
    rows = [(step, {"critic/score/mean": step * 0.1}) for step in (1, 2, 3, 4, 3, 4, 5)]
    (tmp_path / "metrics.jsonl").write_bytes(verl_bytes(rows))
    assert inventory.take(tmp_path).runs[0].logs[0].steps_written_twice == 2


def test_the_table_fits_any_width(home_made: Path) -> None:
    found = inventory.take(home_made)
    for width in (1, 40, 80, 200):
        assert max(map(len, inventory_text.render(found, width=width).splitlines())) <= max(width, 40)


def test_a_path_without_a_run_is_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sources", str(tmp_path)]) == 3
    assert "is empty" in capsys.readouterr().err


def test_read_all_prints_one_reading_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "read", str(EXAMPLES), "--all", "--json", "--until", "30").splitlines()
    assert [Path(json.loads(line)["run"]["path"]).name for line in lines] == ["collapsed", "hacked", "healthy"]
    text = printed(capsys, "read", str(EXAMPLES), "--all", "--until", "30")
    assert len(re.findall(r"^run ", text, flags=re.MULTILINE)) == 3


def test_doctor_says_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\nnumpy    " in printed(capsys, "doctor")
    data = json.loads(printed(capsys, "doctor", "--json"))
    assert {one["name"] for one in data["versions"]} >= {"leadline", "python", "numpy", "pyyaml"}
    assert {one["name"] for one in data["extras"]} == set(doctor.EXTRAS)


def test_doctor_knows_every_extra_and_every_core_package_that_is_declared() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    extras = text.partition("[project.optional-dependencies]")[2].partition("[project.scripts]")[0]
    declared = set(re.findall(r"^(\w+) = \[(?!\])", extras, re.MULTILINE))
    for_users = declared - {"all", "bench", "browser", "docs", "test", "writers"}
    assert set(doctor.EXTRAS) == for_users
    everything = re.search(r'"leadline\[([\w,]+)\]"', extras)
    assert everything is not None
    assert set(everything[1].split(",")) == for_users
    core = text.partition("dependencies = [")[2].partition("]")[0]
    assert set(doctor.CORE) | {"tomli"} == set(re.findall(r'^    "([a-z]+)', core, flags=re.MULTILINE))


def test_doctor_says_how_to_get_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = doctor.extras()
    assert "pip install 'leadline[parquet]'" in found[0].says
    assert not any(one.there for one in found)
