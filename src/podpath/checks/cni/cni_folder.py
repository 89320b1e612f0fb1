"""cni-folder: a runtime does not load the folder of CNI configurations, or pods cannot be attached
with it.

What it is
    The container runtime reads /etc/cni/net.d by its own rules: the first file by name counts. A
    file that is empty, truncated or misspelled, a plugin list in a file named as a single plugin, a
    plugin that creates no interface at the head of the chain: each of these stops pods, and
    containerd and CRI-O react differently.

Why it breaks
    containerd loads nothing at all if the first file is broken, and the node becomes NotReady.
    CRI-O silently skips that file and uses the next one, so pods start on another network, without
    the plugins of the first.

How to confirm
    podpath protect chain lint /etc/cni/net.d
    crictl info | jq '.lastCNILoadStatus, .cniconfig.Networks'

How to fix
    Fix or remove the file that the finding names. Replace it by a rename within the folder:
    containerd does not react to a file that is only created. Then delete the pods that started on
    the wrong network.

References
    containerd/go-cni opts.go (loadFromConfDir); cri-o/ocicni ocicni.go (loadNetworks);
    libcni/conf.go; the CNI specification 1.1, section 1
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.cni.conf import EXTENSIONS, ConfFile
from podpath.cni.lint import Remark, lint_folder
from podpath.cni.runtimes import RuntimeSettings
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import CniNetwork

CATEGORIES = (Category.CNI_CONFIGURATION,)
NAME = "cni-folder"
OF_THE_FOLDER = ("D1", "D2", "P6", "N6")
"""Remarks that hold only where the whole folder is known."""
OF_CNI_CHAIN = ("N6",)
"""Told by the check cni-chain."""
COLLECTED = "/node/cni/"
"""Where a bundle keeps the whole folder."""


def check(case: Case) -> Iterator[Finding]:
    """Report what keeps a runtime from loading the folder, or a pod from being attached."""
    folders: dict[str, list[CniNetwork]] = {}
    for network in case.node.cni:
        if network.path.endswith((*EXTENSIONS, ".cilium_bak")):
            folders.setdefault(network.path.rpartition("/")[0], []).append(network)
    for folder, networks in folders.items():
        yield from _check_folder(networks, whole=COLLECTED in f"/{folder}/")


def _check_folder(networks: list[CniNetwork], *, whole: bool) -> Iterator[Finding]:
    by_name = {
        network.path.rpartition("/")[2]: network for network in networks if network.span is not None
    }
    files = [
        ConfFile(name=name, content=_text(network).encode()) for name, network in by_name.items()
    ]
    remarks = [
        remark
        for remark in lint_folder(files, RuntimeSettings()).remarks
        if _counts(remark, whole=whole)
    ]
    named = any(remark.severity == "error" and remark.row != "D2" for remark in remarks)
    for remark in remarks:
        if not (
            remark.of_choice and (named or sum(other.severity == "error" for other in remarks) > 1)
        ):
            yield _report(by_name[remark.file], remark)


def _counts(remark: Remark, *, whole: bool) -> bool:
    if remark.row in OF_CNI_CHAIN or not remark.file:
        return False
    return (remark.severity == "error" or remark.row == "G7") and (
        whole or remark.row not in OF_THE_FOLDER
    )


def _text(network: CniNetwork) -> str:
    return "" if network.span is None else "\n".join(network.span.source.lines)


def _report(network: CniNetwork, remark: Remark) -> Finding:
    source = None if network.span is None else network.span.source
    line = (
        0
        if source is None
        else min(
            source.first_line + remark.line - 1, source.first_line + max(len(source.lines) - 1, 0)
        )
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT if remark.severity == "error" else Severity.RISK,
        claim=f"{remark.file}: {remark.claim}.",
        evidence=() if source is None else (Span(source, line, line),),
        reasoning=(
            (
                f"rule {remark.row} of what containerd and CRI-O load; podpath protect chain lint "
                "shows both verdicts"
            ),
        ),
        breaks=("pods that start now: they get no network, or the wrong one",),
        prevention=remark.mend
        or "Write the whole file under a temporary name in the same folder, then rename it.",
    )
