"""Commands that a sentence quotes with their answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.documents.inline import find_answered, is_inline
from podpath.evidence.documents.regions import DocumentLine
from podpath.library.given import Pasted
from podpath.library.reading import read_together

FORWARD = "`cat /proc/sys/net/ipv4/ip_forward`"


def answered(text: str) -> list[tuple[str | None, str]]:
    """Return the commands and answers of a line of prose."""
    found = find_answered("ticket.md", [DocumentLine(7, text)])
    assert all(source.first_line == 7 for source in found)
    return [(source.command, source.lines[0]) for source in found]


@pytest.mark.parametrize(
    ("text", "command", "answer"),
    [
        (f"{FORWARD} returns `0` on the host.", FORWARD.strip("`"), "0"),
        (f"Pods are cut off. {FORWARD} says just `0`.", FORWARD.strip("`"), "0"),
        ("`sudo iptables -S | wc -l` gives me `99423`.", "sudo iptables -S | wc -l", "99423"),
        ("Then: `sysctl net.ipv4.ip_forward` -> `net.ipv4.ip_forward = 0`",
         "sysctl net.ipv4.ip_forward", "net.ipv4.ip_forward = 0"),
        ("It works at home. `uname -r` prints `6.1.0-13-amd64`.", "uname -r", "6.1.0-13-amd64"),
    ],
)  # fmt: skip
def test_a_command_and_what_it_printed(text: str, command: str, answer: str) -> None:
    """In several wordings, whatever stands before."""
    assert [(command, answer)] == answered(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{FORWARD} should return `1`.",
        f"If {FORWARD} returns `0`, nothing is forwarded.",
        f"Check that {FORWARD} returns `1`.",
        f"On a healthy node {FORWARD} returns `1`.",
        f"Before the update {FORWARD} returned `1`.",
        f"Before the update {FORWARD} returns `1`.",
        f"{FORWARD} does not return `1`.",
        f"{FORWARD} fails, so I tried `sysctl -a`.",
        "`web-1` is `10.0.0.7`.",
        "The name `db` returns `NXDOMAIN`.",
        f"{FORWARD} returns 0.",
    ],
)
def test_what_should_be_or_is_elsewhere_is_no_output(text: str) -> None:
    """A wish, a condition, another time or node, and no command."""
    assert [] == answered(text)


def test_the_rest_of_its_line_stays_prose() -> None:
    """The complaint beside it is heard, and the answer is a fact."""
    text = f"Containers cannot reach the internet. {FORWARD} returns `0`."
    facts = read_together([Pasted(text, "ticket.md")]).facts

    assert [False] == [one.works for one in facts.complaints]
    assert "net.ipv4.ip_forward" in facts.node.host.sysctls


def test_a_block_is_not_within_a_sentence() -> None:
    """Its lines are its own."""
    (source,) = find_answered("ticket.md", [DocumentLine(1, f"{FORWARD} returns `0`.")])

    assert is_inline(source, [f"{FORWARD} returns `0`."])
    assert not is_inline(source, ["0"])
    assert not is_inline(source, [])


@given(st.text(alphabet="` a0/-returnscat\n.|", max_size=80))
def test_no_line_breaks_it(text: str) -> None:
    """Any line has answers of one line, or none."""
    assert all(answer.count("`") == 0 for _, answer in answered(text.replace("\n", " ")))
