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
from pathlib import Path

import pytest
from live.scene import ENOUGH, TRAINER, Scene, descendants, gone, wait_for

from leadline.live import acting
from leadline.live.acting import Actor, Life, RunFiles
from leadline.live.acting.process import identify
from leadline.live.acting.ties import Observed
from leadline.live.acting.training import resolve
from leadline.live.store import Store

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


def told(scene: Scene, pid: int, run: RunFiles | None = None, kind: str = "sigterm") -> str:
    """What is said when a process is to be signalled, by a watch that has seen the run grow."""
    run, now = run or scene.run, [0.0]
    actor = scene.actor(f"{kind}:{pid}", clock=lambda: now[0])
    actor.sample(run)
    time.sleep(0.6)
    said = actor.consider(scene.life(), ENOUGH, run)
    if said is None:  # it may become clear; after a while it is refused
        now[0] = 601
        said = actor.consider(scene.life(), ENOUGH, run)
    assert said is not None
    return said.says


def test_two_watches_that_name_a_launcher_and_its_training_signal_it_once(scene: Scene, tmp_path: Path) -> None:
    launcher = scene.train("1", through="{}; true")
    trains = resolve(identify(launcher.pid), scene.run, signal.SIGTERM, Observed()).trains[0].pid
    scene.actor(f"sigterm:{trains}").consider(scene.life(), ENOUGH, scene.run)
    with Store(tmp_path / "other.db") as other:
        second = Actor(other, acting.parse(f"sigterm:{launcher.pid}"), dry=False)
        said = second.consider(Life(other.run("run", 0.0), "run"), ENOUGH, scene.run)
    assert said is not None
    assert "another watch acts on it" in said.says
    launcher.wait(30)
    assert scene.signals() == ["signal 15"]


def test_a_link_that_points_to_another_run_by_now_does_not_cost_the_first_one(scene: Scene, tmp_path: Path) -> None:
    """`latest` is watched and was the first run when the watch began; the run that fails is the next one."""
    healthy = scene.train()
    actor = scene.actor(f"sigterm:{healthy.pid}")
    actor.sample(scene.run)
    other = tmp_path / "second.jsonl"
    with other.open("a") as log:
        begin(scene, sys.executable, "-c", PRINTS, stdout=log)
    wait_for(lambda: other.stat().st_size > 0)
    said = actor.consider(scene.life(), ENOUGH, RunFiles((other,)))
    assert said is not None
    assert said.state == "refused"
    assert scene.signals() == []
    assert healthy.poll() is None


@pytest.mark.parametrize("second", [SERVES, TRAINER])
def test_where_another_process_writes_the_log_too_nobody_is_signalled(scene: Scene, second: str) -> None:
    """Two trainings were started into one folder by mistake: whose rows went wrong nobody can tell."""
    named = scene.train()
    begin(scene, sys.executable, "-u", "-c", second, str(scene.log), str(scene.folder / "x"), start_new_session=True)
    wait_for(lambda: scene.log.stat().st_size > 0)
    time.sleep(0.3)
    assert "writes the run too" in told(scene, named.pid)
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
    says = told(scene, launcher.pid, RunFiles((log,), home))
    wait_for(lambda: "Has sent" not in says or scene.signals() == ["signal 15"], 5)
    assert not gone(server), says
    says = told(scene, server, RunFiles((log,), home))
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
    assert "did not" in told(scene, other.pid, RunFiles((log,), home))
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
    assert "starts it again" in told(scene, rank)
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
        said = said or actor.gone(life, scene.run)
    assert said is not None
    assert said.state == "refused"
    assert f"process {first.pid}" in said.says
    assert "has ended" in said.says
    assert second.poll() is None
    assert actor.gone(life, scene.run) is None


def test_a_filter_behind_a_training_is_not_the_training(scene: Scene) -> None:
    """`python train.py | tee log`, and the number of tee is given: ended, it would take the training's output away."""
    trains = shlex.join([sys.executable, "-u", "-c", TRAINER.replace("log.write", "print"), "/dev/null", "x"])
    launcher = begin(scene, "/bin/bash", "-c", f"{trains} | tee {scene.log} > /dev/null; true")
    wait_for(lambda: scene.log.stat().st_size > 0)
    tee = next(pid for pid in descendants(launcher.pid) if Path(f"/proc/{pid}/comm").read_text() == "tee\n")
    assert "only passes on what process" in told(scene, tee)
    assert not gone(tee)


def test_a_training_that_its_starter_feeds_is_no_filter(scene: Scene) -> None:
    process = scene.train(stdin=subprocess.PIPE)
    assert "Has sent SIGTERM" in told(scene, process.pid)
    assert process.wait(30) == 0


def test_several_ranks_of_one_launcher_are_one_training(scene: Scene) -> None:
    """Each of them has the log open; the one that was named, and the others beside it, are no strangers."""
    words = [sys.executable, "-u", "-c", TRAINER, str(scene.log), str(scene.saved)]
    program = (
        "import os, subprocess, sys, time\n"
        "ranks = [subprocess.Popen(sys.argv[1:], env={**os.environ, 'RANK': str(n)}) for n in range(2)]\n"
        "[rank.wait() for rank in ranks]\n"
    )
    process = begin(scene, sys.executable, "-c", program, *words, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["training\n"] * 2
    assert "Has sent SIGTERM" in told(scene, process.pid)
    process.wait(30)
    assert scene.signals() == ["signal 15"] * 2  # each of them once
