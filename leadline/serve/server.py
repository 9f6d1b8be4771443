"""The server: where it listens, who may come, and the scans beside it."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..errors import BadOrder, LeadlineError, need
from ..fleet.pool import Pool
from ..fleet.scan import scan
from ..shelf.store import Shelf
from ..words.serve import agents_at
from .guard import LOOPBACK, Doors
from .options import ServeOptions

TOKEN = "LEADLINE_TOKEN"


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def doors_for(host: str, port: int, names: Sequence[str], *, may_act: bool, programs: Collection[str] = ()) -> Doors:
    """Who may come: on loopback those on this machine, else who has the token."""
    called = [*LOOPBACK, *([] if host in ("0.0.0.0", "::") else [f"[{host}]" if ":" in host else host])]
    hosts = {f"{name}:{port}" for name in called} | set(names)
    if port in (80, 443):
        hosts |= set(called)
    token = None if is_loopback(host) else os.environ.get(TOKEN) or secrets.token_urlsafe(24)
    return Doors(frozenset(hosts), token, may_act, frozenset(programs))


def serve(shelf: Shelf, options: ServeOptions, *, say: Callable[[str], None]) -> None:
    """Serve until asked to end."""
    for module in ("starlette", "uvicorn"):
        need(module, extra="serve", to="show the page of all runs")
    import uvicorn

    from .agents import PATH, agents_app
    from .app import application

    host, listening = options.host, _listening(options.host, options.port)
    port = int(listening.getsockname()[1])
    agents = agents_app(shelf, options.roots)
    mounts = {} if agents is None else {PATH: agents}
    doors = doors_for(host, port, options.names, may_act=options.allow_act, programs=mounts)
    where = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}/"
    say(f"{where}{'' if doors.token is None else f'?token={doors.token}'}")
    if agents is not None:
        say(agents_at(f"{where.rstrip('/')}{PATH}"))
    ended = threading.Event()
    scanning = threading.Thread(target=_scans, args=(shelf, options, ended, say), daemon=True)
    page = application(shelf, doors, mounts)

    class _PageServer(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            page.end()
            await super().shutdown(sockets)

    config: Any = uvicorn.Config(
        page,
        log_level="warning",
        access_log=False,  # an address may hold the token of a first visit
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=3,
    )
    if options.roots:
        scanning.start()
    try:
        _PageServer(config).run(sockets=[listening])
    finally:
        ended.set()
        if options.roots:
            scanning.join(20)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise BadOrder(
            f"The page cannot be served at {host}:{port}: {error.strerror or error}.",
            tried="to listen there",
            next_step="give another --port, or --port 0 for any that is free",
        ) from error


def _scans(shelf: Shelf, options: ServeOptions, ended: threading.Event, say: Callable[[str], None]) -> None:
    """Scans one after the other, with a rest in between. What goes wrong is said once."""
    told: set[str] = set()

    def once(says: str) -> None:
        if says not in told:
            told.add(says)
            say(says)

    while not ended.is_set():
        try:
            scan(options.roots, shelf, Pool(options.workers), problem=lambda error: say(error.what), ended=ended)
        except LeadlineError as error:
            once(error.what)
        except shelf.base.fails as error:
            once(f"{shelf.url}: {error}")
        ended.wait(options.every)
