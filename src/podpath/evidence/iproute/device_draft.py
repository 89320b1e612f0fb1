"""A device of `ip link` or `ip addr` while its lines are read one after another."""

from __future__ import annotations

import re

from podpath.evidence.iproute.link_options import KINDS, parse_options
from podpath.evidence.node_records import LinkRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import is_elided, parse_integer, parse_mac
from podpath.evidence.text.tokenizer import Cursor
from podpath.net.addresses import IfName, Mac

_PEER_INDEX = re.compile(r"if(?P<index>\d{1,9})")
_KIND = re.compile(r"[a-z][a-z0-9_-]{1,30}")
_COUNTERS = re.compile(r"\s*(?:\d+\s+){2,}\d+\s*$")
_PEER_WORDS = frozenset({"link-netns", "link-netnsid"})
_WITH_MAC = frozenset({"loopback", "ether"})


class DeviceDraft:
    """The fields of a link record, filled line by line."""

    __slots__ = (
        "details",
        "first",
        "flags",
        "header",
        "ifindex",
        "kind",
        "last",
        "mac",
        "name",
        "peer",
        "peer_netns",
        "port_details",
        "port_kind",
    )

    def __init__(self, first: int, name: IfName) -> None:
        """Open a draft at the line of the header."""
        self.first = self.last = first
        self.name = name
        self.ifindex: int | None = None
        self.flags: tuple[str, ...] | None = None
        self.header: dict[str, str] = {}
        self.kind: str | None = None
        self.peer: str | None = None
        self.peer_netns: str | None = None
        self.mac: Mac | None = None
        self.details: dict[str, str] = {}
        self.port_kind: str | None = None
        self.port_details: dict[str, str] = {}

    def read_header(self, header: re.Match[str], ledger: Ledger) -> None:
        """Take `3: eth0@if5: <FLAGS> mtu 1500 qdisc mq master br0 state UP ...`."""
        index = self.first
        ledger.span(index)
        self.ifindex = (
            int(header["index"]) if header["index"] and len(header["index"]) < 10 else None
        )
        named, _, peer = header["name"].rpartition("@")
        self.peer = peer if named and peer != "NONE" else None
        if not header["closed"]:
            ledger.gap(index, "expected the flags of the device up to '>', saw the end of the line")
            return
        if "." in header["flags"] or "…" in header["flags"]:
            ledger.gap(
                index, f"expected the flags of the device, saw {header['flags'][:60]!r} (elided)"
            )
        else:
            self.flags = tuple(re.findall(r"[^,]+", header["flags"]))
        cursor = Cursor(header["rest"])
        for word in cursor:
            if word in {"mtu", "qdisc", "master", "state", "mode", "group", "qlen", "vrf"}:
                self.header[word] = cursor.take()
            elif word.startswith("xdp"):
                self.details["xdp"] = "on"
            elif word in _PEER_WORDS:  # without `link/...` below: `ip -4 addr`
                self.peer_netns = cursor.take() or None
            elif word != "\\":
                ledger.gap(index, f"expected more of a device, saw {word[:60]!r}")
                return

    def read_line(
        self, index: int, link: re.Match[str] | None, word: str, cursor: Cursor, ledger: Ledger
    ) -> bool:
        """Take a line below the header; False where it is none of the device's."""
        if link is not None:
            self._read_link(index, link["type"], Cursor(link["rest"]), ledger)
        elif word in KINDS or self._is_new_kind(word, cursor):
            self._read_kind(word, cursor)
        elif word == "prog/xdp":
            self.details["xdp"] = "on"
        elif word not in {
            "alias",
            "altname",
            "promiscuity",
            "RX:",
            "TX:",
            "RX",
            "TX",
            "vf",
        } and not _COUNTERS.match(cursor.line):
            return False
        ledger.span(index)
        self.last = index
        return True

    def _is_new_kind(self, word: str, cursor: Cursor) -> bool:
        """Tell whether a word below `link/...` names a kind that is not in the table."""
        return (
            self.kind is None
            and self.last > self.first
            and _KIND.fullmatch(word) is not None
            and "addrgenmode" in cursor.rest
        )

    def _read_link(self, index: int, kind: str, cursor: Cursor, ledger: Ledger) -> None:
        if kind in _WITH_MAC:
            text = cursor.take()
            try:
                self.mac = parse_mac(text)
            except ValueError as error:
                ledger.gap(index, str(error) if text else f"the line ends after 'link/{kind}'")
        for word in cursor:
            if word in _PEER_WORDS:
                self.peer_netns = cursor.take() or None

    def _read_kind(self, word: str, cursor: Cursor) -> None:
        options = parse_options(cursor, word)
        if word.endswith("_slave"):
            self.port_kind = word.removesuffix("_slave")
            self.port_details = options
        else:
            self.kind = word
            self.details |= options

    def freeze(self, ledger: Ledger) -> LinkRecord:
        """Return the record."""
        index = _PEER_INDEX.fullmatch(self.peer or "")
        return LinkRecord(
            span=ledger.span(self.first, self.last),
            name=self.name,
            ifindex=self.ifindex,
            kind=self.kind,
            flags=self.flags,
            mtu=self._mtu(ledger),
            state=self.header.get("state"),
            master=self.header.get("master"),
            peer_name=self.peer if index is None else None,
            peer_ifindex=int(index["index"]) if index is not None else None,
            peer_netns=self.peer_netns,
            mac=self.mac,
            details=self.details,
            port_kind=self.port_kind,
            port_details=self.port_details,
            qdisc=self.header.get("qdisc"),
        )

    def _mtu(self, ledger: Ledger) -> int | None:
        text = self.header.get("mtu")
        if not text:
            return None
        try:
            return parse_integer(text)
        except ValueError as error:
            if not is_elided(text):
                ledger.gap(self.first, str(error))
            return None
