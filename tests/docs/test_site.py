"""The site: it builds without a warning and opens from disk, without a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", str(built / "trees"), "docs", str(built)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return built


def test_the_site_opens_in_a_browser_from_disk(site: Path) -> None:
    from browsing import FLAGS, chromium
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"file://{site}/index.html")
        page.get_by_role("link", name="Read your first run").first.click()
        assert page.get_by_role("heading", level=1).inner_text().startswith("Read your first run")
        assert page.get_by_text("ROLL BACK to step").count() > 0
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        browser.close()
