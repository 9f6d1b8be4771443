"""Is the first line right when people read it: `python bench/first_lines.py [--sets NAME ...] [--every N] [--cached]`.

Every run at hand at 30, 60 and 100 % of its length (bench/whole_runs.py): the verdict and its reason beside what the
truth says, how often it is "undecided", and whether what is said contradicts itself anywhere (bench/contradictions.py).
Without ../shared it says so.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import backtest
import whole_runs
from backtest_tables import gain_came
from contradictions import contradictions
from tables import Table, share

from leadline.facts.judgement import Verdict
from leadline.words.verdict import verdict_lines

LOOKS = (0.3, 0.6, 1.0)
KEPT = 0.1  # regret of a step that is as good as right
STORIES = "runs_dev"  # what is right there is told by the reward alone
NO_STORY = "no significant net change"  # how the index calls a run of which there is nothing to tell


@dataclass(frozen=True, slots=True)
class Line:
    """What was said at a look, and what the truth says to it."""

    run: str
    look: float
    verdict: Verdict
    says: str
    contradicts: tuple[str, ...]
    scored: bool
    regret: float | None = None  # of the step to keep
    came: bool = False  # a clear gain was still to come
    story: bool = True  # something happened in it, as its index says
    tells: float = 0.0  # regret that the truth itself cannot tell from none: the error of a difference of two levels

    @property
    def set(self) -> str:
        return self.run.split("/")[0]

    @property
    def right(self) -> bool | None:
        """Whether the action was right: going on while a clear gain came, ending when none did, and at the end a step
        that is as good as the best. None: it said that it cannot tell."""
        if self.look == 1:
            return self.regret is not None and self.regret <= KEPT
        if self.verdict == "undecided":
            return None
        return self.came is (self.verdict == "continue")

    @property
    def as_good(self) -> bool:
        """Whether the step that is kept at the end is as good as the best, as far as the truth can tell."""
        return self.regret is not None and self.regret <= max(KEPT, self.tells)


def lines_of(run: whole_runs.Whole) -> Iterator[Line]:
    truth = backtest.truth_of(run.name) if run.scored else None
    for look in run.looks:
        if look.share not in LOOKS:
            continue
        reading = look.reading
        said = (run.name, look.share, reading.judgement.verdict, verdict_lines(reading).text)
        against = tuple(dict.fromkeys(contradictions(reading)))
        if truth is None:
            yield Line(*said, against, scored=False)
        else:
            regret = None if look.kept is None else truth.regret(truth.snap(look.kept, look.step))
            came, tells = bool(gain_came(truth, look.step)), math.sqrt(2) * truth.se / (truth.S or 1.0)
            yield Line(*said, against, True, regret, came, backtest.label_of(run.name) != NO_STORY, tells)


def tables(runs: Iterator[whole_runs.Whole]) -> list[Table]:
    lines = [line for run in runs for line in lines_of(run)]
    return [_right(lines), _against(lines), _wrong(lines)]


def _right(lines: Sequence[Line]) -> Table:
    rows = []
    for name in dict.fromkeys(line.set for line in lines if line.scored):
        for look in LOOKS:
            here = [line for line in lines if line.scored and line.set == name and line.look == look]
            said = Counter(line.verdict for line in here)
            rows.append(
                [
                    name,
                    f"{look:.0%}",
                    share(line.right for line in here if line.right is not None),
                    share(line.right is None for line in here),
                    ", ".join(f"{verdict} {count}" for verdict, count in said.most_common()),
                ]
            )
    for name in dict.fromkeys(line.set for line in lines if line.scored):
        here = [line for line in lines if line.scored and line.set == name and line.look == 1 and line.story]
        rows.append([name, "100%, a story", share(line.right for line in here), "", ""])
        rows.append([name, "... as far as the truth can tell", share(line.as_good for line in here), "", ""])
    target = "at 100 %: right >= .95 zoo, .90 public with a known story; undecided 0"
    return Table("First lines", target, ["set", "look", "right of those said", "undecided", "verdicts"], rows)


def _against(lines: Sequence[Line]) -> Table:
    against: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        for what in line.contradicts:
            against[what].append(f"{line.run.split('/')[-1]}@{line.look:g}")
    rows = [[what, str(len(where)), ", ".join(where[:6])] for what, where in sorted(against.items())]
    rows.append(["any", share(bool(line.contradicts) for line in lines), ""])
    return Table("Readings that contradict themselves", "0", ["what", "looks", "where"], rows)


def _wrong(lines: Sequence[Line]) -> Table:
    wrong = [line for line in lines if line.scored and line.look == 1 and not line.right and line.set != STORIES]
    rows = [[line.run, "" if line.regret is None else f"{line.regret:.2f}", line.says[:160]] for line in wrong]
    return Table("Wrong at the end of the run", "none", ["run", "regret", "first line"], rows)


def main(argv: Sequence[str] | None = None) -> int:
    return whole_runs.main(__doc__, tables, argv)


if __name__ == "__main__":
    raise SystemExit(main())
