"""Options that several verbs share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..sources import Joining

Command = TypeVar("Command", bound=Callable[..., Any])
Asked = TypeVar("Asked")

FURTHEST = 2**53  # beyond it a float cannot tell one step from the next


class FiniteShare(click.FloatRange):
    """A number from 0 that is one: `nan` and `inf` are numbers to Python."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a valid share: give a number >= 0, such as 0.05", param, ctx)
        return number


STEPS = click.IntRange(min=1, max=FURTHEST - 1)
SHARE = FiniteShare()

until_option = click.option("--until", type=int, metavar="STEP", help="Ignore everything after STEP.")
budget_option = click.option(
    "--budget", type=STEPS, metavar="STEPS", help="Total planned steps, if the log doesn't say."
)
price_option = click.option(
    "--price",
    type=SHARE,
    metavar="SHARE",
    help="Minimum gain that justifies a full run, as a fraction of the metric's range [default: 0.05].",
)
map_option = click.option(
    "--map",
    "told",
    multiple=True,
    metavar="NAME=KEY",
    help="Map a log key to a metric if it isn't detected, e.g. reward/mean=my/score. Repeatable.",
)


def taking(kind: type[Asked]) -> Callable[[Callable[[Asked], None]], Callable[..., None]]:
    """Gives a verb all its options as one object of this class."""
    return lambda verb: wraps(verb)(lambda **told: verb(kind(**told)))


def joining_options(command: Command) -> Command:
    """Both options, for a verb that opens folders."""
    join = click.option("--join", is_flag=True, help="Treat all logs under PATH as one run.")
    separate = click.option("--separate", is_flag=True, help="Treat each log as its own run.")
    return separate(join(command))


def joining_of(join: bool, separate: bool) -> Joining:
    """What the two options ask for."""
    if join and separate:
        raise click.UsageError("--join and --separate ask for opposite things: give one of them")
    return "join" if join else "separate" if separate else "by evidence"
