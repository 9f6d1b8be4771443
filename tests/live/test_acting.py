"""Acting: only beyond its bar, only where asked, only on the right process. The processes are real."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.errors import BadOrder
from leadline.judgement.decide import STOP
from leadline.live import acting
from leadline.live.acting import FOUND, PLATEAU, Decision, Said, Target, may_act
from leadline.live.process import Identity, NotTheSame, identify, send
from leadline.live.store import Store

TRAINER = """
import pathlib, signal, sys, time

def save(number, frame):
    pathlib.Path(sys.argv[1]).write_text(f"checkpoint after signal {number}")
    sys.exit(0)

signal.signal(signal.SIGTERM, save)
signal.signal(signal.SIGINT, save)
print("training", flush=True)
time.sleep(600)
"""
ENOUGH = Decision(True, "roll_back", 220, "3 looks from step 180 to 220 all say that the run should end", "ckpt/125")


class NoRecords:
    """What a new state file knows."""

    def names(self) -> dict[str, int]:
        return {}

    def actions(self, run: int) -> tuple[tuple[float, dict[str, object]], ...]:
        return ()

    def record_action(self, run: int, action: object, now: float) -> None:
        raise AssertionError


NOTHING = NoRecords()


@pytest.fixture
def train(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts processes that write a checkpoint when they are asked to end."""
    begun: list[subprocess.Popen[bytes]] = []

    def start(name: str = "checkpoint") -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", TRAINER, str(tmp_path / name)]
        one = subprocess.Popen(command, stdout=subprocess.PIPE)
        begun.append(one)
        assert one.stdout is not None
        assert one.stdout.readline() == b"training\n"
        return one

    yield start
    for one in begun:
        one.kill()
        one.wait()
        assert one.stdout is not None
        one.stdout.close()


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "state.db") as base:
        yield base


def looks(*said: tuple[int, str, float | None], found: bool = True, over: bool = False) -> list[Said]:
    return [Said(step, verdict, p, 1000, over, found) for step, verdict, p in said]


# --- the bar


def test_two_clear_looks_apart_are_enough_where_findings_testify() -> None:
    decision = may_act(looks((400, "roll_back", 0.08), (450, "stop", 0.06)))
    assert decision.act
    assert decision.why == (
        "2 looks from step 400 to 450 all say that the run should end; that going on pays had at most p 0.08"
    )


def test_a_plateau_must_hold_longer_and_be_surer() -> None:
    assert may_act(looks((400, "stop", 0.04), (500, "stop", 0.04), (600, "roll_back", 0.04), found=False)).act
    assert not may_act(looks((400, "stop", 0.04), (500, "stop", 0.04), (590, "stop", 0.04), found=False)).act
    assert not may_act(looks((400, "stop", 0.08), (500, "stop", 0.04), (600, "stop", 0.04), found=False)).act


def test_findings_that_came_late_count_from_when_they_came() -> None:
    plateau, found = looks((400, "stop", 0.08), found=False), looks((440, "stop", 0.08), (480, "stop", 0.08))
    assert not may_act([*plateau, *found]).act
    assert may_act([*plateau, *found, *looks((490, "stop", 0.08))]).act


@pytest.mark.parametrize(
    "said",
    [
        looks(),
        looks((450, "roll_back", 0.0)),  # one look
        looks((401, "roll_back", 0.0), (450, "roll_back", 0.0)),  # too close
        looks((400, "roll_back", 0.0), (450, "undecided", 0.0)),  # never on undecided
        looks((400, "roll_back", 0.0), (425, "continue", 0.6), (450, "roll_back", 0.0)),  # not in a row
        looks((400, "roll_back", 0.12), (450, "roll_back", 0.01)),  # enough to say, too little to act
        looks((400, "stop", None), (450, "stop", None)),  # nothing is known
        looks((750, "stop", 0.0), (1000, "stop", 0.0), over=True),  # it ends by itself
    ],
)
def test_less_is_not(said: list[Said]) -> None:
    decision = may_act(said)
    assert not decision.act
    assert decision.why


def test_the_bars_for_acting_are_higher_than_the_one_for_saying() -> None:
    assert max(FOUND.p, PLATEAU.p) < STOP
    assert min(FOUND.span, PLATEAU.span) > 0


# --- the right process


