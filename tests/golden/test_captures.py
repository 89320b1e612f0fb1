"""Golden captures: printed packets alone, without rules, routes or a word of prose, under the names
of the report and others.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import podpath
from tests.golden.renaming import Renaming, make_renaming

TICKETS = Path(__file__).parent.parent / "data" / "tickets"
REPORTS = Path(__file__).resolve().parents[2].parent / "shared" / "seeds"
FENCED = re.compile(r"^```\w*\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
PACKET = re.compile(r"^ ?\d\d:\d\d:\d\d\.\w+ ", re.MULTILINE)
AS_REPORTED = Renaming(xor=0, mac_xor=0, words=())
FAULTS = {
    "kube-forward-before-cilium": (
        {"lost-ack", "lost-between"},
        ("lost beyond eth0", "ACK"),
        ("881408001", "Flags [.]"),
    ),
    "bridge-reply-not-translated": (
        {"untranslated-reply"},
        ("not translated back",),
        ("Flags [S.]", "Flags [R]"),
    ),
    "stale-route-on-bond-slave": ({"foreign-arp"}, ("bound", "MAC"), ("who-has 169.254.169.254",)),
}
"""What each ticket's captures must show: checks, words of what is said, and of the lines that are
quoted.
"""


def captures(ticket: str) -> list[str]:
    """Return the blocks of a ticket that show packets."""
    text = (TICKETS / ticket / "console.md").read_text(encoding="utf-8")
    return [found["body"] for found in FENCED.finditer(text) if PACKET.search(found["body"])]


def run(command: str, *paths: Path) -> tuple[int, dict[str, Any]]:
    """Ask what a command asks; its exit code and its document."""
    answer = podpath.captures(paths) if command == "capture" else podpath.diagnose(paths)
    return answer.exit_code, answer.data()


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("prompts", [True, False], ids=["with prompts", "packets alone"])
@pytest.mark.parametrize("ticket", FAULTS)
def test_fault_is_found_from_the_packets_alone(
    ticket: str, seed: int | None, tmp_path: Path, *, prompts: bool
) -> None:
    """Both `capture` and `diagnose` find it, whatever addresses, MACs and devices are called, and
    quote the packets.
    """
    checks, words, quoted = FAULTS[ticket]
    expected = json.loads((TICKETS / ticket / "expected.json").read_text(encoding="utf-8"))
    renaming = AS_REPORTED if seed is None else make_renaming(seed, tuple(expected["words"]))
    paths = []
    for number, block in enumerate(captures(ticket)):
        path = tmp_path / f"{number}.txt"
        lines = [line for line in block.splitlines() if prompts or "tcpdump" not in line]
        path.write_text(renaming.text("\n".join(lines)) + "\n", encoding="utf-8")
        paths.append(path)
    for command in ("capture", "diagnose"):
        code, answer = run(command, *paths)
        faults = [
            finding for finding in answer["findings"] if finding["severity"] in {"cause", "fault"}
        ]

        assert code == 1, command
        assert checks & {finding["check"] for finding in faults}, command
        said = " ".join(
            text for finding in faults for text in (finding["claim"], *finding["reasoning"])
        )
        shown = " ".join(quote["text"] for finding in faults for quote in finding["evidence"])
        assert all(renaming.text(piece) in said for piece in words if prompts), said
        assert all(renaming.text(piece) in shown for piece in quoted), shown


@pytest.mark.parametrize(
    ("report", "check"),
    [
        ("000", "foreign-arp"),
        ("000", "wrong-mac"),
        ("001", "lost-ack"),
        ("003", "untranslated-reply"),
    ],
)
def test_fault_is_found_in_the_report_itself(report: str, check: str, tmp_path: Path) -> None:
    """The report's own text leads to it; of the first one each of its two captures shows the wrong
    MAC in its own way.
    """
    found = sorted(REPORTS.glob(f"{report}_*.txt"))
    if not found:
        pytest.skip(f"needs report {report}, which stands outside of the repository")
    blocks = [
        each["body"]
        for each in FENCED.finditer(found[0].read_text(encoding="utf-8"))
        if PACKET.search(each["body"])
    ]
    if (
        report == "000"
    ):  # with its MACs, and with words for them and the ARP frame that taught the wrong one
        path = tmp_path / "capture.txt"
        path.write_text(blocks[0] if check == "wrong-mac" else blocks[1], encoding="utf-8")
    else:
        path = found[0]
    code, answer = run("capture", path)

    assert code == 1
    assert check in [finding["check"] for finding in answer["findings"]]


def test_packets_that_somebody_left_out_forbid_the_all_clear(tmp_path: Path) -> None:
    """Dots between packets stand for others, which may hold what failed."""
    lines = [
        "10:00:00.1 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [S], seq 1, win 100, length 0",
        "10:00:00.2 IP 10.0.0.2.80 > 10.0.0.1.4000: Flags [S.], seq 9, ack 2, win 100, length 0",
        "10:00:00.3 IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [.], ack 1, win 100, length 0",
    ]
    path = tmp_path / "capture.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert run("capture", path)[0] == 0

    path.write_text("\n".join([*lines[:2], "...", lines[2]]), encoding="utf-8")
    code, answer = run("capture", path)
    assert code == 3
    assert [gap["why"] for gap in answer["gaps"]] == ["packets were left out here"]
