"""`conntrack -L` and /proc/net/nf_conntrack."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.formats import CERTAIN, NO
from podpath.evidence.netfilter.conntrack import read_conntrack, recognise_conntrack
from podpath.evidence.records import ConntrackRecord, ConnTupleRecord, HeadingRecord
from podpath.net.addresses import Address
from podpath.net.provenance import Source, Span
from tests.evidence.consoles import block, load_console, uncovered
from tests.evidence.netfilter_recording import CONSOLES

SYN = (
    "tcp      6 118 SYN_SENT src=10.0.0.1 dst=10.96.0.9 sport=53084 dport=80 [UNREPLIED] "
    "src=10.244.1.7 dst=10.0.0.1 sport=8080 dport=53084 mark=0 use=1"
)
OUTPUTS = (
    "conntrack-l",
    "conntrack-l-o-extended-id",
    "conntrack-l-o-ktimestamp",
    "cat-proc-net-nf-conntrack",
)


def entries(source: Source) -> list[ConntrackRecord]:
    """Read the entries of a source."""
    return [
        record for record in read_conntrack(source).records if isinstance(record, ConntrackRecord)
    ]


def entry(text: str) -> ConntrackRecord:
    """Read the one entry of a text."""
    (record,) = entries(block(text))
    return record


def way(src: str, dst: str, *numbers: int | None) -> ConnTupleRecord:
    """Make one direction."""
    return ConnTupleRecord(Address.parse(src), Address.parse(dst), *numbers)


def test_every_output_form_says_the_same() -> None:
    """With and without `-o extended,id`, time stamps, counters, and as /proc shows it."""
    outputs = [load_console(CONSOLES / f"{name}.txt") for name in OUTPUTS]
    said = [
        {
            (
                record.protocol,
                record.state,
                record.original,
                record.reply,
                record.unreplied,
                record.mark,
                record.zone or 0,
            )
            for record in entries(source)
        }
        for source in outputs
    ]

    assert [()] * len(OUTPUTS) == [read_conntrack(source).gaps for source in outputs]
    assert [8] * len(OUTPUTS) == [len(entries(source)) for source in outputs]
    assert said[1:] == said[:-1]
    assert {(17, 5), (17, 0)} <= {(each[0], each[-1]) for each in said[0]}


def test_a_translated_connection_is_read() -> None:
    """The reply direction shows where the packets really go."""
    record = entry(SYN)

    assert record.original == way("10.0.0.1", "10.96.0.9", 53084, 80)
    assert record.reply == way("10.244.1.7", "10.0.0.1", 8080, 53084)
    assert (record.protocol, record.state, record.timeout, record.mark) == (6, "SYN_SENT", 118, 0)
    assert (record.unreplied, record.assured, record.offloaded) == (True, False, False)


@pytest.mark.parametrize(("text", "zone"), [("mark=0 zone=5 use=1", 5), ("mark=0 use=1", None)])
def test_zones_are_read(text: str, zone: int | None) -> None:
    """A zone may be of the connection; where none is printed the evidence says none."""
    record = entry(
        "udp 17 29 src=10.0.0.1 dst=10.0.0.2 sport=1 dport=2 src=10.0.0.2 dst=10.0.0.1 sport=2 "
        f"dport=1 {text}"
    )

    assert (record.zone, record.zone_original, record.zone_reply) == (zone, None, None)


def test_a_zone_of_one_direction_is_read() -> None:
    """It stands right behind the direction."""
    record = entry(
        "udp 17 29 src=10.0.0.1 dst=10.0.0.2 sport=1 dport=2 zone-orig=7 src=10.0.0.2 dst=10.0.0.1 "
        "sport=2 dport=1 zone-reply=8"
    )

    assert (record.zone_original, record.zone_reply) == (7, 8)


def test_an_echo_has_an_identifier_and_the_entry_another() -> None:
    """`id=` behind `type=` is the echo's, the last one the entry's."""
    ways = (
        "src=10.0.0.1 dst=10.0.0.2 type=8 code=0 id=77 src=10.0.0.2 dst=10.0.0.1 type=0 code=0 "
        "id=77"
    )
    record = entry(f"icmp 1 29 {ways} mark=0 use=1 id=4065133465")

    assert record.original == way("10.0.0.1", "10.0.0.2", None, None, 8, 77)
    assert record.reply == way("10.0.0.2", "10.0.0.1", None, None, 0, 77)
    assert record.id == 4065133465


def test_an_offloaded_connection_has_no_state() -> None:
    """The flow table took it over: neither timeout nor state are shown."""
    record = entry(
        "ipv4 2 tcp 6 src=10.0.0.1 dst=10.0.0.2 sport=1 dport=2 src=10.0.0.2 dst=10.0.0.1 sport=2 "
        "dport=1 [OFFLOAD] mark=0"
    )

    assert (record.offloaded, record.state, record.timeout) == (True, None, None)


def test_long_ipv6_addresses_are_read() -> None:
    """/proc writes all digits."""
    zeros = ":".join(["0000"] * 7)
    ways = (
        f"src={zeros}:0001 dst={zeros}:0002 sport=1 dport=2 [UNREPLIED] src={zeros}:0002 "
        f"dst={zeros}:0001 sport=2 dport=1"
    )
    record = entry(f"ipv6 10 tcp 6 9 CLOSE {ways}")

    assert (record.family, record.original.src) == (6, Address.parse("::1"))


def test_a_wrapped_entry_is_put_together() -> None:
    """Entries are longer than a terminal is wide."""
    first, second = SYN.split("[UNREPLIED]")
    (record,) = entries(block(f"{first}\n[UNREPLIED]{second}"))

    assert (record.span.line, record.span.last_line, record.unreplied) == (1, 2, True)


def test_an_entry_that_ends_early_has_no_reply() -> None:
    """What is cut off is not made up."""
    assert (
        entry(
            "tcp 6 118 SYN_SENT src=10.0.0.1 dst=10.96.0.9 sport=53084 dport=80 [UNREPLIED]"
        ).reply
        is None
    )


@pytest.mark.parametrize(
    "line",
    [
        SYN.replace("10.96.0.9", "10.x.x.9"),
        SYN.replace("dst=10.96.0.9 ", "", 1),
        SYN.replace("10.96.0.9", "fd00::9"),
        SYN.replace("tcp", "ipv6 10 tcp"),
        "[NEW] " + SYN,
    ],
)
def test_what_is_no_entry_is_a_gap(line: str) -> None:
    """Elided addresses, mixed families and events are kept as gaps."""
    reading = read_conntrack(block(line))

    assert [gap.span.line for gap in reading.gaps] == [1]
    assert reading.records == ()


def test_the_count_below_a_listing_states_nothing() -> None:
    """`conntrack v1.4.7 (conntrack-tools): 0 flow entries have been shown.` is a heading, and tells
    the format.
    """
    source = block(
        "conntrack v1.4.7 (conntrack-tools): 0 flow entries have been shown.", "conntrack -L"
    )

    assert recognise_conntrack(source) == CERTAIN
    assert [type(record) for record in read_conntrack(source).records] == [HeadingRecord]


@pytest.mark.parametrize("text", ["", "tcp 6 packets were lost", "src=10.0.0.1 dst=10.0.0.2"])
def test_other_text_is_not_recognised(text: str) -> None:
    """An entry starts with its protocol, by name and number."""
    assert recognise_conntrack(block(text)) == NO


@given(st.lists(st.one_of(st.just(SYN), st.text(max_size=60)), max_size=6))
def test_every_line_is_in_a_record_or_a_gap(lines: list[str]) -> None:
    """Whatever stands between entries, no line is lost."""
    source = Source(name="ticket.md", lines=tuple(line.replace("\n", " ") for line in lines))

    assert [] == uncovered(source, read_conntrack(source))


@given(
    st.lists(st.sampled_from(["0", "1", "12", "0123", "65535", "99999", "255", "256"]), min_size=9),
    st.tuples(
        st.sampled_from(["ipv4     2 ", ""]), st.sampled_from(["", "ESTABLISHED ", "CLOSE "])
    ),
    st.sampled_from(["", "[UNREPLIED] "]),
    st.sampled_from(["", "[ASSURED] "]),
    st.sampled_from(["", " id=4294967295", " id=7", " zone=3", "  "]),
    st.sampled_from(["", "ipv4     2 udp      17 9 src=1.1.1.1", " use=3", "id=9", "mark=2"]),
)
def test_usual_entries_are_read_as_all_others(
    numbers: list[str], begun: tuple[str, str], unreplied: str, assured: str, end: str, below: str
) -> None:
    """The short way of the usual form says what the long way does, which a second blank turns an
    entry to.
    """
    one, two, three, four, five, six, seven, eight, nine, *_ = numbers
    family, state = begun
    head = f"{family}tcp      6 "
    rest = (
        f"{one} {state}src=10.1.2.{two} dst=10.1.3.{three} sport={four} dport={five} {unreplied}"
        f"src=10.1.3.{six} dst=10.1.2.{two} sport={seven} dport={eight} {assured}"
        f"mark={nine} use=1{end}"
    )

    nowhere = Span(block(""), 1, 1)

    def told(text: str) -> object:
        source = Source(name="conntrack.txt", lines=(text, below))
        reading = read_conntrack(source)
        records = [
            (record.span.line, record.span.last_line, replace(record, span=nowhere))
            for record in reading.records
        ]
        return records, [(gap.span.line, gap.span.last_line, gap.why) for gap in reading.gaps]

    assert told(head + rest) == told(head + " " + rest)


@pytest.mark.parametrize("repeated", ["a", "a=", " ", "src=1.1.1.1 dst=1.1.1.1 ", "["])
def test_long_lines_are_read_in_time(repeated: str) -> None:
    """The time grows with the length of the line, not with its square."""
    started = time.process_time()
    read_conntrack(
        block("tcp 6 118 SYN_SENT src=10.0.0.1 " + repeated * (100_000 // len(repeated)))
    )

    assert time.process_time() - started < 2
