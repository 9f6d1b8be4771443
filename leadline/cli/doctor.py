"""`leadline doctor`: check the installation."""

from __future__ import annotations

import click

from .. import __version__
from .options import no_color_option
from .screen import color, width


@click.command("doctor")
@click.option("--live", is_flag=True, help="List running watchers; exit 1 if one died.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@no_color_option
def verb(live: bool, as_json: bool, no_color: bool) -> int:
    """Check the installation, optional extras, and running watchers.

    Example: leadline doctor --live
    """
    if live:
        return _live(as_json, no_color)
    from .. import environment
    from ..report import environment as report
    from ..report.data import dump

    found = environment.examine(__version__)
    text = dump(environment.as_data(found)) if as_json else report.render(found, color=color(no_color), width=width())
    click.echo(text, nl=False)
    return 0


def _live(as_json: bool, no_color: bool) -> int:
    import time

    from ..live import heartbeat
    from ..report.data import dump
    from ..report.lines import page

    now = time.time()
    found = heartbeat.listed()
    if as_json:
        for watch in found:
            click.echo(dump(heartbeat.as_data(watch, now), lines=True), nl=False)
    else:
        click.echo(page(heartbeat.watches_lines(found, now), color=color(no_color), width=width()), nl=False)
    return 0 if all(watch.alive(now) for watch in found) else 1
