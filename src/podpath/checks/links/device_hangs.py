"""device-hangs: the kernel reports that a network card's transmit queue hangs.

What it is
    `Detected Hardware Unit Hang`, `NETDEV WATCHDOG ... transmit queue timed out` or `TX timeout`: the card took
    packets and never reported them as sent.

Why it breaks
    The driver resets the card, over and over: the host loses its network for seconds or altogether. Known with e1000e
    and segmentation offload, r8169, some virtual cards, power saving (ASPM) and old firmware.

How to confirm
    dmesg -T | grep -iE 'hang|watchdog|timed out|reset adapter'; ethtool -i DEV; ethtool -k DEV; ethtool -S DEV

How to fix
    ethtool -K DEV tso off gso off gro off; update driver and firmware; boot with pcie_aspm=off Keep the setting in
    the device's configuration (post-up, a .link file, NetworkManager's ethtool.*).

References
    drivers/net/ethernet/intel/e1000e/netdev.c, e1000_print_hw_hang; net/sched/sch_generic.c, dev_watchdog
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.NIC_DRIVER,)
NAME = "device-hangs"
KINDS = (
    MessageKind.DEVICE_RESET,
    MessageKind.TRANSMIT_TIMEOUT,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    device = get_value(said, "device", default="DEV")
    driver = get_value(said, "driver")
    driver = f" ({driver})" if driver else ""
    meaning = Meaning(
        claim=f"The network card {device} hangs: its driver{driver} reports that packets are not sent and resets it.",
        breaks="everything that goes through the card, for the time of each hang",
        cure="switch segmentation offload off, and update driver and firmware",
        commands=(f"ethtool -K {device} tso off gso off gro off",),
    )
    yield tell(NAME, said, meaning)
