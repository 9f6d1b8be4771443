"""Acting: only beyond its bar, only where asked, only on the right process. The processes are real."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from live.scene import ENOUGH, NOT_YET, TRAINER, Scene, descendants
from waiting import PATIENCE, gone, wait_for

from leadline.cli import main
from leadline.errors import BadOrder
from leadline.judgement.decide import STOP
from leadline.live.acting.actor import Actor
from leadline.live.acting.orders import FOUND, PLATEAU, Action, Life, Order, Said, may_act, parse, said
from leadline.live.acting.process import Identity, identify
from leadline.live.acting.writer import RunFiles, Unclear, resolve
from leadline.live.store import Store


def looks(*said: tuple[int, str, float | None], found: bool = True, over: bool = False) -> list[Said]:
    return [Said(step, verdict, p, 1000, over, found) for step, verdict, p in said]


# --- the bar


def test_two_clear_looks_apart_are_enough_where_findings_testify() -> None:
    decision = may_act(looks((400, "roll_back", 0.07), (450, "stop", 0.06)))
    assert decision.act
    assert decision.why == ("2 checks from step 400 to 450 all recommend stopping; chance of gain at most 7%")


def test_a_plateau_must_hold_longer_and_be_surer() -> None:
    assert may_act(looks((400, "stop", 0.02), (500, "stop", 0.02), (600, "roll_back", 0.02), found=False)).act
    assert not may_act(looks((400, "stop", 0.02), (500, "stop", 0.02), (590, "stop", 0.02), found=False)).act
    assert not may_act(looks((400, "stop", 0.07), (500, "stop", 0.02), (600, "stop", 0.02), found=False)).act


def test_findings_that_came_late_count_from_when_they_came() -> None:
    plateau, found = looks((400, "stop", 0.07), found=False), looks((440, "stop", 0.07), (480, "stop", 0.07))
    assert not may_act([*plateau, *found]).act
    assert may_act([*plateau, *found, *looks((490, "stop", 0.07))]).act


@pytest.mark.parametrize(
    "said",
    [
        looks(),
        looks((450, "roll_back", 0.0)),  # one look
        looks((401, "roll_back", 0.0), (450, "roll_back", 0.0)),  # too close
        looks((400, "roll_back", 0.0), (450, "undecided", 0.0)),  # never on undecided
        looks((400, "roll_back", 0.0), (450, "finished", 0.0)),  # nor where it has ended by itself
        looks((400, "roll_back", 0.0), (425, "continue", 0.6), (450, "roll_back", 0.0)),  # not in a row
        looks((400, "roll_back", (FOUND.p + STOP) / 2), (450, "roll_back", 0.01)),  # enough to say, too little to act
        looks((400, "stop", None), (450, "stop", None)),  # nothing is known
        looks((750, "stop", 0.0), (1000, "stop", 0.0), over=True),  # it ends by itself
    ],
)
def test_less_is_not(said: list[Said]) -> None:
    assert not may_act(said).act


def test_the_bars_for_acting_are_higher_than_the_one_for_saying() -> None:
    assert max(FOUND.p, PLATEAU.p) < STOP
    assert min(FOUND.span, PLATEAU.span) > 0


@pytest.mark.parametrize(("ended", "planned"), [("trainer", None), ("silent", 1000), ("plan", 450)])
def test_a_run_that_is_over_is_never_acted_on(ended: str, planned: int | None) -> None:
    """Whatever its verdict says: nobody is there who could be stopped, or it stops by itself."""
    judgement = {"verdict": "stop", "p_continue_pays": 0.0, "because": ["x"], "best_checkpoint": None, "ended": ended}
    found = said({"run": {"first_step": 1, "last_step": 450, "planned_steps": planned}, "judgement": judgement})
    assert found is not None
    assert found.over
    assert not may_act([*looks((200, "stop", 0.0), (300, "stop", 0.0)), found]).act


# --- the right process


@pytest.mark.parametrize(("kind", "number"), [("sigterm", 15), ("sigint", 2)])
def test_a_training_is_asked_to_end_and_what_became_of_it_is_said(scene: Scene, kind: str, number: int) -> None:
    process = scene.train()
    actor, life = scene.actor(f"{kind}:{process.pid}"), scene.life()
    sent = actor.consider(life, ENOUGH, scene.run)
    assert process.wait(30) == 0
    assert sent is not None
    assert sent.state == "sent"
    assert sent.says.startswith(f"Has sent {kind.upper()} to process {process.pid} ({sys.executable} -u -c")
    assert "which has the log open for writing" in sent.says
    assert scene.signals() == [f"signal {number}"]
    done = actor.consider(life, ENOUGH, scene.run)
    assert done is not None
    assert (done.state, done.says) == ("done", f"The training has ended after {kind.upper()}.")
    assert actor.consider(life, ENOUGH, scene.run) is None
    assert scene.states() == ["begun", "sent", "done"]


def test_it_is_killed_only_where_that_was_asked_for(scene: Scene) -> None:
    process = scene.train()
    scene.actor(f"sigkill:{process.pid}").consider(scene.life(), ENOUGH, scene.run)
    assert process.wait(30) == -signal.SIGKILL
    assert scene.signals() == []


def test_by_itself_it_only_says_what_it_would_do(scene: Scene) -> None:
    process = scene.train()
    actor = Actor(scene.store, parse(f"sigterm:{process.pid}"))
    said = actor.consider(scene.life(), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "dry"
    assert said.says.startswith("Dry run: would have sent SIGTERM to process")
    assert actor.consider(scene.life(), ENOUGH, scene.run) is None  # told once
    assert actor.consider(scene.life("other"), ENOUGH, scene.run) is not None  # and of no run acted on
    insists = scene.actor(f"sigterm:{process.pid}").consider(scene.life(), ENOUGH, scene.run)
    assert insists is not None
    assert insists.state == "sent"
    assert process.wait(PATIENCE) == 0
    assert scene.signals() == ["signal 15"]  # the one of now


def test_what_would_have_been_done_is_a_table_with_its_reason_and_the_processes(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    process = scene.train()
    Actor(scene.store, parse(f"sigterm:{process.pid}")).consider(scene.life(), ENOUGH, scene.run)
    other = scene.train(through="{}; true")
    refused(scene, f"sigterm:{other.pid}")
    scene.store.close()
    assert main(["history", "--actions", "--state", str(scene.folder / "state.db")]) == 0
    table = capsys.readouterr().out
    assert "1 dry, 1 refused" in table
    assert f"sigterm:{process.pid}  run" in table
    assert ENOUGH.why in " ".join(table.split())
    assert f"{process.pid} < {os.getpid()}: {sys.executable}" in table  # who it is, below whom
    assert "/bin/bash -c" in table
    assert main(["history", "--state", str(scene.folder / "state.db")]) == 2
    assert main(["history", "--actions", "--json", "--state", str(scene.folder / "state.db")]) == 0


def test_below_the_bar_nothing_is_done_or_written(scene: Scene) -> None:
    process = scene.train()
    assert scene.actor(f"sigterm:{process.pid}").consider(scene.life(), NOT_YET, scene.run) is None
    assert scene.states() == []


def refused(scene: Scene, order: str, **options: object) -> str:
    """What is said where an order is refused; nothing was done."""
    now, known = [0.0], options.pop("known", None) or parse(order)
    actor = Actor(scene.store, known, dry=False, clock=lambda: now[0])  # type: ignore[arg-type]
    run = options.pop("run", scene.run)
    said = actor.consider(scene.life(), ENOUGH, run, **options)  # type: ignore[arg-type]
    now[0] = 601  # what may become clear is refused after a while
    said = said or actor.consider(scene.life(), ENOUGH, run, **options)  # type: ignore[arg-type]
    assert said is not None
    assert said.state == "refused", said
    assert "but did not" in said.says
    assert ": " in said.says.partition("but did not: ")[2], "a refusal names a remedy"
    assert scene.signals() == []
    return said.says


def test_a_process_that_has_nothing_to_do_with_the_run_is_left_alone(scene: Scene) -> None:
    scene.train()
    other = subprocess.Popen(["sleep", "600"])
    try:
        assert "writes the run: name that one" in refused(scene, f"sigterm:{other.pid}")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_where_nobody_is_seen_to_write_the_run_nothing_is_signalled(scene: Scene) -> None:
    other = subprocess.Popen(["sleep", "600"], cwd="/")
    try:
        assert "has the log open for writing, so its writer is not known" in refused(scene, f"sigterm:{other.pid}")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("reader", ["tail -f {}", "sleep 600 < {}"])
def test_who_only_reads_the_log_is_not_the_training(scene: Scene, reader: str) -> None:
    other = subprocess.Popen(
        ["/bin/bash", "-c", f"exec {reader.format(scene.log)}"], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: identify(other.pid).command[:1] not in ((), ("/bin/bash",)))
        assert refused(scene, f"sigterm:{other.pid}")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_number_that_is_used_again_is_not_signalled(scene: Scene) -> None:
    """The same number, the same command line, the same log, another process."""
    first = scene.train()
    order = parse(f"sigterm:{first.pid}")
    assert order.process is not None
    first.kill()
    first.wait()
    second = _with_number(first.pid, scene)
    if second.pid != first.pid:  # where a number cannot be had again: the same is said of it
        order = replace(order, process=replace(order.process, pid=second.pid))
    assert "its pid belongs to another process now" in refused(scene, "", known=order)
    assert second.poll() is None


def _with_number(pid: int, scene: Scene) -> subprocess.Popen[str]:
    """A training that bears `pid`, where the system lets us choose; other programs start processes too."""
    last = Path("/proc/sys/kernel/ns_last_pid")
    for _ in range(20):
        try:
            last.write_text(str(pid - 1))
        except OSError:
            break
        one = scene.train()
        if one.pid == pid:
            return one
        one.kill()
        one.wait()
    return scene.train()


def test_what_an_order_named_is_kept_from_the_start(scene: Scene) -> None:
    """A watch that is started again with the same words means the same process, not the one that has the number now."""
    process = scene.train()
    text = f"sigterm:{process.pid}"
    first = parse(text)
    assert first.process is not None
    older = replace(first, process=replace(first.process, started="1 an-earlier-boot"))
    scene.store.remember_order(text, older.as_data(), 0.0)
    again = parse(text, scene.store.order(text))
    assert again.process == older.process
    assert "its pid belongs to another process" in refused(scene, "", known=again)


def test_a_process_that_became_another_program_is_not_signalled(scene: Scene) -> None:
    program = (
        "import os, sys; log = open(sys.argv[1], 'a'); sys.stdin.readline();"
        "os.execv(sys.executable, [sys.executable, '-c', 'input()', 'other'])"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(scene.log)], stdin=subprocess.PIPE) as process:
        order = parse(f"sigterm:{process.pid}")
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert order.process is not None
        wait_for(lambda: identify(process.pid).command != order.process.command)
        assert "has the log open for writing" in refused(scene, "", known=order)
        assert process.poll() is None
        process.kill()


def test_a_process_that_has_ended_is_not_signalled(scene: Scene) -> None:
    process = scene.train()
    order = parse(f"sigterm:{process.pid}")
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and nobody has taken note: a zombie
    assert "has ended" in refused(scene, "", known=order)


def test_a_paused_process_is_left_to_whoever_paused_it(scene: Scene) -> None:
    process = scene.train()
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    assert "is paused" in refused(scene, f"sigterm:{process.pid}")
    process.send_signal(signal.SIGCONT)
    before = scene.log.stat().st_size
    wait_for(lambda: process.poll() is not None or scene.log.stat().st_size > before)  # a signal would come first
    assert process.poll() is None


def test_a_process_is_left_alone_where_it_could_belong_to_another_run(scene: Scene) -> None:
    process = scene.train()
    assert "several runs are watched" in refused(scene, f"sigterm:{process.pid}", alone=False)
    assert process.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_process_of_somebody_else_is_left_alone(scene: Scene) -> None:
    process = scene.train()
    order = parse(f"sigterm:{process.pid}")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # as nobody
        try:
            os.setuid(65534)
            resolve(order.process, scene.run, signal.SIGTERM)  # type: ignore[arg-type]
            os.write(write, b"resolved")
        except Unclear as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    said = os.read(read, 10_000).decode()
    os.close(read)
    assert "no process that you may inspect on this machine" in said
    assert process.poll() is None


def test_a_strange_name_does_not_confuse_it(tmp_path: Path) -> None:
    program = tmp_path / "a) S 1 (b"  # what a process is called stands in brackets in its record
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "600"]) as process:
        wait_for(lambda: identify(process.pid).command[-1:] == ("600",))
        known = identify(process.pid)
        assert known.command == (str(program), "600")
        assert known.started.split()[0].isdecimal()
        process.kill()


@pytest.mark.parametrize(
    "order",
    ["", "shoot", "sigterm", "sigterm:", "sigterm:abc", "sigterm:-5", "file:", "stop:now", "command:", "slurm:x",
     "kubectl:x", "ray:", "ray:--address", "slurm:12:explode", "command:'"],
)  # fmt: skip
def test_an_order_that_cannot_be_followed_says_what_can(order: str) -> None:
    with pytest.raises(BadOrder, match="--act"):
        parse(order)


def test_processes_that_are_no_training_are_refused() -> None:
    for pid in (0, 1, os.getpid(), 2**30):
        with pytest.raises(BadOrder, match="Can't act on"):
            parse(f"sigterm:{pid}")


@pytest.mark.parametrize("shell", [["bash"], ["bash", "-i"], ["sh"], [sys.executable], [sys.executable, "-i"]])
def test_what_somebody_types_into_is_refused(shell: list[str]) -> None:
    process = subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with pytest.raises(BadOrder, match="it is interactive"):
            parse(f"sigterm:{process.pid}")
    finally:
        process.kill()
        process.communicate()


def test_a_login_shell_above_a_training_is_refused(scene: Scene) -> None:
    """As in a terminal: the shell of the session, and the training below it."""
    script = scene.folder / "typed"
    script.write_text(f"{shlex.join([sys.executable, '-u', '-c', TRAINER, str(scene.log), str(scene.saved)])}; true\n")
    process = subprocess.Popen(
        ["/bin/bash", "-c", f"exec -a -bash bash --norc < {script}"], stdout=subprocess.PIPE, text=True
    )
    scene.begun.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "training\n"
    with pytest.raises(BadOrder, match="it is interactive"):
        parse(f"sigterm:{process.pid}")


def test_a_notebooks_kernel_is_not_ended(scene: Scene) -> None:
    kernel = scene.folder / "ipykernel_launcher.py"
    kernel.write_text(TRAINER)
    with subprocess.Popen(
        [sys.executable, str(kernel), str(scene.log), str(scene.saved)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"training\n"
        assert "notebook kernel" in refused(scene, f"sigterm:{process.pid}")
        said = scene.actor(f"sigint:{process.pid}").consider(scene.life(), ENOUGH, scene.run)
        assert said is not None
        assert said.state == "sent"
        process.wait(30)


def test_what_ignores_a_signal_is_not_sent_it(scene: Scene) -> None:
    program = (
        "import signal, sys, time; signal.signal(2, signal.SIG_IGN); log = open(sys.argv[1], 'a')\n"
        "print('up', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(scene.log)], stdout=subprocess.PIPE, text=True)
    scene.begun.append(process)
    assert process.stdout is not None
    process.stdout.readline()
    assert "ignores SIGINT" in refused(scene, f"sigint:{process.pid}")


def test_a_checkpoint_that_is_being_written_is_waited_for(scene: Scene) -> None:
    saving = scene.folder / "checkpoint-50" / "model.safetensors"
    saving.parent.mkdir()
    program = (
        "import sys, time; log = open(sys.argv[1], 'a'); out = open(sys.argv[2], 'w'); print('up', flush=True)\n"
        "sys.stdin.readline(); out.close(); print('saved', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(scene.log), str(saving)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    scene.begun.append(process)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "up\n"
    actor, life = scene.actor(f"sigterm:{process.pid}"), scene.life()
    assert actor.consider(life, ENOUGH, scene.run) is None  # it has no handler: it would be cut off
    assert process.poll() is None
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "saved\n"
    sent = actor.consider(life, ENOUGH, scene.run)
    assert sent is not None
    assert sent.state == "sent"
    assert process.wait(30) == -signal.SIGTERM


# --- launchers


@pytest.mark.parametrize(
    "through",
    ["{}; true", "while true; do {}; done", "({}); true", "{} | tee /dev/null; true", "timeout 600 {}; true"],
)
def test_a_script_is_never_signalled_for_the_training_it_runs(scene: Scene, through: str) -> None:
    process = scene.train(through=through)
    assert "which it has started: name that one (--act sigterm:" in refused(scene, f"sigterm:{process.pid}")
    assert process.poll() is None


def test_what_waits_for_a_training_goes_on_only_where_that_may_be(scene: Scene) -> None:
    """`train a; train b`: ending the first sends the queue on."""
    after = scene.folder / "next"
    process = scene.train(through=f"{{}}; touch {after}")
    (trains,) = [pid for pid in descendants(process.pid) if pid != process.pid]
    says = refused(scene, f"sigterm:{trains}")
    assert f"which may continue: pass sigterm:{trains}:next if it may" in says
    said = scene.actor(f"sigterm:{trains}:next").consider(scene.life(), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "sent"
    wait_for(after.exists)
    assert scene.signals() == ["signal 15"]


POLLS = """
import subprocess, sys, time
out = open(sys.argv[1], "a")
ranks = [subprocess.Popen(sys.argv[2:], stdout=out)]
while any(rank.poll() is None for rank in ranks): time.sleep(.05)
"""


def test_a_launcher_is_refused_and_who_trains_is_named(scene: Scene) -> None:
    command = [sys.executable, "-u", "-c", TRAINER, str(scene.log), str(scene.saved)]
    launcher = subprocess.Popen([sys.executable, "-c", POLLS, "/dev/null", *command], text=True)
    scene.begun.append(launcher)
    wait_for(lambda: scene.log.stat().st_size > 0)
    (trains,) = [pid for pid in descendants(launcher.pid) if pid != launcher.pid]
    says = refused(scene, f"sigterm:{launcher.pid}")
    assert "which it has started: name that one" in says
    assert f"--act sigterm:{trains}" in says
    said = scene.actor(f"sigterm:{trains}").consider(scene.life("other"), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "sent"
    assert launcher.wait(30) == 0


PRINTS = 'import time\nwhile True: print(\'{"step": 1, "reward": 2}\', flush=True); time.sleep(.02)'


def test_of_several_that_have_the_log_open_none_is_signaled(scene: Scene) -> None:
    """A launcher hands its child the log for its output, and keeps it open itself: who writes is not certain."""
    launcher = subprocess.Popen([sys.executable, "-c", POLLS, str(scene.log), sys.executable, "-c", PRINTS], text=True)
    scene.begun.append(launcher)
    wait_for(lambda: scene.log.stat().st_size > 0)
    (trains,) = [pid for pid in descendants(launcher.pid) if pid != launcher.pid]
    assert f"several processes ({launcher.pid}, {trains}) have the log open" in refused(scene, f"sigterm:{trains}")
    assert not gone(trains)


def test_a_shell_that_hands_its_log_to_the_training_is_not_the_writer(scene: Scene) -> None:
    command = f"exec >> {scene.log}; {shlex.join([sys.executable, '-c', PRINTS])}; true"
    process = subprocess.Popen(["/bin/bash", "-c", command], text=True)
    scene.begun.append(process)
    wait_for(lambda: scene.log.stat().st_size > 0)
    (trains,) = [pid for pid in descendants(process.pid) if pid != process.pid]
    said = scene.actor(f"sigterm:{trains}:next").consider(scene.life(), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "sent"
    wait_for(lambda: gone(trains))


def test_a_training_that_prints_into_another_programs_log_is_not_known(scene: Scene) -> None:
    command = f"{shlex.join([sys.executable, '-c', PRINTS])} | tee {scene.log} > /dev/null; true"
    process = subprocess.Popen(["/bin/bash", "-c", command], text=True)
    scene.begun.append(process)
    wait_for(lambda: scene.log.stat().st_size > 0)
    python, tee = [pid for pid in descendants(process.pid) if pid != process.pid]
    for pid in (python, tee):
        assert "(tee) passes on what is written elsewhere" in refused(scene, f"sigterm:{pid}:next")
    assert not gone(python)


def test_a_training_that_opens_its_log_for_every_row_is_not_known(scene: Scene) -> None:
    trainer = (
        "import sys, time\n"
        "while True:\n"
        "    with open(sys.argv[1], 'a') as log: log.write('{}\\n' * 20)\n"
        "    time.sleep(.2)"
    )
    process = subprocess.Popen([sys.executable, "-c", trainer, str(scene.log)], text=True)
    scene.begun.append(process)
    wait_for(lambda: scene.log.stat().st_size > 0)
    assert "LeadlineCallback(stop=True)" in refused(scene, f"sigterm:{process.pid}")
    now = [0.0]
    actor = scene.actor(f"sigterm:{process.pid}", clock=lambda: now[0])
    assert actor.sample(scene.run) is None
    now[0] = 31
    warning = actor.sample(scene.run)  # and that is said before it is needed
    assert warning is not None
    assert "would not be signaled" in warning


def test_a_worker_of_a_training_is_not_the_training(scene: Scene) -> None:
    trainer = (
        "import os, sys, time; log = open(sys.argv[1], 'a'); child = os.fork(); os.write(1, b'up\\n')\n"
        "while True: child and (log.write('row of a training\\n'), log.flush()); time.sleep(.05)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", trainer, str(scene.log)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    scene.begun.append(process)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["up\n"] * 2
    (worker,) = [pid for pid in descendants(process.pid) if pid != process.pid]
    for pid in (worker, process.pid):
        assert "have the log open for writing" in refused(scene, f"sigterm:{pid}")
    assert not gone(worker)


def test_rows_from_before_the_process_was_named_are_not_held_against_it(scene: Scene) -> None:
    """A training was started again and goes on with the log; or a script ran another and became this one."""
    process = scene.train()
    actor, now = scene.actor(f"sigterm:{process.pid}"), time.time()
    assert actor.older(RunFiles((scene.log,))) == float("inf")
    assert actor.older(RunFiles((scene.log,), dates=((now - 60, 10), (now + 1, 190)))) == 190
    rows = np.array([10, 180, 190]), np.array([now - 60, now + 1, now + 2])
    assert actor.older(RunFiles((scene.log,), rows=rows)) == 180
    assert actor.older(RunFiles((scene.log,), writers=(identify(process.pid),))) == float("-inf")


def test_a_process_that_trains_two_runs_is_left_alone(scene: Scene) -> None:
    program = (
        "import sys, time; logs = [open(path, 'a') for path in sys.argv[1:]]\n"
        "for step in range(10000):\n"
        "    for place, log in enumerate(logs):\n"
        '        row = \'{"step": %d, "critic/score/mean": %f}\\n\' % (step, .3 + place + step % 5 / 10)\n'
        "        log.write(row); log.flush()\n"
        "    time.sleep(.02)"
    )
    other = scene.folder / "other" / "metrics.jsonl"
    other.parent.mkdir()
    process = subprocess.Popen([sys.executable, "-c", program, str(scene.log), str(other)], text=True)
    scene.begun.append(process)
    wait_for(lambda: other.exists() and other.read_bytes().count(b"\n") > 20)
    assert f"trains {other} too" in refused(scene, f"sigterm:{process.pid}")
    assert process.poll() is None


def test_what_goes_on_writing_after_the_signal_is_told_and_not_called_ended(scene: Scene) -> None:
    """The process that was signalled leaves one behind that has the log open and writes."""
    program = (
        "import os, sys, time, signal; log = open(sys.argv[1], 'a')\n"
        "if os.fork() == 0:\n"
        "    signal.signal(15, signal.SIG_IGN); mother = os.getppid(); log.close()\n"
        "    while os.getppid() == mother: time.sleep(.01)\n"
        "    log = open(sys.argv[1], 'a')\n"
        "while True: log.write('row of a training\\n'); log.flush(); time.sleep(.02)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(scene.log)], text=True)
    scene.begun.append(process)
    wait_for(lambda: scene.log.stat().st_size > 0)
    (orphan,) = [pid for pid in descendants(process.pid) if pid != process.pid]
    actor, life = scene.actor(f"sigterm:{process.pid}"), scene.life()

    def is_writing() -> bool:
        return str(scene.log) in {os.path.realpath(one) for one in Path(f"/proc/{orphan}/fd").iterdir()}

    wait_for(lambda: not is_writing())
    said = actor.consider(life, ENOUGH, scene.run)
    assert said is not None
    assert said.state == "sent"
    process.wait(30)
    wait_for(is_writing)
    told: list[Action] = []
    wait_for(lambda: (one := actor.consider(life, ENOUGH, scene.run)) is not None and not told.append(one))
    assert told[0].state == "orphan"
    assert f"process {orphan}" in told[0].says
    assert "stop it by hand" in told[0].says
    os.kill(orphan, signal.SIGKILL)
    wait_for(lambda: (one := actor.consider(life, ENOUGH, scene.run)) is not None and not told.append(one))
    assert told[1].state == "done"


def test_a_training_that_does_not_end_is_spoken_of_and_killed_only_where_asked(scene: Scene) -> None:
    now = [0.0]
    process = scene.train("600")
    actor, life = scene.actor(f"sigterm:{process.pid}", clock=lambda: now[0]), scene.life()
    actor.consider(life, ENOUGH, scene.run)
    wait_for(lambda: scene.signals() == ["signal 15"])
    assert actor.consider(life, ENOUGH, scene.run) is None
    now[0] = 61
    said = actor.consider(life, ENOUGH, scene.run)
    assert said is not None
    assert said.says == f"The training (process {process.pid}) is still alive 61 s after SIGTERM; it may be saving."
    now[0] = 1e6
    assert actor.consider(life, ENOUGH, scene.run) is None
    assert process.poll() is None
    harder = scene.actor(f"sigterm:{process.pid}", clock=lambda: now[0], then="sigkill", after=300.0)
    assert harder.consider(life, ENOUGH, scene.run) is None  # its time begins when this watch first sees it so
    now[0] += 301
    said = harder.consider(life, ENOUGH, scene.run)
    assert said is not None
    assert said.state == "escalated"
    assert process.wait(30) == -signal.SIGKILL
    wait_for(lambda: gone(process.pid))
    done = harder.consider(life, ENOUGH, scene.run)
    assert done is not None
    assert done.says == "The training has ended after SIGKILL."
    assert scene.signals() == ["signal 15"]


def test_a_signal_that_costs_the_last_state_is_warned_of(scene: Scene) -> None:
    program = "import sys, time; log = open(sys.argv[1], 'a'); print('up', flush=True); time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", program, str(scene.log)], stdout=subprocess.PIPE, text=True)
    scene.begun.append(process)
    assert process.stdout is not None
    process.stdout.readline()
    warning = scene.actor(f"sigterm:{process.pid}").sample(scene.run)
    assert warning is not None
    assert "has no handler for SIGTERM" in warning
    careful = scene.train()
    assert scene.actor(f"sigterm:{careful.pid}").sample(scene.run) is None


def test_a_training_that_something_starts_again_is_left_alone_and_said_so(scene: Scene) -> None:
    process = scene.train()
    actor, life = scene.actor(f"sigterm:{process.pid}"), scene.life()
    actor.consider(life, ENOUGH, scene.run)
    process.wait(30)
    wait_for(lambda: actor.consider(life, ENOUGH, scene.run) is not None)
    again = scene.train()
    said = actor.consider(life, ENOUGH, scene.run, grew=True)
    assert said is not None
    assert "something restarted it" in said.says
    assert actor.consider(life, ENOUGH, scene.run, grew=True) is None
    assert again.poll() is None


def test_two_watches_of_one_run_signal_it_once(scene: Scene, tmp_path: Path) -> None:
    process = scene.train("600")  # it saves until both have acted
    scene.actor(f"sigterm:{process.pid}").consider(scene.life(), ENOUGH, scene.run)
    with Store(tmp_path / "other.db") as other:
        second = Actor(other, parse(f"sigterm:{process.pid}"), dry=False)
        said = second.consider(Life(other.run("run", 0.0), "run"), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "refused"
    assert "another watch acts on it" in said.says
    wait_for(scene.signals)
    assert scene.signals() == ["signal 15"]


# --- a stop file, a command


def test_a_stop_file_says_why(scene: Scene) -> None:
    path = scene.folder / "stop"
    done = scene.actor(f"file:{path}").consider(scene.life(), ENOUGH, scene.run)
    assert done is not None
    assert done.state == "done"
    assert json.loads(path.read_text()) == {
        "stop": True,
        "verdict": "roll_back",
        "step": 220,
        "why": ENOUGH.why,
        "best": "ckpt/125",
    }
    assert stat.S_IMODE(path.stat().st_mode) & 0o444 == 0o444


def test_a_stop_file_that_is_there_is_left_as_it_is(scene: Scene) -> None:
    path = scene.folder / "stop"
    path.write_text("mine")
    done = scene.actor(f"file:{path}").consider(scene.life(), ENOUGH, scene.run)
    assert done is not None
    assert done.state == "done"
    assert path.read_text() == "mine"


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("/etc/hostname"), None])
def test_a_stop_file_that_cannot_be_written_is_said_so(scene: Scene, make: Callable[[Path], None] | None) -> None:
    path = scene.folder / "stop" if make else scene.folder / "no" / "stop"
    if make:
        make(path)
    refused(scene, f"file:{path}")


def finished(scene: Scene, actor: Actor) -> Action:
    found: list[Action] = []
    wait_for(lambda: (said := actor.consider(scene.life(), ENOUGH, scene.run)) is not None and not found.append(said))
    return found[0]


def test_a_command_gets_the_verdict_in_its_environment(scene: Scene) -> None:
    out = scene.folder / "out"
    words = shlex.join(["/bin/sh", "-c", f'echo "$LEADLINE_VERDICT $LEADLINE_STEP $LEADLINE_BEST" >> {out}'])
    done = finished(scene, scene.actor(f"command:{words}"))
    assert done.state == "done"
    assert out.read_text() == "roll_back 220 ckpt/125\n"
    assert scene.actor(f"command:{words}").consider(scene.life(), ENOUGH, scene.run) is None
    assert out.read_text() == "roll_back 220 ckpt/125\n"


def test_a_command_that_fails_is_told_in_its_own_words(scene: Scene) -> None:
    failed = finished(scene, scene.actor("command:/bin/sh -c 'echo no such job >&2; exit 3'"))
    assert failed.state == "failed"
    assert "exit code 3: no such job" in failed.says
    assert "was not found" in refused_command(scene)


def refused_command(scene: Scene) -> str:
    said = scene.actor("command:no-such-program").consider(scene.life(), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "refused"
    return said.says


# --- once, and written down


def test_a_training_gets_one_signal_however_often_it_is_looked_at(scene: Scene) -> None:
    process = scene.train("600")
    for _ in range(5):
        scene.actor(f"sigterm:{process.pid}").consider(scene.life(), ENOUGH, scene.run)
    wait_for(scene.signals)
    assert scene.signals() == ["signal 15"]


def begun(scene: Scene, order: Order) -> None:
    """As a watch leaves it that was killed right after it wrote down what it was about to do."""
    action = Action("begun", order.kind, order.text, 0, 1, 220, order.told(), "", "why")
    scene.store.record_action(scene.life().run, asdict(action), 0.0)


def test_what_a_killed_watch_may_have_done_is_not_done_twice(scene: Scene) -> None:
    process = scene.train("600")
    order = parse(f"sigterm:{process.pid}")
    begun(scene, order)
    said = Actor(scene.store, order, dry=False).consider(scene.life(), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "failed"
    assert "Check it" in said.says
    assert process.poll() is None
    assert scene.signals() == []


def test_a_signal_that_would_have_ended_the_training_was_never_sent(scene: Scene) -> None:
    process = scene.train()
    order = parse(f"sigkill:{process.pid}")
    begun(scene, order)
    sent = Actor(scene.store, order, dry=False).consider(scene.life(), ENOUGH, scene.run)
    assert sent is not None
    assert sent.state == "sent"
    assert process.wait(30) == -signal.SIGKILL


def test_a_training_that_ended_while_the_watch_was_down_got_the_signal(scene: Scene) -> None:
    process = scene.train()
    order = parse(f"sigterm:{process.pid}")
    begun(scene, order)
    process.terminate()
    assert process.wait(30) == 0
    actor = Actor(scene.store, order, dry=False)
    assert [actor.consider(scene.life(), ENOUGH, scene.run).state for _ in range(2)] == ["sent", "done"]  # type: ignore[union-attr]


def test_a_command_that_a_killed_watch_had_begun_is_not_repeated(scene: Scene) -> None:
    order = parse(f"command:touch {scene.folder / 'out'}")
    begun(scene, order)
    said = Actor(scene.store, order, dry=False).consider(scene.life(), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "failed"
    assert not (scene.folder / "out").exists()


def test_a_resumed_run_may_be_acted_on_anew(scene: Scene) -> None:
    path = scene.folder / "stop"
    actor = scene.actor(f"file:{path}")
    for where in ({}, {"attempt": 2}, {"life": 1}):
        done = actor.consider(scene.life(**where), ENOUGH, scene.run)
        assert done is not None
        assert path.exists()
        path.unlink()
        assert actor.consider(scene.life(**where), ENOUGH, scene.run) is None


def test_what_was_done_is_written_down_with_its_reason_and_told(scene: Scene) -> None:
    path = scene.folder / "stop"
    actor = scene.actor(f"file:{path}", channels=("stdout",), wall=lambda: 5.0)
    done = actor.consider(scene.life(), ENOUGH, scene.run)
    assert done is not None
    at, action = scene.store.actions(scene.life().run)[-1]
    assert at == 5.0
    assert (action["why"], action["step"], action["kind"]) == (ENOUGH.why, 220, "file")
    (delivery,) = scene.store.pending_alerts(6.0)
    assert delivery.alert.says == f"Has written the file {path}. Why: {ENOUGH.why}."
    assert delivery.alert.best_checkpoint == "ckpt/125"


def test_the_callback_is_asked_to_stop_only_after_a_real_decision(scene: Scene) -> None:
    dry = Actor(scene.store, parse("stop"))
    dry.consider(scene.life(), ENOUGH, scene.run)
    assert not dry.asks_to_stop(scene.life())
    real = scene.actor("stop")
    real.consider(scene.life(), ENOUGH, scene.run)
    assert real.asks_to_stop(scene.life())
    assert not real.asks_to_stop(scene.life(attempt=2))
    assert not real.asks_to_stop(scene.life(life=1))


def test_an_identity_survives_the_state_file() -> None:
    known = Identity(7, "1 boot", ("python", "train.py"))
    assert Identity.from_data(json.loads(json.dumps(asdict(known)))) == known
