"""Run the light suite wherever Leadline is to run: `nox`, or one session, such as `nox -s suite-3.12`.

Every supported Python with the newest packages; the oldest two with the oldest versions that `pyproject.toml` allows;
and each with nothing but pytest beside the package, as on a user's machine. `package` builds what is published and
tries it.
"""

from __future__ import annotations

from pathlib import Path

import nox

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
SHOW = """
import sys
from importlib.metadata import version
names = "click", "numpy", "orjson", "pyyaml", "rich"
print("Python", sys.version.split()[0], *(f"{name} {version(name)}" for name in names))
"""
TRIED = """
import leadline
from pathlib import Path
print(leadline.read(Path(leadline.__file__).parent / "examples" / "hacked").headline)
"""
LARGEST = {"whl": 1_500_000, "gz": 4_000_000}  # bytes

nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["suite", "floor", "bare", "package"]


@nox.session(python=PYTHONS)
def suite(session: nox.Session) -> None:
    """Run the light suite with the newest version of every package."""
    session.install("--upgrade", "-e", ".[test]")
    _run(session)


@nox.session(python=PYTHONS[:2], venv_backend="uv")
def floor(session: nox.Session) -> None:
    """Run it with the oldest versions that are allowed: on Pythons for which they were built."""
    session.install("--resolution", "lowest-direct", "-e", ".[test]")
    _run(session)


@nox.session(python=PYTHONS)
def bare(session: nox.Session) -> None:
    """Run it without any extra: what needs one is skipped and says which."""
    session.install("-e", ".", "pytest>=8,<10")
    _run(session)


@nox.session(python=PYTHONS[-1])
def package(session: nox.Session) -> None:
    """Build the sdist and the wheel from it, check both, and read a run with the installed wheel."""
    session.install("build", "check-wheel-contents", "twine")
    dist = Path(session.create_tmp()).resolve() / "dist"
    session.run("python", "-m", "build", "--outdir", str(dist))
    built = sorted(dist.iterdir())
    session.run("twine", "check", "--strict", *map(str, built))
    wheel = next(path for path in built if path.suffix == ".whl")
    session.run("check-wheel-contents", str(wheel))
    for path in built:
        size, most = path.stat().st_size, LARGEST[path.suffix[1:]]
        session.log(f"{path.name}: {size:,} bytes, at most {most:,}")
        if size > most:
            session.error(f"{path.name} is too large")
    user = dist.parent / "user" / "bin"
    session.run("python", "-m", "venv", "--clear", str(user.parent))
    session.run(str(user / "pip"), "install", "-q", str(wheel), external=True)
    session.run(str(user / "pip"), "install", "-q", "leadline[serve]", external=True)  # as errors say, released or not
    session.run(str(user / "pip"), "check", external=True)
    session.chdir(str(dist.parent))  # away from the checkout: the installed package answers
    session.run(str(user / "leadline"), "doctor", external=True)
    session.run(str(user / "python"), "-c", TRIED, external=True)


def _run(session: nox.Session) -> None:
    session.run("python", "-c", SHOW)
    session.run("python", "-m", "pytest", "-q", *session.posargs, env=ONE_THREAD)
