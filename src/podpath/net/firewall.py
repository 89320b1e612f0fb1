"""What outputs and commands state of a firewall beside the rules that a walk reads: typed rules,
zones, a cloud's lists.

A command that somebody typed says what was done, not what holds now; a list of ufw or of a cloud
says what was asked for.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from podpath.net.addresses import Address, PortRange, Prefix


class RuleEdit(StrEnum):
    """What a command of iptables does to a chain."""

    APPEND = "append"
    INSERT = "insert"
    DELETE = "delete"
    POLICY = "policy"
    FLUSH = "flush"
    DELETE_CHAIN = "delete-chain"


class FirewallProgram(StrEnum):
    """A host's firewall that says of itself whether it is on."""

    UFW = "ufw"
    FIREWALLD = "firewalld"


class ForwardingMethod(StrEnum):
    """How IPVS sends packets to a real server, as ipvsadm lists it."""

    MASQUERADING = "Masq"
    DIRECT_ROUTING = "Route"
    TUNNELING = "Tunnel"
    LOCAL = "Local"


class TypedRule(NamedTuple):
    """One iptables command that somebody typed, or that a firewall's script holds."""

    action: RuleEdit
    table: str
    chain: str = ""
    """Empty where the command is about all chains of the table."""
    target: str = ""
    """The target of a rule, or the policy."""
    plain: bool = False
    """True where the rule takes every packet."""
    follows: bool = False
    """True where it takes only what belongs to a connection that was let in before."""
    src: Prefix | None = None
    in_link: str = ""
    out_link: str = ""
    protocol: str = ""
    """As spelled: `tcp`, `!icmp`, `17`; empty where it asks for none."""
    sports: tuple[PortRange, ...] = ()
    dports: tuple[PortRange, ...] = ()
    """The ports that it asks for; all where they are spelled by name or negated."""


class UfwAction(StrEnum):
    """What a rule of ufw does."""

    ALLOW = "ALLOW"
    DENY = "DENY"
    REJECT = "REJECT"
    LIMIT = "LIMIT"


class UfwDirection(StrEnum):
    """Which packets a rule of ufw is about."""

    IN = "IN"
    OUT = "OUT"
    FWD = "FWD"
    """Packets that the host routes."""


class AllowedSource(NamedTuple):
    """A rule of `ufw status`: who may (or may not) reach what."""

    to: str
    """As spelled: `5432`, `22/tcp`, `Anywhere on docker0`."""
    action: UfwAction
    direction: UfwDirection | None
    """None where it does not say: packets to the host."""
    source: Prefix | None
    """None where it is anywhere, or no address."""


class HostFirewall(NamedTuple):
    """Which host firewall says that it is on, and what it does by default."""

    name: FirewallProgram
    active: bool
    routed: str = ""
    """What ufw does by default with forwarded packets: `deny`, `allow`, `disabled`, `reject`."""
    incoming: str = ""
    """What it does by default with packets for the host; empty where no line says."""


class ZoneSetting(NamedTuple):
    """A line of `firewall-cmd --list-all`."""

    zone: str
    key: str
    """`interfaces`, `services`, `ports`, `masquerade`, `forward`, `target`, `sources`, `rich
    rules`.
    """
    values: tuple[str, ...]


class VirtualServer(NamedTuple):
    """A virtual service of `ipvsadm -Ln` with what stands behind it."""

    protocol: str
    address: Address
    port: int
    servers: int
    """Real servers that the listing shows under it."""
    weight: int
    """The sum of their weights."""


class RealServer(NamedTuple):
    """A real server behind a virtual service of `ipvsadm -Ln`."""

    protocol: str
    service: Address
    service_port: int
    address: Address
    port: int
    method: ForwardingMethod | None = None
    """None where the listing does not show it."""
    weight: int | None = None
    active: int | None = None
    inactive: int | None = None


class TrackingCount(NamedTuple):
    """A counter of `conntrack -S`, summed over the processors."""

    name: str
    value: int


class RuleCount(NamedTuple):
    """How many rules somebody counted (`iptables-save | wc -l`)."""

    rules: int


class CopyCount(NamedTuple):
    """How many times one rule stands there, as a pipe counted it (`iptables-save | sort | uniq
    -c`).
    """

    rule: str
    times: int


class CloudRule(NamedTuple):
    """A row of a cloud's security list: network security group, security group or firewall."""

    allowed: bool
    priority: int
    name: str = ""
    source: str = ""
    port: str = ""
    inbound: bool | None = None
    """None where the list does not say."""


FirewallStatement = (
    TypedRule | AllowedSource | HostFirewall | ZoneSetting | VirtualServer | RealServer
    | TrackingCount | CloudRule | RuleCount | CopyCount
)  # fmt: skip
