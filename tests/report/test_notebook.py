"""A reading in a notebook: a card of text and pictures that runs nothing and fetches nothing."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser

import pytest
from conftest import EXAMPLES
from found import quoting

import leadline
from leadline.digits import sure
from leadline.run import Event
from leadline.words import sentence
from leadline.words.verdict import verdict_lines

HOSTILE = "</div><script>alert(1)</script><img src=x onerror=alert(1)> ' \" &lt; \x1b[31m \u202e"


class Card(HTMLParser):
    """What a browser would meet."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def card(reading: leadline.Reading) -> Card:
    page = Card()
    page.feed(reading._repr_html_())
    page.close()
    assert page.open == []
    return page


@pytest.fixture(scope="module")
def reading() -> leadline.Reading:
    return leadline.read(EXAMPLES / "hacked", until=300)


def test_it_shows_verdict_findings_and_pictures(reading: leadline.Reading) -> None:
    page = card(reading)
    assert "svg" in page.tags
    for finding in reading.findings:
        assert f"{sentence(finding)} [{finding.id}, {sure(finding.p)}]" in page.text
    said = verdict_lines(reading)
    assert page.text.startswith(said.headline)
    assert all(f"{label} {says}" in page.text for label, says, *_ in said.lines)
    assert len(reading._repr_html_()) < 100_000


def test_text_of_a_log_is_text(reading: leadline.Reading) -> None:
    run = dataclasses.replace(
        reading.run, path=HOSTILE, framework=HOSTILE, notes=(HOSTILE,), events=(Event("resume", 1, HOSTILE),)
    )
    page = card(dataclasses.replace(reading, run=run, findings=(quoting(HOSTILE, "note"),)))
    assert page.tags <= {"div", "p", "strong", "span", "ul", "li", "details", "summary", "svg", "rect", "path", "text"}
    assert not any(name.startswith("on") or name in ("src", "href") for name in page.attributes)
    assert page.text.count("<script>alert(1)</script>") == 6  # the path twice: it is in the command to paste
    assert "\x1b" not in page.text


def test_nothing_is_fetched(reading: leadline.Reading) -> None:
    assert reading._repr_html_().replace("http://www.w3.org/2000/svg", "").count("://") == 0
