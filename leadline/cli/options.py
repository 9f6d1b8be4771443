"""Verbs from the fields of their options, and the options that several share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import FURTHEST
from ..records import fields

if TYPE_CHECKING:
    from ..sources import Joining

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

# What a field of a verb's options says of itself to click, by its type.
KINDS: dict[str, dict[str, Any]] = {
    "bool": {"is_flag": True},
    "int": {"type": int},
    "float": {"type": float},
    **{kind: {} for kind in ("str", "tuple[str, ...]", "Score", "Unit")},
    "Path": {"type": click.Path(path_type=Path)},
    "tuple[Path, ...]": {"type": click.Path(path_type=Path)},
}


def option(*names: str, **how: Any) -> Any:
    """Return the default of an argument of a verb: the option that fills it."""
    how["show_default"] = bool(how.get("default"))
    return lambda name, kind: click.option(*names, name, multiple=kind.startswith("tuple"), **(KINDS[kind] | how))


def argument(**how: Any) -> Any:
    """Return the same for what is given without a name."""
    return lambda name, kind: click.argument(name, **(KINDS[kind] | how))


def command(name: str, kind: type[Any] | None = None) -> Callable[[Callable[..., object]], click.Command]:
    """Make a verb of a function. The default of each of its arguments, or of each field of `kind` if it takes all of
    them as one object, is the option or argument of the verb that fills it."""

    def made(verb: Callable[..., object]) -> click.Command:
        if kind is None:
            asked, told = verb, [(one.name, one.annotation, one.default) for one in signature(verb).parameters.values()]
        else:
            asked = wraps(verb)(lambda **told: verb(kind(**told)))
            told = [(one.name, one.type, one.default) for one in fields(kind)]
        for argument_name, type_name, fill in reversed(told):
            asked = fill(argument_name, type_name.removesuffix(" | None"))(asked)
        return click.command(name)(asked)

    return made


FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
STREAM = click.Path(path_type=Path, allow_dash=True)  # a file, or - for a standard stream

UNTIL = option("--until", metavar="STEP", help="Ignore everything after STEP.")
BUDGET = option("--budget", type=COUNT, metavar="STEPS", help="Total planned steps, if the log doesn't say.")
PRICE = option(
    "--price",
    type=Number(0, such=", such as 0.05"),
    metavar="SHARE",
    help="Minimum gain that justifies a full run, as a fraction of the metric's range [default: 0.05].",
)
MAP = option(
    "--map",
    metavar="NAME=KEY",
    help="Map a log key to a metric if it isn't detected, e.g. reward/mean=my/score. Repeatable.",
)
NO_COLOR = option("--no-color", help="Print plain text.")
JOIN = option("--join", help="Treat all logs under PATH as one run.")
SEPARATE = option("--separate", help="Treat each log as its own run.")
BINS = option("--bins", type=Number(1, 200, whole=True), default=10, metavar="N", help="Bins of steps.")
STORE = option(
    "--store", metavar="URL", help="Database: file, sqlite:///PATH, or postgresql://... [env: LEADLINE_STORE]."
)
WORKERS = option("--workers", type=COUNT, metavar="N", help="Worker processes [default: one per CPU].")


def joining_of(join: bool, separate: bool) -> Joining:
    """Return what the two options ask for."""
    if join and separate:
        raise click.UsageError("--join and --separate are mutually exclusive")
    return "join" if join else "separate" if separate else "by evidence"
