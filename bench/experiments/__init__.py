"""The experiments, in the order of the issue's list. Each module says NAME, jobs, score, tables and headlines."""

from __future__ import annotations

from types import ModuleType

from experiments import averaging, breaks, calibration, exam, looks, nulls, power

EXPERIMENTS: tuple[ModuleType, ...] = (nulls, power, exam, calibration, looks, averaging, breaks)
