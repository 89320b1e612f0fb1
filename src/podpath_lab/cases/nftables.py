"""Random native nftables tables: base chains of every type, regular chains, sets and maps, with a
counter in every rule.
"""

from __future__ import annotations

from random import Random

from podpath.net import nft
from podpath.net.addresses import Address
from podpath.net.provenance import Source, Span
from podpath.node.nftables import NftChain, NftRule, NftSet, NftTable
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import Topology

HOOKS = (
    nft.NftHook.PREROUTING,
    nft.NftHook.INPUT,
    nft.NftHook.FORWARD,
    nft.NftHook.OUTPUT,
    nft.NftHook.POSTROUTING,
)
PRIORITIES = (-400, -300, -160, -150, -140, -10, 0, 0, 5, 50, 110, 300)
"""Not those of conntrack and NAT themselves: which of them was registered first depends on
rules.
"""
NAT_HOOKS = {
    nft.NftHook.PREROUTING: -100,
    nft.NftHook.OUTPUT: -100,
    nft.NftHook.POSTROUTING: 100,
    nft.NftHook.INPUT: 100,
}
_STATES = ("new", "established", "invalid", "related", "untracked")
_COUNTER = nft.Counter()
_ORDERS = (
    nft.Comparison.LESS,
    nft.Comparison.GREATER,
    nft.Comparison.AT_MOST,
    nft.Comparison.AT_LEAST,
)


def draw_native(chance: Random, host: DraftNetns, topology: Topology) -> None:
    """Give the host one or two native tables."""
    for name in ("first", "second")[: chance.choice((1, 1, 2))]:
        family = chance.choice((nft.NftFamily.IP, nft.NftFamily.IP, nft.NftFamily.INET))
        host.nftables.append(_Drawing(chance, topology, family, name).table())


