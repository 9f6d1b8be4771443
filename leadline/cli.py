"""The door: verbs, options, exit codes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from . import __version__
from .errors import LeadlineError
from .report.plain import printable

NOTHING_READABLE = 3  # the other codes: 0 read, 2 usage (click's own)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="leadline")
def verbs() -> None:
    """Read an RL training run and say whether it is still worth its GPUs."""


@verbs.command()
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the whole reading as JSON, schema 1.")
@click.option("--until", type=int, metavar="STEP", help="Read the run as if it had ended at this step.")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="STEPS", help="Total planned steps, when the run does not say."
)
@click.option("--no-color", is_flag=True, help="Print plain text.")
def read(path: Path, as_json: bool, until: int | None, budget: int | None, no_color: bool) -> None:
    """Say what the run at PATH does. PATH is a log file, a folder, or - for standard input.

    Example: leadline read outputs/grpo-run --until 400
    """
    from .pipeline import read as read_run  # the engine takes longer to import than --help should
    from .report import RENDERERS

    reading = read_run(path, until=until, budget=budget)
    face = {one.NAME: one for one in RENDERERS}["json" if as_json else "terminal"]
    color = sys.stdout.isatty() and not no_color
    click.echo(face.render(reading, color=color, width=shutil.get_terminal_size((100, 24)).columns), nl=False)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; what we can explain is shown without a traceback."""
    try:
        verbs.main(args=None if argv is None else list(argv), prog_name="leadline", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    except LeadlineError as error:
        click.echo(error.told(printable), err=True)
        return NOTHING_READABLE
    return 0


def script() -> None:
    """The console script."""
    sys.exit(main())


if __name__ == "__main__":
    script()
