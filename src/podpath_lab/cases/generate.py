"""Random nodes and probes over what the datapath models: each case is made from one number, and
only from it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.node.node import HOST, Node
from podpath.xtables.legality import ChainPolicy
from podpath_lab.cases import clients, corners, dual_stack, macvlans, proxies, tunnels
from podpath_lab.cases.boundaries import SHARE, draw_settings, move_to_boundaries
from podpath_lab.cases.crafted import draw_frame
from podpath_lab.cases.nat import draw_nat
from podpath_lab.cases.nftables import draw_native
from podpath_lab.cases.routing import PORTS, draw_addresses, draw_routing, draw_sysctls
from podpath_lab.cases.rules import count_states, draw_table, make_sets
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import TOPOLOGIES, Topology

BOTH = 3
"""Of so many cases that are mixed one has both families."""
NATIVE_SHARE = 0.2
"""How many cases have native nftables besides what else was drawn; a chance of their own, so that
no other draw changes.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedCase:
    """One case of kernel agreement."""

    seed: int
    topology: str
    node: Node
    probe: Probe
    nat: bool
    """True where some NAT rule was drawn."""
    fault: str
    """The fault that was put in; empty where none was."""
    frame: Packet | None = None
    """A crafted frame that is sent instead of a connection's packets; None for a connection."""
    families: frozenset[str] = frozenset()
    """What rarer things were drawn, as a tally counts them."""


def generate_case(
    seed: int,
    kernel: str | None = None,
    *,
    both_families: bool = False,
    kinds: Collection[str] = (),
) -> GeneratedCase:
    """Draw one node and one probe; `kernel` (`uname -r`) decides how its drop reasons are called,
    and nothing else. With `both_families` the node of the same seed has IPv6 too, and most probes
    are sent by it; `kinds` of tunnels are drawn beside vxlan, on nodes of IPv4 alone.
    """
    chance = Random(seed)
    topology = draw_addresses(chance, chance.choice(TOPOLOGIES)())
    probe = _draw_probe(chance, topology)
    host = topology.draft.namespaces[HOST]
    host.sets = make_sets(sorted({address for _, address in topology.speakers}))
    draw_sysctls(chance, topology)
    draw_routing(chance, host, topology)
    nat = chance.random() < 0.6
    flavour = chance.choice(_FLAVOURS)
    if nat:
        probe = draw_nat(chance, host, topology, probe, flavour)
    _draw_tables(chance, host, topology, flavour)
    native = Random(f"{seed} native")
    if native.random() < NATIVE_SHARE:
        draw_native(native, host, topology)
    fault = _draw_fault(chance, host) if chance.random() < 0.3 else ""
    crafted = probe.netns != HOST and chance.random() < 0.2
    frame = draw_frame(chance, topology, probe) if crafted else None
    edges = Random(f"{seed} boundaries")
    if edges.random() < SHARE:
        draw_settings(edges, host, topology)
        move_to_boundaries(edges, host, tuple(filter(None, (*PORTS, probe.sport, probe.dport))))
    frame = _draw_corners(seed, topology, flavour, frame)
    proxies.draw_proxy(Random(f"{seed} proxy"), host, flavour)
    if frame is None:
        probe = _draw_ends(seed, topology, probe)
    else:
        count_states(chance, host, flavour)
    _leave_out_sets(host)
    tunnel = ""
    if both_families:
        probe, frame = _widen(Random(f"{seed} families"), topology, probe, frame)
    else:
        tunnel = tunnels.draw_tunnel(Random(f"{seed} tunnel"), topology, kinds)
    return GeneratedCase(
        seed=seed,
        topology=topology.name,
        node=topology.draft.freeze(kernel, () if frame else PORTS),
        probe=probe,
        nat=nat,
        fault=fault,
        frame=frame,
        families=_name_families(probe, tunnel, both=both_families),
    )


_FLAVOURS = ("nft", "legacy")
_TABLES = {"raw": 0.3, "mangle": 0.4, "filter": 0.8, "security": 0.1}
"""How often each table has rules."""


