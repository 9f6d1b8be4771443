"""Serve a watch's state to Prometheus in its text format, on this machine or, with a token, beyond it."""

from __future__ import annotations

import hmac
import json
import math
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, get_args

from .. import __version__
from ..errors import BadOrder
from ..facts.judgement import Outcome, Verdict
from . import heartbeat
from .schedule import Watched
from .store import Store

PATIENCE = 10.0  # seconds for a client to send its request
LOOPBACK = "127.0.0.1"
TOKEN = "LEADLINE_METRICS_TOKEN"  # the environment variable that holds the secret
HELP = {
    "leadline_info": "Version of the watch.",
    "leadline_runs": "Number of watched runs.",
    "leadline_watch_age_seconds": "Time since the watch last polled its paths.",
    "leadline_watch_alive": "1 for each watch or sidecar of this user that is alive, 0 for one that died.",
    "leadline_paths_hanging": "Paths that have not responded for a minute.",
    "leadline_alerts": "Alert deliveries by state.",
    "leadline_actions_total": "Actions by outcome.",
    "leadline_step": "Last step of the last check.",
    "leadline_verdict": "1 for the verdict of the last check, 0 for the others.",
    "leadline_outcome": "1 for the outcome at the last check, 0 for the others.",
    "leadline_continue_pays_probability": "Chance that continuing pays.",
    "leadline_worse_probability": "Chance that the run ends clearly worse than now.",
    "leadline_finding_probability": "Confidence in each finding.",
    "leadline_last_look_age_seconds": "Time since the last check.",
    "leadline_last_row_age_seconds": "Time since the log last grew.",
}

ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[str, Mapping[str, str], float | None]  # a metric of HELP, its labels, its value if known


def samples_of(runs: Sequence[Watched], store: Store, *, polled: float, hanging: int) -> Iterator[Sample]:
    """Yield the state of a watch as samples. `polled`: seconds since it last polled its paths."""
    now = time.time()
    actions = Counter(str(action["state"]) for one in runs for _, action in store.actions(one.number))
    yield "leadline_info", {"version": __version__}, 1
    yield "leadline_runs", {}, len(runs)
    yield "leadline_watch_age_seconds", {}, _age(polled)
    for listed in heartbeat.listed():
        yield "leadline_watch_alive", {"state": str(listed.state)}, listed.alive(now)
    yield "leadline_paths_hanging", {}, hanging
    for state, count in sorted(store.delivery_counts().items()):
        yield "leadline_alerts", {"state": state}, count
    for state, count in sorted(actions.items()):
        yield "leadline_actions_total", {"state": state}, count
    for one in runs:
        yield from _of_run(one, now)


def _of_run(one: Watched, now: float) -> Iterator[Sample]:
    run, last = {"run": one.identity}, one.last  # read once: another thread may reset it
    yield "leadline_last_row_age_seconds", run, _age(now - one.cursor.grown_at)
    for verdict in get_args(Verdict):
        given = "undecided" if last is None else last.verdict
        yield "leadline_verdict", {**run, "verdict": verdict}, given == verdict
    if last is None:
        return
    reading = json.loads(last.reading)
    yield "leadline_step", run, last.step
    yield "leadline_last_look_age_seconds", run, _age(now - last.at)
    yield "leadline_continue_pays_probability", run, last.p_continue_pays
    yield "leadline_worse_probability", run, (reading["judgement"]["risk"] or {}).get("p_worse")
    for outcome in get_args(Outcome) if last.outcome else ():
        yield "leadline_outcome", {**run, "outcome": outcome}, last.outcome == outcome
    for found in reading["findings"]:
        yield "leadline_finding_probability", {**run, "finding": found["id"], "severity": found["severity"]}, found["p"]


def _age(seconds: float) -> float:
    """Return an age that is never negative: a clock may be set back."""
    return max(0.0, round(seconds, 3))


def written(samples: Iterator[Sample]) -> str:
    """Return samples in Prometheus' text format, unknown values left out.

    >>> print(written(iter([("leadline_step", {"run": 'a"b'}, 7), ("leadline_runs", {}, None)])), end="")
    # HELP leadline_step Last step of the last check.
    # TYPE leadline_step gauge
    leadline_step{run="a\\"b"} 7
    """
    lines: dict[str, dict[str, str]] = {name: {} for name in HELP}  # by labels: a sample stands once
    for name, labels, value in samples:
        if value is not None and math.isfinite(value):
            shown = ",".join(f'{label}="{text.translate(ESCAPED)}"' for label, text in labels.items())
            lines[name][f"{{{shown}}}" if shown else ""] = f"{float(value):.10g}"
    return "".join(
        f"# HELP {name} {HELP[name]}\n# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}\n"
        + "".join(f"{name}{labels} {value}\n" for labels, value in found.items())
        for name, found in lines.items()
        if found
    )


def address(text: str) -> tuple[str, int]:
    """Parse "HOST:PORT" or "PORT".

    >>> address("9109"), address("0.0.0.0:9109"), address("[::]:9109")
    (('127.0.0.1', 9109), ('0.0.0.0', 9109), ('::', 9109))
    """
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise BadOrder(f"--metrics {text} is not an address.", next_step="pass 0.0.0.0:9109, or 9109")
    return host.strip("[]") or LOOPBACK, int(port)


class MetricsPort(ThreadingHTTPServer):
    """Serves samples until closed. A client off this machine must send `Authorization: Bearer TOKEN`."""

    daemon_threads = True
    block_on_close = False  # an open connection must not delay the end of a watch

    def __init__(
        self, port: int, samples: Callable[[], Iterator[Sample]], *, host: str = LOOPBACK, token: str | None = None
    ) -> None:
        if host not in (LOOPBACK, "localhost", "::1") and not token:
            raise BadOrder(
                f"Metrics at {host}:{port} would be readable by anyone.",
                next_step=f"set {TOKEN} to a long secret, and have Prometheus send it as its bearer token",
            )
        self.samples, self.token = samples, token
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise BadOrder(
                f"Can't serve metrics at {host}:{port}: {getattr(error, 'strerror', None) or error}.",
                next_step="pass a free port and an address of this machine with --metrics; port 0 takes any",
            ) from error
        self.port: int = self.server_address[1]

    def __enter__(self) -> MetricsPort:
        threading.Thread(target=self.serve_forever, args=(0.1,), name="leadline metrics", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server: MetricsPort
    timeout = PATIENCE
    server_version = "leadline"
    sys_version = ""

    def do_GET(self) -> None:
        token = self.server.token
        shown = (self.headers.get("Authorization") or "").encode("utf-8", errors="replace")
        host = (self.headers.get("Host") or "").strip().lower()
        if token is not None and not hmac.compare_digest(shown, f"Bearer {token}".encode()):
            self._answer(401, "The metrics need the token.\n")
        elif token is None and host.partition(":")[0] not in ("localhost", LOOPBACK):  # DNS rebinding by a web page
            self._answer(403, "The metrics are for this machine.\n")
        elif self.path.partition("?")[0] == "/metrics":
            self._answer(200, written(self.server.samples()))
        else:
            self._answer(404, "The metrics are at /metrics.\n")

    def _answer(self, status: int, text: str) -> None:
        content = text.encode("utf-8", errors="replace")
        self.send_response(status)
        version = "version=0.0.4; " if status == 200 else ""
        self.send_header("Content-Type", f"text/plain; {version}charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Content-Type-Options", "nosniff")
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log no scrapes."""
