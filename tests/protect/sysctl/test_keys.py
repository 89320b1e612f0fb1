"""Keys are segments of a path: dots in names are safe, and nothing leads out of /proc/sys."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.sysctl.keys import Key, parse_key

NAMES = st.text("abcdefgh-_.0123456789", min_size=1, max_size=12).filter(
    lambda name: name not in {".", ".."}
)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("net.ipv4.ip_forward", "net/ipv4/ip_forward"),
        ("net/ipv4/conf/eth0.100/rp_filter", "net/ipv4/conf/eth0.100/rp_filter"),
        ("net.ipv4.conf.eth0/100.rp_filter", "net/ipv4/conf/eth0.100/rp_filter"),
        ("/proc/sys/net/ipv4/conf/eth0.100/rp_filter", "net/ipv4/conf/eth0.100/rp_filter"),
        ("net.ipv4.conf.lxc*.rp_filter", "net/ipv4/conf/lxc*/rp_filter"),
    ],
)
def test_both_spellings_are_read(text: str, path: str) -> None:
    """The first separator tells which spelling it is; the other sign belongs to a name."""
    assert parse_key(text).path(Path("/proc/sys")) == Path("/proc/sys") / path


@pytest.mark.parity("Y4")
@given(st.lists(NAMES, min_size=2, max_size=6))
def test_a_key_is_read_back_as_it_was_spelled(segments: list[str]) -> None:
    """Spelling and reading a key gives the same segments, whatever dots its names hold."""
    if "." not in segments[0]:
        assert parse_key(str(Key(tuple(segments)))) == Key(tuple(segments))


@pytest.mark.parity("Y5")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "net",
        "net..x",
        "net/../../etc/passwd",
        "net.ipv4./.x",
        "/etc/passwd/",
        "net/./x",
        "net.\nx",
    ],
)
def test_what_leads_elsewhere_is_refused(text: str) -> None:
    """Empty segments, `..`, slashes and control characters are no keys (Y5)."""
    with pytest.raises(ValueError, match="a s"):
        parse_key(text)


def test_a_pattern_matches_within_a_segment() -> None:
    """`*` never reaches over a segment, and what is no pattern matches itself only."""
    pattern = parse_key("net.ipv4.conf.lxc*.rp_filter")

    assert pattern.is_pattern
    assert pattern.matches(parse_key("net.ipv4.conf.lxc0.rp_filter"))
    assert not pattern.matches(parse_key("net.ipv4.conf.eth0.rp_filter"))
    assert not parse_key("net.ipv4.*").matches(parse_key("net.ipv4.conf.all.rp_filter"))


def test_the_device_of_a_key() -> None:
    """A key of a device knows it, and the same key of another."""
    key = parse_key("net/ipv4/conf/eth0.100/rp_filter")

    assert key.device == "eth0.100"
    assert key.of("all") == parse_key("net.ipv4.conf.all.rp_filter")
    assert parse_key("net.ipv4.ip_forward").device is None
