"""What is recommended is kept from a trainer that deletes and writes over its checkpoints."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from waiting import wait_for

from leadline.inside import keep as keeping
from leadline.inside.keep import KEPT, Keeper


def saved(output: Path, step: int, text: str = "weights") -> Path:
    """A checkpoint as a Trainer saves it: into the files that are there, if any are."""
    folder = output / f"checkpoint-{step}"
    (folder / "global_step").mkdir(parents=True, exist_ok=True)
    for name in ("model.safetensors", "global_step/states.pt"):
        with (folder / name).open("w") as file:
            file.write(f"{text} {step}")
    return folder


def weights(path: str | None) -> str:
    assert path is not None
    return (Path(path) / "model.safetensors").read_text()


def waited(keeper: Keeper, path: Path) -> str | None:
    return wait_for(lambda: keeper.protect(str(path)) or keeper.safe(str(path)))


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path, rotates=True)


def test_a_checkpoint_is_kept_when_its_first_name_is_deleted(keeper: Keeper, tmp_path: Path) -> None:
    best = saved(tmp_path, 50)
    keeper.protect(str(best))
    shutil.rmtree(best)
    assert weights(keeper.safe(str(best))) == "weights 50"


def test_a_later_run_in_the_same_folder_does_not_write_over_what_is_kept(keeper: Keeper, tmp_path: Path) -> None:
    """Trained again from the start with other settings: its checkpoint-50 is another one, and so is what is kept."""
    best = saved(tmp_path, 50)
    keeper.protect(str(best))
    first = keeper.safe(str(best))
    again = Keeper(tmp_path, rotates=True)
    again.before_saving(best.name)
    saved(tmp_path, 50, "others")
    assert weights(first) == "weights 50"
    assert weights(str(best)) == "others 50"
    again.protect(str(best))
    second = again.safe(str(best))
    assert second != first
    shutil.rmtree(best)
    assert (weights(first), weights(second)) == ("weights 50", "others 50")


def test_a_full_disk_is_tried_again(
    keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=8", "full", str(tmp_path)]).returncode:
        pytest.skip("needs to be allowed to mount a small disk")
    try:
        best = saved(tmp_path, 50)  # with its own folder: five of eight
        for place in range(8):
            with contextlib.suppress(OSError):
                (tmp_path / f"filler{place}").touch()
        monkeypatch.setattr(keeping, "AGAIN", 0.05)
        with caplog.at_level(logging.WARNING, logger="leadline"):
            wait_for(lambda: keeper.protect(str(best)) or caplog.records)
        assert keeper.safe(str(best)) is None
        assert "could not be kept out of the rotation; retrying" in caplog.text
        assert not list(tmp_path.glob(f"{KEPT}/.*"))
        subprocess.run(["mount", "-o", "remount,size=64k,nr_inodes=40", str(tmp_path)], check=True)
        safe = waited(keeper, best)
        shutil.rmtree(best)
        assert weights(safe) == "weights 50"
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_where_a_disk_has_no_links_it_is_copied_meanwhile(
    keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    best = saved(tmp_path, 50)
    keeper.protect(str(best))
    safe = waited(keeper, best)
    shutil.rmtree(best)
    assert weights(safe) == "weights 50"


def test_what_the_trainer_does_not_delete_is_left_where_it_is(keeper: Keeper, tmp_path: Path) -> None:
    """As a checkpoint of an earlier run, on a disk that cannot be written to."""
    elsewhere = saved(tmp_path / "mounted", 50)
    keeper.protect(str(elsewhere))
    assert keeper.safe(str(elsewhere)) == str(elsewhere)
    assert not (tmp_path / KEPT).exists()
    keeps_all = Keeper(tmp_path, rotates=False)
    best = saved(tmp_path, 60)
    keeps_all.protect(str(best))
    assert keeps_all.safe(str(best)) == str(best)
    assert not (tmp_path / KEPT).exists()


def test_advice_that_changes_and_changes_back_loses_nothing(keeper: Keeper, tmp_path: Path) -> None:
    first = saved(tmp_path, 50)
    keeper.protect(str(first))
    shutil.rmtree(first)  # rotated away
    for step in (60, 70, 80):
        keeper.protect(str(saved(tmp_path, step)))
        assert len(list((tmp_path / KEPT).iterdir())) == 2  # those that are still there need no second name
    assert weights(keeper.safe(str(first))) == "weights 50"
    for step in (90, 100, 110, 120):
        best = saved(tmp_path, step)
        keeper.protect(str(best))
        shutil.rmtree(best)
    assert len(list((tmp_path / KEPT).iterdir())) == keeping.MOST


def test_where_the_recommended_one_is_gone_the_nearest_is_kept_and_that_is_said(
    keeper: Keeper, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for step in (40, 60, 90):
        saved(tmp_path, step)
    with caplog.at_level(logging.WARNING, logger="leadline"):
        found = keeper.advised(70, str(tmp_path / "checkpoint-70"))
    assert found == str(tmp_path / "checkpoint-60")  # rather before it than after
    assert f"step 70 is gone; keeping {found} instead" in caplog.text
    assert keeper.advised(70, None) == found
    assert keeper.advised(None, None) is None
    keeper.protect(found)
    shutil.rmtree(found)
    assert weights(keeper.safe(keeper.advised(60, found) or "")) == "weights 60"


def test_a_nearly_full_disk_is_left_to_the_trainer(
    keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (50, 60):
        best = saved(tmp_path, step)
        keeper.protect(str(best))
        shutil.rmtree(best)
    assert len(list((tmp_path / KEPT).iterdir())) == 2
    monkeypatch.setattr(keeping.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 90, 10))
    keeper.before_saving("checkpoint-70")
    assert [one.name for one in (tmp_path / KEPT).iterdir()] == ["checkpoint-60"]  # what is recommended stays
