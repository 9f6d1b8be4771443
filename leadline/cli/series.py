"""`leadline series`: any logged number in few."""

from __future__ import annotations

from pathlib import Path

import click

from .options import BINS, UNTIL, argument, command, option


@command("series")
def verb(
    path: Path = argument(),
    keys: tuple[str, ...] = argument(nargs=-1, metavar="[KEY]..."),
    bins: int = BINS,
    until: int | None = UNTIL,
    as_json: bool = option("--json", help="Print JSON."),
) -> None:
    """Print binned means of logged metrics; without KEY, list all keys.

    Example: leadline series outputs/grpo-run reward/mean kl/ref --bins 10
    """
    from ..report import series as report
    from ..report.data import dump
    from ..review.bins import binned, named
    from ..sources import open_run

    run = open_run(path).until(until)
    series = named(run, keys)
    if not keys:
        told = dump({"series": report.listing_data(series)}) if as_json else "\n".join(report.listing(series)) + "\n"
        click.echo(told, nl=False)
        return
    found = binned(series, bins)
    click.echo(dump(report.as_data(found)) if as_json else report.table(found), nl=False)
