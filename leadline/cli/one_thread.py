"""One thread for the linear algebra of a process that Leadline owns, unless the user asks for more: the matrices are
tiny, and threads that wait for them spin. Imported before anything that imports numpy; a program that imports Leadline
keeps its own threads."""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
