"""A run on S3 that grows: moto's server stands for the storage, s3fs reads it as it does every other."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.writers
pytest.importorskip("moto", reason="needs moto[server]")
pytest.importorskip("s3fs", reason="needs s3fs")


def rows(count: int) -> bytes:
    return b"".join(
        json.dumps({"step": step, "critic/score/mean": 0.5 + step % 7 / 100, "actor/kl_loss": 0.1}).encode() + b"\n"
        for step in range(1, count + 1)
    )


@pytest.mark.filterwarnings("ignore")  # botocore's own
def test_a_log_on_s3_is_seen_to_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        import boto3

        from leadline.live.follow import Place

        client = boto3.client("s3")
        until = time.monotonic() + 60
        while True:
            try:
                client.create_bucket(Bucket="runs")
                break
            except Exception:
                assert time.monotonic() < until
                time.sleep(0.5)
        place = Place("s3://runs/grpo")
        for count in (20, 35, 50):
            client.put_object(Bucket="runs", Key="grpo/metrics.jsonl", Body=rows(count))
            until = time.monotonic() + 60  # a busy machine may not answer within the first deadline
            while not (seen := place.poll(force=True)) or seen[0].current != count:
                assert time.monotonic() < until, (count, seen)
                time.sleep(0.2)
        client.put_object(Bucket="runs", Key="grpo/metrics-2.jsonl", Body=b"")
        assert place.poll(force=True)
    finally:
        server.kill()
        server.wait()
