"""Figures of a watch for Prometheus, in its text format: on this machine alone, or elsewhere to whoever has the token.

Nothing is computed here: a snapshot is asked for at every scrape and written down.
"""

from __future__ import annotations

import hmac
import ipaddress
import math
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, get_args

from .. import __version__
from ..errors import BadOrder
from ..facts.judgement import Outcome, Verdict

FORMAT = "text/plain; version=0.0.4; charset=utf-8"
PATIENCE = 10.0  # seconds for a client to say what it wants
AT_ONCE = 8  # clients; more are turned away
LOOPBACK = "127.0.0.1"
TOKEN = "LEADLINE_METRICS_TOKEN"  # the name of the secret, in the environment
OUTCOMES = get_args(Outcome)
VERDICTS = (*get_args(Verdict), *({"finished"} - set(get_args(Verdict))))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("localhost")
    (True, True, False, True)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address(text: str) -> tuple[str, int]:
    """A host and a port from "HOST:PORT" or "PORT".

    >>> address("9109"), address("0.0.0.0:9109"), address("[::]:9109")
    (('127.0.0.1', 9109), ('0.0.0.0', 9109), ('::', 9109))
    """
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise BadOrder(
            f"--metrics {text} is no address.", tried="to read it as HOST:PORT", next_step="write 0.0.0.0:9109, or 9109"
        )
    return host.strip("[]") or LOOPBACK, int(port)


@dataclass(frozen=True, slots=True)
class RunFigures:
    """One run as it stands. Times are seconds since 1970."""

    run: str
    step: int | None = None
    verdict: str = "undecided"
    outcome: str | None = None  # None: no check yet, or one of an older version
    p_continue_pays: float | None = None
    p_worse: float | None = None
    findings: Mapping[tuple[str, str], float] = field(default_factory=dict)  # (id, severity): probability
    grown_at: float | None = None  # when the log was last seen to grow
    looked_at: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """A watch as it stands."""

    runs: tuple[RunFigures, ...] = ()
    deliveries: Mapping[str, int] = field(default_factory=dict)  # state: how many alerts are in it, over all channels
    actions: Mapping[str, int] = field(default_factory=dict)  # state: how many there ever were
    watches: Mapping[str, bool] = field(default_factory=dict)  # state file: whether that watch of this user is alive
    beat_at: float | None = None  # when this watch last went round
    hanging: int = 0  # paths that do not answer


def written(figures: Figures, now: float) -> str:
    """The figures in Prometheus' text format.

    >>> print(written(Figures((RunFigures("a", step=7, grown_at=90.0),)), 100.0).splitlines()[-1])
    leadline_last_row_age_seconds{run="a"} 10
    """
    runs = figures.runs
    blocks = [
        _block("leadline_info", "Version of the watch.", [({"version": __version__}, 1)]),
        _block("leadline_runs", "Runs that are watched.", [({}, len(runs))]),
        _block(
            "leadline_watch_age_seconds", "Time since the watch last went round.", [({}, _age(figures.beat_at, now))]
        ),
        _block(
            "leadline_watch_alive",
            "1 for each watch or sidecar of this user that lives, 0 for one that died.",
            [({"state": state}, int(alive)) for state, alive in sorted(figures.watches.items())],
        ),
        _block("leadline_paths_hanging", "Paths that have not answered for a minute.", [({}, figures.hanging)]),
        _block("leadline_alerts", "Alerts to channels by state.", _by_state(figures.deliveries)),
        _block("leadline_actions_total", "Actions by how they ended.", _by_state(figures.actions), kind="counter"),
        *_of_runs(figures.runs, now),
    ]
    return "".join(blocks)


def _of_runs(runs: Sequence[RunFigures], now: float) -> Iterator[str]:
    yield _block("leadline_step", "Last step of the last look.", [(_of(one), one.step) for one in runs])
    yield _block(
        "leadline_verdict",
        "1 for the verdict of the last look, 0 for the others.",
        [({**_of(one), "verdict": name}, int(one.verdict == name)) for one in runs for name in VERDICTS],
    )
    yield _block(
        "leadline_outcome",
        "1 for what the run has come to at the last check, finished or not, 0 for the others.",
        [({**_of(one), "outcome": name}, int(one.outcome == name)) for one in runs if one.outcome for name in OUTCOMES],
    )
    yield _block(
        "leadline_continue_pays_probability",
        "Probability that going on pays.",
        [(_of(one), one.p_continue_pays) for one in runs],
    )
    yield _block(
        "leadline_worse_probability",
        "Probability that the end is clearly worse than now.",
        [(_of(one), one.p_worse) for one in runs],
    )
    yield _block(
        "leadline_finding_probability",
        "Probability of what was found.",
        [
            ({**_of(one), "finding": name, "severity": severity}, p)
            for one in runs
            for (name, severity), p in sorted(one.findings.items())
        ],
    )
    yield _block(
        "leadline_last_look_age_seconds",
        "Time since the last look.",
        [(_of(one), _age(one.looked_at, now)) for one in runs],
    )
    yield _block(
        "leadline_last_row_age_seconds",
        "Time since the log was last seen to grow.",
        [(_of(one), _age(one.grown_at, now)) for one in runs],
    )


