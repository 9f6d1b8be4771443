"""Scenes in which it is easy to signal the wrong process: other runs, other containers, servers beside a training,
what only passes a log on, several watches. The processes are real."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from live.scene import ENOUGH, NOT_YET, TRAINER, Scene, descendants
from waiting import gone, wait_for

from leadline.live.acting import actor
from leadline.live.acting.actor import Actor
from leadline.live.acting.orders import Life, parse
from leadline.live.acting.process import Identity, look
from leadline.live.acting.writer import RunFiles
from leadline.live.store import Store
from leadline.sources import find_runs

# A training that opens its log for every row, so it is hardly ever met with it open.
OPENS = """
import signal, sys, time
signal.signal(15, lambda *_: (open(sys.argv[2], 'a').write('signal 15\\n'), sys.exit(0)))
while True:
    with open(sys.argv[1], 'a') as log: log.write('{}\\n' * 20)
    time.sleep(.2)
"""
# A server beside it that keeps a log of its own in the run's folder.
SERVES = "import sys, time; log = open(sys.argv[1], 'a'); log.write('up\\n'); log.flush(); time.sleep(600)"
PRINTS = "import time; print('up', flush=True); time.sleep(600)"


def begin(scene: Scene, *words: str, **options: object) -> subprocess.Popen[str]:
    process = subprocess.Popen(words, text=True, **options)  # type: ignore[call-overload]
    scene.begun.append(process)
    return process


def told(scene: Scene, pid: int, run: RunFiles | None = None, name: str = "run") -> str:
    """What is said when a process is to be signalled."""
    run, now = run or scene.run, [0.0]
    actor = scene.actor(f"sigterm:{pid}", clock=lambda: now[0])
    said = actor.consider(scene.life(name), ENOUGH, run)
    if said is None:  # it may become clear; after a while it is refused
        now[0] = 601
        said = actor.consider(scene.life(name), ENOUGH, run)
    assert said is not None
    return said.says


@pytest.mark.parametrize("same_user", [True, False])
def test_two_watches_signal_once_wherever_their_state_is(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same_user: bool
) -> None:
    """Each with its own idea of where state lies; one of another user finds the claim beside the run."""
    process = scene.train("600")  # it saves until both have acted
    scene.actor(f"sigterm:{process.pid}").consider(scene.life(), ENOUGH, scene.run)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    if same_user:
        shutil.rmtree(scene.log.parent / actor.BESIDE)
    else:
        monkeypatch.setattr(actor, "FIXED", tmp_path / "others")
    with Store(tmp_path / "other.db") as other:
        second = Actor(other, parse(f"sigterm:{process.pid}"), dry=False)
        said = second.consider(Life(other.run("run", 0.0), "run"), ENOUGH, scene.run)
    assert said is not None
    assert "another watch acts on it" in said.says
    wait_for(scene.signals)
    assert scene.signals() == ["signal 15"]


def test_claims_do_not_look_like_runs(scene: Scene, tmp_path: Path) -> None:
    process = scene.train()
    scene.actor(f"sigterm:{process.pid}").consider(scene.life(), ENOUGH, scene.run)
    process.wait(30)
    row = '{"step": %d, "critic/score/mean": 0.5}\n'
    scene.log.write_text("".join(row % step for step in range(1, 20)))
    assert (scene.log.parent / actor.BESIDE).is_dir()
    found = find_runs(scene.log.parent)
    assert [[one.path for one in run.carriers] for run in found.runs] == [[scene.log]]


def test_a_journal_of_another_machine_names_nobody_here(scene: Scene) -> None:
    """The number is that of an innocent process of this machine."""
    process = scene.train()
    here = look(process.pid)
    assert here is not None
    ticks = here.identity.started.split()[0]
    run = RunFiles((scene.log,), (Identity(process.pid, f"{ticks} another-boot", ()),), scene.run.dates)
    says = told(scene, process.pid, run)
    assert "has ended or runs on another machine" in says
    assert scene.signals() == []


def test_who_wrote_the_journal_is_known_although_it_has_nothing_open(scene: Scene) -> None:
    process = scene.train()
    here = look(process.pid)
    assert here is not None
    elsewhere = scene.folder / "journal.jsonl"
    elsewhere.touch()
    run = RunFiles((elsewhere,), (Identity(process.pid, here.identity.started, ()),))
    assert "which wrote the run's journal" in told(scene, process.pid, run)
    assert process.wait(30) == 0


def test_a_shipper_that_holds_a_copy_open_is_left_alone(scene: Scene) -> None:
    """Whichever of the two logs is watched, and however the copy is made."""
    training = scene.train()
    ship = (
        "import sys, time; out = open(sys.argv[2], 'a')\n"
        "while True: out.seek(0); out.truncate(); out.write(open(sys.argv[1]).read()); out.flush(); time.sleep(.05)"
    )
    row = '{"step": 1, "critic/score/mean": 0.5}\n'
    scene.log.write_text(row)
    for number, words in enumerate((["tail", "-n", "+1", "-F", str(scene.log)], [sys.executable, "-c", ship])):
        copy = scene.folder / f"copy{number}.jsonl"
        given = [*words, str(scene.log), str(copy)] if number else words
        with copy.open("a") as out:
            shipper = begin(scene, *given, stdout=out)
        wait_for(lambda copy=copy: copy.exists() and copy.stat().st_size > len(row))
        dates = scene.run.dates
        assert "did not" in told(scene, shipper.pid, RunFiles((copy,), dates=dates))
        assert "did not" in told(scene, shipper.pid, RunFiles((scene.log, copy), dates=dates), "both")
        assert shipper.poll() is None
        shipper.kill()
        shipper.wait()
    assert training.poll() is None
    assert scene.signals() == []


def test_a_link_that_points_to_another_run_by_now_does_not_cost_the_first_one(scene: Scene, tmp_path: Path) -> None:
    """`latest` is watched and was the first run when the watch began; the run that fails is the next one."""
    healthy = scene.train()
    actor = scene.actor(f"sigterm:{healthy.pid}")
    actor.sample(scene.run)
    other = tmp_path / "second.jsonl"
    with other.open("a") as log:
        begin(scene, sys.executable, "-c", PRINTS, stdout=log)
    wait_for(lambda: other.stat().st_size > 0)
    said = actor.consider(scene.life(), ENOUGH, RunFiles((other,), dates=scene.run.dates))
    assert said is not None
    assert said.state == "refused"
    assert scene.signals() == []
    assert healthy.poll() is None


@pytest.mark.parametrize("second", [SERVES, TRAINER])
def test_where_another_process_writes_the_log_too_nobody_is_signalled(scene: Scene, second: str) -> None:
    """Two trainings were started into one folder by mistake: whose rows went wrong nobody can tell."""
    named = scene.train()
    words = (sys.executable, "-u", "-c", second, str(scene.log), str(scene.folder / "x"))
    other = begin(scene, *words, start_new_session=True)
    wait_for(lambda: any(file.resolve() == scene.log for file in Path(f"/proc/{other.pid}/fd").iterdir()))
    assert "did not: " in told(scene, named.pid)
    assert scene.signals() == []


@pytest.mark.parametrize("serves", [f"{shlex.join([sys.executable, '-c', PRINTS])} > {{server}} 2>&1 &",
                                    f"{shlex.join([sys.executable, '-c', SERVES])} {{server}} &"])  # fmt: skip
@pytest.mark.parametrize("names", [True, False])
def test_a_server_that_logs_into_the_runs_folder_is_not_the_training(scene: Scene, serves: str, names: bool) -> None:
    """A script starts an inference server and then the training, which opens its log for every row."""
    home = scene.folder / "run"
    home.mkdir()
    log = home / "metrics.jsonl"
    log.touch()
    link = scene.folder / "where"  # a training whose command line does not name the run
    link.write_text(str(log))
    program = (
        OPENS
        if names
        else OPENS.replace("sys.argv[1]", "where").replace(
            "import s", f"where = open({str(link)!r}).read(); import s", 1
        )
    )
    trains = shlex.join([sys.executable, "-c", program, str(log) if names else "x", str(scene.saved)])
    script = f"{serves.format(server=home / 'server.log')} {trains}; true"
    launcher = begin(scene, "/bin/bash", "-c", script)
    wait_for(lambda: log.stat().st_size > 0 and (home / "server.log").exists() and len(descendants(launcher.pid)) == 3)
    server = next(
        pid for pid in descendants(launcher.pid)[1:] if b"argv[2]" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    says = told(scene, launcher.pid, RunFiles((log,), dates=scene.run.dates))
    wait_for(lambda: "Has sent" not in says or scene.signals() == ["signal 15"], 5)
    assert not gone(server), says
    says = told(scene, server, RunFiles((log,), dates=scene.run.dates))
    with contextlib.suppress(ProcessLookupError):  # its script may be gone, and it is nobody's child then
        os.kill(server, signal.SIGKILL)
    assert "did not" in says, "a server was taken for the training"


def test_paths_of_another_container_are_not_ours(scene: Scene) -> None:
    """In its own namespace a process may write to a path that is called like the run, and is another folder."""
    home = scene.folder / "run"
    home.mkdir()
    log = home / "metrics.jsonl"
    log.write_text("{}\n")
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs to be allowed a mount namespace")
    trains = shlex.join([sys.executable, "-u", "-c", TRAINER, str(log), str(scene.saved)])
    inside = f"mount -t tmpfs other {home} && exec {trains}"
    other = begin(scene, "unshare", "-m", "bash", "-c", inside, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == "training\n"
    assert "did not" in told(scene, other.pid, RunFiles((log,), dates=scene.run.dates))
    assert scene.signals() == []


@pytest.mark.parametrize(
    "relay", ["tail -n +1 -F {source} > {log}", "ssh -F {source} > {log}", "kubectl logs -f pod > {log}"]
)
def test_what_only_passes_a_log_on_is_not_the_training(scene: Scene, relay: str) -> None:
    programs = scene.folder / "bin"
    programs.mkdir()
    for name in ("ssh", "kubectl"):  # stands in for a client that prints what runs elsewhere
        shutil.copy(shutil.which("tail") or "tail", programs / name)
    source = scene.folder / "elsewhere"
    source.write_text("{}\n")
    command = relay.format(source=source, log=scene.log).replace(
        "kubectl logs -f pod", f"exec -a kubectl tail -f {source}"
    )
    process = begin(scene, "/bin/bash", "-c", f"PATH={programs}:$PATH; exec {command.removeprefix('exec ')}")
    wait_for(lambda: scene.log.stat().st_size > 0)
    assert "did not" in told(scene, process.pid)
    assert process.poll() is None


def test_a_rank_that_its_launcher_would_start_again_is_not_signalled(scene: Scene) -> None:
    """torchrun --max-restarts: the worker that is ended is started again; the launcher is the one to give."""
    words = [sys.executable, "-u", "-c", TRAINER, str(scene.log), str(scene.saved)]
    launcher = (
        "import os, subprocess, sys\n"
        "for life in range(3):\n"
        "    subprocess.run(sys.argv[1:], env={**os.environ, 'RANK': '0', 'TORCHELASTIC_MAX_RESTARTS': '2'})\n"
    )
    process = begin(scene, sys.executable, "-c", launcher, *words, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "training\n"
    (rank,) = descendants(process.pid)[1:]
    assert "would be restarted by torchrun" in told(scene, rank)
    assert scene.signals() == []


def test_that_the_named_process_has_ended_while_the_run_goes_on_is_said_at_once(scene: Scene) -> None:
    """Something started the training again under another number: nobody would act on it any more."""
    now = [0.0]
    first = scene.train()
    actor, life = scene.actor(f"sigterm:{first.pid}", clock=lambda: now[0]), scene.life()
    actor.sample(scene.run)
    first.kill()
    first.wait()
    second = scene.train()
    said = None
    for _ in range(12):
        now[0] += 31
        time.sleep(0.1)
        said = said or actor.consider(life, NOT_YET, scene.run)
    assert said is not None
    assert said.state == "refused"
    assert f"process {first.pid}" in said.says
    assert "has ended" in said.says
    assert second.poll() is None
    assert actor.consider(life, NOT_YET, scene.run) is None


def test_a_filter_behind_a_training_is_not_the_training(scene: Scene) -> None:
    """`python train.py | tee log`, and the number of tee is given: ended, it would take the training's output away."""
    trains = shlex.join([sys.executable, "-u", "-c", TRAINER.replace("log.write", "print"), "/dev/null", "x"])
    launcher = begin(scene, "/bin/bash", "-c", f"{trains} | tee {scene.log} > /dev/null; true")
    wait_for(lambda: scene.log.stat().st_size > 0)
    tee = next(pid for pid in descendants(launcher.pid) if Path(f"/proc/{pid}/comm").read_text() == "tee\n")
    assert "passes on what is written elsewhere" in told(scene, tee)
    assert not gone(tee)


