"""Prometheus text as DCGM, Ray and nvidia_gpu_exporter serve it, one scrape or many one after the other.

The text format is three lines of regular expression; its official parser gives up at the first damaged line, and a
record that was appended to by `curl` in a loop usually has one.
"""

from __future__ import annotations

import re
from pathlib import Path

from .clock import modified, wall
from .part import GB_PER_MIB, GpuColumns, Part, lines_of

NAME = "prometheus"

SAMPLE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+([^\s{}]+)(?:\s+(-?\d+))?\s*")
LABEL = re.compile(r'(\w+)="((?:\\.|[^"\\])*)"')
MEANT = {  # metric: (what it is, what one unit of it is)
    "DCGM_FI_DEV_POWER_USAGE": ("power_w", 1.0),
    "DCGM_FI_DEV_POWER_MGMT_LIMIT": ("power_limit_w", 1.0),
    "DCGM_FI_DEV_FB_USED": ("memory_gb", GB_PER_MIB),
    "DCGM_FI_DEV_FB_TOTAL": ("memory_total_gb", GB_PER_MIB),
    "DCGM_FI_DEV_GPU_UTIL": ("utilisation", 1.0),
    "ray_node_gpus_utilization": ("utilisation", 1.0),
    "ray_node_gram_used": ("memory_gb", 1e-3),
    "nvidia_smi_power_draw_watts": ("power_w", 1.0),
    "nvidia_smi_power_limit_watts": ("power_limit_w", 1.0),
    "nvidia_smi_memory_used_bytes": ("memory_gb", 1e-9),
    "nvidia_smi_memory_total_bytes": ("memory_total_gb", 1e-9),
    "nvidia_smi_utilization_gpu_ratio": ("utilisation", 100.0),
}
HOSTS = ("Hostname", "hostname", "ip", "instance", "node")
DEVICES = ("gpu", "GpuIndex", "index", "UUID", "uuid")


def recognises(path: Path, head: bytes) -> bool:
    return any(f"\n{name}{{".encode() in b"\n" + head for name in MEANT)


def parse(path: Path) -> Part:
    gpus = GpuColumns()
    devices: dict[tuple[str, str], int] = {}
    scrape: dict[int, dict[str, float]] = {}
    scraped_at: float | None = None
    undated = 0

    def flush() -> None:
        nonlocal undated
        for device, values in scrape.items():
            if scraped_at is None:
                undated += 1
            else:
                gpus.add(scraped_at, device, **values)
        scrape.clear()

    for line in lines_of(path):
        text = line.decode("utf-8", errors="replace").strip()
        found = SAMPLE.fullmatch(text)
        if found is None or found[1] not in MEANT:
            if (told := wall(text.lstrip("# "))) is not None:  # `date` before each `curl`
                flush()
                scraped_at = told
            continue
        labels = dict(LABEL.findall(found[2] or ""))
        name = next((labels[key] for key in DEVICES if key in labels), "0")
        host = next((labels[key] for key in HOSTS if key in labels), "")
        device = devices.setdefault((host, name), len(devices))
        role, unit = MEANT[found[1]]
        at = float(found[4]) / 1000 if found[4] else scraped_at
        if role in scrape.get(device, ()) or at != scraped_at:
            flush()
            scraped_at = at
        try:
            scrape.setdefault(device, {})[role] = float(found[3]) * unit
        except ValueError:
            continue
    if scraped_at is None and not undated:
        scraped_at = modified(path)  # a single scrape was taken when its file was written
    flush()
    notes = (f"{undated} samples name no time, so they cannot be placed in the run",) if undated else ()
    return Part(gpus=gpus.samples(), notes=notes)
