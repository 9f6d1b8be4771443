"""`leadline serve`: the dashboard of all runs."""

from __future__ import annotations

import click

from ..serve.server import ServeOptions
from .options import Number, store_option, taking, workers_option


@click.command("serve")
@click.argument("roots", nargs=-1, metavar="[ROOT...]")
@store_option
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Interface to bind; anything but loopback requires a token."
)
@click.option(
    "--port",
    type=Number(0, 65535, whole=True),
    default=7310,
    show_default=True,
    metavar="PORT",
    help="Port (0 picks a free one).",
)
@click.option(
    "--allowed-host",
    "names",
    multiple=True,
    metavar="HOST[:PORT]",
    help="Extra host name to accept, e.g. behind a proxy. Repeatable.",
)
@click.option(
    "--interval",
    "every",
    type=Number(1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between scans.",
)
@workers_option
@click.option("--allow-act", is_flag=True, help="Allow acknowledge, mute, note, and assign; otherwise read-only.")
@taking(ServeOptions)
def verb(options: ServeOptions) -> None:
    """Serve a dashboard of all runs, those needing attention first. Rescans each ROOT periodically.

    Example: leadline serve /data/experiments
    """
    from ..serve.server import serve
    from ..shelf.store import Shelf

    with Shelf(options.store) as shelf:
        serve(shelf, options, say=lambda says: click.echo(says, err=True))
