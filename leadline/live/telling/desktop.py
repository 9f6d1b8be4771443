"""Alerts as notifications of this desktop: `notify-send` on Linux, `osascript` on a Mac."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import BadOrder
from . import children, words
from .message import Channel, Message

NAME = "desktop"
FORM = "desktop"

LONGEST = 500  # characters: more is not shown anyway
# The text is given as arguments and never becomes part of the script.
SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"


@dataclass(frozen=True, slots=True)
class Desktop:
    name: str
    program: str
    environ: Mapping[str, str] = field(repr=False)
    most: int = 10_000
    spacing: float = 10.0
    repeats: bool = False
    takes_picture: bool = False

    def tell(self, message: Message) -> None:
        first = message.gravest[0]
        title = f"leadline: {words.clipped(words.subject(message), 100)}"
        says = f"{words.title(first)}: {first.says}" if len(message.alerts) > 1 else first.says
        text = words.clipped(f"{says} Next: {words.next_step(first)}", LONGEST)
        children.run(self._call(title, text, critical=first.severity == "critical"), environ=self.environ)

    def _call(self, title: str, text: str, *, critical: bool) -> list[str]:
        if self.program.endswith("osascript"):
            return [self.program, "-e", SCRIPT, title, text]
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # a body may be markup
        urgency = "critical" if critical else "normal"
        return [self.program, "--app-name=leadline", f"--urgency={urgency}", "--", title, escaped]


def opened(target: str, environ: Mapping[str, str]) -> Channel:
    wanted = "osascript" if sys.platform == "darwin" else "notify-send"
    program = shutil.which(wanted, path=environ.get("PATH"))
    if program is None:
        raise BadOrder(
            f"This machine cannot show notifications: {wanted} is not installed.",
            tried=f"to find {wanted}",
            next_step="install it (libnotify-bin on Debian), or tell by another channel",
        )
    return Desktop(NAME, program, environ)
