"""What reports of every form are tried on."""

from __future__ import annotations

import pytest
from hostile import write_hostile

import leadline


@pytest.fixture(scope="session")
def meaning_harm(tmp_path_factory: pytest.TempPathFactory) -> leadline.Reading:
    return leadline.read(write_hostile(tmp_path_factory.mktemp("hostile")))
