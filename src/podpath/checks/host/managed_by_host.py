"""managed-by-host: NetworkManager, systemd-networkd or a DHCP client manages devices of a CNI
plugin or container engine.

What it is
    `nmcli device` lists a plugin's device (cali..., flannel.1, cni0, vxlan.calico, cilium_...,
    veth...) as connected with its own profile, or `networkctl` lists it (or docker0, or another
    engine's bridge) as configuring or configured, by a file whose [Match] also matches it; or the
    log of such a daemon (NetworkManager, networkd, udev, dhclient, dhcpcd, ConnMan, wicked) shows
    that it requests a lease on the device, sets its addresses and routes, or changes its state; or
    that it deletes the host's default route right after such a device came or went.

Why it breaks
    The manager treats such a device as its own: it removes addresses, routes and rules that it did
    not set, takes the device down, requests a DHCP lease on it, gives it an address from
    169.254.0.0/16 or a default route, or changes its MAC. Pods lose their network some time after
    they start, or after the manager restarts.

How to confirm
    nmcli device; networkctl list
    journalctl -u NetworkManager -u systemd-networkd -u dhcpcd | grep -E 'cali|flannel|cni|veth|lxc'

How to fix
    NetworkManager: /etc/NetworkManager/conf.d/cni.conf with [keyfile] unmanaged-devices=interface-
    name:cali*;interface-name:flannel*;interface-name:cni*;interface-name:veth*. networkd: a
    .network file with [Match] Name=... and [Link] Unmanaged=yes; ManageForeignRoutes=no,
    ManageForeignRoutingPolicyRules=no in networkd.conf. dhcpcd: denyinterfaces veth* br-* docker*;
    ConnMan: NetworkInterfaceBlacklist=veth,docker,br-; udev: a .link file with
    MACAddressPolicy=none for them.

References
    NetworkManager.conf(5); networkd.conf(5); docs.tigera.io, configure NetworkManager
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.ground import Ground
from podpath.checks.said import QUOTED, find_said
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, WORKLOADS, find_told, list_failing
from podpath.checks.wanted import wanted_devices
from podpath.net.addresses import Address
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Known, Span, list_spans
from podpath.net.statements import DeviceManager, ManagedDevice
from podpath.node.case import Case
from podpath.node.shifts import ShiftKind

CATEGORIES = (Category.NETWORK_MANAGER,)
NAME = "managed-by-host"


PLUGINS = (
    "cali",
    "flannel",
    "cni",
    "vxlan.calico",
    "tunl",
    "cilium",
    "lxc",
    "veth",
    "weave",
    "vxlan-6784",
    "kube-",
    "eni",
    "wireguard.cali",
)
TAKEN = (
    "connected",
    "disconnected",
    "configured",
    "configuring",
    "failed",
    "connecting",
    "activating",
)


_SOON = 8
"""Lines of a log within which one act follows from another."""
ASSUMED = "connection-assumed"
"""The reason of a state change of a device that keeps its configuration (NetworkManager,
NM_DEVICE_STATE_REASON_CONNECTION_ASSUMED).
"""
_CUT_OFF = LOSSES | {FailureKind.SOMETIMES, FailureKind.NO_ADDRESS, None}
"""How people say that a workload's device lost what it had."""
_OF_CONTAINERS = re.compile(
    r"(?:veth|vethwe|cali|lxc_?|tap|vnet|eni)[0-9a-f][\w@.-]*$|veth-[\w@.-]+$|"
    r"(?:docker|cni|podman|nerdctl|flannel|cilium_|weave|vxlan\.calico|wireguard\.cali|"
    r"kube-bridge|kube-ipvs|cbr|lxdbr|incusbr|"
    r"antrea-gw|ovn-k8s-mp|genev_sys_|vxlan_sys_|tunl)[\w.-]*$|"
    r"br-(?:[0-9a-f]{12}|int|ex|tun)$|nodelocaldns$"
)
"""Names that engines, plugins and hypervisors give to their devices."""
_BY_HAND = re.compile(
    r"\bnmcli\b.*\b(?:up|connect|modify|add)\b|\bnetworkctl (?:up|renew)\b|\bifup\b"
)
"""Commands by which somebody has a daemon set a device up."""
ASK = FollowUp(
    "whether the failure begins when the daemon acts on the device",
    (
        "journalctl -b -o short-precise | grep -e veth -e docker0 -e cali -e cni; "
        "ip monitor link address route"
    ),
    "an address, route or link disappears right after the daemon's line: keep it off these devices",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first device of a plugin that a manager took, or what daemons of the host did to
    devices of containers.
    """
    stated = tuple(_list_stated(case))
    yield from stated or _list_told(case)


def _list_stated(case: Case) -> Iterator[Finding]:
    wanted = _list_wanted(case)
    for device, stated in statements_of(case, ManagedDevice):
        if (
            not _is_plugins(device)
            or device.link in wanted
            or str(device.link) in device.file.rpartition("/")[2]
            or device.state.split(" (")[0] not in TAKEN
            or "externally" in device.state
        ):
            continue
        gone = _find_gone(case, device)
        sure = _is_acting(case, device) and (gone or device.link.startswith(PLUGINS))
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{device.manager} manages {device.link}, a device of the network plugin (its "
                f"state there is {device.state})."
            ),
            evidence=(stated.span, *gone),
            reasoning=(
                "A manager removes or replaces whatever it did not set itself.",
                *((f"It configures it by {device.file}.",) if device.file else ()),
            ),
            breaks=(
                "addresses, routes and rules of pods, the next time the manager checks the device",
            ),
            prevention="Tell the manager to leave the plugin's devices alone.",
            certainty=1.0 if sure else 0.5,
            marks=(str(device.link), device.state),
        )
        return


def _list_wanted(case: Case) -> frozenset[str]:
    """Return the devices that somebody means the daemon to set up: a file of its own names them, or
    a command does that was typed.
    """
    typed = [span.source.command or "" for span in list_spans(case.gaps)]
    typed += [one.span.source.command or "" for one in case.messages]
    words = [word for line in typed if _BY_HAND.search(line) for word in line.split()]
    return frozenset((*words, *(wanted.device for wanted in wanted_devices(case))))


def _is_plugins(device: ManagedDevice) -> bool:
    """Tell whether a device is a plugin's or engine's. NetworkManager lists every bridge as
    connected; networkd sets up only what a file matches.
    """
    if device.link.startswith(PLUGINS):
        return True
    networkd = device.manager is DeviceManager.NETWORKD
    return networkd and _OF_CONTAINERS.match(device.link) is not None


def _find_gone(case: Case, device: ManagedDevice) -> tuple[Span, ...]:
    """Return the line of an address that the device had and then has not."""
    return tuple(
        shift.good
        for shift in case.shifts
        if shift.kind is ShiftKind.ADDRESS
        and shift.link == device.link
        and shift.good is not None
        and shift.bad is None
    )[:1]


def _is_acting(case: Case, device: ManagedDevice) -> bool:
    """Tell whether a manager configures a workload's device by a profile of its own just now, where
    people say that workloads lose their network.
    """
    own = device.profile not in {"", str(device.link)}
    configures = device.state.startswith(("connecting", "configuring"))
    lost = any(
        {one.source, one.target} & WORKLOADS and one.failure in _CUT_OFF
        for one in list_failing(case)
    )
    return own and configures and lost


def _list_told(case: Case) -> Iterator[Finding]:
    """Report what a daemon did to a device of containers; else that it took note of one, which need
    not matter.
    """
    wanted = _list_wanted(case)
    said = find_said(
        case, MessageKind.DEVICE_TAKEN, MessageKind.DEVICE_NOT_CONFIGURED, MessageKind.DEVICE_SEEN
    )
    others = [one for one in said if _is_named_so(one) and one.values.get("device") not in wanted]
    acts = [one for one in others if "act" in one.values]
    done = [one for one in acts if one.kind is MessageKind.DEVICE_TAKEN]
    left = tuple(one for one in others if one.kind is MessageKind.DEVICE_NOT_CONFIGURED)
    seen = [one for one in acts if one.kind is MessageKind.DEVICE_SEEN]
    fails = any(True for _ in list_failing(case))
    if done:
        assumed = _list_assumed(case)
        fitting = [
            one
            for one in done
            if one.values.get("device") not in assumed and _is_on_path(case, one)
        ]
        found = _tell(fitting or done, severity=Severity.FAULT, certainty=1.0 if fitting else 0.7)
        yield replace(found, settled_by=frozenset({Ground.AT_CONTAINER_START}))
    elif seen and (lost := _find_lost_routes(case, seen)):
        first = lost[0]
        found = _tell((first, *seen), severity=Severity.FAULT, certainty=0.7)
        told = fails and find_told(case, Circumstance.AT_CONTAINER_START) is not None
        daemon, device = first.values.get("daemon", "A daemon of the host"), first.values["device"]
        yield replace(
            found,
            claim=(
                f"{daemon} treats {seen[0].values['device']}, a container device, as one of the "
                f"host's own, and then takes routes from {device} ({first.values['act']})."
            ),
            certainty=1.0 if told else 0.7,
            asks=() if told else found.asks,
        )
    elif left:
        found = _tell(left, severity=Severity.FAULT, certainty=0.7 if fails else 0.4)
        yield replace(found, settled_by=frozenset({Ground.AT_CONTAINER_START}))
    elif seen:
        severity = Severity.FAULT if fails else Severity.RISK
        yield _tell(seen, severity=severity, certainty=0.4)


def _find_lost_routes(case: Case, seen: Sequence[Message]) -> list[Message]:
    """Return the lines with which a daemon deletes a default route of the host, soon after one of
    it about a device of containers.
    """
    noted = find_said(case, MessageKind.DEVICE_SEEN)
    down = {one.values.get("device") for one in noted if one.values.get("act") == "carrier lost"}
    return [
        one
        for one in find_said(case, MessageKind.DEVICE_TAKEN)
        if one.values.get("act", "").startswith("deleting default route")
        and one.values.get("device") not in down
        and _follows(one, seen)
    ]


def _follows(message: Message, seen: Sequence[Message]) -> bool:
    """Tell whether a line stands shortly below one of the same daemon."""
    return any(
        one.span.source.name == message.span.source.name
        and one.values.get("daemon") == message.values.get("daemon")
        and 0 < message.span.line - one.span.last_line <= _SOON
        for one in seen
    )


def _list_assumed(case: Case) -> frozenset[str]:
    """Return the devices that NetworkManager took over as they were: it changes nothing there, but
    logs the same transitions.
    """
    told = (
        *find_said(case, MessageKind.DEVICE_SEEN),
        *find_said(case, MessageKind.DEVICE_TAKEN),
    )
    return frozenset(one.values.get("device", "") for one in told if _says_assumed(one))


def _says_assumed(message: Message) -> bool:
    return any(ASSUMED in span.text for span in list_spans((message,)))


def _is_on_path(case: Case, message: Message) -> bool:
    """Tell whether what fails goes over what a daemon changed: a workload's traffic over a device
    of workloads, anything that leaves over a default route, or who names the device or an address
    on it.
    """
    device, act = message.values.get("device", ""), message.values.get("act", "")
    owner = _list_addresses(case, device)
    for complaint in list_failing(case):
        named = set(complaint.addresses)
        if device in complaint.words or named & owner:
            return True
        if "default route" in act and complaint.target in {EndKind.OUTSIDE, EndKind.NAME_SERVER}:
            return True
        is_workload = bool({complaint.source, complaint.target} & WORKLOADS)
        if is_workload and not (owner and named):
            return True
    return False


def _list_addresses(case: Case, device: str) -> frozenset[Address]:
    """Return the addresses of a host's device, and of whom it leads to; empty where nothing shows
    them.
    """
    node = case.node
    peers = (link.peer for link in node.host.links.items if link.name == device)
    inner = {peer.value.netns for peer in peers if isinstance(peer, Known)}
    found = {item.address for item in node.host.addresses.items if item.link == device}
    for name in inner & set(node.namespaces):
        found |= {item.address for item in node.namespaces[name].addresses.items}
    return frozenset(found)


def _tell(said: Sequence[Message], severity: Severity, certainty: float) -> Finding:
    first = said[0]
    daemon = first.values.get("daemon", "A daemon of the host")
    device, act = first.values["device"], first.values.get("act", "gave up on it")
    return Finding(
        check=NAME,
        severity=severity,
        claim=(f"{daemon} treats {device}, a container device, as one of the host's own ({act})."),
        evidence=tuple(dict.fromkeys(list_spans(said)))[:QUOTED],
        reasoning=(
            "It sets or removes addresses, routes and link states of a device that is not its own.",
        ),
        breaks=("the containers' addresses, routes and names, and the host's routes",),
        prevention="Tell the daemon to leave container devices alone.",
        certainty=certainty,
        asks=() if certainty == 1 else (ASK,),
        marks=(device, act),
    )


def _is_named_so(message: Message) -> bool:
    return _OF_CONTAINERS.match(message.values.get("device", "")) is not None
