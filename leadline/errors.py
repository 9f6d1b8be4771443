"""Errors that Leadline explains to the user.

LeadlineError             everything we can explain; shown without a traceback
├── NothingReadable       no source found a run at the path (exit code 3)
├── NotOneRun             the path holds several runs, and only the user knows which (exit code 3)
├── NotAnRLRun            the log is of another kind of training (exit code 3)
├── BadMapping            what the user says about keys cannot be followed (exit code 2)
├── BadState              the state file of a watch cannot be used (exit code 2)
├── BadOrder              what is to be told by or acted on cannot be followed (exit code 2)
├── BadNumber             a number that was given is out of range (exit code 2)
├── CannotWrite           a report cannot be written where it was asked for (exit code 2)
└── MissingExtra          an optional package is needed for what was asked (exit code 3)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

FURTHEST = 2**53  # steps: beyond it a float cannot tell one from the next


class LeadlineError(Exception):
    """One sentence with the cause, and a hint with one action. `tried`: for programs, what there was to choose from."""

    def __init__(self, what: str, *, next_step: str, tried: str = "") -> None:
        self.what, self.tried, self.next_step = what, tried, next_step
        super().__init__(self.told())

    def __reduce__(self) -> tuple[Callable[..., LeadlineError], tuple[object, ...]]:
        """Let it travel between processes: an exception is rebuilt from its one text otherwise."""
        return partial(type(self), self.what, tried=self.tried, next_step=self.next_step), ()

    def told(self, escape: Callable[[str], str] = str) -> str:
        """Return the text, each part through `escape`: parts may quote names from a user's disk."""
        return f"error: {escape(self.what)}\nhint: {escape(self.next_step)}"


class NothingReadable(LeadlineError):
    """No source found a run there."""


class NotOneRun(LeadlineError):
    """Several runs were found where one was asked for."""


class NotAnRLRun(LeadlineError):
    """The log is of supervised, preference or reward-model training."""


class BadMapping(LeadlineError):
    """A --map or leadline.toml that cannot be followed."""


class BadState(LeadlineError):
    """Raised if a state file can't be opened, is locked by another watch, or is invalid."""


class BadOrder(LeadlineError):
    """A --notify or --act that cannot be followed."""


class BadNumber(LeadlineError):
    """A budget or price that is not finite, or beyond all steps."""


class CannotWrite(LeadlineError):
    """A file that cannot be written: its folder is missing, closed to us, or something else is in its place."""


class MissingExtra(LeadlineError):
    """An optional package is not installed."""


def install(extra: str) -> str:
    """Return the command that installs an extra: of the installed package, released or not, else of this checkout."""
    from importlib.metadata import distributions  # takes long to import

    place = "leadline" if any(distributions(name="leadline")) else Path(__file__).parent.parent
    return f"pip install '{place}[{extra}]'"


def need(module: str, *, extra: str, to: str) -> ModuleType:
    """Return the optional `module`, or raise an error that names its extra.

    >>> need("json", extra="parquet", to="read rollouts kept as Parquet").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"an extra is needed to {to}.",
            tried=f"import {module} ({error})",
            next_step=install(extra),
        ) from error
