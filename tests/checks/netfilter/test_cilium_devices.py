"""Devices on which Cilium masquerades, and the one by which packets leave."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.cilium_devices import POSSIBLE, check
from tests.checks.pasted import ticket_of

LOST = "Pods of worker w7 do not reach any server on the internet, they time out."
CONFIG = "# cilium config view | grep -e devices -e masq\ndevices   {}\n"
BPF = "enable-bpf-masquerade   true\n"
ROUTE = "# ip route show default\ndefault via 10.14.0.1 dev ens224\n"
LINK = """\
# ip -d link
3: ens224: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default
    link/ether 00:16:3e:5a:11:07 brd ff:ff:ff:ff:ff:ff
{own}"""
SLAVE = """\
4: ens192: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master ens224 state UP
    link/ether 00:16:3e:5a:11:08 brd ff:ff:ff:ff:ff:ff
"""
STATUS = (
    "# cilium status | grep Masq\nMasquerading:   BPF   [{}]   10.91.6.0/24 "
    "[IPv4: Enabled, IPv6: Disabled]\n"
)


def sure(*blocks: str, prose: str = LOST) -> list[float]:
    """Return how sure each finding is."""
    text = "".join(blocks)
    return [one.certainty for one in check(ticket_of(f"{prose}\n\n```\n{text}```\n"))]


@pytest.mark.parametrize("names", ["ens192", "eth0,eth1", "eth+"])
def test_the_way_out_is_not_listed(names: str) -> None:
    """By the configuration or the agent's status."""
    assert [1.0] == sure(CONFIG.format(names), BPF, ROUTE, LINK.format(own=""))
    assert [1.0] == sure(STATUS.format(names.replace(",", ", ")), ROUTE, LINK.format(own=""))


@pytest.mark.parametrize("links", ["", "bond", "slave", "queue"])
def test_a_way_out_that_may_be_on_a_listed_card_is_a_question(links: str) -> None:
    """Its kind is not shown, it is a bond, a card is its slave, or it has no queue."""
    shown = {
        "": "",
        "bond": LINK.format(own="    bond mode active-backup\n"),
        "slave": LINK + SLAVE,
        "queue": LINK.replace("-d link", "link show dev ens224").replace("mq", "noqueue"),
    }
    text = shown[links].format(own="")

    assert [POSSIBLE] == sure(CONFIG.format("ens192"), BPF, ROUTE, text)


def test_without_its_masquerading_the_list_may_be_for_something_else() -> None:
    """It is a question then."""
    assert [POSSIBLE] == sure(CONFIG.format("ens192"), ROUTE)


@pytest.mark.parametrize("names", ["ens224", "ens+", "eth0,ens224"])
def test_a_list_with_the_way_out(names: str) -> None:
    """By its name or a pattern."""
    assert [] == sure(CONFIG.format(names), BPF, ROUTE)
    assert [] == sure(STATUS.format(names.replace(",", ", ")), ROUTE)


def test_what_needs_no_program_of_the_uplink() -> None:
    """Pods among themselves, a service, or a way out that is not shown."""
    config = CONFIG.format("ens192") + BPF

    assert [] == sure(config, ROUTE, prose="Pods do not reach pods on the same node.")
    assert [] == sure(config, ROUTE, prose="The page is slow.")
    assert [] == sure(config)
