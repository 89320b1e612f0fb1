"""The expressions and statements of nftables rules as immutable values, as nft(8) and
libnftables-json(5) spell them.

Readers make them and walks evaluate them, so they stand below both. A constant stays text
(`Literal`): what it stands for depends on what it is compared with, and a walk that first meets the
rule finds out. What nobody here knows is kept whole (`OpaqueExpression`, `OpaqueStatement`), so
that a rule never loses a condition in silence.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class NftFamily(StrEnum):
    """The packets that a table's chains see."""

    IP = "ip"
    IP6 = "ip6"
    INET = "inet"
    ARP = "arp"
    BRIDGE = "bridge"
    NETDEV = "netdev"


class NftChainType(StrEnum):
    """What a chain is for."""

    REGULAR = ""
    """It stands at no hook and is jumped to."""
    FILTER = "filter"
    NAT = "nat"
    ROUTE = "route"


class NftHook(StrEnum):
    """Where a base chain stands."""

    NONE = ""
    """A regular chain."""
    INGRESS = "ingress"
    PREROUTING = "prerouting"
    INPUT = "input"
    FORWARD = "forward"
    OUTPUT = "output"
    POSTROUTING = "postrouting"
    EGRESS = "egress"


class NftPolicy(StrEnum):
    """What becomes of a packet that no rule of a base chain decides on."""

    ACCEPT = "accept"
    DROP = "drop"


class CtDirection(StrEnum):
    """Which direction of a connection a key of conntrack asks about."""

    NONE = ""
    """The key has no direction, or means the packet's own."""
    ORIGINAL = "original"
    REPLY = "reply"


class NftFibResult(StrEnum):
    """What a look into the routing tables returns."""

    OIF = "oif"
    OIFNAME = "oifname"
    TYPE = "type"


class NumgenMode(StrEnum):
    """How numbers follow each other."""

    RANDOM = "random"
    INC = "inc"


class HashKind(StrEnum):
    """What a number is hashed from."""

    JHASH = "jhash"
    """An expression."""
    SYMHASH = "symhash"
    """The connection, the same for both of its directions."""


class BitOperator(StrEnum):
    """An operation on bits."""

    AND = "&"
    OR = "|"
    XOR = "^"
    LEFT_SHIFT = "<<"
    RIGHT_SHIFT = ">>"


class Comparison(StrEnum):
    """How a condition compares its two sides."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    GREATER = ">"
    AT_MOST = "<="
    AT_LEAST = ">="
    ANY_BIT = "in"
    """One common bit is enough."""
    NO_BIT = "!"
    """No bit is common."""


class RejectKind(StrEnum):
    """What a rule tells the sender."""

    DEFAULT = ""
    """The family's port-unreachable."""
    ICMP = "icmp"
    ICMPV6 = "icmpv6"
    ICMPX = "icmpx"
    TCP_RESET = "tcp reset"


class SetOperation(StrEnum):
    """What a rule does with an element of a set."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"


class Literal(NamedTuple):
    """A constant: `10.0.0.1`, `80`, `tcp`, `established`, `eth*`."""

    text: str


class PrefixLiteral(NamedTuple):
    """A constant prefix: `10.0.0.0/8`."""

    address: str
    length: int


class Interval(NamedTuple):
    """A constant range, both ends included: `80-90`."""

    first: Literal
    last: Literal


class Flags(NamedTuple):
    """Several values of a bit field: `established,related`, `fin | syn`."""

    items: tuple[Literal, ...]


class Payload(NamedTuple):
    """A header field: `ip saddr`, `tcp dport`, `th dport`, `ether daddr`."""

    protocol: str
    field: str


class Meta(NamedTuple):
    """What the kernel knows of a packet besides its bytes: `meta mark`, `iifname`, `meta
    l4proto`.
    """

    key: str


class Ct(NamedTuple):
    """What conntrack knows: `ct state`, `ct original ip daddr`."""

    key: str
    """`state`, `status`, `mark`, `direction`, `zone`, `ip saddr`, `proto-dst`, ..."""
    direction: CtDirection = CtDirection.NONE


class Fib(NamedTuple):
    """A look into the routing tables: `fib saddr . iif oif`, `fib daddr type`."""

    flags: tuple[str, ...]
    result: NftFibResult


class TcpOption(NamedTuple):
    """A field of an option in the TCP header: `tcp option maxseg size`."""

    option: str
    field: str = ""
    """Empty where it is asked whether the option is there."""


class Rt(NamedTuple):
    """What the packet's route says: `rt mtu`, `rt ip nexthop`."""

    key: str


class Numgen(NamedTuple):
    """A number that the kernel draws or counts: `numgen random mod 2`."""

    mode: NumgenMode
    mod: int
    offset: int = 0


