"""`leadline scan`: one summary row per run, for many runs."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from .options import STORE, WORKERS, argument, command, option

if TYPE_CHECKING:
    from ..fleet.scan import Engine, Tally


@command("scan")
def verb(
    roots: tuple[str, ...] = argument(nargs=-1, required=True, metavar="ROOT..."),
    store: str | None = STORE,
    on: str | None = option("--on", metavar="ENGINE", help="Run on Ray: `ray` or ray://ADDRESS."),
    workers: int | None = WORKERS,
    force: bool = option("--force", help="Re-read unchanged runs too."),
    as_json: bool = option("--json", help="Print one JSON object per run under ROOT."),
) -> None:
    """Scan folders or trackers; store one summary row per run.

    ROOT is a folder, an s3:// or other remote address, or a W&B or MLflow project. Resumes after an interruption.
    Scans of one store at the same time, as of an array job, share the work.

    Example: leadline scan /data/experiments --store sqlite:///runs.db
    """
    from ..fleet.scan import scan, settled
    from ..report.data import dump
    from ..report.plain import printable
    from ..shelf.store import Shelf
    from ..words.fleet import scanned

    began = time.monotonic()
    ended = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: ended.set())
    last = began

    def progress(tally: Tally) -> None:
        nonlocal last
        if not as_json and time.monotonic() - last > 5:
            last = time.monotonic()
            click.echo(f"{tally.read} of {tally.units} places read", err=True)

    try:
        with Shelf(store) as shelf:
            if force:
                shelf.forget([settled(root) for root in roots])
            tally = scan(
                roots,
                shelf,
                _engine(on, workers),
                progress=progress,
                problem=lambda error: click.echo(error.told(printable), err=True),
                ended=ended,
            )
            if as_json:
                for row, vanished in shelf.rows([settled(root) for root in roots]):
                    click.echo(dump({**asdict(row), "vanished_at": vanished}, lines=True), nl=False)
            counts = {name: value for name, value in asdict(tally).items() if name != "left"}
            says = scanned(**counts, stopped=ended.is_set())
            click.echo(f"{says}; {time.monotonic() - began:.1f} s", err=True)
            click.echo(f"rows in {shelf.url}", err=True)
    finally:
        signal.signal(signal.SIGTERM, before)
    if ended.is_set():
        click.get_current_context().exit(128 + signal.SIGTERM)


def _engine(on: str | None, workers: int | None) -> Engine:
    from ..fleet.pool import Pool

    if on is None:
        return Pool(workers)
    if on != "ray" and not on.startswith("ray://"):
        raise click.UsageError(f"--on takes ray or ray://ADDRESS; got {on!r}")
    from ..fleet.on_ray import OnRay

    return OnRay(None if on == "ray" else on)
