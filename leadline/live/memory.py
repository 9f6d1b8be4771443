"""Give memory back to the system: the C library would keep what two threads free in arrays of all sizes."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

LARGE = 1 << 17  # bytes: larger blocks are mapped by themselves
M_MMAP_THRESHOLD = -3  # in glibc's malloc.h


def settle() -> None:
    """Have large arrays go back to the system when they are freed."""
    library = _library()
    if library is not None:
        library.mallopt(M_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Give back what is free."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


@cache
def _library() -> ctypes.CDLL | None:
    """Return glibc; None if the C library is another one."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
