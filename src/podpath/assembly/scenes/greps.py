"""A grep whose output does not hold what it looked for: one of the two was edited before it was
pasted.

`ip link | grep -B 1 MAC` that prints a device with another MAC still says that the device had the
MAC asked for: both are claims about it, and they contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.node_records import LinkRecord
from podpath.net.addresses import IfName, Mac
from podpath.net.provenance import Span

_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}", re.IGNORECASE)
_GREPS = frozenset({"grep", "egrep", "fgrep", "rg", "ack", "ag"})


def greped_macs(evidence: ReadSources) -> Iterator[tuple[ReadSource, Span, IfName, Mac]]:
    """Yield each MAC that a grep over devices asked for while its output shows one other MAC only,
    with the first device.
    """
    for scene in evidence.scenes:
        mac = _asked_mac(scene)
        shown = [
            record
            for record in scene.reading.records
            if isinstance(record, LinkRecord) and record.mac is not None
        ]
        if mac is None or not shown or any(record.mac == mac for record in shown):
            continue
        # several devices may share the one MAC (a bridge has its port's): the first stands for them
        if len({record.mac for record in shown}) == 1:
            yield scene, shown[0].span, shown[0].name, mac


def _asked_mac(scene: ReadSource) -> Mac | None:
    for words in scene.command.filters:
        if words[0].rpartition("/")[2] not in _GREPS or "-v" in words:
            continue
        for word in words[1:]:
            if _MAC.fullmatch(word):
                return Mac(word.lower())
    return None
