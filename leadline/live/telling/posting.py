"""One POST and its answer, within a time, without trusting the other side.

No redirect is followed, so nothing is fetched that was not asked for. Of an answer its number and a little text is
read. The address is a secret: it appears in no error.
"""

from __future__ import annotations

import base64
import errno
import http.client
import os
import re
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from ... import __version__
from ...errors import BadOrder
from .deadline import Deadline
from .message import Secret, Undelivered, short_name

PATIENCE = 20.0  # seconds for all of it: connecting, sending and the answer
WAIT_FOR_A_BYTE = 10.0
ENOUGH = 512  # bytes of an answer
PLAIN_WORDS = re.compile(rb"[a-z][a-z_ ]{2,59}")  # such as Slack's "channel_is_archived": too plain to be a secret
UNFIT = (400, 413, 415, 422)  # the message is at fault; every other refusal may pass, or somebody may mend it
PRINTED = re.compile(r"[!-~]+")  # all that an address may consist of
GATEWAYS = (502, 504)  # somebody between us and the receiver, who may have it
NEVER_BEGUN = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)
LONGEST_WAIT = 3600.0  # seconds that another side may make us wait


class Post:
    """An address to post to."""

    def __init__(self, address: Secret, *, tls: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(address.reveal())
        self.host = parts.hostname or ""  # all of the address that is ever shown
        self._address = address
        self._tls = ssl.create_default_context() if tls is None and parts.scheme == "https" else tls

    def send(self, content: bytes, headers: Mapping[str, str]) -> None:
        """Post it. Raises Undelivered."""
        used: list[_HeldConnection] = []
        deadline = Deadline(PATIENCE, lambda: [held for one in used for held in (one.sock, one.held)])
        url, credentials = _without_credentials(self._address.reveal())
        headers = {"User-Agent": f"leadline/{__version__}", **credentials, **headers}
        try:
            request = urllib.request.Request(url, data=content, headers=headers, method="POST")
            with deadline, _opener(used, self._tls).open(request, timeout=WAIT_FOR_A_BYTE) as answer:
                status, after = answer.status, answer.headers.get("Retry-After")
                said = b"" if 200 <= status < 300 else answer.read(ENOUGH)
        except Exception as error:  # whatever it is, its text may quote the address
            what, unsure = _problem(error, late=deadline.passed)
            raise Undelivered(f"{self.host} {what}", unsure=unsure) from None
        finally:
            for one in used:
                one.close()
        if deadline.passed:  # what came by then may be half an answer
            raise Undelivered(f"{self.host} did not answer in time", unsure=True)
        if not 200 <= status < 300:
            raise self._refused(status, after, said)

    def _refused(self, status: int, after: str | None, said: bytes) -> Undelivered:
        if 300 <= status < 400:
            return Undelivered(f"{self.host} answers {status}: it points to another address, which is not followed")
        plain = PLAIN_WORDS.fullmatch(said.strip())
        reason = plain[0].decode() if plain else ""
        quoted = f" ({reason})" if reason and reason not in self._address.reveal() else ""
        words = f"{self.host} answers {status}{quoted}"
        return Undelivered(words, lasting=status in UNFIT, unsure=status in GATEWAYS, after=_seconds(after))


def address_of(target: str, environ: Mapping[str, str], *, what: str) -> tuple[Secret, str]:
    """The address that `target` gives or names as `$NAME`, and a name for the channel that tells nothing of it."""
    named = target.startswith("$")
    address = environ.get(target[1:], "").strip() if named else target
    if named and not address:
        raise BadOrder(
            f"The address for {what} is not known: the environment variable {target[1:]} is empty.",
            tried=f"to read {target}",
            next_step=f"export {target[1:]}='https://...' where leadline is started",
        )
    try:
        parts = urlsplit(address)
        host = parts.hostname if parts.scheme in ("http", "https") and parts.port != 0 else None
    except ValueError:
        host = None
    if not host or not PRINTED.fullmatch(address):
        raise BadOrder(
            f"{f'The environment variable {target[1:]} holds' if named else 'After --tell there is'}"
            f" no address for {what}.",
            tried="to read it as an http or https address",
            next_step=f"give an address such as https://example.org/hook, best as {what}:$NAME from the environment",
        ) from None
    return Secret(address), f"{what}:{target if named else f'{host}#{short_name(target)}'}"


def secret_address(target: str, environ: Mapping[str, str], *, what: str) -> tuple[Secret, str]:
    """The same for an address that is itself the key to a channel: it comes from the environment, where `ps` does not
    show it, and goes over an encrypted line or stays on this machine."""
    if not target.startswith("$"):
        raise BadOrder(
            f"The address for {what} was given itself, where every user of this machine can read it.",
            tried=f"to read what follows {what}: as the name of an environment variable",
            next_step=f"give the name, in quotes that keep the shell from replacing it: --tell '{what}:$NAME'",
        )
    address, name = address_of(target, environ, what=what)
    parts = urlsplit(address.reveal())
    if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise BadOrder(
            f"The address for {what} is not encrypted, and whoever reads it on its way could post there.",
            tried="to use it",
            next_step="give its https address",
        )
    return address, name


def _without_credentials(url: str) -> tuple[str, dict[str, str]]:
    """The address less a user and password in it, and the header that carries them."""
    parts = urlsplit(url)
    if parts.username is None:
        return url, {}
    both = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return bare, {"Authorization": f"Basic {base64.b64encode(both).decode()}"}


def _problem(error: Exception, *, late: bool) -> tuple[str, bool]:
    """What went wrong, in words that quote nothing, and whether the message may have arrived all the same."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, socket.gaierror):  # however long that took, nothing was sent
        return "is a name that cannot be resolved", False
    if late or isinstance(cause, TimeoutError):
        return "did not answer in time", True
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"has a certificate that cannot be trusted ({cause.verify_message})", False
    if isinstance(cause, ssl.SSLError):
        return "could not agree on encryption with us", False
    if isinstance(cause, OSError) and cause.errno in NEVER_BEGUN:
        return f"cannot be reached ({os.strerror(cause.errno)})", False
    return f"broke off ({type(cause).__name__})", True


def _seconds(after: str | None) -> float | None:
    """What a Retry-After header asks for, where it gives seconds; a date would trust two clocks."""
    try:
        seconds = float(after or "nan")
    except ValueError:
        return None
    return min(seconds, LONGEST_WAIT) if seconds >= 0 else None


def _opener(used: list[_HeldConnection], tls: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Speaks http and https, through a proxy where the environment names one, and nothing else."""
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler(), _Plain(used), _Encrypted(used, tls)):
        opener.add_handler(handler)
    return opener


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, used: list[_HeldConnection]) -> None:
        super().__init__()
        self._used = used

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_noted, self._used, _HeldConnection), request)


class _Encrypted(urllib.request.HTTPSHandler):
    def __init__(self, used: list[_HeldConnection], tls: ssl.SSLContext | None) -> None:
        super().__init__()
        self._used, self._tls = used, tls

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        connect = partial(_noted, self._used, _HeldEncrypted, context=self._tls)
        return self.do_open(connect, request)


class _HeldConnection(http.client.HTTPConnection):
    """Keeps its socket, which the library forgets before the answer is read."""

    held: socket.socket | None = None

    def connect(self) -> None:
        super().connect()
        self.held = self.sock


class _HeldEncrypted(_HeldConnection, http.client.HTTPSConnection):
    pass


def _noted(used: list[_HeldConnection], kind: type[_HeldConnection], host: str, **options: Any) -> _HeldConnection:
    used.append(kind(host, **options))
    return used[-1]
