"""The phrasebook: `python docs/findings.py` writes docs/findings.md, `--check` says whether it is current.

Every verdict and every finding id: what it means, what it rests on, a sentence as it is printed, what to do about it
(docs/findings_guide.py), and how often it was right in the benches (docs/findings.json, which
`python bench/reading.py --record docs/findings.json` writes). The sentences are made from the facts in tests/words.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed
sys.path.insert(0, str(Path(__file__).resolve().parent))

import findings_guide as guide

from leadline.facts import Facts, Finding, Guide
from leadline.facts.judgement import Judgement
from leadline.findings import FACTS, GUIDES
from leadline.words import SENTENCES, sentence
from leadline.words.numbers import counted, percent
from leadline.words.verdict import CALLED, judgement_lines

HERE = Path(__file__).resolve().parent
PAGE, RECORD = HERE / "findings.md", HERE / "findings.json"
TOPICS = {
    "reward": "Reward",
    "kl": "KL to the reference",
    "policy_loss": "Policy loss",
    "generation": "Generated text",
    "signal": "Learning signal",
    "stability": "Stability",
    "agent": "Turns and tools",
    "onset": "Order of changes",
    "unexplained": "Unexplained",
    "resources": "Machine",
    "conflict": "Other work on the machine",
}
HEAD = """# Findings and verdicts

Made by `python docs/findings.py`; do not edit. Finding ids are stable: other programs may depend on them. Each finding
carries a probability that it is true, a severity (`note`, `concern`, `critical`), the step it began at, its facts by
name (`leadline schema`) and where it can be checked.
"""


ENTRIES = {**guide.FINDINGS, **GUIDES}


def page() -> str:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return "\n".join(_lines(record)) + "\n"


def _lines(record: dict[str, Any]) -> Iterator[str]:
    yield HEAD
    yield (
        f"How often it was right: {counted(record['runs'], 'run')} whose hidden truth is known, "
        f"{counted(record['looks'], 'look')} at equal shares of each (`bench/reading.py`). Concerns and critical "
        "findings are scored against what was done to the run; notes claim nothing and are only counted. A verdict is "
        "right where the hidden reward bears it out: it rose by another 5 % of its range, or it never did again."
    )
    yield "\n## Verdicts"
    examples = {verdict: judgement_lines(judgement).text for verdict, judgement, _ in said(Judgement)}
    for verdict, called in CALLED.items():
        yield from _entry(called, guide.VERDICTS[verdict], [examples[verdict]], record["verdicts"].get(verdict))
    sentences: dict[str, list[str]] = {}
    for name, facts, _ in said(Facts):
        sentences.setdefault(name, []).append(sentence(Finding(name, 1.0, "note", facts=facts)))
    for topic, title in TOPICS.items():
        yield f"\n## {title}"
        for name in sorted({*SENTENCES, *FACTS}):
            if name.partition(".")[0] == topic:
                yield from _entry(f"`{name}`", ENTRIES[name], sentences[name], record["findings"].get(name))


def said(kind: type) -> Iterator[tuple[str, Any, str]]:
    """The examples of the tests: what is said, its facts, its sentence."""
    for file in sorted((HERE.parent / "tests" / "words").glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield from (example for example in getattr(module, "SAID", ()) if isinstance(example[1], kind))


def _entry(title: str, entry: Guide | guide.Entry, examples: list[str], counts: dict[str, Any] | None) -> Iterator[str]:
    yield f"\n### {title}\n"
    yield f"{entry.means}\n"
    yield from (f"> {example}\n" for example in examples)
    yield f"- Rests on: {_small(entry.rests_on)}"
    yield f"- What to do: {_small(entry.do)}"
    yield f"- In the benches: {_counts(counts)}"


def _small(text: str) -> str:
    """Lower case after a colon, where the first word is no name."""
    return text if text[1:2].isupper() or text.startswith("GPU") else text[0].lower() + text[1:]


def _counts(counts: dict[str, Any] | None) -> str:
    if not counts:
        return "never said there."
    where = f"said at {counted(counts['said'], 'look')} of {counted(counts['runs'], 'run')}"
    if not counts["scored"]:
        return f"{where}; not scored."
    right, scored = counts["right"], counts["scored"]
    return f"{where}; right at {right} of the {scored} scored ({percent(right / scored)})."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Write nothing; exit with 1 where it is not current.")
    if parser.parse_args().check:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
