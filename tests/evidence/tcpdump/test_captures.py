"""Text that tcpdump printed of a capture gives what the capture's columns give: over the tcpdump
project's own tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath_capture.reading.read import read_capture
from tests.evidence.printed import Difference, compare_text

REPOSITORY = Path(__file__).resolve().parents[3]
SHARED = REPOSITORY.parent / "shared" / "captures" / "tcpdump-tests"
KNOWN = json.loads(
    (REPOSITORY / "tests" / "data" / "captures" / "text-differences.json").read_text(
        encoding="utf-8"
    )
)
ELSEWHERE = ("--", "--skip", "--print-sampling=3")
"""Options that leave packets out, so that the printed numbers are not the capture's."""


def printed_tests() -> Iterator[tuple[str, Path, Path, list[str]]]:
    """Yield name, capture, expected text and options of each of tcpdump's tests whose files are
    here.
    """
    for line in (SHARED / "TESTLIST").read_text(encoding="utf-8").splitlines():
        name, *words = line.split() or [""]
        flags = [word for word in words[2:] if word != "SPECIAL_t"]
        if len(words) < 2 or name.startswith("#") or set(flags) & set(ELSEWHERE):
            continue
        capture, text = SHARED / words[0], SHARED / words[1]
        if capture.is_file() and text.is_file():
            yield name, capture, text, flags


def test_text_and_capture_tell_the_same() -> None:
    """For every combination of options, of every packet of TCP, UDP, ICMP and ARP, in tunnels too;
    what differs is listed.
    """
    if not (SHARED / "TESTLIST").is_file():
        pytest.skip("the tcpdump project's test captures are not here")
    known = {
        (name, field)
        for each in KNOWN["differences"]
        for name in each["tests"]
        for field in each["fields"]
    }
    found: dict[tuple[str, str], Difference] = {}
    compared = 0
    for name, capture, text, flags in printed_tests():
        packets = read_capture(capture.read_bytes()).packets
        compared += 1
        for difference in compare_text(
            text.read_text(encoding="utf-8", errors="replace"), flags, packets
        ):
            found.setdefault((name, difference.field), difference)

    assert compared > 700
    assert {} == {key: difference for key, difference in found.items() if key not in known}
    assert set() == known - set(found)
