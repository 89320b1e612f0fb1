"""Columns and what tshark reads of the same packets, over all captures of the tcpdump project's
tests.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from podpath_capture.decoding.link_layer import LINK_TYPES
from podpath_capture.reading.read import DecodedCapture, read_capture
from tests.capture.tshark import Difference, differences, read_many

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = REPOSITORY.parent / "shared" / "captures" / "tcpdump-tests"
KNOWN = json.loads(
    (REPOSITORY / "tests" / "data" / "captures" / "tshark-differences.json").read_text(
        encoding="utf-8"
    )
)


def test_columns_agree_with_tshark(tmp_path: Path) -> None:
    """Of every packet of a link type that is read, each field that both decode is the same; what
    differs is listed.
    """
    if not SHARED.is_dir() or shutil.which("mergecap") is None:
        pytest.skip("needs tshark, mergecap and the tcpdump project's test captures")
    kinds: dict[int, list[tuple[Path, DecodedCapture]]] = defaultdict(list)
    for path in sorted(SHARED.glob("*.pcap*")):
        capture = read_capture(path.read_bytes())
        kinds[capture.interfaces[0].link_type].append((path, capture))
    found: dict[tuple[str, str], Difference] = {}
    packets = 0
    for kind in set(kinds) & set(LINK_TYPES):
        rows = read_many([path for path, _ in kinds[kind]], tmp_path)
        assert sum(len(capture.packets) for _, capture in kinds[kind]) == len(rows)
        for path, capture in kinds[kind]:
            mine, rows = rows[: len(capture.packets)], rows[len(capture.packets) :]
            packets += len(mine)
            for difference in differences(capture.packets, mine):
                found.setdefault((path.name, difference.field), difference)
    known = {
        (name, field)
        for each in KNOWN["differences"]
        for name in each["files"]
        for field in each["fields"]
    }

    assert packets > 9_000
    assert {} == {key: difference for key, difference in found.items() if key not in known}
    assert set() == known - set(found)
