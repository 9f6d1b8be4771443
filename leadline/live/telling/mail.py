"""Alerts by e-mail: `mail:someone@example.org`, through the server that the environment names.

LEADLINE_SMTP_HOST, and where needed LEADLINE_SMTP_PORT, LEADLINE_SMTP_USER, LEADLINE_SMTP_PASSWORD, LEADLINE_SMTP_FROM
and LEADLINE_SMTP_SECURITY: `starttls` (the default), `ssl` (the default at port 465), or `none`, which never carries a
password to another machine. The same alerts bear the same Message-ID, so that a mail box can drop a repetition.
"""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import localtime
from typing import BinaryIO

from ...errors import BadOrder
from . import words
from .deadline import Deadline
from .message import Channel, Message, Secret, Undelivered

NAME = "mail"
FORM = "mail:ADDRESS[,ADDRESS...]"

PATIENCE = 60.0  # seconds for a whole conversation
WAIT_FOR_A_LINE = 20.0
LONGEST_TALK = 64 * 1024  # bytes that a server may say in all
LOCAL = ("localhost", "127.0.0.1", "::1")
SECURITIES = ("starttls", "ssl", "none")


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where mail is handed in."""

    host: str
    port: int
    security: str
    sender: Address
    user: str | None = None
    password: Secret | None = None
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)


@dataclass(frozen=True, slots=True)
class Mail:
    name: str
    server: SmtpServer
    to: tuple[Address, ...]
    most: int = 10_000
    spacing: float = 60.0
    repeats: bool = True
    takes_picture: bool = True

    def tell(self, message: Message) -> None:
        server = self.server
        talk = _EncryptedTalk(server.host, server.tls) if server.security == "ssl" else _Talk(server.host)
        handed_in = False
        deadline = Deadline(PATIENCE, lambda: [talk.sock])
        try:
            with deadline:
                talk.connect(server.host, server.port)
                talk.ehlo_or_helo_if_needed()
                if server.security == "starttls":
                    talk.starttls(context=server.tls)
                    talk.ehlo_or_helo_if_needed()
                if server.user is not None and server.password is not None:
                    talk.login(server.user, server.password.reveal())
                handed_in = True
                refused = talk.send_message(self.written(message))
            if refused:
                raise Undelivered(f"{server.host} took it for some of the addresses only", lasting=True)
        except Undelivered:
            raise
        except Exception as error:  # its text quotes the server, which may quote what we sent
            raise _problem(error, server.host, late=deadline.passed, unsure=handed_in) from None
        finally:
            talk.close()

    def written(self, message: Message) -> EmailMessage:
        """The mail itself."""
        mail = EmailMessage(policy=SMTP)
        mail["Subject"] = words.clipped(f"[leadline] {words.subject(message)}", 200)
        mail["From"] = self.server.sender
        mail["To"] = self.to
        mail["Date"] = localtime()
        mail["Message-ID"] = f"<{message.key}@{self.server.sender.domain}>"
        mail["Auto-Submitted"] = "auto-generated"  # no machine shall answer it
        mail.set_content(f"{words.text(message)}\n")
        if message.picture is not None:
            mail.add_attachment(message.picture, maintype="image", subtype="png", filename="run.png")
        return mail


def opened(target: str, environ: Mapping[str, str]) -> Channel:
    to = tuple(_address(one.strip()) for one in target.split(","))
    host = environ.get("LEADLINE_SMTP_HOST", "").strip()
    if not host:
        raise BadOrder(
            "The mail server is not known: the environment variable LEADLINE_SMTP_HOST is empty.",
            tried="to read it",
            next_step="export LEADLINE_SMTP_HOST=... where leadline is started; docs/live.md names the others",
        )
    port = environ.get("LEADLINE_SMTP_PORT", "587")
    security = environ.get("LEADLINE_SMTP_SECURITY", "ssl" if port == "465" else "starttls")
    user, password = environ.get("LEADLINE_SMTP_USER"), environ.get("LEADLINE_SMTP_PASSWORD")
    if not port.isdecimal() or not 0 < int(port) < 65536 or security not in SECURITIES:
        raise BadOrder(
            "The settings of the mail server cannot be followed.",
            tried=f"port {port}, security {security}",
            next_step=f"LEADLINE_SMTP_PORT is a number, LEADLINE_SMTP_SECURITY one of {', '.join(SECURITIES)}",
        )
    if security == "none" and password and host not in LOCAL:
        raise BadOrder(
            "A password would go to the mail server unencrypted.",
            tried="LEADLINE_SMTP_SECURITY=none with a password",
            next_step="use starttls or ssl, or a server that asks for no password",
        )
    sender = _address(environ.get("LEADLINE_SMTP_FROM") or (user if user and "@" in user else f"leadline@{_here()}"))
    secret = None if password is None else Secret(password)
    name = f"{NAME}:{','.join(one.addr_spec for one in to)}"
    return Mail(name, SmtpServer(host, int(port), security, sender, user, secret), to)


def _address(text: str) -> Address:
    try:
        address = Address(addr_spec=text)
        fine = bool(address.username and address.domain) and text.isascii()
    except Exception:  # the parser of the standard library raises several kinds, IndexError among them
        fine = False
    if not fine:
        raise BadOrder(
            f"{text!r} is no e-mail address.",
            tried="to read it as one",
            next_step="give it as mail:someone@example.org",
        ) from None
    return address


def _here() -> str:
    name = socket.gethostname()
    return name if name.isascii() and name.replace("-", "").replace(".", "").isalnum() else "localhost"


class _Bounded:
    """What a server says, up to an end: an answer of many lines is kept by the library until it is over."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._left = file, LONGEST_TALK

    def readline(self, limit: int = -1) -> bytes:
        line = self._file.readline(limit)
        self._left -= len(line)
        if self._left < 0:
            raise OSError("too much was said")
        return line

    def close(self) -> None:
        self._file.close()


