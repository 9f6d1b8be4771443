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


class Number(click.FloatRange):
    """Finite number within bounds, which the help does not print; Python takes `nan` and `inf` for numbers too."""

    name = "number"

    def __init__(self, low: float, high: float = math.inf, *, whole: bool = False, such: str = "") -> None:
        super().__init__(low, high)
        self.low, self.high, self.whole, self.such = low, high, whole, such

    def _describe_range(self) -> str:
        return ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = int(value) if self.whole else float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or not self.low <= number <= self.high:
            kind = "whole number" if self.whole else "number"
            most = "" if self.high == math.inf else f" and <= {self.high:g}"
            self.fail(f"pass a {kind} >= {self.low:g}{most}{self.such}, not {value}", param, ctx)
        return number


COUNT = Number(1, FURTHEST - 1, whole=True)

until_option = click.option("--until", type=int, metavar="STEP", help="Ignore everything after STEP.")
budget_option = click.option(
    "--budget", type=COUNT, metavar="STEPS", help="Total planned steps, if the log doesn't say."
)
price_option = click.option(
    "--price",
    type=Number(0, such=", such as 0.05"),
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
no_color_option = click.option("--no-color", is_flag=True, help="Print plain text.")
bins_option = click.option(
    "--bins", type=Number(1, 200, whole=True), default=10, show_default=True, metavar="N", help="Bins of steps."
)
store_option = click.option(
    "--store", metavar="URL", help="Database: file, sqlite:///PATH, or postgresql://... [env: LEADLINE_STORE]."
)
workers_option = click.option("--workers", type=COUNT, metavar="N", help="Worker processes [default: one per CPU].")


def taking(kind: type[Asked]) -> Callable[[Callable[[Asked], None]], Callable[..., None]]:
    """Pass a verb all its options as one object of this class."""
    return lambda verb: wraps(verb)(lambda **told: verb(kind(**told)))


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
