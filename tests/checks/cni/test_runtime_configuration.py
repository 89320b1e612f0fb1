"""Runtimes and kubelets that do not fit."""

from __future__ import annotations

from podpath.checks.cni.runtime_configuration import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
root@box:~# cat /etc/containerd/config.toml
version = 2
disabled_plugins = [{disabled}]
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = {systemd}
root@box:~# cat /var/lib/kubelet/config.yaml
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
```
"""


def test_a_disabled_plugin() -> None:
    """As Docker's packages of containerd ship it."""
    (found,) = check(case_of_document(TICKET.format(disabled='"cri"', systemd="true")))

    assert 'disabled_plugins = ["cri"]' == found.evidence[0].text


def test_drivers_that_differ() -> None:
    """Both lines are quoted."""
    (found,) = check(case_of_document(TICKET.format(disabled="", systemd="false")))

    assert ["SystemdCgroup = false", "cgroupDriver: systemd"] == [
        span.text.strip() for span in found.evidence
    ]


def test_what_fits_is_right() -> None:
    """The same driver, and another plugin that is disabled."""
    assert not list(
        check(
            case_of_document(
                TICKET.format(disabled='"io.containerd.snapshotter.v1.zfs"', systemd="true")
            )
        )
    )
