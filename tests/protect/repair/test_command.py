"""Tests of `podpath protect repair` as a command (row R10): one look, dry runs, policies, and what
is refused.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from tests.apiserver import NOBODY
from tests.kube.following import PATIENCE
from tests.protect.repair.ward import Ward


def run(*arguments: str | Path, **environment: str) -> tuple[int, str, str]:
    """Run the command; exit code, output and complaints."""
    command = [sys.executable, "-m", "podpath", "protect", "repair", *arguments]
    given = {
        key: value for key, value in os.environ.items() if key not in {"KUBECONFIG", "NODE_NAME"}
    } | environment
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=given)
    return done.returncode, done.stdout, done.stderr


def test_one_look_reports_and_acts(ward: Ward) -> None:
    """--once says which pod is broken and why, evicts it, and ends with 1; the next look finds
    nothing.
    """
    ward.pod("command-1")
    options = (
        "--node",
        ward.node,
        "--kubeconfig",
        ward.server.kubeconfig(),
        "--once",
        "--action",
        "evict",
    )

    first, second = run(*options), run(*options)

    assert (1, "") == (first[0], first[2])
    assert (
        "broken   ward/command-1: linkerd-network-validator waits (CrashLoopBackOff) after it "
        "ended with 95"
    ) in first[1]
    assert "evict: success 1\n1 pods, 1 broken\n" in first[1]
    assert (0, "0 pods, 0 broken\n") == second[:2]


def test_a_dry_run_prints_json_and_changes_nothing(ward: Ward, repository: Path) -> None:
    """--dry-run --json: one document with each pod's state and the action that would be done; the
    node by its variable.
    """
    pod = ward.pod("command-2")

    code, out, _ = run(
        "--kubeconfig",
        ward.server.kubeconfig(),
        "--once",
        "--dry-run",
        "--action",
        "evict",
        "--json",
        NODE_NAME=ward.node,
    )

    told = json.loads(out)
    assert (1, "podpath/repair/v1") == (code, told["schema"])
    assert [("ward/command-2", "broken", "validator-95")] == [
        (each["pod"], each["state"], each["cause"]) for each in told["pods"]
    ]
    assert [{"action": "evict", "result": "would", "count": 1}] == told["deeds"]
    assert (ward.node, True) == (told["node"], told["dry_run"])
    schema = json.loads(
        (repository / "src/podpath/report/schema/repair-v1.json").read_text(encoding="utf-8")
    )
    jsonschema.validate(told, schema)
    assert pod == ward.read("command-2")


def test_g3_nothing_is_done_while_the_chain_is_wrong(ward: Ward, tmp_path: Path) -> None:
    """With --chain-entry the runtime's folder is looked at first: without the plugin in it no pod
    is touched.
    """
    (tmp_path / "bin").mkdir()
    for name in ("bridge", "mesh-cni"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    conf = {"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge"}]}
    ward.pod("command-4")
    options = (
        "--node",
        ward.node,
        "--kubeconfig",
        ward.server.kubeconfig(),
        "--once",
        "--action",
        "evict",
    )
    chain = (
        "--chain-entry",
        '{"type": "mesh-cni"}',
        "--conf-dir",
        tmp_path,
        "--bin-dir",
        tmp_path / "bin",
    )

    (tmp_path / "10-pods.conflist").write_text(json.dumps(conf), encoding="utf-8")
    wrong = run(*options, *chain)
    kept = ward.there("command-4")
    plugins = [{"type": "bridge"}, {"type": "mesh-cni"}]
    (tmp_path / "10-pods.conflist").write_text(
        json.dumps(conf | {"plugins": plugins}), encoding="utf-8"
    )
    right = run(*options, *chain)

    assert kept
    assert "the node's own CNI chain is not healthy" in wrong[1]
    assert "has mesh-cni" in wrong[1]
    assert "evict: success 1" in right[1]
    assert not ward.there("command-4")


@pytest.mark.parity("R10")
def test_r10_a_policy_file_is_read(ward: Ward, tmp_path: Path) -> None:
    """The keys are those of the agent's section, and options on the command line come on top."""
    policy = tmp_path / "repair.toml"
    policy.write_text(
        'actions = ["delete"]\nbare_pods = true\n[[validators]]\ncontainer = "mine"\ncodes = [7]\n',
        encoding="utf-8",
    )
    ward.pod(
        "command-3",
        init=("mine",),
        status={"phase": "Pending", "initContainerStatuses": [_ended("mine", 7)]},
    )

    code, out, _ = run(
        "--node",
        ward.node,
        "--kubeconfig",
        ward.server.kubeconfig(),
        "--policy",
        policy,
        "--once",
        "--dry-run",
    )

    assert (1, True) == (code, "delete: would 1" in out)


