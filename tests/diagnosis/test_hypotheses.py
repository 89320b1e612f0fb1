"""What may be supposed where the evidence is silent: only what no output shows, and of the command
that set it.
"""

from __future__ import annotations

from podpath.diagnosis.hypotheses import _drop_forwarded, _find_change
from podpath.net.provenance import Known
from podpath.node.case import ChangeCommand
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node, span
from tests.datapath.given import given_rules, given_tables


def host(rules: Netfilter) -> Node:
    """Return a host with these rules of IPv4."""
    return given_node(given_netns("host", netns={"netfilter": {4: rules}}))


def test_a_forward_chain_that_drops_is_supposed_where_none_is_shown() -> None:
    """In the filter table of IPv4, beside the tables that are shown."""
    shown = Netfilter(tables=given_tables(given_rules("POSTROUTING -j MASQUERADE", table="nat")))
    (world,) = _drop_forwarded(host(shown))
    tables = world.node.host.netfilter[4].tables
    forward = tables[1].chains["FORWARD"]

    assert [("nat", 4), ("filter", 4)] == [(table.name, table.family) for table in tables]
    assert isinstance(forward, Known)
    assert "DROP" == forward.value.policy


def test_no_forward_chain_is_supposed_where_it_would_be_shown() -> None:
    """A whole listing has it, or there is none."""
    listed = Netfilter(tables=given_tables(given_rules("FORWARD -j ACCEPT")))

    assert [] == list(_drop_forwarded(host(Netfilter(complete=True))))
    assert [] == list(_drop_forwarded(host(listed)))


def test_what_a_command_of_the_evidence_set_was_otherwise_before() -> None:
    """The key in either spelling, or the module that makes it; another command set nothing."""
    texts = ("modprobe br_netfilter", "sysctl -w net/ipv4/ip_forward=1", "ip route flush cache")
    load, write, other = (ChangeCommand(command=text, span=span(text)) for text in texts)
    commands = (other, load, write)
    calls = "net.bridge.bridge-nf-call-iptables"

    assert write == _find_change(commands, "net.ipv4.ip_forward", "")
    assert load == _find_change(commands, calls, "br_netfilter")
    assert _find_change(commands, calls, "") is None
