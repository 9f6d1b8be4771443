"""Held-out scores that a loop prints in words between rows that name no step."""

from __future__ import annotations

import re

from ...vocabulary.names import tokens
from .grammar import METRIC
from .pieces import is_value, pieces
from .rows import Rows

LONGEST = 200  # characters of such a line
NAME = re.compile(r"[A-Za-z]\w*(?:[_/@.-]\w+)+")  # as a program calls it: no words of a sample or a sentence


class PrintedEvaluations:
    """`batch 10 done, eval_acc: 0.48` below a row of training. Only what a program calls held-out counts, and only one
    value of it between two rows: several are of single samples."""

    marks: tuple[bytes, ...] = (b"eval", b"val_", b"val/", b"valid", b"test_", b"test/")

    def __init__(self) -> None:
        self.heard = False

    def take(self, line: str, rows: Rows) -> bool:
        """Never the line's only reader: it may be a row in words as well."""
        if not rows.counts_on or len(line) > LONGEST or "%|" in line or not METRIC.search(line):
            return False
        joined = [one for one in pieces(line) if one.joined and not one.listed and is_value(one)]
        scores: dict[str, object] = {
            one.label: one.values[0].replace(",", "")
            for one in joined
            if NAME.fullmatch(one.label) and "eval" in tokens(one.label) and METRIC.search(one.label)
        }
        if scores:
            self.heard = True
            rows.evaluated(scores)
        return False
