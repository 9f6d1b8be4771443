"""`leadline compare`: several runs on one clock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..records import dataclass
from .options import JOIN, MAP, NO_COLOR, SEPARATE, argument, command, joining_of, option
from .screen import color, height, width

if TYPE_CHECKING:
    from ..facts.comparison import Unit


@dataclass(frozen=True, slots=True)
class CompareOptions:
    paths: tuple[str, ...] = argument(nargs=-1)
    grouped: tuple[str, ...] = option(
        "--group", metavar="NAME=PATHS", help="Treat these runs as seeds of one config. Repeatable."
    )
    alone: bool = option("--each", help="Don't group runs.")
    by: str | None = option("--by", metavar="METRIC", help="Metric to rank by [default: held-out eval, else reward].")
    clock: Unit = option(
        "--clock",
        type=click.Choice(["step", "time", "tokens"]),
        default="step",
        help="Compare at equal steps, training time, or tokens.",
    )
    told: tuple[str, ...] = MAP
    separate: bool = SEPARATE
    join: bool = JOIN
    as_json: bool = option("--json", help="Print the whole comparison as JSON.")
    html: Path | None = option("--html", metavar="FILE", help="Write all of it as a self-contained HTML page.")
    no_color: bool = NO_COLOR


@command("compare", CompareOptions)
def verb(options: CompareOptions) -> None:
    """Compare runs or groups of seeds; report differences beyond seed noise.

    A folder or quoted pattern is one group of seeds.

    Example: leadline compare 'runs/base-seed*' 'runs/new-seed*'
    """
    from ..comparison.gather import gather
    from ..comparison.together import compare
    from ..report.compare import as_data, render
    from ..report.data import dump
    from ..report.files import check_file, write_whole
    from ..report.progress import progress_bar
    from ..sources.mapping import parse_mapping

    groups: dict[str, list[str]] = {}
    for one in options.grouped:
        name, equals, path = one.partition("=")
        if not equals or not name.strip() or not path.strip():
            raise click.UsageError(f"--group expects NAME=PATHS, e.g. --group base='runs/base-*'; got {one!r}")
        groups.setdefault(name.strip(), []).append(path)
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
        shown = render(comparison, color=color(options.no_color), width=width(), height=height())
        click.echo(shown, nl=False)
