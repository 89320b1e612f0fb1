"""Cilium's options as people set them on a command line, by the key that each has in the
cilium-config ConfigMap.

Helm values and ConfigMap keys differ (`bpf.masquerade` is `enable-bpf-masquerade`); the mapping is
that of the chart's template (cilium install/kubernetes/cilium/templates/cilium-configmap.yaml,
v1.11 to v1.16). A value without a row here is kept under its own name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from podpath.evidence.commands.typed import parse_typed


class Flag(NamedTuple):
    """One option that a command line sets."""

    key: str
    """The key of the ConfigMap."""
    value: str
    spelled: str
    """How the command line spells it."""


HELM_KEYS: Mapping[str, str] = {
    "bpf.masquerade": "enable-bpf-masquerade",
    "bpf.tproxy": "enable-bpf-tproxy",
    "bpf.hostLegacyRouting": "enable-host-legacy-routing",
    "bpf.hostRouting": "enable-host-legacy-routing",
    "bpf.lbExternalClusterIP": "bpf-lb-external-clusterip",
    "enableIPv4Masquerade": "enable-ipv4-masquerade",
    "enableIPv6Masquerade": "enable-ipv6-masquerade",
    "masquerade": "masquerade",
    "kubeProxyReplacement": "kube-proxy-replacement",
    "tunnel": "tunnel",
    "tunnelProtocol": "tunnel-protocol",
    "tunnelPort": "tunnel-port",
    "routingMode": "routing-mode",
    "nativeRoutingCIDR": "ipv4-native-routing-cidr",
    "ipv4NativeRoutingCIDR": "ipv4-native-routing-cidr",
    "ipv6NativeRoutingCIDR": "ipv6-native-routing-cidr",
    "autoDirectNodeRoutes": "auto-direct-node-routes",
    "endpointRoutes.enabled": "enable-endpoint-routes",
    "hostFirewall.enabled": "enable-host-firewall",
    "hostFirewall": "enable-host-firewall",
    "hostServices.enabled": "enable-host-reachable-services",
    "socketLB.enabled": "bpf-lb-sock",
    "socketLB.hostNamespaceOnly": "bpf-lb-sock-hostns-only",
    "nodePort.enabled": "enable-node-port",
    "externalIPs.enabled": "enable-external-ips",
    "hostPort.enabled": "enable-host-port",
    "loadBalancer.mode": "bpf-lb-mode",
    "loadBalancer.algorithm": "bpf-lb-algorithm",
    "loadBalancer.acceleration": "bpf-lb-acceleration",
    "ipam.mode": "ipam",
    "ipam.operator.clusterPoolIPv4PodCIDR": "cluster-pool-ipv4-cidr",
    "ipam.operator.clusterPoolIPv4PodCIDRList": "cluster-pool-ipv4-cidr",
    "ipam.operator.clusterPoolIPv4MaskSize": "cluster-pool-ipv4-mask-size",
    "ipMasqAgent.enabled": "enable-ip-masq-agent",
    "egressGateway.enabled": "enable-ipv4-egress-gateway",
    "encryption.enabled": "enable-ipsec",
    "encryption.type": "encryption-type",
    "ipv4.enabled": "enable-ipv4",
    "ipv6.enabled": "enable-ipv6",
    "installIptablesRules": "install-iptables-rules",
    "installNoConntrackIptablesRules": "install-no-conntrack-iptables-rules",
    "l7Proxy": "enable-l7-proxy",
    "devices": "devices",
    "MTU": "mtu",
    "cni.chainingMode": "cni-chaining-mode",
    "cni.exclusive": "cni-exclusive",
    "k8sServiceHost": "k8s-service-host",
    "k8sServicePort": "k8s-service-port",
    "sctp.enabled": "enable-sctp",
    "localRedirectPolicy": "enable-local-redirect-policy",
    "policyEnforcementMode": "enable-policy",
    "datapathMode": "datapath-mode",
    "global.tunnel": "tunnel",
    "global.nodePort.enabled": "enable-node-port",
    "global.kubeProxyReplacement": "kube-proxy-replacement",
    "global.masquerade": "masquerade",
    "config.bpfMasquerade": "enable-bpf-masquerade",
}
"""Helm values to keys of the ConfigMap."""

_SET = frozenset({"--set", "--helm-set", "--set-string", "--helm-set-string"})
_PAIR = re.compile(r"(?P<key>[\w.\\\[\]-]+)=(?P<value>\{[^}]*\}|(?:\\.|[^,\\])*)(?:,|$)")
_OWN_FLAGS: Mapping[str, str] = {
    "--kube-proxy-replacement": "kube-proxy-replacement",
    "--version": "version",
    "--datapath-mode": "datapath-mode",
    "--native-routing-cidr": "ipv4-native-routing-cidr",
    "--ipv4-native-routing-cidr": "ipv4-native-routing-cidr",
    "--ipam": "ipam",
    "--encryption": "encryption-type",
    "--config": "",
    "--cluster-name": "cluster-name",
}
"""Flags of `cilium install` (cilium-cli); `--config key=value` sets a key of the ConfigMap
itself.
"""
_AGENT_FLAG = re.compile(r"--(?P<key>[a-z][a-z0-9-]+)(?:=(?P<value>.*))?")


def parse_flags(command: str) -> tuple[Flag, ...]:
    """Return the options of Cilium that a command line sets; none where it is no command of Cilium
    or of its chart.
    """
    for step in parse_typed(command).commands:
        arguments = step.arguments
        if step.program == "cilium" and any(
            word in {"install", "upgrade"} for word in arguments[:3]
        ):
            return (*_parse_set(arguments), *_parse_own(arguments))
        if step.program == "cilium" and arguments[:2] == ("config", "set") and len(arguments) >= 4:
            return (Flag(arguments[2], arguments[3], arguments[2]),)
        if step.program == "helm" and any("cilium" in word for word in arguments):
            version = [flag for flag in _parse_own(arguments) if flag.key == "version"]
            return (*_parse_set(arguments), *version)
        if step.program in {"cilium-agent", "cilium-dbg"} and any(
            word.startswith("--") for word in arguments
        ):
            return parse_agent_arguments(arguments)
    return ()


def parse_agent_arguments(arguments: tuple[str, ...]) -> tuple[Flag, ...]:
    """Return the flags of a cilium-agent's command line: each is the key of the ConfigMap
    itself.
    """
    flags = []
    for place, word in enumerate(arguments):
        found = _AGENT_FLAG.fullmatch(word)
        if found is None:
            continue
        following = arguments[place + 1] if place + 1 < len(arguments) else "--"
        value = "true" if following.startswith("-") else following
        flags.append(Flag(found["key"], value if found["value"] is None else found["value"], word))
    return tuple(flags)


def config_key(helm: str) -> str:
    """Return the ConfigMap's key of a Helm value; the value's own name where it has none."""
    return HELM_KEYS.get(
        helm.replace("\\", ""),
        helm.removeprefix("extraConfig.") if helm.startswith("extraConfig.") else helm,
    )


def _values(arguments: tuple[str, ...], names: frozenset[str]) -> list[tuple[str, str]]:
    """Return the values of options spelled `--set V` and `--set=V`, each with the option's name."""
    values = []
    for place, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name not in names:
            continue
        if equals:
            values.append((name, value))
        elif place + 1 < len(arguments):
            values.append((name, arguments[place + 1]))
    return values


def _parse_set(arguments: tuple[str, ...]) -> tuple[Flag, ...]:
    return tuple(
        Flag(config_key(pair["key"]), pair["value"].strip("{}"), f"{pair['key']}={pair['value']}")
        for _, value in _values(arguments, _SET)
        for pair in _PAIR.finditer(value)
    )


def _parse_own(arguments: tuple[str, ...]) -> tuple[Flag, ...]:
    flags = []
    for name, value in _values(arguments, frozenset(_OWN_FLAGS)):
        if name == "--config":
            key, _, setting = value.partition("=")
            flags.append(Flag(key, setting, value))
        else:
            flags.append(
                Flag(
                    _OWN_FLAGS[name],
                    value.removeprefix("v") if name == "--version" else value,
                    name,
                )
            )
    return tuple(flags)
