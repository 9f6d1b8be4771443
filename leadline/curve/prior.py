"""How large a shape is believed to be before looking: the g-prior on its size.

With a fixed g the evidence for a shape is bounded however well it fits, and a clear curve is then read as slow noise
(the "information paradox"). So g is at least the effective number of points (unit information) and grows with the fit
where the fit asks for more: local empirical Bayes (Liang et al. 2008, Mixtures of g-priors, section 2.4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FIT_LIMIT = 1 - 1e-9  # of R^2: below the rounding of the input no two shapes can be told apart


def spread_of_size(fit: Floats, least: Floats, freedom: int, terms: int = 1) -> Floats:
    """1 + g for shapes that explain a share `fit` <= FIT_LIMIT of what is left of the bins."""
    spread: Floats = fit / (1 - fit)
    spread *= (freedom - terms) / terms
    return np.maximum(spread, 1 + least, out=spread)


def log_gain(fit: Floats, least: Floats, freedom: int, terms: int = 1) -> Floats:
    """Log evidence that shapes with this fit add to "nothing moves"."""
    fit = np.minimum(fit, FIT_LIMIT)
    spread = spread_of_size(fit, least, freedom, terms)
    left = 1 - fit * (1 - 1 / spread)
    logs: Floats = np.log(left, out=left)  # log1p would be exact for tiny fits, where it does not matter, and slow
    logs *= -0.5 * freedom
    logs -= 0.5 * terms * np.log(spread, out=spread)
    return logs
