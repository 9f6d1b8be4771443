"""A reading is the same to its last printed digit wherever it is made."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

GOLDEN = ROOT / "tests" / "golden"
RECORDED = json.loads((GOLDEN / "fingerprints.json").read_text())


def different(found: dict[str, dict[str, str]], other: dict[str, dict[str, str]]) -> list[str]:
    return [
        f"{look}: {face}"
        for look in sorted({*found, *other})
        for face in sorted({*found.get(look, {}), *other.get(look, {})})
        if found.get(look, {}).get(face) != other.get(look, {}).get(face)
    ]


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


def test_every_report_is_as_on_the_machine_that_recorded_it() -> None:
    found = runpy.run_path(str(GOLDEN / "fingerprints.py"))["fingerprints"]()
    assert not different(found, RECORDED), (
        "these reports have changed; if that was meant: python tests/golden/record.py. If the suite passes elsewhere, "
        f"a digit depends on this machine, on Python {sys.version.split()[0]} or on numpy {np.__version__}"
    )


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the slow paths that are asked for are those of x86")
def test_a_poorer_processor_reads_the_same() -> None:
    done = subprocess.run(
        [sys.executable, str(GOLDEN / "fingerprints.py")],
        cwd=ROOT,
        env={**os.environ, **slow_paths()},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not different(json.loads(done.stdout), RECORDED)


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
