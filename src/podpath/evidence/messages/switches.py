"""What virtual switches, routing daemons and balancers say: Open vSwitch, OVN, FRR, BIRD, MetalLB,
keepalived, IPVS, HAProxy.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_IP = r"[0-9a-fA-F]*[.:][0-9a-fA-F.:]+"
_NAME = r"[\w.@-]+"

ROWS: tuple[MessagePattern, ...] = (
    # Open vSwitch and OVN
    make_row(
        MessageKind.DEVICE_MISSING,
        "could not open network device",
        rf"could not open network device (?P<device>{_NAME}) \((?P<error>[^)]+)\)",
    ),
    make_row(
        MessageKind.DEVICE_MISSING,
        "could not add network device",
        rf"could not add network device (?P<device>{_NAME}) to ofproto \((?P<error>[^)]+)\)",
    ),
    make_row(
        MessageKind.VLAN_REFUSED,
        "tagged packet received on port",
        rf"dropping VLAN (?P<tag>\d+) tagged packet received on port (?P<device>{_NAME}) "
        rf"configured as VLAN (?P<own>\d+) access port",
    ),
    make_row(
        MessageKind.VLAN_REFUSED,
        "not valid on port",
        rf"dropping VLAN (?P<tag>\d+) packet received on port (?P<device>{_NAME}) not configured "
        rf"for trunking VLAN|VLAN (?P<vid>\d+) not valid on port (?P<port>{_NAME})",
    ),
    make_row(
        MessageKind.VLAN_REFUSED,
        "not configured for trunking VLAN",
        (
            rf"dropping VLAN (?P<tag>\d+) packet received on port (?P<device>{_NAME}) not "
            r"configured for trunking"
        ),
    ),
    make_row(
        MessageKind.TUNNEL_PORT_UNKNOWN,
        "receive tunnel port not found",
        r"receive tunnel port not found(?: \((?P<flow>[^)]*)\)?)?",
    ),
    make_row(
        MessageKind.TUNNEL_PORT_UNKNOWN,
        "attempting to add tunnel port with same config as",
        (
            rf"(?P<device>{_NAME}): attempting to add tunnel port with same config as port '"
            rf"(?P<other>{_NAME})'"
        ),
    ),
    make_row(
        MessageKind.UPCALLS_LOST,
        "lost packet on ",
        r"lost packet on (?:port channel \d+ of )?handler \d+",
    ),
    make_row(
        MessageKind.DATAPATH_ACTION_REFUSED,
        "failed to put[create]",
        r"failed to put\[create\] \((?P<error>[^)]+)\)",
    ),
    make_row(
        MessageKind.DATAPATH_ACTION_REFUSED,
        "failed to flow_",
        r"(?P<error>failed to flow_(?:put|del) \([^)]+\))",
    ),
    make_row(
        MessageKind.DATAPATH_ACTION_REFUSED,
        "execute ",
        r"dpif\|WARN\|[^\n]*execute [^\n]* failed \((?P<error>[^)]+)\)",
    ),
    make_row(
        MessageKind.NEIGHBOUR_SILENT,
        "could not look up ARP entry for",
        rf"could not look up ARP entry for (?:\S+ )?\"?(?P<address>{_IP})",
    ),
    make_row(
        MessageKind.NEIGHBOUR_SILENT,
        "could not get MAC address for",
        rf"could not get MAC address for (?P<address>{_IP})",
    ),
    make_row(
        MessageKind.NEIGHBOUR_SILENT,
        "neighbor cache miss for",
        rf"neighbor cache miss for (?P<address>{_IP}) on bridge (?P<bridge>{_NAME})",
    ),
    make_row(
        MessageKind.NEIGHBOUR_SILENT,
        "native tunnel routing failed",
        r"(?P<what>native tunnel routing failed)",
    ),
    make_row(
        MessageKind.NEIGHBOUR_SILENT,
        "ARP",
        r"(?:[Ff]ailed to (?:resolve|get|find) (?:the )?(?:gateway )?(?:MAC|mac|ARP|hardware)"
        rf"(?: address)? (?:of|for|from)(?: gateway| neighbou?r| next ?hop)? ?(?P<address>{_IP})|"
        rf"(?:No|no) ARP (?:reply|response) (?:from|for) (?P<silent>{_IP})|ARP (?:resolution|"
        rf"request|resolve)[^\n]{{0,40}}?(?P<asked>{_IP})[^\n]{{0,40}}?(?:failed|timed out|timeout|"
        r"unanswered|no reply))",
    ),
    make_row(
        MessageKind.NEIGHBOUR_SILENT,
        "MAC",
        r"(?:[Ff]ailed|[Uu]nable) to (?:resolve|get|find|discover) (?:the )?(?:next ?hop |"
        r"gateway |neighbou?r )?MAC(?: address)? (?:of|for)(?: gateway| neighbou?r|"
        rf" next ?hop)? ?\"?(?P<address>{_IP})",
    ),
    make_row(
        MessageKind.NEIGHBOUR_SILENT,
        "arp resolve",
        (
            rf"arp resolve (?:gateway|failed)[^\n]{{0,60}}?(?P<address>{_IP})?[^\n]{{0,40}}(?:fail|"
            r"timeout|no response)"
        ),
    ),
    # Routing daemons
    make_row(
        MessageKind.ROUTING_MTU_MISMATCH,
        "is larger than [",
        (
            rf"[Nn]eighbor (?P<peer>{_IP}) MTU (?P<theirs>\d+) is larger than \["
            r"(?P<device>[\w.@-]+)[^\]]*\]'s MTU (?P<ours>\d+)"
        ),
    ),
    make_row(
        MessageKind.ROUTING_MTU_MISMATCH,
        "MTU mismatch",
        (
            r"MTU mismatch(?: with neighbou?r (?P<peer>\S+))?(?:[^\n]*?interface mtu[ :]*"
            r"(?P<ours>\d+))?"
        ),
    ),
    make_row(
        MessageKind.PREFIX_LIMIT,
        "%MAXPFX",
        (
            rf"%MAXPFX: No\. of [^\n]*? prefix received from (?P<peer>{_IP}) (?P<count>\d+) "
            r"exceed, limit (?P<size>\d+)"
        ),
    ),
    make_row(
        MessageKind.PREFIX_LIMIT,
        "Route limit exceeded",
        r"(?P<peer>\S+): (?:Error: )?Route limit exceeded",
    ),
    make_row(
        MessageKind.ROUTE_NOT_INSTALLED,
        "oute install failed",
        r"(?:(?P<route>[\da-fA-F][\da-fA-F.:]+/\d+): )?[Rr]oute install failed",
    ),
    make_row(
        MessageKind.ROUTE_NOT_INSTALLED,
        "netlink-dp",
        r"netlink-dp[^\n]*? error: (?P<error>[\w ]+), type=RTM_NEWROUTE",
    ),
    make_row(
        MessageKind.ROUTE_NOT_INSTALLED,
        "Netlink: ",
        r"bird\S*:? [^\n]*Netlink: (?P<error>Network is unreachable|Invalid argument|"
        r"No such device|File exists|Operation not supported)",
    ),
    make_row(
        MessageKind.BGP_NOT_ESTABLISHED,
        "rror: ",
        r"(?P<session>[\w.-]+): (?:Error|Received|Socket error|Startup delayed due to errors)?:? "
        r"?(?P<error>Hold timer expired|Bad peer AS|Bad BGP identifier|Invalid next hop|"
        r"No listening socket|(?:bind|connect): [\w ]+|Authentication failure)",
    ),
    make_row(
        MessageKind.BGP_NOT_ESTABLISHED,
        "%NOTIFICATION",
        (
            r"%NOTIFICATION(?:\([^)]*\))?: (?:received from|sent to) neighbor "
            rf"(?P<peer>{_IP})[^\n]*? \d+/\d+ \((?P<error>[^)]+)\)"
        ),
    ),
    make_row(
        MessageKind.BGP_NOT_ESTABLISHED,
        "%ADJCHANGE",
        rf"%ADJCHANGE: neighbor (?P<peer>{_IP})[^\n]*? Down (?P<error>[^\n]+)",
    ),
    make_row(
        MessageKind.BGP_NOT_ESTABLISHED,
        "connectToPeer",
        (
            r"(?=[^\n]*\"?op\"?[=:] ?\"?connectToPeer)[^\n]*\"?error\"?[=:] ?\""
            r"(?P<error>(?:[^\"\\]|\\.)+)\""
        ),
    ),
    make_row(
        MessageKind.BGP_NOT_ESTABLISHED,
        "failed to connect to peer",
        r"(?=[^\n]*failed to connect to peer)(?:[^\n]*\"error\":\"(?P<error>(?:[^\"\\]|\\.)+)\")?",
    ),
    # VRRP
    make_row(
        MessageKind.VRRP_CONFLICT,
        "equal priority advert received from remote host",
        r"equal priority advert received from remote host with our IP address",
    ),
    make_row(
        MessageKind.VRRP_CONFLICT,
        "same priority",
        (
            rf"(?:\((?P<instance>[^)]+)\) )?[Mm]aster received advert from (?P<peer>{_IP}) with "
            r"same priority"
        ),
    ),
    make_row(
        MessageKind.VRRP_CONFLICT,
        "still advertising as address owner",
        rf"(?P<peer>{_IP}) is still advertising as address owner",
    ),
    make_row(
        MessageKind.ROUTER_IN_FAULT,
        "FAULT",
        r"\((?P<instance>[^)]+)\):? entering FAULT state \((?P<error>[^)]+)\)",
    ),
    # Balancers
    make_row(
        MessageKind.NO_DESTINATION,
        "no destination available",
        (
            rf"IPVS: (?P<scheduler>\w+): (?P<protocol>\w+) (?P<service>\[?{_IP}\]?:\d+) - no "
            r"destination available"
        ),
    ),
    make_row(
        MessageKind.NO_HEALTHY_UPSTREAM,
        "has no server available",
        r"(?:backend|proxy) '?(?P<backend>[\w.-]+)'? has no server available",
    ),
    make_row(MessageKind.NO_HEALTHY_UPSTREAM, "no live upstreams while connecting to upstream"),
    make_row(
        MessageKind.NO_ENDPOINTS,
        "no endpoints available for service",
        r"no endpoints available for service [\\\"']*(?P<service>[\w./:-]+)",
    ),
    make_row(
        MessageKind.NO_ENDPOINTS,
        "does not have any active Endpoint",
        r"[Ss]ervice [\\\"']*(?P<service>[\w./-]+)[\\\"']* does not have any active Endpoint",
    ),
    make_row(
        MessageKind.NO_ENDPOINTS,
        "no active endpoints",
        r"(?:service|upstream) [\\\"']*(?P<service>[\w./-]+)[\\\"']* has no active endpoints",
    ),
)
