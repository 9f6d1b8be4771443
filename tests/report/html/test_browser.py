"""The HTML report in Chromium: opened from disk with the network off, used with mouse and keyboard, read by axe."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from leadline.contract import Reading, RunSummary
from leadline.facts.sections import RewardReading
from leadline.report import palette
from leadline.words.verdict import headline, verdict_lines

if TYPE_CHECKING:
    from conftest import Opened

pytestmark = pytest.mark.browser

Show = Callable[..., "Opened"]
Readings = Callable[[str], Reading]

EVERY = ["healthy", "collapsed", "hacked", "telemetry"]
NOTHING = Reading(
    run=RunSummary("nothing", None, None, None, None, 0, None, (), (), (), ()),
    reward=RewardReading(shape="undecided", probabilities={}, peak=None),
)


def over(opened: Opened, panel: str, share: float) -> tuple[float, float]:
    """A point of a chart's plot, at a share of its width."""
    plot = opened.page.locator(f"#panel-{panel} .u-over")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def hover(opened: Opened, panel: str, share: float) -> int:
    """The step that the panel tells when the pointer is there."""
    opened.page.mouse.move(*over(opened, panel, share))
    told = opened.page.locator(f"#panel-{panel} .legend .step").inner_text()
    return int(re.sub(r"\D", "", told))


def drag(opened: Opened, panel: str, first: float, last: float) -> None:
    opened.page.mouse.move(*over(opened, panel, first))
    opened.page.mouse.down()
    opened.page.mouse.move(*over(opened, panel, (first + last) / 2))
    opened.page.mouse.move(*over(opened, panel, last))
    opened.page.mouse.up()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_from_disk_without_network_or_errors(name: str, scheme: str, show: Show, readings: Readings) -> None:
    opened = show(readings(name), scheme=scheme)
    assert [one.split(":")[0] for one in opened.requests] == ["file"]
    assert opened.errors == []
    shown = opened.page.locator("h1 .headline").inner_text().replace("\xa0", " ")
    assert shown == headline(readings(name).judgement)
    assert opened.page.locator(".u-over").count() >= 8
    light = opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light == (scheme == "light")


def box(opened: Opened, selector: str) -> tuple[float, float, float, float]:
    """Left, top, right, and bottom of an element."""
    found = opened.page.locator(selector).first.bounding_box()
    assert found is not None
    return found["x"], found["y"], found["x"] + found["width"], found["y"] + found["height"]


@pytest.mark.parametrize("name", EVERY)
def test_a_desktop_shows_headline_lines_and_both_curves_at_once(name: str, show: Show, readings: Readings) -> None:
    opened = show(readings(name), width=1280)
    head, lines, reward = box(opened, "h1"), box(opened, ".lines"), box(opened, "#panel-reward .plot")
    last = box(opened, "#panel-kl .plot") if readings(name).chart_data.chart("kl") else reward
    assert max(lines[3], last[3]) <= 900
    assert head[3] <= lines[1]
    assert lines[1] - head[3] < 60  # the lines follow the headline closely
    assert head[2] <= reward[0]  # words left, curves right
    assert lines[2] <= last[0]
    assert reward[3] <= last[3]


@pytest.mark.parametrize("name", EVERY)
def test_a_phone_shows_the_headline_and_then_the_reward(name: str, show: Show, readings: Readings) -> None:
    opened = show(readings(name), width=390)
    head, lines, reward = box(opened, "h1"), box(opened, ".lines"), box(opened, "#panel-reward .plot")
    assert head[3] <= reward[1]
    assert reward[3] <= 700
    assert reward[3] <= lines[1]


@pytest.mark.parametrize("name", EVERY)
def test_the_color_is_that_of_the_outcome(name: str, show: Show, readings: Readings) -> None:
    opened, judgement = show(readings(name)), readings(name).judgement
    shade = palette.outcome(judgement.verdict, judgement.outcome).light
    shown = opened.page.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert shown == "rgb({}, {}, {})".format(*(int(shade[place : place + 2], 16) for place in (1, 3, 5)))


