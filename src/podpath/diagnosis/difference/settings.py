"""What is set otherwise on another node: modules, sysctls, and Cilium's options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from podpath.diagnosis.difference.difference import Difference, inside, paired_namespaces, spans_of
from podpath.net.provenance import Fact, Known, Span
from podpath.node.alteration import MODULE_SYSCTLS
from podpath.node.change import LoadModule, SetCiliumOption, SetSysctl
from podpath.node.node import HOST, Netns, Node

COUNTED = ("net.netfilter.nf_conntrack_count",)
"""Sysctls that no one sets: what they show changes all the time."""


def compare_settings(bad: Node, good: Node) -> Iterator[Difference]:
    """Compare what is set: modules, sysctls, and Cilium's options."""
    for module in _missing_modules(bad, good):
        keys = tuple(key for key, _ in MODULE_SYSCTLS.get(module, ()))
        yield Difference(
            kind="module",
            netns=HOST,
            words=f"the module {module} is not loaded here, and is where it works",
            here=spans_of(bad.modules.span),
            there=spans_of(good.modules.span, *_sysctl_spans(good.host, keys)),
            commands=(f"modprobe {module}",),
            changes=(LoadModule(name=module),),
        )
    for here, there in paired_namespaces(bad, good):
        for key, fact in there.sysctls.items():
            mine = here.sysctls.get(key)
            if (
                isinstance(fact, Known)
                and isinstance(mine, Known)
                and fact.value != mine.value
                and key not in COUNTED
            ):
                yield _sysctl(here, key, mine, fact)
    if bad.cilium is not None and good.cilium is not None:
        yield from _cilium_options(bad.cilium.options, good.cilium.options)


def _missing_modules(bad: Node, good: Node) -> Iterator[str]:
    """Yield modules that only the good node has; where no listing tells, the sysctls that a module
    brings do.
    """
    for module in good.modules.items:
        if bad.modules.complete and module not in bad.modules.items:
            yield module
    for module, brought in MODULE_SYSCTLS.items():
        keys = [key for key, _ in brought]
        there = any(key in good.host.sysctls for key in keys)
        if (
            there
            and bad.host.sysctls_complete
            and not any(key in bad.host.sysctls for key in keys)
            and not bad.modules.complete
        ):
            yield module


def _sysctl_spans(namespace: Netns, keys: Sequence[str]) -> Iterator[Span | None]:
    for key in keys[:1]:
        fact = namespace.sysctls.get(key)
        yield fact.span if isinstance(fact, Known) else None


def _sysctl(here: Netns, key: str, mine: Known[str], theirs: Known[str]) -> Difference:
    where = "" if here.name == HOST else f" in netns {here.name}"
    value = f"'{theirs.value}'" if " " in theirs.value or "\t" in theirs.value else theirs.value
    return Difference(
        kind="sysctl",
        netns=here.name,
        words=f"{key}{where} is {mine.value} here, and {theirs.value} where it works",
        here=spans_of(mine.span),
        there=spans_of(theirs.span),
        commands=(inside(here.name, f"sysctl -w {key}={value}"),),
        changes=(SetSysctl(netns=here.name, key=key, value=theirs.value),),
    )


def _cilium_options(
    bad: Mapping[str, Fact[str]], good: Mapping[str, Fact[str]]
) -> Iterator[Difference]:
    for name, theirs in good.items():
        mine = bad.get(name)
        if isinstance(mine, Known) and isinstance(theirs, Known) and mine.value != theirs.value:
            yield Difference(
                kind="cilium option",
                netns=HOST,
                words=f"Cilium's {name} is {mine.value} here, and {theirs.value} where it works",
                here=spans_of(mine.span),
                there=spans_of(theirs.span),
                changes=(SetCiliumOption(name=name, value=theirs.value),),
            )
