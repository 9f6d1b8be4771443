"""`leadline compare`: several runs on one clock."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from .options import joining_of, joining_options, map_option, taking
from .screen import color, height, width


@dataclass(frozen=True, slots=True)
class CompareOptions:
    paths: tuple[str, ...]
    grouped: tuple[str, ...]
    alone: bool
    by: str | None
    clock: str
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
    help="Runs of one variant: a path, a folder of runs or a pattern. May be given several times, also for one name.",
)
@click.option("--each", "alone", is_flag=True, help="Take every run by itself, whatever its name says.")
@click.option(
    "--by", metavar="SERIES", help="Say which is better by this series; else the held-out score or the reward."
)
@click.option(
    "--clock",
    type=click.Choice(["step", "time", "tokens"]),
    default="step",
    show_default=True,
    help="Compare at equal steps, equal training time or equal tokens.",
)
@map_option
@joining_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole comparison as JSON.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write an interactive page as well.")
@click.option("--verbose", "-v", is_flag=True, help="Show every pair, series and run.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
@taking(CompareOptions)
def verb(options: CompareOptions) -> None:
    """Compare runs or groups of seeds; report differences beyond seed noise.

    A folder of runs or a quoted pattern is a group of seeds.

    Example: leadline compare 'runs/base-seed*' 'runs/new-seed*'
    """
    from ..compare import UNITS, compare, gather
    from ..report.compare import render
    from ..report.compare_data import as_data
    from ..report.data import dump
    from ..report.files import check_file, write_whole
    from ..report.progress import Progress
    from ..sources.mapping import parse_mapping

    groups = _groups(options.grouped)
    if not options.paths and not groups:
        raise click.UsageError("name at least two runs, or groups of runs with --group NAME=PATHS")
    if options.html is not None:
        check_file(options.html)
    with Progress("reading") as bar:
        bar.expect(len(options.paths) + sum(map(len, groups.values())))
        gathered = gather(
            options.paths,
            groups=groups,
            alone=options.alone,
            mapping=parse_mapping(options.told),
            joining=joining_of(options.join, options.separate),
            opened=bar.advance,
        )
    with Progress("comparing") as bar:
        unit = next(one for one in UNITS if one == options.clock)
        comparison = compare(gathered, by=options.by, clock=unit, started=bar.expect, read=bar.advance)
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
            raise click.UsageError(f"--group takes NAME=PATHS, such as --group base='runs/base-*'; got {one!r}")
        groups.setdefault(name.strip(), []).append(path)
    return groups
