"""`leadline sources`: what lies at a path and how it was understood."""

from __future__ import annotations

from pathlib import Path

import click

from .options import joining_of, joining_options, map_option, no_color_option
from .screen import color, width


@click.command("sources")
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@map_option
@click.option("--why", is_flag=True, help="Show only how files were grouped into runs, and why.")
@click.option("--write-map", is_flag=True, help="Save the detected mapping of keys to the run's leadline.toml.")
@joining_options
@no_color_option
def verb(
    path: Path,
    as_json: bool,
    told: tuple[str, ...],
    why: bool,
    write_map: bool,
    join: bool,
    separate: bool,
    no_color: bool,
) -> None:
    """Show which logs and metrics were detected, and what is missing.

    Example: leadline sources outputs/grpo-run
    """
    from .. import inventory
    from ..report import inventory as report
    from ..report.data import dump
    from ..sources.mapping import parse_mapping

    found = inventory.take(path, mapping=parse_mapping(told), joining=joining_of(join, separate))
    if as_json:
        text = dump(report.as_data(found))
    else:
        text = report.render(inventory.files_only(found) if why else found, color=color(no_color), width=width())
    click.echo(text, nl=False)
    if write_map:
        click.echo(f"Written to {inventory.keep_mapping(found, parse_mapping(told))}.", err=as_json)
