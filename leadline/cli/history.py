"""`leadline history`: past looks at a run."""

from __future__ import annotations

from pathlib import Path

import click

from .options import no_color_option
from .screen import color, width


@click.command("history")
@click.argument("path", required=False)
@click.option("--actions", is_flag=True, help="Show actions taken, dry-run, or refused; without PATH, of all runs.")
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE", help="State file of the watch.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per check.")
@no_color_option
def verb(path: str | None, actions: bool, state: Path | None, as_json: bool, no_color: bool) -> None:
    """Show past verdicts and missed forecasts of a watched run.

    Example: leadline history outputs/grpo-run; leadline history --actions
    """
    from ..live import history
    from ..report.data import dump
    from ..report.lines import page

    if path is None and not actions:
        raise click.UsageError("pass a run, or --actions for all runs")
    past = history.past_of(path, state=state, looks=not actions)
    if as_json:
        for one in history.actions_as_data(past) if actions else history.as_data(past):
            click.echo(dump(one, lines=True), nl=False)
    else:
        lines = history.action_lines(past) if actions else history.history_lines(past)
        click.echo(page(lines, color=color(no_color), width=width()), nl=False)
