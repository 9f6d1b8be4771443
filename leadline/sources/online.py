"""Runs on the servers of trackers, through the trackers' own clients. Only reads.

`wandb://entity/project/run` needs the extra `wandb` and a login that its client knows about. `mlflow://host:port/run`,
or `mlflow+https://` for a server behind TLS, needs the extra `mlflow`; without a run id it means all runs there.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from ..errors import NothingReadable, need
from ..records import dataclass
from .mlflow_store import MOST_RUNS
from .number import as_number, as_step, flat
from .source import Log
from .tracked import Tracked

WANDB = "wandb://"
WANDB_EXPECTS = "wandb://entity/project/run-id"
MLFLOW = ("mlflow://", "mlflow+https://", "mlflow+http://")
MLFLOW_EXPECTS = "mlflow://host:port/run-id, or mlflow://host:port for all its runs"
SAMPLES = 10_000  # system samples that are asked for: the server thins out what is more
PATIENCE = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class Served:
    """One run on a tracker's server, which is asked for its numbers once it is read."""

    name: str
    address: str
    tracker: str
    ask: Callable[[], Tracked]

    def read(self) -> Log:
        with _asking(self.address, self.tracker):
            return self.ask().log()


def open(address: str) -> tuple[Served, ...] | None:
    """Return every run at an address of a server; None for other addresses."""
    if address.startswith(MLFLOW):
        client, run = _client(address)
        with _asking(address, "MLflow"):
            order = ["attributes.start_time ASC"]
            found = (
                [client.get_run(run)]
                if run
                else client.search_runs(_experiments(client), max_results=MOST_RUNS, order_by=order)
            )
        if not found:
            raise NothingReadable(f"{address} holds no run.", next_step="check the address")
        return tuple(Served(one.info.run_name, address, "MLflow", partial(_mlflow_run, client, one)) for one in found)
    if not address.startswith(WANDB):
        return None
    parts = address.removeprefix(WANDB).strip("/").split("/")
    if len(parts) != 3 or not all(parts):
        raise _misspelled(address, "a W&B run", WANDB_EXPECTS)
    wandb = need("wandb", extra="wandb", to="read a run from a W&B server")
    with _asking(address, "W&B"):
        run = wandb.Api().run("/".join(parts))
    return (Served(run.name, address, "W&B", partial(_wandb_run, run)),)


def _wandb_run(run: Any) -> Tracked:
    """Return what a W&B server holds of a run."""
    settings = {key: value for key, value in run.config.items() if not key.startswith("_wandb")}
    tracked = Tracked(run.id, run.name, getattr(run, "project", ""), settings=settings)
    for row in run.scan_history():
        # Keys that a row does not hold come as null.
        tracked.row(as_step(row.get("_step", "none")), {key: value for key, value in flat(row) if value is not None})
    for sample in run.history(samples=SAMPLES, pandas=False, stream="system"):
        wall = as_number(sample.get("_timestamp"))
        if wall is not None and wall > 0:
            for key, value in sample.items():
                tracked.sample(key, wall, value)
    return tracked


def _mlflow_run(client: Any, run: Any) -> Tracked:
    """Return what an MLflow server holds of a run: it hands out every metric whole."""
    info = run.info
    project = str(client.get_experiment(info.experiment_id).name)
    started = info.start_time / 1000 if info.start_time else None
    tracked = Tracked(info.run_id, info.run_name, project, started, settings=dict(run.data.params))
    for key in sorted(run.data.metrics):
        for point in client.get_metric_history(info.run_id, key):
            tracked.value(key, int(point.step), float(point.value), point.timestamp / 1000)
    return tracked


def listed(address: str) -> Iterator[tuple[str, str]] | None:
    """Return the address of every run at an address, each with what tells that it changed ("" if only reading it
    tells), without asking for any history; None for other addresses. Raise LeadlineError only."""
    if address.startswith(WANDB):
        return _listed_wandb(address)
    return _listed_mlflow(address) if address.startswith(MLFLOW) else None


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
