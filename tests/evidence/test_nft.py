"""nft's listings, as text and as JSON: recorded from nft 1.0.6, and damaged in the ways that people
damage them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.evidence import recognition
from podpath.evidence.nft import json as nft_json
from podpath.evidence.nft import text as nft_text
from podpath.evidence.nft.listing import scope_of
from podpath.evidence.nft.records import (
    NftChainRecord,
    NftListingRecord,
    NftRuleRecord,
    NftSetRecord,
    NftTableRecord,
)
from podpath.evidence.nft.rule_text import parse_rule
from podpath.evidence.nft.terms_json import parse_statement
from podpath.evidence.nft.tokens import TokenCursor, scan
from podpath.evidence.records import Reading, Record
from podpath.net import nft
from podpath.net.provenance import Source

DATA = Path(__file__).parents[1] / "data" / "nftables"
TEXT, JSON = (
    (DATA / "ruleset.txt").read_text(encoding="utf-8"),
    (DATA / "ruleset.json").read_text(encoding="utf-8"),
)


def record_name(record: Record) -> str:
    """Return the name of what a record states."""
    assert isinstance(record, NftTableRecord | NftChainRecord | NftSetRecord)
    return record.name


def source(text: str, command: str | None = "nft -a list ruleset") -> Source:
    """Return a listing as a source."""
    return Source(name="nft", lines=tuple(text.splitlines()), command=command)


def read_text(text: str, command: str | None = "nft -a list ruleset") -> Reading:
    """Read a listing as text."""
    return nft_text.read(source(text, command))


def of(reading: Reading, kind: type[Record]) -> list[Record]:
    """Return the records of one kind."""
    return [record for record in reading.records if isinstance(record, kind)]


def statements(text: str) -> tuple[nft.Statement, ...]:
    """Read one rule."""
    return parse_rule(TokenCursor(list(scan([text])))).statements


@pytest.mark.parametrize(
    ("text", "name"), [(TEXT, "nft list ruleset"), (JSON, "nft -j list ruleset")]
)
def test_listings_are_recognised_by_their_content(text: str, name: str) -> None:
    """Neither form needs its command."""
    found = recognition.recognise(source(text, None))

    assert name == (found.name if found is not None else "")


@pytest.mark.parametrize(
    "reading", [read_text(TEXT), nft_json.read(source(JSON))], ids=["text", "json"]
)
def test_a_whole_ruleset_has_no_gaps(reading: Reading) -> None:
    """Every line is a record's, and the listing says that it is whole."""
    listing = of(reading, NftListingRecord)[0]

    assert ((), True, "ruleset") == (reading.gaps, listing.whole, listing.scope)  # type: ignore[attr-defined]  # its kind


def test_both_forms_state_the_same() -> None:
    """Tables, chains, sets and rules are the same in text and JSON, but for what JSON leaves
    out.
    """
    text, json = read_text(TEXT), nft_json.read(source(JSON))
    for kind in (NftTableRecord, NftChainRecord, NftSetRecord):
        named = [[record_name(record) for record in of(form, kind)] for form in (text, json)]
        assert named[0] == named[1]
    pairs = zip(of(text, NftRuleRecord), of(json, NftRuleRecord), strict=True)
    unlike = [(one.handle, other.handle) for one, other in pairs if one.handle != other.handle]  # type: ignore[attr-defined]
    assert [] == unlike


