"""A chain of causes as it is known from public reports: what happened first, what that led to, and
which fact it left behind.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from podpath.net.errors import PodpathError
from podpath.timeline.mark_kinds import MarkKind


class ChainError(PodpathError):
    """The fault of a file that describes a chain. The message says which, and what is wrong with
    it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """One thing that happens in a chain."""

    says: str
    """It in words: `polkit is upgraded`."""
    kinds: tuple[MarkKind, ...] = ()
    subject: re.Pattern[str] | None = None
    verbs: tuple[str, ...] = ()
    text: re.Pattern[str] | None = None
    """What the event's message has to hold."""
    optional: bool = False
    """True where a log need not show it."""
    running: bool = False
    """True where it means something on a running node alone: as a part of its boot it changes
    nothing that stood before.
    """
    within: float = 300.0
    """Seconds until the next link at the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """A fact of the datapath that a chain leaves behind."""

    check: str
    """The fault that it is, by the name that `podpath explain` knows."""
    says: str
    """The fact in words: `rp_filter is 1 again`."""
    ask: str
    """The command that shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseChain:
    """A chain of causes."""

    name: str
    title: str
    """It in one sentence."""
    links: tuple[ChainLink, ...]
    """First to last. The last one is what broke the connections."""
    leads: tuple[Lead, ...]
    sources: tuple[str, ...]
    """Where it was reported."""
    prevention: str
    observes: bool = False
    """True where the last link does not cause the fault but shows it: it stands in the log while
    connections fail.
    """


def parse_chain(name: str, text: str) -> CauseChain:
    """Read the description of a chain (TOML); `ChainError` says what is wrong with it."""
    try:
        data = tomllib.loads(text)
        links = tuple(_parse_link(link) for link in data["link"])
        leads = tuple(
            Lead(check=lead["check"], says=lead["says"], ask=lead["ask"])
            for lead in data["leads_to"]
        )
        chain = CauseChain(
            name=name,
            title=" ".join(data["title"].split()),
            links=links,
            leads=leads,
            sources=tuple(data["sources"]),
            prevention=" ".join(data["prevention"].split()),
            observes=data.get("observes", False),
        )
    except (
        tomllib.TOMLDecodeError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        re.error,
    ) as error:
        raise ChainError(
            f"{name}: expected title, link, leads_to, sources and prevention of a chain: {error!r}"
        ) from error
    if not chain.links or not chain.sources or not chain.leads or chain.links[-1].optional:
        raise ChainError(
            f"{name}: expected links of which the last is not optional, a fact, and where it was "
            "reported"
        )
    return chain


def _parse_link(link: Mapping[str, str | list[str] | bool | float]) -> ChainLink:
    subject, text = link.get("subject"), link.get("text")
    return ChainLink(
        says=" ".join(str(link["says"]).split()),
        kinds=tuple(map(MarkKind, _words(link.get("kind")))),
        subject=re.compile(subject, re.IGNORECASE) if isinstance(subject, str) else None,
        verbs=tuple(_words(link.get("verb"))),
        text=re.compile(text, re.IGNORECASE) if isinstance(text, str) else None,
        optional=link.get("optional") is True,
        running=link.get("running") is True,
        within=float(str(link.get("within", 300))),
    )


def _words(value: object) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list):
        return [str(word) for word in value]
    return [str(value)]
