"""runtime-network: the runtime adds pods to a network other than that of the cluster's plugin.

What it is
    CRI-O logs which networks it finds in /etc/cni/net.d and which of them becomes the default. Here
    it is a sample that came with the runtime or an engine (bridge, ptp), although the configuration
    of a cluster's plugin (flannel, Calico, Cilium) is found, too. Or a listing of the folder has
    such a sample's file before every other one.

Why it breaks
    The file whose name sorts first counts. Pods get addresses of the sample's range, which other
    nodes do not know and the plugin does not route.

How to confirm
    ls /etc/cni/net.d; journalctl -u crio | grep 'default CNI network name' | tail -n 1

How to fix
    Remove the sample (100-crio-bridge.conf, 87-podman.conflist), restart CRI-O and recreate the
    pods.

References
    cri-o/ocicni, pkg/ocicni/ocicni.go:loadNetworks
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.said import find_said
from podpath.checks.stated import statements_of
from podpath.checks.told import WORKLOADS, list_failing
from podpath.cni.conf import EXTENSIONS
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import FolderListing
from podpath.node.case import Case

CATEGORIES = (Category.CNI_CONFIGURATION,)
NAME = "runtime-network"
_SAMPLES = frozenset({"bridge", "ptp"})
FOLDER = "/etc/cni/net.d"
LIKELY = 0.8
"""A runtime may be told another folder, or a file by name."""
_SAMPLE = re.compile(r"(?:crio|podman|containerd-net|(?:crio|docker)-bridge|nerdctl|loopback)")
"""Names of the files that runtimes and engines bring."""
_CLUSTER_FILE = re.compile(r"flannel|calico|canal|cilium|weave|antrea|kube-?ovn|aws|azure")
_CLUSTERS = frozenset({
    "flannel", "calico", "cilium-cni", "weave-net", "kube-ovn", "antrea", "ovn-k8s-cni-overlay",
    "aws-cni", "azure-vnet",
})  # fmt: skip

_FIRST = "Of several configurations, the one whose file name sorts first counts."
_BY_NAME = "CRI-O may be told one by name: cni_default_network."


class _Other(NamedTuple):
    """The configuration of a cluster's plugin beside the sample."""

    words: str
    file: str
    span: Span
    logged: bool
    """Whether the runtime's own log has it before the choice."""


def check(case: Case) -> Iterator[Finding]:
    """Report the last default that is a sample, where a cluster's network is found beside it."""
    chosen = find_said(case, MessageKind.DEFAULT_NETWORK_CHOSEN)
    found = find_said(case, MessageKind.NETWORK_FOUND)
    if not chosen:
        yield from _find_listed(case)
        return
    last = max(chosen, key=lambda one: one.span.line)
    name = last.values["network"]
    own = [one for one in found if one.values["network"] == name]
    others = [
        one for one in found if one.values["type"] in _CLUSTERS and one.span.line < last.span.line
    ]
    beside = sorted(_list_beside(case, last.span), key=_rank)
    if not own or not (others or beside) or own[-1].values["type"] not in _SAMPLES:
        return
    other = _read_found(others[-1]) if others else beside[0]
    first = _sorts_before(own[-1].values["file"], other.file)
    sure = other.logged or first
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The runtime adds pods to its network {name} ({own[-1].values['type']}), not to "
            f"{other.words}."
        ),
        evidence=(last.span, own[-1].span, other.span),
        reasoning=(*((_FIRST,) if first else ()), _BY_NAME),
        breaks=("connections to and from pods of other nodes",),
        prevention="Remove the samples that come with a runtime before the plugin is installed.",
        certainty=1.0 if sure else LIKELY,
        asks=() if sure else (_ask(own[-1].values["file"]),),
        marks=(name,),
    )


def _rank(other: _Other) -> bool:
    return not other.logged


def _read_found(said: Message) -> _Other:
    file = said.values["file"]
    return _Other(f"{said.values['network']} ({said.values['type']})", file, said.span, logged=True)


def _sorts_before(one: str, other: str) -> bool:
    """Tell whether the name of a file sorts before another's."""
    return one.rpartition("/")[2] < other.rpartition("/")[2]


def _list_beside(case: Case, last: Span) -> Iterator[_Other]:
    """Yield the files of clusters' plugins that the folder's list has, or that were written before
    the runtime chose. The list may be of a later moment.
    """
    for one in find_said(case, MessageKind.NETWORK_FILE_WRITTEN):
        file = one.values["file"]
        if _CLUSTER_FILE.search(file) and one.span.line < last.line:
            yield _Other(file, file, one.span, logged=True)
    for listing, stated in statements_of(case, FolderListing):
        for name in listing.names if listing.path == FOLDER else ():
            if name.endswith(EXTENSIONS) and _CLUSTER_FILE.search(name):
                yield _Other(f"{FOLDER}/{name}", name, stated.span, logged=False)


def _find_listed(case: Case) -> Iterator[Finding]:
    """Report the sample that a folder's list has before another file, where pods do not start or
    have addresses of its range.
    """
    for listing, stated in statements_of(case, FolderListing):
        loaded = sorted(name for name in listing.names if name.endswith(EXTENSIONS))
        if listing.path != FOLDER or len(loaded) < 2 or not _SAMPLE.search(loaded[0]):
            continue
        others = [name for name in loaded if not _SAMPLE.search(name)]
        failing = [one for one in list_failing(case) if _may_be_of_network(one)]
        if not others or (not failing and any(True for _ in list_failing(case))):
            return
        taken = _find_range(case, loaded[0])
        yield _report_listed(loaded[0], others[0], (stated.span, *taken))
        return


def _may_be_of_network(complaint: Complaint) -> bool:
    """Tell whether what fails may be that pods are on another network: something of theirs."""
    pods = bool({complaint.source, complaint.target} & WORKLOADS)
    return pods or complaint.failure in {None, FailureKind.NOT_STARTED, FailureKind.NO_ADDRESS}


def _find_range(case: Case, name: str) -> tuple[Span, ...]:
    """Return the line that states a file's range; none where no output shows it."""
    files = [file for file in case.files if file.path == f"{FOLDER}/{name}"]
    spans = [one.span for file in files for one in file.settings if one.name == "subnet"]
    return tuple(spans[:1])


def _ask(sample: str) -> FollowUp:
    return FollowUp(
        "which network the runtime takes, and whose range pods' addresses are of",
        f"crictl info | grep -A3 lastCNILoadStatus; grep -h subnet {sample}; "
        "kubectl get pods -A -o wide",
        "pods have addresses of the sample's range: it is taken",
    )


def _report_listed(sample: str, other: str, spans: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The file of a runtime's own sample, {sample}, sorts before {other}: pods are added "
            "to the sample's network."
        ),
        evidence=spans,
        reasoning=(_FIRST,),
        breaks=("connections to and from pods of other nodes",),
        repairs=(
            Repair(
                title="take the sample away",
                commands=(f"mv {FOLDER}/{sample} {FOLDER}/{sample}.disabled",),
            ),
        ),
        prevention="Remove the samples that come with a runtime before the plugin is installed.",
        certainty=LIKELY,
        asks=(_ask(f"{FOLDER}/{sample}"),),
        marks=(sample,),
    )
