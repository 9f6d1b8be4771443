"""`leadline serve`: the dashboard of all runs."""

from __future__ import annotations

import click

from .options import STORE, WORKERS, Number, argument, command, option


@command("serve")
def verb(
    roots: tuple[str, ...] = argument(nargs=-1, metavar="[ROOT...]"),
    store: str | None = STORE,
    host: str = option(
        "--host",
        default="127.0.0.1",
        help="Interface to bind; anything but loopback requires a token.",
    ),
    port: int = option(
        "--port",
        type=Number(0, 65535, whole=True),
        default=7310,
        metavar="PORT",
        help="Port (0 picks a free one).",
    ),
    names: tuple[str, ...] = option(
        "--allowed-host", metavar="HOST[:PORT]", help="Extra host name to accept, e.g. behind a proxy. Repeatable."
    ),
    every: float = option(
        "--interval",
        type=Number(1),
        default=60.0,
        metavar="SECONDS",
        help="Seconds between scans.",
    ),
    workers: int | None = WORKERS,
    allow_act: bool = option("--allow-act", help="Allow acknowledge, mute, note, and assign; otherwise read-only."),
) -> None:
    """Serve a dashboard of all runs, those needing attention first. Rescans each ROOT periodically.

    Example: leadline serve /data/experiments
    """
    from ..serve.server import ServeOptions, serve
    from ..shelf.store import Shelf

    options = ServeOptions(roots, host, port, names, every, workers, allow_act)
    with Shelf(store) as shelf:
        serve(shelf, options, say=lambda says: click.echo(says, err=True))
