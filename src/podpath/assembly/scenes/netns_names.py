"""One namespace under several names: a process in it, its file, its pod, its container.

A ticket enters a pod by `nsenter -t PID` here and by `kubectl exec` there. Two names that show the
same address are one namespace, since no two pods of a cluster have one address; so are two
spellings of one pod.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from podpath.evidence.records import PacketRecord, Reading
from podpath.net.addresses import Address
from podpath.node.node import HOST

if TYPE_CHECKING:
    from podpath.evidence.node_records import AddressRecord

_POD = re.compile(r"pod/(?P<namespace>[^/]+)/(?P<name>[^/]+)")


def find_aliases(read: Iterable[tuple[str, Reading]]) -> Mapping[str, str]:
    """Return for each name of a namespace, of outputs in their order, the first name that the same
    namespace goes by.
    """
    owners: dict[Address, str] = {}
    listed: dict[str, frozenset[Address]] = {}
    pods: dict[tuple[str, str], str] = {}
    aliases: dict[str, str] = {}
    for name, reading in read:
        if name == HOST:
            continue
        first = aliases.get(name)
        if first is None:
            first = aliases[name] = _same_pod(name, pods) or name
        own = frozenset(_own_addresses(reading))
        if _list_addresses(reading):
            listed.setdefault(first, own)
        for address in own:
            known = owners.setdefault(address, first)
            # one address in two whole listings that differ is a duplicate, not one namespace
            if known != first and listed.get(known, own) == listed.get(first, own):
                aliases.update(
                    {alias: known for alias, target in aliases.items() if target == first}
                )
                first = known
    return {name: target for name, target in aliases.items() if name != target}


def _same_pod(name: str, pods: dict[tuple[str, str], str]) -> str | None:
    """Return an earlier name of the same pod, where one of the two lacks the Kubernetes namespace
    (`pod/?/web-0`).
    """
    found = _POD.fullmatch(name)
    if found is None:
        return None
    namespace, pod = found["namespace"], found["name"]
    same = [
        first
        for (other, known), first in pods.items()
        if known == pod and "?" in {other, namespace}
    ]
    pods[namespace, pod] = same[0] if same else name
    return same[0] if same else None


def _list_addresses(reading: Reading) -> list[AddressRecord]:
    from podpath.evidence.node_records import AddressRecord  # noqa: PLC0415 - captures have none

    return reading.of(AddressRecord)


def _own_addresses(reading: Reading) -> Iterable[Address]:
    """Return the addresses that an output shows a namespace to have: those listed, or the one
    source of all that it sends.

    What sends from several addresses forwards for others.
    """
    listed = [one for one in _list_addresses(reading) if one.scope in {None, "global"}]
    if listed:
        return [
            own.address
            for own in listed
            if not (own.address.is_loopback or own.address.is_link_local)
        ]
    sent = {
        record.packet.src
        for record in reading.records
        if isinstance(record, PacketRecord)
        and record.packet is not None
        and (record.direction or "").lower() == "out"
    }
    return [address for address in sent if len(sent) == 1 and not address.is_loopback]
