"""The pictures of the HTML report in docs/screenshots, made from the bundled runs: `python docs/screenshots.py`.

Needs the `browser` extra; Chromium is installed by apt-get where we are root and it is missing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from browsing import FLAGS, chromium
from playwright.sync_api import Browser, sync_playwright

from leadline import pipeline
from leadline.errors import LeadlineError
from leadline.report import html

ROOT = Path(__file__).resolve().parent.parent
DESKTOP, PHONE = 1280, 390


@dataclass(frozen=True)
class Shot:
    """One picture: which run, what of it, how wide, in which colours."""

    run: str
    part: str  # id of a section; "" is the top of the page
    width: int = DESKTOP
    scheme: str = "light"
    height: int = 900
    until: int | None = None

    @property
    def name(self) -> str:
        device = "phone" if self.width == PHONE else "desktop"
        return f"{self.run}-{self.part or 'verdict'}-{device}-{self.scheme}.png"


SHOTS = (
    Shot("collapsed", "", height=940),
    Shot("collapsed", "charts", scheme="dark", height=1000),
    Shot("collapsed", "portrait", height=620),
    Shot("collapsed", "", PHONE, "dark", height=844),
    Shot("collapsed", "charts", PHONE, "light", height=844),
    Shot("hacked", "", scheme="dark", height=940),
    Shot("hacked", "samples", height=760),
    Shot("hacked", "samples", PHONE, "dark", height=844),
    Shot("healthy", "charts", height=1000, until=180),
    Shot("healthy", "", PHONE, "light", height=844),
)


def take(browser: Browser, shot: Shot, page_file: Path, folder: Path) -> Path:
    reading = pipeline.read(f"leadline/examples/{shot.run}", until=shot.until)
    page_file.write_text(html.render(reading), encoding="utf-8")
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.scheme == "dark" else "light",
        offline=True,
        reduced_motion="reduce",
        device_scale_factor=2 if shot.width == PHONE else 1,
    )
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    if shot.part:
        page.evaluate("(part) => document.getElementById(part).scrollIntoView()", shot.part)
    page.wait_for_timeout(300)  # charts settle to the width they were given
    target = folder / shot.name
    page.screenshot(path=target)
    context.close()
    return target


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make the pictures of the HTML report.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots", metavar="DIR")
    folder = parser.parse_args(argv).out.resolve()
    os.chdir(ROOT)  # so that the pictures name the runs as a reader would
    folder.mkdir(parents=True, exist_ok=True)
    path = chromium()
    if path is None:
        print("Chromium is not there and could not be installed: apt-get install chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for shot in SHOTS:
            print(take(browser, shot, Path(scratch) / "report.html", folder).relative_to(folder.parent))
        browser.close()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LeadlineError as error:
        sys.exit(str(error))
