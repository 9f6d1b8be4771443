"""`leadline record`: write down what the machine does while a run goes on."""

from __future__ import annotations

import signal
from pathlib import Path

import click

from ..errors import NothingReadable


@click.command("record")
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Sample so often.",
)
@click.option("--for", "seconds", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop after that long.")
@click.option(
    "--largest",
    type=click.FloatRange(min=0.001),
    default=64.0,
    show_default=True,
    metavar="MB",
    help="Size of each file; a full one is thinned to every second sample.",
)
def verb(path: Path, every: float, seconds: float | None, largest: float) -> None:
    """Record GPU power, memory, processes, and phases of a run, until Ctrl-C. PATH is the run's folder or its log.

    Example: leadline record outputs/grpo-run &
    """
    from ..recorder import Recorder
    from ..report.plain import printable

    if not path.exists():
        raise NothingReadable(
            f"There is nothing at {path} to record beside.",
            tried="the path as it was given",
            next_step="pass the folder of the run, or its log",
        )
    folder = path if path.is_dir() else path.absolute().parent
    recorder = Recorder(folder, log=path, every=every, largest=int(largest * 1e6))
    said = 0

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    click.echo(f"recording every {every:g} s into {printable(', '.join(str(file) for file in recorder.files))}")
    for note in recorder.notes:
        click.echo(printable(note), err=True)
    said = len(recorder.notes)
    try:
        recorder.run(seconds)
    except KeyboardInterrupt:
        recorder.stop()
    for note in recorder.notes[said:]:
        click.echo(printable(note), err=True)
