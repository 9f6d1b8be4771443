"""Whether acting does harm: `python bench/acting_scenes.py --scenes 300 [--seed N]`. Needs Linux.

Every scene is made of real processes: a training, what started it, bystanders, and a watch (the session of
`leadline watch`; its looks are laid down, since it is not they that are tried here) that is killed at random moments or
in one of the windows in which a kill could lose or double something. Then it is asked of every process what it got.

acted     what was ordered was done, once
refused   it was not done, and a sentence says so
harmed    a process got a signal that was not meant for it, or a second one; something was done twice
lost      what was ordered could have been done, and was neither done nor refused in words
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from tables import Table

from leadline.live import session as sessions
from leadline.live.acting import actor as actors
from leadline.live.acting import claims, programs
from leadline.live.acting.process import Identity, below, everything, look, still_runs
from leadline.live.entries import Options, WatchEntry
from leadline.live.records import Look
from leadline.live.store import Store
from leadline.live.watched import Watched

APART = "LEADLINE_SCENES_APART"
PATIENCE = 180.0  # seconds that a scene may take
PLAN = 1000

# What trains, and notes every signal it gets. How: "keeps" its log open, "opens" it for every row, or prints it.
TRAINER = """
import os, signal, sys, time
how, log, got, handles, saving = sys.argv[1:6]
def note(number, frame):
    file = os.open(got, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, b"%d\\n" % number)
    os.close(file)
    if handles == "saves":
        time.sleep(float(saving))
        os._exit(0)
if handles != "default":
    signal.signal(signal.SIGTERM, note)
    signal.signal(signal.SIGINT, note)
kept = open(log, "a") if how == "keeps" else None
if how == "forks":
    kept = open(log, "a")
    trains = os.getpid()
    if os.fork() == 0:
        while os.getppid() == trains: time.sleep(0.02)  # as the workers of a data loader
        os._exit(0)
open(got + ".up", "w").close()
step = int(sys.argv[6])
while True:
    step += 1
    row = '{"step": %d, "critic/score/mean": %f, "actor/kl_loss": 0.1}\\n' % (step, os.getpid() % 97 + step % 7 / 100)
    if how == "opens":
        with open(log, "a") as out: out.write(row)
    elif how == "prints":
        sys.stdout.write(row); sys.stdout.flush()
    else:
        kept.write(row); kept.flush()
    time.sleep(0.03)
"""
# A launcher as torchrun is one: its children in sessions of their own, and signals passed on.
SUPERVISOR = """
import os, signal, subprocess, sys
child = subprocess.Popen(sys.argv[1:], start_new_session=True, env={**os.environ, "RANK": "0"})
signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGTERM))
signal.signal(signal.SIGINT, lambda *_: child.send_signal(signal.SIGINT))
while child.poll() is None:
    try: child.wait(0.05)
    except subprocess.TimeoutExpired: pass
