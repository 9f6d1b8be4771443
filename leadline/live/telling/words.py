"""The words of an alert: what happened, what it rests on, what to do next. Calm, exact and short."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from ...report.plain import printable
from ..records import Alert
from .message import Message

SHOWN = 10  # alerts in full; the rest is counted
KINDS = 5  # of what is counted
LONGEST_RUN = 120  # characters of a run's name; the end of a path says most
CALLED = {"silence": "Silent", "action": "Action"}
VERDICT = "verdict."
AGAIN = "Resent: this may be a duplicate."


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
    """Return the parts of the text: the gravest alerts in full, the others counted."""
    alerts = message.gravest
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
