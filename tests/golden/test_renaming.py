"""Tests of the renaming that the golden tickets go through."""

from __future__ import annotations

import ipaddress
import re

from tests.golden.renaming import make_renaming


def test_prefix_relations_hold_after_renaming() -> None:
    """An address that lay in a prefix lies in the renamed prefix."""
    text = make_renaming(7, ()).text(
        "10.244.3.0/24 10.244.3.136 100.96.0.0/11 100.96.54.247 169.254.0.0 255.255.0.0 127.0.0.0/8"
    )
    near, inside, wide, pod, *kept = re.split(r" ", text)
    assert ipaddress.ip_address(inside) in ipaddress.ip_network(near)
    assert ipaddress.ip_address(pod) in ipaddress.ip_network(wide)
    assert kept == ["169.254.0.0", "255.255.0.0", "127.0.0.0/8"]


def test_words_are_replaced_whole_and_alike_everywhere() -> None:
    """A name gets one new name, and longer names that contain it stay apart."""
    renaming = make_renaming(3, ("eth0", "KUBE-FORWARD"))
    first, second, longer, chain = renaming.text("eth0 eth0 eth00 KUBE-FORWARD").split()
    assert first == second != "eth0"
    assert longer == "eth00"
    assert chain.count("-") == 1
    assert chain != "KUBE-FORWARD"
