"""Damaged logs: `python bench/fuzz.py [--files N] [--processes P] [--journal FILE]`.

Every sample of every source, and a bundled run as long logs in the usual styles, is damaged in every way, again and
again: bits, bytes, cuts, repeats, huge numbers, NaN, encodings, swapped and lost lines. Counted are tracebacks,
warnings, hangs, memory, and numbers that changed without a note: more of them than stand in the lines that were
touched. A case is its sample, its damage and its seed, so each defect is made again by one command, which is printed
with it. With a journal a run that was ended goes on where it was.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import atexit
import contextlib
import json
import multiprocessing
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

from tables import Table

from leadline import pipeline
from leadline.errors import LeadlineError, NotOneRun
from leadline.report import data, html, markdown, terminal
from leadline.run import Run
from leadline.sources import open_run

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "tests" / "sources" / "samples"
EXAMPLES = ROOT / "leadline" / "examples"
LONGEST = 20  # seconds of a case
LARGEST = 4 << 30  # bytes of address space a case may ask for
READ_ONE_IN = 25  # cases that are also read and rendered, which takes a hundred times as long
BATCH = 40
NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
HUGE = (b"1e308", b"-1.7e308", b"9" * 40, b"1e400", b"-" + b"9" * 25, b"18446744073709551616", b"5e-324")
NOT_A_NUMBER = (b"NaN", b"nan", b"Infinity", b"-inf", b"null", b"None", b"''")

Damage = Callable[[bytes, random.Random], tuple[bytes, int]]  # the data, and how many lines it touches; -1: any number


def bits(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    damaged = bytearray(data)
    count = rng.choice((1, 1, 1, 3, 20))
    for _ in range(count):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged), 2 * count


def bad_byte(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    damaged = bytearray(data)
    damaged[rng.randrange(len(damaged))] = rng.choice((0x00, 0xFF, 0x80, 0x0D, 0x1B, 0x7B, 0x7D, 0x27, 0x22, 0x2C))
    return bytes(damaged), 2


def cut(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    return data[: rng.randrange(1, len(data))], 2


def beheaded(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    return data[rng.randrange(1, len(data)) :], -1


def repeat(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.randrange(1, 2000))
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:], -1


def some_number(data: bytes, rng: random.Random, words: tuple[bytes, ...]) -> tuple[bytes, int]:
    found = list(NUMBER.finditer(data))
    if not found:
        return data, 0
    place = rng.choice(found)
    return data[: place.start()] + rng.choice(words) + data[place.end() :], 2


def huge(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    return some_number(data, rng, HUGE)


def not_a_number(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    return some_number(data, rng, NOT_A_NUMBER)


def all_huge(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    word = rng.choice((*HUGE, *NOT_A_NUMBER))
    share = rng.choice((0.02, 0.3, 1.0))
    return NUMBER.sub(lambda found: word if rng.random() < share else found[0], data), -1


def encoding(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    text = data.decode("utf-8", errors="replace")
    way = rng.choice(("utf-16", "utf-32", "utf-8-sig", "cp1252", "utf-7", "crlf", "cr"))
    if way in ("crlf", "cr"):
        return data.replace(b"\n", b"\r\n" if way == "crlf" else b"\r"), -1
    return text.encode(way, errors="replace"), -1


def swapped(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data, 0
    left, right = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[left], lines[right] = lines[right], lines[left]
    return b"".join(lines), -1


def lost_lines(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines if rng.random() > 0.05), -1


def garbage(data: bytes, rng: random.Random) -> tuple[bytes, int]:
    place = rng.randrange(len(data))
    return data[:place] + rng.randbytes(rng.choice((1, 30, 5000))) + data[place:], -1


DAMAGES: dict[str, Damage] = {
    damage.__name__: damage
    for damage in (
        bits, bad_byte, cut, beheaded, repeat, huge, not_a_number, all_huge, encoding, swapped, lost_lines, garbage,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case; `kind` is "fine", "refused" or the kind of a defect."""

    case: str
    kind: str
    detail: str = ""


@cache
def samples() -> dict[str, Path]:
    """Every file of the samples, and of the bundled runs, that is a log or part of one, by its path."""
    found = {}
    for root in (SAMPLES, EXAMPLES):
        for file in sorted(root.rglob("*")):
            if file.is_file() and file.suffix not in (".py", ".md", ".pyc") and file.stat().st_size and _is_log(file):
                found[str(file.relative_to(ROOT))] = file
    return found | {f"long/{file.name}": file for file in _long_logs()}


