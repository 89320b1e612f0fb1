"""What daemons of the host say of devices: that they act on one (DHCP, addresses, routes), name
one, or cannot.

NetworkManager, systemd-networkd, systemd-udevd, dhclient, dhcpcd, udhcpc, ConnMan, wicked,
ifupdown, network-scripts. Whether a device is a container's is for a check to say; what a daemon
only notices (`carrier`, `new device`) is a kind of its own.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_NAME = r"[A-Za-z][\w.@-]{0,30}"
_NM = rf"(?P<daemon>NetworkManager|nm-dispatcher)?[^\n]*?(?:\bdevice )?\((?P<device>{_NAME})\): "
_NETWORKD = rf"(?P<daemon>(?:systemd-)?networkd)\[\d+\]: (?P<device>{_NAME}): "
_DHCPCD = rf"(?:(?P<daemon>dhcpcd)(?:\[\d+\]|-\d[\d.]*)?: )?(?:^|(?<=[\s|>]))(?P<device>{_NAME}): "
_ACT = MessageKind.DEVICE_TAKEN
_SEEN = MessageKind.DEVICE_SEEN

ROWS: tuple[MessagePattern, ...] = (
    # NetworkManager
    make_row(
        _ACT,
        "state change: ",
        _NM + r"state change: (?P<act>[\w-]+ -> (?:prepare|config|need-auth|ip-config|ip-check|"
        r"secondaries|activated|failed)) \(reason '[^']*', (?:sys-iface-state: 'managed'|"
        r"managed-type: 'full')",
    ),
    make_row(_SEEN, "state change: ", _NM + r"state change: (?P<act>[\w-]+ -> [\w-]+)"),
    make_row(
        _SEEN,
        "Activation: starting connection",
        _NM + r"Activation: (?P<act>starting connection) '(?P<profile>[^']*)'",
    ),
    make_row(
        _ACT,
        "auto-activating connection",
        r"(?P<daemon>NetworkManager)[^\n]*auto-activating connection '(?P<profile>[^']*(?:veth|"
        r"docker0|cni0|br-[0-9a-f]{12})[^']*)'",
    ),
    make_row(
        _ACT,
        "created default wired connection",
        (
            rf"\(?(?P<device>{_NAME})\)?: (?P<act>created default wired connection) '"
            r"(?P<profile>[^']*)'"
        ),
    ),
    make_row(
        _ACT,
        "beginning transaction",
        (
            rf"dhcp[46] \((?P<device>{_NAME})\):? +(?:activation: )?(?P<act>beginning "
            r"(?:DHCPv[46] )?transaction)"
        ),
    ),
    make_row(
        _ACT,
        "Beginning DHCPv",
        rf"\((?P<device>{_NAME})\) (?P<act>Beginning DHCPv[46] transaction)",
    ),
    make_row(_SEEN, "carrier: link ", _NM + r"(?P<act>carrier: link (?:connected|disconnected))"),
    make_row(_SEEN, "new Veth device", rf"\((?P<device>{_NAME})\): (?P<act>new Veth device)"),
    make_row(_SEEN, "new Bridge device", rf"\((?P<device>{_NAME})\): (?P<act>new Bridge device)"),
    make_row(
        _SEEN, "bridge port ", _NM + r"(?:bridge|bond) port (?P<act>\S+ was (?:attached|detached))"
    ),
    make_row(_SEEN, "released from master", _NM + r"(?P<act>released from master(?: device)? \S+)"),
    # systemd-networkd
    make_row(_ACT, "DHCPv4 address ", _NETWORKD + rf"(?P<act>DHCPv4 address (?P<address>{_IPV4}))"),
    make_row(
        _ACT,
        "onfigur",
        _NETWORKD
        + (
            r"(?P<act>Configured|Configuring with|Reconfiguring with|Re-configuring|"
            r"Unmanaged -> Configuring)"
        ),
    ),
    make_row(_SEEN, "arrier", _NETWORKD + r"(?P<act>Gained carrier|Lost carrier)"),
    make_row(_SEEN, "Gained IPv6LL", _NETWORKD + r"(?P<act>Gained IPv6LL)"),
    make_row(_SEEN, ": Link ", _NETWORKD + r"(?P<act>Link (?:UP|DOWN))"),
    make_row(
        MessageKind.ROUTE_NOT_INSTALLED,
        "Could not set ",
        _NETWORKD
        + (
            r"Could not set (?P<what>route|DHCPv[46] route|nexthop|NDisc route|address|"
            r"routing policy rule)[^:]*: (?P<error>[^\n]+)"
        ),
    ),
    # udev
    make_row(
        _ACT,
        "MAC address",
        r"(?P<daemon>systemd-udevd|udevd|link_config)?[^\n]*?(?:link_config: )?"
        rf"(?P<act>[Cc]ould not (?:generate|set) (?:a )?persistent MAC(?: address)?) "
        rf"for (?P<device>{_NAME}): (?P<error>[^\n]+)",
    ),
    make_row(
        _ACT,
        "ould not generate persistent MAC",
        (
            rf"(?P<daemon>systemd-udevd|udevd)?\S*:? ?(?P<device>{_NAME}): (?P<act>Could not "
            r"generate persistent MAC)"
        ),
    ),
    make_row(
        _ACT,
        "ailed to get driver",
        rf"link_config: .*?(?P<act>could not get ethtool features) for (?P<device>{_NAME})",
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "ailed to rename network interface",
        (
            rf"[Ff]ailed to rename network interface \d+ from '(?P<device>{_NAME})' to '"
            rf"(?P<name>{_NAME})': (?P<error>[^\n]+)"
        ),
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "is already up, ",
        (
            rf"[Nn]etwork interface '(?P<device>{_NAME})' is already up, (?:cannot rename|"
            rf"refusing to rename) to '(?P<name>{_NAME})'"
        ),
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "changing net interface name",
        (
            rf"[Ee]rror changing net(?:work)? interface name '?(?P<device>{_NAME})'? to '?"
            rf"(?P<name>{_NAME})'?: (?P<error>[^\n]+)"
        ),
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "could not rename interface",
        (
            rf"could not rename interface '\d+' from '(?P<device>{_NAME})' to '(?P<name>{_NAME})': "
            r"(?P<error>[^\n]+)"
        ),
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "rename",
        r"(?:udev\w*|kernel|systemd-udevd)\S*:? [^\n]*?(?P<device>eth\d+|en[ospx]\w+|wlan\d+|"
        r"_?rename\d+)[^\n]{0,40}(?:renamed (?:network interface )?(?:from |to )|renamed to )"
        r"(?P<name>_?rename\d+\b)",
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "different MAC address than expected",
        rf"[Dd]evice (?P<device>{_NAME}) has different MAC address than expected",
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "does not seem to be present",
        rf"[Dd]evice (?P<device>{_NAME}) does not seem to be present",
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "while getting interface flags",
        (
            rf"(?P<device>{_NAME}): (?:ERROR|error) while getting interface flags: "
            r"(?P<error>No such device)"
        ),
    ),
    make_row(
        MessageKind.DEVICE_NAME_FAILED,
        "gnoring unknown interface",
        rf"[Ii]gnoring unknown interface (?P<device>{_NAME})=",
    ),
    # DHCP clients
    make_row(
        _ACT,
        "DHCP",
        rf"(?P<act>DHCP(?:DISCOVER|REQUEST)) (?:of \S+ |for \S+ )?on (?P<device>{_NAME}) to ",
    ),
    make_row(_ACT, "Listening on LPF/", rf"(?P<act>Listening on LPF)/(?P<device>{_NAME})/"),
    make_row(
        _ACT,
        ": ",
        _DHCPCD
        + r"(?P<act>adding (?:default )?route (?:to \S+ )?(?:via \S+)?|adding default route|"
        rf"adding (?:IP )?address {_IPV4}\S*|using IPv4LL address {_IPV4}|leased {_IPV4}|"
        rf"rebinding lease|offered {_IPV4}|changing (?:default )?route|"
        rf"deleting (?:default )?route|deleting address {_IPV4}|probing for an IPv4LL address|"
        rf"soliciting a DHCP lease|soliciting an IPv6 router|waiting for 3rd party)",
    ),
    make_row(_SEEN, "carrier", _DHCPCD + r"(?P<act>carrier (?:acquired|lost)|waiting for carrier)"),
    make_row(_SEEN, "adding address", _DHCPCD + r"(?P<act>adding address fe80:\S+)"),
    make_row(
        _ACT,
        "connmand",
        (
            rf"(?P<daemon>connmand)\[\d+\]: (?P<device>{_NAME}) \{{(?P<act>add|del)\}} (?:route|"
            r"address) (?P<address>\S+)"
        ),
    ),
    make_row(
        _SEEN,
        "connmand",
        (
            rf"(?P<daemon>connmand)\[\d+\]: (?P<device>{_NAME}) "
            rf"\{{(?P<act>newlink|create|update|dellink)\}}"
        ),
    ),
    make_row(
        _ACT,
        "wickedd",
        rf"(?P<daemon>wickedd?)\S*: (?P<device>{_NAME}): (?P<act>Request to acquire DHCPv4 lease|"
        rf"Committed DHCPv4 lease|[^\n]*setup-in-progress)",
    ),
    make_row(_ACT, "etting hw address", rf"(?P<device>{_NAME}): (?P<act>[Ss]etting hw address)"),
    # Leases
    make_row(
        MessageKind.LEASE_LOST, "DHCP lease lost", rf"(?P<device>{_NAME}): DHCP(?:v6)? lease lost"
    ),
    make_row(
        MessageKind.LEASE_LOST,
        "DHCP lease expired",
        rf"(?P<device>{_NAME}): DHCP lease expired(?!, extending)",
    ),
    make_row(
        MessageKind.LEASE_LOST,
        "-> expire",
        rf"dhcp[46] \((?P<device>{_NAME})\): +state changed \w+ -> expire",
    ),
    make_row(MessageKind.LEASE_LOST, "lease is lost", rf"(?:udhcpc|{_NAME}): [^\n]*lease is lost"),
    make_row(
        MessageKind.LEASE_NOT_OFFERED,
        "request timed out",
        rf"dhcp[46] \((?P<device>{_NAME})\):? +request timed out",
    ),
    make_row(
        MessageKind.LEASE_NOT_OFFERED,
        "-> timeout",
        rf"dhcp[46] \((?P<device>{_NAME})\): +state changed \w+ -> timeout",
    ),
    make_row(
        MessageKind.LEASE_NOT_OFFERED,
        "No working leases",
        r"No working leases in persistent database",
    ),
    make_row(MessageKind.LEASE_NOT_OFFERED, "Unable to obtain a lease on first try"),
    make_row(
        MessageKind.LEASE_NOT_OFFERED,
        "failed to acquire a lease",
        r"(?i)failed to acquire (?:a |an? DHCPv4 )?lease",
    ),
    make_row(
        MessageKind.LEASE_NOT_OFFERED,
        "Failed to acquire DHCPv4 lease",
        r"Failed to acquire DHCPv4 lease for (?P<device>\S+?):",
    ),
    make_row(MessageKind.LEASE_NOT_OFFERED, "no DHCP packet received"),
    make_row(
        MessageKind.LEASE_NOT_OFFERED,
        "error calling DHCP.Allocate",
        r"error calling DHCP\.Allocate: (?P<error>[^\"\\\n]+)",
    ),
    make_row(
        MessageKind.LEASE_REFUSED,
        "DHCPNAK",
        rf"DHCPNAK (?:on (?P<address>{_IPV4})|from (?P<server>{_IPV4}))",
    ),
    make_row(
        MessageKind.LEASE_REFUSED,
        "unknown lease",
        rf"DHCPREQUEST for (?P<address>{_IPV4})[^\n]*: unknown lease",
    ),
    make_row(
        MessageKind.LEASE_REFUSED,
        "wrong network.",
        rf"DHCPREQUEST for (?P<address>{_IPV4})[^\n]*: wrong network\.",
    ),
    make_row(
        MessageKind.LEASE_REFUSED,
        "unknown network segment",
        r"DHCP(?:DISCOVER|REQUEST)[^\n]*: unknown network segment",
    ),
    make_row(
        MessageKind.LEASE_REFUSED,
        "network unknown",
        r"DHCP(?:DISCOVER|REQUEST)[^\n]*: network unknown",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "no address range available",
        r"no address range available for DHCP request via (?P<range>\S+)",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "bandoning IP address",
        rf"[Aa]bandoning IP address (?P<address>{_IPV4})",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        " claims ",
        (
            rf"(?P<device>{_NAME}): (?:hardware address )?(?P<mac>[0-9a-f:]{{17}})(?:\(\S+\))? "
            rf"claims (?P<address>{_IPV4})"
        ),
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "defence failed for",
        rf"(?P<device>{_NAME}): \d+ second defence failed for (?P<address>{_IPV4})",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "Detected conflict on ",
        rf"Detected conflict on (?P<address>{_IPV4})",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "DAD failed for address",
        r"DAD failed for address: (?P<address>\S+)",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "Conflict detected for IPv6 address",
        r"Conflict detected for IPv6 address: (?P<address>\S+)",
    ),
    make_row(
        MessageKind.ADDRESS_DECLINED,
        "DADFAILED",
        r"has address (?P<address>\S+) in DADFAILED state",
    ),
    # What ends the setting up of a device
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "-> failed (reason",
        _NM + r"state change: [\w-]+ -> failed \(reason '(?P<error>[^']+)'",
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "Activation: failed for connection",
        _NM + r"Activation: failed for connection '(?P<profile>[^']*)'",
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "No suitable device found for this connection",
        (
            r"(?P<error>No suitable device found for this connection)(?:[^\n]*\(device "
            r"(?P<device>\S+) not available)?"
        ),
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "failed to bring up",
        rf"if(?:up|reload)[^\n]*: failed to bring up (?P<device>{_NAME})",
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "Failed to bring up ",
        rf"Failed to bring up (?P<device>{_NAME})\.",
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "duplicate interface",
        r"(?P<error>duplicate (?:interface|option))",
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "couldn't read interfaces file",
        r"couldn't read interfaces file \"(?P<file>[^\"]+)\"",
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "missing required variable",
        r"(?P<error>missing required variable: \w+)",
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "Error in network definition",
        r"Error in network definition: (?P<error>[^\n]+)",
    ),
    make_row(
        MessageKind.DEVICE_NOT_CONFIGURED,
        "is not a valid ",
        r"(?:ifup|/etc/network/interfaces|ifquery)[^\n]*: (?P<error>[^\n]*is not a valid [^\n]*)",
    ),
)
