"""What programs and the kernel say in one line, by kind: the words in which logs and errors become evidence.

A message is no fact of the node: it says what somebody met at some time. Its kind tells which; its values are the words of the
line that matter (addresses, devices, names), spelled as they stand there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from podpath.net.provenance import Span


class MessageKind(StrEnum):
    """What a line says."""

    # The kernel's log
    CONNTRACK_TABLE_FULL = "conntrack table full"
    NEIGHBOUR_TABLE_FULL = "neighbour table full"
    MARTIAN_SOURCE = "martian source"
    OWN_ADDRESS_RECEIVED = "own address received"
    DUPLICATE_ADDRESS = "duplicate address"
    NETFILTER_LOG = "netfilter log"
    TRANSMIT_TIMEOUT = "transmit timeout"
    LINK_DOWN = "link down"
    BRIDGE_NETFILTER_GONE = "bridge netfilter gone"
    SYN_FLOOD = "syn flood"
    DEVICE_HELD = "device held"

    # What commands answer
    RTNETLINK_ANSWER = "rtnetlink answer"
    SEND_FAILED = "send failed"
    IPTABLES_FAILED = "iptables failed"
    XTABLES_LOCKED = "xtables locked"
    EXTENSION_MISSING = "extension missing"
    TABLE_MISSING = "table missing"
    MODULE_NOT_FOUND = "module not found"

    # What tells of the host's own network
    LEASE_GIVEN = "lease given"
    REVERSE_PATH_LOG = "reverse path log"
    ROUTE_WANTED = "route wanted"
    ROUTE_REFUSED = "route refused"
    ROUTE_TABLE_EMPTY = "route table empty"
    NAT_ADDRESS_USED = "nat address used"
    RANGE_WANTED = "range wanted"
    CHILD_NETWORK = "child network"

    # Firewalls
    BASE_CHAIN = "base chain"
    DOCKER_MASQUERADES = "docker masquerades"

    # CNI and container runtimes
    BRIDGE_ADDRESS_DIFFERS = "bridge address differs"
    ADDRESSES_EXHAUSTED = "addresses exhausted"
    PLUGIN_NOT_FOUND = "plugin not found"
    PLUGIN_NOT_READY = "plugin not ready"
    SUBNET_FILE_MISSING = "subnet file missing"


class Message(NamedTuple):
    """One kind of message with its values, and how often a source says it."""

    kind: MessageKind
    values: Mapping[str, str]
    """The named words of the line: `device`, `src`, `dst`, `error`, ...; without those that the line does not have."""
    span: Span
    """The first line that says it."""
    times: int = 1
    """How many lines of the source say it with the same values."""
    netns: str = "host"
    """The namespace that the source shows."""
