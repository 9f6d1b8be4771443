"""`--join` and `--separate`: which logs are one run, where the user knows better than the evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..sources import Joining

Command = TypeVar("Command", bound=Callable[..., Any])


def joining_options(command: Command) -> Command:
    """Both options, for a verb that opens folders."""
    join = click.option("--join", is_flag=True, help="Take all logs at a path for one run, whatever they hold.")
    separate = click.option("--separate", is_flag=True, help="Take every log at a path for a run of its own.")
    return separate(join(command))


def joining_of(join: bool, separate: bool) -> Joining:
    """What the two options ask for."""
    if join and separate:
        raise click.UsageError("--join and --separate ask for opposite things: give one of them")
    return "join" if join else "separate" if separate else "by evidence"
