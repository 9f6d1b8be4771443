"""Options that several verbs share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import FURTHEST

if TYPE_CHECKING:
    from ..sources import Joining

Command = TypeVar("Command", bound=Callable[..., Any])
Asked = TypeVar("Asked")


class FiniteShare(click.FloatRange):
    """Finite number >= 0: Python takes `nan` and `inf` for numbers too."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def _describe_range(self) -> str:
        return ""  # the help says it in words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a valid share: pass a number >= 0, such as 0.05", param, ctx)
        return number


class PlannedSteps(click.IntRange):
    """Number of steps; the help does not show its range."""

    def __init__(self) -> None:
        super().__init__(min=1, max=FURTHEST - 1)

    def _describe_range(self) -> str:
        return ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value} is not a positive number of steps", param, ctx)


STEPS = PlannedSteps()
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
    """Pass a verb all its options as one object of this class."""
    return lambda verb: wraps(verb)(lambda **told: verb(kind(**told)))


class Renamed(click.Option):
    """Option whose former names still work and are not listed."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        names, self.opts = self.opts, self.opts[:1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = names


def renamed(name: str, *former: str, **settings: Any) -> Callable[[Command], Command]:
    """Return an option that can also be given by its former names; the first of all names its parameter."""
    return click.option(name, *former, cls=Renamed, **settings)


def joining_options(command: Command) -> Command:
    """Add both options to a verb that opens folders."""
    join = click.option("--join", is_flag=True, help="Treat all logs under PATH as one run.")
    separate = click.option("--separate", is_flag=True, help="Treat each log as its own run.")
    return separate(join(command))


def joining_of(join: bool, separate: bool) -> Joining:
    """Return what the two options ask for."""
    if join and separate:
        raise click.UsageError("--join and --separate are mutually exclusive")
    return "join" if join else "separate" if separate else "by evidence"
