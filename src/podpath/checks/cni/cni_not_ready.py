"""cni-not-ready: the runtime has no network configuration yet.

What it is
    `cni plugin not initialized`, `cni config uninitialized` or `no networks found in /etc/cni/net.d`: the folder
    holds no usable file.

Why it breaks
    No network plugin was installed, its agent has not written its file since it does not run, the file is invalid, or
    the runtime looks in another folder. The node stays NotReady and starts only pods of the host's network.

How to confirm
    ls -l /etc/cni/net.d; kubectl get pods -A -o wide | grep NODE; crictl info | grep -A3 cniconfig; journalctl -u
      containerd | grep -i cni

How to fix
    Install the network plugin, mend its agent or its file, and restart the runtime where it does not watch the
    folder.

References
    kubelet, runtime network not ready; containerd, docs/cri/config.md
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.CNI_CONFIGURATION,
    Category.CNI_AGENT,
)
NAME = "cni-not-ready"
KINDS = (MessageKind.PLUGIN_NOT_READY,)
ASK = Ask(
    "what stands in the folder of CNI configurations, and whether the network agent runs",
    "ls -l /etc/cni/net.d; cat /etc/cni/net.d/*; kubectl get pods -A -o wide",
    "an empty folder: the agent has not written its file; an invalid file: it is the cause",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    meaning = Meaning(
        claim="The container runtime finds no usable CNI configuration, so the node is not ready.",
        breaks="every pod of the node that needs a network",
        cure="install the network plugin, or mend its agent or its file",
        certainty=0.4,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
