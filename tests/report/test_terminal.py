"""One screen: what weighs most is on it, nothing is said twice, and what did not fit is counted."""

from __future__ import annotations

import dataclasses
import fcntl
import functools
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from conftest import EXAMPLES
from found import quoting
from rich.cells import cell_len

from leadline import pipeline
from leadline.cli import main
from leadline.contract import Expected, Reading
from leadline.facts.finding import Finding, Move
from leadline.facts.judgement import Judgement, Reason
from leadline.facts.machine import Conflict, ProcessEffect
from leadline.facts.sections import RewardReading
from leadline.findings.generation_truncation import Truncation
from leadline.findings.reward_gamed import Gamed, ResponsesChanged
from leadline.findings.unexplained_break import SeriesMove, UnexplainedBreak
from leadline.report import terminal
from leadline.report.lines import labeled
from leadline.report.panels import pictures
from leadline.run import Event
from leadline.words.verdict import verdict_lines

LOOKS = [("healthy", 30), ("healthy", 354), ("collapsed", 230), ("collapsed", 524), ("hacked", 300), ("hacked", 679)]
SIZES = [(100, 30), (100, 29), (80, 24), (80, 23), (60, 30)]


@functools.cache
def reading(run: str, until: int) -> Reading:
    return pipeline.read(EXAMPLES / run, until=until)


