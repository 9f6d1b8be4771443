"""Runs a writer as a user would: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"


def environment(**more: str) -> dict[str, str]:
    """For a writer: one thread, no hub, no dashboard, and no service asked."""
    quiet = {
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "WANDB_MODE": "offline",
        "TOKENIZERS_PARALLELISM": "false",
        "CUDA_VISIBLE_DEVICES": "",
        "COLUMNS": "120",
    }
    return os.environ | quiet | more


def command(program: str, *words: object) -> list[str]:
    return [sys.executable, str(PROGRAMS / f"{program}.py"), *map(str, words)]


def run_program(program: str, *words: object, **more: str) -> str:
    """Runs a writer to its end and returns what it printed, both streams as a terminal would mix them."""
    done = subprocess.run(
        command(program, *words),
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


@contextmanager
def mlflow_server(out: Path) -> Iterator[Path]:
    """A real MLflow server; its folder holds the address of a run on it, and what was logged to that."""
    with (out / "printed.log").open("wb") as printed:
        program = subprocess.Popen(command("serve_mlflow", out), stdout=printed, stderr=subprocess.STDOUT)
    try:
        for _ in range(1200):
            if (out / "address").is_file() or program.poll() is not None:
                break
            time.sleep(0.2)
        assert (out / "address").is_file(), (out / "printed.log").read_text()[-2000:]
        yield out
    finally:
        (out / "stop").touch()
        program.wait(timeout=90)