def test_the_labeled_lines_are_those_of_the_verdict(show: Show, readings: Readings) -> None:
    opened = show(readings("collapsed"))
    told = dict(
        zip(
            opened.page.locator(".lines dt").all_inner_texts(),
            opened.page.locator(".lines dd").all_inner_texts(),
            strict=True,
        )
    )
    assert {one.label: one.says for one in verdict_lines(readings("collapsed")).lines}.items() <= told.items()


def until(opened: Opened, true: str) -> None:
    """Wait until an expression is true; the page's policy forbids Playwright to poll it from inside."""
    for _ in range(100):
        if opened.page.evaluate(true):
            return
        opened.page.wait_for_timeout(50)
    raise AssertionError(true)


def test_the_path_of_the_checkpoint_can_be_copied(show: Show, readings: Readings) -> None:
    reading = readings("collapsed")
    best = reading.judgement.best_checkpoint
    assert best is not None
    saved = replace(reading.judgement, best_checkpoint=replace(best, path="runs/a/checkpoint-131", complete=True))
    opened = show(replace(reading, judgement=saved))
    opened.page.locator(".lines button.copy").click()
    until(opened, "/Copied|Selected/.test(document.querySelector('.lines .copy').textContent)")
    assert opened.errors == []


def test_a_reading_of_nothing_says_so_everywhere(show: Show) -> None:
    opened = show(NOTHING)
    assert opened.errors == []
    for section in ("findings", "portrait", "onset", "machine", "samples", "normal"):
        assert opened.page.locator(f"#{section} .empty").first.inner_text().endswith(".")


def test_ten_thousand_steps_of_forty_series_open(wide: str, show: Show) -> None:
    opened = show(wide)
    assert opened.errors == []
    assert 4_000 < hover(opened, "reward", 0.5) < 12_000


def test_hovering_tells_the_values_of_that_step_on_every_chart(show: Show, readings: Readings) -> None:
    reading = readings("collapsed")
    opened = show(reading)
    step = hover(opened, "reward", 0.25)
    series = reading.chart_data.series["reward/mean"]
    value = float(series.values[int(np.argmin(np.abs(series.steps - step)))])
    said = opened.page.locator("#panel-reward .legend .value").first.inner_text()
    assert float(said.split()[0]) == pytest.approx(value, rel=1e-3)
    assert "curve" in said
    for panel in ("kl", "entropy", "machine"):  # the pointer is on one chart; the others follow
        told = opened.page.locator(f"#panel-{panel} .legend .step").inner_text()
        assert abs(int(re.sub(r"\D", "", told)) - step) <= 1
    assert f"step {step}" in opened.page.locator("#panel-timeline .said").inner_text()
    assert "reward" in opened.page.locator("#panel-path .said").inner_text()


def test_zooming_one_chart_zooms_all_and_escape_shows_all_again(show: Show, readings: Readings) -> None:
    opened = show(readings("hacked"))
    (home,) = opened.views()
    drag(opened, "kl", 0.25, 0.5)
    (view,) = opened.views()  # all charts show the same steps
    width = home[1] - home[0]
    assert view[0] == pytest.approx(home[0] + 0.25 * width, abs=0.02 * width)
    assert view[1] == pytest.approx(home[0] + 0.5 * width, abs=0.02 * width)
    assert "In view: steps" in opened.page.locator("#zoom").inner_text()
    opened.page.keyboard.press("Escape")
    assert opened.views() == {home}
    drag(opened, "reward", 0.5, 0.9)
    assert opened.views() != {home}
    opened.page.mouse.dblclick(*over(opened, "reward", 0.5))
    assert opened.views() == {home}
    assert opened.errors == []


