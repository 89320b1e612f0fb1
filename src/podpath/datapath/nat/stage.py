"""NAT at a hook: rules for the first packet of a connection, the stored tuples for every later one.

net/netfilter/nf_nat_core.c:nf_nat_inet_fn v6.12. One dispatcher runs all chains of type nat, of
both flavors: the first one that sets up a translation is the last that runs, and where none does,
a null binding settles that there is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.icmp import is_redirect
from podpath.datapath.conntrack.tuples import ICMPS
from podpath.datapath.nat.binding import bind_nothing
from podpath.datapath.nat.rewriting import is_translated, rewrite, rewrite_error
from podpath.datapath.netfilter import snapshot
from podpath.datapath.netfilter.stages import TableStage, choose_order, order_fact
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.tracking import conntrack_table
from podpath.datapath.netfilter.verdicts import DROP, Verdict
from podpath.datapath.nftables.chains import NftStage
from podpath.datapath.nftables.registration import Registered
from podpath.datapath.reasons import translation as reasons
from podpath.datapath.tracing.trace import Assumption
from podpath.datapath.vocabulary import CtInfo, Hook, HookStage, StepDecision
from podpath.datapath.walk.offload import note_rewriting
from podpath.datapath.walk.skb import Skb
from podpath.net.packet import Packet
from podpath.net.provenance import Option

FUNCTION = "net/netfilter/nf_nat_core.c:nf_nat_inet_fn v6.12"
REPLY = "net/netfilter/nf_nat_proto.c:nf_nat_icmp_reply_translation v6.12"
NULL_BINDING = "net/netfilter/nf_nat_core.c:nf_nat_alloc_null_binding v6.12"
SOURCE_HOOKS = frozenset({Hook.POSTROUTING, Hook.INPUT})
"""HOOK2MANIP: the source is rewritten here, the destination at the other hooks."""


def _is_neutral(
    state: HookState, stage: TableStage | NftStage, start: snapshot.HookSnapshot
) -> bool:
    """Tell whether a chain leaves the packet as it is, by trying it."""
    choices = state.walk.choices
    state.walk.choices = choices.likeliest()
    verdict = stage.evaluate(state, quiet=True)[0]
    after = snapshot.take(state)
    snapshot.restore(state, start)
    state.walk.choices = choices
    return verdict is None and not after.differs(start)


def _pass_redirect(connection: Connection) -> Verdict | None:
    """End a redirect about a connection that is translated, or may be yet: who is told could not
    make use of it (`net/netfilter/nf_nat_proto.c:nf_nat_icmpv6_reply_translation v6.12`).
    """
    settled = connection.src_nat_done and connection.dst_nat_done
    if settled and not (connection.src_nat or connection.dst_nat):
        return None
    return DROP


class NatStage:
    """The NAT dispatcher of one hook with the nat chains of all flavors."""

    __slots__ = ("early", "hook", "label", "late", "native", "source", "stages")

    def __init__(
        self,
        hook: Hook,
        stages: Sequence[TableStage],
        native: Sequence[Registered] = (),
        priority: int = 0,
    ) -> None:
        """Dispatch to iptables' chains of this priority, and to native ones by theirs
        (`nf_nat_register_fn`).
        """
        self.hook = hook
        self.stages = tuple(stages)
        self.early = tuple(entry.stage for entry in native if entry.priority < priority)
        self.native = tuple(entry.stage for entry in native if entry.priority == priority)
        self.late = tuple(entry.stage for entry in native if entry.priority > priority)
        self.source = hook in SOURCE_HOOKS
        self.label = HookStage(hook, "nat")

    def __call__(self, state: HookState) -> Verdict | None:
        """Translate the packet; one without a connection (invalid or untracked) goes by with the
        addresses it has.
        """
        skb = state.skb
        connection = skb.connection
        if connection is None:
            return None
        if skb.ctinfo == CtInfo.RELATED and is_redirect(skb.packet):
            return _pass_redirect(connection)
        if (
            skb.ctinfo == CtInfo.RELATED
            and skb.packet.protocol in ICMPS
            and skb.packet.quoted is not None
        ):
            self._rewrite_error(state, skb, connection)
        elif skb.ctinfo in {CtInfo.NEW, CtInfo.RELATED} and not (
            connection.src_nat_done if self.source else connection.dst_nat_done
        ):
            return self._translate_first(state, skb, connection)
        elif self._link_changed(state, skb, connection):
            return self._drop_changed(state, skb, connection)
        elif is_translated(connection, reply=skb.reply, source=self.source):
            self._translate_later(state, skb, connection)
        self._mark_reroute(state, skb, connection)
        return None

    def _translate_first(
        self, state: HookState, skb: Skb, connection: Connection
    ) -> Verdict | None:
        before = skb.packet
        assumed: list[Assumption] = []
        for stage in self._in_order(state):
            started = len(state.walk.trace.matched)
            verdict, misses = stage.evaluate(state)
            assumed += state.assumed
            if verdict is not None:
                stage.record(state, before, started, misses)
                return verdict
            if connection.src_nat_done if self.source else connection.dst_nat_done:
                self._rewrite(skb, connection)
                stage.record(state, before, started)
                break
            stage.record(state, before, started)
        else:
            bind_nothing(state, connection, source=self.source)
            self._rewrite(skb, connection)
            if skb.packet != before:
                self._record_clash(state, before, connection)
            if assumed:
                self._record_untranslated(state, before, assumed)
        self._mark_reroute(state, skb, connection)
        return None

    def _in_order(self, state: HookState) -> tuple[TableStage | NftStage, ...]:
        """Return the nat chains in their order."""
        return (*self.early, *self._equal(state), *self.late)

    def _equal(self, state: HookState) -> tuple[TableStage | NftStage, ...]:
        """Return the chains of the dispatcher's own priority; native ones first, unless iptables'
        are said to be later.
        """
        tables = self._tables_in_order(state)
        if not self.native or not tables:
            return (*self.native, *tables)
        start = snapshot.take(state)
        if all(_is_neutral(state, stage, start) for stage in self.native) or all(
            _is_neutral(state, stage, start) for stage in tables
        ):
            return (*self.native, *tables)
        options = (
            Option("native", "the native chains, so they run first"),
            Option("iptables", "iptables' table, so it runs first"),
        )
        netns = state.skb.netns.name
        fact = (
            f"what nat chain of {self.hook} was registered last in netns {netns}, native or "
            "iptables"
        )
        last = state.walk.choices.choose(fact, options, ask="nft list hooks")
        if last == "native":
            return (*self.native, *tables)
        return (*tables, *self.native)

    def _tables_in_order(self, state: HookState) -> tuple[TableStage, ...]:
        """Return iptables' chains in their order; where both would translate the packet, ask which
        comes first.
        """
        if len(self.stages) < 2:
            return self.stages
        fact = order_fact(self.stages)
        if state.walk.choices.knows(fact):
            return choose_order(state, self.stages, fact)
        start = snapshot.take(state)
        outcomes = []
        for stage in self.stages:
            verdict = stage.evaluate(state, quiet=True)[0]
            outcomes.append((verdict, snapshot.take(state)))
            snapshot.restore(state, start)
        neutral = [verdict is None and not after.differs(start) for verdict, after in outcomes]
        if any(neutral) or (
            outcomes[0][0] == outcomes[1][0] and not outcomes[0][1].differs(outcomes[1][1])
        ):
            return self.stages
        return choose_order(state, self.stages, fact)

    def _rewrite(self, skb: Skb, connection: Connection) -> None:
        if is_translated(connection, reply=skb.reply, source=self.source):
            before = skb.packet
            skb.packet = rewrite(before, connection, reply=skb.reply, source=self.source)
            note_rewriting(skb, before)

    def _translate_later(self, state: HookState, skb: Skb, connection: Connection) -> None:
        before = skb.packet
        skb.packet = rewrite(before, connection, reply=skb.reply, source=self.source)
        if skb.packet == before:
            return
        note_rewriting(skb, before)
        spans = (connection.span,) if connection.span is not None else ()
        word = StepDecision.SNAT if self.source else StepDecision.DNAT
        reason = reasons.TranslatedAsFirst(connection.original)
        state.walk.trace.step(self.label, skb, FUNCTION, before, word, reason, spans=spans)

    def _rewrite_error(self, state: HookState, skb: Skb, connection: Connection) -> None:
        if not is_translated(connection, reply=skb.reply, source=self.source):
            return
        before = skb.packet
        skb.packet = rewrite_error(before, connection, reply=skb.reply, source=self.source)
        word = StepDecision.SNAT if self.source else StepDecision.DNAT
        state.walk.trace.step(
            self.label, skb, REPLY, before, word, reasons.ErrorTranslated(connection.original)
        )

    def _record_untranslated(
        self, state: HookState, before: Packet, assumed: Sequence[Assumption]
    ) -> None:
        """Note that no translation rests on rules which the evidence leaves out."""
        state.walk.trace.step(
            self.label,
            state.skb,
            NULL_BINDING,
            before,
            StepDecision.PASS,
            reasons.NotTranslated(),
            assumed=tuple(dict.fromkeys(assumed)),
        )

    def _record_clash(self, state: HookState, before: Packet, connection: Connection) -> None:
        state.walk.trace.step(
            self.label,
            state.skb,
            NULL_BINDING,
            before,
            StepDecision.SNAT,
            reasons.PortClash(connection.original),
        )

    def _link_changed(self, state: HookState, skb: Skb, connection: Connection) -> bool:
        """Tell whether a masqueraded connection leaves by another device than before
        (`nf_nat_oif_changed`).
        """
        link = connection.masquerade_link
        return (
            link is not None
            and self.hook == Hook.POSTROUTING
            and not skb.reply
            and link != state.out_name
        )

    def _drop_changed(self, state: HookState, skb: Skb, connection: Connection) -> Verdict:
        conntrack_table(state.walk, skb.netns).delete(connection)
        changed = reasons.MasqueradeDeviceChanged(connection.masquerade_link or "", state.out_name)
        state.walk.trace.step(self.label, skb, FUNCTION, skb.packet, StepDecision.DROP, changed)
        return DROP

    def _mark_reroute(self, state: HookState, skb: Skb, connection: Connection) -> None:
        """Say that a local packet with a new destination is routed again
        (`nf_nat_ipv4_local_fn`).
        """
        if self.hook == Hook.OUTPUT and not state.reroute:
            entry, other = (
                (connection.reply, connection.original)
                if skb.reply
                else (connection.original, connection.reply)
            )
            if entry.dst != other.src:
                state.reroute = "NAT rewrote the destination"
