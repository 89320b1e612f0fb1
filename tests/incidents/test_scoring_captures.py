"""The scorer of public captures: which files it takes, what a claim is worth, and that its data are
whole.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
from pathlib import Path

import pytest

from scripts.score_captures import (
    ALL_CLEAR,
    ANY,
    HALVES,
    JUDGED,
    LISTED_DIGITS,
    Answer,
    Claim,
    Judgement,
    Worth,
    find_captures,
    half_of,
    hash_claim,
    read_answers,
    read_claims,
    read_connection,
    read_listed,
    render_checks,
    render_clones,
    render_halves,
    render_misses,
    score,
)

OPEN = "0" * 64
SEALED = "f" * 64
EMPTY = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
"""A pcap file without packets."""


@pytest.fixture
def judgement(tmp_path: Path) -> Judgement:
    """One false and one true claim of each half, and a false all-clear of each."""
    opened = [
        {"sha256": OPEN, "check": "one-way", "connection": "192.0.2.1 192.0.2.2", "worth": "false"},
        {"sha256": OPEN, "check": "icmp-error", "connection": ANY, "worth": "true"},
        {"sha256": OPEN, "check": ALL_CLEAR, "connection": "", "worth": "false"},
    ]
    sealed = {
        hash_claim(SEALED, "one-way", "192.0.2.1 192.0.2.2"): "true",
        hash_claim(SEALED, ALL_CLEAR, ""): "false",
    }
    (tmp_path / "open.json").write_text(json.dumps(opened), encoding="utf-8")
    (tmp_path / "sealed.json").write_text(json.dumps(sealed), encoding="utf-8")
    return Judgement(tmp_path)


def claim(check: str, connection: str, *, sure: bool = True) -> Claim:
    """Make a claim about a connection."""
    return Claim(check=check, connection=connection, sure=sure, text=f"{connection} is lost.")


ONE_WAY = claim("one-way", "192.0.2.1 192.0.2.2")


def test_captures_are_found_by_their_contents(tmp_path: Path) -> None:
    """Packed or not and whatever its name, a listed capture is taken once; nothing else is."""
    packed = gzip.compress(EMPTY, mtime=0)
    (tmp_path / "a.bin").write_bytes(EMPTY)
    (tmp_path / "b.pcap").write_bytes(EMPTY)
    (tmp_path / "c.pcap.gz").write_bytes(packed)
    (tmp_path / "d.pcap").write_bytes(EMPTY + b"not listed")
    (tmp_path / "e.pcap").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "f.gz").write_bytes(packed[:8])
    listed = {hashlib.sha256(each).hexdigest()[:LISTED_DIGITS] for each in (EMPTY, packed)}
    assert ["a.bin", "c.pcap.gz"] == [path.name for _, path in find_captures(tmp_path, listed)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Nothing from 192.0.2.2 reaches 192.0.2.1 at a.pcap from 08:02:56.473712 on",
            "192.0.2.1 192.0.2.2",
        ),
        (
            "[2001:db8::1]:443 sends its SYN-ACK to [2001:db8::2]:4000: twice",
            "[2001:db8::1]:443 [2001:db8::2]:4000",
        ),
        ("Frames to 192.0.2.1 carry 02:00:00:00:00:01 instead of 02:00:00:00:00:02", "192.0.2.1"),
    ],
)
def test_connection_of_a_claim(text: str, expected: str) -> None:
    """The addresses make it, without times of day and MACs, in any order of the sentence."""
    assert expected == read_connection(text)


def test_halves_by_the_first_bit() -> None:
    """The first half of all hashes is open."""
    assert ["open", "open", "sealed", "sealed"] == [half_of(digit) for digit in "078f"]


def test_worth_of_claims(judgement: Judgement) -> None:
    """A claim is looked up by its connection, else by what all of its check are worth."""
    assert judgement.look_up(OPEN, ONE_WAY) is Worth.FALSE
    assert judgement.look_up(SEALED, ONE_WAY) is Worth.TRUE
    assert judgement.look_up(OPEN, claim("icmp-error", "192.0.2.9")) is Worth.TRUE
    assert judgement.look_up(OPEN, claim("one-way", "192.0.2.9")) is Worth.UNJUDGED


def test_only_blame_is_a_claim() -> None:
    """Notes blame nothing; an answer that is no JSON claims nothing."""
    findings = [
        {"check": "one-way", "severity": severity, "certainty": certainty, "claim": "192.0.2.1 ..."}
        for severity, certainty in (("fault", 1), ("risk", 0.5), ("note", 1))
    ]
    claims = read_claims(json.dumps({"findings": findings}).encode())
    assert [True, False] == [each.sure for each in claims]
    assert () == read_claims(b"Traceback")


def test_score_and_tables(judgement: Judgement) -> None:
    """Claims, all-clears, refusals and failures are counted by half, and the sealed half is not
    named among the misses.
    """
    answers = (
        Answer(digest=OPEN, path="a", code=1, claims=(ONE_WAY, claim("icmp-error", "192.0.2.9"))),
        Answer(digest=OPEN, path="b", code=0),
        Answer(digest=OPEN, path="c", code=2),
        Answer(digest=SEALED, path="d", code=1, claims=(ONE_WAY,)),
        Answer(digest=SEALED, path="e", code=0),
        Answer(digest=SEALED, path="f", code=-1),
    )
    tallies = score(answers, judgement)
    rows = [
        "| open | 3 | 2 | 1 | 0 | 1 | 0 | 1 | 1 | 1 | 1 | 0 |",
        "| sealed | 3 | 1 | 1 | 0 | 0 | 0 | 0 | 1 | 1 | 0 | 1 |",
    ]
    assert rows == list(render_halves(tallies))[2:]
    checks = ["| icmp-error | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |", "| one-way | 0 | 0 | 1 | 0 | 1 | 0 | 0 | 0 |"]  # fmt: skip  # noqa: E501
    assert checks == list(render_checks(tallies))[2:]
    misses = [
        "false: a: one-way: 192.0.2.1 192.0.2.2 is lost.",
        "false all-clear: b",
    ]
    assert misses == list(render_misses(answers, judgement))


def test_the_command_answers(tmp_path: Path) -> None:
    """Each capture is read by the command in a copy of this process: a file without packets is
    nothing to judge by.
    """
    file = tmp_path / "empty.pcap"
    file.write_bytes(EMPTY)
    (answer,) = read_answers([(OPEN, file)], workers=1)
    assert Answer(digest=OPEN, path=str(file), code=3) == answer


def test_the_data_are_whole() -> None:
    """Every judged claim is of a listed capture, and says why if it is false; every repository has
    its commit.
    """
    listed = read_listed()
    assert len(listed) >= 1500
    opened = json.loads((JUDGED / "open.json").read_text(encoding="utf-8"))
    assert {"open"} == {half_of(one["sha256"]) for one in opened}
    assert {one["sha256"][:LISTED_DIGITS] for one in opened} <= listed
    assert not [one for one in opened if one["worth"] == Worth.FALSE and not one["why"]]
    halves = [half_of(digest) for digest in listed]
    assert min(halves.count(half) for half in HALVES) >= 750
    clones = list(render_clones(Path("captures")))
    assert "git init -q captures/zeek+zeek" in clones
    assert {one["repository"].replace("/", "+") for one in opened} <= {
        line.removeprefix("git init -q captures/") for line in clones
    }
