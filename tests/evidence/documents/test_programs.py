"""Commands without a prompt are told from sentences by what follows the program's name."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.programs import is_command, is_program, reads_as_command

COMMANDS = [
    "ip route", "ip -d link", "iptables -S", "tcpdump -i any", "curl -v http://10.0.0.1",
    "kubectl get pods", "cat /proc/sys/x", "lsmod", "conntrack -L", "sudo iptables -S",
    "ovs-vsctl show", "sysctl net.ipv4.ip_forward", "lsmod | grep br",
]  # fmt: skip
TEXTS = [
    "ip route shows that the gateway is not the right one",
    "bridge name bridge id       STP enabled interfaces", "route is missing",
    "iptables rules of the node", "curl: (7) Failed to connect", "", "the node",
    "tcpdump on the host shows nothing",
]  # fmt: skip


@pytest.mark.parametrize("text", COMMANDS)
def test_commands(text: str) -> None:
    """A known program with what it takes is a command."""
    assert is_command(text)


@pytest.mark.parametrize("text", TEXTS)
def test_sentences(text: str) -> None:
    """A sentence that starts with a program's name is none."""
    assert not is_command(text)


def test_any_command_behind_a_prompt() -> None:
    """Behind a prompt an unknown program is enough, if it does not go on as a sentence."""
    assert reads_as_command("./collect.sh --all")
    assert reads_as_command("mytool -x")
    assert not reads_as_command("or scale up if it exists already")
    assert is_program("/usr/local/bin/mytool x")


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("ip route show table all", True), ("ip -6 route list table all", True),
        ("ip netns exec pod ip route show table all", True),
        ("nsenter -t 123 -n ip route show table all", True),
        ("ip -n pod route show table all dev eth0", True),
        ("ip route show table all of them, please", False),
        ("ip route and ip rule show all that is there", False),
    ],
)  # fmt: skip
def test_a_whole_listing_is_a_command_though_its_words_are_those_of_a_sentence(
    text: str, *, known: bool
) -> None:
    """Else what it printed would be taken for that of the host."""
    assert known is is_command(text)
