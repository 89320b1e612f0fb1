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
