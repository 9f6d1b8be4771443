"""The light suite wherever Leadline is to run: `nox`, or one of them as in `nox -s "suite-3.10(oldest)"`.

Every Python that is supported and installed, each with the oldest numpy it can have and with the newest; and once with
nothing but pytest beside the package, as on a user's machine. `nox -l` lists them.
"""

from __future__ import annotations

import nox

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
# The declared one is 1.24; it was never built for the newer Pythons.
OLDEST = {"3.10": "1.24", "3.11": "1.24", "3.12": "1.26", "3.13": "2.1"}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=PYTHONS)
@nox.parametrize("numpy", ["oldest", "newest"], ids=["oldest", "newest"])
def suite(session: nox.Session, numpy: str) -> None:
    """The light suite with all that it uses."""
    wanted = f"numpy=={OLDEST[str(session.python)]}.*" if numpy == "oldest" else "numpy"
    session.install("--upgrade", "-e", ".[test]", wanted)
    _run(session)


@nox.session(python=PYTHONS)
def bare(session: nox.Session) -> None:
    """The light suite without any extra: what needs one is skipped and says which."""
    session.install("-e", ".", "pytest>=8,<10")
    _run(session)


def _run(session: nox.Session) -> None:
    session.run("python", "-c", "import sys, numpy; print(sys.version.split()[0], 'with numpy', numpy.__version__)")
    session.run("python", "-m", "pytest", "-q", *session.posargs, env=ONE_THREAD)
