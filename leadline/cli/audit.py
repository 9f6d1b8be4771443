"""`leadline audit`: let a second reader grade what the policy wrote."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import budget_option, map_option, taking, until_option
from .screen import color, width

if TYPE_CHECKING:
    from ..audit.endpoint import Endpoint
    from ..audit.requests import Redaction


@dataclass(frozen=True, slots=True)
class AuditOptions:
    path: Path
    model: str | None
    endpoint: str | None
    key_env: str
    requests_to: Path | None
    answers_from: Path | None
    no_samples: bool
    redact: tuple[str, ...]
    calls: int
    tokens: int
    timeout: float
    until: int | None
    budget: int | None
    told: tuple[str, ...]
    as_json: bool
    no_color: bool


@click.command("audit")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--model", metavar="NAME", help="Model that reads, as its endpoint calls it.")
@click.option(
    "--endpoint", metavar="URL", help="OpenAI-compatible endpoint: the part before /chat/completions. With --model."
)
@click.option(
    "--key-env",
    default="OPENAI_API_KEY",
    show_default=True,
    metavar="NAME",
    help="Variable that holds the key.",
)
@click.option(
    "--requests",
    "requests_to",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write requests to DIR instead of calling a model.",
)
@click.option(
    "--answers",
    "answers_from",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Read grades from DIR.",
)
@click.option("--no-samples", is_flag=True, help="Send nothing the policy wrote: only our claims are checked.")
@click.option("--redact", multiple=True, metavar="REGEX", help="Leave out what matches. May be given several times.")
@click.option("--calls", type=click.IntRange(min=1), default=40, show_default=True, help="Calls at most.")
@click.option("--tokens", type=click.IntRange(min=1), default=200_000, show_default=True, help="Tokens at most.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=120.0, show_default=True, help="Seconds a call may take."
)
@until_option
@budget_option
@map_option
@click.option("--json", "as_json", is_flag=True, help="Print our reading and the audit as JSON.")
@click.option("--no-color", is_flag=True, help="Print plain text.")
@taking(AuditOptions)
def verb(options: AuditOptions) -> None:
    """Have a model or a person grade responses blind, and compare with the reward.

    Nothing is sent anywhere unless --model and --endpoint say where. The verdict is shown with and without it. Grades
    that can be trusted are kept as a review of the run (`leadline review`).

    Example: leadline audit outputs/grpo-run --requests asked
    """
    from ..audit import audit, prepare, review_of
    from ..audit.files import Folder, Remembering, write_requests
    from ..report.audit import as_data, render
    from ..report.data import dump
    from ..report.progress import progress_bar
    from ..review import store
    from ..sources import open_run
    from ..sources.mapping import parse_mapping
    from ..words.audit import requests_written, what_is_sent
    from ..words.review import saved

    ways = (options.model or options.endpoint, options.requests_to, options.answers_from)
    if ways.count(None) != 2 or (options.model is None) != (options.endpoint is None):
        raise click.UsageError("say who reads: --model with --endpoint, or --requests DIR, or --answers DIR")
    redaction, caller = _redaction(options.redact), _caller(options)
    with progress_bar():
        run = open_run(options.path, mapping=parse_mapping(options.told)).until(options.until)
        prepared = prepare(
            run, budget=options.budget, samples=not options.no_samples, redaction=redaction, now=time.time()
        )
    if options.requests_to is not None:
        write_requests(prepared.requests, options.requests_to)
        click.echo(requests_written(len(prepared.requests), str(options.requests_to)))
        return
    if caller is not None:
        sent = what_is_sent(len(prepared.requests), len(prepared.shown), prepared.tokens, caller.name)
        click.echo(sent, err=True)
        result = audit(prepared, Remembering(caller, _cache(caller)))
    else:
        assert options.answers_from is not None
        result = audit(prepared, Folder(options.answers_from))
    review = review_of(result)
    if review is not None:
        click.echo(saved(str(store.add(run.path, store.as_seen(review, run.rollouts)))), err=True)
    if options.as_json:
        click.echo(dump(as_data(result, prepared.reading)), nl=False)
    else:
        click.echo(render(result, prepared.reading, color=color(options.no_color), width=width()), nl=False)


def _redaction(told: tuple[str, ...]) -> Redaction:
    from ..audit.requests import Redaction

    try:
        return Redaction(tuple(re.compile(one) for one in told))
    except re.error as error:
        raise click.UsageError(f"--redact takes a regular expression: {error}") from None


def _caller(options: AuditOptions) -> Endpoint | None:
    """Who is called, if anybody is."""
    from ..audit.endpoint import Endpoint

    if options.model is None or options.endpoint is None:
        return None
    key = os.environ.get(options.key_env) or None
    return Endpoint(options.endpoint, options.model, key, options.timeout, options.calls, options.tokens)


def _cache(caller: Endpoint) -> Path:
    """Where answers of this reader are kept."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "leadline" / "audit" / blake2b(caller.name.encode(), digest_size=8).hexdigest()
