"""Other names for the same incident: a text renamed throughout, so that nothing can rest on the
names of one report.

Addresses keep their prefix relations (a constant is XOR-ed into the bits below the first octet,
masked to each prefix), MACs change in the last three octets (the vendor part stays, so that words
that tools print for it stay true), and devices, chains, services and hosts get new names of their
own. Loopback, link-local, multicast and netmask-like addresses keep their meaning.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

_IPV4 = re.compile(r"(?<![\d.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(/\d{1,2})?(?![\d])")
_MAC = re.compile(r"(?<![0-9a-f:])((?:[0-9a-f]{2}:){5}[0-9a-f]{2})(?![0-9a-f:])")
_KEPT = (0, 127, 169, 224, 255)
_TELLING = ("lxc",)
"""Prefixes that rules in the texts name (`-i lxc+`): a device keeps its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """One consistent renaming, made from a seed."""

    xor: int
    mac_xor: int
    words: tuple[tuple[str, str], ...]
    """Words to replace and what replaces them, longest first."""

    def text(self, text: str) -> str:
        """Rename a whole text."""
        renamed = _MAC.sub(lambda found: self._mac(found[1]), _IPV4.sub(self._address, text))
        for old, new in self.words:
            renamed = re.sub(rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])", new, renamed)
        return renamed

    def _address(self, found: re.Match[str]) -> str:
        octets = [int(found[i]) for i in range(1, 5)]
        if octets[0] in _KEPT or max(octets) > 255:
            return found[0]
        value = int.from_bytes(bytes(octets), "big")
        length = int(found[5][1:]) if found[5] else 32
        mask = (
            (1 << 32) - (1 << (32 - length))
            if value & ((1 << (32 - length)) - 1) == 0
            else (1 << 32) - 1
        )
        renamed = (value ^ (self.xor & mask)).to_bytes(4, "big")
        return ".".join(str(octet) for octet in renamed) + (found[5] or "")

    def _mac(self, mac: str) -> str:
        value = int(mac.replace(":", ""), 16)
        if value in (0, (1 << 48) - 1):
            return mac
        digits = f"{value ^ self.mac_xor:012x}"
        return ":".join(digits[i : i + 2] for i in range(0, 12, 2))


def make_renaming(seed: int, words: tuple[str, ...]) -> Renaming:
    """Make the renaming of a seed; `words` are the names to replace, each keeping its leading
    letters' case and shape.
    """
    chance = random.Random(seed)
    renamed = tuple((word, _rename(word, chance)) for word in sorted(words, key=len, reverse=True))
    # bits 12 to 21 only: /24 subnets, /16 pod ranges and /11 cluster ranges stay what they are to
    # one another
    return Renaming(
        xor=chance.getrandbits(9) << 12, mac_xor=chance.getrandbits(20) << 2, words=renamed
    )


def _rename(word: str, chance: random.Random) -> str:
    letters = (
        "BCDFGHJKLMNPQRSTVWXZ"
        if word.isupper() or re.fullmatch(r"[A-Z0-9_-]+", word)
        else "bcdfghjkmnpqrstvwz"
    )

    def other(character: str) -> str:
        if character.isdigit():
            return chance.choice("12345")  # so that a port of five digits stays one
        return chance.choice(letters) if character.isalpha() else character

    kept = next((prefix for prefix in _TELLING if word.startswith(prefix)), "")
    return kept + "".join(other(character) for character in word.removeprefix(kept))
