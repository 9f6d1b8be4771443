"""`leadline serve`: the page of all runs."""

from __future__ import annotations

import click

from ..serve.options import ServeOptions
from .options import taking


@click.command("serve")
@click.argument("roots", nargs=-1, metavar="[ROOT...]")
@click.option("--store", metavar="URL", help="The rows of `leadline scan`; as there.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen there. Off loopback a token is demanded.")
@click.option("--port", type=click.IntRange(0, 65535), default=7310, show_default=True, help="0: any that is free.")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST[:PORT]",
    help="What browsers may call this page besides, as behind a proxy.",
)
@click.option("--every", type=click.FloatRange(min=1), default=60.0, show_default=True, help="Seconds between scans.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes that read runs.")
@click.option(
    "--allow-act", is_flag=True, help="Let people acknowledge, mute, note, and assign runs; otherwise read-only."
)
@taking(ServeOptions)
def verb(options: ServeOptions) -> None:
    """Show all runs on one page: what needs a person first. With ROOTS, they are scanned again and again.

    Example: leadline serve /data/experiments
    """
    from ..serve.server import serve
    from ..shelf.store import Shelf

    with Shelf(options.store) as shelf:
        serve(shelf, options, say=lambda says: click.echo(says, err=True))
