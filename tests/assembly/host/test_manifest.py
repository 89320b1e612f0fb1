"""A bundle's manifest."""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.evidence.node_records import BundleRecord, VethPairRecord
from podpath.net.addresses import IfName
from podpath.net.provenance import Span
from podpath.node.links import Peer
from podpath.node.node import HOST
from tests.assembly.evidence_text import Output, by_hand, known, link_of, read_outputs

LISTING = (
    "{}: {}: <BROADCAST,UP,LOWER_UP> mtu 1500\n"
    "    link/ether 02:00:00:00:00:0{} brd ff:ff:ff:ff:ff:ff"
)


def _manifest(span: Span) -> tuple[BundleRecord, ...]:
    return (
        BundleRecord(
            span=span, node="worker-9", kernel="6.6.1",
            roles={"host": "host", "cni-7": "pod", "lab": "other", "x": "odd"},
            pods={"cni-7": "shop/web-0"},
            veths=(
                VethPairRecord(HOST, IfName("port7"), "cni-7", IfName("eth0")),
                VethPairRecord(HOST, IfName("a"), "b", IfName("c")),
            ),
        ),
    )  # fmt: skip


def test_manifest() -> None:
    """It names node and kernel, says what each namespace is and whose, and joins veth pairs that no
    listing joins.
    """
    listed = read_outputs(
        Output("ip link", LISTING.format(7, "port7", 7)),
        Output("ip link", LISTING.format(2, "eth0", 2), netns="cni-7"),
        Output("ip link", LISTING.format(2, "eth0", 3), netns="lab"),
    )  # fmt: skip
    node = assemble_case([by_hand(_manifest), *listed]).node
    assert (node.name, node.kernel) == ("worker-9", "6.6.1")
    assert {name: netns.role for name, netns in node.namespaces.items()} == {
        HOST: "host",
        "cni-7": "pod",
        "lab": "other",
    }
    assert [(pod.namespace, pod.name, pod.netns) for pod in node.pods] == [
        ("shop", "web-0", "cni-7")
    ]
    assert known(link_of(node.host, "port7").peer) == Peer(netns="cni-7", link=IfName("eth0"))
    assert known(link_of(node.namespaces["cni-7"], "eth0").peer) == Peer(
        netns=HOST, link=IfName("port7")
    )


def test_a_manifest_settles_which_of_several_devices_is_the_peer() -> None:
    """Two pods of two hosts have the same indices: the listings leave open who belongs to whom, the
    manifest does not.
    """
    shown = (
        "{}: {}@if{}: <BROADCAST,UP,LOWER_UP> mtu 1500\n"
        "    link/ether 02:00:00:00:00:0{} brd ff:ff:ff:ff:ff:ff"
    )
    outputs = [
        Output("ip link", shown.format(4, "port4", 2, 1)),
        Output("ip link", shown.format(4, "far4", 2, 2), netns="lab"),
        Output("ip link", shown.format(2, "eth0", 4, 3), netns="cni-7"),
        Output("ip link", shown.format(2, "eth0", 4, 4), netns="cni-8"),
    ]  # fmt: skip

    def paired(span: Span) -> tuple[BundleRecord, ...]:
        return (
            BundleRecord(
                span=span, veths=(VethPairRecord("lab", IfName("far4"), "cni-8", IfName("eth0")),)
            ),
        )

    node = assemble_case([by_hand(paired), *read_outputs(*outputs)]).node
    assert known(link_of(node.namespaces["lab"], "far4").peer) == Peer(
        netns="cni-8", link=IfName("eth0")
    )
    assert known(link_of(node.namespaces["cni-8"], "eth0").peer) == Peer(
        netns="lab", link=IfName("far4")
    )
