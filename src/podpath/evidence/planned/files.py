"""Files that say what somebody is about to change: which kind each is, and what it says.

The same text may be a listing or a change: `iptables-save` prints what `iptables-restore` takes.
What comes in here is taken for a change.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from podpath.evidence.formats import CERTAIN
from podpath.evidence.iptables.notes import guess_family, parse_generated
from podpath.evidence.iptables.rules import recognise_rules
from podpath.evidence.kernel import sysctl
from podpath.evidence.kubernetes.manifest import read_manifest, recognise_manifest
from podpath.evidence.nft.script import is_script, read_script
from podpath.evidence.planned.commands import is_command_list, read_commands
from podpath.evidence.planned.restore import read_restore
from podpath.evidence.records import Reading
from podpath.net.addresses import Family
from podpath.net.provenance import Source


class ChangeKind(Enum):
    """What a file changes, and which program takes it."""

    IPTABLES = "iptables-restore"
    NFT = "nft -f"
    SYSCTL = "sysctl -p"
    COMMANDS = "ip, sysctl, modprobe"
    OBJECTS = "kubectl apply"


class ReadChange(NamedTuple):
    """A file that was read as a change."""

    kind: ChangeKind
    source: Source
    reading: Reading


def read_change(
    source: Source, *, family: Family | None = None, flavour: str | None = None
) -> ReadChange | None:
    """Read a file as the change that it is; None where it is none that is known.

    `family` and `flavour` say of rules of iptables which program takes them, where the file does
    not.
    """
    lines = [line for line in source.lines if line.strip()]
    if any(line.strip()[:1] == "*" for line in lines) and recognise_rules(source) == CERTAIN:
        return _read_iptables(source, family, flavour)
    if is_script(source):
        return ReadChange(ChangeKind.NFT, source, read_script(source))
    if is_command_list(source):
        return ReadChange(ChangeKind.COMMANDS, source, read_commands(source))
    if recognise_manifest(source):
        return ReadChange(ChangeKind.OBJECTS, source, read_manifest(source))
    if sysctl.recognise(source):
        return ReadChange(ChangeKind.SYSCTL, source, sysctl.read_settings(source))
    return None


def _read_iptables(source: Source, family: Family | None, flavour: str | None) -> ReadChange:
    """Read rules as the program prints them that takes them."""
    origins = [found for line in source.lines[:200] if (found := parse_generated(line)) is not None]
    if family is None:
        family = origins[0].family if origins else guess_family(source.lines)
    if flavour is None and origins:
        flavour = origins[0].flavour
    program = "iptables" if family == 4 else "ip6tables"
    command = f"{program}-{flavour}-save" if flavour else f"{program}-save"
    named = replace(source, command=command)
    return ReadChange(ChangeKind.IPTABLES, named, read_restore(named, family, flavour))
