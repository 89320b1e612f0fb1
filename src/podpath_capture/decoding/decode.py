"""The packets of an index to columns, a chunk of packets at a time: what is worked on stays in the
processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from podpath_capture.arrays.segments import distinct
from podpath_capture.columns import Arps, PacketColumns, Packets, Quotes, empty_arrays, join_rows
from podpath_capture.decoding import icmp, link_layer, network_layer, transport_layer, tunnels
from podpath_capture.decoding.layers import Group, HeaderBytes, Output, merge_groups
from podpath_capture.decoding.undecoded import name_link
from podpath_capture.decoding.work import Layer, Work
from podpath_capture.files.index import Bytes, CaptureDamage, Index, Interface

CHUNK = 8_192
"""Packets that are decoded at once: with fewer NumPy's calls cost, with more the cache
overflows.
"""

INDEXED = ("time", "offset", "caplen", "wirelen", "interface")
"""Columns that are known of a packet before it is decoded."""
MOST = 1 << 30
"""Bytes that a packet can have; more is nonsense, whatever its record says."""

READERS: dict[Layer, Callable[[Group], Iterator[Work]]] = {
    Layer.ETHERNET: link_layer.decode_ethernet,
    Layer.TAG: link_layer.decode_tag,
    Layer.LLC: link_layer.decode_llc,
    Layer.COOKED: link_layer.decode_cooked,
    Layer.COOKED2: link_layer.decode_cooked2,
    Layer.NULL: link_layer.decode_null,
    Layer.ARP: network_layer.decode_arp,
    Layer.IP: network_layer.decode_ip,
    Layer.IPV4: network_layer.decode_ipv4,
    Layer.IPV6: network_layer.decode_ipv6,
    Layer.TCP: transport_layer.decode_tcp,
    Layer.UDP: transport_layer.decode_udp,
    Layer.SCTP: transport_layer.decode_sctp,
    Layer.ICMP: icmp.decode_icmp4,
    Layer.ICMP6: icmp.decode_icmp6,
    Layer.IPIP: tunnels.decode_ipip,
    Layer.IP6IP: tunnels.decode_ip6ip,
    Layer.GRE: tunnels.decode_gre,
    Layer.VXLAN: tunnels.decode_vxlan,
    Layer.GENEVE: tunnels.decode_geneve,
    Layer.MPLS: link_layer.decode_mpls,
    Layer.PPPOE: link_layer.decode_pppoe,
    Layer.PPP: link_layer.decode_ppp,
    Layer.GTP: tunnels.decode_gtp,
    Layer.AYIYA: tunnels.decode_ayiya,
    Layer.VNTAG: link_layer.decode_vntag,
    Layer.BACKBONE: link_layer.decode_backbone,
    Layer.ERSPAN2: tunnels.decode_erspan2,
    Layer.ERSPAN3: tunnels.decode_erspan3,
    Layer.AH: network_layer.decode_ah,
    Layer.NFLOG: link_layer.decode_nflog,
}


def decode_packets(
    data: Bytes, index: Index, interfaces: Sequence[Interface], chunk: int = CHUNK
) -> Packets:
    """Decode all packets of an index."""
    arrays = empty_arrays(len(index))
    for name in INDEXED:
        arrays[name] = getattr(index, name)
    out = Output(data, arrays)
    fill_columns(out, interfaces, chunk)
    table = sorted(out.addresses.values())
    renumber(out, table)
    return Packets(
        columns=PacketColumns(**arrays),
        arps=Arps(**join_rows(Arps, out.arps)),
        quotes=Quotes(**join_rows(Quotes, out.quotes)),
        addresses=tuple(table),
    )


def fill_columns(out: Output, interfaces: Sequence[Interface], chunk: int = CHUNK) -> None:
    """Decode the packets whose places stand in the columns already."""
    number, count = out.arrays["interface"], len(out.arrays["interface"])
    layers = [link_layer.LINK_TYPES.get(interface.link_type) for interface in interfaces]
    queue = LayerQueue(out)
    for start in range(0, count, chunk):
        rows = slice(start, min(start + chunk, count))
        if len(set(layers)) == 1:
            queue.take(layers[0], rows)
            continue
        numbers = number[rows]
        for layer in {layers[number] for number in distinct(numbers).tolist()}:
            mine = np.isin(numbers, [number for number, each in enumerate(layers) if each is layer])
            queue.take(layer, start + np.flatnonzero(mine))
    queue.clear()


def renumber(out: Output, table: Sequence[int]) -> None:
    """Give IPv6 addresses the numbers that they have in a table, which holds all of them."""
    places = {address: place for place, address in enumerate(table)}
    mine = np.array([places[address] for address in out.addresses.values()], np.uint32)
    for version, columns in (
        ("version", ("src", "dst")),
        ("outer_version", ("outer_src", "outer_dst")),
    ):
        if len(mine) and version in out.written:
            rows = np.flatnonzero(out.arrays[version] == 6)
            for name in columns:
                out.arrays[name][rows] = mine[out.arrays[name][rows]]
    for quote in out.quotes:
        if quote["version"][0] == 6:
            quote["src"], quote["dst"] = mine[quote["src"]], mine[quote["dst"]]


class LayerQueue:
    """Where headers wait to be read: those of many packets are read at once, those of few when
    there are many of their kind.
    """

    def __init__(self, out: Output) -> None:
        """Begin with nothing to do."""
        self._out = out
        self._later: dict[Layer, list[Group]] = {}
        self._counts: dict[Layer, int] = {}

    def take(self, layer: Layer | None, rows: slice | NDArray[np.int64]) -> None:
        """Decode packets that begin with the same kind of header; of a link type that is not read
        nothing is decoded.
        """
        if layer is None:
            return
        arrays = self._out.arrays
        sizes = [
            np.minimum(arrays[name][rows], MOST).astype(np.int32) for name in ("caplen", "wirelen")
        ]
        block = HeaderBytes(self._out, arrays["offset"][rows], sizes[0], rows)
        self._read(layer, Group(block, None, 0, sizes[1]))

        for many in [kind for kind, count in self._counts.items() if count >= CHUNK]:
            self._collect(many)

    def clear(self) -> None:
        """Read what still waits."""
        while self._later:
            self._collect(max(self._counts, key=self._counts.__getitem__))

    def _read(self, layer: Layer, group: Group) -> None:
        """Read a header, and those behind it that many packets have; what few have waits until they
        are through.
        """
        waiting: list[Work] = [(layer, group)]
        while waiting:
            kind, some = waiting.pop()
            for following, part in READERS[kind](some):
                if part.some is None:
                    waiting.append((following, part))
                elif len(part):
                    self._wait(following, part)

    def _wait(self, layer: Layer, group: Group) -> None:
        self._later.setdefault(layer, []).append(group)
        self._counts[layer] = self._counts.get(layer, 0) + len(group)

    def _collect(self, layer: Layer) -> None:
        """Read the headers of one kind that wait."""
        groups = self._later.pop(layer)
        del self._counts[layer]
        self._read(layer, groups[0] if len(groups) == 1 else merge_groups(groups))


def unread_link_types(interfaces: Sequence[Interface]) -> list[CaptureDamage]:
    """Say which link types of a file are not read."""
    unread = sorted({interface.link_type for interface in interfaces} - set(link_layer.LINK_TYPES))
    known = "expected Ethernet, Linux cooked, raw IP or null"
    return [CaptureDamage(0, f"{known}, saw {name_link(number)}") for number in unread]
