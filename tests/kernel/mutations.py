"""Deliberate errors in the model, each patched in alone: what the agreement with the kernel has to
notice.
"""
# ruff: noqa: ANN401  # what is patched in stands for functions of many types

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from podpath.datapath.bridging import bridge_netfilter
from podpath.datapath.nat.stage import NatStage
from podpath.datapath.netfilter import chains, hook, hooks, rules, tracking
from podpath.datapath.netfilter.ruleset import ruleset
from podpath.datapath.netfilter.stages import TableStage
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, Accept, Drop, Verdict
from podpath.datapath.netns import fib, rpdb
from podpath.datapath.routing import source_address
from podpath.datapath.stages import driver, forward
from podpath.datapath.tracing.frames import with_ttl
from podpath.datapath.vocabulary import CtInfo, Hook
from podpath.datapath.walk import settings
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.datapath.xtables.actions import Actions
from podpath.net.provenance import Known
from podpath.xtables import registry
from podpath.xtables.nat_ranges import NULL

Patch = pytest.MonkeyPatch


def _smaller_of_all_and_device(patch: Patch) -> None:
    def both(namespace: Any, setting: Any, device: str) -> list[int]:
        facts = (settings.device_fact(namespace, setting, name) for name in (settings.ALL, device))
        return [int(fact.value) for fact in facts if isinstance(fact, Known)]

    patch.setattr(settings, "known_maximum", lambda *where: min(both(*where)))
    patch.setattr(settings, "maximum", lambda _, *where: min(both(*where)))


def _mark_ends_the_table(patch: Patch) -> None:
    original = registry.TARGETS["MARK"]

    def compile_target(*arguments: Any) -> Any:
        act: Any = original.compiler and original.compiler(*arguments)

        def mark_and_accept(state: Actions) -> Verdict:
            act(state)
            return ACCEPT

        return mark_and_accept

    _compile_as(patch, "MARK", compile_target)


def _masquerade_takes_prefsrc(patch: Patch) -> None:
    def compile_target(*_: Any) -> Any:
        def masquerade(state: Actions) -> Verdict:
            destination = state.skb.destination
            if state.skb.connection is None or destination is None or destination.prefsrc is None:
                return ACCEPT
            source = destination.prefsrc.value
            return state.bind_source(NULL._replace(low=source, high=source))

        return masquerade

    _compile_as(patch, "MASQUERADE", compile_target)


def _compile_as(patch: Patch, name: str, compiler: Callable[..., Any]) -> None:
    patch.setitem(registry.TARGETS, name, replace(registry.TARGETS[name], compiler=compiler))


def _a_dropped_packet_leaves_an_entry(patch: Patch) -> None:
    original = hooks.traverse

    def traverse(walk: Walk, skb: Skb, name: Hook) -> Verdict:
        verdict = original(walk, skb, name)
        if (
            isinstance(verdict, Drop)
            and skb.connection is not None
            and not skb.connection.confirmed
        ):
            tracking.conntrack_table(walk, skb.netns).insert(skb.connection)
        return verdict

    patch.setattr(hook, "traverse", traverse)


def _negation_is_ignored(patch: Patch) -> None:
    original: Any = rules._network
    patch.setattr(rules, "_network", lambda match: original(replace_negation(match)))


def replace_negation(match: Any) -> Any:
    """Return a match of addresses without its exclamation mark."""
    return (
        match._replace(negated=False)
        if hasattr(match, "_replace")
        else replace(match, negated=False)
    )


def _goto_returns(patch: Patch) -> None:
    patch.setattr(rules, "GOTO", rules.JUMP)


def _return_accepts(patch: Patch) -> None:
    original = chains.Traversal._policy

    def policy(self: chains.Traversal) -> Verdict | None:
        chain, place = self.visits[-1]
        returned = place and chain.rule(place - 1).kind == rules.RETURN
        return None if returned else original(self)

    patch.setattr(chains.Traversal, "_policy", policy)


def _policy_rules_run_backwards(patch: Patch) -> None:
    original = rpdb.Rpdb.__init__

    def compile_rules(self: rpdb.Rpdb, *arguments: Any) -> None:
        original(self, *arguments)
        self.rules = (
            (self.rules[0], *reversed(self.rules[1:-2]), *self.rules[-2:])
            if len(self.rules) > 3
            else self.rules
        )

    patch.setattr(rpdb.Rpdb, "__init__", compile_rules)


def _metric_is_ignored(patch: Patch) -> None:
    original = fib._rank
    patch.setattr(fib, "_rank", lambda route: (*original(route)[:2], 0))


