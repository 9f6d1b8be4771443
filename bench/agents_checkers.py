"""Graders that know the tasks of the zoos: exact checkers, written from the prompts alone."""

from __future__ import annotations

import re
from collections import Counter

# People in the prompts of the task that asks for the names of people: everything else there is a city or a plain word.
PEOPLE = frozenset(
    re.findall(
        r"\w+",
        "anna irene sven tilda boris clara david elena felix greta hugo ingrid jonas karin lukas maria nils olga peter "
        "quentin rosa stefan tanja ulrich vera walter xenia yara zeno",
    )
)


def check(prompt: str, answer: str) -> int | None:
    """The grade of an answer, from its prompt alone; None where the prompt is of no known task."""
    if not prompt and "=" in answer:  # a dump that keeps both in one text
        prompt, _, answer = answer.partition("=")
        prompt = f"{prompt.strip()} =" if " " in prompt.strip() else f"{prompt.strip()}="
    body = answer.strip().removesuffix(".").strip()
    if found := re.fullmatch(r"(\d+)\+(\d+)=", prompt):
        told = re.split(r"[>~]", body)[-1]
        return 4 * (answer.strip().endswith(".") and told.isdecimal() and int(told) == int(found[1]) + int(found[2]))
    if found := re.fullmatch(r"(\d+)=", prompt):
        return 4 * (body == "".join(sorted(found[1])))
    if found := re.fullmatch(r"(\d):(\d+),(\d):(\d+)=", prompt):
        line = re.fullmatch(r"(\d+)x\+(\d+)", body)
        pairs = [(int(found[1]), int(found[2])), (int(found[3]), int(found[4]))]
        return 4 * (line is not None and all(int(line[1]) * x + int(line[2]) == y for x, y in pairs))
    if found := re.fullmatch(r"(\d)(\d)>(\d)(\d)((?:#\d\d)*)=", prompt):
        return 4 * _walks(found, body)
    if prompt.rstrip().endswith("=") and re.fullmatch(r"[a-z ]+=", prompt.strip()):
        return _names(prompt, body)
    if re.fullmatch(r"(?:a|the) \w+ \w+", prompt):
        parts = [part.strip() for part in answer.split(" .") if part.strip()]
        whole = [re.fullmatch(r"(?:(?:a|the) (?:\w+ )?\w+ \w+ )?(?:a|the) (?:\w+ )?\w+", part) for part in parts]
        return round(4 * sum(map(bool, whole)) / max(len(parts), 1)) if answer.strip().endswith(".") else 1
    return None


def _walks(found: re.Match[str], body: str) -> bool:
    row, column = int(found[1]), int(found[2])
    blocked = {(int(cell[0]), int(cell[1])) for cell in found[5].split("#") if cell}
    for letter in body:
        move = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}.get(letter)
        if move is None:
            return False
        there = row + move[0], column + move[1]
        if there not in blocked and 0 <= there[0] < 8 and 0 <= there[1] < 8:  # who runs into a wall stays
            row, column = there
    return (row, column) == (int(found[3]), int(found[4]))


def _names(prompt: str, body: str) -> int:
    wanted = Counter(word for word in prompt.split() if word in PEOPLE)
    told = Counter(body.split())
    hits = sum((wanted & told).values())
    both = sum(wanted.values()) + sum(told.values())
    return round(4 * 2 * hits / both) if both else 4
