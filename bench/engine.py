"""How well Leadline reads one curve, beside what else one could use: `python bench/engine.py [--quick] [--out DIR]`.

Every figure of a row, ours and the peers', comes from the same simulated series in the same run.
"""

from __future__ import annotations

import os

# Before numpy: two worker processes share two cores, and threads inside them would only get in each other's way.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
import multiprocessing
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # so that a checkout works without being installed

import numpy as np
from experiments import EXPERIMENTS, calibration
from tables import Headline, Record, Table, summary

Job = tuple[str, Record]
QUICK = 0.12
PRACTICE = 1_000_000  # quick runs draw other series than the full run, so looking at them uses up nothing
WORKERS = 2


def run_job(job: Job) -> tuple[str, list[Record], str | None]:
    """One job's records; an error is a result too, and must not stop the others."""
    name, what = job
    try:
        module = next(module for module in EXPERIMENTS if name == module.NAME)
        return name, module.score(**what), None
    except Exception:
        return name, [], f"{name} {what}\n{traceback.format_exc()}"


def all_jobs(quick: bool, only: Sequence[str]) -> list[Job]:
    """Every job, in a fixed shuffle: the time left can then be told from the jobs done."""
    scale, first = (QUICK, PRACTICE) if quick else (1.0, 0)
    jobs = [
        (module.NAME, {**what, "index": first + what["index"]})
        for module in EXPERIMENTS
        if module.NAME in only
        for what in module.jobs(scale)
    ]
    order = np.random.default_rng(0).permutation(len(jobs))
    return [jobs[k] for k in order]


def run_all(jobs: list[Job]) -> tuple[dict[str, list[Record]], list[str]]:
    """All records by experiment, and the errors; progress goes to stderr."""
    records: dict[str, list[Record]] = {module.NAME: [] for module in EXPERIMENTS}
    errors: list[str] = []
    begun = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
        for done, (name, found, error) in enumerate(pool.imap_unordered(run_job, jobs, chunksize=4), start=1):
            records[name] += found
            errors += [error] if error else []
            if done % 25 == 0 or done == len(jobs):
                left = (time.monotonic() - begun) / done * (len(jobs) - done)
                state = f"{done}/{len(jobs)} series, {len(errors)} errors, {left:.0f} s left"
                print(f"\r{state}   ", end="", file=sys.stderr, flush=True)
    print(f"\n{time.monotonic() - begun:.0f} s in all", file=sys.stderr)
    return records, errors


def draw_reliability(records: list[Record], path: Path) -> None:
    """Said against true, for all statements and for each alone; bars are two standard errors."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    mine = [record for record in records if record["statement"] != "word"]
    names = ["all statements", *dict.fromkeys(str(record["statement"]) for record in mine)]
    figure, axes = pyplot.subplots(2, 4, figsize=(14, 7), sharex=True, sharey=True)
    for axis, name in zip(axes.flat, names, strict=True):
        some = mine if name == "all statements" else [record for record in mine if record["statement"] == name]
        said, held, _, counts = (np.array(column) for column in zip(*calibration.bins(some), strict=True))
        error = 2 * np.sqrt(np.maximum(held * (1 - held), 0.25 / counts) / counts)
        axis.plot([0, 1], [0, 1], color="0.8", linewidth=1)
        axis.errorbar(said, held, yerr=error, fmt="o-", markersize=3, linewidth=1, color="tab:blue")
        axis.set_ylim(-0.03, 1.03)
        axis.set_title(f"{name} ({counts.sum()})", fontsize=10)
    figure.supxlabel("probability said")
    figure.supylabel("share true")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def write_figures(path: Path, headlines: list[Headline], tables: list[Table], quick: bool, errors: list[str]) -> None:
    """All figures as JSON."""
    content = {
        "quick": quick,
        "errors": errors,
        "headlines": [asdict(line) for line in headlines],
        "tables": [asdict(table) for table in tables],
    }
    path.write_text(json.dumps(content, indent=1))


def main(argv: Sequence[str] | None = None) -> int:
    names = [module.NAME for module in EXPERIMENTS]
    parser = argparse.ArgumentParser(description="Score the curve engine and its peers on simulated series.")
    parser.add_argument("--quick", action="store_true", help="an eighth of the series, coarse figures")
    parser.add_argument("--out", type=Path, default=Path("bench/out"), help="folder for the plot and the JSON")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="run these experiments alone")
    options = parser.parse_args(argv)
    only = {*options.only, "nulls"} if "power" in options.only else set(options.only)  # power needs the null thresholds
    records, errors = run_all(all_jobs(options.quick, sorted(only)))
    filled = [module for module in EXPERIMENTS if records[module.NAME]]
    tables = [table for module in filled for table in module.tables(records)]
    headlines = [line for module in filled for line in module.headlines(records)]
    for table in [summary(headlines), *tables]:
        print(table.text())
    options.out.mkdir(parents=True, exist_ok=True)
    write_figures(options.out / "figures.json", headlines, tables, options.quick, errors)
    if records[calibration.NAME]:
        draw_reliability(records[calibration.NAME], options.out / "reliability.png")
    for error in errors[:5]:
        print(error, file=sys.stderr)
    if errors:
        print(f"{len(errors)} series failed; all are in {options.out / 'figures.json'}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
