"""Cards of two hosts with one address, and bridges with one MAC."""

from __future__ import annotations

import pytest

from podpath.checks.links.own_address_received import check as check_bridges
from podpath.diagnosis.diagnose import diagnose
from tests.checks.pasted import ticket_of

CARD = (
    "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n"
    "        inet {address}  netmask 255.255.255.0  broadcast 192.0.2.255\n"
    "        ether {mac}  txqueuelen 1000  (Ethernet)\n"
)
BRIDGE = "{name}     Link encap:Ethernet  HWaddr 7E:61:00:99:CA:C0\n"
HEARD = (
    "[78.4] br7: received packet on eth1 with own address as source address "
    "(addr:7e:61:00:99:ca:c0, vlan:0)\n"
)


def ticket(prose: str, labels: tuple[str, str], one: str, other: str) -> str:
    """Return a ticket with an output of each of two hosts."""
    return f"{prose}\n\n{labels[0]}\n```\n{one}```\n\n{labels[1]}\n```\n{other}```\n"


def found(prose: str, labels: tuple[str, str], address: str, mac: str) -> list[tuple[str, bool]]:
    """Return the findings where the second host has this address and MAC, and which are certain."""
    one = CARD.format(address="192.0.2.7", mac="00:1c:42:70:69:6f")
    text = ticket(prose, labels, one, CARD.format(address=address, mac=mac))
    findings = diagnose(ticket_of(text)).findings
    return [(each.check, each.certainty == 1) for each in findings if "of-two" in each.check]


CLONES = "Connections to one of the clones break off or land on the other."
OTHER = "00:1c:42:2b:6c:61"


@pytest.mark.parametrize("labels", [("From box1", "From box2"), ("On 10.9.0.1:", "On 10.9.0.2:"),
                                    ("From 22Test1", "From 22Test2")])  # fmt: skip
def test_two_hosts_share_an_address(labels: tuple[str, str]) -> None:
    """Names, names that begin with a digit, and addresses part the hosts."""
    assert [("address-of-two-hosts", True)] == found(CLONES, labels, "192.0.2.7", OTHER)


@pytest.mark.parametrize(
    ("prose", "labels", "address", "mac"),
    [
        (CLONES, ("From box1", "From box2"), "192.0.2.8", OTHER),
        (CLONES, ("From box1", "From box2"), "192.0.2.7", "00:1c:42:70:69:6f"),
        (CLONES, ("Before:", "After:"), "192.0.2.7", OTHER),
    ],
    ids=["other addresses", "the same card", "two states"],
)
def test_what_one_host_or_two_may_show(
    prose: str, labels: tuple[str, str], address: str, mac: str
) -> None:
    """Only two hosts with two cards share an address."""
    assert [] == found(prose, labels, address, mac)


def test_another_failure_leaves_it_possible() -> None:
    """What people say has to be what two hosts of one address make."""
    labels = ("From box1", "From box2")

    assert [("address-of-two-hosts", False)] == found(
        "The page is slow.", labels, "192.0.2.7", OTHER
    )


@pytest.mark.parametrize(("name", "certainty"), [("br7", 1.0), ("br8", 0.8)])
def test_bridges_of_two_hosts_with_one_mac(name: str, certainty: float) -> None:
    """With the other host's bridge shown, it is no loop."""
    one, other = BRIDGE.format(name="br7") + HEARD, BRIDGE.format(name=name)
    text = ticket("Guests lose packets.", ("Host1:", "Host2:"), one, other)

    assert [certainty] == [each.certainty for each in check_bridges(ticket_of(text))]
