"""Write `leadline/curve/basis.npy`: the smooth functions of the curve engine, the same digits on every machine.

    python bench/basis.py

They are the leading eigenfunctions of a Matern-5/2 kernel on the engine's grid, for each of its lengths. Computed in
every process they would cost 10 ms, fifty times that where LAPACK's threads spin on a busy machine, and would depend on
its version in the twelfth digit.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from numpy.typing import NDArray

from leadline.curve.posterior import BASIS, BASIS_FILE, LENGTHS
from leadline.curve.shapes import GRID


def eigenfunctions(length: float) -> NDArray[np.float64]:
    """Return the leading eigenfunctions of a unit-variance Matern-5/2 on the grid, scaled: (basis, grid)."""
    distance = np.sqrt(5) * np.abs(GRID[:, None] - GRID) / length
    kernel = (1 + distance + distance**2 / 3) * np.exp(-distance)
    # The kernel is the same read backwards, so each function is even or odd: solved apart, neighbors do not mix.
    ends = np.eye(len(kernel))[: len(kernel) // 2 + 1]
    parts = ends + ends[:, ::-1], (ends - ends[:, ::-1])[:-1]
    sides = [part / np.sqrt((part**2).sum(axis=1))[:, None] for part in parts]
    solved = [np.linalg.eigh(side @ kernel @ side.T) for side in sides]
    values = np.concatenate([some for some, _ in solved])
    functions = np.concatenate([vectors.T @ side for (_, vectors), side in zip(solved, sides, strict=True)])
    leading = np.argsort(-values)[:BASIS]
    scaled: NDArray[np.float64] = functions[leading] * np.sqrt(np.maximum(values[leading], 0))[:, None]
    # Each has its mirror image, and which of the two LAPACK gives depends on its version and on the processor. None is
    # 0 at the start of the run.
    return scaled * np.copysign(1.0, scaled[:, :1])


if __name__ == "__main__":
    np.save(BASIS_FILE, np.stack([eigenfunctions(length) for length in LENGTHS]))
