"""What a text mentions, and its words."""

from __future__ import annotations

from podpath.net.technologies import list_words


def test_words_are_names_and_switches_in_small_letters() -> None:
    """Numbers, addresses and words of two letters are none."""
    assert {"rp_filter", "drops", "br-lan", "eth0"} == list_words(
        "rp_filter DROPS 192.0.2.7 on br-lan, eth0: 1500"
    )
