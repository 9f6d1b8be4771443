"""How much work one `leadline read` of a bundled run is, counted, not timed. A figure may only go down: who lowers it
lowers its budget here too. What it costs in seconds is measured by `bench/speed.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest
from conftest import EXAMPLES, ROOT

COUNT = """
import json, sys
from collections import Counter
from pathlib import Path

count, run = Counter(), str(Path(sys.argv[1]).resolve())

def opened(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and str(Path(arguments[0]).absolute()).startswith(run):
        count["files of the run opened"] += 1

sys.addaudithook(opened)
from leadline import records
from leadline.cli import main
from leadline.curve import breaks, fit, posterior
from leadline.text import measures

def counted(module, name, what):
    work = getattr(module, name)
    def once(*given, **named):
        count[what] += 1
        return work(*given, **named)
    setattr(module, name, once)

counted(records, "_compiled", "classes compiled")
counted(fit, "_pieces", "curves fitted")
counted(fit, "find_breaks", "series searched for breaks")
counted(posterior, "_models", "sets of models made")
counted(posterior, "_solve", "systems solved")
counted(breaks, "_fits", "looks at a break")
counted(breaks, "tame", "series tamed")
counted(measures, "held", "texts taken apart")
main(["read", sys.argv[1]])
first = Counter(count)
main(["read", sys.argv[1]])  # nothing changed: of all this work none is done again
kinds = ("curves fitted", "series searched for breaks", "systems solved", "looks at a break", "texts taken apart")
first["of it done again"] = sum(count[kind] - first[kind] for kind in kinds)
count = first
count["modules imported"] = sum(name.partition(".")[0] == "leadline" for name in sys.modules)
print(json.dumps(count), file=sys.stderr)
"""

MODULES = 150
BUDGETS = {
    "healthy": {
        "files of the run opened": 24,
        "classes compiled": 3,
        "curves fitted": 6,
        "sets of models made": 4,
        "systems solved": 4,
        "looks at a break": 2,
        "series searched for breaks": 9,
        "series tamed": 9,
        "texts taken apart": 2,
        "of it done again": 0,
        "modules imported": MODULES,
    },
    "collapsed": {
        "files of the run opened": 35,
        "classes compiled": 3,
        "curves fitted": 5,
        "sets of models made": 10,
        "systems solved": 10,
        "looks at a break": 108,
        "series searched for breaks": 8,
        "series tamed": 27,
        "texts taken apart": 2,
        "of it done again": 0,
        "modules imported": MODULES + 4,
    },
    "hacked": {
        "files of the run opened": 40,
        "classes compiled": 3,
        "curves fitted": 9,
        "sets of models made": 8,
        "systems solved": 8,
        "looks at a break": 32,
        "series searched for breaks": 11,
        "series tamed": 11,
        "texts taken apart": 2,
        "of it done again": 0,
        "modules imported": MODULES,
    },
}
SLACK = 0.05  # of a budget: what it may stand above its figure before it has to be lowered


@cache
def work_of(example: str) -> dict[str, int]:
    command = [sys.executable, "-c", COUNT, str(EXAMPLES / example)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    counted: dict[str, int] = json.loads(done.stderr.strip().splitlines()[-1])
    return counted


@pytest.mark.parametrize("example", BUDGETS)
def test_the_work_of_a_read_does_not_grow(example: str) -> None:
    counted, budget = work_of(example), BUDGETS[example]
    assert counted.keys() == budget.keys()
    grown = {what: (counted[what], most) for what, most in budget.items() if counted[what] > most}
    assert grown == {}, "more work than before: (now, budget)"
    shrunk = {what: (counted[what], most) for what, most in budget.items() if counted[what] < most * (1 - SLACK) - 1}
    assert shrunk == {}, "lower these budgets: (now, budget)"
