"""agent-forbidden: the API server forbids a network agent what it needs.

What it is
    The role of an agent's service account lacks a resource or verb (`is forbidden: User ... cannot list resource`),
    or its token is no longer accepted (`connection is unauthorized`).

Why it breaks
    The agent or the plugin that acts for it sees no pods, nodes or services, so it programs nothing, or refuses every
    new pod. It happens after an upgrade of the plugin without its new ClusterRole, with a binding to another
    namespace, or with a stale kubeconfig.

How to confirm
    kubectl auth can-i list nodes --as system:serviceaccount:NAMESPACE:ACCOUNT; kubectl get clusterrolebinding -o wide

How to fix
    Apply the plugin's whole manifest of the version that runs, ClusterRole and binding included. For a stale token
    restart the agent's pod, which writes its kubeconfig anew.

References
    Kubernetes, Using RBAC Authorization; Calico, issues of the CNI plugin's token
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.CNI_AGENT,)
NAME = "agent-forbidden"
KINDS = (
    MessageKind.AGENT_FORBIDDEN,
    MessageKind.AGENT_UNAUTHORIZED,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    account = get_value(said, "account", "user", default="the network agent")
    resource = get_value(said, "resource", "error")
    resource = f" ({resource})" if resource else ""
    meaning = Meaning(
        claim=f"The API server refuses {account} what it needs{resource}.",
        breaks="what the agent should program",
        cure="give the service account the role of the version that runs",
    )
    yield tell(NAME, said, meaning)
