"""What CNI plugins answer, as container runtimes, kubelet and events pass it on."""

from __future__ import annotations

from podpath.evidence.messages.row import Row, make_row
from podpath.net.messages import MessageKind

ROWS: tuple[Row, ...] = (
    make_row(
        MessageKind.BRIDGE_ADDRESS_DIFFERS,
        "already has an IP address different from",
        r"\\*\"?(?P<bridge>[\w.-]+)\\*\"? already has an IP address different from (?P<address>[0-9a-fA-F:./]+)",
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "no IP addresses available in",
        r"no IP addresses available in (?:network|range set): ?(?P<range>[\w.:/ -]+)",
    ),
    make_row(
        MessageKind.PLUGIN_NOT_FOUND,
        "failed to find plugin",
        r"failed to find plugin \\*\"(?P<plugin>[\w.-]+)\\*\" in path \[(?P<path>[^\]]*)\]",
    ),
    make_row(MessageKind.PLUGIN_NOT_READY, "cni config uninitialized"),
    make_row(MessageKind.PLUGIN_NOT_READY, "cni plugin not initialized"),
    make_row(MessageKind.SUBNET_FILE_MISSING, "flannel/subnet.env: no such file", r"open (?P<file>\S*subnet\.env): no such file"),
)
