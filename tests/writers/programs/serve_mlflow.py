"""Logs a run to a real MLflow server: python serve_mlflow.py OUT. The server runs as long as OUT/stop is not there.

OUT/address names it, OUT/held.json is what the client was given.
"""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

out = Path(sys.argv[1])
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
store = ["--backend-store-uri", f"sqlite:///{out / 'server.db'}", "--default-artifact-root", str(out / "artifacts")]
place = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
server = subprocess.Popen([sys.executable, "-m", "mlflow", "server", *store, *place])
try:
    for _ in range(240):
        try:
            urlopen(f"http://127.0.0.1:{port}/health", timeout=1).close()
            break
        except OSError:
            time.sleep(0.5)
    import mlflow

    mlflow.set_tracking_uri(f"http://127.0.0.1:{port}")
    mlflow.set_experiment("leadline")
    held = {}
    with mlflow.start_run(run_name="served") as run:
        mlflow.log_params({"algorithm/adv_estimator": "grpo", "trainer/total_training_steps": 40})
        for step in range(1, 41):
            row = {"critic/score/mean": step / 50, "actor/pg_loss": math.inf if step == 9 else -step / 1000}
            held[step] = row
            mlflow.log_metrics(row, step=step)
    (out / "held.json").write_text(json.dumps(held))
    (out / "address").write_text(f"mlflow://127.0.0.1:{port}/{run.info.run_id}")
    while not (out / "stop").exists():
        time.sleep(0.2)
finally:
    server.terminate()
    server.wait(timeout=60)
