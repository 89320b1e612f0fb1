"""What people say is wrong, taken from the prose of a ticket: it says what to ask about, and is not
evidence of any state.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from podpath.net.addresses import Address, Prefix
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology


class EndKind(StrEnum):
    """What sort of thing stands at an end of a connection, in the words of people."""

    POD = "pod"
    CONTAINER = "container"
    NODE = "node"
    SERVICE = "service"
    NODE_PORT = "node port"
    LOAD_BALANCER = "load balancer"
    OUTSIDE = "outside"
    NAME_SERVER = "name server"
    API_SERVER = "API server"
    GUEST = "virtual machine"


class Circumstance(StrEnum):
    """What prose tells beside the failure itself: when it begins, what helps, what the host is
    for.
    """

    AT_CONTAINER_START = "it begins when a container starts, stops or is made anew"
    BY_HAND = "the same, done by hand later, helps"
    ROUTES_FOR_OTHERS = "others reach the world through this host"
    SOURCE_CHANGED = "who is connected to sees another source than the sender's"
    OUTGOING = "what fails goes out from this host"
    SERVES_VPN = "others connect to this host by a VPN"
    PUBLISHES = "what runs on this host is published on its ports"
    TO_LOOPBACK = "rules translate to an address of loopback"
    FORWARD_DROPS = "forwarding is dropped by default"
    SEVERAL_WAYS = "packets come in and leave by different ways"
    RETURNS_ELSEWHERE = "answers leave by another device than that on which requests come in"
    MARTIANS = "the kernel speaks of martians"
    BRIDGED = "guests hang on a bridge with the network outside"
    ON_ONE_BRIDGE = "both ends are on one bridge"
    TO_ITSELF = "a program asks for itself"
    AT_RECEIVER = "a capture was taken where packets arrive"
    SEEN_AT_NODE = "a capture was taken at the host's own card"
    WITH_OWN_HOST = "what fails is between a host and what runs on it"
    RUNS_HERE = "a pod of the service runs on the node that is asked"
    EXTERNAL_NAMES = "names outside the cluster are not resolved"
    INTERMITTENT = "it fails at some times, and not at others"
    PROBED_BY_BALANCER = "a balancer probes from the address that it gives its service"
    DURING_CAPTURE = "it works while somebody captures packets"
    WORKLOAD_RANGE = "which range the addresses of pods or containers are of"
    FORWARDING_WARNED = "a program warns that forwarding is off"
    ONE_NODE = "the cluster is a single machine"
    BEHIND_IT = "what is asked for is behind the host that others connect to"
    ELSEWHERE = "an address or network is said to be behind a router, a VPN, or at another site"
    INPUT_DROPS = "what comes in to the host is dropped by default"
    IPSEC_BETWEEN = "networks are named beside IPsec"
    LEAVES_BY = "by which device packets leave the host"
    WITHOUT_FIREWALL = "it works without the host's firewall"
    SINCE_ENGINE = "it fails since Docker runs on the host, and works without it"
    WANTED_CLOSED = "what is to be closed is open"
    RENUMBERED = "a host has another address than before"
    RESCUE = "a rescue system runs in place of the host's own"
    PAST = "what is shown above it is of another time or host, or over"
    SOME_NODES = "it works by some nodes' addresses, and not by others'"
    FIREWALL_RELOADED = "it begins when the firewall is loaded anew"
    AGENT_DOWN = "the network plugin's own pods do not run"


class Told(NamedTuple):
    """A circumstance, and the sentence that tells it."""

    circumstance: Circumstance
    span: Span
    prefixes: tuple[Prefix, ...] = ()
    """Networks that it names."""
    addresses: tuple[Address, ...] = ()
    """Single addresses that it names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One sentence that says that something fails, or works."""

    span: Span
    works: bool
    """True where the sentence says that it works: what works narrows down what does not."""
    failure: FailureKind | None = None
    """How it fails; None where the sentence does not say."""
    source: EndKind | None = None
    target: EndKind | None = None
    same_node: bool | None = None
    """True or False where it says that both ends are on one node, or on two."""
    protocol: int | None = None
    """The IP protocol number, where it names one (a ping is ICMP's)."""
    ports: tuple[int, ...] = ()
    addresses: tuple[Address, ...] = ()
    prefixes: tuple[Prefix, ...] = ()
    """Networks that it names: `10.244.0.0/16`."""
    names: tuple[str, ...] = ()
    """Names of hosts and services that it mentions: `api.shop.svc.cluster.local`."""
    sources: tuple[Address, ...] = ()
    """Those of the addresses that stand for who connects: `from 10.0.0.1`."""
    words: frozenset[str] = frozenset()
    """Its words that may name a pod, a service or a node: with a hyphen or a digit, or behind the
    word for such a thing.
    """
    spoken: frozenset[str] = frozenset()
    """Its words of four letters or more, in lower case: one may be a name that an output shows."""
    spaces: frozenset[str] = frozenset()
    """Namespaces of Kubernetes that it names."""
    mentions: frozenset[Technology] = frozenset()
    """What its sentence speaks of, where it says that something fails."""
    circumstances: frozenset[Circumstance] = frozenset()
    """What the same sentence tells beside the failure."""