def _draw_tables(chance: Random, host: DraftNetns, topology: Topology, flavour: str) -> None:
    """Draw the tables without NAT, most of them in the flavor of the others."""
    for name, share in _TABLES.items():
        if chance.random() < share:
            own = flavour if chance.random() < 0.8 else chance.choice(_FLAVOURS)
            draw_table(chance, host, topology, name, own)


def generate_mixed(
    seed: int, kernel: str | None = None, *, kinds: Collection[str] = ()
) -> GeneratedCase:
    """Draw a case of IPv4 alone, or for every third seed of both families."""
    return generate_case(seed, kernel, both_families=seed % BOTH == 0, kinds=kinds)


def _draw_corners(
    seed: int, topology: Topology, flavour: str, frame: Packet | None
) -> Packet | None:
    """Draw what no other draw comes by, now and then; return the frame, which may be another."""
    chance = Random(f"{seed} corners")
    if chance.random() >= corners.SHARE:
        return frame
    other = Random(f"{seed} gateway").choice((flavour, "nft", "legacy"))
    corners.draw_corners(chance, topology, flavour, other)
    if frame is not None:
        return corners.draw_odd_frame(chance, topology, frame)
    return None


def _widen(
    chance: Random, topology: Topology, probe: Probe, frame: Packet | None
) -> tuple[Probe, Packet | None]:
    """Give the node both families, and send most probes by IPv6."""
    dual_stack.give_both(topology.draft)
    if chance.random() >= dual_stack.PROBED:
        return probe, frame
    return dual_stack.move_probe(probe), dual_stack.move_frame(frame) if frame else None


def _leave_out_sets(host: DraftNetns) -> None:
    """Leave out the sets where no rule asks for one: to make them costs a process."""
    if not _asks_for_sets(host):
        host.sets = {}


def _name_families(probe: Probe, tunnel: str, *, both: bool) -> frozenset[str]:
    named = clients.name_options(probe.sending)
    if tunnel:
        named |= {f"{tunnel} tunnel"}
    if both:
        named |= {"both families"}
    if probe.src.family == 6:
        return named | {"sent by IPv6"}
    return named


def _draw_ends(seed: int, topology: Topology, probe: Probe) -> Probe:
    """Let the probe start or end at a pod of the uplink's wire, and have options of a socket."""
    probe = macvlans.draw_macvlans(Random(f"{seed} macvlan"), topology, probe)
    chance = Random(f"{seed} client")
    if chance.random() < clients.SHARE:
        return clients.draw_client(chance, probe)
    return probe


def _asks_for_sets(host: DraftNetns) -> bool:
    for table in host.tables.values():
        for chain in table.chains.values():
            for rule in chain:
                if any(match.name == "set" for match in rule.matches):
                    return True
                if rule.target is not None and rule.target.name == "SET":
                    return True
    return False


def _draw_probe(chance: Random, topology: Topology) -> Probe:
    netns, source = chance.choice(topology.speakers)
    others = [address for name, address in topology.speakers if name != netns]
    destination = chance.choice(others)
    protocol = chance.choice((protocols.TCP,) * 3 + (protocols.UDP, protocols.ICMP))
    port = 0 if protocol == protocols.ICMP else chance.choice(PORTS)
    return Probe(protocol, source, destination, chance.randrange(30000, 60000), port, netns)


def _draw_fault(chance: Random, host: DraftNetns) -> str:
    kind = chance.choice(("ip_forward off", "rp_filter strict", "no route", "policy drop"))
    if kind == "ip_forward off":
        host.sysctls["net.ipv4.ip_forward"] = "0"
    elif kind == "rp_filter strict":
        host.sysctls["net.ipv4.conf.all.rp_filter"] = "1"
    elif kind == "no route":
        host.routes = [
            route for route in host.routes if route.prefix.length != 0 or route.table != 254
        ]
    else:
        host.table("filter", "nft").policies["FORWARD"] = ChainPolicy.DROP
    return kind
