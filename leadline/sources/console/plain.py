"""A line of a console without what terminals, launchers and collectors of logs put around it."""

from __future__ import annotations

import re

from ..number import loads

ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
DEEPEST = 6  # prefixes before one another: a collector's, a launcher's, a logger's
MESSAGES = ("log", "message", "msg", "textPayload")  # under which collectors keep a line as a field
LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL)"
CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
PREFIX = re.compile(
    rf"""\s*(?:
      \[?\d{{4}}[-/.]?\d\d[-/.]?\d\d[T\ _-]{CLOCK}\s?(?:Z|UTC|[+-]\d\d:?\d\d)?\]?[\s:|,-]*  # 2025-11-23T14:30:02.377Z
    | \[?(?:\d\d-\d\d\ )?{CLOCK}\]?[\s:|,-]+                                             # [11-23 14:30:02]
    | (?:<\d+>)?[A-Z][a-z]{{2}}\s+\d{{1,2}}\ {CLOCK}\ (?:\S+\ )?[\w./@-]+(?:\[\d+\])?:\s  # journald, syslog
    | [IWEF]\d{{4}}\ {CLOCK}\s+\d+\ \S+\]\s                                              # glog
    | \([\w.:\-=,\#\ ]*?pid=\d+(?:,\ ip=[^)]*)?\)\s?(?:\[repeated[^\]]*\]\s?)?           # Ray
    | \[(?:rank|default|worker|node)[\s_-]?\d+\]:?\s?                                    # torchrun
    | \[\d+,\d+\]<std(?:out|err)>:\s?                                                    # mpirun
    | \d+:\ (?=\S)                                                                       # srun -l
    | \[[A-Za-z][\w.-]*(?:/[\w.-]+)+\]\s                                                 # kubectl --prefix
    | [\w.]+[-_]\d+\s+\|\s(?=\S)                                                         # docker compose
    | std(?:out|err)\ [FP]\s                                                             # containerd
    | [^|=:{{}}\d│]{{0,60}}?\[?\b{LEVEL}\b\]?(?:[:|]|\s-)?(?:[\w.]+:)?\s+                 # a logger and its level
    | {LEVEL}:[\w.]+:                                                                    # logging's own form
    | \[?[\w./-]+\.(?:py|cc|cpp|go|rs):\d+(?::\w+)?\]?[\s:|,>-]*                         # where it was printed
    )""",
    re.VERBOSE,
)
LOGFMT = re.compile(r'(?:\w+=(?:"[^"]*"|\S+)\s+)+(?:msg|message)="((?:[^"\\]|\\.)*)"\s*(?:\w+=\S+\s*)*')


def plain(line: bytes) -> str:
    """The text of a line: colours and prefixes gone, whoever put them there.

    >>> plain(b"\\x1b[36m(TaskRunner pid=12, ip=10.0.0.1)\\x1b[0m step:1 - a:2")
    'step:1 - a:2'
    >>> plain(b"2025-11-23T14:30:19.23Z [rank0]: 2025-11-23 14:30:19,231 - INFO - trainer.py:12 - Step 3 | Loss 0.1")
    'Step 3 | Loss 0.1'
    """
    text = line.decode("utf-8", errors="replace")
    if "\x1b" in text:
        text = ANSI.sub("", text)
    start = text.lstrip()[:1]
    if start == "{" and any(f'"{name}"' in text[:200] for name in MESSAGES):
        text = _message(text) or text
    elif 'msg="' in text and (wrapped := LOGFMT.fullmatch(text.strip())):
        # Where the message holds no number, the fields beside it may be the row.
        text = wrapped[1] if any(letter.isdigit() for letter in wrapped[1]) else text
    for _ in range(DEEPEST):
        prefix = PREFIX.match(text)
        if prefix is None:
            return text
        text = text[prefix.end() :]
    return text


def _message(text: str) -> str | None:
    """The line that a collector keeps as one field of an object."""
    try:
        entry = loads(text.strip().encode())
    except ValueError:
        return None
    if not isinstance(entry, dict):
        return None
    found = next((entry[name] for name in MESSAGES if isinstance(entry.get(name), str)), None)
    return ANSI.sub("", found).rstrip("\n") if found is not None else None
