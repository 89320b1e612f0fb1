"""Variables of a script for nft, put in where they are used."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.nft.records import NftRuleRecord
from podpath.evidence.nft.script import read_script
from podpath.evidence.nft.tokens import scan
from podpath.evidence.nft.variables import expand_variables
from podpath.net.provenance import Source

DEFINED = """\
define WAN = eth0
define nets = { 10.0.0.0/8,
    192.168.0.0/16 }
define more = { $nets, 172.16.0.0/12 }
table inet filter {
    define inner = 8080
    chain input {
        type filter hook input priority 0; policy drop;
        iifname $WAN ip saddr $nets accept
        iifname { $WAN, lo } tcp dport { 80, $inner } accept
        ip saddr $more drop
    }
}
"""
WITHOUT = """\
table inet filter {
    chain input {
        type filter hook input priority 0; policy drop;
        iifname eth0 ip saddr { 10.0.0.0/8, 192.168.0.0/16 } accept
        iifname { eth0, lo } tcp dport { 80, 8080 } accept
        ip saddr { 10.0.0.0/8, 192.168.0.0/16, 172.16.0.0/12 } drop
    }
}
"""


def statements(text: str) -> list[object]:
    """Return what the rules of a script hold; nothing of it may be left unread."""
    reading = read_script(Source(name="s", lines=tuple(text.splitlines())))
    assert reading.gaps == ()
    return [one.statements for one in reading.records if isinstance(one, NftRuleRecord)]


def test_a_script_says_what_it_says_without_its_variables() -> None:
    """A list within a list too, and a name that a block defines."""
    assert statements(DEFINED) == statements(WITHOUT)


@pytest.mark.kernel("nft")
def test_nft_takes_them_alike() -> None:
    """What the kernel holds after either script is the same."""
    command = ["unshare", "--net", "sh", "-c", "nft -f - && nft list ruleset"]
    done = [
        subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        for text in (DEFINED, WITHOUT)
    ]
    listed = [one.stdout for one in done]

    assert listed[0] == listed[1] != ""


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("define a = 1\ndefine a = 2", 2, "defined twice"),
        ("define a = 1\nredefine a = 2", 2, "`redefine`"),
        (
            "define a = 1\nundefine a\nadd rule ip t c tcp dport $a drop",
            3,
            "defines the variable a",
        ),
        ("define a", 1, "expected `define NAME = VALUE`"),
        ("define a = $b", 1, "defines the variable b"),
    ],
)
def test_what_nobody_can_tell_is_named(text: str, line: int, why: str) -> None:
    """With its line."""
    reading = read_script(Source(name="s", lines=tuple(text.splitlines())))

    assert any((gap.span.line, why in gap.why) == (line, True) for gap in reading.gaps)


def test_a_few_lines_cannot_ask_for_all_memory() -> None:
    """Each name doubles the one before; the line where it is too much is told."""
    doubled = [f"define v{number + 1} = $v{number}, $v{number}" for number in range(60)]
    found = expand_variables(list(scan(["define v0 = 1, 2", *doubled])))

    assert found.faults
    assert all("more than 500000 words" in why for _, why in found.faults)


WORDS = st.sampled_from(("define", "redefine", "a", "b", "$a", "$b", "=", "{", "}", ",", ";", "1"))


@given(st.lists(st.lists(WORDS, max_size=9).map(" ".join), max_size=6))
def test_every_name_that_is_left_is_told(lines: list[str]) -> None:
    """Whatever stands there, nothing is raised, and no name stays without a word about it."""
    found = expand_variables(list(scan(lines)))
    told = {line for line, _ in found.faults}

    assert {one.line for one in found.tokens if one.text.startswith("$")} <= told
