"""MACs are compared within one link alone: each device of a capture is a link of its own."""

from __future__ import annotations

from tests.checks.made_captures import case_of, case_of_captures, clock, faults

PODS = ("02:00:00:00:00:01", "02:00:00:00:00:02")
GATEWAY = "10.22.0.1"


def any_arp(after: float, device: str, mac: str, text: str) -> str:
    """Write a line of ARP as `tcpdump -e -i any` prints it."""
    place = f"{device:<5} In " if device else " In"
    head = f"{clock(after)} {place} ifindex 3 {mac} ethertype ARP (0x0806), length 48"
    if not device:
        head = f"{clock(after)}  In {mac} ethertype ARP (0x0806), length 62"
    return f"{head}: {text}, length 28"


def of_pods(*devices: str) -> tuple[str, ...]:
    """Write the answers that pods of the ptp plugin get from their gateway, which has one address
    and the MAC of each pod's device.
    """
    return tuple(
        any_arp(turn + place / 100, device, mac, f"Reply {GATEWAY} is-at {mac}")
        for turn in range(3)
        for place, (device, mac) in enumerate(zip(devices, PODS, strict=True))
    )


def test_gateway_of_ptp_pods_is_no_duplicate() -> None:
    """One address answers with a MAC for each pod, at that pod's device."""
    apart = case_of(*of_pods("veth1", "veth2"), command="tcpdump -enni any")
    together = case_of(*of_pods("veth1", "veth1"), command="tcpdump -enni any")

    assert faults(apart) == []
    assert ["duplicate-address", "mac-flap"] == sorted(faults(together))


def test_capture_that_does_not_name_its_devices_tells_nothing_of_macs() -> None:
    """The older cooked captures are of all devices and do not say which."""
    assert faults(case_of(*of_pods("", ""), command="tcpdump -enni any")) == []


def test_files_of_two_devices_are_two_links() -> None:
    """A capture of each pod's device shows the gateway with that device's MAC."""
    lines = of_pods("veth1", "veth2")
    captures = {
        "tcpdump -enn -i veth1 -w veth1.pcap": lines[0::2],
        "tcpdump -enn -i veth2 -w veth2.pcap": lines[1::2],
    }

    assert faults(case_of_captures(captures)) == []


def test_macs_that_are_seen_once_are_no_flap() -> None:
    """Damaged frames have a MAC each; a flap goes back and forth between two."""
    macs = ("02:00:00:00:00:01", "02:00:00:00:00:11", "02:00:00:00:00:01", "02:00:00:00:00:21")
    damaged = tuple(
        any_arp(after * 5.0, "veth1", mac, f"Reply {GATEWAY} is-at {mac}")
        for after, mac in enumerate((*macs, macs[0], "02:00:00:00:00:31"))
    )

    assert "mac-flap" not in faults(case_of(*damaged, command="tcpdump -enni any"))


def spoken(after: float, mac: str, port: int) -> str:
    """Write a line of UDP that the gateway's address sends from a port."""
    head = f"{clock(after)} {mac} > 02:00:00:00:00:77, ethertype IPv4 (0x0800), length 74"
    return f"{head}: {GATEWAY}.{port} > 10.22.0.9.4000: UDP, length 32"


def announced(after: float, mac: str) -> str:
    """Write a line of the gateway's answer to ARP."""
    head = f"{clock(after)} {mac} > 02:00:00:00:00:77, ethertype ARP (0x0806), length 42"
    return f"{head}: Reply {GATEWAY} is-at {mac}, length 28"


def test_device_with_a_mac_for_each_of_its_services_does_not_flap() -> None:
    """It answers ARP and one port with its first MAC, another port always with its second."""
    own, second = PODS
    services = [announced(0.0, own)]
    for turn in range(1, 6):
        services += [spoken(turn, own, 5246), spoken(turn + 0.5, second, 5247)]
    changing = [announced(0.0, own)]
    for turn in range(1, 6):
        changing += [spoken(turn, own, 5246), spoken(turn + 0.5, second, 5246)]
    silent = [announced(0.0, own)]
    for turn in range(1, 6):
        silent += [announced(turn, own), spoken(turn + 0.5, second, 5247)]

    command = "tcpdump -enn -i eth0"
    assert faults(case_of(*services, command=command)) == []
    assert faults(case_of(*changing, command=command)) == ["mac-flap"]
    assert faults(case_of(*silent, command=command)) == ["mac-flap"]


def test_many_macs_that_are_seen_once_are_damage() -> None:
    """Among so many damaged frames, two have the same damage sooner or later."""
    own, second = PODS
    pair = [announced(turn / 2, (own, second)[turn % 2]) for turn in range(6)]
    damaged = [spoken(10.0 + turn, f"02:00:00:00:01:{turn:02x}", 5246) for turn in range(9)]

    assert "mac-flap" in faults(case_of(*pair, command="tcpdump -enn -i eth0"))
    assert "mac-flap" not in faults(case_of(*pair, *damaged, command="tcpdump -enn -i eth0"))
