"""Fragments as people paste them, in many styles: the answer is right or says that it is open;
sound nodes raise no alarm.

No fragment shows enough for an all-clear: what it leaves out could decide.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import podpath

FRAGMENTS = Path(__file__).parent.parent / "data" / "fragments"
FAULT, OPEN = 1, 3


class Fragment(NamedTuple):
    """A fragment, what is asked about it, and the answer."""

    file: str
    exit_code: int
    check: str | None = None
    """The first finding's check."""
    quoted: str = ""
    """A piece of a line that the first finding quotes."""
    probe: str = ""
    quiet: bool = False
    """True where nothing is wrong: a fragment shows too little to say so, but no finding is
    told.
    """


CASES = (
    Fragment("two-backends.txt", FAULT, "forward-policy", ":FORWARD DROP [55:3300]"),
    Fragment("crlf-tabs-german.md", FAULT, "ip-forward", "0"),
    Fragment("chat.txt", FAULT, "ip-forward", "net.ipv4.ip_forward = 0"),
    Fragment(
        "chat.txt", FAULT, "ip-forward", "net.ipv4.ip_forward = 0", "tcp 10.42.3.8 > 1.1.1.1:443"
    ),
    Fragment("listings-only.txt", FAULT, "forward-policy", "Chain FORWARD (policy DROP"),
    Fragment("firewalld.txt", FAULT, "dropped-by-rule", "--reject-with icmp-host-prohibited"),
    Fragment("hairpin-exit-code.txt", FAULT, "hairpin", "command terminated with exit code 28"),
    Fragment("same-node-service.txt", FAULT, "br-netfilter", "lsmod | grep br_netfilter"),
    Fragment("sidecar-gone.txt", FAULT, "no-listener", "--to-ports 15001"),
    Fragment("debug-shell.txt", FAULT, "dropped-by-rule", "-d 169.254.169.254/32 -j REJECT"),
    Fragment("before-and-after.md", FAULT, "forward-policy", "-P FORWARD DROP"),
    Fragment(
        "policy-sets.md",
        FAULT,
        "dropped-by-rule",
        "Drop if no policies passed",
        "tcp 10.65.2.8 > 10.65.1.20:5432",
    ),
    Fragment("policy-sets.md", OPEN, probe="tcp 10.65.2.9 > 10.65.1.20:5432", quiet=True),
    Fragment(
        "hostport-two-uplinks.txt",
        FAULT,
        "rp-filter",
        "rp_filter = 1",
        "tcp 8.8.8.8 > 198.51.100.20:8443 in eth1",
    ),
    Fragment(
        "hostport-two-uplinks.txt",
        OPEN,
        probe="tcp 8.8.8.8 > 203.0.113.20:8443 in eth0",
        quiet=True,
    ),
    Fragment(
        "input-policy.txt",
        FAULT,
        "dropped-by-rule",
        ":INPUT DROP",
        "udp 192.168.10.7:5 > 192.168.10.5:8472 in eth0",
    ),
    Fragment(
        "input-policy.txt",
        FAULT,
        "dropped-by-rule",
        ":INPUT DROP",
        "tcp 10.244.9.8 > 192.168.10.5:10250",
    ),
    Fragment("input-policy.txt", OPEN, probe="tcp 10.244.9.8 > 192.168.10.5:31000", quiet=True),
    Fragment("input-policy.txt", OPEN, probe="icmp 10.244.9.8 > 192.168.10.5", quiet=True),
    Fragment("untranslated-syn.md", OPEN),
    Fragment(
        "conntrack-unreplied.txt",
        OPEN,
        "missing-masquerade",
        "[UNREPLIED] src=192.168.7.2 dst=10.42.5.6",
    ),
    Fragment("failure-without-source.md", FAULT, "forward-policy", ":FORWARD DROP"),
    Fragment(
        "failure-without-source.md",
        FAULT,
        "forward-policy",
        ":FORWARD DROP",
        "tcp 10.244.1.7 > 10.244.2.9:8080",
    ),
    Fragment("failure-of-a-name.txt", OPEN),
    Fragment("good-node.txt", OPEN, quiet=True),
    Fragment("good-node.txt", OPEN, probe="tcp 10.244.1.5 > 10.96.0.50:80", quiet=True),
    Fragment("good-capture.txt", OPEN, quiet=True),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file} {case.probe}".strip())
def test_answer(case: Fragment) -> None:
    """The exit code, the first finding and the line that it quotes are those that an engineer would
    give.
    """
    answer = podpath.diagnose(FRAGMENTS / case.file, [case.probe] if case.probe else [])
    assert answer.exit_code == case.exit_code, answer.text()
    findings = answer.findings
    assert not findings or not case.quiet
    if case.check is not None:
        assert case.check == findings[0].check
        assert any(case.quoted in span.text for span in findings[0].evidence)


def test_every_fragment_is_used() -> None:
    """No fragment lies about without an answer."""
    assert {case.file for case in CASES} == {path.name for path in FRAGMENTS.iterdir()}


def test_unwalked_failure_is_asked_for(tmp_path: Path) -> None:
    """Of a failure that cannot be walked, whose ends no prose tells and that no rule explains, what
    is missing is said, and the command that tells.
    """
    ticket = tmp_path / "ticket.md"
    text = (FRAGMENTS / "failure-without-source.md").read_text(encoding="utf-8")
    open_text = text.replace(":FORWARD DROP", ":FORWARD ACCEPT")
    ticket.write_text(
        "\n".join(
            line for line in open_text.splitlines() if not line.startswith("Flannel host-gw.")
        ),
        encoding="utf-8",
    )

    answer = podpath.diagnose(ticket)

    assert "kubectl get pod -n default web-0 -o wide" in [
        question.ask for question in answer.questions
    ]


def test_device_with_a_shown_filter_is_cured() -> None:
    """The cure names the device whose own filter is shown, though only a route names the device."""
    answer = podpath.diagnose(
        FRAGMENTS / "hostport-two-uplinks.txt", ["tcp 8.8.8.8 > 198.51.100.20:8443 in eth1"]
    )
    cured = answer.findings[0].repairs[0].commands
    assert (
        "sysctl -w net.ipv4.conf.all.rp_filter=0",
        "sysctl -w net.ipv4.conf.eth1.rp_filter=0",
    ) == cured
