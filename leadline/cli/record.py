"""`leadline record`: record GPUs, processes, and phases while a run trains."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

import click

from ..errors import NothingReadable
from .options import Number, argument, command, option


@command("record")
def verb(
    path: Path = argument(default="."),
    every: float = option("--every", type=Number(0.1), default=2.0, metavar="SECONDS", help="Sampling interval."),
    seconds: float | None = option("--for", type=Number(0), metavar="SECONDS", help="Stop after SECONDS."),
    max_size: float = option(
        "--max-size",
        type=Number(0.001),
        default=64.0,
        metavar="MB",
        help="Maximum file size; full files are downsampled.",
    ),
) -> None:
    """Record GPU power, memory, processes, and phases of a run.

    PATH is the run's folder or its log. Recording ends with Ctrl-C or SIGTERM.

    Example: leadline record outputs/grpo-run &
    """
    from ..recorder import Recorder
    from ..report.plain import printable

    if not path.exists():
        raise NothingReadable(
            f"{path} does not exist.",
            tried="the path as given",
            next_step="pass the run's folder or its log",
        )
    folder = path if path.is_dir() else path.absolute().parent
    largest = int(max_size * 1e6)

    def say(note: str) -> None:
        click.echo(printable(note), err=True)

    recorder = Recorder(folder, log=path, every=every, largest=largest, say=say)

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    click.echo(f"recording every {every:g} s into {printable(', '.join(str(file) for file in recorder.files))}")
    with suppress(KeyboardInterrupt):
        recorder.run(seconds)
