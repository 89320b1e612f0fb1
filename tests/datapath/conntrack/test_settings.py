"""Tests for the sysctls of conntrack, which are asked for only where they matter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conntrack.settings import ConntrackSettings
from podpath.datapath.tracing.exploration import Choices
from podpath.net import protocols
from podpath.node.node import Netns
from tests.datapath.given import Given, Sender, given, given_rules, tcp


def partial(node: Given) -> Given:
    """Take the sysctl listing for a fragment."""
    host: Netns = replace(node.netns, sysctls_complete=False)
    return Given(node=replace(node.node, namespaces={"host": host}))


def test_a_setting_that_decides_forks() -> None:
    """Picking up a connection in its middle asks for nf_conntrack_tcp_loose; an ordinary handshake
    asks for nothing.
    """
    node = partial(given(given_rules("FORWARD -m conntrack --ctstate NEW")))
    asked: list[list[str]] = []
    for flags in (protocols.SYN, protocols.ACK):
        choices = Choices()
        Sender(node, choices).forward(tcp(flags=flags))
        asked.append([assumption.fact for assumption in choices.made])

    assert [[], ["net.netfilter.nf_conntrack_tcp_loose in netns host"]] == asked


def test_defaults_are_the_kernels() -> None:
    """Without a word in the evidence: loose, strict windows, resets and checksums checked, room in
    the table.
    """
    node = given()
    settings = ConntrackSettings(Sender(node).walk.choices, node.netns)

    assert (True, False, False, True, False) == (
        settings.loose,
        settings.be_liberal,
        settings.ignore_invalid_rst,
        settings.checksum,
        settings.is_full,
    )


def test_a_table_is_full_by_its_own_count() -> None:
    """Both numbers have to be in the evidence."""
    prefix = "net.netfilter.nf_conntrack_"
    full = given(sysctls={f"{prefix}count": "4096", f"{prefix}max": "4096"})
    half = given(sysctls={f"{prefix}max": "4096"})

    assert ConntrackSettings(Sender(full).walk.choices, full.netns).is_full
    assert not ConntrackSettings(Sender(half).walk.choices, half.netns).is_full


@pytest.mark.parametrize(
    ("count", "most", "full"),
    [("1", "1", True), ("5", "4", True), ("3", "4", False), ("4", "0", False)],
)
def test_a_table_without_a_limit_is_never_full(count: str, most: str, *, full: bool) -> None:
    """A maximum of 0 is none."""
    prefix = "net.netfilter.nf_conntrack_"
    node = given(sysctls={f"{prefix}count": count, f"{prefix}max": most})

    assert full == ConntrackSettings(Sender(node).walk.choices, node.netns).is_full
