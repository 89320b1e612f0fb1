"""Which program a file is of."""

from __future__ import annotations

import pytest

from podpath.evidence.configuration.kinds import find_kind, find_path
from podpath.evidence.configuration.statements import read_statements
from podpath.net.provenance import Source


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("/etc/bind/named.conf.local", "x 1;", "named"),
        ("", "subnet 10.0.0.0 netmask 255.0.0.0 {\n range 10.0.0.1 10.0.0.9;\n}", "dhcpd"),
        ("", "auto eth0\niface eth0 inet dhcp", "ifupdown"),
        ("", "[Match]\nName=eth0\n[Network]\nDHCP=yes", "networkd"),
        ("", "a 1\nb 2", ""),
    ],
)
def test_name_or_words_tell_the_kind(path: str, text: str, kind: str) -> None:
    """The name counts first; without it two words that only this program has."""
    assert kind == find_kind(path, read_statements(text.split("\n")))


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (
            Source(name="ticket.md", lines=("x",), command="cat /etc/dnsmasq.conf"),
            "/etc/dnsmasq.conf",
        ),
        (
            Source(name="ticket.md", lines=("x",), label="The file /etc/bind/db.home:"),
            "/etc/bind/db.home",
        ),
        (Source(name="ticket.md", lines=("# /etc/netplan/01.yaml", "x")), "/etc/netplan/01.yaml"),
        (Source(name="etc/netplan/01.yaml", lines=("x",)), "etc/netplan/01.yaml"),
        (Source(name="ticket.md", lines=("x",)), ""),
    ],
)
def test_the_name_stands_in_command_label_or_comment(source: Source, path: str) -> None:
    """A file of a bundle has its own name."""
    assert path == find_path(source)
