"""A Node as the commands that build it: pure data, which `lab.apply` runs and `lab script` prints.

What comes in is the frozen Node; what goes out is a list of `ScriptCommand`s, each an argument list
with the text it reads. The order is that of dependence: namespaces, links, link attributes,
addresses, sysctls, neighbors, routes, rules, sets, tables. What this kernel cannot hold (a bond, a
BPF program) is named in `Twin.left_out`, never silently missing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Family
from podpath.net.provenance import Known
from podpath.node import nftables_text
from podpath.node.links import InterfaceAddress, Link, Neighbour
from podpath.node.netfilter import Chain, ConntrackEntry, IpSet, Table
from podpath.node.netfilter_text import emit_rule
from podpath.node.node import Netns, Node
from podpath.node.routing import DEFAULT_RULES, Nexthop, PolicyRule, Route

DATAPATH_SYSCTLS = re.compile(
    r"net\.ipv4\.(?:ip_forward|fwmark_reflect|icmp_errors_use_inbound_ifaddr|ip_forward_use_pmtu|"
    r"fib_multipath_hash_policy)|net\.ipv4\.conf\.(?P<device>.+)\.(?:rp_filter|accept_local|"
    r"route_localnet|src_valid_mark|bc_forwarding|arp_ignore|arp_filter"
    r"|arp_announce|proxy_arp|send_redirects|forwarding|ignore_routes_with_linkdown|"
    r"drop_unicast_in_l2_multicast)|net\.bridge\.bridge-nf-call-(?:ip|ip6|arp)tables"
    r"|net\.ipv6\.conf\.(?P<device6>.+)\.(?:forwarding|force_forwarding|proxy_ndp|hop_limit"
    r"|disable_ipv6)"
    r"|net\.netfilter\.nf_conntrack_(?:tcp_loose|tcp_be_liberal|tcp_ignore_invalid_rst|"
    r"tcp_no_window_check|checksum)"
)
"""Sysctls that decide over a packet's way; the thousands of others of a `sysctl -a` are left as
this kernel has them.
"""


WRITE_SYSCTLS = ("sysctl", "-q", "-e", "-p", "-")
"""Sets what standard input says, `net/ipv4/ip_forward = 1` a line; keys that this kernel lacks are
passed over (sysctl(8)).
"""


RUNNING = "/run/netns/.openvswitch"
"""Where daemons of the lab keep their files: a place that goes with the lab's world."""


class ScriptCommand(NamedTuple):
    """One command of the script."""

    arguments: tuple[str, ...]
    """The program and its arguments; those that run inside a namespace begin with `ip netns exec
    NAME` or `ip -n NAME`.
    """
    stdin: str = ""
    netns: str | None = None
    """The namespace that it runs in; None where the command itself names it."""
    stays: bool = False
    """True for a daemon, which runs until the lab ends."""

    def shell(self) -> str:
        """Spell it for a POSIX shell."""
        prefix = ("ip", "netns", "exec", self.netns) if self.netns else ()
        line = shlex.join((*prefix, *self.arguments))
        if self.stays:
            return f'{line} &\ndaemons="$daemons $!"'
        if self.stdin:
            return f"{line} <<'END'\n{self.stdin.rstrip()}\nEND"
        return line


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """The script of one node."""

    commands: tuple[ScriptCommand, ...]
    namespaces: tuple[str, ...]
    left_out: tuple[str, ...]
    """What the script does not rebuild, one sentence each."""


def emit_twin(
    node: Node,
    switches: tuple[ScriptCommand, ...] = (),
    given: frozenset[tuple[str, str]] = frozenset(),
    *,
    counted: bool = False,
    tunnels: bool = False,
) -> Twin:
    """Write the commands that rebuild a node in network namespaces; `switches` make the `given`
    (namespace, device) pairs. On a twin whose packets are `counted` no SYN-ACK goes out again.
    Ipip, gre and geneve `tunnels` are made for a kernel that has them.
    """
    names = tuple(node.namespaces)
    left_out: list[str] = []
    made: set[tuple[str, str]] = set(given)
    create = list(_creations(node, made, left_out, tunnels=tunnels))
    batch = ("ip", "-batch", "-")
    spaces = [f"netns add {name}" for name in names]
    if any(map(_has_six, node.namespaces.values())):
        commands = [
            ScriptCommand(batch, _batch(spaces)),
            *(ScriptCommand(WRITE_SYSCTLS, _SILENT_SIX, name) for name in names),
            ScriptCommand(batch, _batch(create)),
            *switches,
        ]
    else:
        commands = [ScriptCommand(batch, _batch([*spaces, *create])), *switches]
    for netns in node.namespaces.values():
        built = {link for name, link in made if name == netns.name}
        shared = _share(node, netns.name)
        if shared:
            commands.append(ScriptCommand(("ip", "-n", netns.name, "-batch", "-"), _batch(shared)))
        commands += _emit_state(netns, built, left_out, counted=counted)
    return Twin(commands=tuple(commands), namespaces=names, left_out=tuple(left_out))


