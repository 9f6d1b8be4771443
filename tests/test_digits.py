"""A reading is the same to its last printed digit wherever it is made."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys

import pytest
from conftest import ROOT

LOOKS = ROOT / "tests" / "golden" / "looks.py"


def slow_paths() -> dict[str, str]:
    """Settings under which numpy and OpenBLAS do without what newer processors can do."""
    try:
        from numpy._core._multiarray_umath import __cpu_dispatch__ as dispatched
        from numpy._core._multiarray_umath import __cpu_features__ as features
    except ImportError:  # before numpy 2
        from numpy.core._multiarray_umath import __cpu_dispatch__ as dispatched
        from numpy.core._multiarray_umath import __cpu_features__ as features
    here = [name for name in dispatched if features.get(name)]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(here), "OPENBLAS_CORETYPE": "Nehalem"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the slow paths that are asked for are those of x86")
def test_a_poorer_processor_reads_the_same() -> None:
    done = subprocess.run(
        [sys.executable, str(LOOKS)],
        cwd=ROOT,
        env={**os.environ, **slow_paths()},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    here = runpy.run_path(str(LOOKS))["printed"]()
    assert there.keys() == here.keys()
    for look, lines in here.items():
        assert there[look] == lines, f"a digit of the look at {look} depends on the processor"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the slow paths that are asked for are those of x86")
def test_a_poorer_processor_rounds_differently() -> None:
    """Or the test above would see nothing."""
    sums = "import numpy as np; x = np.arange(9e4).reshape(300, 300) % 7 / 7; print((np.exp(x) @ x).tobytes().hex())"
    here, there = (
        subprocess.run(
            [sys.executable, "-c", sums], env={**os.environ, **more}, capture_output=True, text=True, check=True
        ).stdout
        for more in ({}, slow_paths())
    )
    if not slow_paths()["NPY_DISABLE_CPU_FEATURES"]:
        pytest.skip("this processor is as poor as it gets")
    assert here != there
