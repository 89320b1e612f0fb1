"""The agent as `deploy/` runs it: shipped configuration and role, real API server and namespaces,
from taint to mended pod.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import kube_objects as kube
from tests.apiserver import AGENT, PROGRAMS, ApiServer, free_port
from tests.kube.following import until
from tests.protect.repair.netns import inside
from tests.protect.repair.runtime import DEBIAN, Runtime

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
NODE, SPACE, TAINT = "agent-node", "agent-space", "podpath.dev/not-ready"
MEGABYTES = 60


def configure(server: ApiServer, runtime: Runtime, folder: Path, port: int) -> Path:
    """Take linkerd's variant as it is shipped, at this machine's paths; the node's own sysctls are
    left alone.
    """
    text = (DEPLOY / "linkerd" / "agent.toml").read_text(encoding="utf-8")
    text = re.sub(r"\[sysctl\].*?(?=\n\[)", "", text, flags=re.DOTALL)
    places = (
        f'conf_dir = "{runtime.conf}"\nbin_dirs = ["{runtime.programs}", "{DEBIAN}"]\npoll = "1s"\n'
    )
    (folder / "state").mkdir()
    for old, new in (
        ('"/run/podpath"', f'"{folder / "state"}"'),
        ("127.0.0.1:9809", f"127.0.0.1:{port}"),
        ("[kubernetes]\n", f'[kubernetes]\nkubeconfig = "{server.kubeconfig(AGENT)}"\n'),
        (
            'type = "linkerd-cni" # its own installer\'s entry is kept as it is\n',
            f'entry = \'{{"type": "mesh-cni"}}\'\n{places}',
        ),
        (
            'label_selector = "linkerd.io/control-plane-ns"',
            'label_selector = "linkerd.io/control-plane-ns"\npause = "1s"',
        ),
    ):
        assert old in text, old
        text = text.replace(old, new)
    (folder / "agent.toml").write_text(text, encoding="utf-8")
    return folder / "agent.toml"


@contextmanager
def running(config: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the agent."""
    environment = os.environ | {"NODE_NAME": NODE}
    command = [str(PROGRAMS / "podpath"), "protect", "agent", "--config", str(config)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as agent:
        try:
            yield agent
        finally:
            agent.send_signal(signal.SIGTERM)


def ask(port: int, path: str) -> tuple[int, str]:
    """Ask a health endpoint; 0 while nobody listens."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def tainted(server: ApiServer) -> bool:
    """Tell whether the node has the agent's taint."""
    return TAINT in [taint["key"] for taint in server.read("node", NODE)["spec"].get("taints", [])]


@pytest.mark.kernel("iptables-nft-save", "ip6tables-nft-save", "nft", "nsenter", "setpriv")
def test_the_agent_as_it_is_deployed(api_server: ApiServer, tmp_path: Path) -> None:
    """Tainted while the plugin has no program, no pod touched; then chained, ready, untainted, the
    pod mended: by its role.
    """
    port = free_port()
    api_server.apply(kube.node(NODE), kube.namespace(SPACE))
    for name in ("namespace.yaml", "access.yaml", "budget.yaml"):
        api_server.kubectl("apply", "-f", DEPLOY / "base" / name)
    with Runtime(tmp_path) as runtime:
        early = runtime.run_pod()
        code, message = early.validate(tmp_path / "log")
        labels = {"linkerd.io/control-plane-ns": "linkerd"}
        broken = kube.pod(
            "early", namespace=SPACE, node=NODE, init=("linkerd-network-validator",),
            containers=("app", "linkerd-proxy"), labels=labels, owners=[kube.owner()],
        )  # fmt: skip
        api_server.apply(broken)
        ended = kube.ended(code, message)
        status = kube.status(
            "linkerd-network-validator", kube.CRASH_LOOP, ended, ips=early.addresses
        )
        api_server.set_status("pod", SPACE, "early", status)
        with running(configure(api_server, runtime, tmp_path, port)) as agent:
            until(lambda: ask(port, "/livez")[0] == 200, "it lives")
            until(lambda: tainted(api_server), "the node is tainted")
            until(lambda: "repair_pods_broken 1" in ask(port, "/metrics")[1], "the pod is found")
            unready, why = ask(port, "/readyz")
            untouched = inside(early.name, "iptables-nft-save")

            runtime.install_mesh()
            until(lambda: ask(port, "/readyz")[0] == 200, "it is ready")
            until(lambda: not tainted(api_server), "the taint is off")
            until(
                lambda: "--to-ports 4140" in inside(early.name, "ip6tables-nft-save"),
                "the pod is mended",
            )
            until(
                lambda: (
                    'repair_deeds_total{action="mend",result="success"} 1'
                    in ask(port, "/metrics")[1]
                ),
                "it is counted",
            )
            proven = early.validate(tmp_path / "log")[0]
            born = runtime.run_pod().validate(tmp_path / "log")[0]
            memory = next(
                int(line.split()[1]) for line in _status(agent.pid) if line.startswith("VmRSS")
            )
            agent.send_signal(signal.SIGTERM)
            _, log = agent.communicate(timeout=60)

    assert 503 == unready, why
    assert "--to-ports" not in untouched
    assert (0, 0) == (proven, born)
    assert memory < MEGABYTES * 1024, f"{memory} KB"
    assert 0 == agent.returncode
    assert AGENT not in log
    assert all(
        json.loads(line)["level"] in {"info", "warning", "error"} for line in log.splitlines()
    )
    reasons = {
        event["reason"] for event in api_server.read("events.events.k8s.io", "-n", SPACE)["items"]
    }
    assert {"LabelBrokenPod", "MendBrokenPod"} <= reasons


def _status(process: int) -> list[str]:
    return Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