def unwrapped(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def busy(findings: int, events: int = 30) -> Reading:
    """A reading that has more to say than a screen holds."""
    run = dataclasses.replace(
        reading("healthy", 30).run,
        events=tuple(Event("resume", step, f"resumed at step {step}") for step in range(events)),
    )
    severities = ("critical", "concern", "note")
    return dataclasses.replace(
        reading("healthy", 30),
        run=run,
        findings=tuple(
            quoting(f"{severity} process number {number} " + "of several " * 20, severity)
            for severity in severities
            for number in range(findings)
        ),
        benign=tuple(Expected("expected.odd", f"{number} is odd.", "it is normal") for number in range(9)),
    )


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize(("run", "until"), LOOKS)
def test_a_screen_is_never_too_long_or_too_wide(run: str, until: int, width: int, height: int) -> None:
    lines = terminal.render(reading(run, until), width=width, height=height).splitlines()
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize(("run", "until"), LOOKS)
def test_the_first_line_is_the_headline_and_a_screen_holds_what_it_rests_on(run: str, until: int) -> None:
    shown = terminal.render(reading(run, until), width=100, height=30)
    lines, said = shown.splitlines(), verdict_lines(reading(run, until))
    assert lines[0] == said.headline
    assert lines[1] == ""
    for label, says, *_ in said.lines:
        assert f"{label:<9}{says[:60]}" in unwrapped_rows(shown)
    assert sum("┤" in line for line in lines) == 2


def unwrapped_rows(shown: str) -> str:
    """Lines that go on below a margin, joined."""
    return re.sub(r"\n {9}(?=\S)", " ", shown)


@pytest.mark.parametrize("height", [30, 23])
@pytest.mark.parametrize("findings", [1, 4, 12])
def test_what_does_not_fit_is_folded_into_its_first_clause(findings: int, height: int) -> None:
    lines = terminal.render(busy(findings), width=80, height=height).splitlines()
    assert len(lines) <= height
    seen = sum(line.startswith(("critical", "concern", "note ")) for line in lines)
    also = [line for line in lines if line.startswith("also")]
    assert seen == 3 * findings or len(also) == 1


def test_the_heaviest_are_never_left_out_for_a_lighter_one() -> None:
    lines = terminal.render(busy(12), width=80, height=23).splitlines()
    assert any(line.startswith("critical") for line in lines)
    assert not any(line.startswith(("concern", "note", "normal")) for line in lines)


def test_truncation_is_told_once() -> None:
    cut = (Move("cut", 0.2, 0.9),)
    truncated = Finding("generation.truncation", 0.99, "concern", Truncation(0.2, 0.9))
    changed = Finding("generation.changed", 0.99, "note", ResponsesChanged(cut, 3, 3, 3, None, None))
    hacked = Finding("reward.gamed", 0.99, "critical", Gamed(False, cut, 3, 3, 3))
    broke = Finding("unexplained.break", 0.99, "note", UnexplainedBreak(9, (SeriesMove("kl/ref", rose=True),), ()))

    def told(*findings: Finding) -> str:
        gamed = (
            Reason("gamed", 0.99, 3, findings=("reward.gamed",)) if hacked in findings else Reason("flat", level=0.5)
        )
        judgement = Judgement("stop", gamed)
        return terminal.render(dataclasses.replace(reading("healthy", 30), findings=findings, judgement=judgement))

    assert "generation.changed" not in told(truncated, changed, broke)
    assert "generation.truncation" in told(truncated, changed, broke)
    assert "generation.truncation" not in told(hacked, truncated, broke)
    assert "reward.gamed" in told(hacked, truncated, broke)


def test_a_shortened_finding_keeps_its_id_and_says_that_it_was_cut() -> None:
    shown = unwrapped_rows(terminal.render(busy(2), width=60, height=30))
    cut = re.findall(r"^critical .*", shown, flags=re.MULTILINE)
    assert cut
    assert all(one.endswith(", 90%]") and "…" in one for one in cut)


@pytest.mark.parametrize(("run", "until"), LOOKS)
def test_captions_carry_the_curves(run: str, until: int) -> None:
    shown = terminal.render(reading(run, until), width=120)
    assert re.search(r"^reward   \S", shown, flags=re.MULTILINE)
    logged = {signal.name for signal in reading(run, until).run.signals}
    assert "KL to reference" in shown or "kl/ref" not in logged


def test_details_are_for_those_who_ask() -> None:
    shown, whole = (terminal.render(reading("collapsed", 524), verbose=verbose) for verbose in (False, True))
    for name in ("loss", "time", "event", "normal"):
        assert not re.search(rf"^{name} ", shown, flags=re.MULTILINE)
        assert re.search(rf"^{name} ", whole, flags=re.MULTILINE) or name == "normal"


@pytest.mark.parametrize(("run", "until"), LOOKS)
def test_nothing_is_drawn_after_the_end_of_a_run_that_has_ended(run: str, until: int) -> None:
    ended = dataclasses.replace(reading(run, until).judgement, ended="plan")
    finished = dataclasses.replace(reading(run, until), judgement=ended)
    drawn = pictures(finished)
    assert drawn
    assert all(one.now is None and one.steps[1] <= until for one in drawn)
    going_on = dataclasses.replace(reading(run, until), judgement=dataclasses.replace(ended, ended=None))
    for one in pictures(going_on):
        first, last = one.steps
        assert last - until <= (until - first) / 3 + 1


def test_the_future_is_drawn_only_where_there_is_one() -> None:
    one = reading("healthy", 30)
    assert "now 30" in terminal.render(one)
    seen = {
        name: dataclasses.replace(
            band, **{edge: getattr(band, edge)[: band.now + 1] for edge in ("steps", "low", "middle", "high")}
        )
        for name, band in one.chart_data.bands.items()
    }
    ended = dataclasses.replace(one, chart_data=dataclasses.replace(one.chart_data, bands=seen))
    assert not re.search(r"\bnow \d", terminal.render(ended, height=60).split("run ")[1].split("missing")[0])


def test_verbose_shows_everything() -> None:
    one = reading("hacked", 300)
    assert one.findings
    shown = unwrapped(terminal.render(one, verbose=True))
    for finding in one.findings:
        assert unwrapped(finding.say()) in shown
        assert finding.id in shown
    for expected in one.benign:
        assert unwrapped(expected.because) in shown
    for event in one.run.events:
        assert event.say() in shown


def test_a_process_is_told_once_however_often_it_ran() -> None:
    stretches = tuple(Conflict("merger", 0.97, ProcessEffect("slower", 2.0), wall, wall + 1.0) for wall in (1.0, 9.0))
    busy_machine = dataclasses.replace(reading("healthy", 30), conflicts=stretches)
    page = unwrapped(terminal.render(busy_machine, verbose=True))
    assert page.count("merger") == 1
    assert "merger (2 intervals): steps take 2× as long while it runs (97%)" in page


def test_a_path_that_is_too_long_keeps_its_end() -> None:
    one = dataclasses.replace(
        reading("healthy", 30), run=dataclasses.replace(reading("healthy", 30).run, path="/x" * 300 + "/end")
    )
    line = next(line for line in terminal.render(one).splitlines() if line.startswith("run"))
    assert "/end · TRL RLOO" in line


def test_a_word_of_a_megabyte_is_one_word_among_others() -> None:
    long = "x" * 1_000_000
    one = Reading(
        run=dataclasses.replace(reading("healthy", 30).run, path=long, notes=(long,), unread_keys=(long,)),
        reward=RewardReading(shape="undecided", probabilities={}, peak=None),
        findings=(quoting(long, "critical"),),
        judgement=Judgement(reason=Reason("no_numbers", points=3, key=long)),
    )
    lines = terminal.render(one).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100


ASKED = {
    "plain": ([], {}),
    "--no-color": (["--no-color", "--until", "30"], {}),
    "NO_COLOR": (["-v", "--until", "30"], {"NO_COLOR": "1"}),
    "dumb": (["-v", "--until", "30"], {"TERM": "dumb"}),
}
EACH = """
import json, os, sys
from leadline.cli import main
for words, environment in json.loads(sys.argv[1]):
    usual = dict(os.environ)
    os.environ.update(environment)
    if main(words):
        sys.exit("refused")
    os.environ.clear()
    os.environ.update(usual)
    print("\\0", flush=True)
"""


@pytest.fixture(scope="module")
def on_a_terminal() -> dict[str, str]:
    """What the command prints to a terminal of 80 columns and 24 rows, by how it is asked; one process prints all."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
    asked = [(["read", str(EXAMPLES / "collapsed"), *words], environment) for words, environment in ASKED.values()]
    with subprocess.Popen(
        [sys.executable, "-c", EACH, json.dumps(asked)],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**kept, "TERM": "xterm-256color"},
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other side has hung up
                break
            if not piece:
                break
            shown += piece
        assert process.wait() == 0
    os.close(ours)
    pages = [page.lstrip("\r\n") for page in shown.decode().split("\0")]
    return dict(zip(ASKED, pages, strict=False))


def test_a_terminal_gets_colour_and_one_screen_of_its_own_size(on_a_terminal: dict[str, str]) -> None:
    shown = on_a_terminal["plain"]
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert len(plain.splitlines()) <= 23
    assert max(map(cell_len, plain.splitlines())) <= 80


@pytest.mark.parametrize("how", ["--no-color", "NO_COLOR", "dumb"])
def test_colour_can_be_declined(how: str, on_a_terminal: dict[str, str]) -> None:
    shown = on_a_terminal[how]
    assert shown.startswith("CONTINUE")
    assert "\x1b" not in shown


def test_a_pipe_gets_the_plots_too_and_no_colour(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["read", str(EXAMPLES / "healthy")]) == 0
    shown = capfd.readouterr().out
    assert "\x1b" not in shown
    assert "┤" in shown


def test_a_fact_of_the_headline_is_not_told_again_below() -> None:
    said = terminal.render(pipeline.read(EXAMPLES / "collapsed", until=230))
    assert "reward collapsed at step 205, 0.983 → 0.000" in said
    assert "[reward.peaked" not in said
    assert said.count("heckpoint") == 1  # found none: not missing, too
    full = terminal.render(pipeline.read(EXAMPLES / "collapsed", until=230), verbose=True)
    assert "[reward.peaked" in full


@pytest.mark.parametrize(("run", "until", "broke"), [("collapsed", 230, True), ("hacked", 300, False)])
def test_a_timeline_has_an_order_unless_the_reward_dropped(run: str, until: int, broke: bool) -> None:
    lines = terminal.render(pipeline.read(EXAMPLES / run, until=until)).splitlines()
    assert all(broke or "→" in row for row in lines if row.startswith("timeline"))
    assert not broke or any(row.startswith("timeline") for row in lines)


def test_a_long_prompt_leaves_room_for_the_response() -> None:
    says = "step 1: the end of a prompt. A second sentence. → " + "word " * 80
    said = "".join(line.plain for line in labeled("then", says, 69, 2, quoted=True))
    assert "→ word" in said
    assert said.endswith("…")


def test_an_axis_always_has_an_end() -> None:
    for until in (204, 206, 210, 230):
        drawn = terminal.render(pipeline.read(EXAMPLES / "collapsed", until=until)).splitlines()
        assert any(f"now {until}" in row for row in drawn), until


def test_a_spike_is_shown_if_harm_was_done() -> None:
    assert "[stability.spike" not in terminal.render(pipeline.read(EXAMPLES / "collapsed", until=140))
    assert "[stability.spike" in terminal.render(pipeline.read(EXAMPLES / "collapsed", until=204))
