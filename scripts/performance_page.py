"""Write docs/quality/performance.md from a run of the benchmarks; `make performance` runs both."""

from __future__ import annotations

import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "quality" / "performance.md"
HEAD = """\
# Performance

For users: a ticket is diagnosed in about a second, a million captured packets in less than two.
Every figure below is measured again by one command; ratios compare with programs that run in the same minute.
A goal that is missed is marked.

Measured by `make bench`: each program of `bench/` runs by itself, and what is compared runs side by side in the same run. Figures
are CPU time: nothing in podpath waits, so on an idle machine they are the wall time too. A value that does not keep its bound is
marked **over**, and `make bench` ends with 1.

"""
TAIL = """
What is behind the figures:

- `podpath --help` imports no reader and no check; a command's code is imported when the command is called. More than half of a
  diagnosis of a ticket is the start: the interpreter, imports, and the readers' regular expressions.
- Reading a ruleset keeps one small tuple for a rule and its line; options are parsed when a walk first meets the rule. So a node
  with 150,000 rules costs what its text costs.
- Long chains are indexed by destination and port, and give the same rules in the same order as a search from the top: a test
  compares both. A conversation is the handshake and data both ways, through every endpoint that the kernel may draw: three of
  them here, so one conversation is fifteen packets.
- The analysis of a million packets of TCP takes 66 ms to number flows, by a hash table of arrays that keeps the names of
  flows and not of packets, 95 ms to judge segments, 32,768 packets of neighbouring flows at a time, and 15 ms to follow
  handshakes; it holds 27 MB. Connections of four points are matched by their handshakes, and packets only where there is
  none. What was lost is looked for where sums over what two points show differ: that costs 250 ms for a million packets, and
  0.8 ms for each direction that differs (350 of them here), most of it NumPy's calls for a dozen packets each.
- Captures are read with NumPy alone: headers of 8,192 packets at once, in groups that are so wide that hardly a packet is picked
  out by itself; flows are numbered without sorting; TCP is analyzed some flows at a time, so that what is worked on stays in the
  processor's cache. What is left is memory: each packet's first bytes are fetched once, and a hundred bytes of columns written.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(HEAD + sys.stdin.read().strip() + "\n" + TAIL, encoding="utf-8")


if __name__ == "__main__":
    main()
