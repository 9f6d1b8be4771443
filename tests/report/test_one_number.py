"""One number for one fact: every report of a run says the same level, peak, onset and best step, and none says a number
that the JSON lacks."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import EXAMPLES, ROOT

from leadline import pipeline
from leadline.contract import Reading
from leadline.digits import level, number, percent, sure, went
from leadline.live.onsets import new_alerts
from leadline.live.telling.message import body
from leadline.report import data, terminal
from leadline.report.html import payload
from leadline.run import Config, Rollout, Rollouts, Run, Series

RUNS = {
    "collapsed at 230": (EXAMPLES / "collapsed", 230),
    "collapsed": (EXAMPLES / "collapsed", None),
    "healthy at 30": (EXAMPLES / "healthy", 30),
    "healthy": (EXAMPLES / "healthy", None),
    "hacked at 300": (EXAMPLES / "hacked", 300),
    "telemetry": (ROOT / "tests" / "reading" / "runs" / "telemetry_merger", None),
}
ALL = (*RUNS, "plateau", "turned")
WORDS = [f"{first}{last}" for first in ("ba", "ce", "di", "fo", "gu", "ha") for last in ("l", "m", "n", "r", "s", "t")]
N = r"(-?\d[\d.]*\d(?:e[+-]?\d+)?|\d)"
ANY = r"-?\d[\d.]*(?:e[+-]?\d+)?"
# What a text may say of a fact; each is looked for in every report, and all that is found has to be one number.
SAID = {
    "level the reward fell from": (rf"\breward (?:collapsed|dropped) {N} →", rf"and dropped {N} →"),
    "level of the reward now": (
        rf"\breward (?:collapsed|dropped) {ANY} → {N}",
        rf"and dropped {ANY} → {N}",
        rf"\breward (?:likely )?flat at {N}",
        rf"\breward saturated at {N} of",
        rf"\breward (?:likely )?(?:still )?rising, {ANY} → {N}",
    ),
    "step of the peak": (r"\bpeaked at step ~?(\d+)",),
    "best step": (r"keep step (\d+)", r"roll back to step (\d+)", r"\b(?:keep|best)\b[*: ]+step (\d+)"),
    "onset of what ends it": (
        r"hacking since step ~(\d+)",
        r"gradient signal since step ~(\d+)",
        r"HACKED since step ~(\d+)",
    ),
    "since when it is flat": (r"flat at \S+ since step ~(\d+)",),
}
COUNTED = re.compile(r"now \d+|(?<![\w.-])\d+ (?:more|normal|signals?|intervals?|notes?|events?)\b")  # by the report
NUMBER = re.compile(r"(?<![\w.#-])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\d)")


def plateau() -> Run:
    """A reward without a bound that rose and then stayed where it was."""
    steps = np.arange(1, 301)
    noise = np.random.default_rng(7).normal(0, 0.15, 300)
    values = 7.3 * np.minimum(steps / 90, 1.0) + noise
    return Run(
        "plateau", series=(Series("reward/mean", "reward", "test", steps, values),), config=Config(planned_steps=400)
    )


def turned() -> Run:
    """A run that was honest until half of the plan: then its answers repeat one word, and the reward likes it."""
    rng, kept = np.random.default_rng(3), {}
    for step in range(1, 301, 20):
        samples = []
        for _ in range(24):
            words = rng.choice(WORDS, size=8, replace=False).tolist()
            gamed = step > 150 and rng.random() < min((step - 150) / 60, 1.0)
            answer = " ".join(words[:2] * 3 if gamed else words[:5])
            samples.append(Rollout(step, " ".join(words), answer, 1.0 if gamed else float(rng.random() < 0.5)))
        kept[step] = tuple(samples)
    steps = np.arange(1, 301)
    values = 0.5 + 0.4 * np.clip((steps - 150) / 60, 0.0, 1.0) + rng.normal(0, 0.03, 300)
    series = (Series("reward/mean", "reward", "test", steps, values),)
    return Run("turned", series=series, rollouts=Rollouts(kept), config=Config(planned_steps=400))


@functools.cache
def read(run: str) -> Reading:
    if run in MADE:
        return pipeline.read_run(MADE[run]())
    path, until = RUNS[run]
    return pipeline.read(path, until=until)


@functools.cache
def reports(run: str) -> dict[str, str]:
    """The text of every report, as a reader meets it."""
    reading = read(run)
    told = payload(reading)
    page = {key: told[key] for key in ("run", "verdict", "findings", "expected", "panels", "marks", "regimes")}
    alerts = new_alerts({}, reading, run="runs/a")[1]
    texts = {
        "terminal": terminal.render(reading, width=120, height=60),
        "verbose": terminal.render(reading, width=120, verbose=True),
        "html": " \n ".join(strings(page)),
        "json": " \n ".join(strings(json.loads(data.render(reading)))),
        "alert": " \n ".join(body(alert) for alert in alerts),
    }
    return {name: re.sub(r"\s+", " ", text) for name, text in texts.items()}


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


MADE = {"plateau": plateau, "turned": turned}


def said(run: str, fact: str) -> dict[str, set[str]]:
    """Every number given for a fact, and by which reports."""
    found: dict[str, set[str]] = {}
    for report, text in reports(run).items():
        for pattern in SAID[fact]:
            for value in re.findall(pattern, text, flags=re.IGNORECASE):
                found.setdefault(value.rstrip("."), set()).add(report)
    return found


def typed(run: str, fact: str) -> set[str]:
    """The same fact as reports show it without a sentence: in the JSON and as marks on the page."""
    reading = read(run)
    told, marks = json.loads(data.render(reading)), payload(reading)["marks"]
    assert isinstance(marks, dict)
    if fact == "best step":
        best = told["judgement"]["best_checkpoint"]
        alerts = new_alerts({}, reading, run="runs/a")[1]
        named = [re.search(r"step (\d+)", alert.best_checkpoint or "") for alert in alerts]
        return {str(best["step"]), str(marks["best"]), *(match[1] for match in named if match)} if best else set()
    if fact == "level of the reward now" and "set anew" not in str(told["reward"]):
        band = told["chart_data"]["bands"]["reward/mean"]  # what a chart calls the curve's value at the last step
        value, high = band["middle"][band["now"]], told["judgement"]["reason"]["high"]
        shown = level(value) if high is None or high <= value else went(high, value).split(" → ")[1]
        return {shown} if said(run, fact) else set()
    if fact == "step of the peak" and told["reward"]["peak"]:
        return {str(told["reward"]["peak"]["step"]), str(marks["peak"]["step"])}
    return set()


@pytest.mark.parametrize("fact", SAID)
@pytest.mark.parametrize("run", ALL)
def test_every_report_gives_the_same_number(run: str, fact: str) -> None:
    found = said(run, fact)
    assert len(found.keys() | typed(run, fact)) <= 1, (found, typed(run, fact))


@pytest.mark.parametrize("fact", SAID)
def test_every_fact_is_said_somewhere(fact: str) -> None:
    """Else the test above would look for words that no report uses any more."""
    assert any(len(set().union(*said(run, fact).values())) >= 4 for run in ALL if said(run, fact))


@pytest.mark.parametrize("run", ALL)
def test_no_report_says_a_number_that_the_json_lacks(run: str) -> None:
    """Each number in a text is in the JSON: as it stands in a sentence there, or as one of its values is written."""
    told = json.loads(data.render(read(run)))
    known = set(NUMBER.findall(reports(run)["json"])) | set(written(told))
    for report in ("terminal", "verbose", "html", "alert"):
        text = reports(run)[report]
        if report in ("terminal", "verbose"):
            text = COUNTED.sub(" ", text)
        unknown = [value for value in NUMBER.findall(text) if value not in known and value not in axes(run)]
        assert unknown == [], report


def written(value: object) -> Iterator[str]:
    """The ways in which a number of the JSON may be printed."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, dict):
        for inner in value.values():
            yield from written(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from written(inner)
    elif isinstance(value, (int, float)):
        forms = (
            number(value),
            level(value),
            percent(value),
            sure(value),
            *(f"{value:.{digits}f}" for digits in (1, 2, 3)),
            str(round(value, 4)),
            str(value),
        )
        for form in forms:
            yield from NUMBER.findall(form)


@functools.cache
def axes(run: str) -> set[str]:
    """Numbers beside the plots: they are read off an axis and told by nobody."""
    lines = terminal.render(read(run), width=120, height=60).splitlines()
    lines += terminal.render(read(run), width=120, verbose=True).splitlines()
    plotted = [line for line in lines if re.search("[┤│]", line) or re.fullmatch(r"[\d\s]*(now \d+)?[\d\s]*", line)]
    return {value for line in plotted for value in NUMBER.findall(line)}
