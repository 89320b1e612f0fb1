"""What fuzzing begins with: small inputs of every shape that a reader knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.capture import frames
from tests.capture.decoding.test_layers import KINDS

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
LINES = 30
"""Of a long text: longer inputs are slower, and show no more."""


def seeds_of(name: str) -> Iterator[bytes]:
    """Give the first inputs of a reader, by its name in `fuzz.readers`."""
    if name == "pcap":
        yield from (frames.pcap([kind, KINDS[0]]) for kind in KINDS)
        yield from (
            frames.pcap(KINDS[:3], link_type=number, nanoseconds=True)
            for number in (0, 101, 113, 276)
        )
    elif name == "pcapng":
        head = frames.section() + frames.interface(
            options=frames.option(2, b"eth0") + frames.option(9, b"\x09")
        )
        yield from (head + frames.packet(kind) + frames.packet(KINDS[0]) for kind in KINDS)
        yield (
            head
            + frames.block(3, bytes(4) + KINDS[0])
            + frames.block(5, bytes(12) + frames.option(5, bytes(8)))
        )
    elif name == "tcpdump":
        yield from (text.encode() for text in _texts(DATA.glob("consoles/captures/*.txt")))
        yield from _printed()
    elif name == "tenant":
        yield from _written()
    else:
        yield from _logged()


def _written() -> Iterator[bytes]:
    """Give what tenants write; the first byte draws where it stands."""
    rules = "*nat\n:OUTPUT ACCEPT [0:0]\n:A - [0:0]\n-A OUTPUT -p tcp -j A\n-A A -p tcp -j RETURN\n"
    for number, text in enumerate(
        (
            "4190,4191,10-20", "10.0.0.0/8,fd00::/8", "2102", "9" * 5000, "[::]:4140,0.0.0.0:4143",
            f"{rules}-A A -p tcp -j REDIRECT --to-ports 4140\nCOMMIT\n",
            "   0: 00000000:102C 00000000:0000 0A 00000000:00000000",
            "        |-- 10.244.0.5\n           /32 host LOCAL\n",
        )
    ):  # fmt: skip
        yield bytes([number]) + text.encode()
    yield b"GET /metrics HTTP/1.0\r\n\r\n"
    yield b"podpath-reflect/2 " + b"a" * 32 + b" 15104,4191 " + b"0" * 32
    yield b'{"cniVersion": "1.0.0", "name": "n", "plugins": [{"type": "bridge", "mtu": 1e3}]}'
    yield b'{"cniVersion": "0.3.1", "name": "n", "type": "bridge"}'


def _texts(paths: Iterator[Path]) -> Iterator[str]:
    for path in sorted(paths):
        yield "\n".join(path.read_text(encoding="utf-8").splitlines()[:LINES])


def _printed() -> Iterator[bytes]:
    from tests.evidence import test_tcpdump  # noqa: PLC0415 - a table of lines, in a module that imports pytest

    for line, *_ in (*test_tcpdump.TIMES, *test_tcpdump.BEHIND_HEADERS):
        yield str(line).encode()


def _logged() -> Iterator[bytes]:
    from tests.timeline import samples  # noqa: PLC0415 - as above

    yield samples.MESSAGES.encode()
    yield samples.CLIENT.encode()
    yield b"[    1.234567] eth0: link up\n[Wed Mar 12 03:13:41 2025] eth0: link down\n"
    yield b'{"__REALTIME_TIMESTAMP":"1742472000000000","MESSAGE":"x","SYSLOG_IDENTIFIER":"y"}\n'
    yield (
        b"2025-03-12T03:13:41.123456789Z stdout F hello\n"
        b"2025-03-12 03:13:41 install a:amd64 <none> 1\n"
    )
    yield (
        b"type=SYSCALL msg=audit(1742472000.123:45): arch=c000003e\n"
        b"LAST SEEN  TYPE  REASON  OBJECT  MESSAGE\n"
    )
    yield (
        b"Start-Date: 2025-03-12  03:13:38\nCommandline: apt upgrade\n"
        b"Upgrade: polkit:amd64 (1, 2)\n"
    )
