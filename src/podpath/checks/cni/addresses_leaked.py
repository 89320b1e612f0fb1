"""addresses-leaked: host-local has given nearly its whole range away, and few pods run.

What it is
    The folder of a network in /var/lib/cni/networks has about as many files as its range has
    addresses, one for each address that is given, and the runtime has far fewer pods.

Why it breaks
    host-local frees an address when the plugin is called to take a pod away. Where that call is
    missed (the node lost power, its runtime's state was deleted, the plugin failed), the file stays
    and the address is given to nobody. When all are held, no pod gets an address.

How to confirm
    ls /var/lib/cni/networks/NETWORK | grep -c '^[0-9]'; crictl pods -q --state ready | wc -l
    grep -h . /var/lib/cni/networks/NETWORK/[0-9]*    # the pod that each one is for

How to fix
    Drain the node, stop the runtime, delete the files of pods that are gone (or all of them, where
    no pod is left), and start it again.

References
    plugins/ipam/host-local/backend/disk of containernetworking/plugins
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import may_be_of_one_host, statements_of
from podpath.checks.told import list_failing
from podpath.net.addresses import Prefix, read_address
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.statements import FolderListing, LineCount
from podpath.node.case import Case

CATEGORIES = (Category.IPAM,)
NAME = "addresses-leaked"
FOLDER = "/var/lib/cni/networks/"
LIKELY = 0.8
"""Where several ranges are configured: the folder may be another one's."""
NEARLY = 4
"""Addresses that a range may have left: its gateway's is one, and pods come and go."""
LOCKS = 4
"""Files beside those of addresses: lock, last_reserved_ip.0, last_reserved_ip.1."""
FEW = 2
"""How many times as many addresses are held as pods run, at least."""
_SELECTS = {
    "crictl": re.compile(
        r"(?:^| )(?:-[nl]|--(?:last|latest|name|namespace|label|id))\b|\bnot-?ready\b",
        re.IGNORECASE,
    ),
    "kubectl": re.compile(r"(?:^| )(?:-[nl]|--(?:namespace|selector))\b|status\.phase"),
}
"""What makes a program list a part of a node's pods alone."""
_EVERYWHERE = re.compile(r"(?:^| )(?:-A|--all-namespaces)\b")


class _Held(NamedTuple):
    """How many addresses of a network are given, at least, and by which line."""

    network: str
    most: int
    least: int
    span: Span


class NodePods(NamedTuple):
    """How many pods run on the node, and whether its configuration has one range alone."""

    running: int
    sure: bool


def check(case: Case) -> Iterator[Finding]:
    """Report the first folder that holds nearly a whole range and belongs to few pods."""
    failing = [one.failure for one in list_failing(case)]
    if failing and not {None, FailureKind.NOT_STARTED, FailureKind.NO_ADDRESS} & set(failing):
        return
    ranges = list(_list_ranges(case))
    running = list(_list_running(case))
    for held in _list_held(case):
        sizes = [(2 ** (32 - prefix.length) - 2, prefix, span) for prefix, span in ranges]
        near = [one for one in sizes if one[0] - NEARLY <= held.most <= one[0] + LOCKS]
        few = next((one for one in running if one[0] * FEW <= held.least), None)
        if not near or few is None:
            continue
        spans = (held.span, few[1], near[0][2])
        if may_be_of_one_host(spans):
            sure = len({prefix for prefix, _ in ranges}) == 1 and _is_configured(case, held.network)
            yield _report(held, near[0][1], spans, NodePods(few[0], sure))
            return


def _list_held(case: Case) -> Iterator[_Held]:
    """Yield what folders hold, by their lists and by counts of them."""
    for listing, stated in statements_of(case, FolderListing):
        if listing.path.startswith(FOLDER) and listing.whole:
            count = sum(read_address(name) is not None for name in listing.names)
            yield _Held(listing.path.removeprefix(FOLDER), count, count, stated.span)
    for counted, stated in statements_of(case, LineCount):
        path = next((word for word in counted.words if word.startswith(FOLDER)), "")
        if path and counted.program in {"ls", "find"}:
            network = path.removeprefix(FOLDER).strip("/*")
            least = counted.value if counted.picked else max(counted.value - LOCKS, 0)
            yield _Held(network, counted.value, least, stated.span)


def _list_running(case: Case) -> Iterator[tuple[int, Span]]:
    """Yield how many pods a runtime has, or the API server on the node, as somebody counted
    them.
    """
    for counted, stated in statements_of(case, LineCount):
        words, selects = " ".join(counted.words), _SELECTS.get(counted.program)
        pods = any(word.startswith("pod") for word in counted.words)
        whole = counted.program != "kubectl" or _EVERYWHERE.search(words) is not None
        part = counted.picked or selects is None or selects.search(words) is not None
        if pods and whole and not part:
            yield counted.value, stated.span


def _list_ranges(case: Case) -> Iterator[tuple[Prefix, Span]]:
    """Yield the ranges that CNI configurations name."""
    for file in case.files:
        if "/cni/net.d" not in file.path:
            continue
        for one in file.settings:
            if one.name == "subnet":
                yield from _read_range(one.value, one.span)


def _is_configured(case: Case, network: str) -> bool:
    """Tell whether the configurations that are shown may be of a network: one has its name, or no
    output shows a name.
    """
    files = [file for file in case.files if "/cni/net.d" in file.path]
    names = {one.value for file in files for one in file.all("name")}
    return not names or network in names


def _read_range(text: str, span: Span) -> Iterator[tuple[Prefix, Span]]:
    try:
        prefix = Prefix.parse(text)
    except ValueError:
        return
    if prefix.family == 4 and prefix.length < 31:
        yield prefix, span


def _report(held: _Held, prefix: Prefix, spans: tuple[Span, ...], pods: NodePods) -> Finding:
    ask = FollowUp(
        "which of the pods that hold addresses are gone",
        f"grep -h . {FOLDER}{held.network}/[0-9]*; crictl pods -q",
        "an identifier that crictl does not list: its address is held for nobody",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"host-local holds {held.most} addresses of {prefix} for {pods.running} pods: those of "
            "pods that are gone were not given back."
        ),
        evidence=spans,
        reasoning=(f"{prefix} has {2 ** (32 - prefix.length) - 2} addresses.",),
        breaks=("every new pod of the node: no address is left",),
        prevention="Drain a node before its runtime's state is deleted.",
        certainty=1.0 if pods.sure else LIKELY,
        asks=() if pods.sure else (ask,),
        marks=(str(held.most),),
    )
