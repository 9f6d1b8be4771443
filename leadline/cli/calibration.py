"""`leadline calibration`: how well predictions held."""

from __future__ import annotations

from pathlib import Path

import click

from .options import no_color_option
from .screen import color, width


@click.command("calibration")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
@click.option("--state", type=click.Path(path_type=Path), metavar="FILE", help="State file of the watch.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per kind of metric.")
@no_color_option
def verb(paths: tuple[Path, ...], state: Path | None, as_json: bool, no_color: bool) -> None:
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