@pytest.mark.parametrize(("kind", "number"), [("sigterm", 15), ("sigint", 2)])
def test_a_training_is_asked_to_end_and_writes_its_checkpoint(
    train: Callable[..., subprocess.Popen[bytes]], tmp_path: Path, kind: str, number: int
) -> None:
    process = train()
    state, says = acting.act(ENOUGH, acting.target(f"{kind}:{process.pid}", NOTHING), dry=False)
    assert process.wait(30) == 0
    assert state == "done"
    assert says.startswith(f"Has sent {kind.upper()} to process {process.pid} ({sys.executable} -c")
    assert (tmp_path / "checkpoint").read_text() == f"checkpoint after signal {number}"


def test_it_is_killed_only_where_that_was_asked_for(
    train: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    process = train()
    acting.act(ENOUGH, acting.target(f"sigkill:{process.pid}", NOTHING), dry=False)
    assert process.wait(30) == -signal.SIGKILL
    assert not (tmp_path / "checkpoint").exists()


def test_a_dry_run_does_nothing(train: Callable[..., subprocess.Popen[bytes]], tmp_path: Path) -> None:
    process = train()
    state, says = acting.act(ENOUGH, acting.target(f"sigterm:{process.pid}", NOTHING), dry=True)
    assert state == "dry"
    assert says.startswith("Dry run: would have sent SIGTERM to process")
    time.sleep(0.2)
    assert process.poll() is None


def test_a_number_that_is_used_again_is_not_signalled(
    train: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """The same number, the same command line, another process."""
    first = train()
    target = acting.target(f"sigterm:{first.pid}", NOTHING)
    assert target.process is not None
    first.kill()
    first.wait()
    second = _with_number(first.pid, train)
    if second.pid != first.pid:  # where a number cannot be had again: the same is said of it
        target = replace(target, process=replace(target.process, pid=second.pid))
    state, says = acting.act(ENOUGH, target, dry=False)
    assert state == "refused"
    assert "borne by another process now" in says
    time.sleep(0.2)
    assert second.poll() is None
    assert not (tmp_path / "checkpoint").exists()


def _with_number(pid: int, train: Callable[..., subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """A process that bears `pid`, where the system lets us choose; other programs start processes too."""
    last = Path("/proc/sys/kernel/ns_last_pid")
    one = None
    for _ in range(20):
        try:
            last.write_text(str(pid - 1))
        except OSError:
            break
        one = train()
        if one.pid == pid:
            return one
    return one or train()


def test_a_process_that_became_another_program_is_not_signalled(tmp_path: Path) -> None:
    program = (
        "import os, sys; sys.stdin.readline(); os.execv(sys.executable, [sys.executable, '-c', 'input()', 'other'])"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as process:
        known = identify(process.pid)
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        until = time.monotonic() + 120
        while identify(process.pid).command == known.command and time.monotonic() < until:
            time.sleep(0.02)
        with pytest.raises(NotTheSame, match="command line"):
            send(known, signal.SIGTERM)
        assert process.poll() is None
        process.kill()


def test_a_process_that_has_ended_is_not_signalled(train: Callable[..., subprocess.Popen[bytes]]) -> None:
    process = train()
    known = identify(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and nobody has taken note: a zombie
    with pytest.raises(NotTheSame, match="has ended"):
        send(known, signal.SIGTERM)
    process.wait()
    with pytest.raises(NotTheSame, match="has ended"):
        send(known, signal.SIGTERM)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_process_of_somebody_else_is_left_alone(
    train: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    process = train()
    target = acting.target(f"sigterm:{process.pid}", NOTHING)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # as nobody
        try:
            os.setuid(65534)
            os.write(write, "|".join(acting.act(ENOUGH, target, dry=False)).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    state, says = os.read(read, 10_000).decode().split("|")
    os.close(read)
    assert state == "refused"
    assert "not permitted" in says
    assert process.poll() is None


def test_a_strange_name_does_not_confuse_it(tmp_path: Path) -> None:
    program = tmp_path / "a) S 1 (b"  # what a process is called stands in brackets in its record
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "600"]) as process:
        until = time.monotonic() + 120
        while identify(process.pid).command[-1:] != ("600",) and time.monotonic() < until:
            time.sleep(0.01)
        known = identify(process.pid)
        assert known.command == (str(program), "600")
        assert known.started.split()[0].isdecimal()
        send(known, signal.SIGTERM)
        assert process.wait(20) == -signal.SIGTERM


@pytest.mark.parametrize(
    "order", ["", "shoot", "sigterm", "sigterm:", "sigterm:abc", "sigterm:-5", "file:", "stop:now"]
)
def test_an_order_that_cannot_be_followed_says_what_can(order: str) -> None:
    with pytest.raises(BadOrder, match="cannot be followed"):
        acting.target(order, NOTHING)


@pytest.mark.parametrize("pid", [0, 1, os.getpid(), 2**30])
def test_processes_that_are_no_training_are_refused(pid: int) -> None:
    with pytest.raises(BadOrder, match="cannot be acted on"):
        acting.target(f"sigterm:{pid}", NOTHING)


# --- a stop file


def test_a_stop_file_says_why(tmp_path: Path) -> None:
    path = tmp_path / "stop"
    assert acting.act(ENOUGH, acting.target(f"file:{path}", NOTHING), dry=False)[0] == "done"
    assert json.loads(path.read_text()) == {
        "stop": True,
        "verdict": "roll_back",
        "step": 220,
        "why": ENOUGH.why,
        "best": "ckpt/125",
    }
    assert stat.S_IMODE(path.stat().st_mode) & 0o444 == 0o444


def test_a_stop_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "stop"
    path.write_text("mine")
    assert acting.act(ENOUGH, Target("file", path=path), dry=False)[0] == "done"
    assert path.read_text() == "mine"


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("/etc/hostname"), None])
def test_a_stop_file_that_cannot_be_written_is_said_so(tmp_path: Path, make: Callable[[Path], None] | None) -> None:
    path = tmp_path / "stop" if make else tmp_path / "no" / "stop"
    if make:
        make(path)
    state, says = acting.act(ENOUGH, Target("file", path=path), dry=False)
    assert state == "refused"
    assert "and did not" in says


# --- once, and written down


def states(base: Store, run: int) -> list[object]:
    return [action["state"] for _, action in base.actions(run)]


def test_the_first_use_is_a_dry_run_and_the_next_run_is_acted_on(state: Store, tmp_path: Path) -> None:
    first, second = (state.run(name, 0.0) for name in ("first", "second"))
    target = acting.target(f"file:{tmp_path / 'stop'}", NOTHING)
    done = acting.carry_out(state, first, ENOUGH, target, 0.0)
    assert done is not None
    assert (done.state, (tmp_path / "stop").exists()) == ("dry", False)
    assert acting.carry_out(state, first, ENOUGH, target, 1.0) is None  # told once
    done = acting.carry_out(state, second, ENOUGH, target, 2.0)
    assert done is not None
    assert (done.state, (tmp_path / "stop").exists()) == ("done", True)
    assert states(state, first) == ["dry"]
    assert states(state, second) == ["begun", "done"]


def test_who_insists_is_obeyed_at_once_even_after_a_dry_run(state: Store, tmp_path: Path) -> None:
    run, target = state.run("first", 0.0), acting.target(f"file:{tmp_path / 'stop'}", NOTHING)
    acting.carry_out(state, run, ENOUGH, target, 0.0)
    done = acting.carry_out(state, run, ENOUGH, target, 1.0, dry_run=False)
    assert done is not None
    assert done.state == "done"
    assert (tmp_path / "stop").exists()


def test_below_the_bar_nothing_is_done_or_written(state: Store, tmp_path: Path) -> None:
    run = state.run("first", 0.0)
    target = acting.target(f"file:{tmp_path / 'stop'}", NOTHING)
    assert acting.carry_out(state, run, replace(ENOUGH, act=False), target, 0.0, dry_run=False) is None
    assert states(state, run) == []


def test_a_training_gets_one_signal_however_often_it_is_looked_at(
    state: Store, train: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = train()
    target, run = acting.target(f"sigterm:{process.pid}", NOTHING), state.run("first", 0.0)
    done = [acting.carry_out(state, run, ENOUGH, target, float(now), dry_run=False) for now in range(5)]
    assert [one.state for one in done if one is not None] == ["done"]
    assert process.wait(30) == 0


def test_what_a_killed_watch_had_begun_is_not_done_twice(
    state: Store, train: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = train()
    target, run = acting.target(f"sigterm:{process.pid}", NOTHING), state.run("first", 0.0)
    begun = acting.Action("begun", "sigterm", 0, 220, target.told(), "", "")
    state.record_action(run, begun.as_data(), 0.0)  # and there the watch was killed
    assert acting.carry_out(state, run, ENOUGH, target, 1.0, dry_run=False) is None
    time.sleep(0.2)
    assert process.poll() is None


def test_a_log_that_began_anew_may_be_acted_on_anew(state: Store, tmp_path: Path) -> None:
    run, target = state.run("first", 0.0), acting.target(f"file:{tmp_path / 'stop'}", NOTHING)
    acting.carry_out(state, run, ENOUGH, target, 0.0, dry_run=False)
    (tmp_path / "stop").unlink()
    done = acting.carry_out(state, run, ENOUGH, target, 1.0, life=1, dry_run=False)
    assert done is not None
    assert (tmp_path / "stop").exists()


def test_a_watch_started_again_remembers_which_process_it_was(
    state: Store, train: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """The command line of the watch names only a number, and that may be another process by then."""
    process = train()
    run = state.run("first", 0.0)
    wanted = acting.remember(state, run, acting.target(f"sigterm:{process.pid}", NOTHING), 0.0)
    assert wanted.process is not None
    older = replace(wanted.process, started="1 an-earlier-boot")
    with Store(state.path.with_name("other.db")) as other:
        number = other.run("first", 0.0)
        acting.remember(other, number, replace(wanted, process=older), 0.0)
        again = acting.remember(other, number, acting.target(f"sigterm:{process.pid}", NOTHING), 1.0)
        assert again.process == older
        done = acting.carry_out(other, number, ENOUGH, again, 2.0, dry_run=False)
    assert done is not None
    assert done.state == "refused"
    assert process.poll() is None


def test_a_process_is_left_alone_where_it_could_belong_to_another_run(
    state: Store, train: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = train()
    target, run = acting.target(f"sigterm:{process.pid}", NOTHING), state.run("first", 0.0)
    done = acting.carry_out(state, run, ENOUGH, target, 0.0, dry_run=False, alone=False)
    assert done is not None
    assert done.state == "refused"
    assert "several runs are watched" in done.says
    assert acting.carry_out(state, run, ENOUGH, target, 1.0, dry_run=False, alone=False) is None  # said once
    time.sleep(0.2)
    assert process.poll() is None


def test_a_watch_started_again_after_the_training_has_ended_goes_on(
    state: Store, train: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = train()
    run, order = state.run("first", 0.0), f"sigterm:{process.pid}"
    acting.remember(state, run, acting.target(order, state), 0.0)
    process.kill()
    process.wait()
    with pytest.raises(BadOrder):
        acting.target(order, NOTHING)
    target = acting.remember(state, run, acting.target(order, state), 1.0)
    done = acting.carry_out(state, run, ENOUGH, target, 2.0, dry_run=False)
    assert done is not None
    assert done.state == "refused"
    assert "has ended" in done.says


def test_what_was_done_is_written_down_with_its_reason_and_told(state: Store, tmp_path: Path) -> None:
    run, target = state.run("first", 0.0), acting.target(f"file:{tmp_path / 'stop'}", NOTHING)
    done = acting.carry_out(state, run, ENOUGH, target, 5.0, dry_run=False)
    assert done is not None
    at, action = state.actions(run)[-1]
    assert at == 5.0
    assert (action["why"], action["step"], action["kind"]) == (ENOUGH.why, 220, "file")
    alert = acting.alert_of(done, "first")
    assert alert.says == f"Has written the file {tmp_path / 'stop'}. Why: {ENOUGH.why}."
    assert alert.best_checkpoint == "ckpt/125"
    assert alert.key == acting.alert_of(done, "first").key


def test_the_callback_is_asked_to_stop_only_after_a_real_decision(state: Store) -> None:
    first, second = (state.run(name, 0.0) for name in ("first", "second"))
    target = acting.target("stop", NOTHING)
    acting.carry_out(state, first, ENOUGH, target, 0.0)
    assert not acting.asked_to_stop(state.actions(first))
    acting.carry_out(state, second, ENOUGH, target, 1.0)
    assert acting.asked_to_stop(state.actions(second))
    assert not acting.asked_to_stop(state.actions(second), life=1)


def test_an_identity_survives_the_state_file() -> None:
    known = identify(os.getppid())
    assert Identity.from_data(json.loads(json.dumps(known.as_data()))) == known
