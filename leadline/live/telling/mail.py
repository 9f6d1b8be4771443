"""Send alerts by mail: `mail:someone@example.org`, through the server in the environment.

LEADLINE_SMTP_HOST, and if needed _PORT, _USER, _PASSWORD, _FROM and _SECURITY: `starttls` (default), `ssl` (default at
port 465), or `none`, which never sends a password off this machine. The same alerts have the same Message-ID, so that a
mailbox can drop duplicates.
"""

from __future__ import annotations

import contextlib
import smtplib
import socket
import ssl
from collections.abc import Mapping
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import localtime
from functools import partial
from typing import Any

from ...errors import BadOrder
from ...records import dataclass, field
from .message import Channel, Message, Undelivered, broken_off, clipped, subject, text, within

PATIENCE = 60.0  # seconds for a whole conversation
WAIT_FOR_A_LINE = 20.0
LOCAL = ("localhost", "127.0.0.1", "::1")
SECURITIES = ("starttls", "ssl", "none")


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """The server that mail is submitted to, its sender, and its recipients."""

    host: str
    port: int
    security: str
    sender: Address
    to: tuple[Address, ...]
    tls: ssl.SSLContext
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def tell(server: SmtpServer, message: Message) -> None:
    """Submit a message. Raises Undelivered."""

    def submit() -> object:
        security = {"context": server.tls} if server.security == "ssl" else {}
        kind: Any = smtplib.SMTP_SSL if security else smtplib.SMTP
        talk = kind(server.host, server.port, timeout=WAIT_FOR_A_LINE, **security)
        with contextlib.closing(talk):  # without a QUIT, whose failure would look like one of the mail
            if server.security == "starttls":
                talk.starttls(context=server.tls)
            if server.user is not None and server.password is not None:
                talk.login(server.user, server.password)
            return talk.send_message(written(server, message))

    try:
        refused = within(PATIENCE, submit)
    except Exception as error:  # its text may quote what we sent
        raise _problem(error, server.host) from None
    if refused:
        raise Undelivered(f"{server.host} took it for some of the addresses only", lasting=True)


def written(server: SmtpServer, message: Message) -> EmailMessage:
    """Return the mail itself."""
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = clipped(f"[leadline] {subject(message)}", 200)
    mail["From"] = server.sender
    mail["To"] = server.to
    mail["Date"] = localtime()
    mail["Message-ID"] = f"<{message.key}@{server.sender.domain}>"
    mail["Auto-Submitted"] = "auto-generated"  # so that no machine answers it
    mail.set_content(f"{text(message)}\n")
    return mail


def opened(target: str, environ: Mapping[str, str]) -> Channel:
    """Return the channel that mails to `target`. Raises BadOrder."""
    to = tuple(_address(one.strip()) for one in target.split(","))
    host = environ.get("LEADLINE_SMTP_HOST", "").strip()
    if not host:
        raise BadOrder(
            "No mail server: the environment variable LEADLINE_SMTP_HOST is empty.",
            next_step="export LEADLINE_SMTP_HOST=... before you start leadline; docs/live.md lists the other settings",
        )
    port = environ.get("LEADLINE_SMTP_PORT", "587")
    security = environ.get("LEADLINE_SMTP_SECURITY", "ssl" if port == "465" else "starttls")
    user, password = environ.get("LEADLINE_SMTP_USER"), environ.get("LEADLINE_SMTP_PASSWORD")
    if not port.isdecimal() or not 0 < int(port) < 65536 or security not in SECURITIES:
        raise BadOrder(
            "The mail server settings are not valid.",
            next_step=f"LEADLINE_SMTP_PORT is a number, LEADLINE_SMTP_SECURITY one of {', '.join(SECURITIES)}",
        )
    if security == "none" and password and host not in LOCAL:
        raise BadOrder(
            "A password would go to the mail server unencrypted.",
            next_step="use starttls or ssl, or a server that asks for no password",
        )
    sender = _address(environ.get("LEADLINE_SMTP_FROM") or (user if user and "@" in user else f"leadline@{_here()}"))
    server = SmtpServer(host, int(port), security, sender, to, ssl.create_default_context(), user, password)
    name = f"mail:{','.join(one.addr_spec for one in to)}"
    return Channel(name, partial(tell, server), spacing=60.0)


def _address(text: str) -> Address:
    try:
        address = Address(addr_spec=text)
        fine = bool(address.username and address.domain) and text.isascii()
    except Exception:  # the parser of the standard library raises several kinds, IndexError among them
        fine = False
    if not fine:
        raise BadOrder(f"{text!r} is not a mail address.", next_step="pass it as mail:someone@example.org") from None
    return address


def _here() -> str:
    name = socket.gethostname()
    return name if name.isascii() and name.replace("-", "").replace(".", "").isalnum() else "localhost"


def _problem(error: Exception, host: str) -> Undelivered:
    """Return what went wrong, quoting nothing but numbers."""
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return Undelivered(f"{host} does not offer encryption or the login")
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = sorted({code for code, _ in error.recipients.values()})
        lasting = all(code >= 500 for code in codes)
        return Undelivered(f"{host} refuses the addresses ({', '.join(map(str, codes))})", lasting=lasting)
    if isinstance(error, smtplib.SMTPResponseException):
        what = "refuses the login" if isinstance(error, smtplib.SMTPAuthenticationError) else "refuses the mail"
        return Undelivered(f"{host} {what} ({error.smtp_code})")
    return Undelivered(f"{host} {broken_off(error)}")
