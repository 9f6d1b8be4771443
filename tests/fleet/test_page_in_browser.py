"""The page of all runs in Chromium: keyboard, names for screen readers, a phone, a run that grows while it is open."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import FLAGS, chromium
from extras import needs

from leadline.shelf.store import Shelf

from .conftest import write_run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    needs("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def address(lab: Path, tmp_path: Path) -> Iterator[str]:
    """A server of its own over a lab."""
    store = str(tmp_path / "page.db")
    base = [sys.executable, "-m", "leadline"]
    subprocess.run([*base, "scan", str(lab), "--store", store, "--workers", "1"], check=True, capture_output=True)
    with Shelf(store) as shelf:
        shelf.base.run("UPDATE runs SET need = 'falling', verdict = 'roll_back' WHERE name = 'web/only'")
    command = [
        *base,
        "serve",
        str(lab),
        "--store",
        store,
        "--port",
        "0",
        "--interval",
        "3",
        "--workers",
        "1",
        "--allow-act",
    ]
    server = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    )
    try:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found is not None
        until = time.monotonic() + 60
        import urllib.request

        while time.monotonic() < until:
            try:
                urllib.request.urlopen(found[0], timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        yield found[0]
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)


def opened(browser: Any, address: str, **options: Any) -> tuple[Any, list[str]]:
    page = browser.new_context(**options).new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    return page, errors


@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}])
def test_pages_can_be_read_by_everyone(browser: Any, address: str, options: dict[str, Any]) -> None:
    needs("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    page, errors = opened(browser, address, **options)
    page.goto(address)
    run = page.get_by_role("link", name="web/only").get_attribute("href")
    assert run is not None
    for path in ("", "runs", "runs?by=variant", run.lstrip("/")):
        page.goto(address + path)
        if path.startswith("run/"):
            page.frame_locator("#report").locator("h1").first.wait_for(timeout=60000)
        assert Axe().run(page).response["violations"] == []
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"]
    assert errors == []


def test_a_run_is_reached_and_acknowledged_by_keyboard_alone(browser: Any, address: str) -> None:
    page, errors = opened(browser, address)
    for _ in range(24):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "web/only":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/run/*")
    page.get_by_label("Your name").focus()
    page.keyboard.type("Ada")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Acknowledged")
    page.goto(address)
    assert page.get_by_text("No run needs attention.").count() == 1
    assert errors == []


def test_a_row_is_acknowledged_in_place_and_search_is_a_key_away(browser: Any, address: str) -> None:
    page, errors = opened(browser, address)
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Acknowledge web/only").click()
    page.wait_for_selector("li.done")
    page.get_by_text("No run needs attention.").wait_for(timeout=20000)
    assert page.url == address
    page.keyboard.press("/")
    page.keyboard.type("code/b")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs?q=code**")
    assert page.get_by_role("link", name="code/b", exact=True).count() == 1
    assert errors == []


def test_all_runs_shown_are_muted_at_once_compared_and_taken_back(browser: Any, address: str) -> None:
    page, errors = opened(browser, address + "runs")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Select all rows shown").check()
    page.get_by_role("button", name="Mute selected for a day").click()
    page.wait_for_selector("tr.done")
    assert page.locator("tr.done").count() == 7
    page.goto(address)
    assert page.get_by_text("No run needs attention.").count() == 1
    page.goto(address + "runs?q=web")
    page.get_by_label("Select web/only").check()
    page.get_by_role("button", name="Acknowledge selected").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("taken back").wait_for()
    page.goto(address)
    assert page.get_by_label("Select web/only").count() == 1
    page.goto(address + "runs?q=code")
    page.get_by_label("Select code/a").check()
    page.get_by_label("Select code/b", exact=True).check()
    page.get_by_role("button", name="Compare selected").click()
    page.wait_for_url("**/compare?run=**")
    assert "form=" not in page.url
    assert errors == []


def test_a_selection_outlives_a_refresh_that_was_under_way(
    browser: Any, address: str, lab: Path, tmp_path: Path
) -> None:
    page, errors = opened(browser, address)
    asked: list[Any] = []
    page.route(address, lambda route: asked.append(route))  # held until the box is ticked
    with Shelf(str(tmp_path / "page.db")) as shelf, shelf.base.writing():
        shelf.changed()
    until = time.monotonic() + 20
    while not asked and time.monotonic() < until:
        page.wait_for_timeout(100)
    assert asked
    box = page.get_by_label("Select web/only")
    box.check()
    with page.expect_response(address):
        asked[0].continue_()
    page.wait_for_timeout(500)
    assert box.is_checked()
    assert errors == []


def test_an_open_run_grows_with_its_log(browser: Any, address: str, lab: Path) -> None:
    page, errors = opened(browser, address + "runs?q=code/a")
    page.get_by_role("link", name="code/a").click()
    frame = page.frame_locator("#report")
    frame.locator("h1").first.wait_for(timeout=30000)
    write_run(lab / "code" / "a", steps=77)
    page.wait_for_selector("#report[src*='at=']", timeout=30000)
    frame.get_by_text("77").first.wait_for(timeout=30000)
    page.locator("#about", has_text="step 77").wait_for(timeout=60000)  # what stands around it, after the next scan
    assert errors == []


def test_ten_thousand_rows_are_scrolled(browser: Any, address: str, lab: Path, tmp_path: Path) -> None:
    with Shelf(str(tmp_path / "page.db")) as shelf, shelf.base.writing():
        columns = ", ".join(COPIED)
        for number in range(9_998):  # with `code/b` and `code/broken`
            shelf.base.run(
                f"INSERT INTO runs (identity, place, name, key, {columns}) SELECT identity || ?, place || ?, name || ?,"
                f" key || ?, {columns} FROM runs WHERE name = 'code/b'",
                (f"-{number}",) * 4,
            )
    page, errors = opened(browser, address + "runs?q=code/b&sort=name&size=500")
    for _ in range(400):
        page.keyboard.press("End")
        page.wait_for_timeout(50)
        if page.locator("#more").count() == 0:
            break
    assert page.locator("tbody tr").count() == 10_000
    assert page.locator("#count").inner_text() == "10000 runs"
    page.keyboard.press("Home")
    page.get_by_role("link", name="code/b-1", exact=True).click()  # it still answers
    page.wait_for_url("**/run/*")
    assert errors == []


COPIED = (
    "root",
    "project",
    "variant",
    "state",
    "headline",
    "spark",
    "mark",
    "change",
    "verdict",
    "last_at",
)