class _Drawing:
    """One table being drawn."""

    def __init__(
        self, chance: Random, topology: Topology, family: nft.NftFamily, name: str
    ) -> None:
        self.chance, self.topology, self.family, self.name = chance, topology, family, name
        self.addresses = [address for _, address in topology.speakers] + [
            Address.parse("10.96.0.10")
        ]
        self.chains: dict[str, NftChain] = {}
        self.protocol = "tcp"
        """What the rule under way is about: nft refuses a rule that asks for two."""

    def table(self) -> NftTable:
        """Draw the regular chains before the base chains that jump to them."""
        for name in ("deep", "mid")[: self.chance.choice((0, 1, 2))]:
            self._add(NftChain(name=name), tuple(self.chains), "")
        regular = tuple(self.chains)
        for number in range(self.chance.choice((1, 2, 3))):
            hook = self.chance.choice(HOOKS)
            kind = nft.NftChainType.FILTER
            if hook is nft.NftHook.OUTPUT and self.chance.random() < 0.5:
                kind = nft.NftChainType.ROUTE
            policy = nft.NftPolicy.ACCEPT
            if self.chance.random() < 0.08:
                policy = nft.NftPolicy.DROP
            chain = NftChain(
                name=f"{kind}_{hook}_{number}",
                type=kind,
                hook=hook,
                priority=self.chance.choice(PRIORITIES),
                policy=policy,
            )
            self._add(chain, regular, hook)
        if self.chance.random() < 0.5:
            hook = self.chance.choice(tuple(NAT_HOOKS))
            shift = self.chance.choice((-5, 0, 0, 5))
            self._add(
                NftChain(
                    name=f"nat_{hook}",
                    type=nft.NftChainType.NAT,
                    hook=hook,
                    priority=NAT_HOOKS[hook] + shift,
                ),
                (),
                hook,
            )
        return NftTable(family=self.family, name=self.name, chains=self.chains, sets=self._sets())

    def _sets(self) -> dict[str, NftSet]:
        hosts = tuple(
            nft.Element(nft.Literal(str(address))) for address in sorted(set(self.addresses))[::2]
        )
        pairs = tuple(
            nft.Element(nft.Concat((element.key, nft.Literal("80")))) for element in hosts
        )
        networks = (
            nft.Element(nft.PrefixLiteral("10.1.0.0", 24)),
            nft.Element(nft.Interval(nft.Literal("172.31.0.1"), nft.Literal("172.31.0.9"))),
        )
        return {
            "hosts": NftSet(name="hosts", types=("ipv4_addr",), elements=hosts),
            "pairs": NftSet(name="pairs", types=("ipv4_addr", "inet_service"), elements=pairs),
            "networks": NftSet(
                name="networks", types=("ipv4_addr",), elements=networks, flags=("interval",)
            ),
        }

    def _add(self, chain: NftChain, below: tuple[str, ...], hook: str) -> None:
        place = f"{self.family} {self.name} {chain.name}"
        rules = []
        for position in range(1, self.chance.choice((1, 2, 3)) + 1):
            source = Source(name="generated/native", lines=(f"{place} rule {position}",))
            statements = tuple(self._rule(chain, below, hook))
            rules.append(
                NftRule(
                    self.family, self.name, chain.name, position, Span(source, 1, 1), statements
                )
            )
        self.chains[chain.name] = NftChain(
            name=chain.name,
            type=chain.type,
            hook=chain.hook,
            priority=chain.priority,
            policy=chain.policy,
            rules=tuple(rules),
        )

    def _rule(self, chain: NftChain, below: tuple[str, ...], hook: str) -> list[nft.Statement]:
        self.protocol = self.chance.choice(("tcp", "tcp", "udp"))
        # IPv6 of the kernel's own making would be counted, too
        statements: list[nft.Statement] = (
            [nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("nfproto"), nft.Literal("ipv4"))]
            if self.family == "inet"
            else []
        )
        if chain.type == "nat":
            return [*statements, *self._translation(hook)]
        statements += [self._condition(hook) for _ in range(self.chance.choice((0, 1, 1, 2)))]
        statements += [self._change(hook) for _ in range(self.chance.choice((0, 0, 0, 1)))]
        if self.chance.random() < 0.2:
            statements += [self._condition(hook)]
        return [*statements, _COUNTER, *self._verdict(below, hook)]

    def _condition(self, hook: str) -> nft.Statement:
        draw = self.chance.choice(
            (
                self._address,
                self._address,
                self._port,
                self._port,
                self._connection,
                self._connection,
                self._meta,
                self._meta,
            )
        )
        if self.chance.random() < 0.08:
            return self._lookup(hook)
        return draw()

    def _sign(self) -> nft.Comparison:
        if self.chance.random() < 0.2:
            return nft.Comparison.UNEQUAL
        return nft.Comparison.EQUAL

    def _address(self) -> nft.Statement:
        chance = self.chance
        address = str(chance.choice(self.addresses))
        field = nft.Payload("ip", chance.choice(("saddr", "daddr")))
        if chance.random() < 0.2:
            return nft.NftMatch(
                nft.Comparison.EQUAL,
                nft.Concat((field, nft.Payload(self.protocol, "dport"))),
                nft.SetRef("pairs"),
            )
        rights: tuple[nft.Expression, ...] = (
            nft.Literal(address),
            nft.PrefixLiteral(_network(address), 24),
            nft.SetRef("hosts"),
            nft.SetRef("networks"),
        )
        return nft.NftMatch(self._sign(), field, chance.choice(rights))

    def _port(self) -> nft.Statement:
        chance = self.chance
        if self.protocol == "tcp" and chance.random() < 0.3:
            return nft.NftMatch(
                nft.Comparison.EQUAL,
                _flags("fin", "syn", "rst", "ack"),
                nft.Literal(chance.choice(("syn", "ack"))),
            )
        rights: tuple[nft.Expression, ...] = (
            nft.SetOf(tuple(nft.Element(nft.Literal(port)) for port in ("80", "443"))),
            nft.Interval(nft.Literal("1"), nft.Literal(chance.choice(("100", "9000")))),
            nft.Literal("8080"),
        )
        # what `th dport` is of ICMP, its checksum, is not predicted
        fields = (
            nft.Payload(self.protocol, "dport"),
            nft.Payload(self.protocol, "sport"),
            nft.Payload("th", "sport"),
        )
        field = chance.choice(fields)
        return nft.NftMatch(self._sign(), field, chance.choice(rights))

    def _connection(self) -> nft.Statement:
        chance = self.chance
        states = nft.Flags(tuple(map(nft.Literal, chance.sample(_STATES, 2))))
        status = nft.Literal(chance.choice(("assured", "confirmed", "snat", "dnat", "seen-reply")))
        direction = chance.choice((nft.CtDirection.ORIGINAL, nft.CtDirection.REPLY))
        matches = (
            nft.NftMatch(nft.Comparison.ANY_BIT, nft.Ct("state"), states),
            nft.NftMatch(nft.Comparison.ANY_BIT, nft.Ct("state"), states.items[0]),
            nft.NftMatch(nft.Comparison.ANY_BIT, nft.Ct("status"), status),
            nft.NftMatch(nft.Comparison.EQUAL, nft.Ct("direction"), nft.Literal(direction)),
            nft.NftMatch(
                self._sign(),
                nft.Ct("ip daddr", direction),
                nft.Literal(str(chance.choice(self.addresses))),
            ),
        )
        return chance.choice(matches)

    def _meta(self) -> nft.Statement:
        chance = self.chance
        masked = nft.Binary(nft.BitOperator.AND, nft.Meta("mark"), nft.Literal("0xff"))
        matches = (
            nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("l4proto"), nft.Literal(self.protocol)),
            nft.NftMatch(self._sign(), masked, nft.Literal("0x1")),
            nft.NftMatch(
                self._sign(),
                nft.Meta(chance.choice(("iifname", "oifname"))),
                nft.Literal(self._device()),
            ),
            nft.NftMatch(
                chance.choice(_ORDERS),
                nft.Payload("ip", "ttl"),
                nft.Literal(chance.choice(("63", "64"))),
            ),
            nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("pkttype"), nft.Literal("host")),
            nft.NftMatch(
                chance.choice(_ORDERS[:2]),
                nft.Meta("length"),
                nft.Literal(chance.choice(("60", "84"))),
            ),
        )
        return chance.choice(matches)

    def _device(self) -> str:
        name = self.chance.choice((*self.topology.devices, "lo"))
        if self.chance.random() < 0.3:
            return f"{name[:3]}*"
        return name

    def _lookup(self, hook: str) -> nft.Statement:
        """Draw a look into the routing tables; the way back is asked where the packet came in."""
        if hook == "prerouting" and self.chance.random() < 0.5:
            return nft.NftMatch(
                nft.Comparison.EQUAL,
                nft.Fib(("saddr", "iif"), nft.NftFibResult.OIF),
                nft.Literal(self.chance.choice(("missing", "exists"))),
            )
        return nft.NftMatch(
            nft.Comparison.EQUAL,
            nft.Fib((self.chance.choice(("saddr", "daddr")),), nft.NftFibResult.TYPE),
            nft.Literal(self.chance.choice(("local", "unicast"))),
        )

    def _change(self, hook: str) -> nft.Statement:
        chance = self.chance
        changes: list[nft.Statement] = [
            nft.Mangle(nft.Meta("mark"), nft.Literal(chance.choice(("0x1", "0x2", "0x4000")))),
            nft.Mangle(
                nft.Meta("mark"),
                nft.Binary(nft.BitOperator.OR, nft.Meta("mark"), nft.Literal("0x4000")),
            ),
            nft.Mangle(nft.Meta("mark"), nft.Ct("mark")),
            nft.Mangle(nft.Ct("mark"), nft.Meta("mark")),
            nft.Mangle(nft.Payload("ip", "dscp"), nft.Literal("cs1")),
            nft.Mangle(
                nft.Meta("mark"),
                nft.MapOf(
                    nft.Payload("ip", "daddr"),
                    nft.SetOf(
                        tuple(
                            nft.Element(nft.Literal(str(address)), nft.Literal("0x1"))
                            for address in sorted(set(self.addresses))[::2]
                        )
                    ),
                ),
            ),
        ]
        if hook in {"prerouting", "output"}:
            changes.append(nft.Notrack())
        return chance.choice(changes)

    def _verdict(self, below: tuple[str, ...], hook: str) -> list[nft.Statement]:
        chance = self.chance
        choices: list[list[nft.Statement]] = [
            [],
            [nft.NftVerdict("accept")],
            [nft.NftVerdict("return")],
            [nft.NftVerdict("continue")],
        ]
        choices += [
            [nft.NftVerdict(chance.choice(("jump", "jump", "goto")), name)] for name in below
        ]
        if chance.random() < 0.15:
            choices = [[nft.NftVerdict("drop")]]
        elif hook in {"input", "forward", "output"}:
            choices.append(
                [
                    chance.choice(
                        (
                            nft.NftReject(),
                            nft.NftReject(nft.RejectKind.ICMP, "host-unreachable"),
                            nft.NftReject(nft.RejectKind.ICMP, "admin-prohibited"),
                        )
                    )
                ]
            )
        elif chance.random() < 0.2:
            data = nft.SetOf(
                (
                    nft.Element(nft.Literal("tcp"), nft.NftVerdict("accept")),
                    nft.Element(nft.Literal("udp"), nft.NftVerdict("return")),
                )
            )
            choices = [[nft.Vmap(nft.Meta("l4proto"), data)]]
        return chance.choice(choices)

    def _translation(self, hook: str) -> list[nft.Statement]:
        """Draw a condition and a translation that its hook allows."""
        chance = self.chance
        family = nft.NftFamily.IP if self.family is nft.NftFamily.INET else None
        conditions = [self._condition(hook)] if chance.random() < 0.5 else []
        ports: list[nft.Statement] = [
            nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("l4proto"), nft.Literal(self.protocol))
        ]
        target = nft.Literal(str(chance.choice(self.addresses[:-1])))
        if hook in {"prerouting", "output"}:
            port = nft.Literal(chance.choice(("80", "8080")))
            nat = chance.choice(
                (
                    nft.Nat("dnat", target, port, (), family),
                    nft.Nat("dnat", target, None, (), family),
                    nft.Nat("redirect", None, port),
                )
            )
        elif hook == "postrouting":
            nat = chance.choice(
                (
                    nft.Nat("masquerade"),
                    nft.Nat("snat", nft.Literal("172.31.0.10"), None, (), family),
                )
            )
        else:
            nat = nft.Nat("snat", nft.Literal("172.31.0.10"), None, (), family)
        return [*conditions, *(ports if nat.port is not None else []), _COUNTER, nat]


def _network(address: str) -> str:
    """Return the network of 24 bits that an address lies in."""
    parsed = Address.parse(address)
    return str(Address(parsed.family, parsed.value >> 8 << 8))


def _flags(*names: str) -> nft.Expression:
    return nft.Binary(
        nft.BitOperator.AND, nft.Payload("tcp", "flags"), nft.Flags(tuple(map(nft.Literal, names)))
    )