def test_the_link_of_a_finding_moves_the_charts(show: Show, readings: Readings) -> None:
    reading = readings("collapsed")
    finding = next(one for one in reading.findings if one.id == "reward.break")
    place = finding.evidence[0]
    opened = show(reading)
    (home,) = opened.views()
    link = opened.page.locator(".finding", has_text="reward.break").locator(".places a").first
    link.click()
    (view,) = opened.views()
    assert home[0] <= view[0] <= place.first_step <= place.last_step <= view[1] <= home[1]
    assert view[1] - view[0] < 0.5 * (home[1] - home[0])
    assert f"marked: steps {place.first_step}\u2013{place.last_step}" in opened.page.locator("#zoom").inner_text()
    box = opened.page.locator("#panel-reward").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 900  # it came into view
    assert opened.page.evaluate("document.activeElement.closest('figure').id") == "panel-reward"
    assert opened.errors == []


def test_the_link_of_a_series_shown_on_demand_draws_it(show: Show, readings: Readings) -> None:
    opened = show(readings("hacked"))
    opened.page.locator(".finding", has_text="generation.truncation").locator(".places a").first.click()
    assert opened.page.locator("#others figure h3").all_inner_texts() == ["len/response_clip_frac"]
    assert opened.errors == []


def test_the_samples_viewer_switches_steps(show: Show, readings: Readings) -> None:
    reading = readings("hacked")
    batches = reading.chart_data.samples.steps
    opened = show(reading)
    left, right = (opened.page.locator("#samples .column").nth(place) for place in range(2))
    assert f"step {batches[0].step}," in left.locator("h3").inner_text()
    assert f"step {batches[-1].step}," in right.locator("h3").inner_text()
    slider = opened.page.locator("#samples input[data-side=left]")
    slider.focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowRight")
    assert f"step {batches[2].step}," in left.locator("h3").inner_text()
    outputs = {one.output for one in batches[2].samples}
    shown = left.locator("pre.output").all_inner_texts()
    assert shown
    assert set(shown) <= outputs
    assert right.locator("mark").count() > 0  # what late samples share is marked in them
    opened.page.get_by_role("button", name="High vs. low reward").click()
    opened.page.locator("#samples input[data-side=here]").fill("0")
    assert "high reward" in left.locator("h3").inner_text()
    assert "low reward" in right.locator("h3").inner_text()
    high, low = ([float(one.split()[1]) for one in side.locator(".about").all_inner_texts()] for side in (left, right))
    assert min(high) > max(low)
    assert opened.errors == []


def test_the_link_to_samples_opens_them(show: Show, readings: Readings) -> None:
    opened = show(readings("hacked"))
    opened.page.locator(".finding", has_text="reward.gamed").locator(".places a").first.click()
    until(opened, "Math.abs(document.getElementById('samples').getBoundingClientRect().top) < 200")
    assert opened.errors == []


def test_any_series_can_be_found_and_drawn(show: Show, readings: Readings) -> None:
    opened = show(readings("collapsed"))
    opened.page.locator("#search").fill("update_actor")
    names = opened.page.locator("#names button")
    assert names.all_inner_texts() == ["time/update_actor"]
    names.first.click()
    assert opened.page.locator("#others .u-over").count() == 1
    drag(opened, "reward", 0.2, 0.4)
    assert len(opened.views()) == 1  # the new one is on the same clock
    names.first.click()
    assert opened.page.locator("#others .u-over").count() == 0
    assert opened.errors == []


def test_a_series_that_is_called_like_a_part_of_every_object_is_drawn(show: Show, readings: Readings) -> None:
    reading = readings("collapsed")
    chart = reading.chart_data
    series = replace(chart.series["reward/mean"], name="constructor", key="constructor")
    opened = show(replace(reading, chart_data=replace(chart, series={**chart.series, "constructor": series})))
    opened.page.locator("#search").fill("constructor")
    opened.page.locator("#names button").first.click()
    assert opened.page.locator("#others .u-over").count() == 1
    assert opened.errors == []


