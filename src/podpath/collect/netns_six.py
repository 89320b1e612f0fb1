"""IPv6 routes and rules of a namespace without a process of their own.

`ip route show table all` lists the routes of both families, those of IPv6 last and as `ip -6` has
them. Whether this machine's iproute2 does is seen in a namespace where both were run; from then on
the one listing is the end of the other. What `ip -6 rule` prints follows from the kernel's own dump
alone, so that the same dump needs no second run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from podpath.collect.netns_files import ProgramOutput

SIX_FILES = ("ip6-route.json", "ip6-rule.json")
_BOTH = "ip-route.json"
_ROUTES, _RULES = SIX_FILES
_ONLY_SIX = "pref"
"""The kernel sends a preference (RTA_PREF) with every route of IPv6 and with no other."""


class SixListings:
    """What was learned of the listings of IPv6. Mutable, of one process."""

    __slots__ = ("_known", "_rules")

    def __init__(self) -> None:
        """Begin without any knowledge."""
        self._known: bool | None = None
        self._rules: dict[bytes, ProgramOutput] = {}

    def derive(
        self, found: Mapping[str, ProgramOutput], rules: bytes
    ) -> dict[str, ProgramOutput] | None:
        """Return both listings; None where they have to be asked for."""
        printed = self._rules.get(rules)
        both = found.get(_BOTH)
        routes = cut_six(both.printed) if self._known and both is not None else None
        if printed is None or routes is None:
            return None
        return {_ROUTES: ProgramOutput(0, routes, b""), _RULES: printed}

    def learn(self, found: Mapping[str, ProgramOutput], rules: bytes) -> None:
        """Learn from a namespace where both families were asked for; one that shows otherwise
        counts for good.
        """
        both, routes, printed = (found.get(name) for name in (_BOTH, _ROUTES, _RULES))
        if printed is not None:
            self._rules[rules] = printed
        cut = cut_six(both.printed) if both is not None else None
        if routes is not None and cut is not None:
            self._known = self._known is not False and cut == routes.printed


def cut_six(listing: bytes) -> bytes | None:
    """Return the routes of IPv6 at the end of a listing of both families as a listing; None where
    there are none, or where they do not stand at the end.
    """
    text = listing.decode("utf-8", "surrogateescape")
    if not text.startswith("["):
        return None
    decoder, place, start = json.JSONDecoder(), 1, 0
    try:
        while text[place : place + 1] == "{":
            route, end = decoder.raw_decode(text, place)
            is_six = _ONLY_SIX in route
            if start and not is_six:
                return None
            start = start or (place if is_six else 0)
            place = end + (text[end : end + 1] == ",")
    except (ValueError, RecursionError):
        return None
    if not start or text[place : place + 1] != "]":
        return None
    return b"[" + text[start:].encode("utf-8", "surrogateescape")
