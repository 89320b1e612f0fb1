"""kubelet-refuses: the kubelet does not start, and says why.

What it is
    Swap is on, the cgroup drivers of kubelet and runtime differ, the runtime's socket does not answer, a flag or file
    is not valid.

Why it breaks
    Without the kubelet the node starts no pod: the network agent, kube-proxy and all else are missing.

How to confirm
    systemctl status kubelet; journalctl -u kubelet -n 50; swapon --show

How to fix
    swapoff -a and remove it from /etc/fstab (zram too), or allow it; use one cgroup driver; mend the flag or file.

References
    Kubernetes, Troubleshooting kubeadm; kubelet, failSwapOn
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.OTHER,
    Category.APPLICATION,
)
NAME = "kubelet-refuses"
KINDS = (MessageKind.KUBELET_REFUSES,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    error = get_value(said, "error")
    meaning = Meaning(
        claim=f"The kubelet refuses to start: {error}.",
        breaks="every pod of the node",
        cure="mend what the kubelet names",
        commands=("journalctl -u kubelet -n 50",),
    )
    yield tell(NAME, said, meaning)
