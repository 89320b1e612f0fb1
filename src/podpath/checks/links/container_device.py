"""container-device: a container's or tunnel's device cannot be made.

What it is
    The device exists already (`file exists`): a stale VXLAN interface of an overlay, a veth that was left behind; or
    the kernel has no such kind.

Why it breaks
    The sandbox fails. A swarm's stale VXLAN device stays in the host or in a namespace that is gone, or another
    network has the same VNI.

How to confirm
    ip -d link show type vxlan; ls /var/run/docker/netns; for n in /var/run/docker/netns/*; do nsenter --net=$n ip -d
      link; done

How to fix
    Delete the stale device (ip link delete NAME) or unmount the namespace, or give the network another VNI.

References
    libnetwork, drivers/overlay
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_CONFIGURATION,
    Category.KERNEL_MODULE,
    Category.OTHER,
)
NAME = "container-device"
KINDS = (
    MessageKind.TUNNEL_DEVICE_FAILED,
    MessageKind.CONTAINER_DEVICE_EXISTS,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    error = get_value(said, "error", "device", "other")
    error = f" ({error})" if error else ""
    meaning = Meaning(
        claim=f"A device for the network cannot be made{error}.",
        breaks="containers of that network on this host",
        cure="delete the stale device",
        commands=("ip -d link show type vxlan",),
    )
    yield tell(NAME, said, meaning)
