"""Compare what podpath says of TCP with tshark and with Zeek, over captures of whoever runs it.

Every capture below a folder that has enough TCP is read by podpath and by tshark, which has to be
installed (scripts/install-test-needs), and what both say of each packet is counted. With `--zeek`,
the folder is Zeek's repository: the states in the logs that it keeps beside its tests
(`testing/btest/Baseline`) are held against podpath's of the same captures; Zeek is not needed.
"""

from __future__ import annotations

import argparse
import gzip
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.library.captures import captures
from podpath.net.errors import PodpathError
from podpath.net.protocols import ACK, RST, SYN, TCP
from podpath_capture.columns import PacketColumns
from podpath_capture.flows.flows import Flows, number_flows
from podpath_capture.flows.tcp import SegmentAnalysis, analyse_segments
from podpath_capture.reading.read import read_capture
from scripts.score_captures import JUDGED, PACKED, find_captures, is_capture

Mask = NDArray[np.bool_]
FIELDS = (
    "retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order",
    "duplicate_ack", "keep_alive", "keep_alive_ack", "reused_ports", "lost_segment", "zero_window",
)  # fmt: skip
OPTIONS = ("tcp.desegment_tcp_streams:FALSE", "ip.defragment:FALSE", "ipv6.defragment:FALSE")
ANOTHER, LATE, RESETS, AHEAD, ASKED = (
    "a SYN-ACK with another number, not a SYN",
    "data captured after its ACK",
    "a reset that carries bytes",
    "behind a reset whose number is ahead",
    "tshark says asked for again, by an ACK of data that were not captured",
)
"""Why the two differ, where it is known."""
LISTED = JUDGED / "tcp.txt"
"""The captures that docs/captures.md has figures of, by the beginning of their SHA-256."""
TEST = re.compile(r"zeek\b[^\n]*-r\s+\$\{?TRACES\}?/(\S+)")


class Kind(NamedTuple):
    """One thing that is said of packets."""

    name: str
    tshark: Mask
    mine: Mask
    reasons: tuple[tuple[str, Mask], ...] = ()
    """Why one alone marks packets, where that is known: of two reasons the first counts."""


def read_tshark(path: Path, count: int) -> dict[str, Mask]:
    """Ask tshark which packets have which field; `CalledProcessError` where it cannot read."""
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "occurrence=l"]
    for option in OPTIONS:
        command += ["-o", option]
    for field in ("frame.number", *(f"tcp.analysis.{name}" for name in FIELDS)):
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)  # noqa: PLW1510  # a damaged file ends with 2 and all that was read
    found = {name: np.zeros(count, np.bool_) for name in FIELDS}
    for line in done.stdout.splitlines():
        number, *values = line.split("\t")
        for name, value in zip(FIELDS, values, strict=True):
            found[name][int(number) - 1] |= bool(value)
    return found


def compare(
    columns: PacketColumns, flows: Flows, mine: SegmentAnalysis, theirs: dict[str, Mask]
) -> list[Kind]:
    """Put side by side what both say of every packet."""
    again = (
        theirs["retransmission"]
        | theirs["fast_retransmission"]
        | theirs["spurious_retransmission"]
        | theirs["out_of_order"]
    )
    mine_again = mine.retransmission | mine.out_of_order
    spurious, late = theirs["spurious_retransmission"], theirs["out_of_order"]
    new = LATE, spurious & ~mine_again
    resets = RESETS, columns.flags & RST != 0
    ahead = AHEAD, _are_behind_resets(columns, flows)
    asked = ASKED, mine.out_of_order & theirs["fast_retransmission"]
    answers = ANOTHER, columns.flags & (SYN | ACK) == SYN | ACK
    return [
        Kind("sent again or out of order", again, mine_again, (new, resets, ahead)),
        Kind("out of order", late, mine.out_of_order, (asked, ahead)),
        Kind("sent again though acknowledged", spurious, mine.spurious, (new,)),
        Kind("duplicate ACK", theirs["duplicate_ack"], mine.duplicate_ack),
        Kind("keep-alive", theirs["keep_alive"], mine.keep_alive),
        Kind("keep-alive ACK", theirs["keep_alive_ack"], mine.keep_alive_ack),
        Kind("ports used again", theirs["reused_ports"], mine.reused, (answers,)),
        Kind("gap before it", theirs["lost_segment"], mine.gap),
        Kind("window closed", theirs["zero_window"], mine.zero_window),
    ]


def _are_behind_resets(columns: PacketColumns, flows: Flows) -> Mask:
    """Tell which packets come after a reset of their direction with a higher number: tshark goes on
    from that one.
    """
    found = np.zeros(len(columns), np.bool_)
    for row in np.flatnonzero((columns.protocol == TCP) & (columns.flags & RST != 0)).tolist():
        same = (flows.number == flows.number[row]) & (flows.forward == flows.forward[row])
        same[: row + 1] = False
        found |= same & ((columns.seq[row] - columns.seq).view(np.int32) > 0)
    return found


