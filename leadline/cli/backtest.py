"""`leadline backtest`: replay finished runs."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import LeadlineError, NothingReadable
from .options import COUNT, JOIN, NO_COLOR, SEPARATE, argument, command, joining_of, option
from .screen import color, width


@command("backtest")
def verb(
    paths: tuple[Path, ...] = argument(nargs=-1, required=True),
    as_json: bool = option("--json", help="Print one JSON object per check."),
    checks: int = option("--checks", type=COUNT, default=10, metavar="N", help="Checks per run."),
    separate: bool = SEPARATE,
    join: bool = JOIN,
    no_color: bool = NO_COLOR,
) -> None:
    """Replay finished runs: what Leadline would have said, saved, and cost.

    Example: leadline backtest outputs/* --checks 20
    """
    from ..backtest import Replay, backtest, summary, table
    from ..report.data import dump
    from ..report.lines import aligned, field, page, shown
    from ..report.progress import progress_bar

    done: list[Replay] = []
    unread: dict[str, LeadlineError] = {}
    with progress_bar():
        for place, found in backtest(paths, checks=checks, joining=joining_of(join, separate)):
            if isinstance(found, LeadlineError):
                unread[str(place)] = found
                continue
            done += found
            if as_json:
                for look in (look for run in found for look in run.looks):
                    click.echo(dump(look.as_data(), lines=True), nl=False)
    if not done and unread:
        first = next(iter(unread.values()))
        raise NothingReadable(first.what, tried=first.tried, next_step=first.next_step)
    if not as_json:
        lines = [field(about, says) for about, says in summary(done, list(unread))]
        click.echo(page(lines, color=color(no_color), width=width()))
        click.echo(shown(aligned(table(done), width()), color=color(no_color), width=width()), nl=False)
