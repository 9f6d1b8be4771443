"""`leadline serve` also answers agents: the official client on a real socket, behind the guard of the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from extras import needs

from .conftest import write_run

for package in ("starlette", "uvicorn", "mcp"):
    needs(package)

import anyio  # noqa: E402
from mcp import Client  # noqa: E402

TOKEN = "a-token-that-is-long-enough"
SECRET = "SECRET-OUTSIDE-OF-THE-ROOTS"
PATIENCE = 120.0  # seconds until two runs are on the page; a quiet machine takes three


@dataclass(frozen=True, slots=True)
class Served:
    address: str  # of the MCP server
    said: Path

    def use(self, do: Callable[[Client], Awaitable[Any]], token: str | None = None) -> Any:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async def run() -> Any:
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=120) as http,
                Client(streamable_http_client(self.address, http_client=http)) as client,
            ):
                return await do(client)

        return anyio.run(run)

    def status(self, method: str = "POST", kind: str = "application/json", **headers: str) -> int:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
        told = {"Content-Type": kind, "Accept": "application/json, text/event-stream"}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            with urlopen(Request(self.address, body, told, method=method), timeout=60) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code


@contextmanager
def serving(lab: Path, home: Path, *options: str, **more: str) -> Iterator[Served]:
    said = home / "said"
    command = [sys.executable, "-m", "leadline", "serve", str(lab), "--store", str(home / "shelf.db"), "--port", "0"]
    with said.open("wb") as told:
        process = subprocess.Popen(
            [*command, "--workers", "1", *options], stderr=told, stdout=told, cwd=home, env={**os.environ, **more}
        )
    try:
        until, found = time.monotonic() + PATIENCE, None
        while found is None:
            assert process.poll() is None, said.read_text()
            assert time.monotonic() < until, said.read_text()
            time.sleep(0.1)
            found = re.search(r"agents: (http://\S+/mcp)", said.read_text())
        yield Served(found[1], said)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A run that is worth looking at, one that cannot be read, and what lies outside."""
    root = tmp_path / "lab"
    write_run(root / "math" / "grpo", planned=400)
    (root / "code" / "broken").mkdir(parents=True)
    (root / "code" / "broken" / "train.log").write_text("Traceback (most recent call last):\n", encoding="utf-8")
    write_run(tmp_path / "outside")
    (tmp_path / "outside" / "notes.txt").write_text(SECRET)
    # Said of keys in the folder the page is started in: it holds for agents as it does for the page.
    (tmp_path / "leadline.toml").write_text('[map]\n"kl/ref" = "loss"\n')
    return root


async def triaged(client: Client) -> dict[str, Any]:
    """The triage, once the first scan is through."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        told: dict[str, Any] = (await client.call_tool("triage", {})).structured_content or {}
        if told.get("total") == 2 and not told.get("unread"):
            return told
        await anyio.sleep(0.5)
    raise AssertionError(told)


def test_agents_see_what_the_page_shows(lab: Path, tmp_path: Path) -> None:
    async def look(client: Client) -> tuple[Any, ...]:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        listed = await triaged(client)
        path = next(row["path"] for row in listed["runs"] if row["verdict"] != "unreadable")
        read = await client.call_tool("read_run", {"path": path})
        keys = await client.call_tool("sources", {"path": path})
        outside = [await client.call_tool("read_run", {"path": told}) for told in ("../outside", "../leadline.toml")]
        return tools, listed, path, read, keys, outside

    with serving(lab, tmp_path) as served:
        tools, listed, path, read, keys, outside = served.use(look)
        refused = {
            "another name": served.status(Host="evil.example"),
            "another page": served.status(Origin="http://evil.example"),
            "a page without a name": served.status(Origin="null"),
            "a form": served.status(kind="text/plain"),
            "a form of this machine": served.status(kind="application/x-www-form-urlencoded"),
            "by way of a browser": served.status(Sec_Fetch_Site="cross-site"),
            "another verb": served.status(method="PUT"),
        }
    assert tools == ["triage", "read_run", "evidence", "compare", "samples", "sources", "review", "series", "check"]
    assert path == "math/grpo"
    assert [row["verdict"] for row in listed["runs"]].count("unreadable") == 1
    assert read.structured_content["verdict"] in ("continue", "stop", "undecided")
    assert any(row.startswith("kl/ref = loss") for row in keys.structured_content["series"])
    for answer in outside:
        assert answer.is_error
        assert SECRET not in answer.content[0].text
    assert refused == {
        "another name": 421,
        "another page": 403,
        "a page without a name": 403,
        "a form": 403,
        "a form of this machine": 403,
        "by way of a browser": 403,
        "another verb": 403,
    }


def test_off_loopback_agents_need_the_token_of_the_page(lab: Path, tmp_path: Path) -> None:
    async def count(client: Client) -> int:
        return len((await client.list_tools()).tools)

    with serving(lab, tmp_path, "--host", "0.0.0.0", LEADLINE_TOKEN=TOKEN) as served:
        assert served.status() == 401
        assert served.status(Authorization="Bearer wrong") == 401
        assert served.status(Authorization=f"Bearer {TOKEN}", Origin="http://evil.example") == 403
        assert served.status(Authorization=f"Bearer {TOKEN}", Host="evil.example") == 421
        assert served.use(count, TOKEN) == 9


def test_without_a_folder_there_is_nothing_for_agents(tmp_path: Path) -> None:
    from leadline.serve.server import agents_app
    from leadline.shelf.store import Shelf

    with Shelf(str(tmp_path / "shelf.db")) as shelf:
        assert agents_app(shelf, ()) is None
        assert agents_app(shelf, ("s3://bucket/runs", str(tmp_path / "gone"))) is None
