"""Capture files as evidence: what is read from packets is what is read from their text."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.collect import captures
from podpath.collect.read import read_evidence
from podpath.evidence.gathered import Evidence
from podpath.evidence.recognition import read
from podpath.evidence.records import PacketRecord
from podpath.net.errors import EvidenceError
from podpath.net.packet import Packet
from podpath.net.provenance import GapKind
from tests.capture import frames
from tests.capture.flows.test_unshown import talk
from tests.command import podpath

INCIDENTS = Path(__file__).resolve().parents[2] / "examples" / "incidents"
CAPTURES = sorted(INCIDENTS.glob("*/bundle/captures/*.pcap"))
SYN = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))
WITHOUT_EXTRA = (
    "import sys; sys.modules['numpy'] = sys.modules['podpath_capture'] = None; "
    "from podpath.cli.main import main; main()"
)
"""The command where `podpath[capture]` is not installed."""


def packets_of(evidence: Evidence) -> Iterator[PacketRecord]:
    """Yield the packets that are read from evidence."""
    for source in evidence.sources:
        reading = read(source)
        assert reading is not None
        assert reading.gaps == ()
        yield from (record for record in reading.records if isinstance(record, PacketRecord))


def comparable(packet: Packet | None) -> Packet | None:
    """Leave out what text says otherwise: numbers relative to a connection's first, lengths without
    a link-layer header.
    """
    return packet and packet._replace(seq=0, ack=0, length=0, smac=None, dmac=None)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: f"{path.parts[-4]}-{path.stem}")
def test_packets_are_those_of_the_text(path: Path) -> None:
    """Each packet of a recorded capture is the one that tcpdump printed live, and its span's line
    is its number.
    """
    shown = list(packets_of(read_evidence([str(path)])))
    printed = list(packets_of(read_evidence([str(path.with_suffix(".txt"))])))

    assert [comparable(record.packet) for record in printed] == [
        comparable(record.packet) for record in shown
    ]
    assert [record.arp for record in printed] == [record.arp for record in shown]
    assert [record.direction for record in printed] == [record.direction for record in shown]
    assert list(range(1, len(shown) + 1)) == [record.span.line for record in shown]


@pytest.mark.parametrize(
    "incident", sorted({path.parents[2] for path in CAPTURES}), ids=lambda path: path.name
)
def test_bundle_with_captures_alone_gives_the_same_findings(incident: Path, tmp_path: Path) -> None:
    """Without the printed text the packets themselves lead to the same findings."""
    bundle = tmp_path / "bundle"
    shutil.copytree(incident / "bundle", bundle)
    for text in bundle.glob("captures/*.txt"):
        text.unlink()
    found, expected = (
        json.loads(podpath("diagnose", str(path), "--json").stdout)
        for path in (bundle, incident / "bundle")
    )

    assert [one["check"] for one in expected["findings"]] == [
        one["check"] for one in found["findings"]
    ]
    assert [one["claim"] for one in expected["findings"]] == [
        one["claim"] for one in found["findings"]
    ]


def test_device_names_come_from_the_namespace(tmp_path: Path) -> None:
    """On `any`, packets know their device by index: its name is that of the bundle's `ip link` of
    the same namespace.
    """
    cooked = bytes.fromhex("0800 0000 00000007 0001 04 06 020000000001 0000") + frames.ipv4(
        6, frames.tcp()
    )
    (tmp_path / "captures").mkdir()
    (tmp_path / "netns" / "host").mkdir(parents=True)
    (tmp_path / "netns" / "host" / "ip-link.json").write_text(
        '[{"ifindex": 7, "ifname": "cni0", "mtu": 1450}]'
    )
    (tmp_path / "captures" / "host-any.pcap").write_bytes(frames.pcap([cooked], link_type=276))
    evidence = read_evidence([str(tmp_path)])

    assert ["cni0"] == [
        record.link
        for source in evidence.sources
        if source.name.endswith(".pcap") and (reading := read(source)) is not None
        for record in reading.records
        if isinstance(record, PacketRecord)
    ]


def test_device_of_pcapng_is_its_interfaces(tmp_path: Path) -> None:
    """The name that pcapng gives its one interface is the device of all its packets."""
    path = tmp_path / "what.pcapng"
    path.write_bytes(
        frames.section() + frames.interface(1, frames.option(2, b"eth7")) + frames.packet(SYN)
    )

    assert ["eth7"] == [record.link for record in packets_of(read_evidence([str(path)]))]


def test_packed_capture_is_read(tmp_path: Path) -> None:
    """A capture may be packed."""
    path = tmp_path / "eth0.pcap.gz"
    path.write_bytes(gzip.compress(frames.pcap([SYN] * 3)))

    assert 3 == len(list(packets_of(read_evidence([str(path)]))))


def test_packed_capture_of_several_blocks_is_read_whole(tmp_path: Path) -> None:
    """A capture that is longer than what is unpacked at once is not cut."""
    data = frames.pcap(
        [frames.ethernet(0x0800, frames.ipv4(6, frames.tcp(0x10, data=random.randbytes(1400))))]
        * 1_000
    )
    path = tmp_path / "eth0.pcap.gz"
    path.write_bytes(gzip.compress(data))
    evidence = read_evidence([str(path)])

    assert (1_000, ()) == (len(list(packets_of(evidence))), evidence.gaps)


def test_damage_is_a_gap_with_its_byte(tmp_path: Path) -> None:
    """A file that was cut gives its packets, and says at which byte it ends."""
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([SYN] * 3)[:-5])
    evidence = read_evidence([str(path)])

    assert 2 == len(list(packets_of(evidence)))
    assert [f"byte {24 + 2 * (16 + len(SYN))}: expected a record"] == [
        gap.why.partition(" of ")[0] for gap in evidence.gaps
    ]


def test_long_capture_shows_what_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit only failing connections and ARP are shown, each line with its packet's
    number.
    """
    monkeypatch.setattr(captures, "WHOLE", 4)
    ack, back = frames.tcp(0x10), frames.tcp(0x12, ports=(80, 40000))
    good = [
        SYN,
        frames.ethernet(0x0800, frames.ipv4(6, back, ends=("10.0.0.2", "10.0.0.1"))),
        frames.ethernet(0x0800, frames.ipv4(6, ack)),
    ]
    hanging = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp(ports=(40001, 80))))
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([*good, hanging, *good[2:] * 3, hanging]))
    evidence = read_evidence([str(path)])

    ((_, reading),) = evidence.readings
    assert [(4, 4), (8, 8)] == [(one.span.line, one.span.last_line) for one in reading.records]
    assert reading.records[1].span.text == evidence.sources[0].lines[1]
    assert 2 == len(list(packets_of(evidence)))
    assert [
        "of 8 packets only ARP, ICMP errors and connections that may have failed are shown: 2"
    ] == [gap.why for gap in evidence.gaps]


