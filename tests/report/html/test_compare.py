"""The page of a comparison in a real browser: it opens from disk, tells values, zooms, and runs nothing it quotes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from seeds import gathered, rise, run, seeds

from leadline.comparison.gather import Gathered, Member
from leadline.comparison.together import compare
from leadline.facts.comparison import Comparison
from leadline.report.compare_html import page, payload

HOSTILE = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>\x1b[31m\u202e"


@pytest.fixture(scope="module")
def pair() -> Comparison:
    return compare(gathered(base=seeds(3), new=seeds(3, late=0.4, first=50)))


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    runs = [run(rise(seed=seed, steps=40), path=HOSTILE, settings={HOSTILE: f"{HOSTILE}{seed}"}) for seed in range(2)]
    members = tuple(Member(f"{HOSTILE}{seed}", one, f"{HOSTILE}{seed}") for seed, one in enumerate(runs))
    return compare(Gathered(members, "named"))


def test_the_same_comparison_gives_the_same_bytes(pair: Comparison) -> None:
    assert page(pair) == page(pair)


def test_the_page_holds_no_text_a_browser_could_obey(hostile: Comparison) -> None:
    text = page(hostile)
    assert "<script>window.ran" not in text
    assert "onerror='" not in text.replace("\\u003c", "<").split('id="data">')[0]
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_time_is_told_in_minutes(pair: Comparison) -> None:
    timed = {
        name: [run({"reward/mean": rise(seed=seed), "time/step": [60.0] * 120}) for seed in (first, first + 1)]
        for name, first in (("a", 0), ("b", 7))
    }
    data: Any = payload(compare(gathered(**timed), clock="time"))
    assert data["unit"] == "minutes"
    assert data["span"] == [1.0, 120.0]


@pytest.mark.browser
def test_the_page_opens_without_a_network_and_without_an_error(show: Callable[..., Any], pair: Comparison) -> None:
    opened = show(page(pair))
    assert opened.errors == []
    assert [one for one in opened.requests if not one.startswith("file:")] == []
    assert opened.page.inner_text("h1") == "new beats base"
    assert opened.page.locator("#groups tbody tr").count() == 2
    assert opened.page.locator(".plot canvas").count() == 1


@pytest.mark.browser
def test_hover_tells_every_group_and_a_difference_moves_the_chart(show: Callable[..., Any], pair: Comparison) -> None:
    opened = show(page(pair))
    plot = opened.page.locator("#panel-0 .u-over")
    plot.hover()
    told = opened.page.inner_text("#panel-0 .legend")
    assert "step" in told
    assert told.count("–") == 2
    before = opened.views()
    opened.page.click("#pairs a")
    assert opened.views() != before
    opened.page.keyboard.press("Escape")
    assert opened.views() == before


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_names_neither_run_nor_break_the_page(
    show: Callable[..., Any], hostile: Comparison, width: int
) -> None:
    opened = show(page(hostile), width=width)
    assert opened.errors == []
    assert opened.page.evaluate("window.ran") is None
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_finding_of_accessibility(show: Callable[..., Any], pair: Comparison, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened = show(page(pair), scheme=scheme)
    found = Axe().run(opened.page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