"""
# And as `accelerate launch` is one: it waits, and passes nothing on.
WAITER = """
import os, subprocess, sys
subprocess.Popen(sys.argv[1:], env={**os.environ, "ACCELERATE_MIXED_PRECISION": "no"}).wait()
"""
PYTHON = [sys.executable, "-I", "-S", "-c"]

LAUNCHERS = ("none", "none", "script", "loop", "pipe", "supervisor", "waiter")
NAMED = ("training", "training", "launcher", "launcher", "bystander", "other training", "reader", "worker",
         "own parent", "shell", "paused", "ended", "reused")  # fmt: skip
ORDERS = ("sigterm", "sigterm", "sigterm", "sigint", "sigkill", "file", "command", "stop")
WINDOWS = ("before the look", "after the look", "before it is begun", "after it is begun", "before the signal",
           "after the signal", "before it is written", "after it is written")  # fmt: skip


@dataclass
class Scene:
    """One scene as it was drawn, and what is in it."""

    number: int
    rng: random.Random
    folder: Path
    launcher: str = "none"
    named: str = "training"
    order: str = "sigterm"
    how: str = "keeps"
    handles: str = "saves"
    several: bool = False
    window: str | None = None
    kills: int = 0
    clock: bool = False
    full: bool = False
    resumed: bool = False
    sends_on: bool = False  # a script that waits for the training may go on
    ended: bool = False  # the training that was named was ended by the scene itself
    first: Identity | None = None  # the training as it was when the watch began
    got: Path = Path()  # where the training that is to be acted on notes its signals
    begun: list[subprocess.Popen[bytes]] = field(default_factory=list)
    watchers: list[int] = field(default_factory=list)

    @classmethod
    def drawn(cls, number: int, seed: int, folder: Path) -> Scene:
        rng = random.Random(f"{seed} {number}")
        folder.mkdir(parents=True)
        scene = cls(number, rng, folder, got=folder / "got")
        scene.launcher, scene.named, scene.order = rng.choice(LAUNCHERS), rng.choice(NAMED), rng.choice(ORDERS)
        scene.how = rng.choice(("keeps", "keeps", "opens", "prints", "forks"))
        scene.handles = rng.choice(("saves", "saves", "saves", "default"))
        scene.several = rng.random() < 0.12
        scene.window = rng.choice(WINDOWS) if rng.random() < 0.5 else None
        scene.kills = rng.choice((0, 0, 1, 2, 4))
        scene.clock, scene.full, scene.resumed = rng.random() < 0.2, rng.random() < 0.12, rng.random() < 0.2
        scene.sends_on = rng.random() < 0.7
        if scene.launcher == "none" and scene.named == "launcher":
            scene.named = "training"
        if scene.launcher == "pipe":
            scene.how = "prints"
        if scene.named == "worker":
            scene.how, scene.launcher = "forks", "script"
        return scene

    # --- what is there

    @property
    def log(self) -> Path:
        return self.folder / "run" / "metrics.jsonl"

    @property
    def state(self) -> Path:
        return self.folder / "disk" / "state.db"

    def signals(self) -> list[int]:
        return [int(line) for line in self.got.read_text().split()] if self.got.exists() else []

    def train(self, got: Path, log: Path, first: int = 0) -> subprocess.Popen[bytes]:
        """Start a training as the scene has it."""
        words = [
            *PYTHON,
            TRAINER,
            self.how,
            str(log),
            str(got),
            self.handles,
            str(self.rng.choice((0, 0.2))),
            str(first),
        ]
        shown = shlex.join(words)
        commands = {
            "none": words,
            "script": ["/bin/bash", "-c", f"{shown}; true"],
            "loop": ["/bin/bash", "-c", f"while true; do {shown}; done"],
            "pipe": ["/bin/bash", "-c", f"{shown} | tee -a {log} > /dev/null; true"],
            "supervisor": [*PYTHON, SUPERVISOR, *words],
            "waiter": [*PYTHON, WAITER, *words],
        }
        out = log.open("ab") if self.how == "prints" and self.launcher != "pipe" else subprocess.DEVNULL
        process = subprocess.Popen(
            commands[self.launcher], stdout=out, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        self.begun.append(process)
        up = Path(f"{got}.up")
        wait(lambda: up.exists() and log.stat().st_size > 0)
        up.unlink()
        return process

    def other(self, *words: str, **options: object) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
        self.begun.append(process)
        return process

    def clean(self) -> None:
        if self.full:
            subprocess.run(["umount", "-l", str(self.state.parent)], capture_output=True)
        for pid in self.watchers:
            kill(pid)
        for process in self.begun:
            # One that has ended may have left its number to another scene's.
            for one in reversed(below(process.pid, everything())) if process.poll() is None else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGKILL)
            process.kill()
            process.communicate()
        for pid in trainers(self.folder):  # what a launcher that was killed left behind
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def trainers(folder: Path) -> list[int]:
    """Trainings of a scene that still run, whoever started them."""
    mark = f"{folder}/" if folder.is_dir() else str(folder)
    return [
        one.pid
        for one in everything().values()
        if one.program.startswith("python")
        and "signal.SIGTERM, note" in " ".join(one.identity.command[:5])
        and any(mark in word for word in one.identity.command)
    ]


def wait(true: Callable[[], object], patience: float = PATIENCE) -> bool:
    until = time.monotonic() + patience
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


# --- the watch


def watch_on(scene: Scene, order: str, window: str | None) -> None:
    """The session of a watch, with looks laid down, until it is killed. Never returns."""
    os.environ["XDG_STATE_HOME"] = str(scene.folder / "home")
    claims.FIXED = scene.folder / "claims"
    if window is not None:
        arm(window)
    paths = (str(scene.log.parent), *([str(scene.folder / "not-there-yet")] if scene.several else []))
    offset = (-86400.0, 86400.0, 3e7)[scene.number % 3] if scene.clock else 0.0
    if offset:
        plain = time.time
        time.time = lambda: plain() + offset
    with Store(scene.state) as store:
        entries = tuple(WatchEntry(path, order, dry_run=False) for path in paths)
        options = Options(entries, headless=True, answer=scene.folder / "answer.json")
        session = sessions._Session(options, store)
        while True:
            session.watch.tick()
            for watched in list(session.watch.runs.values()):
                watched.due.clear()
                made = [
                    one
                    for one in store.looks(watched.number)
                    if (one.life, one.attempt) == (watched.cursor.life, watched.sighting.attempt)
                ]
                if len(made) < 3 and (scene.folder / "go").exists():
                    hit("before the look")
                    look_at(store, watched, 100 * (len(made) + 1))
                    hit("after the look")
            session.settle()
            time.sleep(0.005)


def look_at(store: Store, watched: Watched, step: int) -> None:
    body = json.dumps(
        {
            "run": {"first_step": 0, "last_step": step, "planned_steps": PLAN},
            "judgement": {"verdict": "roll_back", "p_continue_pays": 0.02, "best_checkpoint": None, "because": ["x"]},
            "findings": [],
        }
    ).encode()
    cursor = watched.cursor
    attempt = watched.sighting.attempt
    digest = f"{cursor.life} {attempt} {step}"
    told = Look(
        watched.identity, cursor.life, step, step, "schedule", time.time(), "roll_back", 0.02, None, "Roll back.",
        digest, body, attempt,
    )  # fmt: skip
    cursor = replace(cursor, step=max(1, watched.sighting.current - 1), points=max(1, watched.sighting.settled))
    store.record(watched.number, told, cursor=cursor)
    watched.cursor, watched.last = cursor, told


_armed: str | None = None


def hit(window: str) -> None:
    if window == _armed:
        os.kill(os.getpid(), signal.SIGKILL)


def arm(window: str) -> None:
    """Have this process kill itself in a window."""
    global _armed
    _armed = window
    record, held = Store.record_action, actors.held

    def recorded(self: Store, run: int, action: dict[str, object], now: float, **more: object) -> None:
        state = action["state"]
        hit("before it is begun" if state == "begun" else "before it is written")
        record(self, run, action, now, **more)  # type: ignore[arg-type]
        hit("after it is begun" if state == "begun" else "after it is written")

    @contextlib.contextmanager
    def sending(identity: Identity) -> Iterator[Callable[[signal.Signals], None]]:
        with held(identity) as send:
            hit("before the signal")
            yield send
            hit("after the signal")

    class Errand(programs.Errand):
        def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
            hit("before the signal")
            super().__init__(words, environment)
            hit("after the signal")

    Store.record_action, actors.held, programs.Errand = recorded, sending, Errand  # type: ignore[method-assign,assignment,misc]


def forked(scene: Scene, order: str, window: str | None) -> int:
    child = os.fork()
    if child == 0:
        try:
            with (scene.folder / "said").open("a") as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
            watch_on(scene, order, window)
        except BaseException as error:
            print(f"the watch ended: {type(error).__name__}: {error}", flush=True)
        finally:
            os._exit(3)
    _over.discard(child)
    scene.watchers.append(child)
    return child


# --- one scene


def play(scene: Scene) -> tuple[str, str]:
    """What became of it, and why in words."""
    scene.log.parent.mkdir()
    scene.log.touch()
    scene.state.parent.mkdir()
    if scene.full:
        scene.full = (
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=600k", "scene", str(scene.state.parent)], capture_output=True
            ).returncode
            == 0
        )
    training = scene.train(scene.got, scene.log)
    target, bystanders = named(scene, training)
    scene.first = next(one for pid in trainers(scene.folder) if (one := look(pid)) is not None).identity
    order = {
        "file": f"file:{scene.folder / 'stop'}",
        "command": f"command:/bin/sh -c 'echo ran >> {scene.folder / 'ran'}'",
        "stop": "stop",
    }.get(scene.order, f"{scene.order}:{target}{':next' if scene.sends_on else ''}")
    watching(scene, order)
    told = states(scene)
    outcome = judged(scene, training, bystanders, told)
    if scene.resumed and outcome[0] == "acted" and scene.order.startswith("sig"):
        outcome = resumed(scene, order, outcome)
    return outcome


def named(scene: Scene, training: subprocess.Popen[bytes]) -> tuple[int, list[subprocess.Popen[bytes]]]:
    """The number that the user gives, and whoever else is there."""
    every, ours = everything(), trainers(scene.folder)
    trains = next(pid for pid in ours if every[pid].parent not in ours)
    if scene.named in ("training", "paused", "ended", "reused"):
        return trains, []
    if scene.named == "launcher":
        return training.pid, []
    if scene.named == "worker":
        return next(pid for pid in ours if every[pid].parent in ours), []
    if scene.named == "own parent":
        return os.getpid(), []
    if scene.named == "other training":
        other = scene.folder / "other.jsonl"
        other.touch()
        how, scene.how = scene.how, "keeps"
        process = scene.train(scene.folder / "other", other)
        scene.how = how
        return process.pid, [process]
    words = {"bystander": ["sleep", "600"], "reader": ["tail", "-f", str(scene.log)], "shell": ["bash"]}[scene.named]
    process = scene.other(*words)
    time.sleep(0.05)
    return process.pid, [process]


def watching(scene: Scene, order: str) -> None:
    """Run the watch, killed as the scene has it, until nothing more comes of it."""
    child = forked(scene, order, scene.window)
    wait(lambda: known(scene, order) or gone(child), 20)
    happens(scene, order)
    filler = scene.state.parent / "filler"
    if scene.full:
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as out:
            while True:
                out.write(b"x" * 4096)
    (scene.folder / "go").touch()
    for _ in range(scene.kills):
        time.sleep(scene.rng.expovariate(1 / 0.08))
        kill(child)
        child = forked(scene, order, None)
    if scene.full:
        time.sleep(0.3)
        filler.unlink(missing_ok=True)
    until = time.monotonic() + PATIENCE / 2
    while time.monotonic() < until:
        if gone(child):
            if "cannot be acted on" in said(scene):  # the order was refused at once
                return
            child = forked(scene, order, None)
        if settled(scene):
            time.sleep(0.15)
            if settled(scene):  # else it has begun with something else, such as the next life of the run
                break
        time.sleep(0.02)
    kill(child)


def known(scene: Scene, order: str) -> bool:
    """Whether the watch has written down what the order names."""
    try:
        with Store(scene.state, write=False) as store:
            return store.order(order) is not None
    except Exception:  # it is being made
        return False


def happens(scene: Scene, order: str) -> None:
    """What happens to the process that was named between the start of the watch and its first look."""
    if scene.named not in ("paused", "ended", "reused"):
        return
    pid = int(order.split(":")[1]) if scene.order.startswith("sig") else trainers(scene.folder)[0]
    if scene.named == "paused":
        os.kill(pid, signal.SIGSTOP)
        return
    for process in scene.begun:  # what would start it again goes first
        process.kill()
    for trains in trainers(scene.folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(trains, signal.SIGKILL)
    for process in scene.begun:
        process.communicate()
    wait(lambda: not trainers(scene.folder), 10)
    scene.ended = True
    if scene.named == "reused":
        scene.launcher, scene.ended = "none", False
        scene.got = scene.folder / "got-2"
        for _ in range(30):
            with contextlib.suppress(OSError):
                Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
            process = scene.train(scene.got, scene.log, first=50)
            if process.pid == pid:
                return
            process.kill()
            process.communicate()
            for trains in trainers(scene.folder):  # and what it forked
                with contextlib.suppress(ProcessLookupError):
                    os.kill(trains, signal.SIGKILL)
        scene.train(scene.got, scene.log, first=50)


def settled(scene: Scene) -> bool:
    """Whether the watch has said its last word."""
    return bool(states(scene)) and states(scene)[-1][0] in ("done", "refused", "failed", "again")


def states(scene: Scene) -> list[tuple[str, str]]:
    try:
        with Store(scene.state, write=False) as store:
            return [
                (str(action["state"]), str(action["says"]))
                for run in store.names().values()
                for _, action in store.actions(run)
            ]
    except Exception:  # it is being made
        return []


def said(scene: Scene) -> str:
    return (scene.folder / "said").read_text() if (scene.folder / "said").exists() else ""


_over: set[int] = set()  # watches of ours that have ended: their numbers may be somebody else's by now


def gone(pid: int) -> bool:
    """Whether a watch that this process has forked is over."""
    if pid not in _over and os.waitpid(pid, os.WNOHANG)[0] == pid:
        _over.add(pid)
    return pid in _over


def kill(pid: int) -> None:
    """End a watch that this process has forked, and nothing else."""
    if not gone(pid):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        _over.add(pid)


def judged(
    scene: Scene,
    training: subprocess.Popen[bytes],
    bystanders: Sequence[subprocess.Popen[bytes]],
    told: list[tuple[str, str]],
) -> tuple[str, str]:
    signals, alive = scene.signals(), bool(trainers(scene.folder)) or scene.ended
    last = told[-1] if told else ("", said(scene)[-300:])
    ran = (scene.folder / "ran").read_text().count("ran") if (scene.folder / "ran").exists() else 0
    hurt = scene.named != "reused" and any(process.poll() is not None for process in bystanders)
    if hurt or (scene.folder / "other").exists():
        return "harmed", f"a bystander was ended: {last[1]}"
    if len(signals) > 1 or ran > 1:
        return "harmed", f"done {max(len(signals), ran)} times: {told}"
    right = scene.named in ("training", "launcher") and not scene.several
    # A loop may have started it again: that is told, and it is somebody else's business to end the loop.
    ended = scene.first is not None and not still_runs(scene.first) and not (scene.ended or scene.named == "reused")
    touched = bool(signals) or not alive or ended or ran or (scene.folder / "stop").exists()
    if scene.order.startswith("sig"):
        if touched and not right:
            return "harmed", f"{scene.named} was signalled: {last[1]}"
    elif scene.several and touched and scene.order != "stop":
        return "harmed", f"one of several was acted on: {last[1]}"
    elif signals or not alive:
        return "harmed", f"{scene.order} ended the training"
    if touched:
        return "acted", last[1]
    if scene.order == "stop" and last[0] == "done":
        return "acted", last[1]
    if last[0] in ("refused", "failed") or "cannot be acted on" in said(scene):
        return "refused", last[1]
    return "lost", f"{told} {said(scene)[-200:]}"


def resumed(scene: Scene, order: str, before: tuple[str, str]) -> tuple[str, str]:
    """The training is started again, and the same watch: it has another number now, and is nobody's target."""
    again = scene.folder / "again"
    scene.train(again, scene.log, first=3)
    child = forked(scene, order, None)
    time.sleep(0.6)
    kill(child)
    if again.exists() or not trainers(again):
        return "harmed", "a training that was resumed was ended by what was said before"
    return before