def test_no_statement_of_the_recording_is_unknown() -> None:
    """Only what podpath does not model stays as it is spelled."""
    for reading in (read_text(TEXT), nft_json.read(source(JSON))):
        unknown = [
            statement.text
            for record in of(reading, NftRuleRecord)
            for statement in record.statements  # type: ignore[attr-defined]  # its kind
            if isinstance(statement, nft.OpaqueStatement)
        ]
        assert ["ct count over 10"] == unknown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "ip saddr 10.0.0.0/8 drop",
            (
                nft.NftMatch(
                    nft.Comparison.EQUAL,
                    nft.Payload("ip", "saddr"),
                    nft.PrefixLiteral("10.0.0.0", 8),
                ),
                nft.NftVerdict("drop"),
            ),
        ),
        (
            "ct state new accept",
            (
                nft.NftMatch(nft.Comparison.ANY_BIT, nft.Ct("state"), nft.Literal("new")),
                nft.NftVerdict("accept"),
            ),
        ),
        (
            "tcp dport 80-90 jump web",
            (
                nft.NftMatch(
                    nft.Comparison.EQUAL,
                    nft.Payload("tcp", "dport"),
                    nft.Interval(nft.Literal("80"), nft.Literal("90")),
                ),
                nft.NftVerdict("jump", "web"),
            ),
        ),
        (
            'iifname "a-b" return',
            (
                nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("iifname"), nft.Literal("a-b")),
                nft.NftVerdict("return"),
            ),
        ),
        (
            "dnat ip6 to [fd00::1]:80",
            (nft.Nat("dnat", nft.Literal("fd00::1"), nft.Literal("80"), (), nft.NftFamily.IP6),),
        ),
        ("redirect to :8080", (nft.Nat("redirect", None, nft.Literal("8080")),)),
        ("reject with tcp reset", (nft.NftReject(nft.RejectKind.TCP_RESET),)),
        (
            "meta mark set meta mark & 0xff | 0x1",
            (
                nft.Mangle(
                    nft.Meta("mark"),
                    nft.Binary(
                        nft.BitOperator.OR,
                        nft.Binary(nft.BitOperator.AND, nft.Meta("mark"), nft.Literal("0xff")),
                        nft.Literal("0x1"),
                    ),
                ),
            ),
        ),
        (
            "tcp dport 80 frobnicate the packet",
            (
                nft.NftMatch(nft.Comparison.EQUAL, nft.Payload("tcp", "dport"), nft.Literal("80")),
                nft.OpaqueStatement("frobnicate the packet"),
            ),
        ),
    ],
)
def test_rules(text: str, expected: tuple[nft.Statement, ...]) -> None:
    """Each spelling gives its statements; what is not understood stays."""
    assert expected == statements(text)


def test_json_that_is_not_known_is_kept() -> None:
    """An unknown statement keeps its spelling, whatever its shape."""
    assert nft.OpaqueStatement("tproxy 5") == parse_statement({"tproxy": {"port": 5}})
    assert isinstance(parse_statement({"match": {"op": 3}}), nft.OpaqueStatement)
    assert isinstance(parse_statement([1, 2]), nft.OpaqueStatement)
    lacking: tuple[dict[str, list[int]], ...] = ({"&": []}, {"range": [1]})
    for unread in lacking:
        matched = parse_statement({"match": {"op": "==", "left": unread, "right": 1}})
        assert isinstance(matched, nft.NftMatch)
        assert isinstance(matched.left, nft.OpaqueExpression)


def test_a_priority_of_any_length_is_read() -> None:
    """One that no kernel has stands for none."""
    base = f"type filter hook input priority {'9' * 5000}; policy drop"
    text = f"table ip t {{\n\tchain c {{\n\t\t{base};\n\t}}\n}}"
    reading = nft_text.read(Source(name="x", lines=tuple(text.splitlines())))
    chains = [one for one in reading.records if isinstance(one, NftChainRecord)]
    assert [("input", 0)] == [(chain.hook, chain.priority) for chain in chains]


def test_a_cut_listing_is_not_whole() -> None:
    """A listing that ends within a chain, or in an ellipsis, does not claim to show all."""
    lines = TEXT.splitlines()
    for text in (
        "\n".join(lines[:60]),
        "\n".join([*lines[:60], "...", *lines[70:]]),
        JSON[: len(JSON) // 2],
    ):
        reading = read_text(text) if text[0] == "t" else nft_json.read(source(text))
        listing = of(reading, NftListingRecord)[0]
        assert listing.whole is False  # type: ignore[attr-defined]  # its kind


def test_rules_of_a_configuration_file_read_the_same() -> None:
    """Semicolons and one-line chains are as good as line ends."""
    base = "type filter hook input priority -5; policy drop"
    text = (
        f"table inet t {{ chain c {{ {base}; iif lo accept\ntcp dport {{ 22,\n 80 }} accept }} }}"
    )
    reading = read_text(text)
    chain = of(reading, NftChainRecord)[0]
    assert ("input", -5, "drop") == (chain.hook, chain.priority, chain.policy)  # type: ignore[attr-defined]  # its kind
    assert 2 == len(of(reading, NftRuleRecord))


@pytest.mark.parametrize(
    ("command", "scope"),
    [("nft -a list ruleset", "ruleset"), ("nft list table ip x", "table"), ((
        "nft list ruleset | grep "
        "drop"
    ), "part"),
     ("nft list ruleset ip", "tables"), (None, ""), ("cat /etc/nftables.conf", "")],
)  # fmt: skip
def test_scope(command: str | None, scope: str) -> None:
    """The command says how much is shown."""
    assert scope == scope_of(command)
