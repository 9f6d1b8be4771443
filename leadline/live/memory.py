"""Give memory back to the system: the C library would keep what two threads free in arrays of all sizes."""

from __future__ import annotations

import ctypes
import sys
from functools import cache


def give_back() -> None:
    """Give back what is free, if the C library is glibc."""
    if (library := _library()) is not None and hasattr(library, "malloc_trim"):
        library.malloc_trim(0)


@cache
def _library() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if sys.platform == "linux" else None
