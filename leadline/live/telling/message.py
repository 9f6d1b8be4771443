"""Messages to channels: their words, calm, exact and short; their data for programs; and why they were not taken."""

from __future__ import annotations

import errno
import hashlib
import os
import shlex
import socket
import ssl
import threading
import urllib.error
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent import futures
from typing import TypeVar

from ...records import dataclass, field
from ...report.plain import printable
from ..records import KEY_LENGTH, SEVERITIES, Alert

SCHEMA = 1  # of the JSON that programs get
SHOWN = 10  # alerts in full; the rest is counted
KINDS = 5  # of what is counted
LONGEST_RUN = 120  # characters of a run's name; the end of a path says most
CALLED = {"silence": "Silent", "action": "Action"}
VERDICT = "verdict."
AGAIN = "Resent: this may be a duplicate."

NEVER_BEGUN = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Message:
    """Alerts that are sent together."""

    alerts: tuple[Alert, ...]
    again: bool = False  # it was tried before, and may have arrived

    @property
    def key(self) -> str:
        """Return a key that is the same for the same alerts, so that a receiver can drop duplicates."""
        if len(self.alerts) == 1:
            return self.alerts[0].key
        keys = "\0".join(sorted(alert.key for alert in self.alerts))
        return hashlib.sha256(keys.encode()).hexdigest()[:KEY_LENGTH]


def for_machines(message: Message) -> dict[str, object]:
    """Return the message as plain data, the same for the same alerts."""
    return {
        "schema": SCHEMA,
        "source": "leadline",
        "key": message.key,
        "alerts": [alert.as_data() for alert in message.alerts],
    }


def title(alert: Alert) -> str:
    """Return the first line: the headline of a verdict; otherwise the kind of alert, and where.

    >>> title(Alert("runs/a", "verdict.stop", 7, None, "concern", "STOP, keep step 4 · reward flat", (), None, ""))
    'STOP, keep step 4 · reward flat'
    >>> title(Alert("runs/a", "kl.drift", 7, None, "concern", "KL drifts.", (), None, ""))
    'Concern · runs/a, step 7'
    """
    if alert.about.startswith(VERDICT) and alert.says.strip():
        return printable(alert.says)
    return f"{CALLED.get(alert.about, alert.severity.capitalize())} · {_place(alert)}"


def _place(alert: Alert) -> str:
    return f"{run_of(alert)}, step {alert.step}"


def subject(message: Message) -> str:
    """Return one line for the whole message."""
    alerts = message.alerts
    if len(alerts) == 1:
        first = alerts[0]
        return f"{run_of(first)}: {title(first)}" if first.about.startswith(VERDICT) else title(first)
    critical = sum(alert.severity == "critical" for alert in alerts)
    runs = len({alert.run for alert in alerts})
    grave = f", {critical} critical" if critical else ""
    return f"{len(alerts)} alerts, {runs} run{'s' * (runs != 1)}{grave}"


def body(alert: Alert) -> str:
    """Return the lines below the title: the sentence, the evidence, the checkpoint to keep, and the next step."""
    verdict = alert.about.startswith(VERDICT)
    first = _place(alert) if verdict else printable(alert.says)
    lines = [first, *(f"- {printable(line)}" for line in alert.evidence)]
    if alert.onset_step is not None and alert.onset_step != alert.step:
        lines.append(f"Began around step {alert.onset_step}.")
    if alert.best_checkpoint is not None and not verdict:  # a verdict names it itself
        head = "Best checkpoint" if alert.about == "action" else "Best so far"
        lines.append(f"{head}: {printable(alert.best_checkpoint)}.")
    return "\n".join([*lines, f"Next: {next_step(alert)}"])


def next_step(alert: Alert) -> str:
    """Return what to do now."""
    best = "" if alert.best_checkpoint is None else printable(alert.best_checkpoint)
    if alert.about == "verdict.roll_back":
        return f"Stop the run{f'; evaluate {best} before resuming from it' if best else ''}. {_look(alert)}"
    if alert.about == "verdict.stop":
        return f"Stop the run{f'; keep {best}' if best else ''}. {_look(alert)}"
    if alert.about == "verdict.finished":
        return f"{f'Keep {best}' if best else 'Read samples before using any checkpoint'}. {_look(alert)}"
    if alert.about == "silence":
        return "Check that the process is alive and its disk is writable."
    if alert.about == "action":
        return "Check that the run ended the way you want."
    if alert.severity == "critical":
        return f"Review now. {_look(alert)}"
    return f"Review when convenient; no stop recommended. {_look(alert)}"


