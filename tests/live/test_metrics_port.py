"""The metrics port: what a scraper gets, and what strangers do not."""

from __future__ import annotations

import http.client
import re
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from leadline.errors import BadOrder
from leadline.live.metrics import MetricsPort, Sample, address

RUN = {"run": 'runs/"seven"\\\n'}
SAMPLES: list[Sample] = [
    ("leadline_runs", {}, 1),
    ("leadline_alerts", {"state": "pending"}, 1),
    ("leadline_actions_total", {"state": "dry"}, 1),
    ("leadline_step", RUN, 220),
    ("leadline_verdict", {**RUN, "verdict": "roll_back"}, True),
    ("leadline_verdict", {**RUN, "verdict": "continue"}, False),
    ("leadline_alerts", {"state": "sent"}, 3),
    ("leadline_worse_probability", RUN, None),
    ("leadline_continue_pays_probability", RUN, 0.06),
]


def samples() -> Iterator[Sample]:
    return iter(SAMPLES)


# The text format 0.0.4, line by line: https://prometheus.io/docs/instrumenting/exposition_formats/
LINE = re.compile(
    r"# HELP [a-z_]+ [^\n]+|# TYPE [a-z_]+ (gauge|counter)"
    r'|[a-z_]+(\{[a-z_]+="([^"\\\n]|\\["\\n])*"(,[a-z_]+="([^"\\\n]|\\["\\n])*")*\})?'
    r" (-?[0-9.]+(e[+-]?[0-9]+)?|[+-]Inf)"
)


@pytest.fixture
def port() -> Iterator[MetricsPort]:
    with MetricsPort(0, samples) as one:
        yield one


def ask(port: int, path: str = "/metrics", method: str = "GET", **headers: str) -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


def test_a_scraper_gets_every_sample_below_one_explanation(port: MetricsPort) -> None:
    status, kind, text = ask(port.port)
    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert all(LINE.fullmatch(line) for line in text.splitlines())
    run = r'run="runs/\"seven\"\\\n"'
    assert [line for line in text.splitlines() if not line.startswith("# HELP")] == [
        "# TYPE leadline_runs gauge",
        "leadline_runs 1",
        "# TYPE leadline_alerts gauge",
        'leadline_alerts{state="pending"} 1',
        'leadline_alerts{state="sent"} 3',
        "# TYPE leadline_actions_total counter",
        'leadline_actions_total{state="dry"} 1',
        "# TYPE leadline_step gauge",
        f"leadline_step{{{run}}} 220",
        "# TYPE leadline_verdict gauge",
        f'leadline_verdict{{{run},verdict="roll_back"}} 1',
        f'leadline_verdict{{{run},verdict="continue"}} 0',
        "# TYPE leadline_continue_pays_probability gauge",
        f"leadline_continue_pays_probability{{{run}}} 0.06",
    ]  # what is not known is not there: it is not 0


def test_other_places_are_not_there(port: MetricsPort) -> None:
    assert ask(port.port, "/")[0] == 404
    assert ask(port.port, "/../etc/passwd")[0] == 404
    assert ask(port.port, method="POST")[0] == 501


def test_a_page_elsewhere_that_took_our_address_is_turned_away(port: MetricsPort) -> None:
    status, _, text = ask(port.port, Host="evil.example")
    assert status == 403
    assert "seven" not in text
    assert ask(port.port, Host=f"localhost:{port.port}")[0] == 200


def test_it_listens_on_this_machine_alone(port: MetricsPort) -> None:
    assert port.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_says_so(port: MetricsPort) -> None:
    with pytest.raises(BadOrder, match=f"127.0.0.1:{port.port}"):
        MetricsPort(port.port, samples)


def test_clients_that_say_nothing_hold_up_nobody() -> None:
    with MetricsPort(0, samples) as one:
        silent = [socket.create_connection(("127.0.0.1", one.port)) for _ in range(8)]
        assert ask(one.port)[0] == 200
    for connection in silent:
        connection.close()


def test_a_figure_that_cannot_be_had_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    calls = iter([lambda: 1 / 0, samples])
    with MetricsPort(0, lambda: next(calls)()) as one:  # type: ignore[arg-type, return-value]
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            ask(one.port)
        assert ask(one.port)[0] == 200
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="a port may be taken twice there")
def test_the_port_is_free_again_at_once() -> None:
    with MetricsPort(0, samples) as one:
        number = one.port
        ask(number)
    with MetricsPort(number, samples) as again:
        assert ask(again.port)[0] == 200


def test_beyond_this_machine_nobody_is_answered_without_the_token() -> None:
    with pytest.raises(BadOrder, match="readable by anyone"):
        MetricsPort(0, samples, host="0.0.0.0")
    with MetricsPort(0, samples, host="0.0.0.0", token="a long secret") as served:
        address = f"http://127.0.0.1:{served.port}/metrics"
        for shown in (None, "Bearer wrong", "Bearer ", "a long secret", "Basic a long secret"):
            request = urllib.request.Request(address, headers={} if shown is None else {"Authorization": shown})
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=10)
            assert refused.value.code == 401
            assert b"leadline_runs" not in refused.value.read()
            refused.value.close()
        request = urllib.request.Request(address, headers={"Authorization": "Bearer a long secret"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert b"leadline_runs" in answer.read()


@pytest.mark.parametrize("text", ["", "x", "0.0.0.0", "host:port", "1:99999999"])
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadOrder, match="is not an address"):
        address(text)
