"""A run on S3 that grows."""

from __future__ import annotations

import json
from pathlib import Path

import object_storage
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
    from leadline.live.follow import NamedPath

    with object_storage.served(tmp_path, monkeypatch) as storage:
        storage.mkdir("runs")
        place = NamedPath("s3://runs/grpo")
        for count in (20, 35, 50):
            storage.pipe_file("runs/grpo/metrics.jsonl", rows(count))
            seen = place.poll(force=True)
            assert seen, place.problem
            assert seen[0].current == count
        storage.pipe_file("runs/grpo/metrics-2.jsonl", b"")
        assert place.poll(force=True)
