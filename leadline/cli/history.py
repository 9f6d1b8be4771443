"""`leadline history`: past looks at a run."""

from __future__ import annotations

from pathlib import Path

import click

from .screen import color, width


@click.command("history")
@click.argument("path", required=False)
@click.option(
    "--actions", is_flag=True, help="Show what was done, would have been or was refused; of all runs without PATH."
)
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE", help="The state file of the watch.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per check.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
def verb(path: str | None, actions: bool, state: Path | None, as_json: bool, no_color: bool) -> None:
    """Show past verdicts and missed forecasts of a watched run.

    Example: leadline history outputs/grpo-run; leadline history --actions
    """
    from ..live import history
    from ..live.words import action_lines, history_lines
    from ..report.data import dump
    from ..report.lines import page

    if path is None and not actions:
        raise click.UsageError("name the run, or ask for --actions of all of them")
    past = history.past_of(path, state=state, looks=not actions)
    if as_json:
        for one in history.actions_as_data(past) if actions else history.as_data(past):
            click.echo(dump(one, lines=True), nl=False)
    else:
        lines = action_lines(past) if actions else history_lines(past)
        click.echo(page(lines, color=color(no_color), width=width()), nl=False)