def played(number: int, seed: int, top: Path, *, keep: bool = False) -> tuple[str, str, str]:
    """One scene: what was named or ordered, what became of it, and all about it."""
    scene = Scene.drawn(number, seed, top / str(number))
    try:
        outcome, why = play(scene)
    finally:
        scene.clean()
        if not keep:
            shutil.rmtree(scene.folder, ignore_errors=True)
    drawn = ", ".join(
        f"{name} {getattr(scene, name)}"
        for name in (
            "order", "named", "launcher", "how", "handles", "several", "window", "kills", "clock", "full", "resumed",
            "sends_on",
        )
    )  # fmt: skip
    return scene.named if scene.order.startswith("sig") else scene.order, outcome, f"scene {number} ({drawn}): {why}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=6, help="scenes at a time: they mostly wait")
    parser.add_argument("--only", type=int, help="play one scene, and say all about it")
    arguments = parser.parse_args(argv)
    if not _apart():
        print("Scenes reuse process numbers and kill: they are played by root in a PID namespace of their own.")
        return 2
    actors.SAMPLED, actors.LATER = 0.05, 2.0  # seconds that a scene has no time for
    top = Path(tempfile.mkdtemp(prefix="scenes-"))
    if arguments.only is not None:
        print(*played(arguments.only, arguments.seed, top, keep=True), top, sep="\n")
        return 0
    workers = []
    for job in range(arguments.jobs):
        child = os.fork()
        if child == 0:
            with (top / f"{job}.jsonl").open("w", buffering=1) as out:
                for number in range(job, arguments.scenes, arguments.jobs):
                    try:
                        told = played(number, arguments.seed, top)
                    except Exception as error:  # a scene that could not be played says so
                        told = ("not played", "lost", f"scene {number}: {type(error).__name__}: {error}")
                    out.write(json.dumps(told) + "\n")
            os._exit(0)
        workers.append(child)
    for child in workers:
        os.waitpid(child, 0)
    told = [json.loads(line) for job in sorted(top.glob("*.jsonl")) for line in job.read_text().splitlines()]
    shutil.rmtree(top, ignore_errors=True)
    return _print(told)


