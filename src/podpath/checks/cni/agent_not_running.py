"""agent-not-running: a CNI plugin cannot reach its own agent on the node.

What it is
    The plugin asks its agent by a socket, or reads a file that the agent writes (subnet.env of flannel, nodename of
    Calico), and it is not there.

Why it breaks
    The agent's pod does not run on the node or has not come up; or the configuration in /etc/cni/net.d is that of a
    plugin which was removed. Every new pod of the node stays in ContainerCreating; why the agent does not run stands
    in its own log.

How to confirm
    kubectl get pods -A -o wide | grep -E 'cilium|calico|flannel|weave|aws-node|kube-ovn|multus'; ls /etc/cni/net.d

How to fix
    Mend the agent (kubectl logs of its pod tells why it does not run). Of a plugin that was removed delete the file
    in /etc/cni/net.d.

References
    flannel, Documentation/troubleshooting.md; Calico, /var/lib/calico/nodename
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.CNI_AGENT,
    Category.CNI_CONFIGURATION,
)
NAME = "agent-not-running"
KINDS = (
    MessageKind.AGENT_SOCKET_MISSING,
    MessageKind.SUBNET_FILE_MISSING,
)
ASK = Ask(
    "why the network agent does not run on the node",
    "kubectl get pods -A -o wide; kubectl logs -n NAMESPACE AGENT-POD --previous; ls /etc/cni/net.d",
    "its own log names the cause; no such pod: the configuration is a leftover",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    file = get_value(said, "file", "agent")
    file = f" ({file})" if file else ""
    meaning = Meaning(
        claim=f"The CNI plugin cannot reach its agent on the node{file}: it does not run, or another plugin replaced it.",
        breaks="every new pod of the node",
        cure="start the agent, or remove the configuration of a plugin that is no longer used",
        commands=("ls /etc/cni/net.d",),
        certainty=0.6,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
