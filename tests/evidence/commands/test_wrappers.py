"""Network namespaces by the files that stand for them, and pods that have none of their own."""

from __future__ import annotations

import pytest

from podpath.evidence.commands.command import parse_command
from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.commands.wrappers import netns_of_file

FILES = [
    ("/proc/4711/ns/net", "pid 4711"),
    ("/proc/1/ns/net", None),
    ("/var/run/netns/cni-1", "cni-1"),
    ("/run/netns/a", "a"),
    ("/x", "/x"),
]


@pytest.mark.parametrize(("path", "netns"), FILES)
def test_files(path: str, netns: str | None) -> None:
    """Process 1 is the host's."""
    assert netns == netns_of_file(path)


@pytest.mark.parametrize(
    "pod",
    [
        "cilium-x7k2p",
        "kube-proxy-abcde",
        "calico-node-q4mzl",
        "node/w1",
        "ds/cilium",
        "<cilium-pod>",
    ],
)
def test_pods_of_the_host_network(pod: str) -> None:
    """Agents of the network run in the host's namespace."""
    assert parse_typed(f"kubectl -n kube-system exec {pod} -- ip a").netns is None


@pytest.mark.parametrize("pod", ["cilium-operator-1", "coredns-5d78c9869d-abcde", "web-0"])
def test_other_pods(pod: str) -> None:
    """Other pods have their own."""
    assert (
        f"pod/kube-system/{pod}" == parse_typed(f"kubectl -n kube-system exec {pod} -- ip a").netns
    )


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("k0s kc get pods -A", "kubectl"),
        ("sudo microk8s kubectl get pods", "kubectl"),
        ("minikube kubectl -- get svc", "kubectl"),
        ("k3s kubectl exec web-0 -- ip route", "ip"),
        ("k3s server", "k3s"),
        ("minikube start", "minikube"),
    ],
)
def test_distributions_bring_their_own_kubectl(command: str, program: str) -> None:
    """What follows is kubectl's, whatever the distribution calls it."""
    assert program == parse_command(command).program
