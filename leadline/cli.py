"""The door: verbs, options, exit codes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from . import __version__
from .errors import BadMapping, LeadlineError, NothingReadable
from .report.plain import printable

USAGE = 2  # click's own
NOTHING_READABLE = 3


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
def read(
    path: Path,
    as_json: bool,
    until: int | None,
    budget: int | None,
    price: float | None,
    told: tuple[str, ...],
    every: bool,
    verbose: bool,
    no_color: bool,
) -> None:
    """Say what the run at PATH does. PATH is a log file, a folder, or - for standard input.

    Example: leadline read outputs/grpo-run --until 400
    """
    from . import pipeline  # the engine takes longer to import than --help should
    from .contract import as_data
    from .report import RENDERERS
    from .report.data import dump
    from .sources.mapping import parse_mapping

    mapping = parse_mapping(told)
    face = {one.NAME: one for one in RENDERERS}["json" if as_json else "terminal"]
    if not every:
        reading = pipeline.read(path, until=until, budget=budget, price=price, mapping=mapping)
        click.echo(face.render(reading, color=_color(no_color), width=_width(), verbose=verbose), nl=False)
        return
    for number, reading in enumerate(pipeline.read_all(path, until=until, budget=budget, price=price, mapping=mapping)):
        if as_json:
            click.echo(dump(as_data(reading), lines=True), nl=False)
        else:
            text = face.render(reading, color=_color(no_color), width=_width(), verbose=verbose)
            click.echo("\n" * bool(number) + text, nl=False)


@verbs.command()
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@click.option("--map", "told", multiple=True, metavar="NAME=KEY", help="Say what a key of the log means.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
def sources(path: Path, as_json: bool, told: tuple[str, ...], no_color: bool) -> None:
    """Show what was found at PATH, what each series was taken for and why, and what is missing.

    Example: leadline sources outputs/grpo-run
    """
    from . import inventory
    from .report import inventory as face
    from .report.data import dump
    from .sources.mapping import parse_mapping

    found = inventory.take(path, mapping=parse_mapping(told))
    text = dump(inventory.as_data(found)) if as_json else face.render(found, color=_color(no_color), width=_width())
    click.echo(text, nl=False)


@verbs.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a look instead of the summary.")
@click.option(
    "--looks", type=click.IntRange(min=1), default=10, metavar="N", help="Look at N equal shares of each run."
)
@click.option("--no-color", is_flag=True, help="Print plain text.")
def backtest(paths: tuple[Path, ...], as_json: bool, looks: int, no_color: bool) -> None:
    """Replay the finished runs at PATHS and show what Leadline would have said, saved and cost.

    Example: leadline backtest outputs/* --looks 20
    """
    from .backtest import Replay, Unread, summary
    from .backtest import backtest as replayed
    from .report.data import dump
    from .report.lines import field, page
    from .report.progress import Progress

    done: list[Replay] = []
    unread: list[Unread] = []
    with Progress("replaying") as bar:
        for one in replayed(paths, looks=looks, started=bar.expect):
            bar.advance()
            if isinstance(one, Unread):
                unread.append(one)
                continue
            done += one
            if as_json:
                for look in (look for run in one for look in run.looks):
                    click.echo(dump(look.as_data(), lines=True), nl=False)
    if not done and unread:
        raise NothingReadable(unread[0].what, tried=unread[0].tried, next_step=unread[0].next_step)
    if not as_json:
        lines = [field(about, says) for about, says in summary(done, [one.place for one in unread])]
        click.echo(page(lines, color=_color(no_color), width=_width()), nl=False)


@verbs.command()
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
def doctor(as_json: bool, no_color: bool) -> None:
    """Check this environment: versions, optional packages and what each adds, GPU, cache.

    Example: leadline doctor --json
    """
    from . import environment
    from .report import environment as face
    from .report.data import dump

    found = environment.examine(__version__)
    text = dump(environment.as_data(found)) if as_json else face.render(found, color=_color(no_color), width=_width())
    click.echo(text, nl=False)


def _color(no_color: bool) -> bool:
    return sys.stdout.isatty() and not no_color


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


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
        return USAGE if isinstance(error, BadMapping) else NOTHING_READABLE
    return 0


def script() -> None:
    """The console script."""
    sys.exit(main())


if __name__ == "__main__":
    script()
