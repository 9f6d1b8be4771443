"""The phrasebook: `python docs/findings.py` writes docs/findings.md, `--check` says whether it is current.

Every verdict and every finding id: what it means, what it rests on, a sentence as it is printed, what to do about it
(GUIDE of each file in leadline/findings), and how often it was right in the benches (docs/findings.json, which
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

from leadline.digits import counted, percent
from leadline.facts.finding import Facts, Finding, Guide
from leadline.facts.judgement import Judgement
from leadline.findings import FACTS, GUIDES
from leadline.words.verdict import judgement_lines

HERE = Path(__file__).resolve().parent
PAGE, RECORD = HERE / "findings.md", HERE / "findings.json"
TOPICS = {
    "reward": "Reward",
    "kl": "KL to reference",
    "policy": "Policy",
    "policy_loss": "Policy loss",
    "generation": "Generated text",
    "signal": "Gradient signal",
    "stability": "Stability",
    "agent": "Turns and tools",
    "timeline": "Timeline",
    "unexplained": "Unexplained",
    "resources": "Machine",
    "conflict": "Other work on the machine",
}
HEAD = """# Findings and verdicts

Made by `python docs/findings.py`; do not edit. Finding ids are stable: other programs may depend on them. Each finding
carries a probability that it is true, a severity (`note`, `concern`, `critical`), the step it began at, its facts by
name (`leadline schema`) and where it can be checked.
"""


VERDICTS: dict[str, Guide] = {
    "continue": Guide(
        "The rest of the plan is likely to improve the score by more than it costs.",
        "A forecast of the judged series to the planned end, and no finding that says the gain would not count.",
        "Let it run. Look again at the step that is named.",
    ),
    "stop": Guide(
        "There is probably nothing more to gain, and the last state is as good as any.",
        "The forecast, how long the score has been flat, and the price of the remaining steps (`--price`).",
        "Stop the run and keep the checkpoint that is named. If you know of a reason why it should still rise (a "
        'schedule, a curriculum), let it run to the step named under "what would change this".',
    ),
    "roll_back": Guide(
        "An earlier state is better than the present one, and going on will not repair it.",
        "A fall that is clear against the run's own noise, or proof of reward hacking.",
        "Stop the run. Evaluate the checkpoint that is named before you go on from it, and find the cause first: "
        "the same settings will lead to the same place.",
    ),
    "undecided": Guide(
        "It is too early or too noisy to say.",
        "A probability between the two bars, or too few points.",
        "Let it run and look again at the step that is named.",
    ),
    "finished": Guide(
        "The run has ended: its plan is done, the trainer said so, or nothing has been logged for a long time.",
        "The planned number of steps, the last line of the log, its time stamps.",
        "Keep the checkpoint that is named. The chance that going on would pay is given in case you extend it.",
    ),
}


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
    for verdict, guide in VERDICTS.items():
        yield from _entry(
            verdict.replace("_", " ").capitalize(), guide, [examples[verdict]], record["verdicts"].get(verdict)
        )
    sentences: dict[str, list[str]] = {}
    for name, facts, _ in said(Facts):
        sentences.setdefault(name, []).append(Finding(name, 1.0, "note", facts=facts).say())
    for topic, title in TOPICS.items():
        yield f"\n## {title}"
        for name in sorted(FACTS):
            if name.partition(".")[0] == topic:
                yield from _entry(f"`{name}`", GUIDES[name], sentences[name], record["findings"].get(name))


def said(kind: type) -> Iterator[tuple[str, Any, str]]:
    """The examples of the tests: what is said, its facts, its sentence."""
    for file in sorted((HERE.parent / "tests" / "words").glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield from (example for example in getattr(module, "SAID", ()) if isinstance(example[1], kind))


def _entry(title: str, entry: Guide, examples: list[str], counts: dict[str, Any] | None) -> Iterator[str]:
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
