"""A run written by someone who means harm, in every format that is text: it stays text, and nothing in it is endless.
The page in a browser is in tests/report/html."""

from __future__ import annotations

import dataclasses

import pytest
from found import quoting
from hostile import ENDLESS, SCRIPT, WORDS
from markdown_it import MarkdownIt
from rich.cells import cell_len

import leadline
from leadline.facts.finding import Evidence
from leadline.report import markdown, terminal
from leadline.run import Event

OBEYED = {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), 0x2066, 0x200B)}


@pytest.fixture(scope="module")
def reading(meaning_harm: leadline.Reading) -> leadline.Reading:
    """The run as it is read, and hostile words also where only a reader of its samples would quote them."""
    one = meaning_harm
    words = (*WORDS, ENDLESS)
    findings = tuple(quoting(word, "critical", (Evidence(word, 1, 2),)) for word in words)
    run = dataclasses.replace(
        one.run,
        unread_keys=(ENDLESS, *one.run.unread_keys),
        notes=words,
        events=tuple(Event("resume", 1, word) for word in words),
    )
    return dataclasses.replace(one, run=run, findings=findings)


def test_the_run_holds_what_it_is_meant_to(reading: leadline.Reading) -> None:
    assert {SCRIPT, ENDLESS} <= set(reading.names)
    assert "\x1b[31m" in reading.run.path


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize(("width", "height"), [(100, 40), (80, 23)])
def test_a_terminal_obeys_nothing(reading: leadline.Reading, width: int, height: int, verbose: bool) -> None:
    lines = terminal.render(reading, width=width, height=height, verbose=verbose).splitlines()
    assert not set("".join(lines)) & OBEYED
    assert max(map(cell_len, lines)) <= width
    assert len(lines) <= (1000 if verbose else height)


def test_a_page_of_markdown_stays_text(reading: leadline.Reading) -> None:
    text = markdown.render(reading, verbose=True)
    assert not set(text) & OBEYED
    assert len(text) < 100_000
    tokens = [inner for token in MarkdownIt("commonmark").parse(text) for inner in (token, *(token.children or ()))]
    assert not {one.type for one in tokens} & {"html_inline", "html_block", "link_open", "image", "heading_open"}
    assert SCRIPT in "".join(token.content for token in tokens if token.type == "fence")


def test_json_keeps_all_of_it(reading: leadline.Reading) -> None:
    keys = reading.as_data()["run"]["unread_keys"]  # type: ignore[index]
    assert ENDLESS in keys
