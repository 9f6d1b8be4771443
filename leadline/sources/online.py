"""Runs on the servers of trackers, through the trackers' own clients. Only reads.

`wandb://entity/project/run` needs the extra `wandb` and a login that its client knows about. `mlflow://host:port/run`,
or `mlflow+https://` for a server behind TLS, needs the extra `mlflow`; without a run id it means all runs there.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from ..errors import NothingReadable, need
from .mlflow_store import MOST_RUNS
from .number import as_number, as_step, flat
from .source import Log, Reader
from .tracked import Tracked

WANDB = "wandb://"
WANDB_EXPECTS = "wandb://entity/project/run-id"
MLFLOW = ("mlflow://", "mlflow+https://", "mlflow+http://")
MLFLOW_EXPECTS = "mlflow://host:port/run-id, or mlflow://host:port for all its runs"
SAMPLES = 10_000  # system samples that are asked for: the server thins out what is more
PATIENCE = 10.0  # seconds


def open(address: str) -> tuple[Reader, ...] | None:
    """Return a reader for every run at an address of a server; None for other addresses."""
    if address.startswith(MLFLOW):
        client, run = _client(address)
        return runs_of(client, address, run)
    if not address.startswith(WANDB):
        return None
    parts = address.removeprefix(WANDB).strip("/").split("/")
    if len(parts) != 3 or not all(parts):
        raise _misspelled(address, "a W&B run", WANDB_EXPECTS)
    wandb = need("wandb", extra="wandb", to="read a run from a W&B server")
    with _asking(address, "W&B"):
        return (WandbOnlineRun(address, wandb.Api().run("/".join(parts))),)


def listed(address: str) -> Iterator[tuple[str, str]] | None:
    """Return the address of every run at an address, each with what tells that it changed ("" if only reading it
    tells), without asking for any history; None for other addresses. Raise LeadlineError only."""
    if address.startswith(WANDB):
        return _listed_wandb(address)
    return _listed_mlflow(address) if address.startswith(MLFLOW) else None


class _ServerRun:
    """One run on a server, which may stop answering at any time."""

    TRACKER = ""

    def __init__(self, address: str) -> None:
        self._address = address
        self._notes: tuple[str, ...] = ()
        self._tracked = Tracked()

    def _ask(self) -> bool:
        """Take what is new; return whether there was anything."""
        raise NotImplementedError

    def _describe(self, tracked: Tracked) -> None:
        """Say of the run what the server knows beside its numbers."""
        raise NotImplementedError

    def update(self) -> bool:
        self._notes = ()
        try:
            return self._ask()
        except Exception as error:  # a client raises what its transport raises
            if not self._tracked.table:
                raise _refused(self._address, self.TRACKER, error) from error
            answer = f"the {self.TRACKER} server no longer answers ({type(error).__name__}); "
            self._notes = (answer + "what was read before stands",)
            return True

    @property
    def log(self) -> Log:
        self._describe(self._tracked)
        return self._tracked.log(self._notes)


class WandbOnlineRun(_ServerRun):
    """One run on a W&B server. A second look asks only for later steps."""

    TRACKER = "W&B"

    def __init__(self, address: str, run: Any) -> None:
        super().__init__(address)
        self._known = run
        self._next = 0
        self._sampled = 0.0

    def _ask(self) -> bool:
        before = self._next, self._sampled
        for row in self._known.scan_history(min_step=self._next):
            step = as_step(row.get("_step", "none"))
            self._next = max(self._next, (step or 0) + 1)
            # Keys that a row does not hold come as null.
            self._tracked.row(step, {key: value for key, value in flat(row) if value is not None})
        for sample in self._known.history(samples=SAMPLES, pandas=False, stream="system"):
            wall = as_number(sample.get("_timestamp"))
            if wall is not None and wall > self._sampled:
                self._sampled = wall
                for key, value in sample.items():
                    self._tracked.sample(key, wall, value)
        return (self._next, self._sampled) != before

    def _describe(self, tracked: Tracked) -> None:
        run = self._known
        tracked.settings = {key: value for key, value in run.config.items() if not key.startswith("_wandb")}
        tracked.run_id, tracked.label, tracked.project = run.id, run.name, getattr(run, "project", "")


class MlflowOnlineRun(_ServerRun):
    """One run on an MLflow server, which hands out a metric only whole: one that was logged again is read again."""

    TRACKER = "MLflow"

    def __init__(self, client: Any, address: str, run: Any) -> None:
        super().__init__(address)
        self._client, self._known = client, run
        self._seen: dict[str, str] = {}
        self._project = ""

    def _ask(self) -> bool:
        run = self._client.get_run(self._known.info.run_id)
        latest = {key: repr(value) for key, value in sorted(run.data.metrics.items())}
        if latest == self._seen and run.info.status == self._known.info.status:
            return False
        self._project = self._project or str(self._client.get_experiment(run.info.experiment_id).name)
        tracked = Tracked()
        for key in latest:
            for point in self._client.get_metric_history(run.info.run_id, key):
                tracked.value(key, int(point.step), float(point.value), point.timestamp / 1000)
        self._known, self._tracked, self._seen = run, tracked, latest
        return True

    def _describe(self, tracked: Tracked) -> None:
        info = self._known.info
        tracked.settings, tracked.project = dict(self._known.data.params), self._project
        tracked.run_id, tracked.label = info.run_id, info.run_name
        tracked.started = info.start_time / 1000 if info.start_time else None


def _listed_wandb(address: str) -> Iterator[tuple[str, str]]:
    parts = address.removeprefix(WANDB).strip("/").split("/")
    if len(parts) != 2 or not all(parts):
        yield address, ""  # one run, or none: whoever opens it says so
        return
    wandb = need("wandb", extra="wandb", to="list the runs of a W&B project")
    with _asking(address, "W&B"):
        for run in wandb.Api().runs("/".join(parts), order="+created_at"):
            told = (run.state, getattr(run, "lastHistoryStep", None), getattr(run, "heartbeat_at", None))
            yield f"{WANDB}{'/'.join(parts)}/{run.id}", repr(told)


def runs_of(client: Any, address: str, run: str = "") -> tuple[Reader, ...]:
    """Return a reader for the run of that id, or for every run the client can see."""
    with _asking(address, "MLflow"):
        if run:
            return (MlflowOnlineRun(client, address, client.get_run(run)),)
        order = ["attributes.start_time ASC"]
        found = client.search_runs(_experiments(client), max_results=MOST_RUNS, order_by=order)
    if not found:
        raise NothingReadable(f"{address} holds no run.", next_step="check the address")
    return tuple(MlflowOnlineRun(client, address, one) for one in found)


def _listed_mlflow(address: str) -> Iterator[tuple[str, str]]:
    client, run = _client(address)
    if run:
        yield address, ""  # whoever asks for one asks it
        return
    token: str | None = None
    with _asking(address, "MLflow"):
        experiments = _experiments(client)
        while True:
            found = client.search_runs(experiments, max_results=MOST_RUNS, page_token=token)
            for one in found:
                latest = sorted((key, repr(value)) for key, value in one.data.metrics.items())
                yield f"{address.rstrip('/')}/{one.info.run_id}", repr((one.info.status, one.info.end_time, latest))
            token = found.token
            if not token:
                return


def _experiments(client: Any) -> list[str]:
    return [experiment.experiment_id for experiment in client.search_experiments()]


def _client(address: str) -> tuple[Any, str]:
    """Return a client of the MLflow server at an address, and the run that is named."""
    place = urlsplit(address)
    run = place.path.strip("/")
    if not place.netloc or "/" in run:
        raise _misspelled(address, "an MLflow run", MLFLOW_EXPECTS)
    tracking = need("mlflow.tracking", extra="mlflow", to="read a run from an MLflow server")
    try:  # whether anybody listens there at all: the client itself asks again for a minute before it gives up
        port = place.port or (443 if place.scheme == "mlflow+https" else 80)
        socket.create_connection((place.hostname or "", port), timeout=PATIENCE).close()
    except (ConnectionRefusedError, socket.gaierror, ValueError) as error:
        raise _refused(address, "MLflow", error) from error
    except OSError:  # behind a proxy, perhaps: the client knows about those
        pass
    server = f"{'https' if place.scheme == 'mlflow+https' else 'http'}://{place.netloc}"
    return tracking.MlflowClient(server), run


@contextlib.contextmanager
def _asking(address: str, tracker: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # the client raises what its transport raises
        raise _refused(address, tracker, error) from error


def _misspelled(address: str, what: str, expected: str) -> NothingReadable:
    return NothingReadable(f"{address} does not name {what}.", next_step=f"write it as {expected}")


def _refused(address: str, tracker: str, error: Exception) -> NothingReadable:
    reason = next(iter(str(error).splitlines()), "") or type(error).__name__
    check = "the address and `wandb login`" if tracker == "W&B" else "that the server runs and the run exists"
    return NothingReadable(f"{address} could not be read: {reason}", next_step=f"check {check}")
