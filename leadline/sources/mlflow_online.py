"""Runs on an MLflow server, through MLflow's own client: `mlflow://host:port/run-id`. Only reads.

`mlflow+https://` for a server behind TLS; without a run id, all runs of the server. Needs the extra `mlflow`.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ..errors import NothingReadable, need
from .mlflow_store import MOST_RUNS, Metrics
from .source import Log, Reader

PATIENCE = 10.0  # seconds
SCHEMES = ("mlflow://", "mlflow+https://", "mlflow+http://")
EXPECTS = "mlflow://host:port/run-id, or mlflow://host:port for all its runs"


def open(address: str) -> tuple[Reader, ...]:
    client, run = _client(address)
    return runs_of(client, address, run)


def listed(address: str) -> Iterator[tuple[str, str]]:
    """The address of every run at an address, and by what it is told that it changed; no history is asked for."""
    client, run = _client(address)
    if run:
        yield address, ""  # whoever asks for one asks it
        return
    token: str | None = None
    try:
        experiments = [experiment.experiment_id for experiment in client.search_experiments()]
        while True:
            found = client.search_runs(experiments, max_results=MOST_RUNS, page_token=token)
            for one in found:
                latest = sorted((key, repr(value)) for key, value in one.data.metrics.items())
                yield f"{address.rstrip('/')}/{one.info.run_id}", repr((one.info.status, one.info.end_time, latest))
            token = found.token
            if not token:
                return
    except Exception as error:  # the client raises what its transport raises
        raise _refused(address, error) from error


def _client(address: str) -> tuple[Any, str]:
    """A client of the server at an address, and the run that is named."""
    place = urlsplit(address)
    run = place.path.strip("/")
    if not place.netloc or "/" in run:
        raise NothingReadable(
            f"{address} does not name an MLflow run.", tried=EXPECTS, next_step=f"write it as {EXPECTS}"
        )
    tracking = need("mlflow.tracking", extra="mlflow", to="read a run from an MLflow server")
    _knock(address, place)
    server = f"{'https' if place.scheme == 'mlflow+https' else 'http'}://{place.netloc}"
    return tracking.MlflowClient(server), run


def runs_of(client: Any, address: str, run: str = "") -> tuple[Reader, ...]:
    """A reader for the run of that id, or for every run the client can see."""
    try:
        if run:
            return (MlflowOnlineRun(client, address, client.get_run(run)),)
        experiments = [experiment.experiment_id for experiment in client.search_experiments()]
        found = client.search_runs(experiments, max_results=MOST_RUNS, order_by=["attributes.start_time ASC"])
    except Exception as error:  # the client raises what its transport raises
        raise _refused(address, error) from error
    if not found:
        raise NothingReadable(f"{address} holds no run.", tried="all its experiments", next_step="check the address")
    return tuple(MlflowOnlineRun(client, address, one) for one in found)


class MlflowOnlineRun:
    """One run on a server. MLflow hands out a metric only whole, so one that was logged again is read again."""

    def __init__(self, client: Any, address: str, run: Any) -> None:
        self._client, self._address, self._run = client, address, run
        self._metrics = Metrics()
        self._seen: dict[str, object] = {}
        self._notes: tuple[str, ...] = ()
        self._project: str | None = None

    def update(self) -> bool:
        self._notes = ()
        try:
            run = self._client.get_run(self._run.info.run_id)
            latest = {key: repr(value) for key, value in sorted(run.data.metrics.items())}
            if latest == self._seen and run.info.status == self._run.info.status:
                return False
            self._project = self._project or str(self._client.get_experiment(run.info.experiment_id).name)
            metrics = Metrics()
            for key in latest:
                for point in self._client.get_metric_history(run.info.run_id, key):
                    metrics.take(key, float(point.value), point.timestamp / 1000, int(point.step))
        except Exception as error:
            if not self._metrics:
                raise _refused(self._address, error) from error
            self._notes = (
                f"the MLflow server no longer answers ({type(error).__name__}); what was read before stands",
            )
            return True
        self._run, self._metrics, self._seen = run, metrics, dict(latest)
        return True

    @property
    def log(self) -> Log:
        info = self._run.info
        started = info.start_time / 1000 if info.start_time else None
        label = info.run_name or info.run_id
        return self._metrics.log(dict(self._run.data.params), label, info.run_id, started, self._notes, self._project)


def _knock(address: str, place: SplitResult) -> None:
    """Whether anybody listens there at all: the client itself asks again for a minute before it gives up."""
    try:
        port = place.port or (443 if place.scheme == "mlflow+https" else 80)
        socket.create_connection((place.hostname or "", port), timeout=PATIENCE).close()
    except (ConnectionRefusedError, socket.gaierror, ValueError) as error:
        raise _refused(address, error) from error
    except OSError:  # behind a proxy, perhaps: the client knows about those
        return


def _refused(address: str, error: Exception) -> NothingReadable:
    reason = next(iter(str(error).splitlines()), "") or type(error).__name__
    return NothingReadable(
        f"{address} could not be read: {reason}",
        tried="asking the MLflow server through its own client",
        next_step="check that the server runs and the run exists",
    )
