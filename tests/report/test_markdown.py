"""Markdown: the screen as code, which no text of a log can end."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path

import pytest
from conftest import EXAMPLES
from found import quoting
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from leadline import pipeline
from leadline.cli import main
from leadline.contract import Reading
from leadline.report import markdown

HOSTILE = [
    "<script>alert(1)</script>",
    "![x](http://evil/x.png)",
    "[click](javascript:alert(1))",
    "</details>",
    "**bold** _slanted_ ~~gone~~ `code` ``` fence",
    "# heading\n- list\n> quote",
    "&lt;b&gt; &copy;",
    "$x^2$",
    "\\",
    "<!-- hidden",
]


@cache
def healthy() -> Reading:
    return pipeline.read(EXAMPLES / "healthy", until=10)


def saying(text: str) -> Reading:
    one = healthy()
    return dataclasses.replace(
        one,
        run=dataclasses.replace(one.run, path=text, unread_keys=(text,), notes=(text,)),
        findings=(quoting(text),),
    )


def parsed(text: str) -> list[str]:
    """The kinds of everything a reader of Markdown would make of it, in order."""
    tokens = MarkdownIt("commonmark").enable("strikethrough").parse(text)
    return [inner.type for token in tokens for inner in (token, *(token.children or ()))]


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_a_log_is_code(text: str, verbose: bool) -> None:
    assert parsed(markdown.render(saying(text), verbose=verbose)) == ["fence"]


@given(st.text(st.sampled_from("`~ \n-"), max_size=12))
def test_no_text_ends_the_code(text: str) -> None:
    assert parsed(markdown.render(saying(text), verbose=True)) == ["fence"]


def test_markdown_on_standard_output_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(EXAMPLES / "healthy"), "--until", "30", "--md", "-"]) == 0
    out = capsys.readouterr()
    assert out.out.startswith("```text\nCONTINUE · reward rising")
    assert "\noutlook  Continuing to step 354" in out.out
    assert out.out.endswith("\n```\n")
    assert out.err == ""


def test_a_file_leaves_the_screen_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(EXAMPLES / "healthy"), "--until", "30", "--md", str(tmp_path / "run.md")]) == 0
    assert capsys.readouterr().out.startswith("CONTINUE")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--all", "--md", "x.md"], "with --all"),
        (["--json", "--md", "-"], "both print"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(
    options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(EXAMPLES / "healthy"), *options]) == 2
    assert says in capsys.readouterr().err
