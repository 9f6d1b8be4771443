"""Every constant that may influence a finding: `python bench/constants.py` writes docs/constants.md from the code.

`--sweep` also reads a sample of the zoo with each of them halved and doubled, one process a variation, and keeps what
changed in docs/constants.json, from which the page takes its last two columns. A look is read again only where a
function that names the constant runs in it. `--only leadline.reading` sweeps a part.
What is kept there is not swept again: remove the file to begin anew.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = (
    *(f"leadline/{name}" for name in ("curve", "findings", "judgement", "questions", "reading", "text")),
    *("leadline/expected.py", "leadline/facts/finding.py", "leadline/sections.py"),
)
MOST = 131  # that decide something; it may only go down
# What decides nothing. How finely something is computed: draws, cells, rounding, how much text or how many files are
# read; another value costs time or digits.
RESOLUTION = {
    "curve.breaks": "BETS ROUNDING EXACT RESTARTS DEGENERATE LEAST_LOOK SHIFT_CELLS SIDE_BINS LOOKS",
    "curve.curve": "TIE",
    "curve.fit": "ORDINARY",
    "curve.noise": "CORRELATIONS FIT_LIMIT",
    "curve.posterior": "BASIS BLOCK CLOCKS PATHS NEGLIGIBLE WEIGHT_UNITS",
    "curve.shapes": "ROOM STEPS_PER_RUN",
    "curve.cells": "BINS CELLS EVEN ROUNDING SD_OF_MAD",
    "findings.resources_memory_growth": "ROUNDING",
    "findings.signal_sampler_mismatch": "MOST",
    "judgement.case": "SUREST",
    "judgement.weigh": "INSTANT",
    "questions.changes": "AVERAGED SMALLEST BELOW ZERO GLANCE ANGLES",
    "questions.direction": "GOLDEN LATTICE",
    "questions.forecast": "AHEAD",
    "questions.level": "NOTHING",
    "questions.onset": "DATES ROUNDING",
    "questions.schedule": "SINGLE POINTS WAVES LONGEST HALVINGS FITS",
    "reading.breaks": "MOST_KEYS",
    "reading.outage": "ROUNDING",
    "reading.processes": "CELLS MOST_GUESTS TREND SHIFTS",
    "reading.scores": "MOST ROUNDED",
    "reading.signal": "ROUNDING",
    "text.measures": "LOOKED_AT OTHERS TIMES",
    "text.prompts": "PAIRS CHARACTERS SHUFFLES ROUNDING PER_DOUBLING",
    "text.sampler": "FILES EDGE PROMPTS GROUPS MEMBERS",
    "text.track": "DRAWS GOLDEN BEST_KNOWN",
    "text.written": "BUDGET LEAST_TOKENS PER_WORD LONGEST",
}
# How much is shown or named.
SHOWN = {
    "facts.finding": "SHIFTED WAYS_NAMED",
    "curve.curve": "TENTHS NINE_TENTHS",
    "findings.generation_shortcut": "PHRASES",
    "findings.kl_reset": "NAMED SHOWN",
    "findings.signal_no_learning_signal": "SHOWN",
    "findings.timeline_order": "MOST",
    "judgement.decide": "CANDIDATES",
    "judgement.weigh": "MOST",
    "judgement.keep": "BELIEVED",
    "questions.fall": "NAMED",
    "reading.chart_data": "HELD_OUT PHASES",
    "text.phrases": "PHRASES",
    "text.evidence": "LAST WORST",
    "text.shown": "SHOWN CHARACTERS PROMPT SIDE ROOM LONGEST_OUTPUT SHORTEST_OUTPUT WEIGHED MARKS",
}
PAGE, SWEPT = ROOT / "docs" / "constants.md", ROOT / "docs" / "constants.json"
SAMPLE = (
    "healthy-0", "noisy_reward-0", "slow-0", "late-0", "saturated-0", "data_shift-0", "ref_reset-0", "random_reward-0",
    "drift-0", "entropy_collapse-0", "lr_step-0", "contains-0", "rm_overopt-0", "rm_kl_safe-0", "len_exploit-0",
    "telemetry_merger",
)  # fmt: skip
LOOKS = (0.3, 1.0)
HEAD = """# Constants

