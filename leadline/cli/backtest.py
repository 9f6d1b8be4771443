"""`leadline backtest`: what would have been said of finished runs."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import NothingReadable
from .options import joining_of, joining_options
from .screen import color, width


@click.command("backtest")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per check.")
@click.option("--looks", type=click.IntRange(min=1), default=10, metavar="N", help="Checks per run.")
@joining_options
@click.option("--no-color", is_flag=True, help="Print plain text.")
def verb(paths: tuple[Path, ...], as_json: bool, looks: int, join: bool, separate: bool, no_color: bool) -> None:
    """Replay finished runs: what Leadline would have said, saved, and cost.

    Example: leadline backtest outputs/* --looks 20
    """
    from ..backtest import Replay, Unread, summary
    from ..backtest import backtest as replayed
    from ..report.data import dump
    from ..report.lines import field, page
    from ..report.progress import Progress

    done: list[Replay] = []
    unread: list[Unread] = []
    with Progress("replaying") as bar:
        for one in replayed(paths, looks=looks, joining=joining_of(join, separate), started=bar.expect):
            bar.advance()
            if isinstance(one, Unread):
                unread.append(one)
                continue
            done += one
            if as_json:
                for look in (look for run in one for look in run.looks):
                    click.echo(dump(look.as_data(), lines=True), nl=False)
    if not done and unread:
        raise NothingReadable(unread[0].what, tried=unread[0].tried, next_step=unread[0].next_step)
    if not as_json:
        lines = [field(about, says) for about, says in summary(done, [one.place for one in unread])]
        click.echo(page(lines, color=color(no_color), width=width()), nl=False)