def emit_removal(twin: Twin) -> ScriptCommand:
    """Write the command that takes a twin down."""
    return ScriptCommand(
        ("ip", "-batch", "-"), _batch(f"netns del {name}" for name in twin.namespaces)
    )


_SILENT_SIX = "".join(
    f"net/ipv6/conf/default/{key} = {value}\n"
    for key, value in (
        ("accept_dad", 0), ("dad_transmits", 0), ("router_solicitations", 0), ("accept_ra", 0),
        ("accept_redirects", 0),
        ("mldv2_unsolicited_report_interval", 10_000_000),
    )
)  # fmt: skip
"""What devices of IPv6 must be told before they are there, so that they have their addresses at
once, and say nothing later on that a probe did not cause.
"""


def _has_six(netns: Netns) -> bool:
    return any(item.address.family == 6 for item in netns.addresses.items)


_IPV6 = "-6 "
"""Begins a route or rule of IPv6, as `ip` takes it outside a batch."""


def _emit_state(
    netns: Netns, built: set[str], left_out: list[str], *, counted: bool
) -> Iterator[ScriptCommand]:
    """Write what one namespace holds: few commands, since each costs more than what it does."""
    links = [link for link in netns.links.items if link.name in built]
    ways = [*_list_routes(netns), *_policy_rules(netns)]
    lines = ["link set lo up"]
    for link in links:
        lines += [*_vxlan(link), *_tunnel(link)]
    for link in links:
        lines += _attributes(link, built)
    lines += _bridge_mtus(links)
    lines += [_address(address) for address in _in_order(netns) if address.scope != "host"]
    lines += map(_neighbour, netns.neighbours.items)
    lines += [way for way in ways if not way.startswith(_IPV6)]
    yield ScriptCommand(("ip", "-n", netns.name, "-batch", "-"), _batch(lines))
    lines = [way.removeprefix(_IPV6) for way in ways if way.startswith(_IPV6)]
    if lines:  # the family is no word of a batch
        yield ScriptCommand(("ip", "-6", "-n", netns.name, "-batch", "-"), _batch(lines))
    entries = list(_fdb(netns))
    if entries:
        yield ScriptCommand(("bridge", "-n", netns.name, "-batch", "-"), _batch(entries))
    settings = list(_settings(netns, {*built, "all", "default", "lo"}))
    for link in links:
        settings += _quicken_neighbours(link, six=_has_six(netns))
    # since v6.11: else a segment goes out again within 0.2 s on a busy machine
    settings.append("net/ipv4/tcp_rto_min_us = 5000000")
    if counted:  # else a SYN-ACK goes out again while a slow machine counts
        settings.append("net/ipv4/tcp_synack_retries = 0")
    # else a lost segment goes out again within milliseconds
    settings.append("net/ipv4/tcp_early_retrans = 0")
    if settings:
        yield ScriptCommand(WRITE_SYSCTLS, _batch(settings), netns.name)
    yield from _netfilter(netns, left_out)
    entries = [line for entry in netns.conntrack.items if (line := emit_connection(entry))]
    if entries:
        yield ScriptCommand(("conntrack", "-R", "-"), _batch(entries), netns.name)


def _in_order(netns: Netns) -> Iterator[InterfaceAddress]:
    """Yield addresses as they have to be given: of IPv6 the last one of a device is listed first
    (ipv6_link_dev_addr, v6.12).
    """
    items = netns.addresses.items
    yield from (item for item in items if item.address.family == 4)
    yield from (item for item in reversed(items) if item.address.family == 6)


