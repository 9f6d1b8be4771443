"""The reading as a short text for people."""

from __future__ import annotations

from rich.text import Text

from ..contract import Reading, RunSummary
from ..reading.finding import Finding
from .lines import field, page

NAME = "terminal"

STYLES = {"note": "", "concern": "yellow", "critical": "bold red"}
SHOWN = 6  # names a line of a short text can hold


def render(reading: Reading, *, color: bool = False, width: int = 100) -> str:
    """A screenful: what was read, what the reward does, findings, and what could not be checked."""
    return page(_lines(reading), color=color, width=width)


def _lines(reading: Reading) -> list[tuple[str, Text]]:
    run, reward = reading.run, reading.reward
    lines = [field("run", _what_was_read(run))]
    lines.append(field("reward", f"{reward.shape}: {reward.says}" if reward.says else reward.shape, style="bold"))
    lines += [_found(finding) for finding in reading.findings]
    lines += [field("event", one.says) for one in run.events[:SHOWN]]
    if len(run.events) > SHOWN:
        lines.append(field("event", f"{len(run.events) - SHOWN} more (--json lists all)"))
    lines += [field("note", note) for note in run.notes]
    if run.missing:
        lines.append(field("missing", ", ".join(one.what for one in run.missing)))
    if run.unread_keys:
        lines.append(field("unread", _some(run.unread_keys)))
    return lines


def _what_was_read(run: RunSummary) -> str:
    who = run.framework or "unknown framework"
    if run.algorithm and not who.endswith(f"-{run.algorithm}"):
        who += f" ({run.algorithm})"
    span = "no step" if run.last_step is None else f"steps {run.first_step} to {run.last_step}"
    plan = f" of {run.planned_steps} planned" if run.planned_steps is not None else ""
    return f"{run.path} · {who} · {span}{plan} · {len(run.signals)} signals"


def _found(finding: Finding) -> tuple[str, Text]:
    sure = f"p = {finding.p:.2f}" if finding.p < 0.995 else "p > 0.99"  # a rounded 1.00 would claim too much
    return field(finding.severity, f"{finding.says} ({sure})", style=STYLES[finding.severity])


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
