"""Jobs of a cluster, acted on through its own program: a real Slurm of one node and the real kubectl, where they are
installed (Debian: slurm-wlm, kubernetes-client); Ray's `ray job` is tried with a recording of what it prints."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_for

from leadline.errors import BadOrder
from leadline.live.acting import actor as actors
from leadline.live.acting.actor import Actor
from leadline.live.acting.orders import Action, Decision, Life, parse
from leadline.live.acting.writer import RunFiles
from leadline.live.store import Store

ENOUGH = Decision(True, "roll_back", 220, "3 looks all say that the run should end", "ckpt/125")
CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={one}
SlurmdPort={other}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
TRAINS = """#!/bin/bash
{srun} /usr/bin/python3 -c "
import signal, sys, time
def save(*_):
    open('{folder}/saved', 'a').write('saved\\n')
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
open('{folder}/up', 'w').close()
while True: time.sleep(0.1)"
"""


@pytest.fixture(autouse=True)
def _own_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actors, "FIXED", tmp_path / "claims")
    monkeypatch.setattr(actors, "SAMPLED", 0.2)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def carried_out(order: str, folder: Path, *, dry: bool = False) -> list[Action]:
    """All that is said until the last word on an order."""
    said: list[Action] = []
    with Store(folder / f"{abs(hash(order))}.db") as store:
        actor = Actor(store, parse(order), dry=dry)
        life = Life(store.run("run", 0.0), "run")

        def over() -> bool:
            found = actor.consider(life, ENOUGH, RunFiles())
            if found is not None:
                said.append(found)
            return bool(said) and said[-1].state in ("dry", "done", "refused", "failed")

        wait_for(over)
    return said


# --- Slurm


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of one node: this one."""
    if shutil.which("slurmctld") is None or shutil.which("slurmd") is None or os.geteuid() != 0:
        pytest.skip("needs Slurm (Debian: slurm-wlm) and root")
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    config = folder / "slurm.conf"
    host = socket.gethostname().split(".")[0]
    config.write_text(CONFIG.format(host=host, one=free_port(), other=free_port(), folder=folder))
    os.environ["SLURM_CONF"] = str(config)
    daemons = [
        subprocess.Popen([name, "-D", "-f", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in ("slurmctld", "slurmd")
    ]
    try:
        wait_for(lambda: "idle" in subprocess.run(["sinfo"], capture_output=True, text=True).stdout)
        yield folder
    finally:
        subprocess.run(["scancel", "--user=root"], capture_output=True)
        time.sleep(1)
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()
        del os.environ["SLURM_CONF"]


def submitted(folder: Path, *words: str, srun: bool) -> str:
    script = folder / "train.sh"
    script.write_text(TRAINS.format(folder=folder, srun="srun" if srun else ""))
    for file in [*folder.glob("up*"), *folder.glob("saved*")]:
        file.unlink()
    sbatch = ["sbatch", "--parsable", "-o", "/dev/null", *words, str(script)]
    done = subprocess.run(sbatch, capture_output=True, text=True, check=True)
    wait_for((folder / "up").exists)
    return done.stdout.strip()


def test_a_slurm_job_gets_its_signal_and_saves(slurm: Path, tmp_path: Path) -> None:
    job = submitted(slurm, srun=True)
    dry = carried_out(f"slurm:{job}", tmp_path, dry=True)
    assert [one.state for one in dry] == ["dry"]
    assert dry[0].says.startswith(f"Dry run: would have had Slurm send SIGTERM to job {job}")
    assert not (slurm / "saved").exists()
    said = carried_out(f"slurm:{job}:term", tmp_path)
    assert [one.state for one in said] == ["sent", "done"]
    assert (slurm / "saved").read_text() == "saved\n"


def test_a_slurm_job_that_would_lose_its_state_is_refused_and_may_be_requeued(slurm: Path, tmp_path: Path) -> None:
    job = submitted(slurm, srun=False)
    (refused,) = carried_out(f"slurm:{job}", tmp_path)
    assert refused.state == "refused"
    assert "trains in the batch script itself" in refused.says
    assert [one.state for one in carried_out(f"slurm:{job}:requeue", tmp_path)] == ["sent", "done"]
    shown = subprocess.run(["squeue", "-h", "-j", job, "-o", "%T"], capture_output=True, text=True).stdout
    assert shown.strip() in ("PENDING", "CONFIGURING", "RUNNING")
    subprocess.run(["scancel", job], check=True)


def test_one_task_of_an_array_is_signaled_alone(slurm: Path, tmp_path: Path) -> None:
    job = submitted(slurm, "--array=0-1", srun=True)
    wait_for(lambda: state_of(f"{job}_0") == state_of(f"{job}_1") == "RUNNING")
    with pytest.raises(BadOrder, match=f"has several tasks.*name one, as {job}_"):
        parse(f"slurm:{job}")
    wait_for(lambda: len(steps_of(job)) == 2)
    assert [one.state for one in carried_out(f"slurm:{job}_0", tmp_path)] == ["sent", "done"]
    assert state_of(f"{job}_1") == "RUNNING"
    with pytest.raises(BadOrder, match=f"has several tasks.*name one, as {job}_1"):
        parse(f"slurm:{job}")  # one is left, and it is still an array
    subprocess.run(["scancel", job], check=True)
    wait_for(lambda: state_of(job) == "")


def test_a_requeued_task_is_judged_by_the_rows_since_it_was_started_again(slurm: Path, tmp_path: Path) -> None:
    job = submitted(slurm, "--array=3", "--requeue", srun=True)
    with Store(tmp_path / "state.db") as store:
        actor = Actor(store, parse(f"slurm:{job}_3"), dry=False)
        life, first = Life(store.run("run", 0.0), "run"), time.time()
        run = RunFiles(dates=((first, 100), (first, 200)))
        assert actor.older(run) == 100  # it may not have written what came before the first check
        (slurm / "up").unlink()
        subprocess.run(["scontrol", "requeue", f"{job}_3"], check=True)
        assert actor.consider(life, ENOUGH, run) is None
        assert actor.older(run) == float("inf")  # no row is its own yet
        wait_for(lambda: state_of(f"{job}_3") == "PENDING")
        subprocess.run(["scontrol", "update", f"jobid={job}_3", "starttime=now"], check=True)
        wait_for((slurm / "up").exists)
        (slurm / "saved").unlink(missing_ok=True)  # requeuing ended the first process too
        assert actor.consider(life, ENOUGH, run) is None  # it has another start now
        later = RunFiles(dates=(*run.dates, (time.time() + 1, 300)))
        assert actor.older(later) == 300
        again = parse(actor.order.text, store.order(actor.order.text))
        assert again.job == actor.order.job  # a watch that is started now knows it too
        wait_for(lambda: (done := actor.consider(life, ENOUGH, later)) is not None and done.state == "sent")
        wait_for(lambda: (done := actor.consider(life, ENOUGH, later)) is not None and done.state == "done")
        assert (slurm / "saved").read_text() == "saved\n"


def state_of(job: str) -> str:
    return subprocess.run(["squeue", "-h", "-j", job, "-o", "%T"], capture_output=True, text=True).stdout.strip()


def steps_of(job: str) -> list[str]:
    shown = subprocess.run(["squeue", "-h", "-s", "-j", job, "-o", "%i"], capture_output=True, text=True).stdout
    return [step for step in shown.split() if step.endswith(".0")]


def test_a_slurm_job_that_is_not_there_is_said_so_at_once(slurm: Path) -> None:
    with pytest.raises(BadOrder, match="Invalid job id"):
        parse("slurm:424242")


# --- Kubernetes


class Cluster(BaseHTTPRequestHandler):
    """As much of the API as kubectl asks for to read, suspend and delete."""

    objects: dict[str, dict[str, Any]]
    asked: list[tuple[str, str, str]]

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        lists = {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": [
                    {
                        "name": "batch",
                        "versions": [{"groupVersion": "batch/v1", "version": "v1"}],
                        "preferredVersion": {"groupVersion": "batch/v1", "version": "v1"},
                    }
                ],
            },
            "/api/v1": resources("v1", "pods", "Pod", "po"),
            "/apis/batch/v1": resources("batch/v1", "jobs", "Job", ""),
        }
        found = lists.get(path) or self.objects.get(path)
        self._answer(200 if found else 404, found or not_found(path))

    def do_PATCH(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.asked.append(("PATCH", self.path.partition("?")[0], body))
        found = self.objects[self.path.partition("?")[0]]
        found["status"] = {}  # its pods have ended
        self._answer(200, found)

    def do_DELETE(self) -> None:
        self.asked.append(("DELETE", self.path.partition("?")[0], ""))
        self._answer(200, self.objects.pop(self.path.partition("?")[0]))

    def _answer(self, status: int, content: object) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *words: object) -> None:
        """Nobody reads it."""


