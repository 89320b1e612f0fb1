"""Frames of captures: placed, told apart, and with the MACs that words stand for."""

from __future__ import annotations

from tests.assembly.evidence_text import Output, case_of

SYN = "IP 10.9.1.4.40100 > 203.0.113.9.443: Flags [S], seq 100, win 64240, length 0"


def test_one_capture_for_each_source() -> None:
    """Two outputs are two captures, each in its namespace and on the device of its command."""
    case = case_of(
        Output("tcpdump -ni cni0", f"10:00:00.1 {SYN}"),
        Output("tcpdump -ni any", f"10:00:01.1 eth0  Out {SYN}", netns="web-0"),
    )
    assert [(item.capture, item.netns, item.link, item.direction) for item in case.sightings] == [
        (0, "host", "cni0", None), (1, "web-0", "eth0", "out"),
    ]  # fmt: skip


def test_device_of_a_written_capture() -> None:
    """A capture that is read from a file was taken on the device that it was written on, or that
    names the file.
    """
    case = case_of(
        Output("tcpdump -i net4 -w first.pcap", ""),
        Output("tcpdump -n -r first.pcap", f"10:00:00.1 {SYN}"),
        Output("tcpdump -n -r bond0.pcap", f"10:00:01.1 {SYN}"),
        Output("tcpdump -n -r trace.pcap", f"10:00:02.1 {SYN}"),
    )
    assert [item.link for item in case.sightings] == ["net4", "bond0", None]


TWICE = """
10:00:00.1 02:aa:00:00:00:07 > 02:bb:00:00:00:01, ethertype IPv4 (0x0800), 10.6.1.96 > 10.6.1.94
10:00:00.2 02:bb:00:00:00:01 > 02:aa:00:00:00:07, ethertype IPv4 (0x0800), 10.6.1.94 > 10.6.1.96
"""
IN_WORDS = """
10:00:00.1 HOST_MAC > PEER_MAC, ethertype IPv4 (0x0800), 10.6.1.96 > 10.6.1.94
10:00:00.3 PEER_MAC > HOST_MAC, ethertype IPv4 (0x0800), 10.6.1.94 > 10.6.1.96
10:00:00.4 THIRD_MAC > Broadcast, ethertype ARP (0x0806), Request who-has 10.6.1.7 tell 10.6.1.96
10:00:00.5 PEER_MAC > THIRD_MAC, ethertype ARP (0x0806), Reply 10.6.1.7 is-at PEER_MAC
"""


def test_capture_that_is_printed_twice() -> None:
    """Frames that stand in two printings of one file are kept once, and tell what words in place of
    MACs stand for.
    """
    case = case_of(
        Output("tcpdump -n -e -r eth0.pcap", TWICE), Output("tcpdump -n -e -r eth0.pcap", IN_WORDS)
    )
    assert [(item.packet.smac, item.packet.dmac) for item in case.sightings] == [
        ("02:aa:00:00:00:07", "02:bb:00:00:00:01"), ("02:bb:00:00:00:01", "02:aa:00:00:00:07"),
        ("02:bb:00:00:00:01", "02:aa:00:00:00:07"),
    ]  # fmt: skip
    assert {item.capture for item in case.sightings} == {0}
    request, reply = case.arps
    assert (request.smac, request.dmac) == ("THIRD_MAC", "ff:ff:ff:ff:ff:ff")
    assert (str(reply.target), reply.sender_mac) == ("10.6.1.96", "02:bb:00:00:00:01")


def test_word_that_names_a_device() -> None:
    """A word with a device's name in it stands for that device's MAC."""
    listing = (
        "4: mgmt: <BROADCAST,UP,LOWER_UP> mtu 1500\n"
        "    link/ether 02:aa:00:00:00:07 brd ff:ff:ff:ff:ff:ff"
    )
    frame = "10:00:00.1 MGMT_MAC > PEER_MAC, ethertype IPv4 (0x0800), 10.6.1.96 > 10.6.1.94"
    case = case_of(Output("ip link show mgmt", listing), Output("tcpdump -n -e -i eth1", frame))
    assert case.sightings[0].packet.smac == "02:aa:00:00:00:07"
    assert case.sightings[0].packet.dmac == "PEER_MAC"


def test_frames_without_a_time_are_all_kept() -> None:
    """Equal lines without a time are as many frames."""
    case = case_of(Output("tcpdump -tni eth0", f"{SYN}\n{SYN}"))
    assert len(case.sightings) == 2
