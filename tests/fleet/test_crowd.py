"""A thousand clients at once, against a real server: each gets its answer, and the server still ends when told to."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from extras import needs

from leadline.serve.reports import PageCache
from leadline.shelf.store import Shelf

CLIENTS = 1000


def test_a_thousand_ask_at_once_and_all_hear_of_a_change(tmp_path: Path) -> None:
    needs("uvicorn")
    resource = pytest.importorskip("resource", reason="the limit of open files is asked of Unix")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 3 * CLIENTS:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3 * CLIENTS), hard))
    store = str(tmp_path / "shelf.db")
    Shelf(store).close()
    command = [sys.executable, "-m", "leadline", "serve", "--store", store, "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        found = re.search(r"http://([^:]+):(\d+)/", server.stderr.readline())
        assert found is not None
        assert asyncio.run(crowd(found[1], int(found[2]), store)) == (CLIENTS, CLIENTS)
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
    finally:
        server.kill()
        server.communicate()


async def crowd(host: str, port: int, store: str) -> tuple[int, int]:
    """How many of all heard of a change, and how many of all got the page."""

    async def ask(path: str) -> bytes:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        return answer

    async with asyncio.timeout(120) if sys.version_info >= (3, 11) else _forever():
        before = await ask("/news")
        with Shelf(store) as shelf, shelf.base.writing():
            change = shelf.changed()
        heard = await asyncio.gather(*(ask("/news") for _ in range(CLIENTS)))
        pages = await asyncio.gather(*(ask("/") for _ in range(CLIENTS)))
    assert not before.endswith(b'{"change":%d}\n' % change)
    good = sum(page.startswith(b"HTTP/1.1 200") and page.rstrip().endswith(b"</html>") for page in pages)
    return sum(answer.endswith(b'{"change":%d}\n' % change) for answer in heard), good


class _forever:  # noqa: N801 - Python 3.10 has no asyncio.timeout
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


def test_the_same_question_is_answered_once() -> None:
    asked = []

    def make() -> str:
        asked.append(1)
        return f"answer {len(asked)}"

    kept = PageCache(8)
    assert [kept.get("a", make), kept.get("a", make), kept.get("b", make)] == ["answer 1", "answer 1", "answer 2"]
    for number in range(16):
        kept.get(number, make)
    assert len(kept._kept) == 8
    assert kept.get("a", make) == "answer 19"
