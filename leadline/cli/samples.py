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
@click.option("--steps", metavar="A,B,...", help="Samples nearest each of these steps, e.g. 1,40,80.")
@click.option("--per-step", type=click.IntRange(min=1), metavar="N", help="Maximum samples per step.")
@click.option("--random", is_flag=True, help="Draw samples at random; the same ones every time.")
@click.option("--compact", is_flag=True, help="One line per sample, long responses shortened in the middle.")
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
    steps: str | None,
    per_step: int | None,
    random: bool,
    compact: bool,
    score: Score | None,
    search: str | None,
    most: int,
    as_json: bool,
    no_color: bool,
) -> None:
    """Show what the policy wrote in the run at PATH: early beside late, by step, score, text, or at random.

    Example: leadline samples outputs/grpo-run --steps 1,40,80 --per-step 4 --random --compact
    """
    from ..agents.chosen import chosen
    from ..errors import NothingReadable
    from ..report import samples as report
    from ..report.data import dump
    from ..sources import open_run
    from ..words.tools import KEEP_SAMPLES, NO_SAMPLES

    if steps is not None and step is not None:
        raise click.UsageError("--step and --steps can't be combined")
    wanted = _steps(steps)
    if wanted and per_step is None:
        per_step = max(most // len(wanted), 1)
    rollouts = open_run(path).rollouts
    if not rollouts.steps:
        raise NothingReadable(NO_SAMPLES, tried=str(path), next_step=KEEP_SAMPLES)
    found = chosen(
        rollouts.steps,
        rollouts.at,
        step=step,
        wanted=wanted,
        per_step=per_step,
        random=random,
        search=search,
        score=score,
    )
    if wanted:
        most = max(most, len(found))
    if as_json:
        click.echo(dump(report.as_data(rollouts.steps, found, most)), nl=False)
    else:
        render = report.render_compact if compact else report.render
        click.echo(render(rollouts.steps, found, most, color=color(no_color), width=width()), nl=False)


def _steps(told: str | None) -> list[int]:
    try:
        return [] if told is None else [int(part) for part in told.split(",")]
    except ValueError:
        raise click.UsageError("--steps takes whole numbers, such as 1,40,80") from None
