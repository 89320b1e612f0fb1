"""cni-leftover: the runtime calls the CNI plugin of a network that is no longer installed.

What it is
    A plugin cannot reach its agent, and the pods that run belong to another network plugin.

Why it breaks
    The runtime takes the first file of /etc/cni/net.d by name. A file left behind by an earlier
    installation (05-cilium.conf, 10-calico.conflist) sorts before that of the current plugin, and
    its agent is gone: no pod gets a network.

How to confirm
    ls /etc/cni/net.d
    kubectl get pods -A -o wide | grep -E 'cilium|calico|flannel|weave|kube-ovn|antrea|kube-router'

How to fix
    Delete the old plugin's file from /etc/cni/net.d on each node (and its devices and rules), then
    restart the waiting pods.

References
    libcni, ConfFiles; Kubernetes, Network Plugins; podpath protect chain
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.CNI_CONFIGURATION, Category.CNI_AGENT)
NAME = "cni-leftover"
KINDS = (MessageKind.AGENT_SOCKET_MISSING, MessageKind.SUBNET_FILE_MISSING)
NETWORKS = ("cilium", "calico", "flannel", "weave", "kube-ovn", "antrea", "kube-router", "canal")
"""How agents of networks are called; of Canal the policy is Calico's and the network flannel's."""
PORTS = {"6784": "weave"}


def check(case: Case) -> Iterator[Finding]:
    """Report a plugin without an agent beside another network's agents."""
    running = {network for network in NETWORKS for pod in case.node.pods if network in pod.name}
    for message in find_said(case, *KINDS):
        asked = _network_of(message)
        if not asked or not running or asked in running or "canal" in running:
            continue
        other = ", ".join(sorted(running))
        yield tell(
            NAME,
            [message],
            Meaning(
                claim=(
                    f"The runtime calls the CNI plugin of {asked}, whose agent does not run; "
                    f"the installed plugin is {other}."
                ),
                breaks="every new pod on the node",
                cure=f"delete the configuration that {asked} left in /etc/cni/net.d",
                commands=("ls /etc/cni/net.d",),
            ),
        )
        return


def _network_of(message: Message) -> str:
    """Return the network whose agent is missing, by the agent's name, its file or its port; empty
    where none tells.
    """
    told = " ".join(message.values.values()).lower()
    return PORTS.get(message.values.get("port", "")) or next(
        (network for network in NETWORKS if network in told), ""
    )
