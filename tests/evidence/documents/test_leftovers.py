"""What stands between outputs and is neither prose nor a command is said not to be read."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.leftovers import OUTSIDE, says_nothing
from podpath.evidence.files import parse_file
from podpath.net.provenance import GapKind

SAYS_NOTHING = (
    "",
    "On worker0:",
    "/etc/network/interfaces:",
    "kustomization.yaml:",
    "We restarted the node and it did not help.",
    "## Steps to reproduce",
    "- OS: Debian 12",
    "**CNI**: flannel",
    "5. `docker network create network-0`",
    "docker run -it --rm centos",
    "^C",
    "#!/bin/sh",
    "https://github.com/example/project/issues/12",
    "-------",
    "Host1:",
)
STATES_SOMETHING = (
    '        "EnableIPv6": true,',
    "        Link detected: yes",
    "e100: eth0: 3100_probe: addr:0xe9800000 irq:10 MAC addr 00:02:B3:2E:C7:7C",
    "10.0.1.2 80/tcp ALLOW FWD Anywhere",
    "262144 0 12.5.6.7",
    "net0: virtio=62:1b:33:cf:67:01,bridge=vmbr0,firewall=1",
    "default via 10.0.0.1 dev eth0",
    "size: 10Mbit/s",
)


@pytest.mark.parametrize("line", SAYS_NOTHING)
def test_words_of_people_are_prose(line: str) -> None:
    """Sentences, headings, labels, names of files and commands state nothing of a node."""
    assert says_nothing(line)


@pytest.mark.parametrize("line", STATES_SOMETHING)
def test_values_and_columns_are_not_prose(line: str) -> None:
    """A line with a value in it may be a part of an output that nobody knows."""
    assert not says_nothing(line)


def test_a_run_of_lines_is_one_gap() -> None:
    """Lines that stand together are one gap, which forbids the all-clear."""
    text = (
        "The pod has no way out.\n\nfoo=1 bar: 7\nfoo=2 bar: 8\n\n```\n$ ip route\n"
        "default via 10.0.0.1 dev eth0\n```\n\nfoo=3 bar: 9\n"
    )
    gaps = parse_file("ticket.md", text.encode()).gaps

    assert [(3, 4), (11, 11)] == [(gap.span.line, gap.span.last_line) for gap in gaps]
    assert {(OUTSIDE, GapKind.UNREAD)} == {(gap.why, gap.kind) for gap in gaps}
    assert "foo=1 bar: 7\nfoo=2 bar: 8" == gaps[0].span.text


def test_a_text_behind_a_closing_tag_is_kept() -> None:
    """What stands on the line that closes a fence, or on one that opens none, is not lost."""
    closed = "<pre>\n$ ip route\ndefault via 10.0.0.1 dev eth0\n</pre> foo=1 bar: 7\n"
    never_closed = "$ ip route\ndefault via 10.0.0.1 dev eth0\n\n<pre>foo=1 bar: 7\n"

    for text in (closed, never_closed):
        (gap,) = parse_file("ticket.md", text.encode()).gaps
        assert "foo=1 bar: 7" == gap.span.text.strip()
