"""Options of kinds in one spelling."""

from __future__ import annotations

from podpath.evidence.iproute.link_options import GRAMMARS, KINDS, collect_options, parse_options
from podpath.evidence.text.tokenizer import Cursor


def test_text_and_json_of_a_vxlan_agree() -> None:
    """Words without a value, renamed keys and a range come out as JSON has them."""
    text = parse_options(
        Cursor(
            "id 1 dev eth0 srcport 0 0 dstport 8472 nolearning ttl auto ageing 300 udpcsum "
            "addrgenmode eui64"
        ),
        "vxlan",
    )
    data = {
        "id": 1,
        "link": "eth0",
        "port_range": {"low": 0, "high": 0},
        "port": 8472,
        "learning": False,
        "ttl": 0,
        "ageing": 300,
        "udp_csum": True,
    }

    assert text == collect_options(data, "vxlan")


def test_timers_are_left_out() -> None:
    """They differ between two outputs of the same state."""
    assert {"stp_state": "0"} == parse_options(
        Cursor("stp_state 0 hello_timer    0.00 gc_timer  276.41"), "bridge"
    )
    assert {"stp_state": "0"} == collect_options({"stp_state": 0, "hello_timer": "0.00"}, "bridge")


def test_a_kind_without_a_grammar_keeps_no_words() -> None:
    """Where words and values cannot be told apart, none is guessed; JSON tells them apart."""
    assert {} == parse_options(Cursor("remote 10.0.0.1 ttl inherit pmtudisc"), "ipip")
    assert {"remote": "10.0.0.1", "pmtudisc": "on"} == collect_options(
        {"remote": "10.0.0.1", "pmtudisc": True}, "ipip"
    )


def test_every_kind_with_a_grammar_is_a_known_kind() -> None:
    """The first word of its line is recognised."""
    assert set(GRAMMARS) <= KINDS


def test_a_cut_line_gives_the_options_before_the_cut() -> None:
    """A key without its value says nothing."""
    assert {"mode": "802.3ad"} == parse_options(Cursor("mode 802.3ad miimon"), "bond")
