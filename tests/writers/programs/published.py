"""Let the logging code of a published framework write rows: published.py FRAMEWORK SOURCE OUT < rows.json

SOURCE holds the framework's packages. Only the module that logs and the few it needs are imported; every other one, of
theirs or of others (GPU kernels, servers), is an empty stand-in. Rows are [[step, {key: value}], ...].
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import logging
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Rows = list[tuple[int, dict[str, Any]]]
REAL = {"colorlog", "loguru", "markdown_it", "mdurl", "orjson", "pygments", "rich", "tabulate", "wcwidth"}


class Permissive(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn


class StandIn(metaclass=Permissive):
    """Takes any call, has any attribute, and may be a base class."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def __call__(self, *given: Any, **_: object) -> Any:
        return given[0] if given else self

    def __getattr__(self, name: str) -> Any:
        return StandIn

    def __class_getitem__(cls, item: object) -> type:
        return cls

    def __bool__(self) -> bool:
        return False


class StandInModule(types.ModuleType):
    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the wanted modules where they lie, and an empty one for all others."""

    def __init__(self, source: Path, wanted: set[str]) -> None:
        self._source, self._wanted = source, wanted

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name.startswith("_sysconfigdata") or name.partition(".")[0] in REAL | set(sys.stdlib_module_names):
            return None
        if name in self._wanted:
            file = self._source.joinpath(*name.split("."))
            file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
            return importlib.util.spec_from_file_location(name, file)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return StandInModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None: ...


def taken(source: Path, *wanted: str) -> Any:
    sys.meta_path.insert(0, Finder(source, set(wanted)))
    return importlib.import_module(wanted[0])


def openrlhf(source: Path, out: Path, rows: Rows) -> None:
    logger = taken(source, "openrlhf.utils.logging_utils").init_logger("openrlhf.trainer.ppo_trainer")
    for step, values in rows:
        logger.info(f"✨ Global step {step}: {values}")  # as ppo_trainer.py words it


def roll(source: Path, out: Path, rows: Rows) -> None:
    tracker = taken(source, "roll.utils.tracking", "roll.utils.logging").StdoutTracker({})
    for step, values in rows:
        tracker.log(values, step)


def slime(source: Path, out: Path, rows: Rows) -> None:
    taken(source, "slime.observability.logging_utils").configure_logger()
    for step, values in rows:
        logging.getLogger("slime").info(f"rollout {step}: {values}")  # as train_metric_utils.py words it


def skyrl(source: Path, out: Path, rows: Rows) -> None:
    console = taken(source, "skyrl.train.utils.tracking").ConsoleLogger()
    for step, values in rows:
        console.log(values, step)


def areal(source: Path, out: Path, rows: Rows) -> None:
    module = taken(source, "areal.utils.stats_logger", "areal.utils", "areal.utils.logging", "areal.utils.printing")
    stats = module.StatsLogger.__new__(module.StatsLogger)
    stats.ft_spec = types.SimpleNamespace(total_train_epochs=1, steps_per_epoch=len(rows), total_train_steps=len(rows))
    stats.summary_writer, stats._last_commit_step = None, -1
    for step, values in rows:
        stats.commit(0, step - 1, step - 1, values)


def open_instruct(source: Path, out: Path, rows: Rows) -> None:
    show = taken(source, "open_instruct.model_utils").print_rich_single_line_metrics
    for step, values in rows:
        show({"training_step": step, **values})


def ms_swift(source: Path, out: Path, rows: Rows) -> None:
    module = taken(source, "swift.utils.io_utils")
    module.is_master, module.check_json_format = lambda: True, lambda rows: rows
    for step, values in rows:
        module.append_to_jsonl(str(out / "logging.jsonl"), {**values, "global_step/max_steps": f"{step}/{len(rows)}"})


def prime_rl(source: Path, out: Path, rows: Rows) -> None:
    module = taken(source / "src", "prime_rl.monitors.file")
    module.sanitize = lambda metrics: (metrics, [])  # its own drops what is not finite
    monitor = module.FileMonitor()
    monitor.config, monitor.logger = types.SimpleNamespace(path="metrics.jsonl"), logging.getLogger("prime")

    async def write() -> None:
        await monitor.init(out)
        for step, values in rows:
            await monitor.log_metrics(values, step)

    asyncio.run(write())


def rllm(source: Path, out: Path, rows: Rows) -> None:
    logger = taken(source, "rllm.utils.tracking").LocalLogger()
    for step, values in rows:
        logger.log(values, step)


def torchforge(source: Path, out: Path, rows: Rows) -> None:
    module = taken(source / "src", "forge.observability.metrics", "forge.util.logging")
    module.logger.setLevel(logging.INFO)
    console = module.ConsoleBackend(logging_mode=module.LoggingMode.GLOBAL_REDUCE)

    async def write() -> None:
        await console.init(module.BackendRole.GLOBAL, process_name="global_reduce")
        for step, values in rows:
            mean = module.Reduce.MEAN
            await console.log_batch([module.Metric(*one, mean, timestamp=1.0) for one in values.items()], step)

    asyncio.run(write())


FRAMEWORKS: dict[str, Callable[[Path, Path, Rows], None]] = {
    one.__name__: one
    for one in (openrlhf, roll, slime, skyrl, areal, open_instruct, ms_swift, prime_rl, rllm, torchforge)
}

if __name__ == "__main__":
    FRAMEWORKS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]), json.load(sys.stdin))
