"""Every constant that may influence a finding: `python bench/constants.py` writes docs/constants.md from the code.

`--sweep` also reads a sample of the zoo with each of them halved and doubled, one process a variation, and keeps what
changed in docs/constants.json, from which the page takes its last two columns.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import ast
import importlib
import io
import json
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # so that a checkout works without being installed

PACKAGES = ("leadline/curve", "leadline/reading", "leadline/judgement")
PAGE, SWEPT = ROOT / "docs" / "constants.md", ROOT / "docs" / "constants.json"
SAMPLE = (
    "healthy-0", "noisy_reward-0", "slow-0", "late-0", "saturated-0", "data_shift-0", "ref_reset-0", "random_reward-0",
    "drift-0", "entropy_collapse-0", "lr_step-0", "contains-0", "rm_overopt-0", "rm_kl_safe-0", "len_exploit-0",
    "telemetry_merger",
)  # fmt: skip
LOOKS = (0.3, 1.0)
HEAD = """# Constants

Written by `python bench/constants.py` from the code; a test compares them. Every number is dimensionless or counts
points, bins, steps or samples: none belongs to a metric. The last two columns tell what changes when it is halved and
doubled: reward words that become others, concerns that come (+) and go (-), over {looks} looks at runs of the zoo
(`--sweep`). `same`: nothing; `fails`: the value makes no sense any more; `-`: not swept since the constant changed.
"""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number at the head of a module, with the comment behind it."""

    module: str
    name: str
    value: str  # as it is written
    unit: str
    why: str

    @property
    def key(self) -> str:
        return f"{self.module}.{self.name} = {self.value}"


def constants() -> list[Constant]:
    """All of them, by module and in the order of the code."""
    files = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    return [one for file in files for one in _in(file)]


def _in(file: Path) -> Iterator[Constant]:
    text = file.read_text(encoding="utf-8")
    comments = _comments(text)
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or value is None or not target.id.lstrip("_").isupper():
            continue
        if _is_number(value):
            said = _comment_at(comments, node.lineno, node.end_lineno or node.lineno)
            unit, colon, why = said.partition(": ")
            yield Constant(module, target.id, ast.unparse(value), unit if colon else "", why if colon else said)


def _is_number(value: ast.expr) -> bool:
    """A number, a sum of numbers, or a row of them; not a table of names."""
    allowed = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.operator, ast.unaryop, ast.Load)
    call = isinstance(value, ast.Call) and ast.unparse(value.func) == "np.array"
    inner = value.args[0] if isinstance(value, ast.Call) and call and value.args else value
    parts = list(ast.walk(inner))
    numbers = [part.value for part in parts if isinstance(part, ast.Constant)]
    plain = all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers)
    return bool(numbers) and plain and all(isinstance(part, allowed) for part in parts)


def _comments(text: str) -> dict[int, tuple[str, bool]]:
    """By line: the comment, and whether it stands alone there."""
    lines = text.splitlines()
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            found[row] = (token.string.lstrip("# ").rstrip(), not lines[row - 1][:column].strip())
    return found


def _comment_at(comments: dict[int, tuple[str, bool]], first: int, last: int) -> str:
    """The comment behind a constant, with the lines that carry it on; else the one above it."""
    parts = [comments[row][0] for row in range(first, last + 1) if row in comments]
    row = last + 1
    while parts and row in comments and comments[row][1]:
        parts.append(comments[row][0])
        row += 1
    if not parts and first - 1 in comments and comments[first - 1][1]:
        parts = [comments[first - 1][0]]
    return " ".join(part for part in parts if not part.startswith("fmt:"))


