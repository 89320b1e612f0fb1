"""What drivers of network cards say when hardware, firmware, queues or offloads fail (drivers/net
v6.12), and the stack.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_DEVICE = r"[A-Za-z][\w.@-]{1,15}"
_PLACE = (
    r"(?:[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d|[0-9a-f]{2}:[0-9a-f]{2}\.\d|virtio\d+|vif-\d+|"
    r"[\d.-]+:[\d.]+|[0-9a-f-]{36}|[0-9a-f.]+\.\w+):? "
)
_NAMED = (
    rf"\[?\b(?!mlx|kernel\b|[Ee]rror\b|[Ww]arning\b|ERROR\b|WARNING\b){_DEVICE}\]?"
    r"(?: \(\w+ ?\w*\))?: "
)
_BUS = (
    rf"(?=\b[a-z][\w-]+ {_PLACE}|{_NAMED})(?:\b(?P<driver>[a-z][\w-]+) {_PLACE})?"
    rf"(?:(?={_NAMED})\[?(?P<device>{_DEVICE})\]?(?: \(\w+ ?\w*\))?: )?"
)
"""How a driver's line begins: its name with the place on the bus, and the device, once there is
one; one of them stands there.
"""
_MAYBE = rf"(?:^[^\n]*?{_BUS})?"
"""The same where the rest of the line says enough."""
_RESET = MessageKind.DEVICE_RESET
_FIRMWARE = MessageKind.FIRMWARE_FAILED
_OFFLOAD = MessageKind.OFFLOAD_FAULT

ROWS: tuple[MessagePattern, ...] = (
    # The watchdog in its newer form
    make_row(
        MessageKind.TRANSMIT_TIMEOUT,
        "NETDEV WATCHDOG: CPU",
        rf"(?:(?:(?P<driver>[a-z][\w-]+) \S+ )?(?P<device>{_DEVICE})(?: \((?P<named>[\w-]+)\))?: "
        rf")?NETDEV WATCHDOG: CPU: \d+: transmit queue \d+ timed out",
    ),
    make_row(
        MessageKind.TRANSMIT_TIMEOUT,
        "ransmit queue",
        rf"(?P<device>{_DEVICE})(?: \((?P<driver>[\w-]+)\))?: [Tt]ransmit queue \d+ timed out",
    ),
    # A queue or the whole device hangs, and is reset
    make_row(_RESET, "TX timeout", rf"{_BUS}[^\n]*?TX timeout"),
    make_row(_RESET, "Tx timeout", rf"{_BUS}[^\n]*?Tx timeout(?! (?:=|\(uAPSD))"),
    make_row(_RESET, "tx_timeout", rf"{_BUS}[^\n]*?tx_timeout(?: recovery|:| while|\.)"),
    make_row(_RESET, "tx timeout", rf"{_BUS}[^\n]*?(?:due to )?tx timeout"),
    make_row(
        _RESET, "tx hang ", rf"{_BUS}[^\n]*?tx hang \d+ detected on queue \d+, resetting adapter"
    ),
    make_row(_RESET, "Unit Hang", rf"{_MAYBE}[^\n]*?Detected (?:Hardware|Tx) Unit Hang"),
    make_row(_RESET, "TX driver issue detected", rf"{_MAYBE}TX driver issue detected"),
    make_row(
        _RESET,
        "Malicious Driver Detection event",
        rf"{_MAYBE}(?:\d+ \w+ )?Malicious Driver Detection events? ",
    ),
    make_row(
        _RESET,
        "lost tx completions",
        rf"{_MAYBE}[^\n]*?number of lost tx completions is above the threshold",
    ),
    make_row(
        _RESET,
        "Tx that wasn't completed on time",
        rf"{_MAYBE}[^\n]*?Found a Tx that wasn't completed on time",
    ),
    make_row(_RESET, "Keep alive watchdog timeout", rf"{_MAYBE}[^\n]*?Keep alive watchdog timeout"),
    make_row(_RESET, "eset adapter", rf"{_BUS}(?:[^\n]*? )?[Rr]eset adapter(?: unexpectedly)?"),
    make_row(_RESET, "PCIe link lost", rf"{_MAYBE}[^\n]*?PCIe link lost"),
    make_row(_RESET, "DMA Status error.", rf"{_MAYBE}[^\n]*?DMA Status error\. +Resetting chip"),
    make_row(_RESET, "rtl_", rf"{_MAYBE}[^\n]*?rtl_\w+_cond == \d+ \(loop: \d+, delay: \d+\)"),
    make_row(_RESET, "Stop submitting intr", rf"{_MAYBE}[^\n]*?Stop submitting intr, status -\d+"),
    make_row(
        _RESET, "may have been dropped", rf"(?P<device>{_DEVICE}): kevent \d+ may have been dropped"
    ),
    make_row(
        _RESET,
        "ailed to read reg",
        rf"(?:(?P<driver>smsc\w+|lan78xx|asix|usbnet)\b[^\n]*?)(?P<device>{_DEVICE}): Failed to "
        rf"(?:read|write) reg(?:ister)? index",
    ),
    make_row(
        _RESET,
        "is active on fifo",
        r"(?P<driver>iwlwifi)[^\n]*?Queue \d+ is active on fifo \d+ and stuck",
    ),
    make_row(_RESET, "Guest Rx stalled", r"(?P<device>vif[\w.]+): Guest Rx stalled"),
    make_row(_RESET, "PHY Reset", rf"{_MAYBE}[^\n]*?timeout waiting for PHY Reset"),
    make_row(_RESET, "uncorrectable", rf"{_BUS}[^\n]*?uncorrectable (?:ECC )?(?:data )?error"),
    make_row(_RESET, "parity error", rf"{_BUS}[^\n]*?parity error"),
    make_row(
        _RESET,
        "heated",
        (
            rf"{_MAYBE}[^\n]*?[Nn]etwork adapter (?:has been|was) stopped because it "
            r"(?:has )?over ?heated"
        ),
    ),
    make_row(
        _RESET,
        "Cable error",
        rf"{_MAYBE}[^\n]*?Port module event\[error\]: module \d+, Cable error",
    ),
    # Firmware
    make_row(
        MessageKind.FIRMWARE_MISSING,
        "Direct firmware load for ",
        rf"{_MAYBE}[^\n]*?Direct firmware load for (?P<file>(?:rtl_nic|tigon|bnx2\w*|qed|cxgb\w*|"
        r"e100|netronome|mellanox|iwlwifi|ath\w*|brcm|mrvl|intel/ice|cavium|liquidio|qlogic|"
        rf"mediatek|rtw\w*)\S*) failed with error (?P<error>-\d+)",
    ),
    make_row(
        MessageKind.FIRMWARE_MISSING,
        "ailed to load firmware",
        rf"{_BUS}[^\n]*?[Ff]ailed to load firmware",
    ),
    make_row(_FIRMWARE, "firmware hang", rf"{_MAYBE}[^\n]*?[Ff]irmware hang detected"),
    make_row(_FIRMWARE, "Firmware hang detected", rf"{_MAYBE}[^\n]*?Firmware hang detected"),
    make_row(
        _FIRMWARE,
        "irmware ",
        rf"{_BUS}[^\n]*?[Ff]irmware (?:has halted or crashed|crashed|assert\b|error detected|"
        rf"is not responding|not responding|init(?:ialization)? failed|recovery mode)",
    ),
    make_row(_FIRMWARE, "MC assert!", r"(?P<driver>bnx2x)?[^\n]*MC assert!"),
    make_row(
        _FIRMWARE,
        "health compromised",
        rf"{_MAYBE}[^\n]*?device's health compromised - reached miss count",
    ),
    make_row(
        _FIRMWARE,
        "Will cause a leak of a command resource",
        (
            rf"{_MAYBE}[^\n]*?(?P<command>\w+\(0x\w+\)|\w+) timeout\. Will cause a leak of a "
            r"command resource"
        ),
    ),
    make_row(
        _FIRMWARE,
        "Fatal error",
        r"(?P<driver>mlx5_core)[^\n]*?poll_health:\d+:\(pid \d+\): Fatal error",
    ),
    make_row(
        _FIRMWARE, "Internal error detected", r"(?P<driver>mlx4_core)[^\n]*?Internal error detected"
    ),
    make_row(
        _FIRMWARE,
        "Microcode SW error detected",
        r"(?P<driver>iwlwifi)[^\n]*?Microcode SW error detected",
    ),
    make_row(
        _FIRMWARE,
        "hwrm ",
        (
            r"(?P<driver>bnxt_en)[^\n]*?(?:hwrm req_type 0x\w+ seq id 0x\w+ error|"
            r"hwrm_\w+ [^\n]*timeout)"
        ),
    ),
    make_row(_FIRMWARE, "msg {0x", r"(?P<driver>bnxt_en)[^\n]*?Error \(timeout: \d+\) msg"),
    # Offloads and the stack's doubts of a driver
    make_row(
        _OFFLOAD,
        "cannot be forwarded while LRO is enabled",
        (
            rf"(?P<device>{_DEVICE}): (?P<what>received packets cannot be forwarded while LRO is "
            r"enabled)"
        ),
    ),
    make_row(
        MessageKind.OFFLOAD_DOUBT,
        "suspect GRO implementation",
        rf"(?P<device>{_DEVICE}): (?P<what>Driver has suspect GRO implementation)",
    ),
    make_row(
        _OFFLOAD,
        "bad gso:",
        rf"(?:(?P<device>{_DEVICE}): )?(?P<what>bad gso: type: \d+, size: \d+)",
    ),
    make_row(_OFFLOAD, "rides the rocket", r"(?P<what>skb rides the rocket: \d+ (?:slots|frags))"),
    make_row(MessageKind.OFFLOAD_DOUBT, "skb_warn_bad_offload", r"(?P<what>skb_warn_bad_offload)"),
    make_row(
        MessageKind.OFFLOAD_DOUBT,
        "caps=(",
        rf"(?P<device>{_DEVICE}): (?P<what>caps=\(0x\w+, 0x\w+\))",
    ),
    make_row(_OFFLOAD, "bad partial csum", r"(?P<what>bad partial csum: csum=\d+/\d+)"),
    make_row(
        MessageKind.CHECKSUM_FAILED, "bad udp checksum", r"\d+ bad udp checksums? in \d+ packets"
    ),
    make_row(
        MessageKind.CHECKSUM_FAILED, "bad UDP checksum", r"\d+ bad UDP checksums? in \d+ packets"
    ),
    make_row(
        MessageKind.CHECKSUM_FAILED,
        "bad IP checksums seen",
        r"\d+ bad IP checksums seen in \d+ packets",
    ),
    # A MAC that is not the card's
    make_row(
        MessageKind.MAC_REFUSED,
        "Spoofed packets detected",
        rf"{_MAYBE}[^\n]*?(?P<count>[1-9]\d*) Spoofed packets detected",
    ),
    make_row(
        MessageKind.MAC_REFUSED,
        "administratively set MAC",
        (
            rf"{_MAYBE}[^\n]*?VF (?P<function>\d+) (?:attempted|attempting|tried|attempts) to "
            r"override administratively set MAC"
        ),
    ),
    make_row(
        MessageKind.MAC_REFUSED,
        "VF is trusted",
        r"[^\n]*VF (?P<function>\d+)[^\n]*(?:not trusted|unless VF is trusted)",
    ),
    # Loops of tunnels
    make_row(
        MessageKind.TRANSMIT_LOOP,
        "Dead loop on virtual device",
        rf"Dead loop on virtual device (?P<device>{_DEVICE})",
    ),
    make_row(
        MessageKind.TRANSMIT_LOOP,
        "outing loop",
        rf"(?P<device>{_DEVICE})(?: xmit)?: (?:Local routing loop detected|Routing loop)!",
    ),
    make_row(
        MessageKind.TRANSMIT_LOOP,
        "recursion limit reached on datapath",
        r"recursion limit reached on datapath(?: (?P<device>[\w.@-]+))?",
    ),
    # Limits of the stack
    make_row(MessageKind.ROUTE_CACHE_FULL, "dst cache overflow"),
    make_row(MessageKind.ROUTE_CACHE_FULL, "Route cache is full", r"Route cache is full"),
    make_row(MessageKind.TIME_WAIT_FULL, "time wait bucket table overflow"),
    make_row(
        MessageKind.PACKET_QUEUE_FULL,
        "dropping packets(s)",
        r"nf_queue: full at (?P<size>\d+) entries, dropping packets?\(s\)",
    ),
    make_row(
        MessageKind.PACKET_QUEUE_FULL,
        "pending queue full",
        r"mroute6?: pending queue full, dropping entries",
    ),
    make_row(MessageKind.CONNTRACK_TABLE_FULL, "expectation table full"),
    make_row(
        MessageKind.SET_FULL,
        "is full, maxelem",
        r"Set (?P<name>\S+) is full, maxelem (?P<size>\d+) reached",
    ),
    make_row(
        MessageKind.SET_FULL,
        "ash is full, cannot add more elements",
        r"[Hh]ash is full, cannot add more elements",
    ),
    make_row(
        MessageKind.NEIGHBOUR_TABLE_FULL,
        "able overflow",
        (
            r"(?P<table>arp_cache|ndisc_cache)\S* [Nn]eighbou?r table overflow|[Nn]eighbou?r table "
            r"overflow"
        ),
    ),
    make_row(
        MessageKind.NEIGHBOUR_TABLE_FULL,
        "table overflow on ",
        r"\b(?:ARP|arp|ND|neighbou?r) (?:cache )?table overflow on (?P<device>\S+)",
    ),
    # Addresses
    make_row(
        MessageKind.DUPLICATE_ADDRESS,
        "advertised our address",
        (
            r"NA: (?P<mac>[0-9a-f:]{17}) advertised our address (?P<address>[0-9a-f:]+) on "
            r"(?P<device>[\w.@-]+)"
        ),
    ),
    make_row(
        MessageKind.DUPLICATE_ADDRESS,
        "is using my IP address",
        (
            r"arp: (?P<mac>[0-9a-f:]{17}) is using my IP address (?P<address>[\d.]+) on "
            r"(?P<device>[\w.@-]+)"
        ),
    ),
    make_row(
        MessageKind.PREFIX_LENGTH_WRONG,
        "prefix with wrong length",
        r"prefix with wrong length (?P<length>\d+)",
    ),
    # Bonds
    make_row(
        MessageKind.BOND_SLAVE_DOWN,
        "definitely down",
        rf"(?P<bond>{_DEVICE}): (?:\(slave (?P<device>{_DEVICE})\): )?link status definitely down"
        rf"(?: for (?:interface|slave) (?P<slave>{_DEVICE}))?",
    ),
    # The kernel itself
    make_row(
        MessageKind.KERNEL_FAULT,
        "BUG: ",
        (
            r"(?P<what>BUG: (?:unable to handle|soft lockup|kernel NULL pointer|scheduling while "
            r"atomic)[^\n]{0,60})"
        ),
    ),
    make_row(
        MessageKind.KERNEL_FAULT, "Kernel panic", r"(?P<what>Kernel panic - not syncing[^\n]{0,60})"
    ),
    make_row(
        MessageKind.KERNEL_FAULT, "general protection fault", r"(?P<what>general protection fault)"
    ),
)
