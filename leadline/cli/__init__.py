"""The door: verbs and exit codes. A verb is a module with `verb`, and one entry in VERBS."""

from __future__ import annotations

from . import one_thread  # noqa: F401 - before whatever imports numpy

# isort: split

import os
import sys
from collections.abc import Sequence
from types import ModuleType

import click

from .. import __version__
from ..errors import BadMapping, BadNumber, BadOrder, BadState, CannotWrite, LeadlineError
from . import (
    audit,
    backtest,
    calibration,
    check,
    compare,
    demo,
    doctor,
    history,
    mcp,
    read,
    record,
    review,
    samples,
    scan,
    schema,
    series,
    serve,
    skill,
    sources,
    watch,
)
from .encoding import fit_streams

USAGE = 2  # click's own
NOTHING_READABLE = 3
CANNOT_PRINT = 4
READER_GONE = 141  # as the shell says of a program whose reader went away

GROUPS = {
    "Analyze": (read, samples, review, series, check, compare, audit, backtest),
    "Monitor": (watch, history, calibration, record),
    "Many runs and agents": (scan, serve, mcp, skill),
    "Setup": (sources, demo, doctor, schema),
}
VERBS = tuple(module for group in GROUPS.values() for module in group)


class Verbs(click.Group):
    """Click group that lists its commands by topic, with full first sentences."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(_name(one), one.verb.get_short_help_str(limit=1000)) for one in group])


def _name(module: ModuleType) -> str:
    verb: click.Command = module.verb
    return verb.name or ""


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="leadline")
def verbs() -> None:
    """Decide whether an RL training run should continue, stop, or roll back. Start with: leadline read PATH"""


for module in VERBS:
    verbs.add_command(module.verb)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; what we can explain is shown without a traceback."""
    fit_streams()
    try:
        ended = verbs.main(args=None if argv is None else list(argv), prog_name="leadline", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    except LeadlineError as error:
        from ..report.plain import printable  # only where it is needed: reports take long to import

        click.echo(error.told(printable), err=True)
        usage = BadMapping | BadNumber | BadOrder | BadState | CannotWrite
        return USAGE if isinstance(error, usage) else NOTHING_READABLE
    except BrokenPipeError:  # `leadline read run | head`
        return READER_GONE
    except OSError as error:
        return _refused(error)
    return ended if isinstance(ended, int) else 0  # a number where a verb asked for one


def _refused(error: OSError) -> int:
    """Say what the system would not do: a full disk, an output that was closed."""
    where = f" ({error.filename})" if error.filename else ""
    what = f"The output could not be written: {error.strerror or error}{where}."
    told = CannotWrite(what, tried="printing the answer", next_step="make room there, or print somewhere else")
    click.echo(str(told), err=True)
    return CANNOT_PRINT


def script() -> None:
    """The console script."""
    code = main()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code or (READER_GONE if isinstance(error, BrokenPipeError) else _refused(error))
    if code in (CANNOT_PRINT, READER_GONE):  # what is left in the buffer would fail once more when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