def page(found: Sequence[Constant], swept: dict[str, list[str]]) -> str:
    """docs/constants.md."""
    rows = []
    for one in found:
        halved, doubled = swept.get(one.key, ["-", "-"])
        cells = (
            f"`{one.module.removeprefix('leadline.')}`",
            f"`{one.name}`",
            one.value,
            one.unit,
            one.why,
            halved,
            doubled,
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    head = "| module | name | value | unit | why | halved | doubled |\n|---|---|---|---|---|---|---|\n"
    return HEAD.format(looks=len(SAMPLE) * len(LOOKS)) + "\n" + head + "\n".join(rows) + "\n"


def kept() -> dict[str, list[str]]:
    return json.loads(SWEPT.read_text(encoding="utf-8")) if SWEPT.exists() else {}


def sweep(found: Sequence[Constant], zoo: Path, processes: int) -> dict[str, list[str]]:
    """What changes with each constant halved and doubled."""
    base = _variation(zoo, None)
    jobs = [(one, factor) for one in found for factor in (0.5, 2.0)]
    with ThreadPoolExecutor(processes) as pool:
        said = list(pool.map(lambda job: _told(base, _variation(zoo, job)), jobs))
    return {one.key: said[2 * place : 2 * place + 2] for place, one in enumerate(found)}


def _variation(zoo: Path, job: tuple[Constant, float] | None) -> dict[str, object] | None:
    """What is said of the sample in a fresh process with one constant changed; None where that fails."""
    change = [] if job is None else ["--change", job[0].module, job[0].name, str(job[1])]
    command = [sys.executable, str(Path(__file__)), "--zoo", str(zoo), "--say", *change]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def _told(base: dict[str, object] | None, other: dict[str, object] | None) -> str:
    if base is None or other is None:
        return "fails"
    words = sum(base[look]["word"] != other[look]["word"] for look in base)  # type: ignore[index]
    came = sum(len(set(other[look]["ids"]) - set(base[look]["ids"])) for look in base)  # type: ignore[index]
    gone = sum(len(set(base[look]["ids"]) - set(other[look]["ids"])) for look in base)  # type: ignore[index]
    parts = [f"{words} words"] * bool(words) + [f"+{came}"] * bool(came) + [f"-{gone}"] * bool(gone)
    return " ".join(parts) or "same"


def say(zoo: Path) -> dict[str, object]:
    """Reward word and concerns of every run and look of the sample."""
    from leadline.pipeline import read_run
    from leadline.sources import open_run

    said: dict[str, object] = {}
    for name in SAMPLE:
        run = open_run(zoo / name)
        for part in LOOKS:
            reading = read_run(run.until(round(part * (run.last_step or 0))))
            ids = sorted({one.id for one in reading.findings if one.severity != "note"})
            said[f"{name}@{part}"] = {"word": reading.reward.shape, "ids": ids}
    return said


def change(module: str, name: str, factor: float) -> None:
    """Multiply a constant where it stands and wherever it was imported by name."""
    import leadline.pipeline  # noqa: F401  # loads every module that reads

    old = getattr(importlib.import_module(module), name)
    new = _times(old, factor)
    for loaded in [other for key, other in list(sys.modules.items()) if key.startswith("leadline") and other]:
        if loaded.__name__ == module or (module, name) in _imported(loaded):
            setattr(loaded, name, new)


def _times(value: object, factor: float) -> object:
    if isinstance(value, tuple):
        return tuple(_times(one, factor) for one in value)
    if isinstance(value, int):
        return max(round(value * factor), 1)
    return value * factor  # type: ignore[operator]


def _imported(module: object) -> set[tuple[str, str]]:
    """What a module imports by name from another of ours: (module, name)."""
    file = getattr(module, "__file__", None)
    if not file or not str(file).endswith(".py"):
        return set()
    package = module.__package__ or ""  # type: ignore[attr-defined]
    found = set()
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
            source = ".".join(part for part in (base if node.level else "", node.module or "") if part)
            found |= {(source, alias.name) for alias in node.names}
            # What a package passes on from one of its modules is that module's.
            loaded = sys.modules.get(source)
            if (
                loaded is not None
                and str(getattr(loaded, "__file__", "")).endswith("__init__.py")
                and loaded is not module
            ):
                found |= {
                    (origin, name) for origin, name in _imported(loaded) if any(a.name == name for a in node.names)
                }
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zoo", type=Path, default=ROOT.parent / "shared" / "zoo")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--say", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--change", nargs=3, metavar=("MODULE", "NAME", "FACTOR"), help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.say:
        if given.change:
            change(given.change[0], given.change[1], float(given.change[2]))
        print(json.dumps(say(given.zoo)))
        return 0
    found = constants()
    if given.sweep:
        if not given.zoo.is_dir():
            print(f"skipped: no zoo at {given.zoo}")
            return 0
        SWEPT.write_text(json.dumps(sweep(found, given.zoo, given.processes), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(found, kept()), encoding="utf-8")
    bare = [f"{one.module}.{one.name}" for one in found if not one.why]
    print(
        f"{len(found)} constants in {PAGE.relative_to(ROOT)}"
        + (f"; without a reason: {', '.join(bare)}" if bare else "")
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
