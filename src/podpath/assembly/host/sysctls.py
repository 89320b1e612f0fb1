"""Sysctls of all namespaces, and kernel modules, on which some of them hang.

A value that was read is known. It is not, where two outputs differ; where a command in the evidence
had changed it before it was read, for things failed before; or where only a configuration file or a
good host mentions it. Keys of br_netfilter do not exist while it is not loaded, and bridged frames
then pass netfilter by: that is what `0` means too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from podpath.assembly.drafts.disputes import DisputeClaim, Disputes
from podpath.assembly.drafts.draft import NodeDraft, ask_in
from podpath.assembly.scenes.change_commands import Effect, ModuleChange, SysctlChange
from podpath.assembly.scenes.completeness import lists_all
from podpath.assembly.scenes.labels import StateLikelihood
from podpath.assembly.scenes.scene import ReadSource, ReadSources, stands_after
from podpath.evidence.node_records import ModuleRecord, SysctlRecord
from podpath.net.provenance import Span
from podpath.node.node import HOST

MODULE_KEYS: Mapping[str, tuple[str, ...]] = {
    "br_netfilter": (
        "net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables",
        "net.bridge.bridge-nf-call-arptables",
    ),
}  # fmt: skip
"""Keys that a module brings, of which a kernel without it behaves as with `0`
(net/bridge/br_netfilter_hooks.c v6.12).
"""
_LEVELS: Mapping[str, tuple[str, ...]] = {
    "rp_filter": ("1", "0", "2"),
    "arp_ignore": ("0", "1", "2"),
    "arp_announce": ("0", "1", "2"),
}
"""Keys with more than two values, by the last part of their name; all others are taken for
switches.
"""

_Key = tuple[str, str]


def assemble_sysctls(
    draft: NodeDraft, evidence: ReadSources, disputes: Disputes, effects: tuple[Effect, ...]
) -> None:
    """Put what is known of sysctls into their namespaces, and the modules into the node."""
    claims: dict[_Key, list[DisputeClaim[str]]] = {}
    for scene, record in evidence.records(SysctlRecord):
        key = (scene.netns, record.key.replace("/", "."))
        claim = _claim_record(record, key[1], scene, effects)
        if claim is not None:
            claims.setdefault(key, []).append(claim)
        elif record.missing:
            disputes.gap(record.span, f"expected a value, saw that there is no {record.key}")
        if lists_all(scene, "sysctl") and not scene.is_elsewhere:
            draft.netns(scene.netns).sysctls_complete = True
    _assemble_modules(draft, evidence, effects)
    for key, claim in [
        *_claim_modules(draft, evidence, effects, claims),
        *_claim_changes(effects, claims),
    ]:
        claims.setdefault(key, []).append(claim)
    for (name, sysctl), spoken in claims.items():
        fact = disputes.settle(
            f"{sysctl} in netns {name}", ask_in(name, f"sysctl {sysctl}"), _complete(sysctl, spoken)
        )
        if fact is not None:
            draft.netns(name).sysctls[sysctl] = fact


def other_values(key: str, *values: str) -> tuple[str, ...]:
    """Return the values that a sysctl may have besides these, the likeliest first."""
    levels = _LEVELS.get(key.rpartition(".")[2], ("0", "1"))
    if all(value in levels for value in values):
        return tuple(level for level in levels if level not in values)
    return ()


def _claim_record(
    record: SysctlRecord, key: str, scene: ReadSource, effects: Sequence[Effect]
) -> DisputeClaim[str] | None:
    span, standing = record.span, scene.standing
    if record.missing:
        if not any(key in keys for keys in MODULE_KEYS.values()):
            return None
        return DisputeClaim(
            "0", span, standing, f"there is no {key} as at {span}: its module is not loaded"
        )
    if record.configured:
        return DisputeClaim(
            record.value,
            span,
            StateLikelihood.BAD,
            f"as configured at {span}; what is in force is not shown",
            shown=False,
        )
    for effect in reversed(effects):
        if _changes(effect, scene.netns, key) and stands_after(span, effect.span):
            later = max(standing, StateLikelihood.AFTER)
            return DisputeClaim(
                record.value, span, later, f"as at {span}, after `{effect.command}`"
            )
    return DisputeClaim(record.value, span, standing)


def _changes(effect: Effect, netns: str, key: str) -> bool:
    if isinstance(effect, SysctlChange):
        return (effect.netns, effect.key) == (netns, key)
    return isinstance(effect, ModuleChange) and key in MODULE_KEYS.get(effect.name, ())


def _claim_changes(
    effects: Sequence[Effect], claims: Mapping[_Key, Sequence[DisputeClaim[str]]]
) -> Iterator[tuple[_Key, DisputeClaim[str]]]:
    """Yield what commands say of the time before and after them, where no output shows it."""
    for effect in effects:
        if isinstance(effect, ModuleChange):
            for key in MODULE_KEYS.get(effect.name, ()):
                before, after = ("0", "1") if effect.loaded else ("1", "0")
                yield from _claim_both_sides(
                    effect, (HOST, key), before, after, claims.get((HOST, key), ())
                )
        elif isinstance(effect, SysctlChange):
            key_of = (effect.netns, effect.key)
            for before in other_values(effect.key, effect.value)[:1] or ("",):
                yield from _claim_both_sides(
                    effect, key_of, before, effect.value, claims.get(key_of, ())
                )


def _claim_both_sides(
    effect: SysctlChange | ModuleChange,
    key: _Key,
    before: str,
    after: str,
    spoken: Sequence[DisputeClaim[str]],
) -> Iterator[tuple[_Key, DisputeClaim[str]]]:
    earlier = [claim for claim in spoken if claim.standing < StateLikelihood.AFTER]
    if not earlier and before:
        yield (
            key,
            DisputeClaim(
                before,
                effect.span,
                StateLikelihood.PLAIN,
                f"before `{effect.command}` at {effect.span}",
                shown=False,
            ),
        )
    if not any(claim.standing is StateLikelihood.AFTER for claim in spoken):
        yield (
            key,
            DisputeClaim(
                after,
                effect.span,
                StateLikelihood.AFTER,
                f"after `{effect.command}` at {effect.span}",
                shown=False,
            ),
        )


def _complete(key: str, claims: Sequence[DisputeClaim[str]]) -> Sequence[DisputeClaim[str]]:
    """Add the other values where only a file, or a good host, speaks of a key: neither shows what
    was in force.
    """
    values = tuple(claim.value for claim in claims)
    if all(claim.standing is StateLikelihood.ELSEWHERE for claim in claims):
        others = [
            DisputeClaim(value, None, StateLikelihood.PLAIN, "otherwise than there", shown=False)
            for value in other_values(key, *values)
        ]
        return [*others, *claims]
    if all(not claim.shown and claim.standing is StateLikelihood.BAD for claim in claims):
        others = [
            DisputeClaim(
                value, None, StateLikelihood.PLAIN, "set by something else since", shown=False
            )
            for value in other_values(key, *values)
        ]
        return [*claims, *others]
    return [claim for claim in claims if claim.shown or claim.standing is not StateLikelihood.BAD]


def _assemble_modules(draft: NodeDraft, evidence: ReadSources, effects: Sequence[Effect]) -> None:
    """List the modules that were loaded while things failed: one that a command loads was not."""
    changes = [effect for effect in effects if isinstance(effect, ModuleChange)]
    for scene, record in evidence.records(ModuleRecord):
        if scene.is_elsewhere:
            continue
        later = any(
            change.name == record.name and stands_after(record.span, change.span)
            for change in changes
        )
        if not later:
            draft.modules.setdefault(record.name, record.loaded)
        if lists_all(scene, "modules"):
            draft.modules_complete = True
            draft.modules_span = draft.modules_span or record.span


def _claim_modules(
    draft: NodeDraft,
    evidence: ReadSources,
    effects: Sequence[Effect],
    claims: Mapping[_Key, Sequence[DisputeClaim[str]]],
) -> Iterator[tuple[_Key, DisputeClaim[str]]]:
    """Yield what a module that is not loaded says of its keys, where no output shows the key
    itself.
    """
    for module, keys in MODULE_KEYS.items():
        spans: list[tuple[ReadSource, Span]] = []
        for scene, record in evidence.records(ModuleRecord):
            if record.name == module and not record.loaded:
                spans.append((scene, record.span))
        touched = any(
            isinstance(effect, ModuleChange) and effect.name == module for effect in effects
        )
        if (
            draft.modules_complete
            and module not in draft.modules
            and not touched
            and draft.modules_span is not None
        ):
            spans += [
                (scene, draft.modules_span)
                for scene in evidence.scenes
                if scene.source is draft.modules_span.source
            ]
        for scene, span in spans:
            for key in keys:
                if (HOST, key) not in claims:
                    yield (
                        (HOST, key),
                        DisputeClaim(
                            "0", span, scene.standing, f"{module} is not loaded as at {span}"
                        ),
                    )
