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
STANDARD_OUTPUT = "-"


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
    markdown: Path | None = option("--md", type=STREAM, metavar="FILE", help="Write Markdown; - prints it.")
    separate: bool = SEPARATE
    join: bool = JOIN
    every: bool = option("--all", help="Read every run under PATH (--json: one object per line).")
    verbose: bool = option("--verbose", "-v", help="Show all findings with evidence.")
    no_color: bool = NO_COLOR
    by_verdict: bool = option(
        "--exit-code", help="Exit with 10 for stop; 11 for roll back, or if a finished run ended badly."
    )

    @property
    def printed(self) -> bool:
        """Return whether the Markdown goes to standard output."""
        return str(self.markdown) == STANDARD_OUTPUT


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
    if options.no_charts and not options.as_json:
        raise click.UsageError("--no-charts leaves something out of --json: give that too")
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
    if not options.printed:  # before any file is written: a full disk must not hide the verdict
        click.echo(_shown(reading, options), nl=False)
    with progress_bar():
        text = _written(reading, options)
    if options.printed:
        click.echo(text, nl=False)
    if options.by_verdict:
        from ..facts.judgement import calls_for

        called = calls_for(reading.judgement.verdict, reading.judgement.outcome)
        click.get_current_context().exit(EXIT_CODES.get(called, 0))


def _check(options: ReadOptions) -> None:
    """Raise for what can't be combined or written, before the run is read."""
    for asked, name in ((options.by_verdict, "--exit-code"), (options.page, "--html"), (options.markdown, "--md")):
        if options.every and asked:
            raise click.UsageError(f"{name} can't be combined with --all")
    if options.printed and options.as_json:
        raise click.UsageError("--json and --md - both print: pass a file to --md")
    if str(options.page) == STANDARD_OUTPUT:
        raise click.UsageError("--html needs a file name, such as report.html")
    if options.page or options.markdown:
        from ..report.files import check_file

        for file in (options.page, None if options.printed else options.markdown):
            if file is not None:
                check_file(file)


def _shown(reading: Reading, options: ReadOptions) -> str:
    if options.as_json:
        from ..contract import ChartData
        from ..report.data import as_data, dump

        told = replace(reading, chart_data=ChartData()) if options.no_charts else reading
        return dump(as_data(told), lines=options.every)
    from ..report import terminal

    colored = color(options.no_color)
    return terminal.render(reading, color=colored, width=width(), verbose=options.verbose, height=height())


def _written(reading: Reading, options: ReadOptions) -> str:
    """Write the pages that are asked for, and return the text of the Markdown page."""
    if not options.page and not options.markdown:
        return ""
    from ..report import html, markdown
    from ..report.files import write_whole

    if options.page:
        write_whole(options.page, html.render(reading))
    text = markdown.render(reading, verbose=options.verbose)
    if options.markdown and not options.printed:
        write_whole(options.markdown, text)
    return text