def test_a_training_that_its_starter_feeds_is_no_filter(scene: Scene) -> None:
    process = scene.train(stdin=subprocess.PIPE)
    assert "Has sent SIGTERM" in told(scene, process.pid)
    assert process.wait(30) == 0


def test_one_of_several_ranks_is_not_signalled_alone(scene: Scene) -> None:
    """The others would wait for it for ever: the callback inside makes them agree."""
    process = scene.train(env={**os.environ, "WORLD_SIZE": "2", "RANK": "0"})
    assert "one of several that train together" in told(scene, process.pid)
    assert scene.signals() == []


def test_a_process_that_renames_itself_is_the_same(scene: Scene) -> None:
    """As setproctitle does: the command line is another one, and the process is not."""
    program = TRAINER.replace("while True", "open('/proc/self/comm', 'w').write('renamed')\nwhile True")
    process = begin(scene, sys.executable, "-u", "-c", program, str(scene.log), str(scene.saved))
    wait_for(lambda: scene.log.stat().st_size > 0)
    order = parse(f"sigterm:{process.pid}")
    assert order.process is not None
    known = replace(order, process=replace(order.process, command=("train: step 5",)))
    said = Actor(scene.store, known, dry=False).consider(scene.life(), ENOUGH, scene.run)
    assert said is not None
    assert said.state == "sent"
    assert process.wait(30) == 0