def _apart() -> bool:
    """Whether we are in a PID namespace of our own, where no number is anybody else's; else we begin again in one."""
    if os.getppid() == 0 or os.environ.get(APART):
        return True
    words = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if shutil.which(words[0]) is None or subprocess.run([*words, "true"], capture_output=True).returncode:
        return False
    os.environ[APART] = "1"
    raise SystemExit(subprocess.run([*words, sys.executable, *sys.argv]).returncode)


def _print(told: Sequence[tuple[str, str, str]]) -> int:
    outcomes = ("acted", "refused", "harmed", "lost")
    counts = Counter((kind, outcome) for kind, outcome, _ in told)
    kinds = sorted({kind for kind, _ in counts})
    rows = [[kind, *(str(counts[kind, outcome]) for outcome in outcomes)] for kind in kinds]
    rows.append(["all", *(str(sum(counts[kind, outcome] for kind in kinds)) for outcome in outcomes)])
    print(Table(f"{len(told)} scenes", "0 harmed, 0 lost", ("what was named, or ordered", *outcomes), rows).text())
    bad = [f"{outcome}: {about}" for _, outcome, about in told if outcome in ("harmed", "lost")]
    print(*bad, sep="\n")
    right = ("named training", "named launcher")
    wary = Counter(
        about.partition("but did not: ")[2] or about.rpartition("): ")[2]
        for _, outcome, about in told
        if outcome == "refused" and any(named in about for named in right)
    )
    print("\nRefused although the right one was named:")
    print(*(f"{count} x {why[:300]}" for why, count in wary.most_common()), sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
