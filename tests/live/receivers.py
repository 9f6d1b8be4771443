"""Receivers of alerts that really listen: a web server that can misbehave, and a mail server that speaks SMTP."""

from __future__ import annotations

import base64
import email
import email.policy
import json
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DATA = Path(__file__).parent / "data"


@dataclass
class Request:
    """What arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> dict[str, object]:
        return dict(json.loads(self.body))


Answer = Callable[["Answering"], None]


class Answering(BaseHTTPRequestHandler):
    """One request; `answer` of the server decides what happens to it."""

    server: WebServer

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self.request_seen = Request(
            self.path, {name.lower(): value for name, value in self.headers.items()}, self.rfile.read(length)
        )
        self.server.requests.append(self.request_seen)
        with suppress(BrokenPipeError, ConnectionResetError):
            self.server.answer(self)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        pass


class WebServer(ThreadingHTTPServer):
    daemon_threads = True
    answer: Answer

    def __init__(self, *, tls: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.requests: list[Request] = []
        self.answer = status(200)
        self.scheme = "https" if tls else "http"
        if tls:
            self.socket = server_tls().wrap_socket(self.socket, server_side=True)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        pass

    def keys(self) -> list[str]:
        """The key of every alert that arrived, in order."""
        return [alert["key"] for request in self.requests for alert in request.data["alerts"]]  # type: ignore[attr-defined]


def status(number: int, body: bytes = b"", **headers: str) -> Answer:
    def answer(one: Answering) -> None:
        one.send_response(number)
        for name, value in headers.items():
            one.send_header(name.replace("_", "-"), value)
        one.send_header("Content-Length", str(len(body)))
        one.end_headers()
        one.wfile.write(body)

    return answer


@contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(DATA / "localhost.crt", DATA / "localhost.key")
    return context


def trusting() -> ssl.SSLContext:
    """A client that trusts our certificate."""
    return ssl.create_default_context(cafile=str(DATA / "localhost.crt"))


@dataclass
class Received:
    """A mail as a server got it."""

    sender: str
    to: list[str]
    content: bytes
    encrypted: bool
    login: str | None

    @property
    def mail(self) -> EmailMessage:
        parsed = email.message_from_bytes(self.content, policy=email.policy.default)
        assert isinstance(parsed, EmailMessage)
        return parsed


@dataclass
class MailRules:
    """How a mail server behaves."""

    starttls: bool = True
    tls_at_once: bool = False
    login: str | None = None  # user:password it asks for
    banner: Callable[[SmtpTalk], None] | None = None
    after_data: bytes | None = b"250 2.0.0 taken"  # None: hang up
    refuses: tuple[str, ...] = ()


class SmtpTalk(socketserver.StreamRequestHandler):
    """Enough of RFC 5321, 3207 and 4954 for a client that does as it should, and an error for one that does not."""

    server: MailServer

    def handle(self) -> None:
        self.rules, self.encrypted, self.user = self.server.rules, False, None
        with suppress(OSError, ssl.SSLError):
            if self.rules.tls_at_once:
                self._encrypt()
            if self.rules.banner is not None:
                self.rules.banner(self)
                return
            self._say(b"220 localhost ESMTP")
            self._talk()

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()
        self.rfile.close()
        self.request.close()  # the encrypted one, of which the server knows nothing

    def _talk(self) -> None:
        sender, to = "", []
        while line := self._hear():
            word = line.split(b" ")[0].split(b":")[0].upper()
            if word == b"EHLO":
                self._offer()
            elif word == b"STARTTLS" and self.rules.starttls and not self.encrypted:
                self._say(b"220 go on")
                self._encrypt()
            elif word == b"AUTH":
                self._login(line)
            elif word == b"MAIL":
                if self.rules.login is not None and self.user is None:
                    self._say(b"530 5.7.0 log in first")
                else:
                    sender, to = line.partition(b"<")[2].partition(b">")[0].decode(), []
                    self._say(b"250 ok")
            elif word == b"RCPT":
                one = line.partition(b"<")[2].partition(b">")[0].decode()
                if one in self.rules.refuses:
                    self._say(b"550 5.1.1 no such box")
                else:
                    to.append(one)
                    self._say(b"250 ok")
            elif word == b"DATA" and to:
                self._say(b"354 go on")
                self.server.mails.append(Received(sender, to, self._content(), self.encrypted, self.user))
                if self.rules.after_data is None:
                    return
                self._say(self.rules.after_data)
            elif word == b"QUIT":
                self._say(b"221 bye")
                return
            elif word in (b"RSET", b"NOOP"):
                self._say(b"250 ok")
            else:
                self._say(b"502 not here")

    def _offer(self) -> None:
        offers = [b"localhost"]
        if self.rules.starttls and not self.encrypted:
            offers.append(b"STARTTLS")
        if self.rules.login is not None:
            offers.append(b"AUTH PLAIN")
        for offer in offers[:-1]:
            self._say(b"250-" + offer)
        self._say(b"250 " + offers[-1])

    def _login(self, line: bytes) -> None:
        parts = line.split(b" ")
        if len(parts) < 3:
            self._say(b"334 ")
            given = self._hear()
        else:
            given = parts[2]
        user, password = base64.b64decode(given).split(b"\0")[1:]
        if b":".join((user, password)).decode() == self.rules.login:
            self.user = user.decode()
            self._say(b"235 welcome")
        else:
            self._say(b"535 5.7.8 " + password)  # a server that repeats what it should not

    def _content(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line[1:] if line.startswith(b".") else line)
        return b"".join(lines)

    def _hear(self) -> bytes:
        line = self.rfile.readline().rstrip(b"\r\n")
        self.server.heard.append((line, self.encrypted))
        return line

    def _say(self, line: bytes) -> None:
        self.wfile.write(line + b"\r\n")

    def _encrypt(self) -> None:
        self.request = server_tls().wrap_socket(self.request, server_side=True)
        self.rfile, self.wfile = self.request.makefile("rb"), self.request.makefile("wb", buffering=0)
        self.encrypted = True


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, rules: MailRules) -> None:
        super().__init__(("127.0.0.1", 0), SmtpTalk)
        self.rules = rules
        self.mails: list[Received] = []
        self.heard: list[tuple[bytes, bool]] = []  # what a client said, and whether it was encrypted

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, *_: object) -> None:
        pass
