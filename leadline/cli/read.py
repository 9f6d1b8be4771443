"""`leadline read`: say what a run does, in one of its report formats."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import SHARE, STEPS, joining_of, joining_options
from .screen import color, height, width

if TYPE_CHECKING:
    from ..contract import Reading
    from ..reading.chart_data import Wanted

EXIT_CODES = {"stop": 10, "roll_back": 11}
STANDARD_OUTPUT = "-"


@click.command("read")
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the whole reading as JSON, schema 1.")
@click.option("--no-charts", is_flag=True, help="With --json: leave out the points of charts, nine tenths of it.")
@click.option("--until", type=int, metavar="STEP", help="Read the run as if it had ended at this step.")
@click.option("--budget", type=STEPS, metavar="STEPS", help="Total planned steps, when the run does not say.")
@click.option(
    "--price",
    type=SHARE,
    metavar="SHARE",
    help="What a whole planned run has to earn, in shares of the run's own range; 0.05 when not given.",
)
@click.option(
    "--map",
    "told",
    multiple=True,
    metavar="NAME=KEY",
    help="Say what a key of the log means, such as reward=my/score. May be given several times.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the reading as one HTML file that needs nothing else: charts, samples and all.",
)
@click.option(
    "--md",
    "markdown",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write the reading as Markdown; - prints it instead.",
)
@click.option(
    "--plots",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="With --md: draw reward, held-out reward and KL into this folder and link them.",
)
@joining_options
@click.option("--all", "every", is_flag=True, help="Read every run at PATH, one after the other; JSON one a line.")
@click.option("--verbose", "-v", is_flag=True, help="Show everything, with probabilities, not one screen.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
@click.option("--exit-code", "by_verdict", is_flag=True, help="Exit with 10 for stop and 11 for roll back.")
def verb(
    path: Path,
    as_json: bool,
    no_charts: bool,
    until: int | None,
    budget: int | None,
    price: float | None,
    told: tuple[str, ...],
    page: Path | None,
    markdown: Path | None,
    plots: Path | None,
    join: bool,
    separate: bool,
    every: bool,
    verbose: bool,
    no_color: bool,
    by_verdict: bool,
) -> None:
    """Say what the run at PATH does. PATH is a log file, a folder, or - for standard input.

    Example: leadline read outputs/grpo-run --until 400
    """
    from .. import pipeline  # the engine takes longer to import than --help should
    from ..contract import ChartData
    from ..report import data, html, terminal
    from ..report.data import as_data, dump
    from ..report.files import write_whole
    from ..report.progress import each, progress_bar
    from ..sources.mapping import parse_mapping

    for asked, option in ((by_verdict, "--exit-code"), (page, "--html"), (markdown, "--md")):
        if every and asked:
            raise click.UsageError(f"{option} speaks of one run and cannot be combined with --all")
    if plots and not markdown:
        raise click.UsageError("--plots draws for Markdown: give --md FILE too, or --md -")
    printed = str(markdown) == STANDARD_OUTPUT
    if printed and as_json:
        raise click.UsageError("--json and --md - both print: give --md a file")
    _check_targets(page, None if printed else markdown, plots)
    mapping, joining = parse_mapping(told), joining_of(join, separate)
    if no_charts and not as_json:
        raise click.UsageError("--no-charts leaves something out of --json: give that too")
    charts: Wanted = (
        "all" if (as_json and not no_charts) or page else "main"
    )  # a screen draws little, and is there sooner

    def shown(reading: Reading) -> str:
        if as_json:
            return data.render(without_charts(reading))
        return terminal.render(reading, color=color(no_color), width=width(), verbose=verbose, height=height())

    def without_charts(reading: Reading) -> Reading:
        return replace(reading, chart_data=ChartData()) if no_charts else reading

    if not every:
        with progress_bar():
            reading = pipeline.read(
                path,
                until=until,
                budget=budget,
                price=price,
                mapping=mapping,
                joining=joining,
                charts=charts,
                now=time.time(),
            )
        if not printed:  # before any file is written: a full disk shall not hide the answer
            click.echo(shown(reading), nl=False)
        with progress_bar():
            if page:
                write_whole(page, html.render(reading))
            text = _markdown(reading, markdown, plots, verbose=verbose) if markdown else ""
            if markdown and not printed:
                write_whole(markdown, text)
        if printed:
            click.echo(text, nl=False)
        if by_verdict:
            click.get_current_context().exit(EXIT_CODES.get(reading.judgement.verdict, 0))
        return
    readings = pipeline.read_all(
        path,
        until=until,
        budget=budget,
        price=price,
        mapping=mapping,
        joining=joining,
        charts=charts,
        now=time.time(),
    )
    for number, reading in enumerate(each(readings)):
        if as_json:
            click.echo(dump(as_data(without_charts(reading)), lines=True), nl=False)
        else:
            click.echo("\n" * bool(number) + shown(reading), nl=False)


def _check_targets(page: Path | None, markdown: Path | None, plots: Path | None) -> None:
    """Refuse what cannot be written before the run is read, which may take long."""
    from ..report.files import check_file, check_folder

    if str(page) == STANDARD_OUTPUT:
        raise click.UsageError("--html writes a file: name one, such as report.html")
    for file in (page, markdown):
        if file is not None:
            check_file(file)
    if plots is not None:
        check_folder(plots)


def _markdown(reading: Reading, file: Path, plots: Path | None, *, verbose: bool) -> str:
    """The text of the page at `file`, with its plots drawn."""
    from ..report import markdown
    from ..report.plots import address, write_plots

    home = Path() if str(file) == STANDARD_OUTPUT else file.parent
    drawn = () if plots is None else write_plots(reading, plots)
    return markdown.render(reading, verbose=verbose, plots=[(says, address(one, home)) for says, one in drawn])
