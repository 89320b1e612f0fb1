"""A node under construction."""

from __future__ import annotations

from podpath.assembly.drafts.draft import NetnsDraft, NodeDraft, ask_in
from podpath.assembly.drafts.lookup import NamespaceAddresses, NamespaceRoutes
from podpath.net.addresses import IfName, Prefix
from podpath.node.links import InterfaceAddress, Link
from podpath.node.routing import Nexthop, Route
from tests.assembly.evidence_text import address


def _route(prefix: str, link: str, metric: int = 0) -> Route:
    return Route(
        prefix=Prefix.parse(prefix, 4), nexthops=(Nexthop(link=IfName(link)),), metric=metric
    )


def _own(text: str, length: int, link: str) -> InterfaceAddress:
    return InterfaceAddress(link=IfName(link), address=address(text), length=length)


def test_questions_name_their_namespace() -> None:
    """A command is asked as it stands on the host, and with the place to enter elsewhere."""
    assert ask_in("host", "ip route") == "ip route"
    assert ask_in("pid 77", "ip route") == "nsenter -t 77 -n ip route"
    assert (
        ask_in("pod/shop/web", "ip route") == "in the network namespace of pod/shop/web: ip route"
    )


def test_likely_route() -> None:
    """The longest prefix wins, then the lowest metric; a route without a way does not count."""
    netns = NetnsDraft(
        name="host",
        routes=NamespaceRoutes(
            [_route("default", "a"), _route("10.9.0.0/16", "b", 9), _route("10.9.0.0/16", "c", 3)]
        ),
    )
    netns.routes.append(Route(prefix=Prefix.parse("10.9.1.1"), type="unreachable"))
    route = netns.route_to(address("10.9.1.1"))
    assert route is not None
    assert route.nexthops[0].link == "c"


def test_address_on_a_link() -> None:
    """The closest subnet of an own address holds a neighbour; an address alone holds none."""
    netns = NetnsDraft(
        name="host",
        addresses=NamespaceAddresses(
            [_own("10.1.0.7", 16, "a"), _own("10.1.2.7", 24, "b"), _own("10.1.2.9", 32, "c")]
        ),
    )
    found = netns.on_link(address("10.1.2.9"))
    assert found is not None
    assert found.link == "b"
    assert netns.on_link(address("10.2.0.1")) is None


def test_what_leads_out() -> None:
    """A device leads out that has the default route, a subnet, or a master that is no bridge."""
    netns = NetnsDraft(
        name="host",
        routes=NamespaceRoutes([_route("default", "a")]),
        addresses=NamespaceAddresses([_own("10.1.0.7", 24, "b"), _own("10.9.0.1", 32, "c")]),
    )
    netns.links = {
        IfName("br"): Link(name=IfName("br"), kind="bridge"),
        IfName("d"): Link(name=IfName("d"), master=IfName("br")),
        IfName("e"): Link(name=IfName("e"), master=IfName("bond0")),
    }
    names = [Link(name=IfName(name)) for name in "abc"] + [
        netns.links[IfName(name)] for name in "de"
    ]
    assert [link.name for link in names if netns.leads_out(link)] == ["a", "b", "e"]


def test_frozen_node() -> None:
    """A fresh draft freezes to a node of whose host nothing is known but the rules of every
    namespace.
    """
    node = NodeDraft().freeze()
    assert [rule.priority for rule in node.host.rules.items] == [0, 32766, 32767, 0, 32766]
    assert not node.host.links.complete
    assert node.host.routes.ask == "ip route show table all"
