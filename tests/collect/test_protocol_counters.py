"""Counters of protocols, as `nstat` prints them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from podpath.collect.netns import inside
from podpath.collect.protocol_counters import list_counters

NAME = f"ppc-{os.getpid()}"


@pytest.mark.kernel("nstat")
def test_they_are_what_the_program_prints() -> None:
    """All that is not zero, by its name and in its order, in a namespace that stands still."""
    subprocess.run(("ip", "netns", "add", NAME), check=True)
    try:
        subprocess.run(("ip", "-n", NAME, "link", "set", "lo", "up"), check=True)
        with inside(f"/run/netns/{NAME}"):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.sendto(b"x", ("127.0.0.1", 9))
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
                sender.sendto(b"x", ("::1", 9))
            with socket.socket() as client:
                client.connect_ex(("127.0.0.1", 9))
            taken = list_counters()
        words = ("ip", "netns", "exec", NAME, "nstat", "-asj")
        printed = subprocess.run(words, capture_output=True, check=True).stdout
    finally:
        subprocess.run(("ip", "netns", "del", NAME), check=True)

    assert taken is not None
    assert list(json.loads(taken)["kernel"].items()) == list(json.loads(printed)["kernel"].items())
    assert taken == printed.strip() + b"\n"


def test_tables_of_both_shapes(tmp_path: Path) -> None:
    """Names above values, and one a line; zeros and what counts nothing are left out."""
    (tmp_path / "snmp").write_text("Ip: Forwarding InReceives OutRequests\nIp: 1 7 0\n")
    (tmp_path / "snmp6").write_text("Ip6InReceives                   \t5\nIp6InDiscards \t0\n")
    assert list_counters(tmp_path) == b'{"kernel":{"IpInReceives":7,"Ip6InReceives":5}}\n'


def test_a_table_that_is_not_known_has_the_program_asked(tmp_path: Path) -> None:
    """SCTP has a table of its own where its module is loaded."""
    (tmp_path / "sctp").mkdir()
    (tmp_path / "sctp/snmp").write_text("SctpCurrEstab 0\n")
    assert list_counters(tmp_path) is None
