"""Whose last word a fatal line is, and whether he stays down."""

from __future__ import annotations

import pytest

from podpath.checks.dying import find_last_words, is_agent
from tests.checks.pasted import ticket_of

LINE = '{"level":"fatal","msg":"option --store must not be empty"}'


def ask(text: str) -> list[tuple[str, bool]]:
    """Return each last word's program, and whether it is certain that it is down."""
    return [(word.program, word.certain) for word in find_last_words(ticket_of(text))]


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("kubectl logs -n shop cart-7d9f6c5b4-x2x9k", "cart-7d9f6c5b4-x2x9k"),
        ("kubectl -n shop logs -f deploy/cart -c main", "cart"),
        ("journalctl -u cart.service --no-pager", "cart"),
        ("journalctl --unit=cart", "cart"),
        ("docker logs cart", "cart"),
    ],
)
def test_the_command_names_whose_log_it_is(command: str, program: str) -> None:
    """Kubectl, Docker and the journal, with their options in any place."""
    assert [(program, False)] == ask(f"```\n$ {command}\n{LINE}\n```\n")


@pytest.mark.parametrize(
    ("status", "certain"), [("CrashLoopBackOff", True), ("Error", True), ("Running", False)]
)
def test_a_table_of_pods_tells_whether_it_stays_down(status: str, *, certain: bool) -> None:
    """The pod of the log, in the words of kubectl."""
    text = (
        "```\n$ kubectl get pods\nNAME                   READY   STATUS    RESTARTS   AGE\n"
        f"cart-7d9f6c5b4-x2x9k   0/1     {status}   7   3m\n"
        "shop-5c4d9f6b7-abcde   0/1     CrashLoopBackOff   9   3m\n```\n"
        f"```\n$ kubectl logs cart-7d9f6c5b4-x2x9k\n{LINE}\n```\n"
    )

    assert [("cart-7d9f6c5b4-x2x9k", certain)] == ask(text)


def test_the_only_workload_that_crashes_is_whose_log_nobody_named() -> None:
    """Its pods, by what is left of their names without their controllers' letters."""
    text = (
        "```\n$ kubectl get pods -A\n"
        "NAMESPACE     NAME           READY   STATUS             RESTARTS   AGE\n"
        "kube-system   cilium-2brxn   0/1     CrashLoopBackOff   4          3m\n"
        "kube-system   cilium-mzrkm   0/1     CrashLoopBackOff   4          3m\n"
        f"kube-system   web-0          1/1     Running            0          9d\n```\n\n{LINE}\n"
    )

    assert [("cilium", True)] == ask(text)


def test_a_unit_that_failed_is_down() -> None:
    """Its program speaks, and systemd says that it ended with an error."""
    text = (
        "```\nMar  3 10:10:10 lb1 haproxy[512]: [ALERT] 062/101010 (512) : parsing "
        "[/etc/haproxy/haproxy.cfg:31] : unknown keyword 'forwardforx' in 'frontend' section\n"
        "Mar  3 10:10:10 lb1 systemd[1]: haproxy.service: Main process exited, code=exited, "
        "status=1/FAILURE\n```\n"
    )

    assert [("haproxy", True)] == ask(text)


@pytest.mark.parametrize(
    "line",
    [
        'level=fatal msg="cannot reach etcd" error="dial tcp 10.0.0.1:2379: connection refused"',
        "F0412 09:11:12.000123 1 main.go:40] unable to list nodes: context deadline exceeded",
        "panic: Get https://10.96.0.1:443/api: dial tcp 10.96.0.1:443: i/o timeout",
        "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)",
        '{"level":"fatal","msg":"lookup redis: no such host"}',
        "2024/03/02 level=info msg=ready",
    ],
)
def test_what_a_program_could_not_reach_is_no_fault_of_its_own(line: str) -> None:
    """The network's errors stay the network's, whatever level they have."""
    assert [] == ask(f"The pod crashes again and again.\n\n```\n{line}\n```\n")


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("calico-node-v64fv", True),
        ("cilium", True),
        ("kube-flannel-ds-abcde", True),
        ("flannel", True),
        ("ovnkube-node", False),
        ("cart", False),
        ("birdwatch", False),
    ],
)
def test_the_programs_of_network_plugins(name: str, *, agent: bool) -> None:
    """By the first word of their names."""
    assert agent is is_agent(name)
