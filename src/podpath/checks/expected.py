"""Which addresses lines take for the host's own: flags of programs and configuration files, in one
form, to be held against the listing of what the host has.

Either side states something: the flag or file what somebody wants, the listing what there is. That
they differ is a fault where something rests on the address; which of the two is right, and whether
the file is in force, they leave open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.files import own_addresses
from podpath.checks.node_ranges import addresses_of
from podpath.checks.objects import see
from podpath.checks.said import find_said
from podpath.checks.wanted import prefixes, wanted_devices
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress
from podpath.node.node import HOST, Netns

PRIVATE = tuple(Prefix.parse(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
"""A cloud may translate any other address to the host's own, which no listing shows."""


class ExpectedAddress(NamedTuple):
    """An address that a line takes for the host's own."""

    address: Address
    by: str
    """Who does, in words: `--node-ip`, `the configuration of eth0`."""
    span: Span
    device: str = ""
    """The device that is to have it; empty where any may."""


def list_expected(case: Case) -> Iterator[ExpectedAddress]:
    """Yield the addresses that flags and files take for the host's own, those of flags first."""
    for message in find_said(case, MessageKind.OWN_ADDRESS_WANTED):
        address = read_address(message.values["address"])
        if address is not None and message.netns == HOST and _is_private(address):
            yield ExpectedAddress(address, message.values["what"], message.span)
    for wanted in wanted_devices(case):
        for setting, address, _ in prefixes(wanted):
            if _is_private(address):
                by = f"the configuration of {wanted.device}"
                yield ExpectedAddress(address, by, setting.span, wanted.device)


def _is_private(address: Address) -> bool:
    return any(prefix.covers(address) for prefix in PRIVATE)


class Absence(NamedTuple):
    """An expected address that is not where it is expected, and what is there instead."""

    expected: ExpectedAddress
    found_on: str
    """The device that has it; empty where none has."""
    instead: tuple[InterfaceAddress, ...]
    """What a listing shows in its place."""


def list_absent(case: Case) -> Iterator[Absence]:
    """Yield the expected addresses that a whole listing shows elsewhere, or not at all."""
    host = case.node.host
    listed = tuple(one for one in host.addresses.items if _is_listed(one))
    if not host.addresses.complete or not listed:
        return
    held, others = own_addresses(case), _list_of_others(case)
    for expected in list_expected(case):
        device, _ = held.get(expected.address, ("", None))
        if expected.address in others or (device and _fits(host, expected.device, device)):
            continue
        if device or not expected.device or _has_device(host, expected.device):
            yield Absence(expected, device, tuple(_find_instead(listed, expected)))


def _is_listed(one: InterfaceAddress) -> bool:
    plain = not one.address.is_loopback and one.address.family == 4
    return plain and one.span is not None and one.inferred is None


def _list_of_others(case: Case) -> frozenset[Address]:
    """Return the addresses of other nodes: a flag or file may be another host's."""
    nodes = [one for one in see(case, "Node") if one.name != case.node.name]
    return frozenset().union(*map(addresses_of, nodes))


def _has_device(host: Netns, name: str) -> bool:
    """Tell whether the host has a device: of one that it lacks other checks tell."""
    return any(str(link.name) == name and link.span is not None for link in host.links.items)


def _fits(host: Netns, wanted: str, device: str) -> bool:
    """Tell whether an address on a device is where it is wanted: there, or on the bridge, bond or
    VLAN that is made of it.
    """
    if not wanted or device == wanted or device.startswith((f"{wanted}.", f"{wanted}:")):
        return True
    return any(
        {wanted, device} == {str(link.name), str(end)}
        for link in host.links.items
        for end in (link.master, link.lower, link.bond_slave_of)
    )


def _find_instead(
    listed: tuple[InterfaceAddress, ...], expected: ExpectedAddress
) -> Iterator[InterfaceAddress]:
    """Yield what stands where the address is expected, or has it: on its device, or in a network
    that would hold it, or on any device.
    """
    holding = [one for one in listed if one.address == expected.address]
    own = [one for one in listed if expected.device and str(one.link) == expected.device]
    near = [one for one in listed if one.prefix.covers(expected.address)]
    yield from dict.fromkeys((*holding, *own, *near) or listed)
