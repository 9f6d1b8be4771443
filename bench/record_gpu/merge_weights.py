"""A guest on the GPU that comes and goes: python merge_weights.py SECONDS."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import torch

until = time.time() + float(sys.argv[1])
weights = torch.randn(16384, 16384, device="cuda", dtype=torch.bfloat16)
with tempfile.TemporaryDirectory() as folder:
    while time.time() < until:
        for _ in range(20):
            weights = (weights @ weights).mul_(1e-3).clamp_(-1, 1)
        torch.cuda.synchronize()
        (Path(folder) / "merged.bin").write_bytes(os.urandom(1 << 22))
