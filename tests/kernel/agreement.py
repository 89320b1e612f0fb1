"""Kernel and model asked the same: one packet after another through the real router and through the
hooks of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import NamedTuple, Self, TypedDict, Unpack

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.netfilter.tracking import attach_answer, conntrack_table
from podpath.datapath.netfilter.verdicts import Accept, Reject, Verdict
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.skb import Skb
from podpath.net import protocols
from podpath.net.addresses import Address, Mac, Prefix
from podpath.net.packet import Packet
from podpath.node.node import Node
from tests.datapath.given import ADDRESSES, Facts, Given, Sender, given, given_sets
from tests.kernel.router import ROUTER_MAC, SIDES, Entry, Router, encode

PODS = Prefix.parse("10.244.0.0/24")


class Out(NamedTuple):
    """A packet that came out of the router, or what became of it there."""

    link: str
    """`delivered` and `dropped` besides the devices' names."""
    text: str = ""
    ttl: int = 0
    tos: int = 0


class Options(TypedDict, total=False):
    """How kernel and model are set up besides the tables of iptables-nft."""

    legacy: str
    """Tables of iptables-legacy."""
    legacy_first: bool
    """True: they are loaded, and so registered, before the others."""
    choices: Choices
    """What the model takes for granted."""
    sysctls: Mapping[str, str]
    more: Mapping[str, str]
    """Addresses that the router's devices have besides, by device, with blanks between."""
    sets: str
    """Sets as `ipset save` prints them."""