class MetricsPort:
    """Serves the figures until closed."""

    def __init__(
        self,
        port: int,
        figures: Callable[[], Figures],
        *,
        host: str = LOOPBACK,
        token: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`token`: what a client has to show, as `Authorization: Bearer TOKEN`. Beyond this machine nobody is answered
        without."""
        if not is_loopback(host) and not token:
            raise BadOrder(
                f"The metrics would be open to everybody at {host}:{port}.",
                tried=f"to find a token in ${TOKEN}",
                next_step=f"set {TOKEN} to a long secret, and have Prometheus send it as its bearer token",
            )
        try:
            self._server = _Server((host, port), figures, clock, token)
        except (OSError, OverflowError) as error:
            raise BadOrder(
                f"The metrics cannot be served at {host}:{port}: {getattr(error, 'strerror', None) or error}.",
                tried="to listen there",
                next_step="give a free port and an address of this machine with --metrics; port 0 takes any",
            ) from error
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="leadline metrics", daemon=True
        )

    def __enter__(self) -> MetricsPort:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client that holds its line must not hold up the end of a watch

    def __init__(
        self,
        address: tuple[str, int],
        figures: Callable[[], Figures],
        clock: Callable[[], float],
        token: str | None,
    ) -> None:
        self.figures, self.clock, self._places = figures, clock, threading.BoundedSemaphore(AT_ONCE)
        self.token = token
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = PATIENCE
    server_version = "leadline"
    sys_version = ""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if not self._has_token():
            self._answer(401, "The metrics are for whoever has the token.\n", "text/plain; charset=utf-8")
        elif not self._asked_for_us():
            self._answer(403, "The metrics are for this machine.\n", "text/plain; charset=utf-8")
        elif path == "/metrics":
            self._answer(200, written(self.server.figures(), self.server.clock()), FORMAT)
        else:
            self._answer(404, "The metrics are at /metrics.\n", "text/plain; charset=utf-8")

    def do_HEAD(self) -> None:
        self.do_GET()

    def _has_token(self) -> bool:
        if self.server.token is None:
            return True
        shown = (self.headers.get("Authorization") or "").encode("utf-8", errors="replace")
        return hmac.compare_digest(shown, f"Bearer {self.server.token}".encode())

    def _asked_for_us(self) -> bool:
        """A page in a browser may not read them by giving its own name our address."""
        if self.server.token is not None:
            return True
        host = (self.headers.get("Host") or "").strip().lower()
        return host.rpartition(":")[0] in ("localhost", LOOPBACK) or host in ("localhost", LOOPBACK)

    def _answer(self, status: int, text: str, kind: str) -> None:
        content = text.encode("utf-8", errors="replace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Content-Type-Options", "nosniff")
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """A scrape is no news."""


Sample = tuple[Mapping[str, str], float | None]


def _block(name: str, means: str, samples: Iterable[Sample], *, kind: str = "gauge") -> str:
    """One metric with all its samples. What is not known is left out: it is neither 0 nor NaN."""
    lines = [
        f"{name}{_labels(labels)} {_number(value)}\n"
        for labels, value in samples
        if value is not None and not math.isnan(value)
    ]
    return f"# HELP {name} {means}\n# TYPE {name} {kind}\n{''.join(lines)}" if lines else ""


def _labels(labels: Mapping[str, str]) -> str:
    return f"{{{','.join(f'{name}={_quoted(value)}' for name, value in labels.items())}}}" if labels else ""


def _quoted(text: str) -> str:
    r"""A label's value; these three are all that the format escapes.

    >>> print(_quoted('a"b\\'))
    "a\"b\\"
    """
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'"{escaped}"'


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return f"{value:.10g}"


def _of(run: RunFigures) -> dict[str, str]:
    return {"run": run.run}


def _by_state(counts: Mapping[str, int]) -> list[Sample]:
    return [({"state": state}, count) for state, count in sorted(counts.items())]


def _age(at: float | None, now: float) -> float | None:
    """Never below 0: a clock may be set back."""
    return None if at is None else max(0.0, round(now - at, 3))
