"""Leadline reads an RL training run and says whether it is still worth its GPUs.

>>> import leadline
>>> from pathlib import Path
>>> reading = leadline.read(Path(leadline.__file__).parent / "examples" / "healthy", until=40)
>>> reading.run.last_step
40
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import Reading, compare, read, read_all
    from .errors import LeadlineError
    from .inside.attached import attach
    from .inside.trainer import LeadlineCallback
    from .run import Run

__version__ = "1.0.0"

# The public interface, with `leadline.errors`; everything else may change in any release (docs/stability.md).
__all__ = [
    "LeadlineCallback",
    "LeadlineError",
    "Reading",
    "Run",
    "__version__",
    "attach",
    "compare",
    "read",
    "read_all",
]

# Imported on first use: `import leadline` inside a training process must cost next to nothing.
HOMES = {
    "LeadlineCallback": ".inside.trainer",
    "LeadlineError": ".errors",
    "Reading": ".api",
    "Run": ".run",
    "attach": ".inside.attached",
    "compare": ".api",
    "read": ".api",
    "read_all": ".api",
}


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'leadline' has no attribute {name!r}")
    return getattr(importlib.import_module(HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