def _list_routes(netns: Netns) -> Iterator[str]:
    """Yield the routes that the kernel does not make by itself, a gateway's own before its use."""
    routes = netns.routes.items
    listed = [route for route in routes if not route.inferred and route.protocol != "kernel"]
    yield from map(_route, sorted(listed, key=_has_gateway))


def _quicken_neighbours(link: Link, *, six: bool) -> Iterator[str]:
    """Let a proxy answer at once instead of within 0.8 s, and a neighbor that does not answer fail
    after 45 ms instead of 3 s.
    """
    for family in ("ipv4", "ipv6") if six else ("ipv4",):
        yield f"net/{family}/neigh/{link.name}/proxy_delay = 0"
        yield f"net/{family}/neigh/{link.name}/mcast_solicit = 3"
        yield f"net/{family}/neigh/{link.name}/retrans_time_ms = 15"


def _batch(lines: Iterator[str] | list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _creations(
    node: Node, made: set[tuple[str, str]], left_out: list[str], *, tunnels: bool
) -> Iterator[str]:
    """Make every link before any is used: a veth pair once, from whichever end comes first."""
    for netns in node.namespaces.values():
        for link in netns.links.items:
            if link.name == "lo" or (netns.name, link.name) in made:
                continue
            line = _create(netns.name, link, made, tunnels=tunnels)
            if line is None:
                left_out.append(
                    f"{link.name} in {netns.name}: a {link.kind or 'physical'} device has no twin "
                    "here"
                )
            elif line:
                yield line


def _create(netns: str, link: Link, made: set[tuple[str, str]], *, tunnels: bool) -> str | None:
    made_as = f"link add {link.name} netns {netns}"
    made.add((netns, link.name))
    if isinstance(link.peer, Known):
        peer = link.peer.value
        made.add((peer.netns, peer.link))
        return f"{made_as} type veth peer name {peer.link} netns {peer.netns}"
    if link.bridge is not None:
        filtering = " vlan_filtering 1" if link.bridge.vlan_filtering else ""
        return f"{made_as} type bridge forward_delay 0 mcast_snooping 0{filtering}"
    if link.vxlan is not None or link.macvlan is not None or (tunnels and _tunnel(link)):
        return ""
    made.discard((netns, link.name))
    return None


def _share(node: Node, netns: str) -> list[str]:
    """Make the macvlan devices of a namespace's devices, each in its own namespace."""
    commands: list[str] = []
    for other in node.namespaces.values():
        for link in other.links.items:
            shared = link.macvlan
            if shared is not None and shared.parent.netns == netns:
                place = f"link {shared.parent.link} netns {other.name}"
                commands.append(f"link add {link.name} {place} type macvlan mode {shared.mode}")
    return commands


def _vxlan(link: Link) -> Iterator[str]:
    """Make a vxlan device inside its namespace: its own packets stay where it was made
    (`vxlan->net`).
    """
    vxlan = link.vxlan
    if vxlan is not None and vxlan.external:
        yield f"link add {link.name} type vxlan external dstport {vxlan.port}"
    elif vxlan is not None:
        words = [f"link add {link.name} type vxlan id {vxlan.vni} dstport {vxlan.port}"]
        words.append("learning" if vxlan.learning else "nolearning")
        words.append("noudpcsum" if vxlan.checksum is False else "udpcsum")
        if vxlan.local:
            words.append(f"local {vxlan.local}")
        if vxlan.remote:
            words.append(f"remote {vxlan.remote}")
        yield " ".join(words)


def _tunnel(link: Link) -> list[str]:
    """Make an ipip, gre or geneve device inside its namespace, without what IPv6 says by itself on
    it; nothing for every other device.
    """
    words = [f"link add {link.name} type {link.kind}"]
    if link.geneve is not None and link.geneve.remote is not None:
        geneve = link.geneve
        words.append(f"id {geneve.vni} remote {geneve.remote} dstport {geneve.port}")
    elif link.ends is not None and not link.ends.external:
        ends = link.ends
        words.append(f"remote {ends.remote or 'any'} local {ends.local or 'any'}")
        words += [f"ikey {ends.takes_key}"] if ends.takes_key else []
        words += [f"okey {ends.sends_key}"] if ends.sends_key else []
    else:
        return []
    return [" ".join(words), f"link set {link.name} addrgenmode none"]


def _attributes(link: Link, present: set[str]) -> Iterator[str]:
    words = [f"mtu {link.mtu}"]
    if link.mac:
        words.append(f"address {link.mac}")
    if link.noarp and link.ends is None:
        words.append("arp off")
    if link.promisc:
        words.append("promisc on")
    if link.master and link.master in present:
        words.append(f"master {link.master}")
    yield f"link set {link.name} {' '.join(words)}"
    yield f"link set {link.name} {'up' if link.up else 'down'}"
    if link.bridge is not None:
        flags = (
            f"nf_call_iptables {int(link.bridge.nf_call_iptables)} nf_call_ip6tables "
            f"{int(link.bridge.nf_call_ip6tables)}"
        )
        yield f"link set {link.name} type bridge {flags}"
    port = link.port
    if port is not None and link.master in present:
        switches = (
            ("hairpin", port.hairpin),
            ("isolated", port.isolated),
            ("learning", port.learning),
            ("flood", port.flood),
        )
        words = [f"{name} {'on' if value else 'off'}" for name, value in switches]
        yield f"link set {link.name} type bridge_slave {' '.join(words)}"


def _bridge_mtus(links: list[Link]) -> Iterator[str]:
    """Set each bridge's MTU once more, after its ports: a bridge whose MTU nobody has changed
    follows the smallest of its ports (net/bridge/br_if.c:br_mtu_auto_adjust v6.12).
    """
    least = min((link.mtu for link in links if link.master), default=0)
    for link in links:
        if link.bridge is not None and least < link.mtu:
            yield f"link set {link.name} mtu {link.mtu}"


def _address(address: InterfaceAddress) -> str:
    peer = f" peer {address.peer}" if address.peer else ""
    words = [f"addr replace {address.address}{peer}/{address.length}"]
    if address.broadcast:
        words.append(f"broadcast {address.broadcast}")
    if address.noprefixroute:
        words.append("noprefixroute")
    if address.address.family == 6:
        words.append("nodad")
    words.append(f"scope {address.scope} dev {address.link}")
    return " ".join(words)


def _neighbour(neighbour: Neighbour) -> str:
    entry = f"neigh replace {neighbour.address}"
    if not neighbour.mac:
        return f"{entry} dev {neighbour.link} nud failed"
    kept = neighbour.state in ("PERMANENT", "NOARP", "STALE")
    state = neighbour.state.lower() if kept else "reachable"
    return f"{entry} lladdr {neighbour.mac} dev {neighbour.link} nud {state}"


def _settings(netns: Netns, devices: set[str]) -> Iterator[str]:
    """Write the sysctls that a packet's way can depend on, of devices that are there."""
    for key, fact in sorted(netns.sysctls.items(), key=_sysctl_order):
        found = DATAPATH_SYSCTLS.fullmatch(key)
        if found is None or not isinstance(fact, Known):
            continue
        device = found["device"] or found["device6"]
        if device is None:
            yield f"{key.replace('.', '/')} = {fact.value}"
        elif device in devices:
            # slashes between the parts, since a device's name may hold dots (sysctl(8))
            name = key.rpartition(".")[2]
            yield f"net/{key[4:8]}/conf/{device}/{name} = {fact.value}"


def _sysctl_order(item: tuple[str, object]) -> tuple[int, str]:
    """Put forwarding first and `all` before the devices: writing ip_forward resets other keys
    (devinet_sysctl_forward).
    """
    key = item[0]
    if key.endswith("ip_forward"):
        return (0, key)
    return (1 if ".all." in key else 2, key)


def _has_gateway(route: Route) -> int:
    """Order routes so that a gateway's own route is there before it is used; what is said to be on
    its link is added before another route can speak against it (`ip6_route_check_nh_onlink`).
    """
    if route.prefix.family == 6 and any(hop.onlink for hop in route.nexthops):
        return 0
    return 1 + any(hop.gateway for hop in route.nexthops)


def _route(route: Route) -> str:
    family = _IPV6 if route.prefix.family == 6 else ""
    words = [f"{family}route add"]
    if route.type != "unicast":
        words.append(route.type)
    prefix = route.prefix
    words.append(f"{prefix.address}/{prefix.length}" if prefix.length else "default")
    if len(route.nexthops) == 1:
        words.append(_nexthop(route.nexthops[0]))
    words.append(f"table {route.table}")
    if route.metric:
        words.append(f"metric {route.metric}")
    if route.prefsrc:
        words.append(f"src {route.prefsrc}")
    if route.scope != "global":
        words.append(f"scope {route.scope}")
    if route.tos:
        words.append(f"tos {route.tos:#x}")
    if route.mtu:
        words.append(f"mtu {'lock ' if route.mtu_locked else ''}{route.mtu}")
    if route.advmss:
        words.append(f"advmss {route.advmss}")
    if len(route.nexthops) > 1:
        words += [f"nexthop {_nexthop(hop)} weight {hop.weight}" for hop in route.nexthops]
    return " ".join(words)


def _nexthop(hop: Nexthop) -> str:
    words = []
    if hop.gateway:
        words.append(f"via {hop.gateway}")
    if hop.link:
        words.append(f"dev {hop.link}")
    if hop.onlink:
        words.append("onlink")
    return " ".join(words)


def _fdb(netns: Netns) -> Iterator[str]:
    for entry in netns.fdb.items:
        if entry.local:
            continue
        words = [f"fdb replace {entry.mac} dev {entry.link}"]
        words.append(f"dst {entry.dst} self" if entry.dst else "master")
        if entry.vlan:
            words.append(f"vlan {entry.vlan}")
        if not entry.dst:
            words.append("static")
        yield " ".join(words)


def _policy_rules(netns: Netns) -> Iterator[str]:
    default = {(rule.priority, rule.table) for rule in DEFAULT_RULES[4] + DEFAULT_RULES[6]}
    for rule in netns.rules.items:
        if (rule.priority, rule.table) not in default or rule.src or rule.dst or rule.iif:
            yield emit_policy_rule(rule)


def emit_policy_rule(rule: PolicyRule, verb: str = "add") -> str:
    """Spell a policy rule as `ip -batch` reads it."""
    words = ["-6"] if rule.family == 6 else []
    words.append(f"rule {verb}")
    if rule.negated:
        words.append("not")
    words.append(f"priority {rule.priority}")
    fields = (
        ("from", rule.src),
        ("to", rule.dst),
        ("iif", rule.iif),
        ("oif", rule.oif),
        ("fwmark", rule.mark),
        ("tos", None if rule.tos is None else f"{rule.tos:#x}"),
        ("ipproto", rule.protocol),
        ("sport", _ports(rule.sport)),
        ("dport", _ports(rule.dport)),
        ("uidrange", _ports(rule.uids)),
        ("suppress_prefixlength", rule.suppress_prefixlength),
    )
    words += [f"{name} {value}" for name, value in fields if value is not None]
    if rule.l3mdev:
        words.append("l3mdev")
    if rule.action == "goto":
        words.append(f"goto {rule.goto}")
    elif rule.action == "lookup" and not rule.l3mdev:
        words.append(f"lookup {rule.table}")
    elif not rule.l3mdev:
        words.append(rule.action)
    return " ".join(words)


def _ports(ports: tuple[int, int] | None) -> str | None:
    return None if ports is None else f"{ports[0]}-{ports[1]}"


def _netfilter(netns: Netns, left_out: list[str]) -> Iterator[ScriptCommand]:
    for family, netfilter in netns.netfilter.items():
        if netfilter.sets and family == 4:
            sets = "".join(map(emit_set, netfilter.sets.values()))
            yield ScriptCommand(("ipset", "restore", "-exist"), sets, netns.name)
        for flavour in ("legacy", "nft"):
            tables = [table for table in netfilter.tables if table.flavour == flavour]
            text = "".join(emit_table(table, left_out) for table in tables)
            if text:
                yield ScriptCommand((restore_program(family, flavour), "-c"), text, netns.name)
    native = "".join(map(nftables_text.emit_table, netns.nftables.items))
    if native:
        yield ScriptCommand(("nft", "-f", "-"), native, netns.name)


def restore_program(family: Family, flavour: str) -> str:
    """Name the program that loads a ruleset of that family and flavor."""
    tool = "ip6tables" if family == 6 else "iptables"
    return f"{tool}-{flavour}-restore"


def emit_table(table: Table, left_out: list[str]) -> str:
    """Spell an iptables table as iptables-restore reads it."""
    chains: list[Chain] = []
    for name, fact in table.chains.items():
        if isinstance(fact, Known):
            chains.append(fact.value)
        else:
            left_out.append(f"chain {name} of table {table.name}: {fact.why}")
    lines = [f"*{table.name}"]
    lines += [f":{chain.name} {chain.policy or '-'} [0:0]" for chain in chains]
    for chain in chains:
        lines += [f"[0:0] {emit_rule(rule)}" for rule in chain.rules]
    return "\n".join([*lines, "COMMIT", ""])


def emit_connection(entry: ConntrackEntry) -> str:
    """Spell a conntrack entry as `conntrack -R` reads it (conntrack(8), output format save); empty
    for other protocols.

    A translated entry is given as it was before NAT, with what NAT made of it: only so does the
    kernel translate its packets (net/netfilter/nf_conntrack_netlink.c:ctnetlink_setup_nat v6.12).
    """
    original, reply = entry.original, entry.reply
    if original.protocol not in (protocols.TCP, protocols.UDP):
        return ""
    flags = ["SEEN_REPLY"] if entry.replied else []
    flags += ["ASSURED"] if entry.assured else []
    words = [
        f"-A -t {entry.timeout or 60} -u {','.join(flags) or 'UNSET'}",
        f"-s {original.src} -d {original.dst} -r {original.dst} -q {original.src}",
        f"-p {protocols.protocol_name(original.protocol)}",
        f"--sport {original.sport} --dport {original.dport}",
        f"--reply-port-src {original.dport} --reply-port-dst {original.sport}",
    ]
    if original.protocol == protocols.TCP:
        words.append(f"--state {entry.state or 'ESTABLISHED'}")
    if (reply.src, reply.sport) != (original.dst, original.dport):
        words.append(f"--dst-nat {reply.src}:{reply.sport}")
    if (reply.dst, reply.dport) != (original.src, original.sport):
        words.append(f"--src-nat {reply.dst}:{reply.dport}")
    if entry.mark:
        words.append(f"--mark {entry.mark}")
    if entry.zone:
        words.append(f"--zone {entry.zone}")
    return " ".join(words)


def emit_set(ipset: IpSet) -> str:
    """Spell a set as `ipset restore` reads it."""
    head = [f"create {ipset.name} {ipset.type}"]
    of_addresses = ipset.type.startswith("hash:") and "mac" not in ipset.type
    if of_addresses and "family" not in ipset.options:
        head.append("family inet6" if ipset.family == 6 else "family inet")
    head += [f"{name} {value}".rstrip() for name, value in ipset.options.items()]
    lines = [" ".join(head)]
    for member in ipset.members:
        words = [f"add {ipset.name} {','.join(member.parts)}"]
        words += [f"{option.name} {' '.join(option.values)}".rstrip() for option in member.options]
        if member.nomatch:
            words.append("nomatch")
        lines.append(" ".join(words))
    return _batch(lines)


def emit_shell(
    twin: Twin, standins: tuple[ScriptCommand, ...] = (), notes: tuple[str, ...] = ()
) -> str:
    """Write a whole twin as a shell script that a stranger can read, run as root and attach to a
    report.
    """
    names = " ".join(shlex.quote(name) for name in twin.namespaces)
    head = [
        "#!/bin/sh",
        (
            "# Rebuilds one node in network namespaces, then gives a shell; leaving it takes "
            "everything down."
        ),
        "# Run as root, best in a world of its own: unshare --mount --net sh THIS-FILE",
        "set -eu",
        "daemons=",
        "take_down() {",
        "  kill $daemons 2>/dev/null || :",
        f"  rm -rf {RUNNING}",
        f'  for netns in {names}; do ip netns del "$netns" 2>/dev/null || :; done',
        "}",
        "trap take_down EXIT",
        "mkdir -p /run/netns",
    ]
    remarks = [f"# {line}" for note in (*notes, *twin.left_out) for line in note.split("\n")]
    commands = [command.shell() for command in (*twin.commands, *standins)]
    return "\n".join([*head, *remarks, *commands, '"${SHELL:-/bin/sh}"', ""])
