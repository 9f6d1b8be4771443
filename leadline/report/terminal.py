"""The reading as a short text for people."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from ..contract import Reading, RunSummary
from ..reading.finding import Finding
from .lines import field, page

NAME = "terminal"

STYLES = {"note": "", "concern": "yellow", "critical": "bold red"}
SHOWN = 6  # names a line of a short text can hold
NOTES = 3  # notes, events and normal things each in a text of one screen


def render(reading: Reading, *, color: bool = False, width: int = 100, verbose: bool = False) -> str:
    """A screenful: the verdict, what each section has to say, findings, and what could not be checked.

    Verbose: all of it, with the probabilities behind the words."""
    return page(_lines(reading, verbose), color=color, width=width)


def _lines(reading: Reading, verbose: bool) -> list[tuple[str, Text]]:
    run, reward = reading.run, reading.reward
    judgement = reading.judgement
    lines = [field("verdict", judgement.says, style="bold")]
    if judgement.would_change:
        look = "" if judgement.next_look_step is None else f" Look again at step {judgement.next_look_step}."
        lines.append(field("", f"What would change this: {'; '.join(judgement.would_change)}.{look}"))
    lines.append(field("run", _what_was_read(run)))
    lines.append(field("reward", f"{reward.shape}: {reward.says}" if reward.says else reward.shape, style="bold"))
    if verbose:
        lines.append(field("", _shares(reward.probabilities)))
        lines += [field("reward", f"{one.name}: {one.shape} (p = {one.p:.2f})") for one in reward.others]
    lines += _sections(reading, verbose)
    serious = [finding for finding in reading.findings if finding.severity != "note"]
    notes = [finding for finding in reading.findings if finding.severity == "note"]
    lines += [_found(finding) for finding in serious]
    lines += _some_of("note", [_found(finding) for finding in notes], verbose)
    lines += _some_of(
        "normal", [field("normal", f"{one.says.rstrip('.')}: {one.because}.") for one in reading.expected], verbose
    )
    lines += _some_of("event", [field("event", one.says) for one in run.events], verbose)
    lines += [field("note", note) for note in run.notes]
    if run.missing:
        lines.append(field("missing", ", ".join(one.what for one in run.missing)))
    if run.unread_keys:
        lines.append(field("unread", _names(run.unread_keys)))
    return lines


def _sections(reading: Reading, verbose: bool) -> list[tuple[str, Text]]:
    """KL against reward, the policy loss and the machine, where they have something to say."""
    kl, loss, machine = reading.kl_reward, reading.policy_loss, reading.resources
    lines = []
    if kl.says and (verbose or kl.regime not in ("undecided", "no_kl")):
        lines.append(field("kl", f"{kl.regime}: {kl.says}"))
    if loss.why and (verbose or loss.pattern != "undecided"):
        lines.append(field("loss", f"{loss.pattern.replace('_', ' ')}: {loss.why}"))
    if machine.phases:
        shares = ", ".join(f"{name} {use.share:.0%}" for name, use in machine.phases.items())
        slowest = f"; {machine.bottleneck} is the bottleneck" if machine.bottleneck else ""
        lines.append(field("time", shares + slowest))
    if verbose:
        lines += [field("time", note) for note in machine.notes]
        lines += [field("process", f"{one.process}: {one.effect} (p = {one.p:.2f})") for one in reading.conflicts]
        lines += [
            field("kl", f"steps {one.first_step} to {one.last_step}: {one.regime} (p = {one.p:.2f})")
            for one in kl.segments
        ]
    return lines


def _some_of(name: str, lines: list[tuple[str, Text]], verbose: bool) -> list[tuple[str, Text]]:
    """All of them, or the first few and how many there are besides."""
    if verbose or len(lines) <= NOTES + 1:
        return lines
    return [*lines[:NOTES], field(name, f"{len(lines) - NOTES} more (--verbose shows all)")]


def _shares(probabilities: Mapping[str, float]) -> str:
    ranked = sorted(probabilities.items(), key=lambda item: -item[1])
    return ", ".join(f"{word} {p:.2f}" for word, p in ranked if p >= 0.01)


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


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
