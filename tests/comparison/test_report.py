"""The comparison on a screen and as JSON: exact on the bundled runs, one screen, safe whatever the logs hold."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES
from rich.cells import cell_len
from seeds import gathered, rise, run, seeds

from leadline.cli import main
from leadline.comparison.gather import Gathered, Member
from leadline.comparison.together import compare
from leadline.facts.comparison import Comparison
from leadline.report.compare import as_data, render
from leadline.report.data import dump

RECORD = runpy.run_path(str(Path(__file__).parent / "record.py"))
HOSTILE = "a\x1b[31m</script><script>alert(1)</script>\u202e" + "w" * 500


@pytest.fixture(scope="module")
def pair() -> Comparison:
    return compare(gathered(base=seeds(3), new=seeds(3, late=0.4, first=50)))


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    def one(name: str, seed: int) -> Member:
        made = run(
            {"reward/mean": rise(seed=seed), "entropy": rise(seed=seed + 3)},
            path=name,
            kind=f"{name} kind",
            settings={f"set{HOSTILE}": f"{name}{seed}", "lr": seed},
        )
        return Member(name, made, name)

    return compare(Gathered((one(HOSTILE, 1), one(f"{HOSTILE}2", 2)), "named"))


@pytest.mark.parametrize("name", RECORD["ASKED"])
def test_the_bundled_runs_compare_as_recorded(name: str) -> None:
    recorded = (RECORD["GOLDEN"] / f"{name}.txt").read_text()
    assert RECORD["printed"](*RECORD["ASKED"][name]) == recorded, "record it again: python tests/comparison/record.py"


@pytest.mark.parametrize(("width", "height"), [(100, 40), (80, 24), (60, 24)])
def test_two_groups_fit_on_one_screen(pair: Comparison, width: int, height: int) -> None:
    lines = render(pair, width=width, height=height).splitlines()
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width


def test_the_screen_names_both_groups_and_the_verdict(pair: Comparison) -> None:
    text = render(pair)
    assert "new beats base on reward/mean by" in " ".join(text.split())
    assert "+0.4" in text
    assert "better" in text
    assert "\x1b" not in text


def test_every_line_of_the_plot_ends_at_its_letter(pair: Comparison) -> None:
    plotted = [line for line in render(pair).splitlines() if "│" in line or "┤" in line]
    assert sum(line.rstrip().endswith(("A", "B")) for line in plotted) == 2


def test_hostile_names_neither_command_the_terminal_nor_widen_the_table(hostile: Comparison) -> None:
    text = render(hostile, color=False, width=100)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(cell_len, text.splitlines())) <= 100


def test_json_holds_all_of_it_and_can_be_read_back(pair: Comparison, hostile: Comparison) -> None:
    data = json.loads(dump(as_data(pair)))
    assert data["schema"] == 1
    assert data["by"] == "reward/mean"
    (difference,) = data["series"][0]["differences"]
    assert difference["told"] == "final"
    assert 1 < difference["sure_from"] < 120
    assert len(data["series"][0]["curves"]["groups"]["new"]["middle"]) == len(data["series"][0]["curves"]["at"])
    assert "\x1b" not in dump(as_data(hostile))


def test_the_verb_prints_json_and_leaves_out_what_it_cannot_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["compare", str(EXAMPLES / "healthy"), str(tmp_path / "gone"), str(EXAMPLES / "hacked"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [Path(one["name"]).name for one in data["left_out"]] == ["gone"]
    assert set(data["groups"]) == {"healthy", "hacked"}


def test_the_same_run_twice_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(EXAMPLES / "healthy"), str(EXAMPLES / "healthy")]) == 3
    error = capsys.readouterr().err
    assert "the same run as" in error
    assert "Traceback" not in error


def test_an_unknown_series_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(EXAMPLES / "healthy"), str(EXAMPLES / "hacked"), "--by", "no/such"]) == 3
    assert "does not log no/such" in capsys.readouterr().err


def test_many_runs_stay_on_the_screen() -> None:
    groups = {f"v{place}": [run(rise(seed=place, level=0.05 * place, steps=30))] for place in range(16)}
    text = render(compare(gathered(**groups)), width=100, height=40)
    assert "more (--html shows all)" in text
    assert len(text.splitlines()) <= 40


def test_values_of_any_size_are_shown() -> None:
    for unit in (1e-300, 1e300):
        text = render(compare(gathered(a=[run(unit * rise())], b=[run(unit * (rise(seed=2) + 1))])))
        assert "nan" not in text
        assert "inf" not in text.replace("infinit", "")


def test_flat_groups_can_be_drawn() -> None:
    flat = [run(np.zeros(50)) for _ in range(2)]
    ones = [run(np.ones(50)) for _ in range(2)]
    flat[1] = run(np.concatenate([np.zeros(49), [1e-9]]))
    ones[1] = run(np.concatenate([np.ones(49), [1 + 1e-9]]))
    assert "A" in render(compare(gathered(a=flat, b=ones)))