def test_capture_without_packets_is_a_gap(tmp_path: Path) -> None:
    """An empty capture is said to be empty."""
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([]))

    assert ["expected packets, saw a capture of none"] == [
        gap.why for gap in read_evidence([str(path)]).gaps
    ]


def test_file_that_only_begins_as_a_capture(tmp_path: Path) -> None:
    """What begins as pcapng and is none is refused by name."""
    path = tmp_path / "eth0.pcapng"
    path.write_bytes(bytes.fromhex("0a0d0d0a") + bytes(40))

    with pytest.raises(EvidenceError, match="expected a capture"):
        read_evidence([str(path)])


def test_missing_numpy_is_said_with_the_command(tmp_path: Path) -> None:
    """Without NumPy a capture ends the command with what to install."""
    path = tmp_path / "eth0.pcap"
    path.write_bytes(frames.pcap([SYN]))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA, "diagnose", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "pip install 'podpath[capture]'" in done.stderr
    assert done.returncode == 2


def test_bundle_without_numpy_keeps_all_else(tmp_path: Path) -> None:
    """Where NumPy is missing, a bundle's captures are gaps and the rest of it is read."""
    bundle = tmp_path / "bundle"
    shutil.copytree(INCIDENTS / "br-netfilter-off" / "bundle", bundle)
    (bundle / "captures" / "cni0.txt").unlink()
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA, "diagnose", str(bundle), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert any("podpath[capture]" in gap["why"] for gap in json.loads(done.stdout)["gaps"])


def test_what_packets_say_of_others_is_quoted(tmp_path: Path) -> None:
    """The line of the packet that tells of it is the gap's, with its number; the kernel's own count
    of what it dropped is another kind of gap.
    """
    path = tmp_path / "part.pcap"
    made = talk()
    path.write_bytes(frames.pcap([*made[:6], *made[7:]]))
    (gap,) = read_evidence([str(path)]).gaps

    assert (GapKind.SELECTED, 8) == (gap.kind, gap.span.line)
    assert gap.why.startswith("packet 8 comes behind data")
    assert "10.0.0.1.4000 > 10.0.0.2.80" in gap.span.text


SELECTED = {
    "tcpdump": ["tcpdump", "-r", "whole.pcap", "-w", "part.pcap", "src host 10.0.0.1"],
    "tshark": ["tshark", "-r", "whole.pcap", "-w", "part.pcap", "-Y", "frame.number % 3 != 1"],
    "editcap": ["editcap", "-F", "pcap", "whole.pcap", "part.pcap", "8", "9"],
}
"""How three programs cut packets out of a capture."""


@pytest.mark.parametrize("program", SELECTED)
def test_part_that_a_program_cut_out_is_no_all_clear(program: str, tmp_path: Path) -> None:
    """The whole capture shows nothing wrong; a filter's selection of it does not say so."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    whole, part = _cut_out(program, tmp_path)

    assert [0, 3] == [podpath("capture", path).returncode for path in (whole, part)]


def _cut_out(program: str, folder: Path) -> tuple[Path, Path]:
    """Return a capture, and what a program makes of it."""
    whole, part = folder / "whole.pcap", folder / "part.pcap"
    whole.write_bytes(frames.pcap(talk()))
    part.touch()
    folder.chmod(0o777)  # tcpdump reads and writes as another user
    part.chmod(0o666)
    subprocess.run(SELECTED[program], cwd=folder, check=True, capture_output=True)
    return whole, part


@pytest.mark.skipif(shutil.which("tcpdump") is None, reason="tcpdump is not installed")
def test_text_of_one_direction_is_no_all_clear(tmp_path: Path) -> None:
    """tcpdump prints numbers relative to what this direction does not say."""
    text = ["tcpdump", "-nn", "-tttt", "-r"]
    codes = []
    for path in _cut_out("tcpdump", tmp_path):
        printed = path.with_suffix(".txt")
        printed.write_bytes(subprocess.run([*text, path], check=True, capture_output=True).stdout)
        codes.append(podpath("capture", printed).returncode)

    assert [0, 3] == codes