class Hash(NamedTuple):
    """A number that the kernel hashes: `jhash ip saddr mod 4 seed 0x1`, `symhash mod 2`."""

    kind: HashKind
    mod: int
    offset: int = 0
    seed: int | None = None
    """None: drawn by the kernel when the rule was loaded."""
    key: Expression | None = None


class Binary(NamedTuple):
    """Bits of a value: `meta mark & 0xff`."""

    op: BitOperator
    left: Expression
    right: Expression


class Concat(NamedTuple):
    """Several values side by side: `ip daddr . meta l4proto . th dport`."""

    parts: tuple[Expression, ...]


class SetRef(NamedTuple):
    """A named set or map: `@service-ips`."""

    name: str


class SetOf(NamedTuple):
    """An anonymous set: `{ 80, 443 }`."""

    elements: tuple[Element, ...]


class MapOf(NamedTuple):
    """A value looked up by another: `ip daddr map { 10.0.0.1 : 0x1 }`, `meta mark map @targets`."""

    key: Expression
    data: SetRef | SetOf


class OpaqueExpression(NamedTuple):
    """An expression that is not modeled, as it is spelled."""

    text: str


class NftVerdict(NamedTuple):
    """What becomes of a packet: accept, drop, continue, return, jump, goto."""

    kind: str
    chain: str = ""
    """Of `jump` and `goto`."""


class Element(NamedTuple):
    """One element of a set, or of a map with what it leads to."""

    key: Expression
    """`Literal`, `PrefixLiteral`, `Interval`, or a `Concat` of them; the literal `*` matches what
    no other element does.
    """
    data: Expression | None = None
    timeout: str = ""
    comment: str = ""


Expression = (
    Literal
    | PrefixLiteral
    | Interval
    | Flags
    | Payload
    | Meta
    | Ct
    | Fib
    | TcpOption
    | Rt
    | Numgen
    | Hash
    | Binary
    | Concat
    | SetRef
    | SetOf
    | MapOf
    | NftVerdict
    | OpaqueExpression
)


class NftMatch(NamedTuple):
    """A condition: `ip saddr 10.0.0.0/8`, `ct state established,related`."""

    op: Comparison
    left: Expression
    right: Expression


class Vmap(NamedTuple):
    """A verdict looked up: `ct state vmap { invalid : drop }`."""

    key: Expression
    data: SetRef | SetOf


class Mangle(NamedTuple):
    """A field given a new value: `meta mark set 0x1`, `ip saddr set 10.0.0.1`."""

    field: Expression
    value: Expression


class Nat(NamedTuple):
    """`snat`, `dnat`, `masquerade` or `redirect`."""

    kind: str
    address: Expression | None = None
    port: Expression | None = None
    flags: tuple[str, ...] = ()
    family: NftFamily | None = None
    """None where the rule does not say it; in tables of family inet it does."""


class NftReject(NamedTuple):
    """Drop, and tell the sender."""

    kind: RejectKind = RejectKind.DEFAULT
    code: str = ""


class Counter(NamedTuple):
    """Counts packets that reach it."""

    packets: int | None = None
    bytes: int | None = None
    name: str = ""
    """Of a named counter object."""


class Limit(NamedTuple):
    """Lets packets pass up to a rate, or those beyond it."""

    text: str
    """All words behind `limit`."""
    over: bool = False


class Log(NamedTuple):
    """Writes a line to the kernel's log."""

    text: str = ""
    """All words behind `log`."""


class Queue(NamedTuple):
    """Hands the packet to a program."""

    text: str = ""
    """All words behind `queue`."""


class Notrack(NamedTuple):
    """Keeps the packet from conntrack."""


class Forward(NamedTuple):
    """`fwd to DEVICE`: the packet leaves by a device at once."""

    device: Expression


class Duplicate(NamedTuple):
    """`dup to DEVICE`: a copy leaves by a device."""

    text: str


class SetUpdate(NamedTuple):
    """`add @set { ip saddr }`: the packet enters an element."""

    op: SetOperation
    key: Expression
    name: str
    text: str = ""
    """The words behind the key: timeouts and statements of the element."""


class FlowOffload(NamedTuple):
    """`flow add @table`: later packets of the connection bypass the hooks."""

    name: str


class OpaqueStatement(NamedTuple):
    """A statement that is not modeled, as it is spelled."""

    text: str


Statement = (
    NftMatch
    | Vmap
    | NftVerdict
    | Mangle
    | Nat
    | NftReject
    | Counter
    | Limit
    | Log
    | Queue
    | Notrack
    | Forward
    | Duplicate
    | SetUpdate
    | FlowOffload
    | OpaqueStatement
)
