"""An engine on a Ray cluster: plain tasks in chunks. It joins the cluster that is there, and opens no dashboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import BadOrder, need
from ..shelf.row import Task, UnitOutcome
from .reader import read_tasks

CHUNK = 8  # units a task: Ray spends some milliseconds on each
AHEAD = 2  # chunks under way for each processor of the cluster
RETRIES = 3  # of a chunk whose node was lost


class OnRay:
    """Chunks of units as tasks of a cluster: the one at `address`, or the one this process is in.

    Every node has to reach the same folders and have the same Leadline.
    """

    def __init__(self, address: str | None = None, *, chunk: int = CHUNK) -> None:
        self._ray: Any = need("ray", extra="ray", to="scan on a Ray cluster")
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._join(address)
        self._read = self._ray.remote(num_cpus=1, max_retries=RETRIES)(read_tasks)
        self._chunk = chunk
        self._under_way: dict[Any, tuple[Task, ...]] = {}

    @property
    def room(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1))) * AHEAD * self._chunk

    def submit(self, tasks: Sequence[Task]) -> None:
        for first in range(0, len(tasks), self._chunk):
            chunk = tuple(tasks[first : first + self._chunk])
            self._under_way[self._read.remote(chunk)] = chunk

    def collect(self, patience: float) -> list[tuple[Task, UnitOutcome | None]]:
        if not self._under_way:
            return []
        ready, _ = self._ray.wait(list(self._under_way), num_returns=1, timeout=patience)
        done: list[tuple[Task, UnitOutcome | None]] = []
        for reference in ready:
            chunk = self._under_way.pop(reference)
            try:
                done += zip(chunk, self._ray.get(reference), strict=True)
            except self._ray.exceptions.RayError:  # its node is gone, and so were those it was tried on after
                done += [(task, None) for task in chunk]
        return done

    def close(self) -> None:
        for reference in self._under_way:
            self._ray.cancel(reference, force=True)
        self._under_way.clear()
        if self._ours:
            self._ray.shutdown()

    def _join(self, address: str | None) -> None:
        try:
            self._ray.init(
                address=address or "auto", include_dashboard=False, log_to_driver=False, configure_logging=False
            )
        except (ConnectionError, ImportError, ValueError) as error:  # the last: a Ray without its client
            said = next(iter(str(error).splitlines()), "")
            raise BadOrder(
                f"No Ray cluster answers{f' at {address}' if address else ''}: {said}",
                next_step="check the address; without --on a scan uses all processors of this machine",
            ) from error
