"""Memory given back to the system: a watch stays small beside a training for weeks.

Looks and the logs of many runs are arrays of all sizes that come and go in two threads. The C library would keep what
is freed, in pieces that fit nothing else.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

LARGE = 1 << 17  # bytes: what is larger is asked of the system by itself, and goes back to it when it is freed
M_MMAP_THRESHOLD = -3  # as glibc calls it


def settle() -> None:
    """Have large arrays go back to the system at once, from now on."""
    library = _library()
    if library is not None:
        library.mallopt(M_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Hand back what is free."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


@cache
def _library() -> ctypes.CDLL | None:
    """glibc; None where the C library is another one."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
