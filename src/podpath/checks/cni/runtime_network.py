"""runtime-network: the runtime adds pods to another network than that of the cluster's plugin.

What it is
    CRI-O logs which networks it finds in /etc/cni/net.d and which of them becomes the default. Here
    that is a sample of the runtime or of an engine (bridge, ptp), although the configuration of a
    cluster's plugin (flannel, Calico, Cilium) is found, too.

Why it breaks
    The file whose name sorts first counts. Pods get addresses of the sample's range, which other
    nodes do not know and the plugin does not route.

How to confirm
    ls /etc/cni/net.d; journalctl -u crio | grep 'default CNI network name' | tail -n 1

How to fix
    Remove the sample (100-crio-bridge.conf, 87-podman.conflist), restart CRI-O and recreate the
    pods.

References
    cri-o/ocicni, pkg/ocicni/ocicni.go:loadNetworks
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.said import find_said
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.CNI_CONFIGURATION,)
NAME = "runtime-network"
_SAMPLES = frozenset({"bridge", "ptp"})
_CLUSTERS = frozenset({
    "flannel", "calico", "cilium-cni", "weave-net", "kube-ovn", "antrea", "ovn-k8s-cni-overlay",
    "aws-cni", "azure-vnet",
})  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    """Report the last default that is a sample, where a cluster's network is found beside it."""
    chosen = find_said(case, MessageKind.DEFAULT_NETWORK_CHOSEN)
    found = find_said(case, MessageKind.NETWORK_FOUND)
    if not chosen:
        return
    last = max(chosen, key=lambda one: one.span.line)
    name = last.values["network"]
    own = [one for one in found if one.values["network"] == name]
    others = [
        one for one in found if one.values["type"] in _CLUSTERS and one.span.line < last.span.line
    ]
    if not own or not others or own[-1].values["type"] not in _SAMPLES:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The runtime adds pods to its network {name} ({own[-1].values['type']}), not to "
            f"{others[-1].values['network']} ({others[-1].values['type']})."
        ),
        evidence=(last.span, own[-1].span, others[-1].span),
        reasoning=("Of several configurations, the one whose file name sorts first counts.",),
        breaks=("connections to and from pods of other nodes",),
        prevention="Remove the samples that come with a runtime before the plugin is installed.",
        marks=(name,),
    )
