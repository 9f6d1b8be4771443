"""`leadline compare`: several runs on one clock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..records import dataclass
from .options import joining_of, joining_options, map_option, no_color_option, taking
from .screen import color, height, width

if TYPE_CHECKING:
    from ..facts.comparison import Unit


@dataclass(frozen=True, slots=True)
class CompareOptions:
    paths: tuple[str, ...]
    grouped: tuple[str, ...]
    alone: bool
    by: str | None
    clock: Unit
    told: tuple[str, ...]
    join: bool
    separate: bool
    as_json: bool
    html: Path | None
    verbose: bool
    no_color: bool


@click.command("compare")
@click.argument("paths", nargs=-1)
@click.option(
    "--group",
    "grouped",
    multiple=True,
    metavar="NAME=PATHS",
    help="Treat these runs as seeds of one config. Repeatable.",
)
@click.option("--each", "alone", is_flag=True, help="Don't group runs.")
@click.option("--by", metavar="METRIC", help="Metric to rank by [default: held-out eval, else reward].")
@click.option(
    "--clock",
    type=click.Choice(["step", "time", "tokens"]),
    default="step",
    show_default=True,
    help="Compare at equal steps, training time, or tokens.",
)
@map_option
@joining_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole comparison as JSON.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a self-contained HTML report.")
@click.option("--verbose", "-v", is_flag=True, help="Show every pair, metric, and run.")
@no_color_option
@taking(CompareOptions)
def verb(options: CompareOptions) -> None:
    """Compare runs or groups of seeds; report differences beyond seed noise.

    A folder or quoted pattern is one group of seeds.

    Example: leadline compare 'runs/base-seed*' 'runs/new-seed*'
    """
    from ..comparison.gather import gather
    from ..comparison.together import compare
    from ..report.compare import render
    from ..report.compare_data import as_data
    from ..report.data import dump
    from ..report.files import check_file, write_whole
    from ..report.progress import progress_bar
    from ..sources.mapping import parse_mapping

    groups = _groups(options.grouped)
    if not options.paths and not groups:
        raise click.UsageError("pass at least two runs, or groups of runs with --group NAME=PATHS")
    if options.html is not None:
        check_file(options.html)
    with progress_bar():
        gathered = gather(
            options.paths,
            groups=groups,
            alone=options.alone,
            mapping=parse_mapping(options.told),
            joining=joining_of(options.join, options.separate),
        )
        comparison = compare(gathered, by=options.by, clock=options.clock)
    if options.html is not None:
        from ..report.compare_html import page

        write_whole(options.html, page(comparison))
    if options.as_json:
        click.echo(dump(as_data(comparison)), nl=False)
    else:
        shown = render(
            comparison, color=color(options.no_color), width=width(), verbose=options.verbose, height=height()
        )
        click.echo(shown, nl=False)


def _groups(told: tuple[str, ...]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for one in told:
        name, equals, path = one.partition("=")
        if not equals or not name.strip() or not path.strip():
            raise click.UsageError(f"--group expects NAME=PATHS, e.g. --group base='runs/base-*'; got {one!r}")
        groups.setdefault(name.strip(), []).append(path)
    return groups
