"""Requests and answers as files: for a reader without an endpoint, and so that nothing is paid for twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from ..report.files import make_folder, write_whole
from .answers import LARGEST
from .endpoint import NoAnswer
from .read import SecondReader
from .requests import Request


def write_requests(requests: Sequence[Request], folder: Path) -> None:
    """One file a request, as an endpoint would get it."""
    make_folder(folder)
    for request in requests:
        write_whole(folder / f"{request.name}.json", orjson.dumps(request.body(), option=orjson.OPT_INDENT_2))


@dataclass(frozen=True, slots=True)
class Folder:
    """Answers that lie in a folder under the names of their requests: somebody's, or those of earlier calls."""

    place: Path
    name: str = "answers by file"

    def ask(self, request: Request) -> bytes:
        file = self.place / f"{request.name}.json"
        if not file.is_file() or file.stat().st_size > LARGEST:
            raise NoAnswer("no answer was given")
        return file.read_bytes()


@dataclass(slots=True)
class Remembering:
    """A reader that is not asked twice: usable answers are kept by what was asked and of whom."""

    reader: SecondReader
    place: Path
    called: int = 0

    @property
    def name(self) -> str:
        return self.reader.name

    def ask(self, request: Request) -> bytes:
        try:
            return Folder(self.place).ask(request)
        except NoAnswer:
            self.called += 1
            return self.reader.ask(request)

    def keep(self, request: Request, raw: bytes) -> None:
        make_folder(self.place)
        write_whole(self.place / f"{request.name}.json", raw)
