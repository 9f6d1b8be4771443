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
    from dataclasses import asdict

    from ..environment import extras, versions
    from ..report.data import dump
    from ..report.lines import field, page

    found = {"versions": versions(__version__), "extras": extras()}
    if as_json:
        click.echo(dump({about: [asdict(one) for one in some] for about, some in found.items()}), nl=False)
        return 0
    lines = [field(one.name, one.says, "yellow" * (not one.there)) for some in found.values() for one in some]
    click.echo(page(lines, color=color(no_color), width=width()), nl=False)
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
