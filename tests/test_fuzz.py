"""What fuzzing asks of every reader holds of Hypothesis' inputs too, and of damaged files; a longer
run is `scripts/fuzz`.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.readers import READERS, read_pcap, read_pcapng
from fuzz.seeds import seeds_of
from tests.capture import frames
from tests.capture.decoding.test_layers import KINDS

NAMES = sorted(READERS)
LINES = st.text(st.sampled_from("IP6 >:.,()[]-_@\t\n0123456789abcdefARPtellFlagsseq"), max_size=200)


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_any_bytes_keep_the_promises(name: str, data: st.DataObject) -> None:
    """Whatever the bytes, a reader ends and accounts for them."""
    READERS[name](data.draw(st.binary(max_size=400)))


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_changed_evidence_keeps_the_promises(name: str, data: st.DataObject) -> None:
    """So it does where some bytes of real evidence are changed, taken out or put in."""
    seed = bytearray(data.draw(st.sampled_from(list(seeds_of(name)))))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(seed)))
        seed[place : place + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    READERS[name](bytes(seed))


@pytest.mark.parametrize("name", ["tcpdump", "log"])
@given(st.data())
def test_any_lines_keep_the_promises(name: str, data: st.DataObject) -> None:
    """So it does with lines of the words that its format has."""
    READERS[name](data.draw(LINES).encode())


@pytest.mark.parametrize("length", [0, 1, 15, 16, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF])
def test_absurd_lengths(length: int) -> None:
    """A record, a block, an IP packet or a datagram may claim any length."""
    word = length.to_bytes(4, "little")
    whole = frames.pcap(KINDS)
    read_pcap(whole[:32] + word + whole[36:])
    read_pcap(whole[:32] + word * 2 + whole[40:])
    blocks = frames.section() + frames.interface()
    read_pcapng(blocks + word.join((b"\6\0\0\0", frames.packet(KINDS[0])[8:])))
    head = frames.packet(KINDS[0])
    read_pcapng(blocks + head[:20] + word * 2 + head[28:])
    read_pcap(
        frames.pcap(
            [
                frames.ethernet(
                    0x0800, frames.ipv4(17, frames.udp((5, 8472), b"x"), length=length & 0xFFFF)
                )
            ]
        )
    )
    read_pcap(
        frames.pcap([frames.ethernet(0x86DD, frames.ipv6(6, b"x" * 30, length=length & 0xFFFF))])
    )


def test_empty_files() -> None:
    """A file of nothing is no capture; a text of nothing has no lines to account for."""
    for reader in READERS.values():
        reader(b"")
