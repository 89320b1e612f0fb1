"""What a Linux bridge, br_netfilter and an Open vSwitch bridge decide about a frame."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.net.addresses import Address, Mac


@distinct
class PortDown(NamedTuple):
    """The port is down."""

    port: str


@distinct
class PortState(NamedTuple):
    """The port is in a state in which it passes no frames."""

    port: str
    state: str


@distinct
class HairpinOff(NamedTuple):
    """The frame would go back out of the port that it came in by, whose hairpin mode is off."""

    port: str


@distinct
class BothIsolated(NamedTuple):
    """Both ports are isolated from each other."""

    source: str
    port: str


@distinct
class NotInVlan(NamedTuple):
    """The port is not in the frame's VLAN."""

    port: str
    vlan: int


@distinct
class TakesNoUntagged(NamedTuple):
    """The port takes no untagged frames."""

    port: str


Hold = PortDown | PortState | HairpinOff | BothIsolated | NotInVlan | TakesNoUntagged
"""Why a bridge does not let a frame pass a port."""


@distinct
class NotTakenIn(NamedTuple):
    """A bridge does not take the frame off a port."""

    bridge: str
    hold: Hold


@distinct
class NotSentOut(NamedTuple):
    """A bridge does not send the frame out of a port."""

    bridge: str
    port: str
    hold: Hold


@distinct
class Bridged(NamedTuple):
    """A bridge sends the frame from one port to another."""

    bridge: str
    source: str | None
    """None for a frame of the host itself."""
    port: str


@distinct
class FloodedForNobody(NamedTuple):
    """A bridge floods the frame, and no device behind its ports has the MAC."""

    bridge: str
    mac: Mac | None


@distinct
class SentOutOfPort(NamedTuple):
    """A bridge sends a frame of the host out of a port."""

    bridge: str
    port: str


@distinct
class SentWhileResolving(NamedTuple):
    """The bridge device sends the frame itself, as it resolves the address."""

    bridge: str
    address: Address


@distinct
class HiddenFromNetfilter(NamedTuple):
    """Netfilter does not see frames that the bridge forwards."""

    bridge: str
    setting: str
    """The sysctl that is 0."""
    note: str
    """What the fact says besides, where it does: that the module is not loaded."""


@distinct
class StaysOnBridge(NamedTuple):
    """The new destination is behind the bridge too."""

    address: Address
    bridge: str


@distinct
class RoutedAfterTranslation(NamedTuple):
    """The new destination is routed."""

    address: Address


@distinct
class HandedToSwitch(NamedTuple):
    """An internal port hands the frame to its Open vSwitch bridge."""

    link: str
    bridge: str


@distinct
class Switched(NamedTuple):
    """Open vSwitch takes the frame from one port to another, by its MAC."""

    bridge: str
    source: str
    port: str


@distinct
class SwitchFloods(NamedTuple):
    """Open vSwitch floods the frame, and none of the host's devices on it has the MAC."""

    bridge: str
    ports: tuple[str, ...]
    mac: Mac | None


@distinct
class SentByFlows(NamedTuple):
    """The flows of an Open vSwitch bridge send the frame out of a port."""

    bridge: str
    source: str
    port: str
    tables: tuple[int, ...]
    """Those that it passed, in order."""


@distinct
class DroppedByFlows(NamedTuple):
    """The flows of an Open vSwitch bridge send the frame nowhere."""

    bridge: str
    source: str
    tables: tuple[int, ...]
    missed: bool
    """True where no flow of the last table takes it."""


BridgeReason = (
    NotTakenIn | NotSentOut | Bridged | FloodedForNobody | SentOutOfPort | SentWhileResolving
    | HiddenFromNetfilter | StaysOnBridge | RoutedAfterTranslation | HandedToSwitch | Switched
    | SwitchFloods | SentByFlows | DroppedByFlows
)  # fmt: skip
