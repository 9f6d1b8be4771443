"""A reading in a real notebook, executed by nbconvert: the screen, no stray output, text where that is asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLES

pytestmark = pytest.mark.writers
pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")

CELLS = [
    f"import sys; sys.path.insert(0, {str(EXAMPLES.parent.parent)!r})\nimport leadline",
    f"reading = leadline.read({str(EXAMPLES / 'healthy')!r}, until=60)",
    "reading",
    "print(len(str(reading)) > 300, str(reading).split(',')[0].split()[0].isupper())",
    "page = reading._repr_markdown_()\nprint('```text' in page, '│' in page)",
]


def test_a_notebook_shows_the_screen_and_nothing_else(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None, "id": f"c{n}"}
        for n, source in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    book = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    words = ["nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb", "book.ipynb"]
    subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, check=True, capture_output=True)
    done = json.loads((tmp_path / "done.ipynb").read_text())["cells"]
    assert done[1]["outputs"] == []  # reading spills nothing
    (shown,) = done[2]["outputs"]
    assert "text/markdown" in shown["data"]
    assert [output["text"] for output in done[3]["outputs"]] == [["True True\n"]]
    assert [output["text"] for output in done[4]["outputs"]] == [["True True\n"]]
