"""Entries of a tunnel's other end with a MAC that it does not have."""

from __future__ import annotations

import pytest

from podpath.checks.between.tunnel_mac import NAME, check
from tests.assembly.host.test_clashes import NEIGHBOR
from tests.checks.between.walked import find, works
from tests.checks.pasted import ticket_of
from tests.datapath.devices.test_underlay import tunneled
from tests.diagnosis.nodes_between import WRONG, with_neighbour


def test_a_mac_that_the_other_device_does_not_have() -> None:
    """The neighbor entry of the node that sends is the line, though the other node drops it."""
    found = find(with_neighbour(tunneled(0)), tunneled(1))

    assert found is not None
    assert found[:2] == (NAME, "host")


def test_a_wrong_mac_on_the_way_back_is_the_other_nodes() -> None:
    """What is asked arrives; the answer does not."""
    found = find(tunneled(0), with_neighbour(tunneled(1), "192.0.2.1"))

    assert found is not None
    assert found[:2] == (NAME, "b/host")


def test_the_macs_that_the_devices_have() -> None:
    """Nothing is wrong then; the wrong one is on no device."""
    pair = tunneled(0), tunneled(1)
    macs = {link.mac for node in pair for link in node.host.links.items}

    assert WRONG not in macs
    assert find(*pair) is None
    assert works(*pair)


def test_outputs_of_two_hosts_that_show_two_macs() -> None:
    """Without a whole node; both lines are quoted."""
    text = NEIGHBOR.format(
        used=WRONG, state="PERMANENT", host="B", device="flannel.1", held="10.244.2.0"
    )
    (finding,) = check(ticket_of(text))

    assert (1.0, 2) == (finding.certainty, len(finding.evidence))
    assert str(WRONG) in str(finding.claim)

    (other,) = check(
        ticket_of(text.replace("Pods cannot reach pods of the other node", "It hangs"))
    )
    assert other.certainty < 1


ANNOUNCED = """\
Overlay packets to node aspen-2 get lost.

```
$ kubectl get node {node} -o yaml | grep backend-data
    flannel.alpha.coreos.com/backend-data: '{{"VNI":{vni},"VtepMAC":"5e:10:7a:33:91:08"}}'
aspen-2$ ip link show flannel.1 | grep ether
    link/ether {mac} brd ff:ff:ff:ff:ff:ff
```
"""


@pytest.mark.parametrize(
    ("node", "vni", "mac", "expected"),
    [
        ("aspen-2", 1, "9a:77:01:c4:2e:b6", 1),
        ("aspen-2", 1, "5e:10:7a:33:91:08", 0),
        ("aspen-2", 2, "9a:77:01:c4:2e:b6", 0),
    ],
    ids=["other", "same", "another-device"],
)
def test_a_device_with_another_mac_than_flannel_announced(
    node: str, vni: int, mac: str, expected: int
) -> None:
    """The line that a filter left belongs to the device that the command asks for."""
    found = list(check(ticket_of(ANNOUNCED.format(node=node, vni=vni, mac=mac))))

    assert [0.7] * expected == [one.certainty for one in found]
    assert all("9a:77" in one.evidence[0].text for one in found)
