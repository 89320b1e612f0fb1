"""two-plugins: a listing of /etc/cni/net.d shows the files of two network plugins."""

from __future__ import annotations

import pytest

from podpath.checks.cni.two_plugins import CERTAINTY, NAME, check
from tests.checks.pasted import case_of
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "lines",
    [
        ("10-calico.conflist  10-flannel.conflist  calico-kubeconfig",),
        (
            "-rw-r--r-- 1 root root 292 Mar  2 10:00 10-flannel.conflist",
            "-rw------- 1 root root 600 Mar  2 10:00 10-calico.conflist",
            "-rw------- 1 root root 271 Mar  2 10:00 calico-kubeconfig",
        ),
        ("/etc/cni/net.d/10-flannel.conflist", "/etc/cni/net.d/10-calico.conflist"),
    ],
)
def test_the_first_file_by_name_counts(lines: tuple[str, ...]) -> None:
    """However they are listed, the runtime takes the first one; which one is right stays open."""
    (found,) = find_by_lines(NAME, *lines)
    assert isinstance(found.claim, str)
    assert "takes 10-calico.conflist and ignores 10-flannel.conflist" in found.claim
    assert (found.certainty, len(found.asks)) == (CERTAINTY, 1)


@pytest.mark.parametrize(
    "lines",
    [
        ("10-calico.conflist  calico-kubeconfig",),
        ("10-crio-bridge.conflist  200-loopback.conflist",),
        ("10-calico.conflist  87-podman-bridge.conflist",),
        ("100-crio-bridge.conflist  87-podman-bridge.conflist",),
        ("Found CNI network a at 10-flannel.conflist", "Found CNI network b at 10-calico.conflist"),
        ("all is well",),
    ],
)
def test_one_plugin_is_no_fault(lines: tuple[str, ...]) -> None:
    """Nor is a file of loopback beside it, one that a runtime brings along and that comes later, or
    a sentence that names two files.
    """
    assert find_by_lines(NAME, *lines) == []


def test_a_file_of_the_runtime_before_the_clusters_own_counts() -> None:
    """Pods are added to the runtime's own bridge."""
    (found,) = find_by_lines(NAME, "10-crio-bridge.conflist  10-flannel.conflist")
    assert isinstance(found.claim, str)
    assert "takes 10-crio-bridge.conflist and ignores 10-flannel.conflist" in found.claim


PODS = """
$ ls /etc/cni/net.d
10-calico.conflist  10-kuberouter.conflist  calico-kubeconfig
$ {command}
NAMESPACE     NAME                      READY   STATUS              RESTARTS   AGE
kube-system   coredns-5c98d7d4d8-z2r    0/1     ContainerCreating   0          6m19s
{pods}
"""
ROUTER = "kube-system   kube-router-zlkf8         1/1     Running             0          6m16s"
CALICO = "kube-system   calico-node-x1            1/1     Running             0          6m16s"


@pytest.mark.parametrize(
    "command", ["kubectl get pods -A", "k0s kc get pods --all-namespaces -o wide"]
)
def test_a_plugin_without_pods_left_its_file(command: str) -> None:
    """A whole list of pods has those of the second plugin alone, so the first is a leftover."""
    (found,) = check(case_of(PODS.format(command=command, pods=ROUTER)))
    assert isinstance(found.claim, str)
    assert found.claim.startswith("10-calico.conflist is a leftover of a plugin that has no pods")
    assert (found.certainty, ROUTER) == (1, found.evidence[-1].text)


@pytest.mark.parametrize(
    ("command", "pods"),
    [
        ("kubectl get pods -A", f"{ROUTER}\n{CALICO}"),
        ("kubectl get pods -A", CALICO),
        ("kubectl get pods -n kube-system", ROUTER),
        ("kubectl get pods -A | grep -e router -e NAME", ROUTER),
        ("kubectl get pods -A -l k8s-app=kube-router", ROUTER),
    ],
)
def test_a_part_of_the_pods_leaves_it_open(command: str, pods: str) -> None:
    """Both run, the first runs, or the list is not of all pods."""
    (found,) = check(case_of(PODS.format(command=command, pods=pods)))
    assert found.certainty == CERTAINTY
