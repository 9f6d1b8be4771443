"""`leadline read`: one run, in one of the report formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..records import dataclass, replace
from .options import (
    BUDGET,
    JOIN,
    MAP,
    NO_COLOR,
    PRICE,
    SEPARATE,
    STREAM,
    UNTIL,
    argument,
    command,
    joining_of,
    option,
)  # fmt: skip
from .screen import color, height, width

if TYPE_CHECKING:
    from ..contract import Reading

EXIT_CODES = {"stop": 10, "roll_back": 11}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    path: Path = argument(type=STREAM)
    as_json: bool = option("--json", help="Print the whole reading as JSON, schema 2.")
    no_charts: bool = option("--no-charts", help="With --json: omit chart points (90% of the size).")
    until: int | None = UNTIL
    budget: int | None = BUDGET
    price: float | None = PRICE
    told: tuple[str, ...] = MAP
    page: Path | None = option("--html", metavar="FILE", help="Write a self-contained HTML report.")
    markdown: bool = option("--md", help="Print Markdown: the screen as a block of code.")
    separate: bool = SEPARATE
    join: bool = JOIN
    every: bool = option("--all", help="Read every run under PATH (--json: one object per line).")
    verbose: bool = option("--verbose", "-v", help="Show all findings with evidence.")
    no_color: bool = NO_COLOR
    by_verdict: bool = option(
        "--exit-code", help="Exit with 10 for stop; 11 for roll back, or if a finished run ended badly."
    )


@command("read", ReadOptions)
def verb(options: ReadOptions) -> None:
    """Read a run and print the verdict, curves, and findings. PATH is a log file, a folder, or - for standard input.

    Example: leadline read outputs/grpo-run --until 400
    """
    from .. import pipeline  # the engine takes longer to import than --help should
    from ..report.progress import each, progress_bar
    from ..sources import open_runs
    from ..sources.mapping import parse_mapping

    _check(options)
    mapping, joining = parse_mapping(options.told), joining_of(options.join, options.separate)
    drawn = (options.as_json and not options.no_charts) or options.page
    how: dict[str, Any] = {
        "budget": options.budget,
        "price": options.price,
        "charts": "all" if drawn else "main",  # a screen draws little: it appears sooner
    }
    if options.every:
        runs = open_runs(options.path, mapping=mapping, joining=joining)
        for number, reading in enumerate(each(pipeline.read_run(run.until(options.until), **how) for run in runs)):
            click.echo("\n" if number and not options.as_json else "", nl=False)
            click.echo(_shown(reading, options), nl=False)
        return
    with progress_bar():
        reading = pipeline.read(options.path, until=options.until, mapping=mapping, joining=joining, **how)
    click.echo(_shown(reading, options), nl=False)  # before the page is written: a full disk must not hide the verdict
    if options.page:
        from ..report import html
        from ..report.files import write_whole

        write_whole(options.page, html.render(reading))
    if options.by_verdict:
        from ..facts.judgement import calls_for

        called = calls_for(reading.judgement.verdict, reading.judgement.outcome)
        click.get_current_context().exit(EXIT_CODES.get(called, 0))


def _check(options: ReadOptions) -> None:
    """Raise for what can't be combined or written, before the run is read."""
    if options.no_charts and not options.as_json:
        raise click.UsageError("--no-charts leaves something out of --json: give that too")
    if options.as_json and options.markdown:
        raise click.UsageError("--json and --md both print: give one of them")
    for asked, name in ((options.by_verdict, "--exit-code"), (options.page, "--html")):
        if options.every and asked:
            raise click.UsageError(f"{name} can't be combined with --all")
    if options.page:
        from ..report.files import check_file

        if str(options.page) == "-":
            raise click.UsageError("--html needs a file name, such as report.html")
        check_file(options.page)


def _shown(reading: Reading, options: ReadOptions) -> str:
    if options.as_json:
        from ..contract import ChartData
        from ..report.data import as_data, dump

        told = replace(reading, chart_data=ChartData()) if options.no_charts else reading
        return dump(as_data(told), lines=options.every)
    if options.markdown:
        from ..report import markdown

        return markdown.render(reading, verbose=options.verbose)
    from ..report import terminal

    colored = color(options.no_color)
    return terminal.render(reading, color=colored, width=width(), verbose=options.verbose, height=height())
