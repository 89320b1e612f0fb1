"""What a host's own network says: DHCP clients and servers, NetworkManager, systemd-networkd,
ifupdown, WireGuard, IKE.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_ADDRESS = r"[0-9a-fA-F:.]+"

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "DHCPDECLINE",
        rf"DHCPDECLINE(?: (?:of|on) (?P<address>{_ADDRESS}))?(?: from (?P<mac>[0-9a-f:]+))?",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "onflict detected for",
        rf"[Cc]onflict detected for (?:IP )?(?:address )?(?P<address>{_ADDRESS})",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "address conflict",
        r"(?:IPv?4? |ACD:? |DHCPv?4? )?address conflict.*?(?P<address>\d+\.\d+\.\d+\.\d+)",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "as an address conflict was detected",
        rf"address (?P<address>{_ADDRESS}), as an address conflict was detected",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "acd conflict",
        rf"address=(?P<address>{_ADDRESS}), acd conflict",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "already in use",
        r"(?:[Ee]rror, some other host(?: \((?P<mac>[0-9A-Fa-f:]+)\))? already uses|"
        r"[Aa]ddress) (?P<address>\d+\.\d+\.\d+\.\d+)(?:/\d+)?,? "
        r"(?:cannot be configured because it )?(?:is )?already in use (?:by|on|in) (?:another|"
        r"other|the network|a)",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "some other host",
        (
            r"some other host(?: \((?P<mac>[0-9A-Fa-f:]+)\))? already uses (?:address )?"
            rf"(?P<address>{_ADDRESS})"
        ),
    ),
    make_row(MessageKind.LEASE_NOT_OFFERED, "No DHCPOFFERS received"),
    make_row(
        MessageKind.LEASE_NOT_OFFERED,
        "no lease",
        r"[Nn]o lease, (?:failing|forking)|no lease(?:s)? (?:obtained|received)",
    ),
    make_row(MessageKind.LEASE_REFUSED, "DHCPNAK", rf"DHCPNAK(?: on (?P<address>{_ADDRESS}))?"),
    make_row(MessageKind.ADDRESSES_EXHAUSTED, "no free leases", r"no free leases"),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED, "no address available", r"no address(?:es)? available"
    ),
    make_row(
        MessageKind.KEYS_NOT_AGREED,
        "NO_PROPOSAL_CHOSEN",
        r"(?P<error>NO_PROPOSAL_CHOSEN)",
    ),
    make_row(
        MessageKind.KEYS_NOT_AGREED, "AUTHENTICATION_FAILED", r"(?P<error>AUTHENTICATION_FAILED)"
    ),
    make_row(MessageKind.KEYS_NOT_AGREED, "no IKE config found", r"(?P<error>no IKE config found)"),
    make_row(MessageKind.KEYS_NOT_AGREED, "TS_UNACCEPTABLE", r"(?P<error>TS_UNACCEPTABLE)"),
    make_row(
        MessageKind.KEYS_NOT_AGREED,
        "Required key not available",
        r"(?P<error>Required key not available)",
    ),
    make_row(
        MessageKind.KEYS_NOT_AGREED,
        "Destination address required",
        r"(?P<error>Destination address required)",
    ),
    make_row(
        MessageKind.HANDSHAKE_UNANSWERED,
        "did not complete after",
        r"(?:(?P<device>[\w.-]+): )?Handshake for peer (?P<peer>\S+).*? did not complete after",
    ),
    make_row(
        MessageKind.PEER_LOST,
        "no acks received",
        r"(?:Suspect|Marking) (?P<peer>\S+) (?:has failed|as failed).*no acks received",
    ),
    make_row(
        MessageKind.DEVICE_MISSING,
        "bridge port",
        r"(?P<bridge>[\w.-]+) ?: bridge port (?P<device>[\w.@-]+) does not exist",
    ),
    make_row(
        MessageKind.DEVICE_MISSING,
        "annot find device",
        r"Cannot find device \"?(?P<device>[\w.@:-]+)",
    ),
    make_row(
        MessageKind.DEVICE_MISSING,
        "does not exist",
        r"(?:Device|interface) \"?'?(?P<device>[\w.@:-]+)\"?'? does not exist",
    ),
)
