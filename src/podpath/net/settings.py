"""Configuration files of any program in one form: flat settings, each with the blocks it stands in
and its own line.

A file says what somebody wants, never what the kernel holds. What a word means is for whoever asks:
a name is as it is spelled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from podpath.net.provenance import Span


class Setting(NamedTuple):
    """One thing that a file sets."""

    path: tuple[str, ...]
    """The sections and blocks that it stands in, the outermost first, with what stands in their
    heads: `zone "home.lan" IN`.
    """
    name: str
    value: str
    """The rest of its words, without quotation marks round them all; empty for a word alone."""
    span: Span

    @property
    def words(self) -> tuple[str, ...]:
        """Its value's words, at blanks and commas, without quotation marks."""
        return tuple(word.strip("\"'[]") for word in self.value.replace(",", " ").split())


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """One sight of a configuration file, or a part of one."""

    kind: str
    """What it is by its content or name: `named`, `zone`, `dhcpd`, `dnsmasq`, ...; empty where
    neither tells.
    """
    path: str
    """Its name where the evidence shows one: `/etc/bind/named.conf`; else empty."""
    settings: tuple[Setting, ...]
    span: Span
    netns: str = "host"

    def all(self, *names: str) -> Iterator[Setting]:
        """Yield the settings of these names in any block; case does not count."""
        wanted = {name.lower() for name in names}
        return (setting for setting in self.settings if setting.name.lower() in wanted)

    def within(self, *heads: str) -> Iterator[Setting]:
        """Yield what stands directly in blocks whose head begins with one of these words:
        `listen-on { ... }`.
        """
        wanted = {head.lower() for head in heads}
        for setting in self.settings:
            if setting.path and setting.path[-1].lower().partition(" ")[0] in wanted:
                yield setting

    def blocks(self) -> dict[tuple[str, ...], list[Setting]]:
        """Return the settings by the block that they stand directly in, in their order."""
        found: dict[tuple[str, ...], list[Setting]] = {}
        for setting in self.settings:
            found.setdefault(setting.path, []).append(setting)
        return found
