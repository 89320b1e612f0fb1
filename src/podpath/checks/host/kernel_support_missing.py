"""kernel-support-missing: the kernel lacks a module or extension that the network needs.

What it is
    A module is not found in /lib/modules, a table or match of iptables cannot be loaded, a kind of device is not
    known, a scheduler of IPVS is missing.

Why it breaks
    The kernel was upgraded and not rebooted (its modules' folder is gone), the image has a reduced kernel, the
    modules' package is not installed, or a container may not load modules. Then rules, bridges, tunnels or virtual
    servers are not made.

How to confirm
    uname -r; ls /lib/modules; modprobe -v NAME; zgrep NAME /proc/config.gz

How to fix
    Reboot into the installed kernel, install the package of extra modules (linux-modules-extra-$(uname -r),
    kernel-modules-extra), load the module on the host (/etc/modules-load.d), or mount /lib/modules into the
    container.

References
    modprobe(8); iptables-extensions(8); kube-proxy, IPVS requirements
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
    Category.RULESET_FAILURE,
)
NAME = "kernel-support-missing"
KINDS = (
    MessageKind.EXTENSION_MISSING,
    MessageKind.TABLE_MISSING,
    MessageKind.DEVICE_TYPE_UNSUPPORTED,
    MessageKind.MODULE_NOT_FOUND,
    MessageKind.SCHEDULER_MISSING,
    MessageKind.PROXY_MODULES_MISSING,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    name = get_value(said, "module", "name", "table", "sort", "other")
    name = f" ({name})" if name else ""
    meaning = Meaning(
        claim=f"The running kernel lacks what the network needs{name}.",
        breaks="what needs it: rules, bridges, tunnels or virtual servers are not made",
        cure="load the module on the host, or boot the kernel whose modules are installed",
        commands=("uname -r; ls /lib/modules",),
    )
    yield tell(NAME, said, meaning)