def test_charts_can_be_walked_by_keyboard(show: Show, readings: Readings) -> None:
    opened = show(readings("hacked"))
    chart = opened.page.locator("#panel-reward .plot")
    chart.focus()
    opened.page.keyboard.press("ArrowLeft")
    first = opened.page.locator("#panel-reward .legend .step").inner_text()
    for _ in range(5):
        opened.page.keyboard.press("ArrowLeft")
    second = opened.page.locator("#panel-reward .legend .step").inner_text()
    assert int(re.sub(r"\D", "", second)) < int(re.sub(r"\D", "", first))
    (home,) = opened.views()
    opened.page.keyboard.press("+")
    (view,) = opened.views()
    assert view[1] - view[0] == pytest.approx((home[1] - home[0]) / 2, rel=0.05)
    opened.page.keyboard.press("Escape")
    assert opened.views() == {home}


def test_every_control_is_reached_by_tab_in_the_order_of_the_page(show: Show, readings: Readings) -> None:
    opened = show(readings("telemetry"))
    reached = opened.page.evaluate(
        "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')]"
        ".filter((one) => one.checkVisibility() && !one.disabled).map((one) => one.tabIndex)"
    )
    assert set(reached) == {0}
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.className") == "skip"


def test_colours_can_be_switched(show: Show, readings: Readings) -> None:
    opened = show(readings("healthy"), scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = opened.page.evaluate(ground)
    pixels = "document.querySelector('#panel-reward canvas').toDataURL()"
    drawn = opened.page.evaluate(pixels)
    opened.page.locator("#theme").click()
    assert opened.page.evaluate(ground) != light
    until(opened, f"{pixels} !== {drawn!r}")  # the charts follow
    opened.page.locator("#theme").click()
    assert opened.page.evaluate(ground) == light


@pytest.mark.parametrize("name", EVERY)
def test_it_fits_a_phone(name: str, show: Show, readings: Readings) -> None:
    opened = show(readings(name), width=360)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert opened.errors == []


def test_it_prints_light_and_without_controls(show: Show, readings: Readings) -> None:
    opened = show(readings("collapsed"), scheme="dark")
    assert len(opened.page.pdf()) > 50_000
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not opened.page.locator("#theme").is_visible()
    assert opened.errors == []


@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_text_neither_runs_nor_breaks_the_page(width: int, hostile: str, show: Show) -> None:
    opened = show(hostile, width=width)
    page = opened.page
    for button in page.locator("#names button").all():  # metric names among them
        button.click()
    for summary in page.locator("summary").all():
        summary.click()
    page.get_by_role("button", name="High vs. low reward").click()
    for place in range(6):
        page.locator("#samples input[data-side=here]").fill(str(place))
    hover(opened, "reward", 0.5)
    assert page.evaluate("window.hacked") is None
    assert opened.errors == []
    assert [one.split(":")[0] for one in opened.requests] == ["file"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("script").count() == 3
    assert page.locator("img, svg, iframe, textarea").count() == 0
    assert "<script>" in page.locator("#samples").inner_text()
    assert not set(page.locator("body").inner_text()) & set("\x1b\x07\x9b\u202e\u2066\u200b")
    ltr = "getComputedStyle(document.querySelector('#run')).direction"
    assert page.evaluate(ltr) == "ltr"
    first_letter = "getComputedStyle(document.querySelector('#run .keys li'), '::first-letter').textTransform"
    assert page.evaluate(first_letter) == "none"  # a key is shown as it is written


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["collapsed", "hacked", "telemetry"])
def test_axe_finds_nothing_serious(name: str, scheme: str, show: Show, readings: Readings) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened = show(readings(name), scheme=scheme)
    for summary in opened.page.locator("summary").all():
        summary.click()
    if name == "collapsed":
        drag(opened, "reward", 0.3, 0.6)
        opened.page.locator("#names button").first.click()
    if name == "hacked":
        opened.page.get_by_role("button", name="High vs. low reward").click()
    found = Axe().run(opened.page).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["help"], one["nodes"][0]["html"]) for one in grave] == []
