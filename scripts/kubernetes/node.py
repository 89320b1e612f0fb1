"""What runs on each node: containerd, kubelet and kube-proxy, as on a node of one's own."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.kubernetes import control
from scripts.kubernetes.image import PAUSE
from scripts.kubernetes.member import Member
from scripts.kubernetes.plan import DNS_ADDRESS, NFTABLES, POD_CIDR, SERVICE_CIDR
from scripts.kubernetes.programs import BUILT

_SOCKET = "/run/containerd/containerd.sock"
_PROXY = Path(__file__).with_name("nftables_proxy.py")
_CONTAINERD = """\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
"""
_TOOLS = (
    "iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save",
    "ip6tables-restore",
)  # fmt: skip


def start_runtime(node: Member) -> None:
    """Start containerd, with the shape of iptables that the cluster has."""
    shape = "legacy" if node.plan.proxy == "iptables-legacy" else "nft"
    for tool in _TOOLS:
        link = node.folder / "bin" / tool
        link.unlink(missing_ok=True)
        link.symlink_to(f"/usr/sbin/xtables-{shape}-multi")
    configuration = _CONTAINERD.format(socket=_SOCKET, pause=PAUSE, plugins=node.inside / "cni-bin")
    (node.folder / "containerd.toml").write_text(configuration, encoding="utf-8")
    node.start("containerd", "containerd", "-c", node.inside / "containerd.toml")


def import_images(node: Member, images: Sequence[Path]) -> None:
    """Give containerd the images of the cluster's pods."""
    control.wait(
        lambda: (
            "SERVER" in node.run("ctr", "-a", _SOCKET, "version", check=False).upper()
            and "REVISION" in node.run("ctr", "-a", _SOCKET, "version", check=False).upper()
        ),
        "containerd",
        node,
        "containerd",
    )
    for image in images:
        path = Path("/run/cluster") / image.name
        node.run("ctr", "-a", _SOCKET, "-n", "k8s.io", "images", "import", path)


def start_node(node: Member) -> None:
    """Start kubelet and kube-proxy."""
    plan = node.plan
    known = f"/run/cluster/{plan.kubeconfig.name}"
    settings = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{plan.cgroup}/{node.name}",
        "cgroupsPerQOS": True,
        "enforceNodeAllocatable": [],
        "failSwapOn": False,
        "makeIPTablesUtilChains": True,
        "clusterDNS": [DNS_ADDRESS],
        "clusterDomain": "cluster.local",
        "nodeStatusUpdateFrequency": "2s",
        "evictionHard": {
            "imagefs.available": "1%",
            "nodefs.available": "1%",
            "memory.available": "50Mi",
        },
    }
    (node.folder / "kubelet.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    address = plan.node_address(node.name)
    node.start(
        *("kubelet", BUILT / "kubelet", f"--config={node.inside / 'kubelet.json'}"),
        *(f"--kubeconfig={known}", f"--hostname-override={node.name}", f"--node-ip={address}"),
        *("--container-runtime=remote", f"--container-runtime-endpoint=unix://{_SOCKET}"),
        *("--register-node=true", "--v=2"),
    )
    start_proxy(node)


def start_proxy(node: Member, *, counters: bool = False) -> None:
    """Start kube-proxy; its limits of conntrack are the machine's, so they stay as they are. Rules
    in the shape of its nftables mode are written by a program of our own, which lets them count
    where that is asked for.
    """
    known = f"--kubeconfig=/run/cluster/{node.plan.kubeconfig.name}"
    if node.plan.proxy == NFTABLES:
        shutil.copy(_PROXY, node.folder / _PROXY.name)
        node.start(
            *("kube-proxy", sys.executable, "-I", node.inside / _PROXY.name, known),
            *(f"--node={node.name}", f"--address={node.plan.node_address(node.name)}"),
            *(f"--pod-cidr={POD_CIDR}", f"--service-cidr={SERVICE_CIDR}"),
            *(("--counters",) if counters else ()),
        )
        return
    node.start(
        *("kube-proxy", BUILT / "kube-proxy", known),
        *(f"--hostname-override={node.name}", "--proxy-mode=iptables"),
        *(f"--cluster-cidr={POD_CIDR}", "--conntrack-max-per-core=0"),
        *("--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0"),
    )
