"""Containers' own addresses on the uplink."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.netfilter.private_source_leaves import check
from tests.checks.pasted import ticket_of

AT_NODE = "A container cannot reach the Internet. The node's network card shows:"
PLAIN = "A container cannot reach the Internet."


def findings(
    said: str = AT_NODE,
    link: str = "eth0",
    src: str = "172.17.0.3",
    dst: str = "8.8.8.8",
    more: str = "",
    bridge: str = "",
) -> list[Finding]:
    """Return what is found in a ticket with a capture of two pings."""
    lines = "".join(
        f"08:48:0{number}.813755 IP {src} > {dst}: ICMP echo request, id 256, seq {number}, "
        "length 64\n"
        for number in range(2)
    )
    text = f"{said}\n\n```\n# tcpdump -n -i {link} icmp\n{lines}{more}{bridge}```\n"
    return list(check(ticket_of(text)))


@pytest.mark.parametrize(("said", "link"), [(AT_NODE, "eth0"), (PLAIN, "enp3s0"), (PLAIN, "ens5")])
def test_an_untranslated_source_on_the_hosts_card(said: str, link: str) -> None:
    """People say where it was taken, or no container has a card of that name."""
    (finding,) = findings(said, link)

    assert 1.0 == finding.certainty


def test_a_bridge_of_the_host_names_its_range() -> None:
    """Whatever the range is."""
    shown = (
        "# ip addr show br-0123456789ab\n"
        "5: br-0123456789ab: <BROADCAST,UP> mtu 1500 state UP\n    inet 10.99.0.1/24 scope global "
        "br-0123456789ab\n"
    )
    (finding,) = findings(src="10.99.0.7", bridge=shown)

    assert ("10.99.0.7",) == finding.marks


@pytest.mark.parametrize("dst", ["192.0.2.7", "198.51.100.7", "203.0.113.7"])
def test_ranges_of_documentation_stand_for_public_addresses(dst: str) -> None:
    """Tickets have them in the place of the real ones."""
    (finding,) = findings(dst=dst)

    assert f"{dst} cannot reply" in str(finding.claim)


def test_a_capture_that_may_be_the_containers_leaves_it_open() -> None:
    """Its own card is called eth0, too."""
    (finding,) = findings(PLAIN)

    assert finding.certainty < 1


REPLY = "08:48:09.813755 IP 8.8.8.8 > 172.17.0.3: ICMP echo reply, id 256, seq 0, length 64\n"


@pytest.mark.parametrize(
    ("said", "link", "src", "dst", "more"),
    [
        (AT_NODE, "eth0", "172.17.0.3", "8.8.8.8", REPLY),
        (AT_NODE, "eth0", "172.17.0.3", "192.168.1.1", ""),
        (AT_NODE, "eth0", "192.168.1.5", "8.8.8.8", ""),
        (AT_NODE, "docker0", "172.17.0.3", "8.8.8.8", ""),
        ("All is well. The node's network card shows:", "eth0", "172.17.0.3", "8.8.8.8", ""),
    ],
)
def test_healthy_captures(said: str, link: str, src: str, dst: str, more: str) -> None:
    """An answer, a private far end, the host's own network, the bridge, and no complaint."""
    assert not findings(said, link, src, dst, more)


TUNNELED = (
    "00:28:16.1 IP 192.0.2.22 > 192.0.2.62: IP {source} > 180.163.26.39: ICMP echo request, "
    "id 30617, seq 26, length 64 (ipip-proto-4)"
)
LEAVING = "00:35:5{second}.1 IP 192.168.1.1 > 180.163.26.39: ICMP echo request, id 30617, seq {second}, length 64"  # noqa: E501
ANSWER = "00:35:59.2 IP 180.163.26.39 > 192.168.1.1: ICMP echo reply, id 30617, seq 5, length 64"


@pytest.mark.parametrize(
    ("source", "answer", "certainties"),
    [
        ("192.168.1.1", "", [1.0]),
        ("192.168.1.9", "", []),
        ("192.168.1.1", ANSWER, []),
    ],
)
def test_what_came_by_a_tunnel_and_leaves_with_its_private_source(
    source: str, answer: str, certainties: list[float]
) -> None:
    """This host forwarded it untranslated; with an answer, or of another one, it did not."""
    lines = "\n".join(LEAVING.format(second=second) for second in (5, 6, 7))
    text = (
        "Pings through the tunnel get no answer.\n\n```\n# tcpdump -i eth0 -nn\n"
        f"{TUNNELED.format(source=source)}\n```\n\n```\n# tcpdump -i eth0 -nn\n"
        f"{lines}\n{answer}\n```\n"
    )

    assert certainties == [one.certainty for one in check(ticket_of(text))]


PODS = "Pods cannot reach the Internet."


@pytest.mark.parametrize(
    ("said", "src", "link", "expected"),
    [
        (PODS, "10.244.3.17", "ens5", [1.0]),
        (PODS, "10.244.3.17", "eth0", [0.7]),
        (PODS.replace("Pods", "Our pods (10.77.0.0/16)"), "10.77.5.3", "ens5", [1.0]),
        (PODS, "10.77.5.3", "ens5", []),
        (PODS.replace("Pods", "The node"), "10.244.3.17", "ens5", []),
    ],
    ids=["usual", "eth0", "told", "node", "nobody"],
)
def test_ranges_of_pods(said: str, src: str, link: str, expected: list[float]) -> None:
    """Those that installers choose, and those that people name; a node has its own addresses."""
    assert expected == [one.certainty for one in findings(said, link, src)]


@pytest.mark.parametrize(
    ("dst", "more", "expected"),
    [
        ("10.1.1.7", "", [0.5]),
        ("10.244.9.9", "", []),
        ("10.1.1.7", "08:48:09.8 IP 10.1.1.7 > 10.244.3.17: ICMP echo reply, id 256, seq 0\n", []),
    ],
    ids=["outside", "pod", "answered"],
)
def test_private_machines_outside_of_the_cluster(
    dst: str, more: str, expected: list[float]
) -> None:
    """They may know the way back, and other pods do."""
    found = findings(PODS, "ens5", "10.244.3.17", dst, more)

    assert expected == [one.certainty for one in found]
