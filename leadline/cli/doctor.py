"""`leadline doctor`: what this environment has."""

from __future__ import annotations

import click

from .. import __version__
from .screen import color, width


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
def verb(as_json: bool, no_color: bool) -> None:
    """Check this environment: versions, optional packages and what each adds, GPU, cache.

    Example: leadline doctor --json
    """
    from .. import environment
    from ..report import environment as report
    from ..report.data import dump

    found = environment.examine(__version__)
    text = dump(environment.as_data(found)) if as_json else report.render(found, color=color(no_color), width=width())
    click.echo(text, nl=False)
