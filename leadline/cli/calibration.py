"""`leadline calibration`: how well predictions held."""

from __future__ import annotations

from pathlib import Path

import click

from .options import NO_COLOR, argument, command, option
from .screen import color, width


@command("calibration")
def verb(
    paths: tuple[Path, ...] = argument(nargs=-1),
    state: Path | None = option("--state", metavar="FILE", help="State file of the watch."),
    as_json: bool = option("--json", help="Print one JSON object per kind of metric."),
    no_color: bool = NO_COLOR,
) -> None:
    """Show how often forecasts held, for watched runs or finished runs at PATHS.

    Example: leadline calibration outputs/*
    """
    from ..live import calibration
    from ..report.data import dump
    from ..report.lines import page
    from ..report.progress import progress_bar

    if paths and state is not None:
        raise click.UsageError("give finished runs or the state file of a watch, not both")
    if paths:
        with progress_bar():
            scored = calibration.of_finished(paths)
    else:
        scored = calibration.of_watches(state)
    found = calibration.calibrations(scored)
    if as_json:
        for one in found:
            click.echo(dump(calibration.as_data(one), lines=True), nl=False)
    else:
        click.echo(page(calibration.calibration_lines(found), color=color(no_color), width=width()), nl=False)
