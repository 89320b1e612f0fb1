"""The kernel's counters come to the namespace that they were counted in."""

from __future__ import annotations

import pytest

from podpath.assembly.case import assemble_case
from podpath.evidence.recognition import read
from podpath.net.provenance import Source


@pytest.mark.parametrize(
    "text",
    [
        "#kernel\nTcpExtIPReversePathFilter       1294               0.0",
        "TcpExtIPReversePathFilter       1294               0.0",
        '{"kernel":{"IpInReceives":8,"TcpExtIPReversePathFilter":1294}}',
        '{\n "kernel": {\n  "IpInReceives": 8,\n  "TcpExtIPReversePathFilter": 1294\n }\n}',
    ],
)
def test_counters_come_to_the_node(text: str) -> None:
    """Whatever way they were printed; of two readings the larger one counts."""
    sources = [
        Source(name=f"{at}.txt", lines=tuple(each.split("\n")))
        for at, each in enumerate((text, text.replace("1294", "7")))
    ]
    readings = [(source, reading) for source in sources if (reading := read(source)) is not None]
    known = assemble_case(readings).node.host.counters["TcpExtIPReversePathFilter"]
    assert known.value == 1294
    assert known.span is not None
    assert "1294" in known.span.text
