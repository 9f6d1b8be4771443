"""`leadline read`: say what a run does, in one of its faces."""

from __future__ import annotations

from pathlib import Path

import click

from .screen import color, width

EXIT_CODES = {"stop": 10, "roll_back": 11}


@click.command("read")
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the whole reading as JSON, schema 1.")
@click.option("--until", type=int, metavar="STEP", help="Read the run as if it had ended at this step.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="STEPS", help="Total planned steps, when the run does not say."
)
@click.option(
    "--price",
    type=click.FloatRange(min=0),
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
@click.option("--all", "every", is_flag=True, help="Read every run at PATH, one after the other; JSON one a line.")
@click.option("--verbose", "-v", is_flag=True, help="Show everything, with probabilities, not one screen.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
@click.option("--exit-code", "by_verdict", is_flag=True, help="Exit with 10 for stop and 11 for roll back.")
def verb(
    path: Path,
    as_json: bool,
    until: int | None,
    budget: int | None,
    price: float | None,
    told: tuple[str, ...],
    every: bool,
    verbose: bool,
    no_color: bool,
    by_verdict: bool,
) -> None:
    """Say what the run at PATH does. PATH is a log file, a folder, or - for standard input.

    Example: leadline read outputs/grpo-run --until 400
    """
    from .. import pipeline  # the engine takes longer to import than --help should
    from ..contract import as_data
    from ..report import RENDERERS
    from ..report.data import dump
    from ..sources.mapping import parse_mapping

    if every and by_verdict:
        raise click.UsageError("--exit-code speaks of one run and cannot be combined with --all")
    mapping = parse_mapping(told)
    face = {one.NAME: one for one in RENDERERS}["json" if as_json else "terminal"]
    if not every:
        reading = pipeline.read(path, until=until, budget=budget, price=price, mapping=mapping)
        click.echo(face.render(reading, color=color(no_color), width=width(), verbose=verbose), nl=False)
        if by_verdict:
            click.get_current_context().exit(EXIT_CODES.get(reading.judgement.verdict, 0))
        return
    for number, reading in enumerate(pipeline.read_all(path, until=until, budget=budget, price=price, mapping=mapping)):
        if as_json:
            click.echo(dump(as_data(reading), lines=True), nl=False)
        else:
            text = face.render(reading, color=color(no_color), width=width(), verbose=verbose)
            click.echo("\n" * bool(number) + text, nl=False)
