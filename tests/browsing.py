"""Debian's Chromium, installed when it is missing and we may."""

from __future__ import annotations

import os
import shutil
import subprocess

# Without these Chromium looks for Google's hosts at every start; the report needs no network at all.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    """Where Chromium is; where it is not and we may, it is installed first."""
    if shutil.which("chromium") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(["apt-get", "-q", *command], env=environment, capture_output=True, check=False)
    return shutil.which("chromium")
