"""`leadline history`: past looks at a run."""

from __future__ import annotations

from pathlib import Path

import click

from .options import NO_COLOR, argument, command, option
from .screen import color, width


@command("history")
def verb(
    path: str | None = argument(required=False),
    actions: bool = option("--actions", help="Show actions taken, dry-run, or refused; without PATH, of all runs."),
    state: Path | None = option("--state", metavar="FILE", help="State file of the watch."),
    as_json: bool = option("--json", help="Print one JSON object per check."),
    no_color: bool = NO_COLOR,
) -> None:
    """Show past verdicts, alerts, and actions of a watched run.

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
