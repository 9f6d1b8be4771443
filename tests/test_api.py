"""What Python code gets: arrays, bands, shapes and frames of a reading."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLES
from extras import needs
from strange import STRANGE

import leadline
from leadline import errors
from leadline.comparison.gather import gather
from leadline.comparison.together import compare
from leadline.errors import LeadlineError, MissingExtra
from leadline.inside.trainer import Hooks
from leadline.pipeline import read
from leadline.report import compare as compare_screen
from leadline.report import data, terminal
from leadline.report.data import as_data


@pytest.fixture(scope="module")
def reading() -> leadline.Reading:
    return leadline.read(EXAMPLES / "hacked", until=400)


def test_it_is_the_reading_of_the_pipeline(reading: leadline.Reading) -> None:
    assert isinstance(reading, leadline.Reading)
    assert reading.as_data() == as_data(read(EXAMPLES / "hacked", until=400))
    assert str(reading) == terminal.render(reading)
    assert reading._repr_markdown_() == f"```text\n{reading}```\n"


def test_a_series_comes_as_arrays(reading: leadline.Reading) -> None:
    steps, values = reading.series("eval/reward/mean")
    assert steps.dtype == np.int64
    assert values.dtype == np.float64
    assert steps.tolist()[:3] == [1, 10, 20]
    assert "text/looped" in reading.names


def test_a_band_holds_most_of_what_was_seen_in_its_middle(reading: leadline.Reading) -> None:
    band = reading.band("reward/mean")
    assert band is not None
    assert (band.low <= band.middle).all()
    assert (band.middle <= band.high).all()
    assert band.steps[band.now] == 400


def test_a_name_that_is_none_is_told_with_those_that_are(reading: leadline.Reading) -> None:
    for ask in (reading.series, reading.band, reading.shape):
        for name in ("rewards", ["reward/mean"], None):
            with pytest.raises(LeadlineError, match=re.escape(f"called {name!r}")) as told:
                ask(name)  # type: ignore[arg-type]
            assert "reward/mean" in told.value.tried


def test_frames_hold_the_series_by_step(reading: leadline.Reading) -> None:
    pandas, polars = needs("pandas", "pandas"), needs("polars", "polars")
    steps, values = reading.series("eval/reward/mean")
    frame = reading.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.index.name == "step"
    assert frame["eval/reward/mean"].dropna().tolist() == values.tolist()
    assert frame["eval/reward/mean"].dropna().index.tolist() == steps.tolist()
    other = reading.to_polars()
    assert isinstance(other, polars.DataFrame)
    assert other["step"].to_list() == frame.index.tolist()
    assert other.columns[1:] == frame.columns.tolist()


def test_frames_hold_findings_and_shapes(reading: leadline.Reading) -> None:
    needs("pandas", "pandas")
    needs("polars", "polars")
    for make in (reading.to_pandas, reading.to_polars):
        findings = make("findings")
        assert list(findings["id"]) == [one.id for one in reading.findings]
        said = make("shapes")
        assert set(said["metric"]) >= {"reward/mean", "kl/ref", "text/recurring"}
        assert all(0 <= p <= 1 for p in said["flat"])
    shape = reading.shape("reward/mean")
    assert shape is not None
    assert dict(zip(said["metric"], said["shape"], strict=True))["reward/mean"] == shape.word


def test_a_frame_of_something_else_is_refused_in_a_sentence(reading: leadline.Reading) -> None:
    needs("pandas", "pandas")
    with pytest.raises(LeadlineError, match="what must be one of 'series', 'shapes', 'findings'; got 'samples'"):
        reading.to_pandas("samples")  # type: ignore[arg-type]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named(package: str, reading: leadline.Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"leadline\[{package}\]"):
        getattr(reading, f"to_{package}")()


@pytest.mark.parametrize("case", STRANGE)
def test_strange_runs_come_as_frames_too(case: str, trl: Callable[..., Path]) -> None:
    needs("pandas", "pandas")
    needs("polars", "polars")
    one = leadline.read(trl(STRANGE[case], max_steps=200))
    for what in ("series", "shapes", "findings"):
        assert len(one.to_pandas(what)) == len(one.to_polars(what))
    assert "nan" not in str(one).replace("signal.nan", "")


def test_the_public_names_are_these_and_each_can_be_had() -> None:
    assert set(leadline.__all__) == {
        "LeadlineCallback", "LeadlineError", "Reading", "Run", "__version__", "attach", "compare", "read", "read_all",
    }  # fmt: skip
    assert dir(leadline) == sorted(leadline.__all__)
    for name in leadline.__all__:
        assert getattr(leadline, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'redd'"):
        leadline.redd  # noqa: B018
    importlib.import_module("leadline.comparison")  # the packages behind them take no public name away
    assert callable(leadline.compare)
    assert callable(leadline.read)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"until": "x"}, "until must be a whole number of steps ≥ 0; got 'x'"),
        ({"until": 1.5}, "until must be a whole number of steps ≥ 0; got 1.5"),
        ({"until": True}, "until must be a whole number"),
        ({"until": -5}, "until must be a whole number of steps ≥ 0; got -5"),
        ({"budget": "9"}, "budget must be a whole number of steps ≥ 1; got '9'"),
        ({"budget": -3}, "budget must be a whole number of steps ≥ 1; got -3"),
        ({"price": "cheap"}, "price must be a number ≥ 0; got 'cheap'"),
        ({"price": -1}, "price must be a number ≥ 0; got -1"),
        ({"price": float("nan")}, "price must be a number ≥ 0; got nan"),
        ({"price": float("inf")}, "price must be a number ≥ 0; got inf"),
        ({"price": 10**400}, "price must be a number ≥ 0; got 1000"),
        ({"price": True}, "price must be a number ≥ 0; got True"),
        ({"joining": "foo"}, "joining must be one of 'by evidence', 'join', 'separate'; got 'foo'"),
        ({"joining": np.array(["join", "separate"])}, "joining must be one of"),
        ({"mapping": {"rewrad": "x"}}, "'rewrad'"),
        ({"mapping": {"reward": 5}}, "mapping must be metric names to log keys"),
        ({"mapping": "reward=x"}, "mapping must be metric names to log keys"),
    ],
)
@pytest.mark.parametrize("call", [leadline.read, leadline.read_all])
def test_an_argument_that_is_none_is_refused_in_a_sentence(
    call: Callable[..., object], told: dict[str, object], says: str
) -> None:
    with pytest.raises(LeadlineError) as error:
        call(EXAMPLES / "healthy", **told)
    assert says in error.value.what
    assert error.value.what.count(". ") == 0


@pytest.mark.parametrize("call", [leadline.read, leadline.read_all, leadline.compare])
@pytest.mark.parametrize("path", [None, 5, b"run"])
def test_a_path_that_is_none_is_refused(call: Callable[..., object], path: object) -> None:
    with pytest.raises(LeadlineError, match="path must be text or a path; got"):
        call(path)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"joining": "foo"}, "joining must be one of"),
        ({"by": 5}, "by must be the name of a metric; got 5"),
        ({"groups": ["a", "b"]}, "groups must be a mapping from names to paths"),
        ({"groups": {"a": "runs/a1"}}, "a group must be a list of paths; got 'runs/a1'"),
        ({"groups": {"a": [5]}}, "path must be text or a path; got 5"),
        ({"groups": {"a": []}}, "a group must be a list of paths; got []"),
        ({"groups": {5: ["runs/a1"]}}, "the name of a group must be text; got 5"),
        ({"by": ""}, "by must be the name of a metric; got ''"),
        ({"mapping": {"rewrad": "x"}}, "'rewrad'"),
    ],
)
def test_a_wrong_argument_of_compare_is_refused(told: dict[str, Any], says: str) -> None:
    with pytest.raises(LeadlineError) as error:
        leadline.compare(EXAMPLES / "healthy", EXAMPLES / "hacked", **told)
    assert says in error.value.what


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"name": 5}, "name must be the run's name; got 5"),
        ({"name": ""}, "name must be the run's name; got ''"),
        ({"folder": 5}, "folder must be text or a path; got 5"),
        ({"config": "lr=1"}, "config must be a mapping of settings; got 'lr=1'"),
        ({"planned_steps": "9"}, "planned_steps must be a whole number of steps ≥ 1; got '9'"),
        ({"planned_steps": 0}, "planned_steps must be a whole number of steps ≥ 1; got 0"),
        ({"notify": 5}, "notify must be a list of channels; got 5"),
        ({"notify": [5]}, "notify must be a list of channels; got 5"),
        ({"notify": ["pigeon"]}, "Can't use --notify pigeon"),
        ({"stop": "no"}, "stop must be True or False; got 'no'"),
        ({"watch": None}, "watch must be True or False; got None"),
        ({"resume": 1}, "resume must be True or False; got 1"),
    ],
)
def test_a_wrong_argument_of_attach_is_refused_before_anything_is_written(
    told: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(LeadlineError) as error:
        leadline.attach(**{"name": "run", "folder": tmp_path, "watch": False} | told)
    assert says in error.value.what
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"notify": ["pigeon"]}, "Can't use --notify pigeon"),
        ({"name": 5}, "name must be the run's name; got 5"),
        ({"folder": 5}, "folder must be text or a path; got 5"),
        ({"stop": "no"}, "stop must be True or False; got 'no'"),
        ({"watch": 1}, "watch must be True or False; got 1"),
    ],
)
def test_a_wrong_argument_of_the_callback_is_refused_as_it_is_made(told: dict[str, Any], says: str) -> None:
    with pytest.raises(LeadlineError) as error:
        Hooks(**told)
    assert says in error.value.what


def test_numbers_of_numpy_are_numbers() -> None:
    one = leadline.read(EXAMPLES / "healthy", until=np.int64(40), budget=np.int32(354), price=np.float32(0.05))  # type: ignore[arg-type]
    assert one.run.last_step == 40


def test_the_verdict_is_told_as_in_the_json(reading: leadline.Reading) -> None:
    judged = reading.as_data()["judgement"]
    assert isinstance(judged, dict)
    assert reading.headline == judged["headline"]
    assert (reading.judgement.headline, reading.judgement.says) == (judged["headline"], judged["says"])
    assert reading.headline == data.as_data(read(EXAMPLES / "hacked", until=400))["judgement"]["headline"]  # type: ignore[index]


def test_every_run_of_a_folder_is_read() -> None:
    assert {one.judgement.verdict for one in leadline.read_all(EXAMPLES, until=60)} <= {
        "continue", "stop", "roll_back", "undecided",
    }  # fmt: skip


def test_runs_are_compared() -> None:
    found = leadline.compare(EXAMPLES / "healthy", EXAMPLES / "hacked")
    assert list(found.groups) == ["healthy", "hacked"]
    gathered = gather([str(EXAMPLES / "healthy"), str(EXAMPLES / "hacked")])
    assert found.as_data() == compare_screen.as_data(compare(gathered))
    assert str(found).startswith("compare  healthy beats hacked")
    assert repr(found) == f"<Comparison: {found.as_data()['headline']}>"
    with pytest.raises(LeadlineError, match="clock must be one of 'step', 'time', 'tokens'; got 'epoch'"):
        leadline.compare(EXAMPLES / "healthy", EXAMPLES / "hacked", clock="epoch")  # type: ignore[arg-type]


def test_an_extra_is_installed_from_the_checkout_if_nothing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert errors.install("serve") == "pip install 'leadline[serve]'"
    monkeypatch.setattr(importlib.metadata, "distributions", lambda name: iter(()))
    assert errors.install("serve") == f"pip install '{EXAMPLES.parent.parent}[serve]'"
