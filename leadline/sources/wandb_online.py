"""A run on a W&B server, through W&B's own client: `wandb://entity/project/run`. Only reads.

A project, `wandb://entity/project`, can be listed (`leadline scan`).
Needs the extra `wandb` and a login that the client knows about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ..errors import NothingReadable, need
from ..run import Telemetry
from .axes import AxisRows
from .gpu_keys import add_gpus
from .number import as_number, as_step, flat
from .source import Log, Reader
from .telemetry.part import GpuColumns

SCHEME = "wandb://"
EXPECTS = "wandb://entity/project/run-id"
SAMPLES = 10_000  # system samples that are asked for: the server thins out what is more


class PublicRun(Protocol):
    """What is used of `wandb.Api().run(...)`."""

    id: str
    name: str
    state: str
    config: dict[str, object]

    def scan_history(self, *, min_step: int = 0) -> object: ...

    def history(self, *, samples: int, pandas: bool, stream: str) -> object: ...


def open(address: str) -> tuple[Reader, ...]:
    parts = address.removeprefix(SCHEME).strip("/").split("/")
    if len(parts) != 3 or not all(parts):
        raise NothingReadable(f"{address} does not name a W&B run.", tried=EXPECTS, next_step=f"write it as {EXPECTS}")
    wandb = need("wandb", extra="wandb", to="read a run from a W&B server")
    try:
        run = wandb.Api().run("/".join(parts))
    except Exception as error:  # the client raises what its transport raises
        raise _refused(address, error) from error
    return (WandbOnlineRun(address, run),)


def listed(address: str) -> Iterator[tuple[str, str]]:
    """The address of every run of a project, and by what it is told that it changed; no history is asked for."""
    parts = address.removeprefix(SCHEME).strip("/").split("/")
    if len(parts) != 2 or not all(parts):
        yield address, ""  # one run, or none: whoever opens it says so
        return
    wandb = need("wandb", extra="wandb", to="list the runs of a W&B project")
    try:
        for run in wandb.Api().runs("/".join(parts), order="+created_at"):
            told = (run.state, getattr(run, "lastHistoryStep", None), getattr(run, "heartbeat_at", None))
            yield f"{SCHEME}{'/'.join(parts)}/{run.id}", repr(told)
    except Exception as error:  # the client raises what its transport raises
        raise _refused(address, error) from error


class WandbOnlineRun:
    """One run on a server. A second look asks only for later steps."""

    def __init__(self, address: str, run: PublicRun) -> None:
        self._address, self._run = address, run
        self._rows = AxisRows()
        self._gpus = GpuColumns()
        self._next = 0
        self._sampled = 0.0
        self._notes: tuple[str, ...] = ()

    def update(self) -> bool:
        before, self._notes = (self._next, self._sampled), ()
        try:
            for row in self._run.scan_history(min_step=self._next):  # type: ignore[attr-defined]
                step = as_step(row.get("_step", "none"))
                self._next = max(self._next, (step or 0) + 1)
                # Keys that a row does not hold come as null.
                self._rows.take(step, {key: value for key, value in flat(row) if value is not None})
            for sample in self._run.history(samples=SAMPLES, pandas=False, stream="system"):  # type: ignore[attr-defined]
                wall = as_number(sample.get("_timestamp"))
                if wall is not None and wall > self._sampled:
                    self._sampled = wall
                    add_gpus(
                        self._gpus,
                        wall,
                        ((key, as_number(value)) for key, value in sample.items() if value is not None),
                    )
        except Exception as error:
            if not self._rows:
                raise _refused(self._address, error) from error
            self._notes = (f"the W&B server no longer answers ({type(error).__name__}); what was read before stands",)
        return (self._next, self._sampled) != before or bool(self._notes)

    @property
    def log(self) -> Log:
        return Log(
            self._rows.table,
            settings={key: value for key, value in self._run.config.items() if not key.startswith("_wandb")},
            label=self._run.name or self._run.id,
            run_id=self._run.id,
            project=getattr(self._run, "project", None),
            notes=self._notes,
            telemetry=Telemetry(gpus=self._gpus.samples()),
        )


def _refused(address: str, error: Exception) -> NothingReadable:
    reason = next(iter(str(error).splitlines()), "") or type(error).__name__
    return NothingReadable(
        f"{address} could not be read: {reason}",
        tried="asking the W&B server through its own client",
        next_step="check the address and `wandb login`",
    )
