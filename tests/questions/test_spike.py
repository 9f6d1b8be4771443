"""What is loud: by factors where values are sizes, and never because most of them are 0."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import series

from leadline.questions.changes import spike_in


@pytest.mark.parametrize("zeros", [0.0, 0.3, 0.6, 0.8])
def test_heavy_sizes_are_no_spikes_however_many_are_0(zeros: float) -> None:
    said = 0
    for seed in range(60):
        dice = np.random.default_rng(seed)
        values = np.where(dice.random(300) < zeros, 0.0, dice.lognormal(0.0, 1.0, 300))
        found = spike_in(series(values))
        said += found is not None and found.p > 0.8
    assert said <= 2


def test_many_spikes_are_as_sure_as_they_stand_beyond_the_usual_scatter() -> None:
    def p(scatter: float) -> float:
        dice = np.random.default_rng(3)
        sizes = np.exp(scatter * dice.standard_normal(300))
        found = spike_in(series(sizes * np.where(dice.random(300) < 0.1, 10 ** dice.uniform(1.2, 4.0, 300), 1.0)))
        return 0.0 if found is None else found.p

    assert p(0.1) > 0.99
    assert p(1.5) < 0.8
