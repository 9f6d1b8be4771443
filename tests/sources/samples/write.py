"""Writes the samples beside it with the real packages: python tests/sources/samples/write.py WHAT

WHAT is tensorboard, wandb, mlflow, trackio or swanlab (which wants an environment of its own: it pins protobuf<7).
Every run is the same: `value(key, step)` at steps 1 to 30, a NaN at step 7 and an infinity at step 9.
"""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
STEPS = range(1, 31)
KEYS = ("critic/score/mean", "actor/pg_loss", "actor/ppo_kl")
CONFIG = {"lr": 1e-6, "algorithm": {"name": "grpo", "kl_coef": 0.001}}


def value(key: str, step: int) -> float:
    """What the sample runs log."""
    if key == "actor/pg_loss" and step in (7, 9):
        return math.nan if step == 7 else math.inf
    return round(math.sin(step / 10 + len(key)), 6)


def row(step: int) -> dict[str, float]:
    return {key: value(key, step) for key in KEYS}


def tensorboard(folder: Path) -> None:
    """Two attempts: the second goes back to step 21. The first also holds what is no scalar; the second writes its
    scalars as tensors, as TensorFlow does."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.types_pb2 import DT_FLOAT
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboardX import SummaryWriter

    with SummaryWriter(str(folder), filename_suffix=".first") as writer:
        writer.add_text("hyperparameters", "|param|value|\n|-|-|\n|lr|1e-06|\n|algorithm|grpo|")
        for step in STEPS:
            for key, number in row(step).items():
                writer.add_scalar(key, number, step)
            if step % 10 == 0:
                writer.add_histogram("weights", [1.0, 2.0, 3.0], step)
    later = EventFileWriter(str(folder), filename_suffix=".second")
    scalar = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    for step in range(21, 31):
        for key, number in row(step).items():
            tensor = TensorProto(dtype=DT_FLOAT, float_val=[number + 1])
            later.add_event(
                Event(
                    wall_time=4e9 + step,
                    step=step,
                    summary=Summary(value=[Summary.Value(tag=key, tensor=tensor, metadata=scalar)]),
                )
            )
    later.close()


def wandb(folder: Path) -> None:
    os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", WANDB_DIR=str(folder))
    import wandb as package

    with package.init(project="sample", name="one", dir=str(folder), config=CONFIG) as run:
        for step in STEPS:
            run.log({**row(step), "group": {"inner": step}, "histogram": package.Histogram([1, 2, 3])}, step=step)
            print("step", step)
    for file in folder.rglob("run-*.wandb"):
        shutil.move(file, folder / "run-sample.wandb")
    shutil.rmtree(folder / "wandb")


def swanlab(folder: Path) -> None:
    import swanlab as package

    package.init(project="sample", experiment_name="one", mode="offline", logdir=str(folder / "logs"), config=CONFIG)
    for step in STEPS:
        package.log(row(step), step=step)
    package.finish()
    for file in folder.rglob("run-*.swanlab"):
        shutil.move(file, folder / "run-sample.swanlab")
    (folder / "files").mkdir()
    for file in folder.rglob("config.yaml"):
        shutil.move(file, folder / "files" / "config.yaml")
    shutil.rmtree(folder / "logs")


def mlflow(folder: Path) -> None:
    """A database and a file store of two runs each. The database loses the tables no reader looks at: it is large."""
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    import mlflow as package

    for address in (f"sqlite:///{folder / 'mlflow.db'}", f"file://{folder / 'mlruns'}"):
        package.set_tracking_uri(address)
        package.set_experiment("sample")
        for name in ("one", "two"):
            with package.start_run(run_name=name):
                package.log_params({"lr": 1e-6, "algorithm/name": "grpo"})
                for step in STEPS:
                    package.log_metrics(row(step), step=step)
                package.log_metrics(
                    {"system/gpu_0_power_usage_watts": 300.0, "system/gpu_0_utilization_percentage": 90.0}
                )
    shutil.rmtree(folder / "mlruns" / "0", ignore_errors=True)
    for tags in folder.rglob("tags"):  # who ran it, and where
        shutil.rmtree(tags)
    smaller(folder / "mlflow.db", keep={"runs", "metrics", "params"})


def trackio(folder: Path) -> None:
    """A project of two runs, and the same as Parquet."""
    os.environ["TRACKIO_DIR"] = str(folder)
    import trackio as package
    from trackio.sqlite_storage import SQLiteStorage

    for name in ("one", "two"):
        package.init(project="sample", name=name, config=CONFIG, embed=False)
        for step in STEPS:
            package.log({**row(step), "group": {"inner": step}, "word": "x"}, step=step)
        package.log_system({"gpu/0/power": 300.0, "gpu/0/allocated_memory": 10.5, "gpu/0/utilization": 90})
        package.finish()
    SQLiteStorage._dataset_import_attempted = True
    SQLiteStorage.export_to_parquet()
    (folder / "exported").mkdir()
    for file in folder.glob("*.parquet"):
        shutil.move(file, folder / "exported")
    (folder / "sample.lock").unlink(missing_ok=True)
    smaller(folder / "sample.db", keep={"metrics", "configs", "system_metrics"})


def smaller(path: Path, keep: set[str]) -> None:
    """Drops the tables of a database that no reader looks at."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA foreign_keys = OFF")
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in names:
        if name not in keep and not name.startswith("sqlite_"):
            database.execute(f'DROP TABLE "{name}"')
    database.execute("PRAGMA page_size = 1024")
    database.execute("VACUUM")
    database.close()


if __name__ == "__main__":
    wanted = sys.argv[1]
    with tempfile.TemporaryDirectory() as place:
        globals()[wanted](Path(place))
        shutil.rmtree(HERE / wanted, ignore_errors=True)
        shutil.copytree(place, HERE / wanted)
