"""The kinds of harm that acting has done, and could do, as scenes of real processes: `python bench/acting.py`. Linux.

Each scene starts cheap processes (a training writes a row every 30 ms), then the session of `leadline watch` with looks
laid down that reach the bar, and asks of every process what it got. Watches are killed at random moments and in each
window in which a kill could lose or double something.

right     the training that is lost got one signal and nobody else any; or nothing was to be done, and nothing was
refused   nothing was done, and a sentence says why and what to do instead
harmed    anybody else got a signal, the training a second one, something was done twice, or the training is said to
          have ended and goes on
lost      neither done nor refused in words
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from soak import fill
from tables import Table

from leadline.inside import journal as journals
from leadline.inside.keep import KEPT
from leadline.inside.sidecar import ANSWER
from leadline.inside.trainer import Hooks
from leadline.live import session as sessions
from leadline.live.acting import actor as actors
from leadline.live.acting import programs
from leadline.live.acting.process import Identity, everything, look
from leadline.live.entries import Options, WatchEntry
from leadline.live.records import Look, Made
from leadline.live.schedule import Watched
from leadline.live.store import Store

MARK = "LEADLINE_SCENE"  # in the environment of everything that a scene starts
PYTHON = [sys.executable, "-I", "-S", "-c"]
PATIENCE = 25.0  # seconds for a watch to come to its last word
LOOKS = (100, 200, 300)  # steps of the looks that are laid down
WINDOWS = ("before the look", "after the look", "before it is begun", "after it is begun", "before the signal",
           "after the signal", "before it is written", "after it is written")  # fmt: skip
ENDED = ("done", "refused", "failed", "again", "orphan")

# What trains, and notes every signal it gets: LOG GOT SAVING FIRST LAST [BUSY] [SECOND LOG]
TRAINER = """
import os, signal, sys, time
log, got, saving, first, last = sys.argv[1:6]
more = sys.argv[6:]
def note(number, frame):
    file = os.open(got, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, b"%d\\n" % number)
    os.close(file)
    if saving != "never":
        time.sleep(float(saving))
        os._exit(0)
signal.signal(signal.SIGTERM, note)
signal.signal(signal.SIGINT, note)
kept = None if log in ("-", "each") else open(log, "a")
others = [open(name, "a") for name in more if name.endswith(".jsonl")]
if "forks" in more and os.fork() == 0:
    mother = os.getppid()
    while os.getppid() == mother: time.sleep(.02)
    os._exit(0)
open(got + ".up", "w").write(str(os.getpid()))
step = int(first)
while step < int(last):
    step += 1
    row = '{"step": %d, "critic/score/mean": %f, "actor/kl_loss": 0.1}\\n' % (step, (os.getpid() % 97 + step % 7) / 100)
    if log == "-": os.write(1, row.encode())
    elif log == "each":
        with open(os.environ["LOG"], "a") as out: out.write(row)
    else: kept.write(row); kept.flush()
    for place, other in enumerate(others):
        other.write('{"step": %d, "critic/score/mean": %f}\\n' % (step, 3 + step % 5 / 10)); other.flush()
    end = time.monotonic() + .03
    while "busy" in more and time.monotonic() < end: pass
    time.sleep(.03)
os._exit(1)
"""
# A launcher that polls its children, as sweeps do: [LOG] and commands, divided by "--".
POLLS = """
import subprocess, sys, time
words, commands = sys.argv[2:], [[]]
for word in words:
    if word == "--": commands.append([])
    else: commands[-1].append(word)
out = open(sys.argv[1], "a") if sys.argv[1] != "-" else None
children = [subprocess.Popen(one, stdout=out) for one in commands]
while any(child.poll() is None for child in children): time.sleep(.05)
"""
# A launcher that waits, and one that passes signals on to a child in a session of its own, as torchrun does.
WAITS = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
RANKS = """
import os, signal, subprocess, sys
settings = {**os.environ, "RANK": "0", "WORLD_SIZE": sys.argv[1], "TORCHELASTIC_MAX_RESTARTS": sys.argv[2]}
child = subprocess.Popen(sys.argv[3:], start_new_session=True, env=settings)
signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGTERM))
while child.poll() is None:
    try: child.wait(.05)
    except subprocess.TimeoutExpired: pass
"""
SHIPS = """
import sys, time
source, copy = open(sys.argv[1]), open(sys.argv[2], "a")
while True:
    copy.write(source.read()); copy.flush(); time.sleep(.03)
"""
SHIPS_ANEW = """
import sys, time
copy, at = open(sys.argv[2], "a"), 0
while True:
    with open(sys.argv[1]) as source:
        source.seek(at); rows = source.read(); at = source.tell()
    copy.write(rows); copy.flush(); time.sleep(.03)