def text(message: Message) -> str:
    """Return the message as plain text."""
    return "\n\n".join(blocks(message, SHOWN))


def blocks(message: Message, shown: int) -> list[str]:
    """Return the parts: the gravest alerts in full, critical ones and verdicts first; the others counted."""
    alerts = sorted(
        message.alerts, key=lambda one: (-SEVERITIES.index(one.severity), not one.about.startswith(VERDICT))
    )
    found = [AGAIN] if message.again else []
    found += [f"{title(alert)}\n{body(alert)}" for alert in alerts[:shown]]
    return [*found, counted(rest)] if (rest := alerts[shown:]) else found


def counted(alerts: Sequence[Alert]) -> str:
    """Return a sentence that counts alerts that are not shown."""
    kinds = Counter(alert.about for alert in alerts).most_common()
    named = ", ".join(f"{count} {printable(about)}" for about, count in kinds[:KINDS])
    others = sum(count for _, count in kinds[KINDS:])
    runs = len({alert.run for alert in alerts})
    tail = f", {others} of other kinds" if others else ""
    return f"And {len(alerts)} more from {runs} run{'s' * (runs != 1)}: {named}{tail}. See `leadline history`."


def run_of(alert: Alert) -> str:
    name = printable(alert.run)
    return name if len(name) <= LONGEST_RUN else f"…{name[1 - LONGEST_RUN :]}"


def clipped(text: str, most: int) -> str:
    """Return `text` cut to `most` characters, marked with an ellipsis.

    >>> clipped("a long sentence", 8)
    'a long …'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def escaped(text: str) -> str:
    """Return `text` without markup, for Slack notifications."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _look(alert: Alert) -> str:
    path, mark, _ = alert.run.rpartition("#")  # one run among several of a file
    words = ["leadline", "read", path or alert.run, *(["--all"] if mark else [])]
    return f"Full report: `{printable(shlex.join(words))}`"


class Undelivered(Exception):
    """Raised if a channel did not take a message. The text holds no secret and quotes no server."""

    def __init__(self, why: str, *, lasting: bool = False, after: float | None = None) -> None:
        super().__init__(why)
        self.lasting = lasting  # a retry would not help
        self.after = after  # seconds the receiver asked us to wait


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to reach someone."""

    name: str  # in the state file and in logs; holds no secret
    tell: Callable[[Message], None] = field(repr=False)  # raises Undelivered; runs in a thread of its own
    most: int = 10_000  # alerts in one message
    spacing: float = 0.0  # seconds between two messages


def within(seconds: float, work: Callable[[], _Result]) -> _Result:
    """Return the result of `work`; raise TimeoutError if it takes longer, as with a server that drips bytes. It is
    then left to a thread of its own, which ends when its socket does."""
    done: futures.Future[_Result] = futures.Future()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as error:
            done.set_exception(error)

    threading.Thread(target=run, name="leadline sends", daemon=True).start()
    try:
        return done.result(seconds)
    except futures.TimeoutError:  # before Python 3.11 one of its own
        raise TimeoutError from None


def short_name(text: str) -> str:
    """Return eight digits in place of a secret, the same for the same secret."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()[:8]


def broken_off(error: Exception) -> str:
    """Return what went wrong without quoting anything."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, socket.gaierror):
        return "can't be resolved"
    if isinstance(cause, TimeoutError):
        return "did not answer in time"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"has a certificate that can't be trusted ({cause.verify_message})"
    if isinstance(cause, ssl.SSLError):
        return "could not agree on encryption with us"
    if isinstance(cause, OSError) and cause.errno in NEVER_BEGUN:
        return f"can't be reached ({os.strerror(cause.errno)})"
    return f"broke off ({type(cause).__name__})"
