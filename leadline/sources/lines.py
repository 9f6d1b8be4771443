"""Lines out of bytes that come in blocks, without ever holding a line that is too long to be a log row."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST = 1 << 24  # bytes of a line; a longer one is a dump of something, and is left out


class Lines:
    """Cuts blocks into whole lines. The unfinished last line waits for more; one that never ends is dropped."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._waiting = 0  # bytes in `_pieces`
        self._skipping = False  # inside a line that is too long
        self._too_long = 0

    def take(self, chunk: bytes) -> Iterator[list[bytes]]:
        """The whole lines that `chunk` completes, without their newlines."""
        if block := self.block(chunk):
            yield block[:-1].split(b"\n")

    def block(self, chunk: bytes) -> bytes:
        """The whole lines that `chunk` completes, in one piece."""
        end = chunk.rfind(b"\n") + 1
        if end == 0:
            self._wait(chunk)
            return b""
        start = 0
        if self._skipping:
            start = chunk.find(b"\n") + 1
            self._skipping = False
        self._pieces.append(chunk[start:end])
        whole = b"".join(self._pieces)
        self._pieces, self._waiting = [], 0
        self._wait(chunk[end:])
        return whole

    def around(self, chunk: bytes, *, returns: bool = False) -> tuple[bytes, int, int]:
        """For whoever looks into `chunk` itself: the line that its first bytes complete, where that ends, and where the
        last whole line ends. What lies between needs no copy. `returns`: a carriage return ends a line too."""
        start, end = chunk.find(b"\n") + 1, chunk.rfind(b"\n") + 1
        if returns:
            end = max(end, chunk.rfind(b"\r", end) + 1)
            start = chunk.find(b"\r", 0, start or len(chunk)) + 1 or start
        if end == 0:
            self._wait(chunk)
            return b"", 0, 0
        first = self.block(chunk[: start - 1] + b"\n")
        self._wait(chunk[end:])
        return first, start, end

    def _wait(self, piece: bytes) -> None:
        if self._skipping or not piece:
            return
        self._pieces.append(piece)
        self._waiting += len(piece)
        if self._waiting > self._longest:
            self._pieces, self._waiting, self._skipping = [], 0, True
            self._too_long += 1

    @property
    def rest(self) -> bytes:
        """The unfinished last line."""
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0] if self._pieces else b""

    def drop_rest(self) -> None:
        """Forget the unfinished line: its content was taken."""
        self._pieces, self._waiting = [], 0

    @property
    def notes(self) -> tuple[str, ...]:
        if not self._too_long:
            return ()
        what = "1 line was" if self._too_long == 1 else f"{self._too_long} lines were"
        return (f"{what} left out: longer than {self._longest >> 20} MiB",)