def resources(version: str, name: str, kind: str, short: str) -> dict[str, object]:
    verbs = ["get", "list", "patch", "delete"]
    one = {"name": name, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": verbs}
    if short:
        one["shortNames"] = [short]
    return {"kind": "APIResourceList", "groupVersion": version, "resources": [one]}


def not_found(path: str) -> dict[str, object]:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
            "message": f'"{path.rpartition("/")[2]}" not found'}  # fmt: skip


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Cluster]]:
    """The real kubectl, and a server that speaks as much of the API as it needs."""
    if shutil.which("kubectl") is None:
        pytest.skip("needs kubectl (Debian: kubernetes-client)")
    handler = type("ThisCluster", (Cluster,), {"objects": {}, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = tmp_path / "kubeconfig"
    config.write_text(
        f"apiVersion: v1\nkind: Config\ncurrent-context: test\nclusters:\n- name: test\n  cluster:\n"
        f"    server: http://127.0.0.1:{server.server_address[1]}\n"
        "contexts:\n- name: test\n  context: {cluster: test, user: test}\nusers:\n- name: test\n  user: {}\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    yield handler
    server.shutdown()
    server.server_close()


def a_job(uid: str = "u1") -> dict[str, Any]:
    meta = {"name": "grpo", "namespace": "ml", "uid": uid}
    return {"kind": "Job", "apiVersion": "batch/v1", "metadata": meta, "spec": {}, "status": {"active": 1}}


JOB, POD = "/apis/batch/v1/namespaces/ml/jobs/grpo", "/api/v1/namespaces/ml/pods/grpo"


def test_a_kubernetes_job_is_suspended(cluster: type[Cluster], tmp_path: Path) -> None:
    cluster.objects[JOB] = a_job()
    said = carried_out("kubectl:ml/grpo", tmp_path)
    assert [one.state for one in said] == ["sent", "done"]
    assert cluster.asked == [("PATCH", JOB, '{"spec":{"suspend":true}}')]


def test_a_kubernetes_job_of_the_same_name_is_another_one(cluster: type[Cluster], tmp_path: Path) -> None:
    cluster.objects[JOB] = a_job()
    order = parse("kubectl:ml/grpo")
    cluster.objects[JOB] = a_job("u2")
    with Store(tmp_path / "state.db") as store:
        said = Actor(store, order, dry=False).consider(Life(store.run("run", 0.0), "run"), ENOUGH, RunFiles())
    assert said is not None
    assert "is another one now" in said.says
    assert cluster.asked == []


def test_a_pod_is_deleted_and_one_that_would_come_back_is_refused(cluster: type[Cluster], tmp_path: Path) -> None:
    meta: dict[str, Any] = {"name": "grpo", "namespace": "ml", "uid": "p1"}
    pod: dict[str, Any] = {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "status": {"phase": "Running"}}
    cluster.objects[POD] = pod
    assert [one.state for one in carried_out("kubectl:ml/grpo", tmp_path)] == ["sent", "done"]
    assert cluster.asked == [("DELETE", POD, "")]
    cluster.objects[POD] = {**pod, "status": {"phase": "Failed"}}  # its logs may be all that is left
    with pytest.raises(BadOrder, match="not running but failed"):
        parse("kubectl:ml/grpo")
    owned = {**meta, "ownerReferences": [{"kind": "Job", "name": "above"}]}
    cluster.objects[POD] = {**pod, "metadata": owned}
    with pytest.raises(BadOrder, match="job/above would start the pod again"):
        parse("kubectl:ml/grpo")
    with pytest.raises(BadOrder, match="not found"):
        parse("kubectl:ml/other")


# --- Ray, by a recording

RAY = """#!/bin/sh
echo "$@" >> {folder}/asked
case "$2" in
status) [ -e {folder}/stopped ] && state=STOPPED || state=RUNNING; echo "Status for job 'raysubmit_x': $state";;
stop) touch {folder}/stopped; echo "Attempting to stop job 'raysubmit_x'";;
esac
"""


def test_a_ray_job_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `ray job status` and `ray job stop` print, from a recording: a cluster is too heavy for a test."""
    ray = tmp_path / "ray"
    ray.write_text(RAY.format(folder=tmp_path))
    ray.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert [one.state for one in carried_out("ray:raysubmit_x", tmp_path)] == ["sent", "done"]
    assert (tmp_path / "asked").read_text().splitlines().count("job stop --no-wait raysubmit_x") == 1
    with pytest.raises(BadOrder, match="not running but stopped"):
        parse("ray:raysubmit_x")
