"""Logs that are odd and still have to be read: one sensible sentence each, whatever the report format."""

from __future__ import annotations

import math

import numpy as np

RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=80)
STRANGE = {
    "no reward at all": [(step, {"loss": 0.1}) for step in range(1, 40)],
    "one point": [(1, {"reward": 0.5})],
    "two points": [(1, {"reward": 0.5}), (2, {"reward": 0.6})],
    "constant": [(step, {"reward": 0.5}) for step in range(1, 80)],
    "all zero": [(step, {"reward": 0}) for step in range(1, 80)],
    "all NaN": [(step, {"reward": math.nan}) for step in range(1, 80)],
    "infinities": [(step, {"reward": math.inf if step % 2 else -math.inf}) for step in range(1, 80)],
    "NaN from the middle on": [(step, {"reward": step if step < 40 else math.nan}) for step in range(1, 80)],
    "two distinct values": [(step, {"reward": float(step % 7 == 0)}) for step in range(1, 80)],
    "steps repeat": [(step // 2, {"reward": float(NOISE[step])}) for step in range(80)],
    "steps go back": [(step % 30, {"reward": float(NOISE[step])}) for step in range(80)],
    "steps fall": [(80 - step, {"reward": float(NOISE[step])}) for step in range(80)],
    "steps far apart": [(step * 10**12, {"reward": float(NOISE[step])}) for step in range(80)],
    "negative steps": [(step - 500, {"reward": float(NOISE[step])}) for step in range(80)],
    "tiny": [(step, {"reward": 1e-300 * step}) for step in range(1, 80)],
    "huge": [(step, {"reward": 1e300 * float(NOISE[step])}) for step in range(80)],
    "tiny and huge": [(step, {"reward": 1e300 if step % 2 else 1e-300}) for step in range(80)],
    "denormal": [(step, {"reward": 5e-324 * step}) for step in range(80)],
    "a lone spike": [(step, {"reward": 1e9 if step == 40 else float(NOISE[step])}) for step in range(80)],
    "integers": [(step, {"reward": step // 5}) for step in range(1, 80)],
    "booleans": [(step, {"reward": step > 40}) for step in range(1, 80)],
    "words": [(step, {"reward": "high"}) for step in range(1, 80)],
    "past the plan": [(step, {"reward": float(NOISE[step])}) for step in range(80)],
}
