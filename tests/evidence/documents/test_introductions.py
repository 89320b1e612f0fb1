"""A line of prose may name the command whose output stands below it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.documents.introductions import introduced_command


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("Output of `ip rule`:", "ip rule"),
        ("The output of `iptables -t nat -L -n` on node-2:", "iptables -t nat -L -n"),
        ("and `sysctl -n net.ipv4.ip_forward` prints", "sysctl -n net.ipv4.ip_forward"),
        ("**ip -d link show flannel.1**", "ip -d link show flannel.1"),
        ("<code>$ cat /etc/resolv.conf</code> in the pod says:", "cat /etc/resolv.conf"),
        ("### ip route", "ip route"),
        ("Result of: conntrack -S", "conntrack -S"),
        ("output: ip addr show dev eth0", "ip addr show dev eth0"),
        ("ip rule shows only:", "ip rule"),
        ("ip rule list on the gateway now shows these two rules:", "ip rule list"),
        ("iptables -t nat -S prints nothing but:", "iptables -t nat -S"),
        ("The nat table has:", "iptables -t nat"),
        ("And the filter table of node-2 shows only:", "iptables -t filter"),
        ("Routing table 100:", "ip route show table 100"),
        ("Table main on the host holds:", "ip route show table main"),
    ],
)
def test_the_command_is_found(line: str, command: str) -> None:
    """In code, in bold or as the whole line, with a verb or a place behind it."""
    assert introduced_command(line) == command


@pytest.mark.parametrize(
    "line",
    [
        (
            "After `ip route del default` the pods could not reach anything, so we looked at the "
            "firewall:"
        ),
        "I ran `ping 10.0.0.1` and it fails, here is the configuration of the node:",
        "The address `10.0.0.1` is the gateway:",
        "ip route shows nothing strange to me, but the default route is there",
        "Output:",
        "The nat table of conntrack entries grows, and we see this in the log:",
        "Our table of addresses has:",
        "ip route shows that the default route is fine, and the firewall has:",
        "",
    ],
)
def test_other_prose_names_none(line: str) -> None:
    """A command in the middle of a sentence is told of; what follows is another output."""
    assert introduced_command(line) is None


@given(st.text(max_size=200))
def test_any_line_is_taken(line: str) -> None:
    """No line raises, and what is returned stands in it."""
    command = introduced_command(line)

    assert command is None or command.split()[0] in line or "table" in line.lower()
