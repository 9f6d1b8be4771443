"""What Python code gets: arrays, bands, shapes and frames of a reading."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES
from extras import needs
from strange import STRANGE

import leadline
from leadline.errors import LeadlineError, MissingExtra
from leadline.pipeline import read
from leadline.report import terminal
from leadline.report.data import as_data


@pytest.fixture(scope="module")
def reading() -> leadline.Reading:
    return leadline.read(EXAMPLES / "hacked", until=400)


def test_it_is_the_reading_of_the_pipeline(reading: leadline.Reading) -> None:
    assert isinstance(reading, leadline.Reading)
    assert reading.as_data() == as_data(read(EXAMPLES / "hacked", until=400))
    assert str(reading) == terminal.render(reading)
    assert reading._repr_markdown_().startswith("**ROLL BACK to step")


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
        with pytest.raises(LeadlineError, match="called 'rewards'") as told:
            ask("rewards")
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
    with pytest.raises(LeadlineError, match="no frame of 'samples'"):
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
    assert one._repr_html_().startswith("<div")
