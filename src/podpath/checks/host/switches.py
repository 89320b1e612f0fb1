"""Switches of the kernel that are a fault together with what people say fails: one row each."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.firewall import chains_named
from podpath.checks.forwarded import DevicePath, find_end
from podpath.checks.switch_check import SwitchCheck
from podpath.checks.told import LOSSES, WORKLOADS, find_told, list_failing, list_lost
from podpath.net import protocols
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.provenance import Known, Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

FILTERED, MANY = "TcpExtIPReversePathFilter", 100
"""The counter of what strict filtering dropped, and more than strays of a network make."""


def _list_by_loopback(case: Case) -> tuple[Span, ...]:
    """Return who says that what rules translate to loopback gets no answer from elsewhere."""
    told = find_told(case, Circumstance.TO_LOOPBACK)
    lost = [one.span for one in list_lost(case) if one.source != EndKind.NODE]
    return (told, *lost) if told is not None and lost else ()


def _list_by_two_ways(case: Case) -> tuple[Span, ...]:
    """Return who says that packets come and go by different ways and get lost."""
    ways = (Circumstance.SEVERAL_WAYS, Circumstance.RETURNS_ELSEWHERE)
    told = next((span for one in ways if (span := find_told(case, one)) is not None), None)
    lost = [one.span for one in list_lost(case)]
    return (told, *lost) if told is not None and lost else ()


def _list_filtered(case: Case) -> tuple[Span, ...]:
    """Return who says so, where the kernel is said to have called them martians, or has counted
    many that its filter dropped while the route back is said to lead elsewhere.
    """
    lost = _list_by_two_ways(case)
    if not lost:
        return ()
    said = find_told(case, Circumstance.MARTIANS)
    back = find_told(case, Circumstance.RETURNS_ELSEWHERE)
    counted = case.node.host.counters.get(FILTERED)
    many = counted is not None and counted.value >= MANY
    if said is None and (back is None or not many):
        return ()
    spans = (said, back, counted.span if counted is not None and many else None, *lost)
    return tuple(span for span in spans if span is not None)


def _list_bridged(case: Case) -> tuple[Span, ...]:
    """Return who says that two ends of one bridge do not reach each other, or that guests which
    are bridged to the network outside have none.
    """
    lost: list[Span] = []
    for one in list_lost(case):
        near = one.source in WORKLOADS and one.target in (None, *WORKLOADS)
        if near and find_told(case, Circumstance.ON_ONE_BRIDGE) is not None:
            lost.append(one.span)
        guests = {one.source, one.target} & {EndKind.GUEST, EndKind.CONTAINER}
        if guests and find_told(case, Circumstance.BRIDGED) is not None:
            lost.append(one.span)
    told = (find_told(case, one) for one in (Circumstance.ON_ONE_BRIDGE, Circumstance.BRIDGED))
    said = tuple(span for span in told if span is not None)
    return (*said[:1], *lost) if lost else ()


def _list_bridged_and_dropped(case: Case) -> tuple[Span, ...]:
    """Return who says so, where what comes in and leaves by a bridge is dropped in FORWARD, as its
    rules show, or as people say where no rule is shown.
    """
    lost = _list_bridged(case)
    if not lost:
        return ()
    shown = [(table, chain) for table, chain in chains_named(case.node.host, "filter", "FORWARD")]
    told = find_told(case, Circumstance.FORWARD_DROPS)
    if not shown:
        return (*lost[:1], told, *lost[1:]) if told is not None else ()
    ends = [find_end(table, chain, DevicePath(None, None)) for table, chain in shown]
    spans = tuple(end.span for end in ends if end is not None and end.sure)
    return (*lost[:1], *spans, *lost[1:]) if len(spans) == len(ends) else ()


def _list_pings(case: Case) -> tuple[Span, ...]:
    """Return who says that pings get no answer."""
    pings = (protocols.ICMP, protocols.ICMPV6)
    return tuple(one.span for one in list_lost(case) if one.protocol in pings)


def _list_pings_of_host(case: Case) -> tuple[Span, ...]:
    """Return who says that the host answers no ping of anybody else."""
    meant = {
        one.span
        for one in list_lost(case)
        if one.target is EndKind.NODE and one.source != EndKind.NODE
    }
    return tuple(span for span in _list_pings(case) if span in meant)


def _list_by_ipv6(case: Case) -> tuple[Span, ...]:
    """Return who says that what the host forwards is cut off by IPv6."""
    return tuple(
        one.span
        for one in list_lost(case)
        if Technology.IPV6 in one.mentions and one.source in WORKLOADS
        if one.target is EndKind.OUTSIDE or one.same_node is False
    )


def _list_by_cilium(case: Case) -> tuple[Span, ...]:
    """Return who says that pods of Cilium get no answer, where its options state that pods have no
    routes of their own, so that the route back is by cilium_host.
    """
    return _list_lost_pods(case) if _is_endpoint_routed(case) is False else ()


def _list_maybe_by_cilium(case: Case) -> tuple[Span, ...]:
    """Return who says so, where the option is not shown."""
    return _list_lost_pods(case) if _is_endpoint_routed(case) is None else ()


def _is_endpoint_routed(case: Case) -> bool | None:
    """Tell whether Cilium gives each pod a route of its own; None where nothing states it."""
    cilium = case.node.cilium
    option = cilium.options.get("enable-endpoint-routes") if cilium is not None else None
    return option.value == "true" if isinstance(option, Known) else None


def _list_lost_pods(case: Case) -> tuple[Span, ...]:
    loose = case.node.host.sysctls.get("net.ipv4.conf.all.rp_filter")
    if Technology.CILIUM not in case.mentions or (isinstance(loose, Known) and loose.value == "2"):
        return ()
    return tuple(one.span for one in list_lost(case) if EndKind.POD in {one.source, one.target})


def _list_nobody(_: Case) -> tuple[Span, ...]:
    return ()


def _list_old_clients(case: Case) -> tuple[Span, ...]:
    """Return who says that anything gets no answer, or not always."""
    return tuple(one.span for one in list_failing(case) if one.failure in {None, *LOSSES})


SWITCHES: tuple[SwitchCheck, ...] = (
    SwitchCheck(
        name="loopback-not-routed",
        title="packets are translated to a loopback address, but the kernel is not allowed to "
              "route them there.",
        keys=("net.ipv4.conf.*.route_localnet",),
        value="0",
        unless=frozenset({"1"}),
        categories=(Category.ROUTE_LOCALNET, Category.SYSCTL),
        cuts=_list_by_loopback,
        may_cut=_list_nobody,
        possible=0.5,
        claim="Packets from other hosts or pods that a rule translates to 127.0.0.0/8 are dropped "
              "because route_localnet is 0.",
        breaks="traffic that is redirected to a program on a loopback address",
        cure="allow it on the device that the packets come in on",
        commands=("sysctl -w net.ipv4.conf.all.route_localnet=1",),
        ask=FollowUp(
            "whether the rule translates to a loopback address",
            "iptables -t nat -S | grep 127",
            "it does: translate to one of the host's addresses, or allow route_localnet",
        ),
        why="The kernel treats a packet from outside with a destination in 127.0.0.0/8 as a "
            "martian and drops it after the translation, so the rule's counter goes up but nothing "
            "answers.",
        references="ip_route_input_slow (net/ipv4/route.c v6.12); "
                   "Documentation/networking/ip-sysctl.rst, route_localnet",
    ),
    SwitchCheck(
        name="strict-filter-two-ways",
        title="packets and their replies take different paths, and the reverse-path filter is "
              "strict.",
        keys=("net.ipv4.conf.*.rp_filter",),
        value="1",
        unless=frozenset({"2"}),
        categories=(Category.REVERSE_PATH_FILTER, Category.SYSCTL),
        cuts=_list_filtered,
        may_cut=_list_by_two_ways,
        possible=0.6,
        claim="The strict reverse-path filter drops packets whose return route uses another "
              "device.",
        breaks="connections whose packets come in on one device and are answered through another",
        cure="loosen the filter",
        commands=("sysctl -w net.ipv4.conf.all.rp_filter=2",),
        ask=FollowUp(
            "whether the filter drops the packets",
            "nstat -az TcpExtIPReversePathFilter; ip route get SOURCE",
            "the counter grows, or the route uses another device: the filter drops them",
        ),
        why="Strict filtering looks up the route back to each packet's sender; if policy routing, "
            "a VPN or a second uplink makes it use another device, the packet is dropped silently "
            "(or logged as a martian if log_martians is on).",
        references="fib_validate_source (net/ipv4/fib_frontend.c v6.12); RFC 3704",
    ),
    SwitchCheck(
        name="bridged-packets-filtered",
        title="bridged packets go through iptables, which drops them.",
        keys=("net.bridge.bridge-nf-call-iptables",),
        value="1",
        categories=(Category.BRIDGE_NETFILTER, Category.FORWARD_POLICY),
        cuts=_list_bridged_and_dropped,
        may_cut=_list_bridged,
        possible=0.5,
        claim="Packets within one bridge go through iptables, whose FORWARD chain drops what no "
              "rule accepts.",
        breaks="traffic between two ports of one bridge",
        cure="let bridged packets bypass iptables, or accept them in FORWARD",
        commands=("sysctl -w net.bridge.bridge-nf-call-iptables=0",),
        ask=FollowUp(
            "what FORWARD does with the bridge's packets",
            "iptables -S FORWARD",
            "a policy of DROP and no rule for the bridge: FORWARD drops them",
        ),
        why="With br_netfilter loaded and bridge-nf-call-iptables on, a frame from port to port "
            "traverses the chains for forwarded packets. A container engine that sets the FORWARD "
            "policy to DROP thereby cuts off guests on other bridges.",
        references="br_nf_pre_routing (net/bridge/br_netfilter_hooks.c v6.12); "
                   "Documentation/networking/ip-sysctl.rst",
    ),
    SwitchCheck(
        name="cilium-device-filtered",
        title="the reverse-path filter is strict on the devices of Cilium's pods.",
        keys=("net.ipv4.conf.lxc*.rp_filter",),
        value="1",
        categories=(Category.REVERSE_PATH_FILTER, Category.SYSCTL, Category.NETWORK_MANAGER),
        cuts=_list_by_cilium,
        may_cut=_list_maybe_by_cilium,
        possible=0.6,
        claim="The reverse-path filter is strict on the devices of pods, whose way back Cilium has "
              "by another device (cilium_host).",
        breaks="what pods send through the host's own stack: answers to the host, and to other "
               "nodes",
        cure="switch it off for the devices of pods",
        commands=("sysctl -w net.ipv4.conf.all.rp_filter=0",
                  "echo 'net.ipv4.conf.lxc*.rp_filter = 0' > /etc/sysctl.d/99-zz-cilium.conf"),
        ask=FollowUp(
            "whether the filter drops the packets",
            "nstat -az TcpExtIPReversePathFilter; ip route get POD; "
            "cilium config view | grep endpoint-routes",
            "the counter grows, and the route to the pod is by cilium_host: the filter drops them",
        ),
        why="Cilium sets rp_filter to 0 when it makes a device. systemd from 245 on sets its own "
            "default for each device, also for those of pods.",
        references="fib_validate_source (net/ipv4/fib_frontend.c v6.12); cilium/cilium#10645",
    ),
    SwitchCheck(
        name="ipv6-not-forwarded",
        title="the host forwards no IPv6.",
        keys=("net.ipv6.conf.all.forwarding",),
        value="0",
        categories=(Category.IP_FORWARD, Category.IPV6, Category.SYSCTL),
        cuts=_list_by_ipv6,
        may_cut=_list_nobody,
        possible=0.5,
        claim="IPv6 forwarding is off, so the host drops what pods, containers or guests send "
              "beyond it by IPv6.",
        breaks="everything by IPv6 that the host would have to forward",
        cure="forward IPv6, and accept router advertisements still",
        commands=("sysctl -w net.ipv6.conf.all.forwarding=1",
                  "sysctl -w net.ipv6.conf.UPLINK.accept_ra=2"),
        ask=FollowUp(
            "whether packets come in and leave by no device", "tcpdump -ni any ip6",
            "they come in only: forwarding is what is missing",
        ),
        why="The kernel asks the switch of all devices, and no other one, before it forwards a "
            "packet of IPv6.",
        references="ip6_forward (net/ipv6/ip6_output.c v6.12)",
    ),
    SwitchCheck(
        name="pings-ignored",
        title="the host does not answer pings.",
        keys=("net.ipv4.icmp_echo_ignore_all", "net.ipv6.icmp.echo_ignore_all"),
        value="1",
        categories=(Category.SYSCTL,),
        cuts=_list_pings_of_host,
        may_cut=_list_pings,
        possible=0.5,
        claim="The host ignores every ping because icmp_echo_ignore_all is 1.",
        breaks="pings to this host, and whatever uses them as a health check",
        cure="answer pings again",
        commands=("sysctl -w net.ipv4.icmp_echo_ignore_all=0",),
        ask=FollowUp(
            "whether anything but ping fails", "curl -v http://ADDRESS/",
            "it works: the host ignores only pings",
        ),
        why="Echo requests are dropped silently; nothing else is affected.",
        references="icmp_echo (net/ipv4/icmp.c v6.12); Documentation/networking/ip-sysctl.rst",
    ),
    SwitchCheck(
        name="time-wait-recycled",
        title="clients behind one address are refused because their clocks differ.",
        keys=("net.ipv4.tcp_tw_recycle",),
        value="1",
        categories=(Category.SYSCTL,),
        cuts=_list_nobody,
        may_cut=_list_old_clients,
        possible=0.7,
        claim="With tcp_tw_recycle, the host drops connections from clients whose timestamps are "
        "older than those of another client with the same address.",
        breaks="connections from clients behind NAT, from time to time",
        cure="turn it off",
        commands=("sysctl -w net.ipv4.tcp_tw_recycle=0",),
        ask=FollowUp(
            "whether connections are dropped because of their timestamps",
            "nstat -az TcpExtPAWSPassive; netstat -s | grep -i timestamp",
            "the counter grows with the failures: this is the cause",
        ),
        why="Kernels before 4.12 remember the last timestamp of each address and drop a SYN with "
            "an older one. Behind NAT, several clocks share one address.",
        references="tcp_conn_request (net/ipv4/tcp_input.c v4.11)",
    ),
)  # fmt: skip
"""In the order of the manual."""
