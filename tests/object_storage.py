"""An object storage on this machine: moto's server stands for S3, and s3fs reads it as it does every other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def served(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The storage, empty, as a file system. fsspec keeps those it made, with their address: the ones of
    another test are forgotten, or they would knock at a server that has gone."""
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "XDG_CACHE_HOME": str(cache),
        }.items():
            monkeypatch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        yield s3fs.S3FileSystem(skip_instance_cache=True)
    finally:
        s3fs.S3FileSystem.clear_instance_cache()
        server.stop()
