"""Rules for iptables-restore, with and without --noflush, in both flavors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.assembly.planned.tables import assemble_tables
from podpath.evidence.planned.files import read_change
from podpath.evidence.planned.restore import RestoreRecord
from podpath.net.provenance import Known, Source
from podpath.node.netfilter import Chain, Netfilter
from podpath.node.node import Netns
from podpath.testing.nodes import given_netns

BEFORE = """\
*filter
:INPUT DROP [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:U1 - [0:0]
:U2 - [0:0]
-A INPUT -j U1
-A FORWARD -s 9.9.9.9/32 -j DROP
-A U1 -s 1.1.1.1/32 -j ACCEPT
-A U2 -s 4.4.4.4/32 -j ACCEPT
COMMIT
"""
FILE = """\
*filter
:FORWARD DROP [0:0]
:U1 - [0:0]
:U3 - [0:0]
-A U1 -s 2.2.2.2/32 -j ACCEPT
-A FORWARD -s 8.8.8.8/32 -j ACCEPT
COMMIT
"""


def restore(
    namespace: Netns, text: str, *, flavour: str, noflush: bool
) -> tuple[Netns, tuple[str, ...]]:
    """Return a namespace after a file, and why some of it is refused."""
    read = read_change(Source(name="s", lines=tuple(text.splitlines())))
    assert read is not None
    records = [one for one in read.reading.records if isinstance(one, RestoreRecord)]
    changes, gaps = assemble_tables(records, namespace, flavour, noflush=noflush)
    tables = tuple(change.table for change in changes)
    held = replace(namespace.netfilter.get(4, Netfilter()), tables=tables)
    return replace(namespace, netfilter={4: held}), tuple(gap.why for gap in gaps)


def chains(namespace: Netns) -> dict[str, tuple[str | None, list[str]]]:
    """Return each chain's policy and the sources of its rules."""
    found: dict[str, Chain] = {
        name: fact.value
        for name, fact in namespace.netfilter[4].tables[0].chains.items()
        if isinstance(fact, Known)
    }
    return {
        name: (
            chain.policy,
            [str(rule.src.prefix.address) if rule.src else "" for rule in chain.rules],
        )
        for name, chain in found.items()
    }


def given_before(flavour: str) -> Netns:
    """Return a namespace with rules."""
    return restore(given_netns("host"), BEFORE, flavour=flavour, noflush=False)[0]


@pytest.mark.parametrize("flavour", ["nft", "legacy"])
def test_without_flushing_base_chains_keep_their_rules(flavour: str) -> None:
    """A user chain that is declared is emptied; what is not named stays."""
    after, refused = restore(given_before(flavour), FILE, flavour=flavour, noflush=True)

    assert () == refused
    assert {
        "INPUT": ("DROP", [""]),
        "FORWARD": ("DROP", ["9.9.9.9", "8.8.8.8"]),
        "OUTPUT": ("ACCEPT", []),
        "U1": (None, ["2.2.2.2"]),
        "U2": (None, ["4.4.4.4"]),
        "U3": (None, []),
    } == chains(after)


@pytest.mark.parametrize(("flavour", "policy"), [("nft", "ACCEPT"), ("legacy", "DROP")])
def test_with_flushing_nothing_else_stays(flavour: str, policy: str) -> None:
    """But for the policy of a base chain that the file does not name, with the legacy program."""
    after, _ = restore(given_before(flavour), FILE, flavour=flavour, noflush=False)

    assert {
        "INPUT": (policy, []),
        "FORWARD": ("DROP", ["8.8.8.8"]),
        "OUTPUT": ("ACCEPT", []),
        "U1": (None, ["2.2.2.2"]),
        "U3": (None, []),
    } == chains(after)


@pytest.mark.parametrize("line", ["-A FORWARD -j NOCHAIN", "-A NOCHAIN -j ACCEPT"])
def test_what_iptables_restore_refuses_is_said(line: str) -> None:
    """A rule of, or to, a chain that is not there fails the whole file."""
    text = f"*filter\n{line}\nCOMMIT\n"
    _, refused = restore(given_before("nft"), text, flavour="nft", noflush=True)

    assert ["iptables-restore refuses it: there is no chain NOCHAIN"] == list(refused)


def test_a_table_that_no_output_shows_cannot_be_added_to() -> None:
    """Nobody knows what it holds already."""
    partial = replace(given_netns("host"), netfilter={})
    _, refused = restore(partial, FILE, flavour="nft", noflush=True)

    assert ["no output shows table filter as it is"] == list(refused)


LOOP = """\
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:U1 - [0:0]
:U2 - [0:0]
-A INPUT -j U1
-A U2 -j U1
-A U1 {before}
-A U1 -s 9.9.9.9/32 -j U2
COMMIT
"""


@pytest.mark.parametrize(
    ("before", "refused"),
    [
        ("-j ACCEPT", {"nft"}),
        ("-j RETURN", {"nft"}),
        ("-s 1.1.1.1/32 -j ACCEPT", {"nft", "legacy"}),
        ('-m comment --comment "a" -j ACCEPT', {"nft", "legacy"}),
        ("-j REJECT", {"nft", "legacy"}),
    ],
)
def test_the_older_kernel_looks_for_no_loop_behind_a_verdict(
    before: str, refused: set[str]
) -> None:
    """What no packet gets to may lead back, where iptables-legacy loads it."""
    found = {
        flavour
        for flavour in ("nft", "legacy")
        if restore(given_netns("host"), LOOP.format(before=before), flavour=flavour, noflush=False)[
            1
        ]
    }

    assert refused == found