def count_kinds(
    paths: Sequence[Path], least: int, most: int
) -> tuple[int, int, Counter[tuple[str, str]]]:
    """Compare captures until enough packets are: how many captures, packets, and what differs."""
    files = packets = 0
    counts: Counter[tuple[str, str]] = Counter()
    for path in paths:
        if packets >= most:
            break
        try:
            data = path.read_bytes()
            unpacked = gzip.decompress(data) if data.startswith(PACKED[0]) else data
            columns = read_capture(unpacked).packets.columns
        except (ValueError, OSError, EOFError):
            continue
        tcp = int((columns.protocol == TCP).sum())
        if tcp < least:
            continue
        flows = number_flows(columns)
        mine = analyse_segments(columns, flows)
        files, packets = files + 1, packets + tcp
        for kind in compare(columns, flows, mine, read_tshark(path, len(columns))):
            _count_kind(kind, counts)
    return files, packets, counts


def _count_kind(kind: Kind, counts: Counter[tuple[str, str]]) -> None:
    alone = kind.tshark & ~kind.mine, kind.mine & ~kind.tshark
    counts[kind.name, "both"] += int((kind.tshark & kind.mine).sum())
    for who, mask in zip(("tshark", "mine"), alone, strict=True):
        counts[kind.name, who] += int(mask.sum())
    left = alone[0] | alone[1]
    for why, known in kind.reasons:
        counts[kind.name, why] += int((left & known).sum())
        left &= ~known


def render_kinds(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Render a row for each thing that is said."""
    yield "| packet marked as | both | tshark only | podpath only | same | why only one marks it |"
    yield "|---|--:|--:|--:|--:|---|"
    for name in dict.fromkeys(name for name, _ in counts):
        both, theirs, mine = (counts[name, who] for who in ("both", "tshark", "mine"))
        reasons = [
            f"{number:,}: {why}"
            for (kind, why), number in counts.items()
            if kind == name and number and why not in {"both", "tshark", "mine"}
        ]
        share = both / max(1, both + theirs + mine)
        yield f"| {name} | {both:,} | {theirs:,} | {mine:,} | {share:.1%} | {'; '.join(reasons)} |"


def list_zeek(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield for each connection of TCP in Zeek's own logs the capture, its ends, and its state;
    only of tests that read one capture.
    """
    btest = folder / "testing" / "btest"
    for log in sorted((btest / "Baseline").glob("*/conn.log")):
        name = log.parent.name
        found: set[str] = set()
        for suffix in (".zeek", ".test"):
            test = btest / (name.replace(".", "/") + suffix)
            if test.is_file():
                found |= set(TEST.findall(test.read_text(encoding="utf-8", errors="replace")))
        trace = btest / "Traces" / next(iter(found)) if len(found) == 1 else None
        if trace is None or not trace.is_file() or not is_capture(trace):
            continue
        fields: list[str] = []
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("#fields\t"):
                fields = line.split("\t")[1:]
            elif fields and not line.startswith("#"):
                row = dict(zip(fields, line.split("\t"), strict=False))
                if row.get("proto") == "tcp" and {"id.orig_h", "conn_state"} <= row.keys():
                    ends = sorted(
                        (
                            f"{row['id.orig_h']} {row['id.orig_p']}",
                            f"{row['id.resp_h']} {row['id.resp_p']}",
                        )
                    )
                    yield trace, " ".join(ends), row["conn_state"]


def count_states(folder: Path) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Count Zeek's states beside podpath's, and name what differs."""
    found: Counter[tuple[str, str]] = Counter()
    differing: list[str] = []
    known: dict[Path, dict[str, str]] = {}
    seen: set[tuple[Path, str, str]] = set()
    for trace, ends, state in list_zeek(folder):
        if (trace, ends, state) in seen:
            continue
        seen.add((trace, ends, state))
        if trace not in known:
            known[trace] = _states(trace)
        mine = known[trace].get(ends, "none")
        found[state, mine] += 1
        if mine != state:
            differing.append(f"{trace.name}: {ends}: Zeek {state}, podpath {mine}")
    return found, differing


def _states(trace: Path) -> dict[str, str]:
    """Return podpath's states of a capture, by the ends of its connections."""
    try:
        measured = captures(str(trace)).with_measures().measured
    except PodpathError:
        return {}
    states: dict[str, str] = {}
    for one in measured:
        protocol, near, _, far = one.connection.split(" ")
        if protocol == "tcp":
            ends = sorted(
                " ".join(end.rsplit(":", 1)).replace("[", "").replace("]", "")
                for end in (near, far)
            )
            states.setdefault(" ".join(ends), one.state)
    return states


def main() -> int:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(prog="scripts/score-tcp", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder that the captures lie in")
    parser.add_argument("--zeek", action="store_true", help="compare with Zeek's logs instead")
    parser.add_argument(
        "--listed", action="store_true", help="only those that docs/captures.md has figures of"
    )
    parser.add_argument("--least", type=int, default=500, help="TCP packets a capture must have")
    parser.add_argument("--most", type=int, default=300_000, help="TCP packets after which to stop")
    options = parser.parse_args()
    if options.zeek:
        found, differing = count_states(options.folder)
        same = sum(number for (theirs, mine), number in found.items() if theirs == mine)
        print(
            f"{same} of {sum(found.values())} connections have Zeek's state", *differing, sep="\n"
        )
        return 0
    paths = sorted(
        path for path in options.folder.rglob("*") if path.is_file() and is_capture(path)
    )
    if options.listed:
        listed = frozenset(LISTED.read_text(encoding="ascii").split())
        paths = [path for _, path in find_captures(options.folder, listed)]
    least, most = (0, sys.maxsize) if options.listed else (options.least, options.most)
    files, packets, counts = count_kinds(paths, least, most)
    print(f"{files} captures, {packets:,} packets of TCP", *render_kinds(counts), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
