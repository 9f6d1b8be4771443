"""`leadline sources`: what lies at a path and how it was understood."""

from __future__ import annotations

from pathlib import Path

import click

from .options import JOIN, MAP, NO_COLOR, SEPARATE, STREAM, argument, command, joining_of, option
from .screen import color, width


@command("sources")
def verb(
    path: Path = argument(type=STREAM),
    as_json: bool = option("--json", help="Print all of it as JSON."),
    told: tuple[str, ...] = MAP,
    separate: bool = SEPARATE,
    join: bool = JOIN,
    no_color: bool = NO_COLOR,
) -> None:
    """Show which logs and metrics were detected, and what is missing.

    Example: leadline sources outputs/grpo-run
    """
    from .. import inventory
    from ..report import inventory as report
    from ..report.data import dump
    from ..sources.mapping import parse_mapping

    found = inventory.take(path, mapping=parse_mapping(told), joining=joining_of(join, separate))
    text = dump(report.as_data(found)) if as_json else report.render(found, color=color(no_color), width=width())
    click.echo(text, nl=False)
