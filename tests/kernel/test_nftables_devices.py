"""Chains at the ingress and egress of devices against the real kernel: drops, rewriting, and
`fwd`.
"""

from __future__ import annotations

import pytest

from podpath_lab.topologies import bridged_pods
from tests.kernel.native import IN, OUT, hold

pytestmark = pytest.mark.kernel("nft", "conntrack")

CHAIN = "chain {name} {{ type filter hook {hook} device {device} priority {priority}; {rules}; }}"


def table(*chains: str) -> str:
    """Return a table of family netdev."""
    return "table netdev t {\n" + "\n".join(chains) + "\n}"


def chain(hook: str, device: str, rules: str, priority: int = 0) -> str:
    """Return a chain at a device."""
    return CHAIN.format(
        name=f"{hook}_{device}_{priority + 500}",
        hook=hook,
        device=device,
        priority=priority,
        rules=rules,
    )


@pytest.mark.parametrize("device", ["lxc1", "eth0"])
@pytest.mark.parametrize("hook", ["ingress", "egress"])
def test_a_device_may_drop(hook: str, device: str) -> None:
    """What a device's chain drops neither arrives nor is answered."""
    assert hold(
        table(chain(hook, device, "meta protocol ip tcp dport 80 counter drop"))
    ).verdict == (
        "NEVER" if (hook, device) in {("ingress", "lxc1"), ("egress", "eth0")} else "ALWAYS"
    )


def test_chains_of_a_device_run_by_priority() -> None:
    """The mark that the first sets is the one that the second sees."""
    early = chain("ingress", "lxc1", "meta protocol ip counter meta mark set 0x1", -5)
    late = chain("ingress", "lxc1", "meta mark 0x1 counter drop", 5)
    assert hold(table(late, early)).verdict == "NEVER"


def test_a_bridge_port_has_chains_too() -> None:
    """Frames that are bridged pass the ingress of one port and the egress of the other."""
    text = table(
        chain("ingress", "veth1", "meta protocol ip counter"),
        chain("egress", "veth2", "meta protocol ip counter"),
        chain("egress", "cni0", "meta protocol ip counter"),
    )  # fmt: skip
    assert (
        hold(text, "tcp 10.1.0.2:40000 > 10.1.0.3:80 from pod1", shape=bridged_pods).verdict
        == "ALWAYS"
    )


def test_rewriting_past_netfilter_and_fwd_past_conntrack() -> None:
    """A masquerade at egress and its way back at ingress, as a BPF program does it: answers never
    meet conntrack.
    """
    out = chain("egress", "eth0", "ip saddr 10.1.0.2 counter ip saddr set 172.31.0.10")
    back = chain(
        "ingress", "eth0",
        "ip daddr 172.31.0.10 tcp sport 80 counter ip daddr set 10.1.0.2 ether daddr set "
        "02:00:00:00:01:00 ether saddr set 02:00:00:00:01:01 fwd to lxc1",
    )  # fmt: skip
    assert hold(table(out, back)).verdict == "ALWAYS"
    guard = (
        "table ip f { chain guard { type filter hook forward priority 0; ct state invalid counter "
        "drop; }\n}"
    )
    assert hold(f"{table(out, back)}\n{guard}").verdict == "NEVER"


def test_family_inet_has_ingress() -> None:
    """A chain of family inet at a device's ingress sees IPv4 alone where it asks for it."""
    text = (
        "table inet t { chain c { type filter hook ingress device eth0 priority 0; "
        "ip saddr 172.31.0.1 counter drop; }\n}"
    )
    assert hold(text, IN).verdict == "NEVER"
    assert hold(text, OUT).verdict == "ALWAYS"
