"""`leadline review`: record whether the responses are right, by a person, an agent, or a model."""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..records import dataclass, replace
from .options import COUNT, FOLDER, MAP, NO_COLOR, UNTIL, Number, argument, command, option
from .screen import color, width

if TYPE_CHECKING:
    from ..review.graded import BlindGrading
    from ..run import Review, Run


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    path: Path = argument()
    answer: str | None = argument(required=False, type=click.Choice(["ok", "hacked"]), metavar="[ok|hacked]")
    since: int | None = option("--since", metavar="STEP", help="With `hacked`: last step before the hacking began.")
    grades: str | None = option(
        "--grades", metavar="A,B,...", help="How well the task is done in each stretch shown, 0 to 1, or ? to skip one."
    )
    model: str | None = option(
        "--model", metavar="NAME", help="Have this model grade responses blind. With --endpoint."
    )
    endpoint: str | None = option(
        "--endpoint", metavar="URL", help="OpenAI-compatible endpoint: the part before /chat/completions."
    )
    key_env: str = option(
        "--key-env",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="Variable that holds the API key.",
    )
    requests_to: Path | None = option(
        "--requests", type=FOLDER, metavar="DIR", help="Write grading requests to DIR; call no model."
    )
    answers_from: Path | None = option(
        "--answers", type=FOLDER, metavar="DIR", help="Read replies to --requests from DIR."
    )
    redact: tuple[str, ...] = option(
        "--redact", metavar="REGEX", help="Remove text matching REGEX from requests. Repeatable."
    )
    max_calls: int = option("--max-calls", type=COUNT, default=40, help="Maximum calls.")
    max_tokens: int = option("--max-tokens", type=COUNT, default=200_000, help="Maximum tokens.")
    timeout: float = option("--timeout", type=Number(1), default=120.0, help="Seconds per call.")
    reader: str = option("--reader", default="", metavar="NAME", help="Who reviewed it.")
    note: str = option("--note", default="", metavar="TEXT", help="A remark to keep with the review.")
    beside: bool = option("--beside", help="Save the review beside the run, so that it travels with it.")
    forget: bool = option("--forget", help="Delete all reviews of this run.")
    until: int | None = UNTIL
    told: tuple[str, ...] = MAP
    blind: bool = option("--blind", help="Hide scores.")
    as_json: bool = option("--json", help="Print JSON.")
    no_color: bool = NO_COLOR

    @property
    def is_graded(self) -> bool:
        """Return whether responses are graded blind, one by one."""
        return any((self.model, self.endpoint, self.requests_to, self.answers_from))


@command("review", ReviewOptions)
def verb(options: ReviewOptions) -> None:
    """Judge sampled responses; your answer counts in every later verdict: `ok`, `hacked`, grades, or a model's grades.

    Without an answer it shows early and late responses of equal score, then five stretches of the run with responses of
    the highest and lowest score. With --model (or --requests and --answers) about 110 responses are graded without
    their score or step; grades count only if control samples show that the grader can be trusted. Nothing is sent
    anywhere unless --model and --endpoint say where.

    Example: leadline review outputs/grpo-run --grades 0.2,0.6,0.9,0.5,0.1
    """
    from ..review import store
    from ..sources import open_run
    from ..sources.mapping import parse_mapping
    from ..words import review as words

    _check(options)
    if options.forget:
        click.echo(words.forgotten(store.forget(str(options.path))))
        return
    run = open_run(options.path, mapping=parse_mapping(options.told)).until(options.until)
    if options.is_graded:
        _graded(options, run)
    elif options.answer is not None or options.grades is not None:
        _answered(options, run)
    else:
        _show(options, run)


def _check(options: ReviewOptions) -> None:
    """Refuse options that contradict each other."""
    answers = options.answer is not None or options.grades is not None
    if answers + options.is_graded + options.forget > 1:
        raise click.UsageError("give an answer or --grades, or have a model grade, or --forget")
    if options.answer == "hacked" and options.since is None:
        raise click.UsageError("say since when: hacked --since STEP")
    if options.answer != "hacked" and options.since is not None:
        raise click.UsageError("--since goes with `hacked`")
    ways = (options.model or options.endpoint, options.requests_to, options.answers_from)
    if options.is_graded and (ways.count(None) != 2 or (options.model is None) != (options.endpoint is None)):
        raise click.UsageError("say who grades: --model with --endpoint, or --requests DIR, or --answers DIR")


