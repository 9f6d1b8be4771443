"""`leadline samples`: what the policy wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .screen import color, width

if TYPE_CHECKING:
    from ..agents.chosen import Score


@click.command("samples")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--step", type=int, metavar="STEP", help="Those of the step nearest to this one.")
@click.option(
    "--score",
    type=click.Choice(["low", "high", "each"]),
    help="The lowest first, the highest first, or the newest example of each score.",
)
@click.option("--search", metavar="TEXT", help="Those whose prompt or answer holds this text.")
@click.option("--most", type=click.IntRange(min=1), default=12, show_default=True, help="Samples at most.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, with their whole texts.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
def verb(
    path: Path,
    step: int | None,
    score: Score | None,
    search: str | None,
    most: int,
    as_json: bool,
    no_color: bool,
) -> None:
    """Show what the policy wrote in the run at PATH: early beside late, by step, by score, or by a text to search for.

    Example: leadline samples outputs/grpo-run --score each
    """
    from ..agents.chosen import chosen
    from ..errors import NothingReadable
    from ..report import samples as report
    from ..report.data import dump
    from ..sources import open_run
    from ..words.tools import KEEP_SAMPLES, NO_SAMPLES

    rollouts = open_run(path).rollouts
    if not rollouts.steps:
        raise NothingReadable(NO_SAMPLES, tried=str(path), next_step=KEEP_SAMPLES)
    found = chosen(rollouts.steps, rollouts.at, step=step, search=search, score=score)
    if as_json:
        click.echo(dump(report.as_data(rollouts.steps, found, most)), nl=False)
    else:
        click.echo(report.render(rollouts.steps, found, most, color=color(no_color), width=width()), nl=False)