def _forward_sees_the_whole_ttl(patch: Patch) -> None:
    original = forward.forward_hook

    def forward_hook(walk: Walk, skb: Skb) -> Any:
        skb.packet = with_ttl(skb.packet, skb.packet.ttl + 1)
        following = original(walk, skb)
        skb.packet = with_ttl(skb.packet, skb.packet.ttl - 1)
        return following

    swapped = {
        path: tuple(forward_hook if run is original else run for run in stages)
        for path, stages in driver.RUNS[4].items()
    }
    patch.setattr(driver, "RUNS", {**driver.RUNS, 4: swapped})


def _nat_for_every_packet(patch: Patch) -> None:
    original = NatStage.__call__

    def translate(self: NatStage, state: HookState) -> Verdict | None:
        connection = state.skb.connection
        if connection is not None and (
            connection.src_nat_done if self.source else connection.dst_nat_done
        ):
            for stage in self._in_order(state):
                stage.evaluate(state)
        return original(self, state)

    patch.setattr(NatStage, "__call__", translate)


def _invalid_counts_as_new(patch: Patch) -> None:
    original = tracking._declare_invalid

    def declare(state: HookState, *arguments: Any) -> None:
        original(state, *arguments)
        state.skb.ctinfo = CtInfo.NEW

    patch.setattr(tracking, "_declare_invalid", declare)


def _bridge_netfilter_always_on(patch: Patch) -> None:
    patch.setattr(bridge_netfilter, "_is_on", lambda *_: True)


def _a_drop_is_not_final(patch: Patch) -> None:
    def traverse(walk: Walk, skb: Skb, name: Hook) -> Verdict:
        stages = ruleset(walk, skb.netns, skb.packet.dst.family).stages[name]
        state = HookState(walk, skb, name)
        for position, stage in enumerate(stages):
            verdict = stage(state)
            later = any(isinstance(other, TableStage) for other in stages[position + 1 :])
            if verdict is not None and not (
                isinstance(verdict, Drop) and isinstance(stage, TableStage) and later
            ):
                return verdict
        return Accept(state.reroute) if state.reroute else ACCEPT

    patch.setattr(hook, "traverse", traverse)


def _forwarding_is_that_of_all(patch: Patch) -> None:
    def find(namespace: Any, _: str) -> Any:
        return namespace.netns.sysctls.get("net.ipv4.ip_forward", Known("0"))

    patch.setattr(settings, "_find_forwarding", find)


def _secondary_addresses_count(patch: Patch) -> None:
    original = source_address.select_address

    def select(namespace: Any, link: Any, *arguments: Any) -> Any:
        found = original(namespace, link, *arguments)
        held = namespace.by_link.get(link.name, ())
        return held[-1] if found in held else found

    for module in ("destinations", "questions", "output"):
        patch.setattr(f"podpath.datapath.routing.{module}.select_address", select)


def _kernel_packets_have_an_owner(patch: Patch) -> None:
    original = Skb.__init__

    def make(self: Skb, *arguments: Any, **more: Any) -> None:
        original(self, *arguments, **more)
        self.uid = 0 if more.pop("by_kernel", False) else self.uid

    patch.setattr(Skb, "__init__", make)
    patch.setattr("podpath.xtables.matches.owner.is_local", lambda state: state.skb.iif is None)


MUTATIONS: Mapping[str, Callable[[Patch], None]] = {
    "rp_filter is the smaller of all and the device": _smaller_of_all_and_device,
    "MARK ends the table": _mark_ends_the_table,
    "MASQUERADE takes the source of the route": _masquerade_takes_prefsrc,
    "a dropped first packet leaves a conntrack entry": _a_dropped_packet_leaves_an_entry,
    "negation of addresses is ignored": _negation_is_ignored,
    "goto returns as jump does": _goto_returns,
    "RETURN in a base chain accepts whatever the policy": _return_accepts,
    "policy rules run from the largest priority": _policy_rules_run_backwards,
    "the metric is ignored": _metric_is_ignored,
    "FORWARD sees the TTL before it is counted down": _forward_sees_the_whole_ttl,
    "the nat table sees every packet": _nat_for_every_packet,
    "INVALID counts as NEW": _invalid_counts_as_new,
    "bridged packets always run through iptables": _bridge_netfilter_always_on,
    "a later table sees what an earlier one dropped": _a_drop_is_not_final,
    "forwarding is that of ip_forward, whatever the device says": _forwarding_is_that_of_all,
    "secondary addresses are taken as sources": _secondary_addresses_count,
    "what the kernel sends itself has an owner": _kernel_packets_have_an_owner,
}
"""What is wrong in the model, and how it is made so."""
