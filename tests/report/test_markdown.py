"""Markdown: what a log says is shown as it stands, links nowhere and calls nobody."""

from __future__ import annotations

import dataclasses
import itertools
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
from leadline.digits import sure
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


def saying(text: str) -> Reading:
    one = pipeline.read(EXAMPLES / "healthy", until=10)
    return dataclasses.replace(
        one,
        run=dataclasses.replace(one.run, path=text, unread_keys=(text,), notes=(text,)),
        findings=(quoting(text),),
    )


@pytest.fixture(scope="module")
def quiet() -> Reading:
    return saying("nothing")


def parsed(text: str) -> list[str]:
    """The kinds of everything a reader of Markdown would make of it, in order. Text in pieces, some of them code, is
    text: neither is obeyed."""
    tokens = MarkdownIt("commonmark").enable("strikethrough").parse(text)
    kinds = [inner.type for token in tokens for inner in (token, *(token.children or ()))]
    plain = ["text" if kind == "code_inline" else kind for kind in kinds]
    return [kind for kind, _ in itertools.groupby(plain)]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_a_log_changes_nothing_but_the_text(text: str, quiet: Reading) -> None:
    assert parsed(markdown.render(saying(text))) == parsed(markdown.render(quiet))


@given(st.text(st.sampled_from("<>a1`*_~[]()!#+-=.:/&;|$\\ \n\t@é"), max_size=12) | st.text(max_size=30))
@pytest.mark.parametrize("before", ["- **concern** ", "- ", ""])
def test_no_text_becomes_anything_but_text(before: str, text: str) -> None:
    one = parsed(f"{before}{markdown.text(text) or 'nothing'}")
    assert one == parsed(f"{before}nothing")


@given(st.text(st.sampled_from("`a \\"), min_size=1, max_size=12))
def test_a_path_is_code_whatever_it_holds(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"{markdown.code(text)} · trl")
    kinds = [inner.type for token in tokens for inner in token.children or ()]
    assert kinds[:1] == ["code_inline"]


def test_nobody_is_called_and_no_issue_is_linked() -> None:
    tokens = MarkdownIt("commonmark").parse(markdown.text("by @octocat, see #12"))
    texts = "".join(inner.content for token in tokens for inner in token.children or () if inner.type == "text")
    assert "@" not in texts
    assert "#" not in texts


def test_no_mark_of_ours_is_to_be_seen(quiet: Reading) -> None:
    page = markdown.render(saying("`a_key` of @alice at <end> and \\(x\\) is 100 % * 2"))
    assert "\\`" not in page
    assert "\\<" not in page
    assert "\u200b" not in page
    assert "`a_key` of `@alice` at `<end>` and" in page


def test_plots_are_drawn_linked_from_where_the_page_lies_and_drawn_the_same_again(tmp_path: Path) -> None:
    page, folder = tmp_path / "notes" / "run.md", tmp_path / "pictures of it"
    page.parent.mkdir()
    assert main(["read", str(EXAMPLES / "hacked"), "--md", str(page), "--plots", str(folder)]) == 0
    assert sorted(file.name for file in folder.glob("*.svg")) == ["held-out.svg", "kl.svg", "reward.svg"]
    assert "](../pictures%20of%20it/reward.png)" in page.read_text()
    assert "⠁" not in page.read_text()
    first = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert main(["read", str(EXAMPLES / "hacked"), "--md", str(page), "--plots", str(folder)]) == 0
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == first


def test_markdown_on_standard_output_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(EXAMPLES / "healthy"), "--until", "30", "--md", "-"]) == 0
    out = capsys.readouterr()
    headline, _, lines = out.out.partition("\n\n")
    assert headline.startswith("**CONTINUE · reward rising")
    assert lines.startswith("- **outlook** Continuing to step 354")
    assert "\n- **best** Step " in lines
    assert "****" not in out.out
    assert "```text\nreward " in out.out
    assert out.err == ""


def test_findings_name_their_id_and_how_sure_they_are() -> None:
    reading = pipeline.read(EXAMPLES / "collapsed", until=230)
    page = markdown.render(reading)
    assert reading.findings
    for finding in reading.findings:
        assert f"`[{finding.id}, {sure(finding.p)}]`" in page


def test_a_file_leaves_the_screen_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(EXAMPLES / "healthy"), "--until", "30", "--md", str(tmp_path / "run.md")]) == 0
    assert capsys.readouterr().out.startswith("CONTINUE")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--plots", "x"], "needs --md"),
        (["--all", "--md", "x.md"], "with --all"),
        (["--json", "--md", "-"], "both print"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(
    options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(EXAMPLES / "healthy"), *options]) == 2
    assert says in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    command = ["read", str(EXAMPLES / "healthy"), "--until", "30", "--md", str(tmp_path / "x.md")]
    assert main([*command, "--plots", str(tmp_path / "file" / "plots")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert not (tmp_path / "x.md").exists()
