"""What bridges and switches decide, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import bridges
from podpath.datapath.reasons.bridges import BridgeReason, Hold


def spell_bridge(reason: BridgeReason) -> str:  # noqa: C901, PLR0911, PLR0912  # one arm for each reason
    """Say what a bridge decided about a frame."""
    match reason:
        case bridges.NotTakenIn(bridge, hold):
            return f"{bridge} does not accept it: {_spell_hold(hold)}"
        case bridges.NotSentOut(bridge, port, hold):
            return f"{bridge} does not send it out of {port}: {_spell_hold(hold)}"
        case bridges.Bridged(bridge, source, port):
            return f"{bridge} bridges it from {'the host' if source is None else source} to {port}"
        case bridges.FloodedForNobody(bridge, mac):
            return f"{bridge} floods it, but no device behind its ports has the MAC {mac}"
        case bridges.SentOutOfPort(bridge, port):
            return f"{bridge} sends it out of {port}"
        case bridges.SentWhileResolving(bridge, address):
            return f"{bridge} sends it to resolve {address}"
        case bridges.HiddenFromNetfilter(bridge, setting, note):
            return (
                f"iptables does not see frames that {bridge} bridges: {note or f'{setting} is 0'}"
            )
        case bridges.StaysOnBridge(address, bridge):
            return f"its new destination {address} is behind {bridge} too: it stays on the bridge"
        case bridges.RoutedAfterTranslation(address):
            return f"its new destination {address} is routed"
        case bridges.HandedToSwitch(link, bridge):
            return f"{link} hands it to bridge {bridge}"
        case bridges.Switched(bridge, source, port):
            return f"bridge {bridge} switches it from {source} to {port} (by MAC)"
        case bridges.SentByFlows(bridge, source, port, tables):
            return f"flows of bridge {bridge} send it from {source} to {port} ({_spell(tables)})"
        case bridges.DroppedByFlows(bridge, source, tables, missed):
            why = f"no flow of table {tables[-1]} matches it" if missed else "a flow drops it"
            return f"bridge {bridge} drops it as it comes from {source}: {why} ({_spell(tables)})"
        case bridges.SwitchFloods(bridge, ports, mac):
            names = ", ".join(ports) or "no device of the host"
            return f"bridge {bridge} floods it, but {names} does not have the MAC {mac}"
        case _:
            assert_never(reason)


def _spell(tables: tuple[int, ...]) -> str:
    return f"table{'s' if len(tables) > 1 else ''} {', '.join(map(str, tables))}"


def _spell_hold(hold: Hold) -> str:  # as above
    match hold:
        case bridges.PortDown(port):
            return f"{port} is down"
        case bridges.PortState(port, state):
            return f"{port} is in state {state}"
        case bridges.HairpinOff(port):
            return f"it would go back out of {port}, whose hairpin mode is off"
        case bridges.BothIsolated(source, port):
            return f"{source} and {port} are both isolated"
        case bridges.NotInVlan(port, vlan):
            return f"{port} is not in VLAN {vlan}"
        case bridges.TakesNoUntagged(port):
            return f"{port} accepts no untagged frames"
        case _:
            assert_never(hold)
