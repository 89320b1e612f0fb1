"""How the network namespaces of a machine hang together, by what the kernel says: each one's
devices, and the numbers by which it knows the others.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from podpath.collect.netlink import NetlinkDevice, open_routing
from podpath.collect.netns import NetnsError, inside

_SPARE = 256
"""Descriptors that are left for everything else."""


class Edge(NamedTuple):
    """A device that leads from one namespace into another."""

    netns: str
    device: NetlinkDevice
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceSurvey:
    """Namespaces by their names, as they were a moment ago."""

    devices: Mapping[str, Sequence[NetlinkDevice]]
    identifiers: Mapping[str, Mapping[int, str]]
    """By which number each knows which other one; a number that is missing is of a namespace that
    was not surveyed.
    """
    gone: Sequence[str]
    """Those that could not be entered any more."""

    def find_other(self, name: str, device: NetlinkDevice) -> str | None:
        """Return the namespace of what a device belongs to; None where it was not surveyed."""
        number = device.identifier
        if number is None:
            return name
        return self.identifiers[name].get(number)

    def list_edges(self) -> Iterator[Edge]:
        """Yield the devices that lead into another namespace that was surveyed."""
        for name, devices in self.devices.items():
            for device in devices:
                other = self.find_other(name, device)
                if other is not None and other != name:
                    yield Edge(name, device, other)

    def list_pairs(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the pairs of veth ends, each once: namespace and device, and those of the other
        end.
        """
        by_index = {
            (name, device.ifindex): device
            for name, devices in self.devices.items()
            for device in devices
        }
        for name, devices in self.devices.items():
            for device in devices:
                if device.kind != "veth" or device.link is None:
                    continue
                there = self.find_other(name, device)
                far = None if there is None else by_index.get((there, device.link))
                if there is None or far is None or far.link != device.ifindex:
                    continue
                if (name, device.name) < (there, far.name):
                    yield name, device.name, there, far.name


@contextmanager
def held(paths: Mapping[str, str]) -> Iterator[Mapping[str, int]]:
    """Hold namespaces open for a block, by their names: what is held stays, whatever becomes of its
    pod. Those that are gone already are left out.
    """
    _raise_limit(len(paths) + _SPARE)
    descriptors: dict[str, int] = {}
    try:
        for name, path in paths.items():
            with suppress(OSError):
                descriptors[name] = os.open(path, os.O_RDONLY)
        yield descriptors
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


def survey(descriptors: Mapping[str, int]) -> NamespaceSurvey:
    """Ask every namespace for its devices and for whom its numbers stand."""
    devices: dict[str, Sequence[NetlinkDevice]] = {}
    for name, descriptor in descriptors.items():
        try:
            with inside(descriptor), open_routing() as kernel:
                devices[name] = kernel.list_devices()
        except (NetnsError, OSError):
            continue
    # whom many lead to is tried first: a node for its pods
    hubs = sorted(devices, key=lambda name: -len(_list_numbers(devices[name])))
    identifiers: dict[str, Mapping[int, str]] = {}
    for name, found in devices.items():
        numbers = _list_numbers(found)
        identifiers[name] = _resolve(name, numbers, hubs, descriptors) if numbers else {}
    gone = tuple(name for name in descriptors if name not in devices)
    return NamespaceSurvey(devices=devices, identifiers=identifiers, gone=gone)


def _list_numbers(devices: Sequence[NetlinkDevice]) -> set[int]:
    """Return the numbers that devices name; a negative one is none (NETNSA_NSID_NOT_ASSIGNED)."""
    return {
        each.identifier for each in devices if each.identifier is not None and each.identifier >= 0
    }


def _resolve(
    name: str, numbers: set[int], hubs: Sequence[str], descriptors: Mapping[str, int]
) -> dict[int, str]:
    known: dict[int, str] = {}
    try:
        with inside(descriptors[name]), open_routing() as kernel:
            for other in hubs:
                number = kernel.find_identifier(descriptors[other]) if other != name else None
                if number is not None:
                    known[number] = other
                if numbers <= known.keys():
                    break
    except (NetnsError, OSError):
        return known
    return known


def _raise_limit(wanted: int) -> None:
    """Let this process open as many files as it needs, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, soft), hard))
