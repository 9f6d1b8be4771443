"""What can go wrong on the way: every fault is really made, at a receiver that really listens."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from live.receivers import Answering, MailRules, MailServer, SmtpTalk, WebServer, serving, status
from live.test_telling import ALERT, CONCERN, TOKEN, by_mail, opened
from waiting import gone, wait_for

from leadline.live import outbox, telling
from leadline.live.outbox import Outbox, Sender
from leadline.live.records import Alert, key_of
from leadline.live.store import Store
from leadline.live.telling import Channel, Message, Undelivered, mail, open_channels, posting

LITTLE = 16 * 2**20  # bytes: what a system may buffer on a line, and far less than what the servers here would send


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "PATIENCE", 0.6)
    monkeypatch.setattr(posting, "WAIT_FOR_A_BYTE", 0.4)
    monkeypatch.setattr(mail, "PATIENCE", 0.6)
    monkeypatch.setattr(mail, "WAIT_FOR_A_LINE", 0.4)


@pytest.fixture
def web() -> Iterator[WebServer]:
    server = WebServer()
    with serving(server):
        yield server


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "state.db") as base:
        yield base


class Clock:
    """Time as a test wants it: what the wall says, and what no one can set."""

    def __init__(self) -> None:
        self.wall, self.passed = 1_000_000.0, 0.0

    def wait(self, seconds: float) -> None:
        self.wall += seconds
        self.passed += seconds


class Desk:
    """One channel on a state file, driven by hand."""

    def __init__(self, base: Store, channel: Channel) -> None:
        self.base, self.channel, self.clock, self.said = base, channel, Clock(), list[str]()
        self.begin()

    def begin(self) -> None:
        """As a watch that was just started, with nothing in its memory."""
        self.sender = Sender(
            self.base,
            self.channel,
            say=self.said.append,
            clock=lambda: self.clock.wall,
            steady=lambda: self.clock.passed,
        )

    def put(self, *alerts: Alert) -> None:
        for alert in alerts:
            number = self.base.run(alert.run, self.clock.wall)
            self.base.put_alerts(number, [alert], [self.channel.name], self.clock.wall)

    def deliver(self) -> None:
        self.sender.deliver()

    @property
    def counts(self) -> dict[str, int]:
        return self.base.delivery_counts()


def refused(channel: Channel) -> Undelivered:
    with pytest.raises(Undelivered) as error:
        channel.tell(Message((ALERT,)))
    shown = "".join(traceback.format_exception(error.value))
    assert TOKEN not in shown
    return error.value


def hook(server: WebServer) -> Channel:
    return opened("webhook:$HOOK", HOOK=f"{server.url}/{TOKEN}")


# --- one request


def test_down() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = refused(opened("webhook:$HOOK", HOOK=f"http://127.0.0.1:{port}/{TOKEN}"))
    assert "can't be reached" in str(error)


def test_a_name_that_does_not_exist() -> None:
    assert "can't be resolved" in str(refused(opened("webhook:$HOOK", HOOK=f"http://hook.invalid/{TOKEN}")))


@pytest.mark.usefixtures("impatient")
def test_slow(web: WebServer) -> None:
    let_go = threading.Event()
    web.answer = lambda one: (let_go.wait(10), None)[1]
    error = refused(hook(web))
    let_go.set()
    assert "did not answer in time" in str(error)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("part", ["head", "body"])
def test_a_byte_now_and_then(web: WebServer, part: str) -> None:
    let_go = threading.Event()

    def drip(one: Answering) -> None:
        one.wfile.write(b"HTTP/1.1 500 x\r\n" + (b"" if part == "head" else b"Content-Length: 100000\r\n\r\n"))
        while not let_go.wait(0.05):
            one.wfile.write(b"x")

    web.answer = drip
    error = refused(hook(web))
    let_go.set()
    assert "did not answer in time" in str(error)


@pytest.mark.parametrize("number", [200, 500])
def test_a_huge_answer_is_hardly_read(web: WebServer, number: int) -> None:
    sent = []

    def flood(one: Answering) -> None:
        one.send_response(number)
        one.send_header("Content-Length", str(2**40))
        one.end_headers()
        while True:
            one.wfile.write(bytes(2**16))
            sent.append(2**16)

    web.answer = flood
    if number == 200:
        hook(web).tell(Message((ALERT,)))
    else:
        assert "answers 500" in str(refused(hook(web)))
    assert sum(sent) <= LITTLE


def test_a_head_without_end(web: WebServer) -> None:
    def flood(one: Answering) -> None:
        one.wfile.write(b"HTTP/1.1 200 ok\r\n")
        while True:
            one.wfile.write(b"X-More: " + b"x" * 1000 + b"\r\n")

    web.answer = flood
    assert "broke off" in str(refused(hook(web)))


@pytest.mark.parametrize("number", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(web: WebServer, number: int, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("read me")
    elsewhere = WebServer()
    with serving(elsewhere):
        for place in (secret.as_uri(), f"{elsewhere.url}/{TOKEN}", "/again"):
            web.answer = status(number, Location=place)
            assert "points to another address" in str(refused(hook(web)))
    assert elsewhere.requests == []
    assert len(web.requests) == 3


def test_a_server_that_repeats_what_it_was_sent_is_not_quoted(web: WebServer) -> None:
    web.answer = lambda one: status(500, one.path.encode())(one)
    assert str(refused(hook(web))) == "127.0.0.1 answers 500"
    web.answer = status(404, b"channel_is_archived")
    assert str(refused(hook(web))) == "127.0.0.1 answers 404 (channel_is_archived)"


def test_an_address_of_plain_words_is_not_quoted_either(web: WebServer) -> None:
    web.answer = lambda one: status(500, one.path.strip("/").encode())(one)
    with pytest.raises(Undelivered) as error:
        opened("webhook:$HOOK", HOOK=f"{web.url}/my_secret_word").tell(Message((ALERT,)))
    assert "secret" not in str(error.value)


def test_a_certificate_nobody_vouches_for() -> None:
    server = WebServer(tls=True)
    with serving(server):
        error = refused(hook(server))
    assert "certificate that can't be trusted" in str(error)
    assert server.requests == []


def test_no_encryption_where_some_was_expected(web: WebServer) -> None:
    error = refused(opened("webhook:$HOOK", HOOK=f"{web.url.replace('http', 'https')}/{TOKEN}"))
    assert "encryption" in str(error)
    assert web.requests == []


def test_something_that_is_no_web_server() -> None:
    server = MailServer(MailRules(banner=lambda talk: talk.wfile.write(b"\x00\xff what?\r\n")))
    with serving(server):
        assert "broke off" in str(refused(opened("webhook:$HOOK", HOOK=f"http://127.0.0.1:{server.port}/{TOKEN}")))


# --- mail


@pytest.fixture
def post_office() -> Iterator[Callable[..., MailServer]]:
    with ExitStack() as running:

        def begin(**rules: object) -> MailServer:
            server = MailServer(MailRules(**rules))  # type: ignore[arg-type]
            running.enter_context(serving(server))
            return server

        yield begin


LOGIN = {"LEADLINE_SMTP_USER": "ada", "LEADLINE_SMTP_PASSWORD": TOKEN}


def test_a_mail_server_that_repeats_the_password_is_not_quoted(post_office: Callable[..., MailServer]) -> None:
    error = refused(by_mail(post_office(login="ada:other"), **LOGIN))
    assert str(error) == "127.0.0.1 refuses the login (535)"


def test_a_mail_server_that_hangs_up(post_office: Callable[..., MailServer]) -> None:
    assert "broke off" in str(refused(by_mail(post_office(after_data=None))))


def test_a_mail_server_that_says_no(post_office: Callable[..., MailServer]) -> None:
    assert "refuses the mail (452)" in str(refused(by_mail(post_office(after_data=b"452 full"))))
    error = refused(by_mail(post_office(refuses=("ada@example.org",))))
    assert "refuses the addresses (550)" in str(error)
    assert error.lasting


@pytest.mark.usefixtures("impatient")
def test_a_mail_server_that_says_a_byte_now_and_then(post_office: Callable[..., MailServer]) -> None:
    let_go = threading.Event()

    def drip(talk: SmtpTalk) -> None:
        while not let_go.wait(0.05):
            talk.wfile.write(b"2")

    assert "did not answer in time" in str(refused(by_mail(post_office(banner=drip))))
    let_go.set()


def test_a_mail_server_whose_certificate_nobody_vouches_for(post_office: Callable[..., MailServer]) -> None:
    server = post_office(login=f"ada:{TOKEN}")
    assert "certificate" in str(refused(by_mail(server, distrust=True, **LOGIN)))
    assert not any(line.startswith(b"AUTH") for line, _ in server.heard)


# --- programs


def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, started = tmp_path / "hang.sh", tmp_path / "child"
    script.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {started}\nsleep 600\n")
    script.chmod(0o755)
    for patience in (0.5, 5.0, 60.0):  # until a busy machine has started both
        monkeypatch.setattr(telling, "PATIENCE", patience)
        error = refused(opened(f"command:{script}"))
        assert "was killed" in str(error)
        if started.exists() and started.read_text():
            break
    child = int(started.read_text())
    wait_for(lambda: gone(child))


@pytest.mark.parametrize("command", ["/no/such/program", "/etc/passwd", "/bin/false"])
def test_a_program_that_fails(command: str) -> None:
    refused(opened(f"command:{command}"))


def test_a_program_that_does_not_listen_is_no_trouble(tmp_path: Path) -> None:
    many = tuple(replace(CONCERN, key=f"{number:032x}") for number in range(2000))  # more than a pipe holds
    opened(f"command:/bin/touch {tmp_path / 'told'}").tell(Message(many))
    assert (tmp_path / "told").exists()


# --- the way from the state file to the channel


def test_what_failed_is_sent_later_and_once(web: WebServer, state: Store) -> None:
    desk = Desk(state, hook(web))
    web.answer = status(500)
    desk.put(ALERT)
    desk.deliver()
    assert desk.counts == {"pending": 1}
    desk.deliver()  # too early
    assert len(web.requests) == 1
    desk.clock.wait(outbox.FIRST_PAUSE * 1.5)
    web.answer = status(200)
    desk.deliver()
    desk.clock.wait(10_000)
    desk.deliver()
    assert desk.counts == {"sent": 1}
    assert web.keys() == [ALERT.key, ALERT.key]  # the refused one and the taken one bear the same key
    assert web.requests[0].headers["idempotency-key"] == web.requests[1].headers["idempotency-key"]
    assert [line.split(" by ")[0] for line in desk.said] == ["Alerts", "Alerts"]


def test_pauses_double_and_end(web: WebServer, state: Store) -> None:
    desk = Desk(state, hook(web))
    web.answer = status(500)
    desk.put(ALERT)
    times = []
    while len(times) < 12:
        desk.deliver()
        if len(web.requests) > len(times):
            times.append(desk.clock.passed)
        desk.clock.wait(1.0)
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert all(pause <= 1.5 * outbox.LONGEST_PAUSE + 1 for pause in pauses)
    assert pauses[0] <= 1.5 * outbox.FIRST_PAUSE + 1
    assert pauses[-1] >= 0.5 * outbox.LONGEST_PAUSE
    assert len(desk.said) == 1  # one complaint, however long it lasts


def test_another_side_may_ask_for_a_longer_pause_but_not_for_ever(web: WebServer, state: Store) -> None:
    desk = Desk(state, hook(web))
    desk.put(ALERT)
    web.answer = status(429, Retry_After="100")
    desk.deliver()
    desk.clock.wait(99)
    desk.deliver()
    assert len(web.requests) == 1
    web.answer = status(429, Retry_After="999999999")
    desk.clock.wait(2)
    desk.deliver()
    assert len(web.requests) == 2
    desk.clock.wait(posting.LONGEST_WAIT)
    desk.deliver()
    assert len(web.requests) == 3


def test_a_message_at_fault_is_given_up_and_holds_up_no_other(web: WebServer, state: Store) -> None:
    desk = Desk(state, hook(web))
    web.answer = lambda one: status(400 if ALERT.key.encode() in one.request_seen.body else 200)(one)
    desk.put(ALERT)
    desk.deliver()
    desk.put(CONCERN)
    desk.deliver()
    assert desk.counts == {"failed": 1, "sent": 1}
    assert "Dropped 1 alert" in desk.said[0]


def test_in_the_end_it_is_given_up(web: WebServer, state: Store) -> None:
    desk = Desk(state, hook(web))
    web.answer = status(503)
    desk.put(ALERT)
    for _ in range(outbox.ATTEMPTS):
        desk.deliver()
        desk.clock.wait(2 * outbox.LONGEST_PAUSE)
    desk.deliver()
    assert len(web.requests) == outbox.ATTEMPTS
    assert desk.counts == {"failed": 1}


def test_one_message_that_never_passes_does_not_hold_up_new_ones(web: WebServer, state: Store) -> None:
    desk = Desk(state, hook(web))
    web.answer = lambda one: status(500 if ALERT.key.encode() in one.request_seen.body else 200)(one)
    desk.put(ALERT)
    desk.deliver()
    desk.put(CONCERN)
    desk.clock.wait(outbox.FIRST_PAUSE * 1.5)
    desk.deliver()
    assert desk.counts == {"sent": 1, "pending": 1}


def test_a_clock_stepped_back_delays_nothing(web: WebServer, state: Store) -> None:
    desk = Desk(state, hook(web))
    web.answer = status(500)
    desk.put(ALERT)
    desk.deliver()
    desk.clock.passed += outbox.FIRST_PAUSE * 1.5
    desk.clock.wall -= 500_000.0
    web.answer = status(200)
    desk.deliver()
    assert desk.counts == {"sent": 1}
    desk.put(CONCERN)  # bears the new time
    desk.clock.wall -= 400_000.0
    desk.deliver()
    assert desk.counts == {"sent": 2}


def test_what_was_handed_over_when_the_watch_was_killed_is_sent_again_as_it_was(web: WebServer, state: Store) -> None:
    desk = Desk(state, hook(web))
    desk.put(ALERT, CONCERN)
    state.mark([1, 2], desk.channel.name, desk.clock.wall, "handed")  # and there the watch is killed
    desk.begin()
    desk.put(replace(CONCERN, key="2" * 32))
    desk.deliver()
    assert desk.counts == {"sent": 3}
    assert Message((ALERT, CONCERN)).key in [one.data["key"] for one in web.requests]  # not mixed with what came later


def test_a_person_is_told_that_it_may_be_a_repetition(web: WebServer, state: Store) -> None:
    desk = Desk(state, opened("slack:$SLACK", SLACK=web.url))
    desk.put(ALERT)
    state.mark([1], desk.channel.name, desk.clock.wall, "handed")
    desk.begin()
    desk.deliver()
    assert b"this may be a duplicate" in web.requests[0].body


def test_a_person_is_told_so_after_an_answer_that_never_came(web: WebServer, state: Store) -> None:
    desk = Desk(state, opened("slack:$SLACK", SLACK=web.url))
    desk.put(ALERT)
    for answer in (lambda one: one.connection.close(), status(500), status(200)):
        web.answer = answer
        desk.deliver()
        desk.clock.wait(1000)
    assert [b"this may be a duplicate" in one.body for one in web.requests] == [False, True, True]


def test_what_was_sent_is_not_sent_again_because_the_state_file_was_locked(
    web: WebServer, state: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = sqlite3.connect(tmp_path / "state.db", check_same_thread=False, isolation_level=None)
    state._base.run("PRAGMA busy_timeout = 50")
    desk = Desk(state, hook(web))

    def take_and_lock(one: Answering) -> None:
        other.execute("BEGIN IMMEDIATE")
        status(200)(one)

    web.answer = take_and_lock
    desk.put(ALERT)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        desk.deliver()
    assert desk.counts == {"handed": 1}
    other.execute("ROLLBACK")
    desk.clock.wait(1000)
    desk.deliver()
    other.close()
    assert desk.counts == {"sent": 1}
    assert len(web.requests) == 1


def test_nothing_is_sent_that_could_not_be_written_down_before(web: WebServer, state: Store, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    state._base.run("PRAGMA busy_timeout = 50")
    desk = Desk(state, hook(web))
    desk.put(ALERT)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        desk.deliver()
    assert web.requests == []
    other.execute("ROLLBACK")
    other.close()
    desk.deliver()
    assert web.keys() == [ALERT.key]


def test_what_a_killed_watch_left_behind_waits_for_a_locked_state_file(
    web: WebServer, state: Store, tmp_path: Path
) -> None:
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    state._base.run("PRAGMA busy_timeout = 50")
    desk = Desk(state, hook(web))
    desk.put(ALERT)
    state.mark([1], desk.channel.name, desk.clock.wall, "handed")
    desk.begin()
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        desk.deliver()
    other.execute("ROLLBACK")
    other.close()
    desk.deliver()
    assert web.keys() == [ALERT.key]
    assert desk.counts == {"sent": 1}


def test_a_defect_in_a_channel_ends_nothing(web: WebServer, state: Store) -> None:
    def fail(message: Message) -> None:
        raise ZeroDivisionError(TOKEN)

    desk = Desk(state, Channel("broken", fail))
    desk.put(ALERT)
    desk.deliver()
    assert desk.counts == {"pending": 1}
    assert "unexpected ZeroDivisionError" in desk.said[0]
    assert TOKEN not in desk.said[0]


# --- many at once


def put_many(base: Store, channels: tuple[str, ...], count: int) -> list[str]:
    many = [
        replace(CONCERN, run=f"runs/{number % 100}", key=key_of(f"{number}", "kl.drift", 0)) for number in range(count)
    ]
    base.put_alerts(base.run("runs", 0.0), many, channels, 0.0)
    return [alert.key for alert in many]


def test_two_thousand_alerts_at_once(web: WebServer, state: Store) -> None:
    other = WebServer()
    with serving(other):
        to_machines, to_people = hook(web), opened("slack:$SLACK", SLACK=other.url)
        keys = put_many(state, (to_machines.name, to_people.name), 2_000)
        box = Outbox(state, (to_machines, to_people), say=print)
        box.start()
        box.wake()
        box.close(patience=300)
    assert state.delivery_counts() == {"sent": 4_000}
    assert web.keys() == keys  # each once, in order
    assert len(web.requests) == 20
    assert max(len(one.body) for one in web.requests) < 200_000
    (digest,) = other.requests
    assert b"And 1995 more from 100 runs: 1995 kl.drift." in digest.body
    assert len(digest.body) < 20_000


def test_a_channel_that_is_down_holds_up_no_other_and_not_the_watch(web: WebServer, state: Store) -> None:
    hung = WebServer()
    let_go = threading.Event()
    hung.answer = lambda one: (let_go.wait(60), None)[1]
    with serving(hung):
        slow, fine = opened("webhook:$A", A=hung.url), hook(web)
        put_many(state, (slow.name, fine.name), 1000)
        box = Outbox(state, (slow, fine), say=lambda says: None)
        box.start()
        for _ in range(1000):
            box.wake()
        wait_for(lambda: len(web.requests) >= 10)
        still_hangs = len(hung.requests) == 1
        let_go.set()
        box.close(patience=10)
    assert still_hangs
    assert len(web.keys()) == 1000


def test_a_state_file_that_is_locked_is_waited_for(
    web: WebServer, state: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(outbox, "IDLE", 0.05)
    state._base.run("PRAGMA busy_timeout = 10")
    channel = hook(web)
    state.put_alerts(state.run("a", 0.0), [ALERT], [channel.name, "webhook:$GONE"], 0.0)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    said: list[str] = []
    box = Outbox(state, [channel], say=said.append)
    box.start()
    wait_for(lambda: len(said) >= 2)
    assert web.requests == []
    other.execute("ROLLBACK")
    other.close()
    wait_for(lambda: web.requests)
    box.close()
    assert web.keys() == [ALERT.key]
    assert said[0] == "Alerts are waiting for channels that are no longer configured: webhook:$GONE."
    assert "the state file does not answer (database is locked)" in said[1]
    assert said[2:] == [f"Alerts by {channel.name} work again."]


# --- killed


def test_killed_between_handing_over_and_knowing(web: WebServer, tmp_path: Path) -> None:
    """A real process is killed while the receiver has the request and has not answered it."""
    program = (
        "import os, sys, time\n"
        "from leadline.live.outbox import Outbox\n"
        "from leadline.live.store import Store\n"
        "from leadline.live.telling import open_channels\n"
        "with Store(sys.argv[1]) as base:\n"
        "    box = Outbox(base, [*open_channels(['webhook:$HOOK'], os.environ).values()], say=print)\n"
        "    box.start(); time.sleep(float(sys.argv[2])); box.close()\n"
    )
    with Store(tmp_path / "state.db") as base:
        base.put_alerts(base.run("a", 0.0), [ALERT, CONCERN], ["webhook:$HOOK"], 0.0)
    environ = {**os.environ, "HOOK": web.url}
    arrived, let_go = threading.Event(), threading.Event()
    web.answer = lambda one: (arrived.set(), let_go.wait(10), None)[2]
    child = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "state.db"), "60"], env=environ)
    assert arrived.wait(240)
    child.send_signal(signal.SIGKILL)
    child.wait()
    let_go.set()
    web.answer = status(200)
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "state.db"), "0"], env=environ, check=True)
    with Store(tmp_path / "state.db", write=False) as base:
        assert base.delivery_counts() == {"sent": 2}
    assert web.requests[0].body == web.requests[1].body  # a receiver that drops what it has seen has each once
    assert set(web.keys()) == {ALERT.key, CONCERN.key}


# --- secrets


def test_no_secret_in_the_state_file_the_words_or_a_traceback(web: WebServer, tmp_path: Path) -> None:
    environ = {
        "HOOK": f"{web.url}/{TOKEN}",
        "LEADLINE_SMTP_HOST": "127.0.0.1",
        "LEADLINE_SMTP_PORT": "1",
        "LEADLINE_SMTP_USER": "ada",
        "LEADLINE_SMTP_PASSWORD": TOKEN,
    }
    orders = [f"webhook:{web.url}/{TOKEN}", "slack:$HOOK", "discord:$HOOK", "mail:a@b.c", f"command:/no/such {TOKEN}"]
    web.answer = lambda one: status(500, one.path.encode())(one)
    said: list[str] = []
    path = tmp_path / "state.db"
    with Store(path) as base:
        channels = open_channels(orders, environ).values()
        base.put_alerts(base.run("a", 0.0), [ALERT], [channel.name for channel in channels], 0.0)
        for channel in channels:
            sender = Sender(base, channel, say=said.append)
            sender.deliver()
        assert base.delivery_counts() == {"pending": 5}
        assert len(said) == 5
        kept = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert TOKEN.encode() not in kept
    assert TOKEN not in "".join(said)
