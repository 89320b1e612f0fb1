"""A node with two pods whose every listing is whole, and changes as people write them."""

from __future__ import annotations

from podpath.library.case import Case, NodeCase
from podpath.library.given import Pasted
from podpath.net.provenance import Listing
from podpath.node import case
from podpath.node.nftables import NftTable
from podpath.node.node import Netns, Node, Pod
from podpath.testing.nodes import forwarding, given_netns, given_node, ip, listening

NFT: Listing[NftTable] = Listing((), True, "nft -a list ruleset")
SOCKETS = listening(80, 443)
WHOLE = {"nftables": NFT, "sockets": SOCKETS, "conntrack": Listing((), True, "conntrack -L")}


def given_pod(name: str, address: str, gateway: str) -> Netns:
    """Return a pod's namespace, with a default route and somebody who listens at 80 and 443."""
    return given_netns(
        name,
        f"eth0 {address}/24 peer=host:veth-{name}".replace("peer=", "peer "),
        routes=[f"default via {gateway} dev eth0"],
        netns=WHOLE,
    )


def given_sound_node(**more: str) -> Node:
    """Return a node that routes between two pods and the world."""
    host = given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "veth-a 10.1.0.1/24 peer a:eth0",
        "veth-b 10.2.0.1/24 peer b:eth0",
        routes=["default via 192.0.2.1 dev eth0"],
        sysctls=forwarding(**more),
        netns=WHOLE,
    )
    pods = (
        Pod(namespace="shop", name="web", address=ip("10.1.0.2"), netns="a"),
        Pod(namespace="shop", name="api", address=ip("10.2.0.2"), netns="b"),
    )
    return given_node(
        host,
        given_pod("a", "10.1.0.2", "10.1.0.1"),
        given_pod("b", "10.2.0.2", "10.2.0.1"),
        pods=pods,
    )


def given_case(node: Node | None = None) -> Case:
    """Return the library's case of a node."""
    facts = case.Case(node=node if node is not None else given_sound_node())
    return Case(nodes=(NodeCase(name="", facts=facts),))


FLOWS = Pasted(
    """\
# what has to hold
[[flow]]
name = "web reaches the API"
from = "pod/shop/web"
to = "pod/shop/api"
port = 80
expect = "connects"

[[flow]]
name = "nobody listens"
from = "pod/shop/web"
to = "10.2.0.2:81"
expect = "fails"
""",
    "flows.toml",
)
DROP = Pasted(
    """\
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A FORWARD -s 10.1.0.0/24 -j DROP
COMMIT
""",
    "new.rules",
)
