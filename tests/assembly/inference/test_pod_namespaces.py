"""Pods that are known from outside, made into namespaces."""

from __future__ import annotations

from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.inference.pod_namespaces import PodSeed, add_pod
from podpath.net.addresses import IfName, Prefix
from podpath.net.provenance import Known
from podpath.node.links import InterfaceAddress, Link, Peer
from podpath.node.node import Cilium
from podpath.node.routing import Nexthop, Route
from tests.assembly.evidence_text import address, spell_route

POD = address("10.9.1.4")


def _seed(host_link: str | None = None) -> PodSeed:
    return PodSeed(
        address=POD, reason="a probe goes to it", host_link=IfName(host_link) if host_link else None
    )


def test_pod_is_joined_and_routed() -> None:
    """The pod has its address, a default route to its host and a veth pair; the host routes to
    it.
    """
    draft = NodeDraft()
    pod = add_pod(draft, _seed("lxc1"))
    assert pod.name == "pod-10.9.1.4"
    assert [spell_route(route) for route in pod.routes] == ["default via 169.254.1.1 dev eth0"]
    assert [spell_route(route) for route in draft.host.routes] == ["10.9.1.4 dev lxc1"]
    peer = draft.host.links[IfName("lxc1")].peer
    assert isinstance(peer, Known)
    assert peer.value == Peer(netns=pod.name, link=IfName("eth0"))
    assert pod.neighbours[0].mac == draft.host.links[IfName("lxc1")].mac


def test_adding_twice_changes_nothing() -> None:
    """A second reason for the same pod adds nothing."""
    draft = NodeDraft()
    add_pod(draft, _seed("lxc1"))
    before = draft.freeze()
    add_pod(draft, _seed())
    assert draft.freeze() == before


def test_free_device_stands_for_the_pods() -> None:
    """Where no output says which device is the pod's, a listed one without a known pod stands for
    it.
    """
    draft = NodeDraft()
    for name in ("eth0", "cali1", "cali2"):
        draft.host.add_link(Link(name=IfName(name)))
    add_pod(draft, _seed())
    assert draft.host.links[IfName("cali1")].peer is not None
    assert draft.host.links[IfName("cali2")].peer is None


def test_made_up_device_has_the_plugins_prefix() -> None:
    """A device that stands for the pod's is named as the plugin at work names its own: rules match
    by that.
    """
    draft = NodeDraft(cilium=Cilium(options={}))
    add_pod(draft, _seed())
    assert "lxc-of-10-9-1-4" in draft.host.links
    other = NodeDraft()
    other.host.add_link(
        Link(name=IfName("cali9"), peer=Known(Peer(netns="x", link=IfName("eth0"))))
    )
    add_pod(other, _seed())
    assert "cali-of-10-9-1-4" in other.host.links


def test_route_over_another_device_hands_to_the_pod() -> None:
    """A listed route of the pod range over a device that leads nowhere else is kept, and leads to
    the pod one way.
    """
    draft = NodeDraft()
    draft.host.add_link(Link(name=IfName("router0")))
    draft.host.routes.append(
        Route(prefix=Prefix.parse("10.9.1.0/24"), nexthops=(Nexthop(link=IfName("router0")),))
    )
    pod = add_pod(draft, _seed("veth7"))
    leading = draft.host.links[IfName("router0")].peer
    assert isinstance(leading, Known)
    assert leading.value.netns == pod.name
    own = pod.links[IfName("eth0")].peer
    assert isinstance(own, Known)
    assert own.value.link == "veth7"
    assert len(draft.host.routes) == 1


def test_gateway_is_an_address_of_the_host() -> None:
    """Without a bridge the pod's gateway is an address of the host, as plugins that route set
    it.
    """
    draft = NodeDraft()
    draft.host.addresses.append(
        InterfaceAddress(link=IfName("eth0"), address=address("10.1.0.7"), length=24)
    )
    pod = add_pod(draft, _seed("lxc1"))
    assert [spell_route(route) for route in pod.routes] == ["default via 10.1.0.7 dev eth0"]
