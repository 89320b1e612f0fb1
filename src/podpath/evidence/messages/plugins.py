"""What engines and plugins of container networks say: the innermost cause, however often it was
wrapped on its way up.

CNI plugins under kubelet, containerd and CRI-O; libnetwork under Docker; netavark, slirp4netns and
pasta under Podman.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_Q = r"[\\\"'\u2018\u2019]*"
"""Quotation marks around a value, with the backslashes of each log that it went through."""
_NAME = r"[\w.@-]+"

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.PLUGIN_CRASHED,
        "netplugin failed",
        r"netplugin failed(?: with no error message|[^\n]*but error parsing its diagnostic "
        r"message)(?:[^\n]*?(?P<error>signal: \w+|unexpected end of JSON input))?",
    ),
    make_row(
        MessageKind.PLUGIN_CRASHED,
        "xec format error",
        r"(?P<file>/\S*(?:cni|netns|plugins)\S*?):? [Ee]xec format error",
    ),
    make_row(
        MessageKind.PLUGIN_CRASHED,
        "fork/exec ",
        r"fork/exec (?P<file>/(?:opt/cni|usr/lib/cni|usr/libexec/cni|var/lib/\S*cni)\S*): "
        r"(?P<error>permission denied|text file busy|no such file or directory|exec format error)",
    ),
    make_row(
        MessageKind.PROGRAM_MISSING,
        "executable file not found in",
        rf"exec: {_Q}(?P<program>(?:\S*/)?(?:ip6?tables(?:-\w+)*|ip|nft|ipset|ipvsadm|conntrack|"
        r"modprobe|ethtool|tc|brctl|ovs-vsctl|slirp4netns|pasta|newuidmap|arping|socat|nsenter|"
        rf"dnsmasq)){_Q}: executable file not found in",
    ),
    make_row(MessageKind.PROGRAM_MISSING, "failed to find iptables"),
    make_row(MessageKind.PROGRAM_MISSING, "failed to locate iptables"),
    make_row(
        MessageKind.PROGRAM_MISSING,
        "annot enable nftables",
        r"[Cc]annot enable nftables, no '(?P<program>nft)' command",
    ),
    make_row(
        MessageKind.PROGRAM_MISSING,
        "failed to find ",
        r"failed to find (?P<program>slirp4netns|pasta|netavark|aardvark-dns|conmon)\b",
    ),
    make_row(
        MessageKind.PROGRAM_MISSING,
        "could not find ",
        (
            r"could not find (?:a working )?[\\\"'](?P<program>netavark|slirp4netns|pasta|"
            r"aardvark-dns)[\\\"'] (?:binary )?in one of"
        ),
    ),
    make_row(
        MessageKind.FAMILY_DISABLED,
        "ermission denied",
        rf"(?:add IP addr(?:ess)?|could not add IP "
        rf"address)[^\n]*?(?P<address>[0-9a-fA-F]{{1,4}}:[0-9a-fA-F:]+(?:/\d+)?|"
        rf"IP:[0-9a-f]+:[0-9a-f:]+)[^\n]*?to {_Q}(?P<device>{_NAME}){_Q}: permission denied",
    ),
    make_row(
        MessageKind.FAMILY_DISABLED,
        "annot enable IPv6 on container interface",
        r"Cannot enable IPv6 on container interface",
    ),
    make_row(
        MessageKind.FAMILY_DISABLED,
        "failed to enable IPv6 for interface",
        rf"failed to enable IPv6 for interface {_Q}(?P<device>{_NAME})",
    ),
    make_row(
        MessageKind.FAMILY_DISABLED,
        "IPv6 is disabled on ",
        r"IPv6 is disabled on (?:this|nexthop) device",
    ),
    make_row(
        MessageKind.LEASE_DAEMON_MISSING,
        "error dialing DHCP daemon",
        r"error dialing DHCP daemon: (?P<error>[^\"\\\n]+)",
    ),
    make_row(
        MessageKind.NAMESPACE_GONE,
        "failed to open netns",
        rf"failed to open netns {_Q}(?P<file>/[^\s\"\\:]+){_Q}: (?P<error>[^\"\\\n]+)",
    ),
    make_row(
        MessageKind.NAMESPACE_GONE,
        "unknown FS magic",
        r"unknown FS magic on [\\\"]*(?P<file>/[^\s\"\\:]+)",
    ),
    make_row(
        MessageKind.MTU_TOO_LARGE,
        "invalid MTU ",
        r"invalid MTU (?P<size>\d+), must be \[0, master MTU\((?P<most>\d+)\)\]",
    ),
    make_row(
        MessageKind.PARENT_DEVICE_BUSY,
        "device or resource busy",
        (
            r"failed to (?:create|make) (?:the )?(?P<sort>macvlan|ipvlan)[^\n]*?: device or "
            r"resource busy"
        ),
    ),
    make_row(
        MessageKind.MASTER_DEVICE_MISSING,
        "ink not found",
        rf"(?:failed to (?:find host device|lookup (?:master |bridge )?{_Q}(?P<device>{_NAME}){_Q}"
        rf")|Link not found: (?P<named>{_NAME})|error getting host device)[^\n]*?[Ll]ink not found",
    ),
    make_row(
        MessageKind.MASTER_DEVICE_MISSING,
        "parent interface was not found on the host",
        rf"parent interface was not found on the host: (?P<device>{_NAME})",
    ),
    make_row(
        MessageKind.MASTER_DEVICE_MISSING,
        "already exists but is not a bridge",
        rf"{_Q}(?P<device>{_NAME}){_Q} already exists but is not a bridge",
    ),
    make_row(
        MessageKind.MASTER_DEVICE_MISSING,
        "already exists but is a ",
        rf"bridge interface (?P<device>{_NAME}) already exists but is a \S+ interface",
    ),
    make_row(
        MessageKind.BRIDGE_GONE,
        "could not find bridge ",
        rf"could not find bridge (?P<bridge>{_NAME}): (?P<error>[^\"\n]+)",
    ),
    make_row(
        MessageKind.BRIDGE_GONE,
        "to bridge ",
        (
            rf"adding interface (?P<device>{_NAME}) to bridge (?P<bridge>{_NAME}) failed: "
            r"(?P<error>(?!exchange full)[^\"\n]+)"
        ),
    ),
    make_row(
        MessageKind.BRIDGE_GONE,
        "no such network interface",
        (
            r"(?P<bridge>docker0|cni0|podman\d+|br-\w+|cbr0)\b[^\n]*?route ip\+net: no such "
            r"network interface"
        ),
    ),
    make_row(
        MessageKind.BRIDGE_PORTS_EXHAUSTED,
        "xchange full",
        rf"to bridge (?P<bridge>{_NAME}) failed: exchange full|[Ee]xchange full",
    ),
    make_row(
        MessageKind.RULE_GONE,
        "does a matching rule exist in that chain",
        r"ip6?tables[^\n]*? (?:-D|--delete) (?P<chain>\S+)(?P<rule>[^\n]*?)(?:: |"
        r"\()ip6?tables[^\n]*Bad rule \(does a matching rule exist in that chain\?\)",
    ),
    make_row(
        MessageKind.RULE_GONE,
        "o chain/target/match by that name",
        r"ip6?tables[^\n]*? (?:-D|--delete) (?P<chain>\S+)(?P<rule>[^\n]*?): ip6?tables[^\n]*No "
        r"chain/target/match by that name",
    ),
    make_row(
        MessageKind.CHAIN_OF_DOCKER_MISSING,
        "o chain/target/match by that name",
        (
            r"(?:-j|-A|-I|-D|-N|-C|-L|-F|-X) (?P<chain>DOCKER[\w-]*)[^\n]*?[Nn]o "
            r"chain/target/match by that name"
        ),
    ),
    make_row(
        MessageKind.CHAIN_OF_DOCKER_MISSING,
        "Couldn't load target",
        r"Couldn't load target [`'\"]?(?P<chain>DOCKER[\w-]*)",
    ),
    make_row(
        MessageKind.CHAIN_OF_DOCKER_MISSING,
        "DOCKER",
        r"(?:failed to|[Uu]nable to) (?:program|enable|setup|set "
        r"up)[^\n]*?(?P<chain>DOCKER[\w-]*)[^\n]*?(?:No chain|does not exist|does a matching rule "
        r"exist)",
    ),
    make_row(
        MessageKind.BRIDGE_CALLS_DISABLED,
        "br_netfilter",
        r"ensure that (?:the )?(?P<key>br_netfilter) kernel module is loaded",
    ),
    make_row(
        MessageKind.ROUTE_CONFLICT,
        "conflicts with existing route",
        r"cannot program address (?P<range>[\da-fA-F.:/]+) in sandbox interface because it "
        r"conflicts with existing route (?P<route>[^\"\n]+)",
    ),
    make_row(
        MessageKind.GATEWAY_OUTSIDE,
        "oute for the gateway",
        r"route for the gateway (?P<address>[\da-fA-F.:]+) could not be found",
    ),
    make_row(
        MessageKind.ENDPOINT_LEFT,
        "has active endpoints",
        r"network (?P<network>\S+?)(?: id \w+)? has active endpoints",
    ),
    make_row(
        MessageKind.ENDPOINT_LEFT,
        "endpoint with name",
        r"endpoint with name (?P<name>\S+) already exists in network (?P<network>\S+)",
    ),
    make_row(
        MessageKind.ADDRESS_ALLOCATED_TWICE,
        "is already allocated to container",
        (
            r"requested ip address (?P<address>[\da-fA-F.:]+) is already allocated to container ID "
            r"(?P<owner>\w+)"
        ),
    ),
    make_row(
        MessageKind.ADDRESS_ALLOCATED_TWICE,
        "ailed to allocate gateway",
        r"[Ff]ailed to allocate gateway \((?P<address>[\da-fA-F.:]+)\): Address already in use",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "failed to find free IP",
        r"failed to find free IP in range: (?P<range>\S+)",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "o available ",
        (
            r"[Nn]o available (?:IPv[46] |ip |IP )?addresses on (?:this pool|the pool)|"
            r"no available (?:subnets|network) in"
        ),
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED, "out of subnets", r"out of subnets$|: out of subnets"
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "IPs available in pools",
        r"No IPs available in pools: \[(?P<range>[^\]]*)\]",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "strict affinity enabled",
        r"No more free affine blocks and strict affinity enabled",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "ll addresses exhausted in pool",
        r"[Aa]ll addresses exhausted in pool (?P<range>\S+)",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "ould not allocate IP in range",
        r"[Cc]ould not allocate IP in range: ip: (?P<range>[\d./-]+)",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "no configured ",
        r"no configured (?:Calico )?(?:IPv[46] )?(?:IPPools|pools)|no configured IPPools",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "pool exhausted",
        r"(?:ip|IP|ipam|address)[ _-]?pool (?:is )?exhausted|error: all pools exhausted",
    ),
    make_row(
        MessageKind.FORWARDING_DISABLED,
        "could not enable IP forwarding",
        r"[Cc]ould not enable IP forwarding",
    ),
    make_row(
        MessageKind.FORWARDING_DISABLED,
        "ailed to enable forwarding",
        r"[Ff]ailed to enable forwarding ?:",
    ),
    make_row(
        MessageKind.TUNNEL_DEVICE_FAILED,
        "Another device with this VNI may already exist",
        (
            r"Failed to create VXLAN device\. (?P<error>Another device with this VNI may already "
            r"exist)"
        ),
    ),
    make_row(
        MessageKind.TUNNEL_DEVICE_FAILED,
        "another device with same VNI",
        r"(?P<error>another device with same VNI)",
    ),
    make_row(
        MessageKind.TUNNEL_DEVICE_FAILED,
        "as port: ",
        r"failed to add (?P<device>(?:vxlan|genev|gre)_sys\w*) as port: (?P<error>[\w ]+)",
    ),
    make_row(MessageKind.POOLS_OVERLAP, "PredefinedLocalScopeDefaultNetworks"),
    make_row(
        MessageKind.POOLS_OVERLAP,
        "no available network",
        r"(?:failed|[Ee]rror)[^\n]*: no available network",
    ),
    make_row(MessageKind.RESTORE_FAILED, "ailed to execute ip(6)tables-restore command"),
    make_row(MessageKind.RESTORE_FAILED, "unable to run iptables-restore"),
    make_row(MessageKind.RESTORE_FAILED, "ailed to complete ipset restore"),
    make_row(MessageKind.RESTORE_FAILED, "ailed to apply partial iptables-restore"),
    make_row(MessageKind.IPTABLES_FAILED, "nftables error: ", r"nftables error: (?P<error>[^\n]+)"),
    make_row(
        MessageKind.PLUGIN_FAILED,
        " failed (add)",
        rf"plugin type={_Q}(?P<plugin>[\w.-]+){_Q}(?: name={_Q}(?P<network>[\w.-]+){_Q})? failed "
        rf"\(add\): (?P<error>[^\n]{{3,300}})",
    ),
    make_row(
        MessageKind.PLUGIN_FAILED,
        "rror adding pod",
        (
            rf"[Ee]rror adding pod \S+ to CNI network {_Q}(?P<network>[\w.-]+){_Q}: "
            rf"(?P<error>[^\n]{{3,300}})"
        ),
    ),
    make_row(
        MessageKind.PLUGIN_FAILED,
        "rror adding container to network",
        (
            rf"[Ee]rror adding container to network {_Q}(?P<network>[\w.-]+){_Q}: "
            rf"(?P<error>[^\n]{{3,300}})"
        ),
    ),
    make_row(
        MessageKind.PLUGIN_FAILED,
        " set up pod ",
        (
            rf"networkPlugin cni failed to set up pod {_Q}(?P<pod>[^\s\"\\]+){_Q} network: "
            rf"(?P<error>[^\n]{{3,300}})"
        ),
    ),
)