def _show(options: ReviewOptions, run: Run) -> None:
    from ..report import review as report
    from ..report.data import dump
    from ..review import grades, store

    sheet, kept = grades.sheet_to_read(run), store.load_of(run)
    if options.as_json:
        shown = dump(report.as_data(sheet, kept, blind=options.blind))
    else:
        colored = color(options.no_color)
        shown = report.render(sheet, kept, str(options.path), blind=options.blind, color=colored, width=width())
    click.echo(shown, nl=False)


def _answered(options: ReviewOptions, run: Run) -> None:
    from ..report.data import dump
    from ..report.review import review_data
    from ..review.grades import review_of

    review, says = review_of(
        run, answer=options.answer, since=options.since, grades=options.grades, reader=options.reader
    )
    file, lines = _saved(options, run, review)
    if options.as_json:
        click.echo(dump({**review_data(review), "note": options.note, "file": file}), nl=False)
    else:
        click.echo("\n".join(filter(None, (lines[0], says, lines[1]))))


def _graded(options: ReviewOptions, run: Run) -> None:
    """Have responses graded one by one, without their score or step."""
    from ..report.data import dump
    from ..report.review import graded_data, graded_lines
    from ..review.graded import graded_by, requests_for
    from ..review.graders import Endpoint, Folder
    from ..words import review as words

    try:
        redact = [re.compile(one) for one in options.redact]
    except re.error as error:
        raise click.UsageError(f"--redact takes a regular expression: {error}") from None
    endpoint = None
    if options.model is not None and options.endpoint is not None:
        key = os.environ.get(options.key_env) or None
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        digest = blake2b(f"{options.model} at {options.endpoint}".encode(), digest_size=8).hexdigest()
        replies = home / "leadline" / "review" / digest
        limits = options.timeout, options.max_calls, options.max_tokens
        endpoint = Endpoint(options.endpoint, options.model, key, *limits, replies)
    shown, requests = requests_for(run, redact)
    if options.requests_to is not None:
        from ..report.files import make_folder, write_whole

        make_folder(options.requests_to)
        for request in requests:
            write_whole(options.requests_to / f"{request.name}.json", dump(request.body()))
        click.echo(words.requests_written(len(requests), str(options.requests_to)))
        return
    if endpoint is not None:
        tokens = sum(request.tokens for request in requests)
        where = f"{options.model} at {options.endpoint}"
        click.echo(words.what_is_sent(len(requests), len(shown), tokens, where), err=True)
    told = graded_by(endpoint or Folder(options.answers_from or Path()), shown, requests)
    if told.review is not None and options.reader:
        told = replace(told, review=replace(told.review, reader=options.reader))
    verdicts = _verdicts(run, told)
    file, lines = ("", (words.NOT_SAVED,)) if told.review is None else _saved(options, run, told.review)
    if options.as_json:
        click.echo(dump({**graded_data(told), "verdicts": verdicts, "file": file}), nl=False)
    else:
        click.echo("\n".join((*graded_lines(told), *lines, *(f"{name}: {says}" for name, says in verdicts.items()))))


def _verdicts(run: Run, told: BlindGrading) -> dict[str, str]:
    """Return the headline with this review, and before it."""
    from ..pipeline import read_run
    from ..words.verdict import headline

    before = headline(read_run(run, charts="main").judgement)
    if told.review is None:
        return {"verdict": before}
    return {
        "before": before,
        "verdict": headline(read_run(replace(run, reviews=(told.review,)), charts="main").judgement),
    }


def _saved(options: ReviewOptions, run: Run, review: Review) -> tuple[str, tuple[str, str]]:
    """Save a review; return the file and what to say of it."""
    from ..review import store
    from ..words import review as words

    seen = store.as_seen(review, run.rollouts)
    file = str(store.add(run.path, seen, note=options.note, beside=options.beside))
    return file, (words.said(review, options.note), words.SAVED.format(file))
