"""`leadline check`: your own rule on every kept sample."""

from __future__ import annotations

from pathlib import Path

import click

from .options import BINS, UNTIL, Number, argument, command, option

RULE = click.Path(path_type=Path, exists=True, dir_okay=False)


@command("check")
def verb(
    path: Path = argument(),
    python: Path | None = option(
        "--python",
        type=RULE,
        metavar="FILE",
        help="File that defines score(prompt, response) -> float, bool, or None.",
    ),
    regex: str | None = option("--regex", metavar="PATTERN", help="Share of responses in which this is found."),
    bins: int = BINS,
    timeout: float = option("--timeout", type=Number(0.1), default=60.0, help="Seconds for all samples."),
    until: int | None = UNTIL,
    as_json: bool = option("--json", help="Print JSON."),
) -> None:
    """Score all sampled responses with your own rule, next to the run's score.

    The rule runs in a separate process with your permissions: pass only code you would run yourself.

    Example: leadline check outputs/grpo-run --python is_right.py
    """
    from ..report import series as report
    from ..report.data import dump
    from ..review.check import check
    from ..sources import open_run

    if (python is None) == (regex is None):
        raise click.UsageError("give one of --python FILE and --regex PATTERN")
    found = check(open_run(path).until(until), regex=regex, python=python, timeout=timeout)
    if as_json:
        click.echo(dump(report.check_data(found, bins)), nl=False)
    else:
        click.echo("\n".join(report.check_lines(found, "regex" if python is None else python.name, bins)))
