"""The HTML report as a file: whole, small, the same every time, and nothing in it that a log could make run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline import pipeline
from leadline.cli import main
from leadline.contract import Reading, RunSummary
from leadline.digits import short
from leadline.facts.sections import RewardReading
from leadline.records import replace
from leadline.report import files, html
from leadline.report.html.curves import thin
from leadline.report.html.text import embedded
from leadline.run import Rollout, Rollouts, Run, Series
from leadline.words.verdict import headline

VENDORED = {
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}


SILENT = RewardReading(shape="undecided", probabilities={}, peak=None)


class Elements(HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is not None:  # inside a script or a style
            self.scripts[-1] += data


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert isinstance(data, dict)
    return data


def test_the_charting_library_is_the_released_one(root: Path) -> None:
    vendor = root / "leadline" / "report" / "html" / "vendor"
    assert {one.name for one in vendor.iterdir()} == {*VENDORED, "README.md"}
    for name, digest in VENDORED.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("name", ["hacked", "telemetry"])
def test_one_file_that_asks_for_nothing(name: str, readings: Callable[[str], Reading]) -> None:
    page = html.render(readings(name))
    elements = Elements(page).found
    for _, attributes in elements:
        for name in ("src", "href", "action", "data"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,"))
    rules = next(one["content"] for tag, one in elements if tag == "meta" and one.get("http-equiv"))
    assert rules is not None
    assert rules.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in rules
    assert "http" not in rules


def test_only_what_we_wrote_may_run(hostile: str) -> None:
    """The hashes of the policy are those of the two scripts and the one style that the page holds."""
    elements = Elements(hostile)
    scripts = [one for tag, one in elements.found if tag == "script"]
    assert [one.get("type") for one in scripts] == ["application/json", None, None]
    rules = next(one["content"] for tag, one in elements.found if one.get("http-equiv"))
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in elements.scripts]
    places = [tag for tag, _ in elements.found if tag in ("script", "style")]
    allowed = {digest for tag, digest, one in zip(places, digests, elements.scripts, strict=True) if one[:1] != "{"}
    assert set(re.findall(r"sha256-([^']+)'", rules or "")) == allowed


def test_no_text_of_a_log_becomes_markup(hostile: str) -> None:
    usual = Elements(html.render(Reading(RunSummary("x", None, None, None, None, 0, None, (), (), (), ()), SILENT)))
    assert [tag for tag, _ in Elements(hostile).found] == [tag for tag, _ in usual.found]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_embedded_data_comes_back_as_it_was(text: str) -> None:
    written = embedded({"text": text})
    assert not set(written) & set("<>&\u2028\u2029\x7f\x9b\x1b")
    assert json.loads(written) == {"text": text}


def test_hostile_words_are_kept_to_be_read(hostile: str) -> None:
    data = data_of(hostile)
    shown = json.dumps(data["samples"], ensure_ascii=False)
    assert "<script>window.hacked = 1; alert(1)</script>" in shown
    assert r"\\x1b[31mred" in shown  # as an escape that can be read, not as one that is obeyed
    assert not set(shown) & set("\x1b\u202e\u2066\u200b")
    names = json.dumps(data["run"]) + json.dumps(list(data["series"]))
    assert all(len(one) < 3100 for one in re.findall(r'"([^"]*)"', names))


def test_long_names_that_look_alike_stay_apart() -> None:
    steps = np.arange(1, 40)
    names = [f"{'a' * 300}{letter}{'z' * 300}" for letter in "bc"]
    values = np.linspace(0, 1, 39)
    run = Run(
        "x", None, unread=tuple(Series(name, name, "", steps, values + place) for place, name in enumerate(names))
    )
    series = data_of(html.render(pipeline.read_run(run)))["series"]
    assert isinstance(series, dict)
    assert len(series) == 2


def test_a_finding_leads_to_its_own_series_where_long_names_look_alike(readings: Callable[[str], Reading]) -> None:
    reading = readings("hacked")
    series = reading.chart_data.series["reward/mean"]
    names = [f"custom/{'x' * 90}/{which}/{'y' * 90}" for which in ("first", "second", "third")]
    finding = reading.findings[0]
    places = tuple(replace(finding.evidence[0], signal=name) for name in names)
    shown = replace(
        reading.chart_data, series={name: replace(series, name=name) for name in names}, charts=(), bands={}
    )
    page = html.payload(replace(reading, chart_data=shown, findings=(replace(finding, evidence=places),)))
    assert [place["signal"] for place in page["findings"][0]["places"]] == list(page["series"])


def test_ten_thousand_steps_of_forty_series_stay_below_three_megabytes(wide: str) -> None:
    assert len(wide.encode()) < 3_000_000
    assert len(data_of(wide)["series"]) == 40  # type: ignore[arg-type]


@pytest.mark.parametrize("character", ["a", "<", "\u6c34", "\x1b"])
def test_long_samples_stay_within_their_room(character: str) -> None:
    """However much a character weighs in the file."""

    def load(step: int) -> tuple[Rollout, ...]:
        return tuple(Rollout(step, f"{n} {character * 3000}", character * 6000, float(n)) for n in range(12))

    run = Run("long", "own", rollouts=Rollouts({step: load(step) for step in range(1, 101)}))
    data = data_of(html.render(pipeline.read_run(run)))
    assert len(data["samples"]["steps"]) == 48  # type: ignore[index]
    assert 200_000 < len(embedded(data["samples"]).encode()) < 1_100_000


def test_a_spike_of_one_point_survives(wide: str, spikes: dict[int, float]) -> None:
    data = data_of(wide)
    drawn = data["series"]["metric/3"]  # type: ignore[index]
    clock = np.cumsum(data["clocks"][drawn["clock"]]).tolist()  # type: ignore[index]
    assert len(clock) < 10_000  # it was thinned at all
    shown = dict(zip(clock, drawn["y"], strict=True))
    assert {step: shown.get(step) for step in spikes} == spikes


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=400), st.integers(8, 60))
def test_thinning_keeps_ends_extremes_and_gaps(values: list[float], room: int) -> None:
    numbers, steps = np.array(values), np.arange(len(values)) * 3 + 5
    kept = thin(steps, numbers, room)
    assert len(kept) <= max(room, len(values)) if len(values) <= room else len(kept) <= room + 2
    assert kept[0] == 0
    assert kept[-1] == len(values) - 1
    finite = numbers[np.isfinite(numbers)]
    if len(finite):
        assert finite.min() in numbers[kept]
        assert finite.max() in numbers[kept]
    assert (~np.isfinite(numbers)).any() == (~np.isfinite(numbers[kept])).any()


@given(st.lists(st.floats(-1e12, 1e12), max_size=50))
def test_short_numbers_are_close_and_short(values: list[float]) -> None:
    rounded = short(np.array(values))
    for one, other in zip(values, rounded, strict=True):
        assert other == pytest.approx(one, rel=5.1e-5, abs=1e-300)
        digits = f"{abs(other or 0.0):e}".split("e")[0].replace(".", "").rstrip("0")
        assert len(digits) <= 5


def test_the_same_run_gives_the_same_bytes(root: Path, readings: Callable[[str], Reading]) -> None:
    again = pipeline.read(root / "leadline" / "examples" / "hacked")
    assert html.render(again) == html.render(readings("hacked"))


def test_every_part_says_why_it_is_empty(trl: Callable[..., Path]) -> None:
    data = data_of(html.render(pipeline.read(trl([(step, {"reward": 0.1 * step}) for step in range(1, 9)]))))
    empty = [one for one in data["panels"] if not one["names"]]  # type: ignore[attr-defined]
    assert {one["id"] for one in empty} >= {"kl", "loss", "entropy", "length", "diversity", "coherence", "grad_norm"}
    assert all(one["empty"].endswith(".") for one in empty)
    assert str(data["samples"]["empty"]).startswith("No sampled responses found")  # type: ignore[index]


def test_a_loss_without_evidence_is_called_so(readings: Callable[[str], Reading]) -> None:
    reading = readings("telemetry")
    assert not reading.policy_loss.informative
    panels = {one["id"]: one for one in data_of(html.render(reading))["panels"]}  # type: ignore[attr-defined]
    assert panels["loss"]["silent"] == reading.policy_loss.say()


@pytest.mark.parametrize(("planned", "over"), [(300, True), (354, True), (400, False)])
def test_only_a_finished_run_is_said_to_be_finished(planned: int, over: bool, root: Path) -> None:
    reading = pipeline.read(root / "leadline" / "examples" / "healthy", budget=planned, now=0.0)
    verdict = data_of(html.render(reading))["verdict"]
    assert isinstance(verdict, dict)
    assert verdict["headline"].startswith("FINISHED") == over == (reading.judgement.ended == "plan")
    assert verdict["headline"] == headline(reading.judgement)
    outlook = next(one["says"] for one in verdict["lines"] if one["label"] == "outlook")
    assert outlook.startswith("Extending" if over else "Continuing")


@pytest.mark.parametrize(
    ("name", "outcome", "color"),
    [("healthy", "saturated", "finished"), ("collapsed", "collapsed", "roll_back"), ("hacked", "hacked", "roll_back")],
)
def test_a_finished_run_has_the_color_of_its_outcome(
    name: str, outcome: str, color: str, readings: Callable[[str], Reading]
) -> None:
    verdict = data_of(html.render(readings(name)))["verdict"]
    assert isinstance(verdict, dict)
    assert (verdict["word"], verdict["outcome"], verdict["color"]) == ("finished", outcome, color)


def test_the_command_writes_the_file(tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.html"
    run = str(root / "leadline" / "examples" / "healthy")
    assert main(["read", run, "--html", str(target)]) == 0
    assert target.read_text(encoding="utf-8").endswith("</html>\n")
    assert capsys.readouterr().out.startswith("FINISHED")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]  # nothing is left beside it


@pytest.mark.parametrize("target", ["nowhere/report.html", "folder"])
def test_what_cannot_be_written_is_said_in_one_sentence(
    target: str, tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    run = str(root / "leadline" / "examples" / "healthy")
    assert main(["read", run, "--html", str(tmp_path / target)]) == 2
    said = capsys.readouterr().err
    assert "can't write" in said
    assert "Traceback" not in said
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_a_report_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")

    def full(self: Path, other: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(files.CannotWrite, match="No space left"):
        files.write_whole(target, "new")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_html_speaks_of_one_run(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(root / "leadline" / "examples"), "--all", "--html", str(tmp_path / "x.html")]) == 2
    assert "--html" in capsys.readouterr().err
