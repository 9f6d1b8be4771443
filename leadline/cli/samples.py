"""`leadline samples`: show sampled responses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..records import dataclass
from .options import COUNT, NO_COLOR, argument, command, option
from .screen import color, width

if TYPE_CHECKING:
    from ..agents.chosen import Score


@dataclass(frozen=True, slots=True)
class SamplesOptions:
    path: Path = argument()
    steps: str | None = option("--steps", metavar="A,B,...", help="Samples nearest each of these steps, e.g. 1,40,80.")
    per_step: int | None = option("--per-step", type=COUNT, metavar="N", help="Maximum samples per step.")
    random: bool = option("--random", help="Draw samples at random; the same ones every time.")
    compact: bool = option("--compact", help="One line per sample, long responses shortened in the middle.")
    score: Score | None = option(
        "--score",
        type=click.Choice(["low", "high", "each"]),
        help="Lowest first, highest first, or the newest sample of each score.",
    )
    search: str | None = option("--search", metavar="TEXT", help="Samples whose prompt or response contains TEXT.")
    limit: int = option("--limit", type=COUNT, default=12, metavar="N", help="Maximum samples to show.")
    as_json: bool = option("--json", help="Print JSON with whole texts.")
    no_color: bool = NO_COLOR


@command("samples", SamplesOptions)
def verb(options: SamplesOptions) -> None:
    """Show sampled responses: early vs. late, by step, by score, by text search, or at random.

    Example: leadline samples outputs/grpo-run --steps 1,40,80 --per-step 4 --random --compact
    """
    from ..agents.chosen import chosen
    from ..errors import NothingReadable
    from ..report import samples as report
    from ..report.data import dump
    from ..sources import open_samples
    from ..words.tools import KEEP_SAMPLES, NO_SAMPLES

    try:
        wanted = [] if options.steps is None else [int(part) for part in options.steps.split(",")]
    except ValueError:
        raise click.UsageError("--steps takes whole numbers, such as 1,40,80") from None
    spread = max(options.limit // len(wanted), 1) if wanted else None
    rollouts = open_samples(options.path)
    if not rollouts.steps:
        raise NothingReadable(NO_SAMPLES, tried=str(options.path), next_step=KEEP_SAMPLES)
    found = chosen(
        rollouts.steps,
        rollouts.at,
        wanted=wanted,
        per_step=spread if options.per_step is None else options.per_step,
        random=options.random,
        search=options.search,
        score=options.score,
    )
    most = max(options.limit, len(found)) if wanted else options.limit
    if options.as_json:
        click.echo(dump(report.as_data(rollouts.steps, found, most)), nl=False)
    else:
        shown = report.render(
            rollouts.steps, found, most, compact=options.compact, color=color(options.no_color), width=width()
        )
        click.echo(shown, nl=False)
