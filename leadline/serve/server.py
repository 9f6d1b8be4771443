"""Run the dashboard: where it listens, who may come, and the scans beside it."""

from __future__ import annotations

import importlib.util
import os
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agents.library import Library
from ..agents.roots import Roots
from ..errors import BadOrder, LeadlineError, need
from ..fleet.pool import Pool
from ..fleet.scan import scan, settled
from ..records import dataclass
from ..shelf.store import Shelf
from ..sources.mapping import FILE
from ..words.serve import AGENTS_AT, OTHER_NAMES

if TYPE_CHECKING:
    from starlette.applications import Starlette

TOKEN = "LEADLINE_TOKEN"


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The user's options for the page."""

    roots: tuple[str, ...]
    host: str
    port: int
    names: tuple[str, ...]
    every: float
    workers: int | None
    allow_act: bool


def serve(shelf: Shelf, options: ServeOptions, *, say: Callable[[str], None]) -> None:
    """Serve until asked to end."""
    for module in ("starlette", "uvicorn"):
        need(module, extra="serve", to="show the page of all runs")
    import uvicorn

    from ..agents.server import PATH
    from .app import application
    from .guard import WILDCARDS, doors_for, is_loopback, names_of

    host, listening = options.host, _listening(options.host, options.port)
    port = int(listening.getsockname()[1])
    agents = agents_app(shelf, options.roots)
    token = None if is_loopback(host) else os.environ.get(TOKEN) or None
    doors = doors_for(host, port, options.names, token=token, may_act=options.allow_act)
    names = names_of(host)
    for name in (*names, *(("127.0.0.1",) if host in WILDCARDS else ())):
        say(f"http://{name}:{port}/{'' if doors.token is None else f'?token={doors.token}'}")
    if agents is not None:
        say(AGENTS_AT.format(f"http://{names[0]}:{port}{PATH}"))
    if host in WILDCARDS:
        say(OTHER_NAMES)
    ended = threading.Event()
    scanning = threading.Thread(target=_scans, args=(shelf, options, ended, say), daemon=True)
    config: Any = uvicorn.Config(
        application(shelf, doors, agents),
        log_level="warning",
        access_log=False,  # an address may hold the token of a first visit
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=3,
    )
    if options.roots:
        scanning.start()
    try:
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        ended.set()
        if options.roots:
            scanning.join(20)


def agents_app(shelf: Shelf, roots: Sequence[str]) -> Starlette | None:
    """Return the MCP server over the local folders among `roots`; None if there are none, or without the extra."""
    folders = [root for root in roots if Path(root).is_dir()]
    if not folders or importlib.util.find_spec("mcp") is None:
        return None
    from ..agents.server import build, http_app  # only with the extra

    # What the page's own folder says of keys holds for agents too: they see what the page shows.
    found = Roots.of(folders, files=[Path.cwd() / FILE])
    return http_app(build(Library(found, shelf=shelf, scanned=tuple(map(settled, folders)))))


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise BadOrder(
            f"The page cannot be served at {host}:{port}: {error.strerror or error}.",
            next_step="give another --port, or --port 0 for any that is free",
        ) from error


def _scans(shelf: Shelf, options: ServeOptions, ended: threading.Event, say: Callable[[str], None]) -> None:
    """Scan again and again, with a rest in between. What goes wrong is said once."""
    told: set[str] = set()

    def once(says: str) -> None:
        if says not in told:
            told.add(says)
            say(says)

    while not ended.is_set():
        try:
            scan(options.roots, shelf, Pool(options.workers), problem=lambda error: once(error.what), ended=ended)
        except LeadlineError as error:
            once(error.what)
        except shelf.base.fails as error:
            once(f"{shelf.url}: {error}")
        ended.wait(options.every)
