"""Zone files."""

from __future__ import annotations

from podpath.evidence.configuration.zone_file import is_zone, read_zone

ZONE = [
    "$TTL 1D",
    "@ IN SOA ns.home.lan. admin.home.lan. (",
    "  1 ; serial",
    "  2 3 4 5 )",
    "  IN NS ns.home.lan.",
    "ns 3600 IN A 10.0.0.1 ; a comment",
    "www CNAME ns",
]


def test_records_have_owner_type_and_data() -> None:
    """A line without an owner has the one above; a record in parentheses is one."""
    found = [(one.path, one.name, one.value) for one in read_zone(ZONE)]

    assert [
        ((), "$TTL", "1D"),
        (("@",), "SOA", "ns.home.lan. admin.home.lan. 1 2 3 4 5"),
        (("@",), "NS", "ns.home.lan."),
        (("ns",), "A", "10.0.0.1"),
        (("www",), "CNAME", "ns"),
    ] == found


def test_an_answer_is_no_zone() -> None:
    """Dig prints records as a zone file has them."""
    assert is_zone(ZONE)
    assert not is_zone([";; ANSWER SECTION:", *ZONE])
    assert not is_zone(["a list of", "IN A house"])


def test_a_row_of_numbers_is_read_at_once() -> None:
    """A record's TTL is one word: `/proc/net/softnet_stat` has eleven that look like it, each of
    eight digits.
    """
    row = " ".join(["00a1b2c3", *["00000000"] * 10])

    assert [] == list(read_zone([row]))
