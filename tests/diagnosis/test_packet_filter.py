"""Filters in tcpdump's words: what fits, what is refused, and which end every connection has."""

from __future__ import annotations

import pytest

from podpath.diagnosis.capture_filter import ANY, FilterEnd
from podpath.diagnosis.packet_filter import parse_expression
from podpath.net.errors import UsageError
from podpath.testing.nodes import ip

WEB = "tcp 10.0.0.1:1024 > 10.0.0.2:443"


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("host 10.0.0.1", True),
        ("host 10.0.0.2 and tcp port 443", True),
        ("tcp", True),
        ("ip and not udp", True),
        ("ip6", False),
        ("net 10.0.0.0/30", True),
        ("net 10.0.1.0/24 or port 443", True),
        ("port 80 or 443", True),
        ("port 80 or 8080", False),
        ("portrange 1000-1100", True),
        ("udp port 443", False),
        ("icmp or (host 10.0.0.1 and !port 22)", True),
        ("host 10.0.0.1 && not (port 443 || port 80)", False),
        ("host 10.0.0.1 and host 10.0.0.3", False),
        ("not host 10.0.0.3", True),
    ],
)
def test_expression_is_held_against_both_ends(text: str, *, fits: bool) -> None:
    """In either direction, with the precedence that tcpdump has: not, and, or."""
    assert fits == parse_expression(text).fits_words(WEB)


def test_identifier_of_a_ping_is_no_port() -> None:
    """What stands in its place is no port that anybody asks for."""
    assert not parse_expression("port 7").tree(1, (ip("10.0.0.1"), 7), (ip("10.0.0.2"), 7))
    assert parse_expression("icmp").tree(1, (ip("10.0.0.1"), 7), (ip("10.0.0.2"), 7))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "saw its end"),
        ("src host 10.0.0.1", "kept in both directions"),
        ("host web", "the value of host, saw 'web'"),
        ("port 70000", "the value of port"),
        ("port 9-3", "the value of port"),
        ("(tcp", "expected ), saw its end"),
        ("tcp udp", "expected and, or, saw 'udp'"),
        ("10.0.0.1", "expected host, net"),
        ("host 10.0.0.1 and", "saw its end"),
        ("tcp & udp", "saw '& udp'"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, message: str) -> None:
    """With what was expected and what was seen."""
    with pytest.raises(UsageError) as refused:
        parse_expression(text)

    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("host 10.0.0.1 and (port 80 or port 443)", FilterEnd(ip("10.0.0.1"), 0)),
        ("tcp port 443", FilterEnd(None, 443)),
        ("port 443 and host 10.0.0.2", FilterEnd(ip("10.0.0.2"), 0)),
        ("host 10.0.0.1 or host 10.0.0.2", ANY),
        ("not host 10.0.0.1", ANY),
        ("net 10.0.0.0/8", ANY),
    ],
)
def test_end_that_every_connection_has_is_known(text: str, end: FilterEnd) -> None:
    """So that a long capture shows all packets of it."""
    assert (end, ANY) == parse_expression(text)[1:]