class Both:
    """A kernel router and a model of it."""

    def __init__(self, *texts: str, **options: Unpack[Options]) -> None:
        """Load the same rules into both: these into iptables-nft."""
        self.texts, self.options = texts, options
        self.legacy = options.get("legacy", "")
        self.router = Router(options.get("sysctls", {}))

    def __enter__(self) -> Self:
        """Build the router, load its rules, and make a model of the rules that the kernel says it
        holds.
        """
        with ExitStack() as stack:
            stack.enter_context(self.router)
            for link, texts in self.options.get("more", {}).items():
                for text in texts.split():
                    self.router.command("ip", "addr", "add", text, "dev", link)
            if "sets" in self.options:
                self.router.command("ipset", "restore", stdin=self.options["sets"])
            if self.legacy and self.options.get("legacy_first"):
                self.router.load(self.legacy, "legacy")
            for text in self.texts:
                self.router.load(text)
            if self.legacy and not self.options.get("legacy_first"):
                self.router.load(self.legacy, "legacy")
            self.given = self._model()
            self.stack = stack.pop_all()
        self.sender = Sender(self.given, self.options.get("choices"))
        self.matched: Counter[tuple[str, str, str, int]] = Counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the router down."""
        self.stack.__exit__(kind, error, trace)

    def _model(self) -> Given:
        nft = self.router.save() if self.texts else ""
        legacy = self.router.save("legacy") if self.legacy else ""
        more = self.options.get("more", {})
        facts: Facts = {
            "sysctls": self.options.get("sysctls", {}),
            "addresses": {
                link: f"{text} {more.get(link, '')}".strip() for link, text in ADDRESSES.items()
            },
        }
        if legacy:
            facts["legacy"] = legacy
        if "sets" in self.options:
            facts["sets"] = given_sets(self.router.command("ipset", "save"))
        return given(*((nft,) if nft else ()), **facts)

    @property
    def node(self) -> Node:
        """The model's node."""
        return self.given.node

    def pass_through(
        self, link: str, packet: Packet, way: str = "original"
    ) -> tuple[list[Out], list[Out]]:
        """Send one packet in on a device: what the kernel gave, and what the model says."""
        packet = packet._replace(
            length=len(encode(packet, way)), smac=Mac(SIDES[link][1]), dmac=Mac(ROUTER_MAC[link])
        )
        self.router.send(link, packet, way)
        model = self._walk(self.sender.skb(packet, iif=link))
        return self._receive(len(model)), model

    def emit(self, packet: Packet, way: str = "original") -> tuple[list[Out], list[Out]]:
        """Send one packet from the router itself."""
        self.router.emit(packet, way)
        model = self._walk_out(packet)
        return self._receive(len(model)), model

    def _receive(self, predicted: int) -> list[Out]:
        return [_spell(where, each) for where, each in self.router.receive(predicted)]

    def _walk_out(self, packet: Packet) -> list[Out]:
        skb = self.sender.skb(packet, iif=None, oif=_route(packet.dst))
        if not isinstance(self._send(skb, "OUTPUT"), Accept):
            return []
        skb.oif = self.sender.skb(packet, oif=_route(skb.packet.dst)).oif
        if not isinstance(self._send(skb, "POSTROUTING"), Accept):
            return []
        return [_spell(_route(skb.packet.dst), skb.packet)]

    def _walk(self, skb: Skb) -> list[Out]:
        verdict = self._send(skb, "PREROUTING")
        if not isinstance(verdict, Accept):
            return []
        out = _route(skb.packet.dst)
        if out == "lo":
            self._send(skb, "INPUT")
            return []
        skb.oif = self.sender.skb(skb.packet, oif=out).oif
        skb.packet = skb.packet._replace(ttl=skb.packet.ttl - 1)
        verdict = self._send(skb, "FORWARD")
        if isinstance(verdict, Accept):
            verdict = self._send(skb, "POSTROUTING")
        if isinstance(verdict, Accept):
            return [_spell(out, skb.packet)]
        if isinstance(verdict, Reject) and verdict.packet is not None:
            return self._answer(skb, verdict.packet)
        return []

    def _answer(self, cause: Skb, packet: Packet) -> list[Out]:
        """Walk what the router sends to a rejected packet's source."""
        link = _route(packet.dst)
        if packet.src.is_unspecified:
            packet = packet._replace(src=Address.parse(SIDES[link][0].partition("/")[0]))
        skb = self.sender.skb(packet, iif=None, oif=link)
        attach_answer(skb, cause)
        for hook in ("OUTPUT", "POSTROUTING"):
            if not isinstance(self._send(skb, hook), Accept):
                return []
        return [_spell(link, skb.packet)]

    def _send(self, skb: Skb, hook: str) -> Verdict:
        verdict = self.sender.send(skb, hook)
        self.matched.update(
            (hit.flavour, hit.rule.table, hit.rule.chain, hit.rule.position)
            for hit in self.sender.walk.trace.matched
        )
        return verdict

    def counters(
        self,
    ) -> tuple[dict[tuple[str, str, str, int], int], dict[tuple[str, str, str, int], int]]:
        """Return how often each rule matched: in the kernel, in the model."""
        kernel: dict[tuple[str, str, str, int], int] = {}
        for flavour in ("nft", *(("legacy",) if self.legacy else ())):
            kernel |= {
                (flavour, *place): count for place, count in self.router.counters(flavour).items()
            }
        return kernel, dict(self.matched)

    def conntrack(self) -> tuple[list[Entry], list[Entry]]:
        """Return the conntrack entries: the kernel's, the model's."""
        table = conntrack_table(self.sender.walk, self.given.netns)
        return self.router.conntrack(), sorted(_entry(connection) for connection in table)


def _route(address: Address) -> str:
    if (
        str(address) in {text.partition("/")[0] for text, _ in SIDES.values()}
        or address.is_loopback
        or address.value == 0xFFFFFFFF
    ):
        return "lo"
    return "cni0" if Prefix.of(address, PODS.length) == PODS else "eth0"


def _spell(link: str, packet: Packet) -> Out:
    kind = (
        f" type {packet.icmp_type} id {packet.sport}" if packet.protocol == protocols.ICMP else ""
    )
    quoted = packet.quoted
    about = (
        ""
        if quoted is None
        else f" about {quoted.src}:{quoted.sport} > {quoted.dst}:{quoted.dport}"
    )
    return Out(
        link,
        f"{packet}{kind}{about}",
        0 if quoted is not None or _is_answer(packet) else packet.ttl,
        packet.tos,
    )


def _is_answer(packet: Packet) -> bool:
    """Tell whether the router itself made it: its TTL and TOS are its own."""
    return packet.protocol == protocols.TCP and packet.flags & protocols.RST != 0


def _entry(connection: Connection) -> Entry:
    one, two = connection.original, connection.reply
    return Entry(
        (str(one.src), str(one.dst), one.sport, one.dport),
        (str(two.src), str(two.dst), two.sport, two.dport), connection.state, connection.assured,
        connection.seen_reply, connection.mark,
    )  # fmt: skip