"""
IDLES = "import sys, time; time.sleep(600)"


@dataclass
class Scene:
    """One scene: its processes, and what is expected of them."""

    name: str
    folder: Path
    order: str = "sigterm"
    starts: int = 1  # watches one after the other: the looks are due when the last one starts
    begun: list[subprocess.Popen[bytes]] = field(default_factory=list)
    watched: Path = Path()
    target: str = ""
    lost: tuple[str, ...] = ("bad",)  # trainings that may be signalled
    watches: int = 1  # at a time
    judges: bool = True  # looks are laid down when the watch has begun; else there are some already
    crashed: int = 0  # a process that the scene itself has ended
    window: str = ""  # in which the first watch kills itself
    kills: int = 0  # of the watch, at random moments
    clock: float = 0.0  # seconds that the watch's clock is wrong by
    full: bool = False  # the disk of the state is full when the looks come
    several: bool = False  # another path is watched by the same order
    resumes: bool = False  # the training is started again after it was ended

    @property
    def text(self) -> str:
        """The order as --act takes it."""
        ran = f"command:/bin/sh -c 'echo ran >> {self.folder / 'ran'}'"
        others = {"file": f"file:{self.folder / 'stop'}", "command": ran, "stop": "stop"}
        return others.get(self.order, f"{self.order}:{self.target}")

    @property
    def disk(self) -> Path:
        """Where watches keep their state."""
        return self.folder / "disk"

    @property
    def log(self) -> Path:
        return self.folder / "run" / "metrics.jsonl"

    def train(
        self, name: str, log: Path | str | None = None, *more: str, saving: str = "0", first: int = 0, last: int = 10**9
    ) -> list[str]:
        """The words of a training."""
        given = str(self.log if log is None else log)
        return [*PYTHON, TRAINER, given, str(self.folder / name), saving, str(first), str(last), *more]

    def start(self, *words: str, **options: object) -> subprocess.Popen[bytes]:
        settings = {**os.environ, MARK: str(self.folder), "LOG": str(self.log)}
        process = subprocess.Popen(
            words, env=settings, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            **{"stdout": subprocess.DEVNULL, **options},
        )  # type: ignore[call-overload]  # fmt: skip
        self.begun.append(process)
        return process

    def script(self, text: str, **options: object) -> subprocess.Popen[bytes]:
        return self.start("/bin/bash", "-c", text, **options)

    def pid(self, name: str) -> int:
        """The number of a training, once it trains."""
        up = self.folder / f"{name}.up"
        wait(lambda: up.exists() and up.read_text())
        return int(up.read_text())

    def signals(self, name: str) -> list[int]:
        file = self.folder / name
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def trainings(self) -> dict[str, int]:
        return {up.name[:-3]: int(up.read_text() or 0) for up in self.folder.glob("*.up")}


def wait(true: Callable[[], object], patience: float = 20.0) -> bool:
    until = time.monotonic() + patience
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


# --- the kinds: each draws its scenes, sets the stage of one, and names what is to be signalled

Stage = Callable[[Scene], None]


def named(scene: Scene, which: str, top: subprocess.Popen[bytes] | None = None, after: str = "") -> None:
    pid = top.pid if top is not None and which == "launcher" else scene.pid("bad" if which == "launcher" else which)
    scene.target = f"{pid}{after}"


def plain() -> Iterator[tuple[str, Stage]]:
    """Trainings that nothing is unusual about, below whatever replaces itself by them or waits for them."""
    wrappers = {"": [], "timeout": ["timeout", "600"], "setsid": ["setsid", "-w"], "nice": ["nice"],
                "nohup": ["nohup"], "waits": [*PYTHON, WAITS], "env": ["env", "A=b"]}  # fmt: skip
    for wrapper, how, saving in itertools.product(wrappers, ("keeps", "prints", "forks", "each"), ("0", "0.5")):

        def stage(scene: Scene, wrapper: str = wrapper, how: str = how, saving: str = saving) -> None:
            given = {"prints": "-", "each": "each"}.get(how)
            words = [
                *wrappers[wrapper],
                *scene.train("bad", given, *(["forks"] if how == "forks" else []), saving=saving),
            ]
            with scene.log.open("ab") if how == "prints" else contextlib.nullcontext(subprocess.DEVNULL) as out:
                top = scene.start(*words, stdout=out)
            named(scene, "launcher" if wrapper and saving == "0.5" else "bad", top)

        named_as = "the wrapper" if wrapper and saving == "0.5" else "the training"
        yield f"{wrapper or 'alone'}, {how}, saves {saving} s, {named_as} is named", stage


def journaled() -> Iterator[tuple[str, Stage]]:
    """The same trainings with a journal, as `leadline.attach` and the callbacks write one."""
    for about, stage in plain():
        if "each" not in about and "forks" not in about:
            continue

        def staged(scene: Scene, stage: Stage = stage) -> None:
            stage(scene)
            identity = look(scene.pid("bad")).identity
            began = {"leadline": 1, "run": "x", "at": time.time(), "pid": identity.pid, "started": identity.started,
                     "token": "t", "planned_steps": 1000}  # fmt: skip
            rewards = {step: (identity.pid % 97 + step % 7) / 100 for step in range(1, 41)}  # as TRAINER writes them
            rows = [{"step": step, "at": time.time(), "data": {"reward": one}} for step, one in rewards.items()]
            scene.watched = scene.folder / "journaled"
            scene.watched.mkdir()
            (scene.watched / journals.JOURNAL).write_text("".join(json.dumps(row) + "\n" for row in [began, *rows]))

        yield about, staged


def launchers() -> Iterator[tuple[str, Stage]]:
    for children, busy, output, which in itertools.product((1, 2), ("", "busy"), ("own", "given"), ("launcher", "bad")):

        def stage(
            scene: Scene, children: int = children, busy: str = busy, output: str = output, which: str = which
        ) -> None:
            log = "-" if output == "given" else None
            words = scene.train("bad", log, *filter(None, [busy]))
            if children == 2:
                other = scene.folder / "sound" / "metrics.jsonl"
                other.parent.mkdir()
                words += ["--", *scene.train("good", other, *filter(None, [busy]))]
            top = scene.start(*PYTHON, POLLS, str(scene.log) if output == "given" else "-", *words)
            named(scene, which, top)

        told = f"{children} children, {busy or 'idle'}, log {output}, {which} is named"
        yield told, stage
        if busy == "":
            yield f"watch restarted when looks are due, {told}", later(stage)


def later(stage: Stage) -> Stage:
    def staged(scene: Scene) -> None:
        stage(scene)
        scene.starts = 2

    return staged


def scripts() -> Iterator[tuple[str, Stage]]:
    """`train bad & train good & wait; upload`, `train a; train b` and loops."""
    forms = {
        "bad & good & wait; upload": "{bad} & {good} & wait; echo > {folder}/uploaded",
        "good & bad; upload": "{good} & {bad}; echo > {folder}/uploaded",
        "bad; next": "{bad}; {good}",
        "loop": "while true; do {bad}; done",
        "trap": "trap 'kill 0' TERM; {bad} & wait",
        "and": "{bad} && echo > {folder}/uploaded",
    }
    for form, which, after, output in itertools.product(forms, ("launcher", "bad"), ("", ":next"), ("own", "shared")):
        if which == "launcher" and after:
            continue

        def stage(scene: Scene, form: str = form, which: str = which, after: str = after, output: str = output) -> None:
            other = scene.folder / "sound" / "metrics.jsonl"
            other.parent.mkdir()
            words = {
                "bad": shlex.join(scene.train("bad", "-" if output == "shared" else None)),
                "good": shlex.join(scene.train("good", other)),
                "folder": shlex.quote(str(scene.folder)),
            }
            with scene.log.open("ab") as out:
                top = scene.script(
                    forms[form].format(**words), stdout=out if output == "shared" else subprocess.DEVNULL
                )
            if "good &" in form:
                scene.pid("good")
            named(scene, which, top, after)

        yield f"{form}; log {output}, {which}{after} is named", stage


def restarts() -> Iterator[tuple[str, Stage]]:
    """The first process collapses and crashes, a sound one goes on at a later step."""
    for which, form, gap in itertools.product(("launcher", "good"), ("script", "loop", "by hand"), (0, 40)):

        def stage(scene: Scene, which: str = which, form: str = form, gap: int = gap) -> None:
            scene.lost, scene.judges = (), False
            first = scene.train("bad", None)
            second = scene.train("good", None, first=10_000 + gap)
            if form == "by hand":
                one = scene.start(*first)
            else:
                text = f"{shlex.join(first)}; {shlex.join(second)}"
                one = scene.script(text if form == "script" else f"for one in 1 2; do {text}; done")
            wait(lambda: scene.log.exists() and scene.log.stat().st_size > 0)
            scene.watched = scene.log.parent
            (scene.folder / "go").touch()
            watch = forked(scene, f"file:{scene.folder / 'never'}", "0", dry=True)  # looks at the first, and says so
            wait(lambda: len(looks(scene, "0")) == len(LOOKS))
            ended(watch)
            os.kill(scene.pid("bad"), signal.SIGKILL)  # it crashes
            wait(lambda: not alive(scene.pid("bad")))
            if form == "by hand":
                one = scene.start(*second)
            scene.pid("good")
            (scene.folder / "go").unlink()
            scene.crashed = scene.pid("bad")
            target = one.pid if which == "launcher" else scene.pid("good")
            scene.target = f"{target}:next" if which == "good" and form != "by hand" else str(target)

        yield f"{form}, gap of {gap} steps, {'script' if which == 'launcher' else 'second'} is named", stage


def shippers() -> Iterator[tuple[str, Stage]]:
    """A log shipper in the job script holds a copy open."""
    kinds = {"tail": "tail -n +1 -F {log} > {copy}", "python": "{ships} {log} {copy}", "anew": "{anew} {log} {copy}"}
    for kind, place, which in itertools.product(kinds, ("beside", "elsewhere", "copy"), ("shipper", "bad", "launcher")):

        def stage(scene: Scene, kind: str = kind, place: str = place, which: str = which) -> None:
            copy = (scene.log.parent if place == "beside" else scene.folder / "copies") / "copy.jsonl"
            copy.parent.mkdir(exist_ok=True)
            words = {"ships": shlex.join([*PYTHON, SHIPS]), "anew": shlex.join([*PYTHON, SHIPS_ANEW])}
            ships = kinds[kind].format(log=scene.log, copy=copy, **words)
            scene.log.touch()
            trains = shlex.join(scene.train("bad"))
            top = scene.script(f"{trains} & {ships} & echo $! > {scene.folder}/shipper; wait")
            scene.pid("bad")
            wait(lambda: copy.exists() and copy.stat().st_size > 0 and (scene.folder / "shipper").exists())
            if place == "copy":
                scene.watched = copy.parent
            if which == "shipper":
                scene.target = (scene.folder / "shipper").read_text().strip() + ":next"
            else:
                named(scene, which, top, ":next" if which == "bad" else "")

        watched = {"beside": "both", "elsewhere": "the log", "copy": "the copy"}[place]
        yield f"{kind}, {watched} watched, {which} is named", stage


def foreign() -> Iterator[tuple[str, Stage]]:
    """The number is that of a process on another host; here it is borne by a bystander."""
    for names, known, kind in itertools.product((True, False), ("log", "journal"), ("idles", "trains")):

        def stage(scene: Scene, names: bool = names, known: str = known, kind: str = kind) -> None:
            scene.lost = ()
            writer = scene.train("elsewhere", "each")  # opens the log for each row: as one that cannot be seen here
            other = scene.folder / "other" / "metrics.jsonl"
            other.parent.mkdir()
            words = [*PYTHON, IDLES] if kind == "idles" else scene.train("good", other)
            here = scene.start(*words, *([str(scene.log)] if names else []), cwd=scene.log.parent if names else "/")
            if known == "journal":
                place = scene.log.parent / journals.JOURNAL
                began = {"leadline": 1, "run": "x", "at": time.time(), "pid": here.pid, "started": "12345 other-boot",
                         "token": "t", "planned_steps": 1000}  # fmt: skip
                rows = [
                    {"step": step, "at": time.time(), "data": {"reward": 0.5 + step % 5 / 10}} for step in range(40)
                ]
                place.write_text("".join(json.dumps(row) + "\n" for row in [began, *rows]))
            else:
                scene.start(*writer)
                scene.pid("elsewhere")
            scene.target = str(here.pid)

        yield f"known by its {known}, a bystander {kind}{', names the run' if names else ''}", stage


def two_watches() -> Iterator[tuple[str, Stage]]:
    for how, saving, count in itertools.product(("keeps", "prints"), ("0.3", "1.5"), (2, 3)):

        def stage(scene: Scene, how: str = how, saving: str = saving, count: int = count) -> None:
            scene.watches = count
            with scene.log.open("ab") as out:
                scene.start(*scene.train("bad", "-" if how == "prints" else None, saving=saving), stdout=out)
            named(scene, "bad")

        yield f"{count} watches, {how}, saves {saving} s", stage


def two_runs() -> Iterator[tuple[str, Stage]]:
    for place, wrapper in itertools.product(("beside", "elsewhere", "child"), ("", "waits", "script")):

        def stage(scene: Scene, place: str = place, wrapper: str = wrapper) -> None:
            scene.lost = ()
            other = (scene.log.parent.parent if place == "elsewhere" else scene.folder / "second") / "rows.jsonl"
            other.parent.mkdir(exist_ok=True)
            words = scene.train("bad", None, str(other))
            if place == "child":  # the training has started another one
                begins = "import subprocess, sys; subprocess.Popen(sys.argv[sys.argv.index('--') + 1:])\n"
                words = [*PYTHON, begins + TRAINER, *scene.train("bad")[len(PYTHON) + 1 :], "--"]
                words += scene.train("good", other)
            if wrapper == "script":
                scene.script(f"{shlex.join(words)}; true")
            else:
                scene.start(*([*PYTHON, WAITS] if wrapper else []), *words)
            wait(lambda: other.exists() and other.read_bytes().count(b"\n") > 20)
            named(scene, "bad", after=":next")

        yield f"second {place}{', below ' + wrapper if wrapper else ''}", stage


def xargs() -> Iterator[tuple[str, Stage]]:
    for busy, which in itertools.product(("", "busy"), ("launcher", "bad", "good")):

        def stage(scene: Scene, busy: str = busy, which: str = which) -> None:
            other = scene.folder / "sound" / "metrics.jsonl"
            other.parent.mkdir()
            lines = [shlex.join(scene.train(name, log, *filter(None, [busy]))) for name, log in
                     (("bad", scene.log), ("good", other))]  # fmt: skip
            for place, line in enumerate(lines):
                (scene.folder / f"{place}.sh").write_text(f"exec {line}\n")
            text = f"printf '%s\\n' {scene.folder}/0.sh {scene.folder}/1.sh | exec xargs -P2 -n1 bash"
            scene.script(text)
            scene.pid("good"), scene.pid("bad")
            parent = Path(f"/proc/{scene.pid('bad')}/stat").read_text().rpartition(")")[2].split()[1]
            scene.target = parent if which == "launcher" else str(scene.pid(which))

        yield f"{busy or 'idle'}, {'xargs' if which == 'launcher' else which} is named", stage


def ranks() -> Iterator[tuple[str, Stage]]:
    for size, again, which in itertools.product(("1", "2", "8"), ("0", "3"), ("launcher", "bad")):

        def stage(scene: Scene, size: str = size, again: str = again, which: str = which) -> None:
            top = scene.start(*PYTHON, RANKS, size, again, *scene.train("bad"))
            named(scene, which, top)

        yield f"{size} ranks, {again} restarts, {which} is named", stage


def pipes() -> Iterator[tuple[str, Stage]]:
    for which, filters in itertools.product(("launcher", "bad", "tee"), ("", "cat | ", "sed -u s/x/x/ | ")):

        def stage(scene: Scene, which: str = which, filters: str = filters) -> None:
            trains = shlex.join(scene.train("bad", "-"))
            top = scene.script(f"{trains} | {filters}tee -a {scene.log} > /dev/null; true")
            scene.pid("bad")
            wait(lambda: scene.log.exists() and scene.log.stat().st_size > 0)
            every = everything().values()
            tee = next(one.pid for one in every if one.program == "tee" and str(scene.log) in one.identity.command)
            scene.target = f"{tee}:next" if which == "tee" else ""
            if which != "tee":
                named(scene, which, top, ":next" if which == "bad" else "")

        yield f"| {filters}tee, {which} is named", stage


def orphans() -> Iterator[tuple[str, Stage]]:
    """What is signalled leaves something behind that goes on writing."""
    for ignores in (True, False):
        program = (
            "import os, signal, sys, time; log = open(sys.argv[1], 'a')\n"
            "open(sys.argv[2], 'w').write(str(os.getpid()))\n"
            "if os.fork() == 0:\n"
            f"    {'signal.signal(15, signal.SIG_IGN)' if ignores else 'pass'}; mother = os.getppid()\n"
            "    while os.getppid() == mother: time.sleep(.01)\n"
            "step = 0\n"
            "while True:\n"
            "    step += 1; row = (step, os.getpgid(0) + step % 7 / 10)\n"
            '    log.write(\'{"step": %d, "critic/score/mean": %f}\\n\' % row); log.flush(); time.sleep(.03)\n'
        )

        def stage(scene: Scene, program: str = program) -> None:
            scene.start(*PYTHON, program, str(scene.log), str(scene.folder / "bad.up"))
            wait(lambda: scene.log.exists() and scene.log.stat().st_size > 0)
            named(scene, "bad")

        yield f"a child that {'ignores' if ignores else 'never gets'} the signal", stage


def killed() -> Iterator[tuple[str, Stage]]:
    """A watch is killed, its clock set, or its disk full; its order is a signal, a file, a command, or a word."""
    faults: dict[str, dict[str, object]] = {f"killed {window}": {"window": window} for window in WINDOWS}
    faults |= {f"killed {kills} times": {"kills": kills} for kills in (1, 2, 4)}
    faults |= {f"clock off by {off:g} s": {"clock": off} for off in (-86400.0, 86400.0, 3e7)}
    faults |= {"full disk": {"full": True}, "full disk, killed twice": {"full": True, "kills": 2}}
    faults |= {"several paths": {"several": True}, "resumed": {"resumes": True}}
    for (about, fault), order in itertools.product(faults.items(), ("sigterm", "file", "command", "stop")):

        def stage(scene: Scene, fault: dict[str, object] = fault, order: str = order) -> None:
            scene.order = order
            for name, value in fault.items():
                setattr(scene, name, value)
            scene.start(*scene.train("bad", saving="0.2"))
            named(scene, "bad")

        yield f"{about}, {order}", stage


def bystanders() -> Iterator[tuple[str, Stage]]:
    """The number is that of somebody who has nothing to do with it, or of a training that is paused or has ended."""
    others = {"sleeps": "sleep 600", "reads the log": "tail -f {log}", "is a shell": "bash -c 'sleep 600; true'",
              "is paused": "", "has ended": "", "is our parent": ""}  # fmt: skip
    for about, words in others.items():

        def stage(scene: Scene, about: str = about, words: str = words) -> None:
            first = scene.start(*scene.train("bad"))
            named(scene, "bad")
            if words:
                scene.target = str(scene.script(f"exec {words}".format(log=scene.log)).pid)
            elif about == "is our parent":
                scene.target = str(os.getpid())
            elif about == "is paused":
                os.kill(first.pid, signal.SIGSTOP)
            else:
                first.kill()
                first.wait()
                scene.crashed, scene.lost = first.pid, ()

        yield about, stage


KINDS: dict[str, Callable[[], Iterator[tuple[str, Stage]]]] = {
    "an ordinary training": plain,
    "the same with a journal": journaled,
    "a launcher that polls its children": launchers,
    "a script with several things to run": scripts,
    "a training that was started again": restarts,
    "a log shipper": shippers,
    "a pid of another host": foreign,
    "two watches": two_watches,
    "one process, two runs": two_runs,
    "xargs -P2": xargs,
    "one of several ranks": ranks,
    "a pipe": pipes,
    "an orphan": orphans,
    "a watch that is killed or misled": killed,
    "somebody else": bystanders,
}


# --- the watch


def watch_on(scene: Scene, order: str, name: str, *, dry: bool) -> None:
    """The session of a watch, with looks laid down. Never returns."""
    os.environ["XDG_STATE_HOME"] = str(scene.folder / f"home{name}")
    actors.FIXED = scene.folder / "claims"
    actors.SAMPLED, actors.LATER, actors.STILL = 0.05, 2.0, 4.0  # seconds that a scene has no time for
    if scene.clock:
        plain = time.time
        time.time = actors.Actor.__init__.__kwdefaults__["wall"] = lambda: plain() + scene.clock
    paths = (scene.watched, *([scene.folder / "not-there-yet"] if scene.several else []))
    entries = tuple(WatchEntry(str(path), order, dry_run=dry) for path in paths)
    with Store(scene.disk / f"state{name}.db") as store:
        session = sessions._Session(Options(entries, headless=True, answer=scene.folder / "answer.json"), store)
        while True:
            session.watch.tick()
            for watched in list(session.watch.runs.values()):
                watched.due.clear()
                made = [one for one in store.looks(watched.number) if one.life == watched.cursor.life]
                if len(made) < len(LOOKS) and (scene.folder / "go").exists():
                    hit("before the look")
                    with contextlib.suppress(sqlite3.Error):  # a full disk: it is made again
                        look_at(store, watched, LOOKS[len(made)])
                    hit("after the look")
            session.settle()
            time.sleep(0.01)


def look_at(store: Store, watched: Watched, step: int) -> None:
    judgement = {"verdict": "roll_back", "p_continue_pays": 0.02, "best_checkpoint": None, "because": ["x"]}
    run = {"first_step": 0, "last_step": step, "planned_steps": 1000}
    body = json.dumps({"run": run, "judgement": judgement, "findings": []}).encode()
    cursor, attempt = watched.cursor, watched.sighting.attempt
    digest = f"{cursor.life} {attempt} {step}"
    told = Look(
        watched.identity, cursor.life, step, step, "schedule", time.time(), "roll_back", 0.02, None, "Roll back.",
        digest, body, attempt,
    )  # fmt: skip
    cursor = replace(cursor, step=max(1, watched.sighting.current - 1), points=max(1, watched.sighting.settled))
    store.record(watched.number, Made(told, None), cursor=cursor)
    watched.cursor, watched.last = cursor, told


_armed = ""


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


def forked(scene: Scene, order: str, name: str, *, dry: bool = False, window: str = "") -> int:
    child = os.fork()
    if child == 0:
        try:
            with (scene.folder / f"said{name}").open("a") as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
            arm(window)
            watch_on(scene, order, name, dry=dry)
        except BaseException as error:
            print(f"the watch ended: {type(error).__name__}: {error}", flush=True)
        finally:
            os._exit(3)
    return child


def ended(pid: int) -> None:
    """End a watch that this process has forked, unless it has ended."""
    if not over(pid):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        _over.add(pid)


_over: set[int] = set()  # watches that have ended: their numbers may be somebody else's by now


def over(pid: int) -> bool:
    if pid not in _over and os.waitpid(pid, os.WNOHANG)[0] == pid:
        _over.add(pid)
    return pid in _over


def looks(scene: Scene, name: str) -> list[object]:
    with contextlib.suppress(Exception), Store(scene.disk / f"state{name}.db", write=False) as store:
        return [one for run in store.names().values() for one in store.looks(run)]
    return []


def told(scene: Scene, name: str) -> list[tuple[str, str]]:
    with contextlib.suppress(Exception), Store(scene.disk / f"state{name}.db", write=False) as store:
        found = [action for run in store.names().values() for _, action in store.actions(run)]
        return [(str(one["state"]), str(one["says"])) for one in found if str(one["order"]).startswith(scene.order)]
    return []


# --- one scene


def play(scene: Scene, stage: Stage) -> tuple[str, str]:
    scene.log.parent.mkdir()
    scene.disk.mkdir()
    scene.watched = scene.log.parent
    stage(scene)
    order = scene.text
    if scene.full:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "scene", str(scene.disk)], check=True)
    names = [str(number) for number in range(scene.watches)]
    for start in range(scene.starts):
        if start == scene.starts - 1 and scene.judges and not scene.full:
            (scene.folder / "go").touch()
        children = [forked(scene, order, name, window=scene.window) for name in names]
        if start < scene.starts - 1:
            wait(lambda: all(looks(scene, name) or told(scene, name) for name in names), 1.0)
            for child in children:
                ended(child)
    if scene.full:
        wait(lambda: known(scene, order))
        fill(scene.disk)
        (scene.folder / "go").touch()
    moments = random.Random(scene.name)
    for _ in range(scene.kills):
        time.sleep(moments.expovariate(1 / 0.08))
        ended(children[0])
        children = [forked(scene, order, "0")]
    if scene.full:
        time.sleep(0.3)
        (scene.disk / "filler").unlink()
    until = time.monotonic() + (10.0 if not scene.lost else PATIENCE)
    while time.monotonic() < until:
        if over(children[0]) and "Can't act on" not in said(scene, "0"):
            children[0] = forked(scene, order, "0")
        last = [told(scene, name) for name in names]
        refused = ["Can't act on" in said(scene, name) for name in names]
        if all((one and one[-1][0] in ENDED) or no for one, no in zip(last, refused, strict=True)):
            time.sleep(0.2)
            break
        time.sleep(0.05)
    for child in children:
        ended(child)
    if scene.resumes and scene.signals("bad"):  # nobody's target: it has another number now
        scene.start(*scene.train("again", first=3))
        scene.pid("again")
        child = forked(scene, order, "0")
        time.sleep(0.8)
        ended(child)
    return judged(scene, names)


def known(scene: Scene, order: str) -> bool:
    """Whether the watch has written down what the order names."""
    with contextlib.suppress(Exception), Store(scene.disk / "state0.db", write=False) as store:
        return store.order(order) is not None
    return False


def said(scene: Scene, name: str) -> str:
    file = scene.folder / f"said{name}"
    return file.read_text() if file.exists() else ""


def judged(scene: Scene, names: Sequence[str]) -> tuple[str, str]:
    entries = [one for name in names for one in told(scene, name)]
    last = entries[-1] if entries else ("", " ".join(said(scene, "0").split()[-60:]))
    everyone = scene.trainings()
    ran = (scene.folder / "ran").read_text().count("ran") if (scene.folder / "ran").exists() else 0
    if ran > 1 or (scene.several and (ran or (scene.folder / "stop").exists())):
        return "harmed", f"done {ran} times, several: {scene.several}: {last[1]}"
    hit = {name: len(scene.signals(name)) for name in everyone if scene.signals(name)}
    for name in everyone:
        by_us = hit.get(name, 0)
        if by_us and name not in scene.lost:
            return "harmed", f"{name} was signalled: {last[1]}"
        if by_us > 1:
            return "harmed", f"{name} was signalled {by_us} times"
    for process in scene.begun:
        trains = process.pid == scene.crashed or any(everyone.get(name) == process.pid for name in scene.lost)
        if (code := process.poll()) is not None and code < 0 and not trains:
            return "harmed", f"process {process.pid} was ended by signal {-code}: {last[1]}"
    shipper = scene.folder / "shipper"
    if shipper.exists() and not alive(int(shipper.read_text())):
        return "harmed", f"the shipper was ended: {last[1]}"
    good = [name for name in everyone if name not in scene.lost and name != "bad" and not alive(everyone[name])]
    if good:
        return "harmed", f"{good[0]} was ended: {last[1]}"
    goes_on = [pid for name, pid in everyone.items() if name in scene.lost and alive(pid)]
    if scene.order in ("file", "command", "stop") and (hit or not goes_on):
        return "harmed", f"{scene.order} ended the training"
    if scene.order in ("file", "command", "stop") and (ran or last[0] == "done"):
        return "right", last[1]
    if last[0] == "done" and (goes_on or (grows(scene) and not scene.resumes)):  # what was resumed is another
        return "harmed", f"said to have ended, and it goes on: {last[1]}"
    if hit or (scene.lost and not goes_on):
        return "right", last[1]
    if last[0] in ("refused", "failed") or "Can't act on" in last[1]:
        remedies = ("Restart the watch", "Check it", "Can't act on")
        remedy = ": " in last[1].partition("did not: ")[2] or any(one in last[1] for one in remedies)
        return ("refused" if remedy else "lost"), last[1]
    if not scene.lost and last[0] in ("", "dry"):
        return "right", "left alone"
    return "lost", f"{entries} {said(scene, '0')[-300:]}"


def grows(scene: Scene) -> bool:
    size = scene.log.stat().st_size
    time.sleep(0.15)
    return scene.log.stat().st_size > size


def clean(scene: Scene) -> None:
    mark = f"{MARK}={scene.folder}".encode()
    for process in everything().values():
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0"):
                os.kill(process.pid, signal.SIGKILL)
    for one in scene.begun:
        one.kill()
        one.wait()
    if scene.full:
        subprocess.run(["umount", "-l", str(scene.disk)], capture_output=True)
    shutil.rmtree(scene.folder, ignore_errors=True)


# --- the callback: what it recommends must not be rotated away


def rotations() -> Iterator[tuple[str, bool, int, int]]:
    for stop, limit, every in itertools.product((False, True), (1, 2, 3), (10, 25)):
        yield f"stop={stop}, {limit} kept by the trainer, saved every {every} steps", stop, limit, every


def rotated(folder: Path, stop: bool, limit: int, every: int) -> tuple[str, str]:
    """A training that is best at its second checkpoint, saves on, and is told to go back to that one at the end."""
    output = folder / "out"
    output.mkdir(parents=True)
    args = SimpleNamespace(output_dir=str(output), save_total_limit=limit, world_size=1, save_strategy="steps",
                           run_name="x", to_dict=dict)  # fmt: skip
    state = SimpleNamespace(is_world_process_zero=True, max_steps=1000, global_step=0)
    control = SimpleNamespace(should_save=False, should_training_stop=False)
    hooks = Hooks(watch=False, stop=stop)
    hooks.on_train_begin(args, state, control)
    assert hooks.run is not None
    assert hooks.run.folder is not None
    best = 2 * every
    for step in range(1, 10 * every + 1):
        saves = step % every == 0
        state.global_step, control.should_save = step, saves
        hooks.on_step_end(args, state, control)
        if saves:
            (output / f"checkpoint-{step}").mkdir()
            (output / f"checkpoint-{step}" / "model.safetensors").write_text(str(step))
            hooks.on_save(args, state, control)
            saved = sorted(output.glob("checkpoint-*"), key=lambda one: int(one.name.rpartition("-")[2]))
            for old in saved[:-limit]:
                shutil.rmtree(old)
        if step >= best + 1 and (step - 1) % every == 0:
            over = step > 8 * every
            answer = {"verdict": "roll_back" if over else "continue", "says": "", "act": over, "at": time.time() + 1,
                      "best_checkpoint": {"step": best, "path": str(output / f"checkpoint-{best}")}}  # fmt: skip
            (hooks.run.folder / ANSWER).write_text(json.dumps(answer))
    found = [one for one in (*output.glob("checkpoint-*"), *(output / KEPT).glob("*")) if
             (one / "model.safetensors").read_text() == str(best)]  # fmt: skip
    kept = len(list((output / KEPT).glob("*")))
    if not found or kept > 2:
        return "harmed", f"{'gone' if not found else f'{kept} are kept'}"
    return "right", str(found[0])


# --- all of them


def listed() -> list[tuple[str, str, Stage | None, str]]:
    """Every scene: its kind, what is special about it, how its stage is set, and the signal."""
    found: list[tuple[str, str, Stage | None, str]] = []
    for kind, draw in KINDS.items():
        for order in ("sigterm", "sigint"):
            found += [(kind, f"{order}: {about}", stage, order) for about, stage in draw()
                      if order == "sigterm" or kind in BOTH]  # fmt: skip
    found += [("a checkpoint that is rotated", about, None, "") for about, *_ in rotations()]
    return found


BOTH = ("a script with several things to run", "an ordinary training")


def played(number: int, top: Path) -> tuple[str, str, str, str]:
    kind, about, stage, order = listed()[number]
    if stage is None:
        _, *how = next(one for one in rotations() if one[0] == about)
        return kind, about, *rotated(top / str(number), *how)  # type: ignore[arg-type]
    scene = Scene(about, top / str(number), order)
    scene.folder.mkdir(parents=True)
    try:
        return kind, about, *play(scene, stage)
    except Exception as error:
        return kind, about, "lost", f"{type(error).__name__}: {error}"
    finally:
        clean(scene)


def run(jobs: int, only: str | None, *, every: bool) -> int:
    """Play the scenes and print what became of them."""
    top = Path(tempfile.mkdtemp(prefix="acting-"))
    numbers = [number for number, one in enumerate(listed()) if only is None or only in f"{one[0]}: {one[1]}"]
    workers = []
    for job in range(jobs):
        child = os.fork()
        if child == 0:
            with (top / f"{job}.jsonl").open("w", buffering=1) as out:
                for number in numbers[job::jobs]:
                    out.write(json.dumps([number, *played(number, top)]) + "\n")
            os._exit(0)
        workers.append(child)
    for child in workers:
        os.waitpid(child, 0)
    found = sorted(json.loads(line) for file in top.glob("*.jsonl") for line in file.read_text().splitlines())
    shutil.rmtree(top, ignore_errors=True)
    outcomes = ("right", "refused", "harmed", "lost")
    counts = Counter((kind, outcome) for _, kind, _, outcome, _ in found)
    kinds = list(dict.fromkeys(kind for _, kind, *_ in found))
    rows = [[kind, *(str(counts[kind, outcome]) for outcome in outcomes)] for kind in kinds]
    rows.append(["all", *(str(sum(counts[kind, outcome] for kind in kinds)) for outcome in outcomes)])
    if every:
        for _, kind, about, outcome, why in found:
            print(f"{outcome:8}{kind}: {about}\n        {' '.join(why.split())[:400]}")
    print(Table(f"Acting: {len(found)} scenes", "0 harmed, 0 lost", ("kind", *outcomes), rows).text())
    bad = [one for one in found if one[3] in ("harmed", "lost")]
    for _, kind, about, outcome, why in bad:
        print(f"{outcome}: {kind}: {about}: {' '.join(why.split())[:500]}")
    return 1 if bad else 0
