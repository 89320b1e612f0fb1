"""What checks ask of configuration files: files of a kind, the host's own addresses and devices
that a file must fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podpath.net.addresses import Address, Prefix
from podpath.net.provenance import Span
from podpath.net.settings import Setting, SettingsFile
from podpath.node.case import Case

_DEVICE = re.compile(r"[a-z][a-z0-9_-]*\d[a-z0-9_.-]*$|lo$")


def files_of(case: Case, *kinds: str) -> tuple[SettingsFile, ...]:
    """Return the configuration files of these kinds, in the order of the evidence."""
    return tuple(file for file in case.files if file.kind in kinds)


def own_addresses(case: Case, netns: str = "host") -> Mapping[Address, tuple[str, Span | None]]:
    """Return the addresses that listings show on a namespace's devices, each with its device and
    line.
    """
    namespace = case.node.namespaces.get(netns)
    if namespace is None:
        return {}
    shown = (one for one in namespace.addresses.items if one.inferred is None)
    return {one.address: (str(one.link), one.span) for one in shown}


def device_networks(case: Case, device: str, netns: str = "host") -> tuple[Prefix, ...]:
    """Return the networks of the addresses that listings show on a device."""
    namespace = case.node.namespaces.get(netns)
    if namespace is None:
        return ()
    return tuple(
        one.prefix
        for one in namespace.addresses.items
        if str(one.link) == device and one.inferred is None
    )


def listed_devices(case: Case, netns: str = "host") -> frozenset[str]:
    """Return the names of a namespace's devices where a whole listing shows them; else none."""
    namespace = case.node.namespaces.get(netns)
    if namespace is None or not namespace.links.complete:
        return frozenset()
    return frozenset(str(link.name) for link in namespace.links.items if link.inferred is None)


def named_devices(setting: Setting) -> Iterator[str]:
    """Yield the words of a setting that are names of devices, as far as names tell; patterns are
    left out.
    """
    for word in setting.words:
        if _DEVICE.match(word):
            yield word
