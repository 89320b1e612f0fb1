"""Tests of what is not asked for because the evidence prints it."""

from __future__ import annotations

import pytest

from podpath.diagnosis.diagnosis import Question
from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.library.printed import leave_out_printed


def ask(*commands: str) -> tuple[Question, ...]:
    """Return a question for each."""
    return tuple(Question(fact="a fact", ask=command, decides=()) for command in commands)


@pytest.mark.parametrize(
    ("asked", "printed", "left"),
    [
        ("bridge link", "bridge link show", ""),
        ("bridge fdb show br cni0", "sudo bridge fdb show", ""),
        ("bridge -d link show", "bridge link", "bridge -d link show"),
        ("bridge fdb show br cni0", "bridge fdb show br cni1", "bridge fdb show br cni0"),
        ("ip route get 10.0.0.1", "ip route", "ip route get 10.0.0.1"),
        ("ip rule; bridge link", "bridge link", "ip rule"),
        ("ip route", "ip route", "ip route"),
        ("kubectl get service NAME -o yaml | grep Policy", "kubectl get svc web -o yaml", ""),
        ("kubectl get service -o wide", "kubectl get svc -A -owide", ""),
        ("kubectl get svc api -o wide", "kubectl get svc b -o wide", "kubectl get svc api -o wide"),
        ("kubectl get pods -o wide", "kubectl get pods", "kubectl get pods -o wide"),
        ("kubectl get pods -o wide", "kubectl get po -l a=b -o wide", "kubectl get pods -o wide"),
        ("kubectl get ds -n net", "kubectl get ds -A", ""),
        ("kubectl get ds -n net", "kubectl get ds", "kubectl get ds -n net"),
        ("kubectl get ds -n net", "kubectl get ds -n shop", "kubectl get ds -n net"),
        ("ip route get ADDRESS", "ip route get 10.0.0.1", "ip route get ADDRESS"),
        ("conntrack -S", "conntrack -S", "conntrack -S"),
        ("kubectl describe pod POD", "kubectl describe pod/web-0 -n shop", ""),
        ("docker network ls", "docker network ls", ""),
        ("docker ps --all", "podman ps --all", ""),
        ("iptables -S FORWARD", "iptables -L FORWARD -n -v", ""),
        ("iptables -S FORWARD | head -1", "iptables-save", ""),
        ("iptables -t nat -S | grep dport", "iptables-save -t nat", ""),
        ("iptables -t nat -S POSTROUTING", "sudo iptables -nvL POSTROUTING -t nat", ""),
        ("iptables -S FORWARD", "iptables -L FORWARD -n", "iptables -S FORWARD"),
        ("iptables -nvL FORWARD", "iptables -S FORWARD", "iptables -nvL FORWARD"),
        ("iptables -S FORWARD", "iptables -S INPUT", "iptables -S FORWARD"),
        ("iptables -S FORWARD", "iptables -P FORWARD DROP", "iptables -S FORWARD"),
        ("iptables-save -t nat", "iptables -S", "iptables-save -t nat"),
        ("ip6tables-save", "iptables-save", "ip6tables-save"),
        ("on the other node: ip route", "ip route", "on the other node: ip route"),
    ],
)  # fmt: skip
def test_what_is_printed_is_not_asked_for(asked: str, printed: str, left: str) -> None:
    """Options that print less, another table, another object and another host are asked for."""
    found = leave_out_printed(ask(asked, "tcpdump -ni any"), (printed,))

    assert ([left] if left else []) + ["tcpdump -ni any"] == [one.ask for one in found]


def test_a_question_is_left() -> None:
    """Where all is printed, what was asked for is asked for."""
    asked = ask("bridge link")

    assert asked == leave_out_printed(asked, ("bridge link",))


@pytest.mark.parametrize(
    ("command", "asked"),
    [("ip -br link", True), ("bridge link", False), ("bridge link | head", True)],
)  # fmt: skip
def test_a_ticket_is_not_asked_for_what_it_has(command: str, asked: bool) -> None:  # noqa: FBT001  # a case
    """A filter may have left out what counts."""
    ports = (
        "6: vetha@ens3: <BROADCAST,UP,LOWER_UP> mtu 1450 master cni0 state forwarding priority 32"
    )
    ticket = (
        "a pod on this node reaches nothing\n\n```\n"
        "root@n1:~# ip -br addr\ncni0 UP 10.244.1.1/24\nvetha@if2 UP\nvethb@if2 UP\n"
        f"root@n1:~# {command}\n{ports}\n```\n"
    )
    found = diagnose(Pasted(ticket, "ticket.md"))

    assert ["veth-without-bridge"] == [one.check for one in found.findings]
    assert asked is any("bridge link" in one.ask for one in found.questions)