def _ended(name: str, code: int) -> dict[str, object]:
    state = {"terminated": {"exitCode": code, "reason": "Error"}}
    return {
        "name": name,
        "state": state,
        "restartCount": 0,
        "ready": False,
        "image": "i",
        "imageID": "",
    }


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("actoins = []", "actions"),
        ("actions = 7", "a list"),
        (None, "No such file"),
        ("node_burst = 0", "at least 1"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_a_usage_error(
    tmp_path: Path, content: str | None, complaint: str
) -> None:
    """The file, the line and what was expected, and nothing is started."""
    policy = tmp_path / "repair.toml"
    if content is not None:
        policy.write_text(content, encoding="utf-8")

    code, _, complaints = run("--node", "n", "--policy", policy, "--once")

    assert 2 == code
    assert complaint in complaints
    assert str(policy) in complaints


@pytest.mark.parity("I9")
def test_i9_without_a_node_or_a_server_it_says_what_is_missing(tmp_path: Path) -> None:
    """No node's name: a usage error; no API server: the option that names one."""
    assert "--node" in run("--once")[2]
    assert "--kubeconfig" in run("--node", "n", "--once", HOME=str(tmp_path))[2]


def test_without_the_extra_it_says_how_to_get_it(tmp_path: Path) -> None:
    """Where lightkube is not installed, the complaint names the extra."""
    absent = "raise ModuleNotFoundError(\"No module named 'lightkube'\", name='lightkube')"
    (tmp_path / "lightkube.py").write_text(absent, encoding="utf-8")

    code, _, complaints = run("--node", "n", "--once", PYTHONPATH=str(tmp_path))

    assert 2 == code
    assert "pip install 'podpath[k8s]'" in complaints


def test_who_may_not_list_is_told_in_one_line(ward: Ward) -> None:
    """A refusal of the server is one clear line and exit 2; no token stands in it."""
    code, _, complaints = run(
        "--node", ward.node, "--kubeconfig", ward.server.kubeconfig(NOBODY), "--once"
    )

    assert 2 == code
    assert "403 Forbidden" in complaints
    assert "Traceback" not in complaints
    assert NOBODY not in complaints


def until_evicted(ward: Ward, pod: str, running: subprocess.Popen[str]) -> bool:
    """Wait until a pod is gone, as long as the program runs that evicts it; tell whether it is
    still there.
    """
    end = time.monotonic() + PATIENCE
    while ward.there(pod) and running.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    return ward.there(pod)


@pytest.mark.parity("R10")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_r10_it_runs_until_it_is_told_to_end(ward: Ward, number: signal.Signals) -> None:
    """Without --once it follows the node; a signal ends it at once with 0, its log names the pod
    and no secret.
    """
    ward.pod(f"signalled-{int(number)}")
    command = [
        sys.executable,
        "-m",
        "podpath",
        "protect",
        "repair",
        "--node",
        ward.node,
        "--action",
        "evict",
    ]
    kubeconfig = ward.server.kubeconfig()
    with subprocess.Popen(
        [*command, "--kubeconfig", kubeconfig], stderr=subprocess.PIPE, text=True
    ) as running:
        waiting = until_evicted(ward, f"signalled-{int(number)}", running)
        running.send_signal(number)
        _, log = running.communicate(timeout=60)
        assert not waiting, f"the pod was not evicted in {PATIENCE:g} s:\n{log}"

    assert 0 == running.returncode, log
    assert f"the pod is broken, evict is next: ward/signalled-{int(number)}" in log
    assert "token" not in log