def _long_logs() -> list[Path]:
    """A bundled run in the styles in which logs are written. The samples are a few rows long: there a touched line is
    all of the log, and hardly any number could change unseen."""
    run = open_run(EXAMPLES / "healthy")
    columns = {
        series.key: dict(zip(series.steps.tolist(), series.values.tolist(), strict=True)) for series in run.series
    }
    keys = list(columns)[:8]
    steps = [step for step in columns[keys[0]] if all(step in columns[key] for key in keys)]
    rows = [(step, {key: float(f"{columns[key][step]:.5g}") for key in keys}) for step in steps]
    simple = [(step, {re.sub(r"\W", "_", key): value for key, value in row.items()}) for step, row in rows]
    written = {
        "rows.jsonl": [json.dumps({"step": step, **row}) for step, row in rows],
        "rows.csv": [",".join(["step", *keys]), *(",".join(map(str, [step, *row.values()])) for step, row in rows)],
        "mappings.log": [str({"step": step, **row}) for step, row in rows],
        "stepless.log": [str({**row, "epoch": step / 100}) for step, row in rows],
        "pairs.log": [f"step={step} " + " ".join(f"{key}={held}" for key, held in row.items()) for step, row in simple],
        "verl.log": [
            f"step:{step} - " + " - ".join(f"{key}:{held}" for key, held in row.items()) for step, row in rows
        ],
        "logging.log": [
            f"2026-01-01 00:00:00,000 INFO trainer.py:10 Step {step} | "
            + " | ".join(f"{k}: {v}" for k, v in row.items())
            for step, row in simple
        ],
    }
    folder = Path(tempfile.mkdtemp(prefix="leadline-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, lines in written.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return [folder / name for name in written]


def _is_log(file: Path) -> bool:
    try:
        return bool(open_run(place_of(file)).series)
    except LeadlineError as error:
        return isinstance(error, NotOneRun)


def cases(count: int, seed: int) -> Iterator[str]:
    """Cases in an order in which every sample and every damage come early."""
    names, damages = list(samples()), list(DAMAGES)
    for number in range(count):
        yield f"{names[number % len(names)]}:{damages[(number // len(names)) % len(damages)]}:{seed + number}"


@cache
def whole(name: str) -> Run | None:
    """A sample as it is; None where it is no log by itself."""
    try:
        return open_run(place_of(samples()[name]))
    except LeadlineError:
        return None


def place_of(file: Path) -> Path:
    """What a user would pass: the file, or the tracker's folder it is part of."""
    for folder in (file, *file.parents):
        if folder.name in ("mlruns", "tensorboard") and folder.is_dir():
            return folder
        if folder in (SAMPLES, EXAMPLES):
            break
    return file


def numbers(run: Run) -> dict[tuple[str, int], float]:
    return {
        (series.key, step): value
        for series in (*run.series, *run.unread)
        for step, value in zip(series.steps.tolist(), series.values.tolist(), strict=True)
    }


def tried(case: str) -> Outcome:
    """One case, in a folder of its own."""
    name, damage, seed = case.rsplit(":", 2)
    file = samples()[name]
    rng = random.Random(case)  # the same damage each time is what is wanted
    data, touched = DAMAGES[damage](file.read_bytes(), rng)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        place = place_of(file)
        if place.is_dir():
            shutil.copytree(place, Path(folder) / place.name)
            copy = Path(folder) / place.name
            (copy / file.relative_to(place)).write_bytes(data)
        else:
            copy = Path(folder) / file.name
            copy.write_bytes(data)
        return looked_at(case, copy, touched, name, read=int(seed) % READ_ONE_IN == 0)


def looked_at(case: str, place: Path, touched: int, name: str, *, read: bool) -> Outcome:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                run = open_run(place)
                if read:
                    reading = pipeline.read_run(run)
                    for renderer in (terminal, data, markdown, html):
                        renderer.render(reading)
            except LeadlineError:
                return Outcome(case, "refused")
    except TimeoutError:
        return Outcome(case, "hang", "".join(traceback.format_stack()[-1:]))
    except MemoryError:
        return Outcome(case, "memory", f"asked for more than {LARGEST >> 30} GiB")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        return Outcome(case, "exception", f"{type(error).__name__} at {where}: {error}"[:200])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if grown > 1 << 19:  # KiB
        return Outcome(case, "memory", f"{grown >> 10} MiB more")
    if said:
        where = f"{Path(said[0].filename).name}:{said[0].lineno}"
        return Outcome(case, "warning", f"{said[0].category.__name__} at {where}: {said[0].message}"[:200])
    return _changed(case, run, touched, name) or Outcome(case, "fine")


def _too_long(*_: object) -> None:
    raise TimeoutError


def _changed(case: str, run: Run, touched: int, name: str) -> Outcome | None:
    """Whether more numbers changed than stand in the lines that were touched, and nothing says so."""
    known = whole(name)
    if touched < 0 or known is None or run.notes != known.notes or run.events != known.events:
        return None
    there, now, keys = numbers(known), numbers(run), len(known.series) + len(known.unread)
    other = [key for key, value in now.items() if key in there and repr(value) != repr(there[key])]
    if len(other) <= touched * max(keys, 1):
        return None
    return Outcome(case, "changed", f"{len(other)} of {len(there)} numbers, such as {other[0]}")


def batch(some: list[str]) -> list[Outcome]:
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
    return [tried(case) for case in some]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000, help="damaged files to try")
    parser.add_argument("--seed", type=int, default=0, help="of the first file; each has its own")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--journal", type=Path, help="keeps what was done; with it a run goes on where it was")
    parser.add_argument("--one", metavar="CASE", help="try one case, with its traceback")
    told = parser.parse_args()
    if told.one:
        return _one(told.one)
    outcomes = _resumed(told.journal)
    todo = [case for case in cases(told.files, told.seed) if case not in outcomes]
    print(f"{told.files} files, seeds {told.seed} to {told.seed + told.files - 1}, {len(outcomes)} done before")
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(told.journal.open("a")) if told.journal else None
        pool = stack.enter_context(ProcessPoolExecutor(told.processes, mp_context=multiprocessing.get_context("spawn")))
        batches = [todo[at : at + BATCH] for at in range(0, len(todo), BATCH)]
        for done in pool.map(batch, batches):
            for outcome in done:
                outcomes[outcome.case] = outcome
                if journal:
                    journal.write(json.dumps(asdict(outcome)) + "\n")
            if journal:
                journal.flush()
    return _report(outcomes)


def _one(case: str) -> int:
    outcome = tried(case)
    print(f"{outcome.kind}: {outcome.detail}")
    if outcome.kind in ("exception", "hang", "memory"):
        name, damage, _ = case.rsplit(":", 2)
        file = samples()[name]
        data, _ = DAMAGES[damage](file.read_bytes(), random.Random(case))
        kept = Path(tempfile.mkdtemp()) / file.name
        kept.write_bytes(data)
        print(f"kept as {kept}")
        with contextlib.suppress(LeadlineError):
            pipeline.read(kept)  # its traceback is what was asked for
    return int(outcome.kind not in ("fine", "refused"))


def _resumed(journal: Path | None) -> dict[str, Outcome]:
    if journal is None or not journal.exists():
        return {}
    outcomes = {}
    for line in journal.read_text().splitlines():
        with contextlib.suppress(ValueError, TypeError):  # the line at which it was killed
            outcome = Outcome(**json.loads(line))
            outcomes[outcome.case] = outcome
    return outcomes


def _report(outcomes: dict[str, Outcome]) -> int:
    kinds = ("fine", "refused", "exception", "warning", "hang", "memory", "changed")
    by_damage: dict[str, Counter[str]] = {}
    for outcome in outcomes.values():
        by_damage.setdefault(outcome.case.rsplit(":", 2)[1], Counter())[outcome.kind] += 1
    by_damage["all"] = sum(by_damage.values(), Counter())
    rows = [
        [damage, str(counts.total()), *(str(counts[kind]) for kind in kinds)] for damage, counts in by_damage.items()
    ]
    target = "nothing but `fine` and `refused`, which is one clear sentence"
    print(Table("Damaged files", target, ["damage", "files", *kinds], rows).text())
    defects = [outcome for outcome in outcomes.values() if outcome.kind not in ("fine", "refused")]
    alike: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in defects:
        alike.setdefault((outcome.kind, re.sub(r"\d+", "#", outcome.detail)[:90]), []).append(outcome)
    for (kind, _), some in sorted(alike.items(), key=lambda item: -len(item[1])):
        print(f"{len(some)} x {kind}: {some[0].detail}\n    python bench/fuzz.py --one '{some[0].case}'")
    return int(bool(defects))


if __name__ == "__main__":
    sys.exit(main())
