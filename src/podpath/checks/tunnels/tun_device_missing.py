"""tun-device-missing: a program that needs /dev/net/tun does not get it.

What it is
    A VPN, flannel's udp backend, slirp4netns or another user of TUN devices cannot open /dev/net/tun.

Why it breaks
    The module tun is not loaded, or a container lacks the device or the right (NET_ADMIN, privileged). Without the
    device there is no tunnel, and the program ends.

How to confirm
    ls -l /dev/net/tun; lsmod | grep '^tun'
    kubectl get ds -n kube-flannel -o yaml | grep -A3 securityContext

How to fix
    modprobe tun; in a container: --device /dev/net/tun --cap-add NET_ADMIN, or privileged: true For flannel take the
    vxlan backend, which needs no TUN device. In LXC allow the device in the container's configuration.

References
    Documentation/networking/tuntap.rst; flannel, Documentation/backends.md (udp)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.KERNEL_MODULE,
    Category.TUNNEL_CONFIGURATION,
    Category.CNI_AGENT,
)
NAME = "tun-device-missing"
KINDS = (MessageKind.TUN_DEVICE_MISSING,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    file = get_value(said, "file", default="/dev/net/tun")
    error = get_value(said, "error", default="missing")
    meaning = Meaning(
        claim=f"The tunnel cannot be made: {file} cannot be opened ({error}).",
        breaks="the tunnel, and everything that goes through it",
        cure="load the module tun, and give the container the device",
        commands=("modprobe tun",),
    )
    yield tell(NAME, said, meaning)
