"""`leadline review`: record whether the responses are right, by a person, an agent, or a model."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..records import dataclass, replace
from .options import MAP, NO_COLOR, UNTIL, Number, argument, command, option
from .screen import color, width

if TYPE_CHECKING:
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
        "--model", metavar="NAME", help="Have this model grade the stretches, without scores. With --endpoint."
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
    redact: tuple[str, ...] = option(
        "--redact", metavar="REGEX", help="Remove text matching REGEX from what is sent. Repeatable."
    )
    timeout: float = option("--timeout", type=Number(1), default=120.0, help="Seconds per request.")
    reader: str = option("--reader", default="", metavar="NAME", help="Who reviewed it.")
    note: str = option("--note", default="", metavar="TEXT", help="A remark to keep with the review.")
    beside: bool = option("--beside", help="Save the review beside the run, so that it travels with it.")
    forget: bool = option("--forget", help="Delete all reviews of this run.")
    until: int | None = UNTIL
    told: tuple[str, ...] = MAP
    blind: bool = option("--blind", help="Show responses of the highest score alone, and no score.")
    as_json: bool = option("--json", help="Print JSON.")
    no_color: bool = NO_COLOR


@command("review", ReviewOptions)
def verb(options: ReviewOptions) -> None:
    """Judge sampled responses; your answer counts in every later verdict: `ok`, `hacked`, grades, or a model's grades.

    Without an answer it shows early and late responses of equal score, then five stretches of the run with responses of
    the highest and lowest score. With --model and --endpoint a model grades responses of the highest score, without
    steps and scores, twice. Its grades count only if both replies say the same, and if it grades responses worse under
    prompts that are not theirs. Nothing is sent anywhere else.

    Example: leadline review outputs/grpo-run --grades 0.2,0.6,0.9,0.5,0.1
    """
    from ..review import store
    from ..review.grades import review_of
    from ..sources import open_run
    from ..sources.mapping import parse_mapping
    from ..words import review as words

    _check(options)
    if options.forget:
        click.echo(words.forgotten(store.forget(str(options.path))))
        return
    run = open_run(options.path, mapping=parse_mapping(options.told)).until(options.until)
    if options.model is not None:
        _graded(options, run)
    elif options.answer is not None or options.grades is not None:
        review, says = review_of(
            run, answer=options.answer, since=options.since, grades=options.grades, reader=options.reader
        )
        _save(options, run, review, says, {})
    else:
        _show(options, run)


def _check(options: ReviewOptions) -> None:
    """Refuse options that contradict each other."""
    answers = options.answer is not None or options.grades is not None
    if answers + (options.model is not None) + options.forget > 1:
        raise click.UsageError("give an answer or --grades, or have a model grade, or --forget")
    if options.answer == "hacked" and options.since is None:
        raise click.UsageError("say since when: hacked --since STEP")
    if options.answer != "hacked" and options.since is not None:
        raise click.UsageError("--since goes with `hacked`")
    if (options.model is None) != (options.endpoint is None):
        raise click.UsageError("--model and --endpoint go together")


def _show(options: ReviewOptions, run: Run) -> None:
    from ..report import review as report
    from ..report.data import dump
    from ..review import grades, store
    from ..review.choose import BLIND

    sheet, kept = grades.sheet_to_read(run, blind=BLIND if options.blind else 0), store.load_of(run)
    if options.as_json:
        shown = dump(report.as_data(sheet, kept))
    else:
        shown = report.render(sheet, kept, str(options.path), color=color(options.no_color), width=width())
    click.echo(shown, nl=False)


def _graded(options: ReviewOptions, run: Run) -> None:
    """Have a model read the blind sheet; say what is sent before it is. Its `ok` takes back neither proof nor what a
    reader found."""
    from ..errors import LeadlineError
    from ..live.telling.message import within
    from ..pipeline import read_run
    from ..review.model import asking, questions, review_by
    from ..words import review as words
    from ..words.verdict import headline

    try:
        redact = [re.compile(one) for one in options.redact]
    except re.error as error:
        raise click.UsageError(f"--redact takes a regular expression: {error}") from None
    model, endpoint = options.model or "", options.endpoint or ""
    ask = asking(endpoint, model, os.environ.get(options.key_env), options.timeout)

    def reader(text: str) -> str:  # a byte now and then keeps a socket busy for ever
        try:
            return within(options.timeout, lambda: ask(text))
        except TimeoutError as error:
            raise LeadlineError(words.UNREACHED.format(type(error).__name__), next_step=words.READ_YOURSELF) from None

    asked = questions(run, redact)
    responses, tokens = sum(question.responses for question in asked), sum(question.tokens for question in asked)
    click.echo(words.what_is_sent(len(asked), responses, tokens, f"{model} at {endpoint}"), err=True)
    review, says = review_by(reader, run, asked, name=options.reader or model)
    before = read_run(run, charts="main")
    if review.answer == "ok" and any(one.id in ("reward.gamed", "reward.reviewed") for one in before.findings):
        raise LeadlineError(words.OVERRULES, next_step=words.READ_YOURSELF)
    verdicts = {
        "before": headline(before.judgement),
        "verdict": headline(read_run(replace(run, reviews=(review,)), charts="main").judgement),
    }
    _save(options, run, review, says, verdicts)


def _save(options: ReviewOptions, run: Run, review: Review, says: str, verdicts: Mapping[str, str]) -> None:
    """Save a review, and say what it is and why."""
    from ..report.data import dump
    from ..report.review import review_data
    from ..review import store
    from ..words import review as words

    review = replace(store.as_seen(review, run.rollouts), note=options.note)
    file = str(store.add(run.path, review, beside=options.beside))
    if options.as_json:
        told = {**review_data(review), "file": file, "says": says, "verdicts": verdicts}
        click.echo(dump(told), nl=False)
    else:
        lines = (words.said(review), says, words.SAVED.format(file))
        told_verdicts = (f"{name}: {headline}" for name, headline in verdicts.items())
        click.echo("\n".join(filter(None, (*lines, *told_verdicts))))
