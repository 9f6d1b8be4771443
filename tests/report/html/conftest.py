"""A real browser for the HTML report: Debian's Chromium, installed when we may, else a loud line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from browsing import FLAGS, chromium

from leadline import pipeline
from leadline.contract import Reading
from leadline.report import html
from leadline.run import Run, Series

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SKIPPED: list[str] = []
SPEAK_UP = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if SKIPPED:
        terminalreporter.write_line(f"THE HTML REPORT WAS NOT TESTED IN A BROWSER: {SKIPPED[0]}", red=True, bold=True)


def skip(why: str) -> None:
    SKIPPED.append(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        skip("pip install -e '.[browser]' brings playwright")
    path = chromium()
    if path is None:
        skip("Chromium is not there and could not be installed; apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


class Opened:
    """A report open in the browser, with all that went wrong while it was."""

    def __init__(self, page: Page, requests: list[str], errors: list[str]) -> None:
        self.page, self.requests, self._errors = page, requests, errors

    @property
    def errors(self) -> list[str]:
        return [*self._errors, *self.page.evaluate("window.violations")]

    def views(self) -> set[tuple[float, float]]:
        """The steps that each chart shows."""
        found = self.page.eval_on_selector_all(
            ".plot[data-from]", "list => list.map((one) => [Number(one.dataset.from), Number(one.dataset.to)])"
        )
        return {(first, last) for first, last in found}


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Writes the report of a reading to disk and opens it there, the network off."""
    contexts: list[BrowserContext] = []

    def opened(reading: Reading | str, *, width: int = 1280, scheme: str = "light") -> Opened:
        path = tmp_path / f"report {len(contexts)}.html"
        path.write_text(reading if isinstance(reading, str) else html.render(reading), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        requests: list[str] = []
        errors: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: (errors.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.add_init_script(SPEAK_UP)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        return Opened(page, requests, errors)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def readings(root: Path) -> Callable[[str], Reading]:
    """A bundled run, read once for all tests."""
    places = {"telemetry": root / "tests" / "reading" / "runs" / "telemetry_merger"}
    read: dict[str, Reading] = {}

    def of(name: str) -> Reading:
        if name not in read:
            read[name] = pipeline.read(places.get(name, root / "leadline" / "examples" / name))
        return read[name]

    return of


@pytest.fixture(scope="session")
def hostile(meaning_harm: Reading) -> str:
    return html.render(meaning_harm)


@pytest.fixture(scope="session")
def spikes() -> dict[int, float]:
    """By step, in one series of `wide`."""
    return {1_234: 999.0, 8_765: -999.0}


@pytest.fixture(scope="session")
def wide(spikes: dict[int, float]) -> str:
    """The page of 10,000 steps of 40 series, one of them with two spikes of one point."""
    rng = np.random.default_rng(5)
    steps = np.arange(1, 10_001)
    names = ["reward/mean", "eval/reward/mean", "kl/ref", "entropy", *(f"metric/{n}" for n in range(36))]
    values = {name: np.cumsum(rng.normal(size=10_000)) / 100 + rng.normal(size=10_000) for name in names}
    for step, value in spikes.items():
        values["metric/3"][step - 1] = value
    series = tuple(Series(name, name, "score", steps, values[name]) for name in names)
    return html.render(pipeline.read_run(Run("wide", "own", series)))
