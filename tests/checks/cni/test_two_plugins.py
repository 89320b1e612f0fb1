"""two-plugins: a listing of /etc/cni/net.d shows the files of two network plugins."""

from __future__ import annotations

import pytest

from podpath.checks.cni.two_plugins import CERTAINTY, NAME
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
