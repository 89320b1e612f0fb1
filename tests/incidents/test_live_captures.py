"""Incidents in captures recorded just now: found in the packets and in their text, and nothing
while nothing is wrong.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.incidents.live_captures import RECORDINGS, Shown

pytestmark = pytest.mark.kernel(
    "ip", "iptables-nft-restore", "conntrack", "nft", "sysctl", "tcpdump", "nsenter", "ping"
)
NAMES = [recording.incident for recording in RECORDINGS]
EXPECTED = {
    "kube-proxy-before-cilium": "lost-ack",
    "br-netfilter-off": "untranslated-reply",
    "host-disconnect": "foreign-arp",
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> dict[str, Shown]:
    """Record them all once."""
    program = [
        sys.executable,
        "-m",
        "tests.incidents.live_captures",
        str(tmp_path_factory.mktemp("captures")),
    ]
    done = subprocess.run(
        program, cwd=repository, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Shown] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_fault_is_found_in_packets_and_in_text(shown: dict[str, Shown], name: str) -> None:
    """Every capture of the broken time shows the fault, whether it is read from packets or from
    what tcpdump prints of them.
    """
    for file, checks in shown[name]["bad"].items():
        assert EXPECTED[name] in checks, file


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_while_nothing_is_wrong(shown: dict[str, Shown], name: str) -> None:
    """No capture of the time before it broke shows a fault."""
    assert {file: [] for file in shown[name]["good"]} == shown[name]["good"]


def test_loss_is_placed_between_the_devices_that_enclose_the_rule(shown: dict[str, Shown]) -> None:
    """What the dropping rule takes is lost between the device that it came in by and the one that
    it should have left by.
    """
    said = shown["kube-proxy-before-cilium"]["said"]

    assert any(
        re.search(
            (
                r"ACK.* (?:is|are) lost between host-any\.pcap ifindex \d+ in and host-any\.pcap "
                r"ifindex \d+ out"
            ),
            text,
        )
        for text in said
    )


def test_interval_in_which_one_direction_was_lost_has_its_start_and_end(
    shown: dict[str, Shown],
) -> None:
    """Frames to the wrong MAC are lost from the ARP frame that taught it to the one that taught the
    right one.
    """
    said = shown["host-disconnect"]["said"]

    assert any(
        re.search(r"from \d\d:\d\d:\d\d\.\d+ to \d\d:\d\d:\d\d\.\d+ \(\d+\.\d s\)", text)
        for text in said
    )
