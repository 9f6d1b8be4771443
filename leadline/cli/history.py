"""`leadline history`: past looks at a run."""

from __future__ import annotations

from pathlib import Path

import click

from .screen import color, width


@click.command("history")
@click.argument("path")
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE", help="The state file of the watch.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a look.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
def verb(path: str, state: Path | None, as_json: bool, no_color: bool) -> None:
    """Show past verdicts and missed forecasts of a watched run.

    Example: leadline history outputs/grpo-run
    """
    from ..live import history
    from ..live.words import history_lines
    from ..report.data import dump
    from ..report.lines import page

    past = history.past_of(path, state=state)
    if as_json:
        for one in history.as_data(past):
            click.echo(dump(one, lines=True), nl=False)
    else:
        click.echo(page(history_lines(past), color=color(no_color), width=width()), nl=False)
