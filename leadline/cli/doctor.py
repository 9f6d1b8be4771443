"""`leadline doctor`: check the installation."""

from __future__ import annotations

import click

from .. import __version__
from .options import NO_COLOR, command, option
from .screen import color, width


@command("doctor")
def verb(
    live: bool = option("--live", help="List running watchers; exit 1 if one died."),
    as_json: bool = option("--json", help="Print it as JSON."),
    no_color: bool = NO_COLOR,
) -> int:
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