class _Talk(smtplib.SMTP):
    def __init__(self, host: str) -> None:
        super().__init__(timeout=WAIT_FOR_A_LINE)
        self._host = host  # for whom a certificate must be; the library learns it only where it connects at once

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _Bounded(self.sock.makefile("rb"))
        return super().getreply()


class _EncryptedTalk(_Talk, smtplib.SMTP_SSL):
    def __init__(self, host: str, tls: ssl.SSLContext) -> None:
        smtplib.SMTP_SSL.__init__(self, timeout=WAIT_FOR_A_LINE, context=tls)
        self._host = host


def _problem(error: Exception, host: str, *, late: bool, unsure: bool) -> Undelivered:
    """What went wrong, in words that quote nothing but numbers."""
    if late or isinstance(error, TimeoutError):
        return Undelivered(f"{host} did not answer in time", unsure=unsure)
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return Undelivered(f"{host} does not offer what is asked of it (encryption, or the log-in)")
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = sorted({code for code, _ in error.recipients.values()})
        lasting = all(code >= 500 for code in codes)
        return Undelivered(f"{host} refuses the addresses ({', '.join(map(str, codes))})", lasting=lasting)
    if isinstance(error, smtplib.SMTPResponseException):
        what = "refuses the log-in" if isinstance(error, smtplib.SMTPAuthenticationError) else "refuses the mail"
        return Undelivered(f"{host} {what} ({error.smtp_code})")
    if isinstance(error, ssl.SSLCertVerificationError):
        return Undelivered(f"{host} has a certificate that cannot be trusted ({error.verify_message})")
    if isinstance(error, ssl.SSLError):
        return Undelivered(f"{host} could not agree on encryption with us")
    if isinstance(error, socket.gaierror):
        return Undelivered(f"{host} is a name that cannot be resolved")
    if isinstance(error, ConnectionRefusedError):
        return Undelivered(f"{host} refuses the connection")
    return Undelivered(f"{host} broke off ({type(error).__name__})", unsure=unsure)
