"""cni-plugin-missing: the CNI configuration names a plugin whose program is not there.

What it is
    The runtime looked for a plugin's program in its folder of programs (/opt/cni/bin) and did not find it.

Why it breaks
    No sandbox can be set up: every new pod of the node stays in ContainerCreating. The package kubernetes-cni or
    containernetworking-plugins was not installed or was removed (flannel has not shipped `bridge` or `portmap` since
    1.0), or the runtime looks in another folder.

How to confirm
    ls /opt/cni/bin /usr/lib/cni; cat /etc/cni/net.d/*; containerd config dump | grep -A3 cni

How to fix
    Put the CNI plugins of containernetworking/plugins into the folder that the runtime looks in, or point bin_dir
    (containerd) or plugin_dirs (CRI-O) to where they are.

References
    CNI specification, section 2; containerd, docs/cri/config.md
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.CNI_PROGRAM,)
NAME = "cni-plugin-missing"
KINDS = (MessageKind.PLUGIN_NOT_FOUND,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    plugin = get_value(said, "plugin", default="that the configuration names")
    path = get_value(said, "path", default="/opt/cni/bin")
    meaning = Meaning(
        claim=f"The CNI plugin {plugin} is not installed in {path}, so no pod of the node gets a network.",
        breaks="every new pod of the node",
        cure="install the plugin's program there",
        commands=(f"ls {path}",),
    )
    yield tell(NAME, said, meaning)
