"""The door: verbs and exit codes. A verb is a module with `verb`, and one entry in VERBS."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from .. import __version__
from ..errors import BadMapping, BadOrder, BadState, CannotWrite, LeadlineError
from ..report.plain import printable
from . import backtest, calibration, compare, demo, doctor, history, read, record, scan, schema, serve, sources, watch

USAGE = 2  # click's own
NOTHING_READABLE = 3

VERBS = (read, compare, demo, sources, backtest, doctor, schema, record, watch, history, calibration, scan, serve)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="leadline")
def verbs() -> None:
    """Read an RL training run and say whether it is still worth its GPUs."""


for one in VERBS:
    verbs.add_command(one.verb)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; what we can explain is shown without a traceback."""
    try:
        ended = verbs.main(args=None if argv is None else list(argv), prog_name="leadline", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    except LeadlineError as error:
        click.echo(error.told(printable), err=True)
        return USAGE if isinstance(error, BadMapping | BadOrder | BadState | CannotWrite) else NOTHING_READABLE
    return ended if isinstance(ended, int) else 0  # a number where a verb asked for one


def script() -> None:
    """The console script."""
    sys.exit(main())
