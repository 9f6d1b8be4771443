"""The pictures of the page of all runs in docs/screenshots: `python docs/screenshots_fleet.py [--out DIR]`.

A small lab is made of the bundled runs, cut where they shall still be running. One of them grows while a real
`leadline watch` looks at it, so that its page has something to tell. Needs the extras `serve` and `browser`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # so that a checkout works without being installed
sys.path.append(str(ROOT / "tests"))

from browsing import FLAGS, chromium  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

EXAMPLES = ROOT / "leadline" / "examples"
LEADLINE = [sys.executable, "-m", "leadline"]
DESKTOP, PHONE = 1280, 390


@dataclass(frozen=True)
class Shot:
    name: str
    path: str
    width: int = DESKTOP
    scheme: str = "light"
    height: int = 900
    run: str = ""  # its page, instead of a path
    below: bool = False  # what stands below the report


SHOTS = (
    Shot("fleet-triage-desktop-light", ""),
    Shot("fleet-triage-phone-dark", "", PHONE, "dark", 844),
    Shot("fleet-runs-desktop-dark", "runs", scheme="dark"),
    Shot("fleet-seeds-desktop-light", "runs?by=variant", height=560),
    Shot("fleet-run-desktop-light", "", run="math/grpo-lr1-seed0"),
    Shot("fleet-looks-desktop-light", "", run="math/grpo-lr1-seed0", below=True, height=700),
)


def make(lab: Path) -> Path:
    """The lab; the path of the run that is watched while it grows."""
    for seed, until in ((1, 60), (2, 40), (3, 150)):
        cut(lab / "math" / f"grpo-lr1-seed{seed}", until)
    for number, (name, seeds) in enumerate((("healthy", 3), ("hacked", 1))):
        for seed in range(seeds):
            shutil.copytree(EXAMPLES / name, lab / ("code", "judge")[number] / f"grpo-seed{seed}")
    (lab / "code" / "grpo-seed9").mkdir()
    (lab / "code" / "grpo-seed9" / "train.log").write_text("Traceback (most recent call last):\n", encoding="utf-8")
    return cut(lab / "math" / "grpo-lr1-seed0", 90)


def cut(run: Path, until: int) -> Path:
    """The run that collapsed, as far as a step, with the times of a training that goes on now."""
    run.mkdir(parents=True, exist_ok=True)
    shutil.copy(EXAMPLES / "collapsed" / "config.json", run)
    lines = (EXAMPLES / "collapsed" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[:until]
    rows = [json.loads(line) for line in lines]
    now = time.time()
    told = (json.dumps({**row, "timestamp": now - 30 * (until - row["step"])}) for row in rows)
    (run / "metrics.jsonl").write_text("".join(f"{line}\n" for line in told), encoding="utf-8")
    return run


def watched(run: Path, environment: dict[str, str]) -> None:
    """Looks at a run that goes on from step 90 to 240."""
    command = [*LEADLINE, "watch", str(run), "--headless", "--interval", "1"]
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert watch.stdout is not None
    lines = (EXAMPLES / "collapsed" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    watch.stdout.readline()  # the first look
    for until in (120, 150, 180, 210, 240):
        with (run / "metrics.jsonl").open("a", encoding="utf-8") as log:
            log.writelines(f"{line}\n" for line in lines[until - 30 : until])
        watch.stdout.readline()
    watch.send_signal(signal.SIGINT)
    watch.communicate(timeout=60)


@contextmanager
def served(store: Path, environment: dict[str, str]) -> Iterator[str]:
    command = [*LEADLINE, "serve", "--store", str(store), "--port", "0", "--allow-act"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found is not None
        yield found[0]
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


def take(browser: Browser, shot: Shot, address: str, folder: Path) -> Path:
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.scheme == "dark" else "light",
        device_scale_factor=2 if shot.width == PHONE else 1,
    )
    page = context.new_page()
    page.goto(address + (f"runs?q={shot.run}" if shot.run else shot.path))
    if shot.run:
        page.get_by_role("link", name=shot.run, exact=True).click()
        page.frame_locator("#report").locator("h1").first.wait_for(timeout=120_000)
    if shot.below:
        page.get_by_role("heading", name="Past verdicts").scroll_into_view_if_needed()
        page.mouse.wheel(0, 4000)
    page.wait_for_timeout(1500)
    target = folder / f"{shot.name}.png"
    page.screenshot(path=target)
    context.close()
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the pictures of the page of all runs.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots", metavar="DIR")
    folder = parser.parse_args().out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    path = chromium()
    if path is None:
        print("Chromium is not there and could not be installed: apt-get install chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        lab, store = Path(scratch) / "lab", Path(scratch) / "shelf.db"
        environment = {**os.environ, "XDG_STATE_HOME": scratch, "LEADLINE_STORE": str(store)}
        watched(make(lab), environment)
        subprocess.run([*LEADLINE, "scan", str(lab)], check=True, env=environment, capture_output=True)
        with served(store, environment) as address, sync_playwright() as playwright:
            time.sleep(3)
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            for shot in SHOTS:
                print(take(browser, shot, address, folder).name)
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
