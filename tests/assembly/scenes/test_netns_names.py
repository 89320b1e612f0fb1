"""One namespace under several names."""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.evidence.kubernetes.records import PodRecord
from podpath.node.node import HOST
from tests.assembly.evidence_text import (
    Output,
    address,
    addresses_of,
    by_hand,
    case_of,
    link_of,
    read_outputs,
)

LISTED = "3: eth0@if9: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 10.9.1.4/32 scope global eth0"
SENT = "10:00:00.1 eth0  Out IP 10.9.1.4.4000 > 203.0.113.9.443: Flags [S], seq 1, win 9, length 0"


def test_two_names_with_one_address() -> None:
    """What was listed by `nsenter` and captured by `kubectl exec` is one namespace, under its first
    name.
    """
    case = case_of(
        Output("ip addr", LISTED, netns="pid 4711"),
        Output("tcpdump -ni any", SENT, netns="pod/shop/web-0"),
        Output("sysctl net.ipv4.ip_forward", "net.ipv4.ip_forward = 0", netns="pod/shop/web-0"),
    )  # fmt: skip
    assert set(case.node.namespaces) == {HOST, "pid 4711"}
    assert "net.ipv4.ip_forward" in case.node.namespaces["pid 4711"].sysctls
    assert case.sightings[0].netns == "pid 4711"


def test_two_spellings_of_one_pod() -> None:
    """A prompt inside a pod does not say the pod's Kubernetes namespace."""
    case = case_of(
        Output("ip route", "default via 169.254.1.1 dev eth0", netns="pod/?/web-0"),
        Output("ip addr", LISTED, netns="pod/shop/web-0"),
    )
    assert set(case.node.namespaces) == {HOST, "pod/?/web-0"}


def test_pods_of_one_name_in_two_namespaces() -> None:
    """Equal names in two Kubernetes namespaces are two pods."""
    other = LISTED.replace("10.9.1.4", "10.9.1.5")
    case = case_of(
        Output("ip addr", LISTED, netns="pod/shop/web-0"),
        Output("ip addr", other, netns="pod/test/web-0"),
    )
    assert set(case.node.namespaces) == {HOST, "pod/shop/web-0", "pod/test/web-0"}


def test_described_pod_gives_its_namespace_an_address() -> None:
    """A pod that was entered by name has the address that Kubernetes says, and is joined with the
    host's route to it.
    """
    pod = by_hand(
        lambda span: (
            PodRecord(
                span=span, namespace="shop", name="web-0", address=address("10.9.1.4"), node="n1"
            ),
        )
    )
    outputs = read_outputs(
        Output("ip route", "default via 169.254.1.1 dev eth0", netns="pod/shop/web-0"),
        Output("ip route", "10.9.1.4 dev cali77 scope link"),
    )
    case = assemble_case([pod, *outputs])
    assert set(case.node.namespaces) == {HOST, "pod/shop/web-0"}
    assert addresses_of(case.node.namespaces["pod/shop/web-0"], "eth0") == ["10.9.1.4/32"]
    assert link_of(case.node.host, "cali77").peer is not None
    assert [item.netns for item in case.node.pods] == ["pod/shop/web-0"]


def test_gateway_that_forwards_for_a_pod_is_not_the_pod() -> None:
    """A namespace that sends from several addresses is none of their owners."""
    forwarded = f"{SENT}\n{SENT.replace('10.9.1.4', '10.9.1.5')}"
    case = case_of(
        Output("ip addr", LISTED, netns="pid 4711"),
        Output("tcpdump -ni any", forwarded, netns="gateway"),
    )
    assert {"pid 4711", "gateway"} < set(case.node.namespaces)
    assert not any(
        own.address.family == 4 and own.scope == "global"
        for own in case.node.namespaces["gateway"].addresses.items
    )