Written by `python bench/constants.py` from the code; a test compares them. Every number is dimensionless or counts
points, bins, steps or samples: none belongs to a metric. {deciding} of them decide something, at most {most} may. The
last two columns tell what changes when it is halved and doubled: reward words that become others, verdicts, concerns
that come (+) and go (-), over {looks} looks at runs of the zoo (`--sweep`). `same`: nothing; `fails`: the value makes
no sense any more; `unused`: no look of them asks it; `-`: not swept since the constant changed. What those of the
judgement do is in docs/judgement.md. A bar that served unrelated questions was one number and is several now, each
where it decides.

Swept: {swept}. A result is kept while module, name and value stay; code around it may have changed since.
"""
PARTS = {
    "decides": "What decides",
    "resolution": "How finely it is computed",
    "shown": "How much is shown",
}


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

    @property
    def part(self) -> str:
        for part, table in (("resolution", RESOLUTION), ("shown", SHOWN)):
            if self.name in table.get(self.module.removeprefix("leadline."), "").split():
                return part
        return "decides"


def constants() -> list[Constant]:
    """All of them, by module and in the order of the code."""
    places = [ROOT / place for place in PLACES]
    files = sorted(file for place in places for file in ([place] if place.is_file() else place.rglob("*.py")))
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
    deciding = [one for one in found if one.part == "decides"]
    rooms = sorted({one.module.split(".")[1] for one in deciding})
    of_room = {room: [one.key in swept for one in deciding if one.module.split(".")[1] == room] for room in rooms}
    told = ", ".join(f"{sum(known)} of {len(known)} in {room}" for room, known in of_room.items())
    lines = [HEAD.format(looks=len(SAMPLE) * len(LOOKS), deciding=len(deciding), most=MOST, swept=told)]
    for part, title in PARTS.items():
        lines += [f"## {title}\n", *_table([one for one in found if one.part == part], swept), ""]
    return "\n".join(lines)


def _table(found: Sequence[Constant], swept: dict[str, list[str]]) -> Iterator[str]:
    yield "| module | name | value | unit | why | halved | doubled |\n|---|---|---|---|---|---|---|"
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
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def kept() -> dict[str, list[str]]:
    return json.loads(SWEPT.read_text(encoding="utf-8")) if SWEPT.exists() else {}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zoo", type=Path, default=ROOT.parent / "shared" / "zoo")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="sweep the modules whose names begin so")
    given = parser.parse_args(argv)
    found = constants()
    if given.sweep:
        if not given.zoo.is_dir():
            print(f"skipped: no zoo at {given.zoo}")
            return 0
        from constants_sweep import sweep  # it opens the whole package, the page needs none of it

        keys, known = {one.key for one in found}, kept()
        wanted = [one for one in found if one.part == "decides" and one.module.startswith(given.only)]
        chosen = [one for one in wanted if one.key not in known]
        for one, told in sweep(chosen, given.zoo, given.processes):
            known = {key: what for key, what in known.items() if key in keys} | {one.key: told}
            SWEPT.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
            PAGE.write_text(page(constants(), known), encoding="utf-8")  # both say the same at any time
            print(f"{one.key}: halved {told[0]}, doubled {told[1]}", flush=True)
    PAGE.write_text(page(found, kept()), encoding="utf-8")
    bare = [f"{one.module}.{one.name}" for one in found if not one.why]
    deciding = sum(one.part == "decides" for one in found)
    print(
        f"{len(found)} constants in {PAGE.relative_to(ROOT)}, of which {deciding} decide something (at most {MOST})"
        + (f"; without a reason: {', '.join(bare)}" if bare else "")
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
