"""cni-chain: a plugin that every pod's network needs is not in the configuration that the runtime
loads.

What it is
    The container runtime loads only the first file of /etc/cni/net.d by name. A service mesh's
    plugin (linkerd-cni, istio-cni) adds itself to the chain in that file. If the CNI plugin's agent
    rewrites its file later, or under a name that sorts first, the mesh's plugin is no longer in the
    chain that the runtime loads.

Why it breaks
    A pod that starts meanwhile gets its network without the mesh's rules. Its connections are not
    redirected to the proxy, and the mesh's validator (linkerd-network-validator) or the sidecar's
    init container fails: the pod does not start, or communicates unencrypted.

How to confirm
    ls /etc/cni/net.d; jq '.plugins[].type' /etc/cni/net.d/FIRST.conflist
    crictl info | jq '.cniconfig.Networks'            # what the runtime has loaded

How to fix
    Restart the mesh's CNI installer to put its plugin back into the chain, then delete the pods
    that started without it. To keep it there, let the installer watch the folder, or stop the CNI
    plugin from claiming the folder for itself (Cilium: cni.exclusive=false).

References
    containerd's cri plugin (max_conf_num); the CNI specification, section 2; linkerd's and Istio's
    pages on the CNI plugin
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.node import CniNetwork, Node

CATEGORIES = (Category.CNI_CONFIGURATION, Category.MESH_REDIRECT)
NAME = "cni-chain"
MESHES = ("linkerd-cni", "istio-cni", "kuma-cni", "osm-cni", "consul-cni")
LOADED = (".conf", ".conflist", ".json")


def check(case: Case) -> Iterator[Finding]:
    """Report a mesh's plugin that stands in some file, but not in the one that the runtime
    loads.
    """
    for first, other, plugin in find_unchained(case.node):
        yield _report(first, other, plugin)


def find_unchained(node: Node) -> Iterator[tuple[CniNetwork, CniNetwork, str]]:
    """Yield the file that is loaded, another one, and the mesh's plugin that only the other has."""
    loadable = (
        network for network in node.cni if network.path.endswith(LOADED) and not network.fault
    )
    files = sorted(loadable, key=lambda network: _name(network.path))
    if len(files) < 2 or len({_folder(network.path) for network in files}) > 1:
        return
    first = files[0]
    for other in files[1:]:
        for plugin in other.plugins:
            if plugin in MESHES and plugin not in first.plugins:
                yield first, other, plugin


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _report(first: CniNetwork, other: CniNetwork, plugin: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{plugin} is in {_name(other.path)}, but the runtime loads {_name(first.path)}, "
            "which does not contain it."
        ),
        evidence=list_spans((first, other)),
        reasoning=(
            (
                f"The runtime takes the first file by name: {_name(first.path)} with "
                f"{', '.join(first.plugins) or 'no plugin'}."
            ),
            f"{plugin} is only in {_name(other.path)}, so no pod that starts now gets its rules.",
        ),
        breaks=("pods that start now: their traffic is not redirected to the mesh's proxy",),
        prevention=(
            "Let the mesh's installer watch /etc/cni/net.d, and keep the CNI plugin from claiming "
            "the folder for itself."
        ),
        marks=(plugin,),
    )
