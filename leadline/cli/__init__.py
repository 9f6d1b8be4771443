"""Commands and exit codes. A command is a module with `verb`, imported when asked for, and one entry in GROUPS."""

from __future__ import annotations

from . import one_thread  # noqa: F401 - before whatever imports numpy

# isort: split

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from .. import __version__
from ..errors import BadMapping, BadNumber, BadOrder, BadState, CannotWrite, LeadlineError
from .screen import fit_streams

USAGE = 2  # click's own
NOTHING_READABLE = 3
CANNOT_PRINT = 4
READER_GONE = 141  # as the shell says of a program whose reader went away

GROUPS = {  # commands by topic
    "Analyze": ("read", "samples", "review", "series", "check", "compare", "backtest"),
    "Monitor": ("watch", "history", "record"),
    "Many runs and agents": ("scan", "serve", "mcp", "skill"),
    "Setup": ("sources", "demo", "doctor", "schema"),
}
VERBS = tuple(name for group in GROUPS.values() for name in group)


class Verbs(click.Group):
    """Click group that imports a command when it is asked for, and lists all of them by topic with the first sentence
    of their help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f".{cmd_name}", __name__).verb
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, group in GROUPS.items():
            with formatter.section(title):
                commands = [import_module(f".{name}", __name__).verb for name in group]
                rows = [(one.name, one.get_short_help_str(limit=200).rstrip(".")) for one in commands]
                formatter.write_dl([(name, f"{says}.") for name, says in rows])  # some clicks leave the full stop


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="leadline")
def verbs() -> None:
    """Decide whether an RL training run should continue, stop, or roll back. Start with: leadline read PATH"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; what we can explain is shown without a traceback."""
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
    """Print why the system would not write: a full disk, an output that was closed."""
    where = f" ({error.filename})" if error.filename else ""
    what = f"can't write the output: {error.strerror or error}{where}."
    told = CannotWrite(what, tried="printing the answer", next_step="make room there, or print somewhere else.")
    click.echo(str(told), err=True)
    return CANNOT_PRINT


def script() -> None:
    """Run the console script."""
    code = main()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code or (READER_GONE if isinstance(error, BrokenPipeError) else _refused(error))
    if code in (CANNOT_PRINT, READER_GONE):  # what is left in the buffer would fail once more when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    gc.freeze()  # all of it goes with the process: to search it for cycles first takes a fifteenth of a read
    sys.exit(code)
