"""Who wrote a log."""

from __future__ import annotations

import pytest

from podpath.net.provenance import Source
from podpath.timeline.origins import name_origin


@pytest.mark.parametrize(
    ("name", "command", "origin"),
    [
        ("kubelet.log", None, "kubelet"),
        ("/var/log/kube-proxy.log", None, "kube-proxy"),
        ("logs/kube-proxy-x7k2p.log.2.gz", None, "kube-proxy"),
        ("/var/log/messages-20220211", None, ""),
        ("pg-0_db_postgres-" + 64 * "0" + ".log", None, "postgres"),
        ("ticket.md", None, ""),
        ("ticket.md", "journalctl -u tuned.service --since today", "tuned"),
        ("ticket.md", "kubectl logs -n kube-system cilium-abcde", "cilium"),
        ("ticket.md", "dmesg | tail", ""),
    ],
)
def test_the_writer_of_a_log(name: str, command: str | None, origin: str) -> None:
    """The file's name or the command says who wrote, where the log is of one program."""
    assert origin == name_origin(Source(name=name, lines=(), command=command))
