"""Scripts of the shell: calls with their lines, and by name what only a shell could tell."""

from __future__ import annotations

import pytest

from podpath.evidence.planned.shell import read_calls, split_call


def test_calls_are_read_with_their_lines() -> None:
    """Comments and blank lines say nothing, a call may go over several lines."""
    script = (
        "#!/bin/sh",
        "set -eu",
        "",
        "# the web",
        "sudo iptables -A INPUT \\",
        "  -p tcp -j ACCEPT  # for now",
        "iptables -A INPUT -m comment --comment 'a | b'",
    )
    calls = [(call.first, call.last, list(call.words), call.fault) for call in read_calls(script)]

    assert calls == [
        (1, 1, [], ""),
        (4, 5, ["iptables", "-A", "INPUT", "-p", "tcp", "-j", "ACCEPT"], ""),
        (6, 6, ["iptables", "-A", "INPUT", "-m", "comment", "--comment", "a | b"], ""),
    ]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("$IPT -A INPUT -j DROP", "what $IPT stands for"),
        ('iptables -A INPUT -s "${NET}" -j DROP', "what ${NET}"),
        ("iptables -A INPUT -s `hostname` -j DROP", "what `hostname`"),
        ("IPT=/sbin/iptables", "`IPT=/sbin/iptables` of the shell"),
        ("for port in 80 443; do", "`;` of the shell"),
        ("if true", "`if` of the shell"),
        ("iptables -D INPUT -j DROP || true", "`||` of the shell"),
        ("iptables-restore < rules", "`<` of the shell"),
        ("iptables -A INPUT -m comment --comment 'a", "No closing quotation"),
    ],
)
def test_what_only_a_shell_could_tell_is_named(line: str, named: str) -> None:
    """It is never passed over."""
    words, fault = split_call(line)
    assert (words, named in fault) == ((), True), fault
