"""What the page offers to choose from, and what becomes of a choice."""

from __future__ import annotations

import json

import pytest

from podpath.net import protocols
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath_ui.bounds import NAME
from podpath_ui.ends import (
    AskedEnds,
    list_ends,
    offer_ends,
    offer_sysctls,
    offer_tried,
    place_ends,
)
from tests.ui.evidence import SERVICE, asking, read_ticket

HOSTILE = ("<img/src=x>", "\u202eevil", "\x1b[31mred", "n" * 2_000_000)
NODE = """\
```
root@node1:~# kubectl get pods -A -o yaml
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: {name}
    namespace: shop
  spec:
    nodeName: node1
  status:
    podIP: 10.244.1.5
kind: List
root@node1:~# ip route
default via 192.0.2.1 dev eth0
```
"""


def _place(asked: AskedEnds) -> Probe:
    case = read_ticket()
    return place_ends(asked, case, list_ends(case))


def test_pods_services_and_addresses_are_offered() -> None:
    """Each end stands in its group, a service once for each port, and cannot begin a connection."""
    offered = {one["label"]: one for one in offer_ends(list_ends(read_ticket()))}
    assert [(one["group"], one["label"]) for one in offered.values()] == [
        ("Pods", "pod/shop/api-0"),
        ("Pods", "pod/shop/web-0"),
        ("Services", SERVICE),
        ("Services", "svc/shop/api:53 (udp)"),
        ("Namespaces", "node"),
        ("Addresses", "203.0.113.9"),
    ]
    assert (offered[SERVICE]["port"], offered[SERVICE]["is_source"]) == (80, False)
    assert offered["pod/shop/web-0"]["address"] == "10.244.1.5"


def test_what_failed_in_the_evidence_is_offered() -> None:
    """A failed attempt fills the form with the names of its ends."""
    case = read_ticket()
    (tried,) = offer_tried(case, list_ends(case))
    assert (tried["source"], tried["target"]) == ("node", "203.0.113.9")
    assert (tried["protocol"], tried["port"]) == ("icmp", "")


def test_sysctls_are_offered_with_their_values() -> None:
    """What the evidence states can be chosen to be changed."""
    assert offer_sysctls(read_ticket().node)["host"] == {"net.ipv4.ip_forward": "0"}


def test_a_chosen_pod_sends_from_its_namespace() -> None:
    """A pod stands for its address and namespace, a service for its address and port."""
    probe = _place(asking())
    assert str(probe) == "tcp 10.244.1.5 > 10.96.0.10:80 from pod-10.244.1.5"


def test_a_services_port_brings_its_protocol() -> None:
    """A port of UDP is asked by UDP, whatever the form says; an echo has no port's protocol."""
    assert _place(asking(target="svc/shop/api:53 (udp)")).protocol == protocols.UDP
    assert _place(asking(protocol="icmp")).protocol == protocols.ICMP


@pytest.mark.parametrize(
    ("target", "port", "shown"),
    [
        ("203.0.113.9", "443", "203.0.113.9:443"),
        ("203.0.113.9:80", "443", "203.0.113.9:80"),
        ("svc/shop/api:80", "", "10.96.0.10:80"),
        (SERVICE, "443", "10.96.0.10:80"),
        ("pod/shop/api-0", "8080", "10.244.1.6:8080"),
        (" 203.0.113.9 ", "22", "203.0.113.9:22"),
    ],
)
def test_ends_may_be_typed(target: str, port: str, shown: str) -> None:
    """Addresses and names are read as a probe spells them; the form's port is for ends without."""
    assert f"> {shown} " in str(_place(asking(target=target, port=port)))


def test_an_ipv6_address_gets_its_port_in_brackets() -> None:
    """A typed address of IPv6 and a port make one end."""
    probe = _place(asking(source="2001:db8::1", target="2001:db8::9", port="80"))
    assert str(probe) == "tcp 2001:db8::1 > [2001:db8::9]:80"


def test_options_are_a_probes() -> None:
    """What stands behind a probe's ends may stand in the form."""
    assert _place(asking(options="size 1400 df")).sending.size == 1400


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"source": ""}, "From: expected an end"),
        ({"source": "10.0.0.1 > 10.0.0.2"}, "From: expected an end"),
        ({"target": "a b"}, "To: expected an end"),
        ({"target": "10.0.0.9", "port": "http"}, "Port: expected a number"),
        ({"target": "10.0.0.9", "port": "9" * 5000}, "Port: expected a number"),
        ({"protocol": "sctp", "target": "10.0.0.9"}, "expected tcp, udp or icmp"),
        ({"target": "pod/shop/nobody"}, "pod/shop/nobody"),
        ({"options": "from nowhere > 1"}, "expected PROTOCOL SOURCE > DESTINATION"),
    ],
)
def test_what_is_no_end_is_refused(said: dict[str, str], why: str) -> None:
    """What is missing or wrong is said."""
    with pytest.raises(UsageError, match=why):
        _place(asking(**said))


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name[:10]))
def test_a_hostile_name_is_a_label_and_never_a_probe(name: str) -> None:
    """It is offered short and visible, and chosen it stands for its address."""
    case = read_ticket(NODE.format(name=json.dumps(name)))
    ends = list_ends(case)
    label = ends[0].label
    assert len(label) <= NAME
    assert label.isprintable()
    asked = asking(source=label, target="192.0.2.9", port="80")
    assert str(place_ends(asked, case, ends)).startswith("tcp 10.244.1.5 > 192.0.2.9:80")
