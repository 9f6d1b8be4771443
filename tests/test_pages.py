"""Nothing written may rot: pages name only what exists, and show what the program really prints."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import leadline
from leadline.cli import main

SHOWN = 16  # lines of output in the README: the verdict, what the curves look like and the first findings


@pytest.mark.parametrize(
    "page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "leadline/examples/README.md"]
)
def test_pages_name_only_what_exists(page: str, root: Path) -> None:
    text = (root / page).read_text()
    named = re.findall(r"`((?:leadline|tests|docs|bench)/[\w/.-]*)`", text)
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    for path in named + linked:
        assert ((root / page).parent / path).exists() or (root / path).exists(), f"{page} names {path}, which is gone"


def test_decisions_name_only_what_exists(root: Path) -> None:
    for page in (root / "docs" / "decisions").glob("*.md"):
        for path in re.findall(r"`((?:leadline|tests|docs|bench)/[\w/.-]*)`", page.read_text()):
            assert (root / path).exists(), f"{page.name} names {path}, which is gone"


def test_architecture_knows_every_module_of_the_package(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text()
    for place in (root / "leadline").iterdir():
        if place.name.startswith("__") or place.name == "py.typed":
            continue
        name = f"leadline/{place.name}{'/' if place.is_dir() else ''}"
        assert f"`{name}`" in text, f"ARCHITECTURE.md does not name {name}"


def test_ci_runs_the_readme_test_commands_and_nothing_else(root: Path) -> None:
    commands = re.findall(r"^```sh\n(.+)\n```$", (root / "README.md").read_text(), flags=re.MULTILINE)
    tests = [command for command in commands if "pytest" in command]
    assert len(tests) == 2
    script = (root / ".ci" / "run").read_text().splitlines()
    assert script[0] == "#!/usr/bin/env bash"
    light, heavy = tests
    done = ["set -eu", 'cd "$(dirname "$0")/.."', "(", light, ")", "(", heavy, ")"]
    assert [line for line in script if not line.startswith("#")] == done


def test_readme_shows_the_answer_by_line_15(root: Path) -> None:
    top = "\n".join((root / "README.md").read_text().splitlines()[:15])
    assert "leadline read" in top
    assert "\nROLL BACK to step " in top


def test_readme_shows_the_real_output(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "100")
    text = (root / "README.md").read_text()
    command = re.search(r"^    leadline (read .+)$", text, flags=re.MULTILINE)
    shown = re.search(r"<!-- output -->\n```text\n(.*?)```", text, flags=re.DOTALL)
    assert command
    assert shown
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(command[1].split()) == 0
    lines = printed.getvalue().splitlines(keepends=True)
    assert "".join(lines[:SHOWN]) == shown[1], "record it again: python tests/golden/record.py"


def test_readme_python_runs(root: Path) -> None:
    code = re.search(r"```python\n(.*?)```", (root / "README.md").read_text(), flags=re.DOTALL)
    assert code
    done = subprocess.run([sys.executable, "-c", code[1]], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" 100\n")


def test_changelog_has_unreleased_on_top(root: Path) -> None:
    headings = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_every_exported_name_exists() -> None:
    for name in leadline.__all__:
        assert getattr(leadline, name) is not None
    assert dir(leadline) == sorted(leadline.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = leadline.nothing  # type: ignore[attr-defined]


def test_importing_leadline_loads_nothing_heavy() -> None:
    code = "import sys, leadline; print(sorted({'numpy', 'scipy', 'rich', 'click', 'orjson'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_bundled_runs_do_not_hold_their_outcome(root: Path) -> None:
    assert list((root / "leadline" / "examples").rglob("truth*")) == []


def test_the_page_of_the_benches_names_every_file_of_theirs(root: Path) -> None:
    text = (root / "bench" / "README.md").read_text()
    assert [file.name for file in (root / "bench").glob("*.py") if file.name not in text] == []
