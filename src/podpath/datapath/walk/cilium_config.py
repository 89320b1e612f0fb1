"""What Cilium's configuration says about its BPF programs, as answers to the questions that a walk
asks.

Every option is a fact of the cilium-config ConfigMap. One that the evidence does not state counts
as the version's default (bpf masquerade off), except where the kernel decides too (BPF host
routing), which is asked for.
"""

from __future__ import annotations

import re

from podpath.datapath.tracing.exploration import Choices
from podpath.net.addresses import Prefix
from podpath.net.provenance import Fact, Known, Option, Span, Unknown
from podpath.node.node import Cilium

NOTE = "modeled from cilium-config, not read from the program"
_CIDR_OPTIONS = (
    "ipv4-native-routing-cidr",
    "native-routing-cidr",
    "cluster-pool-ipv4-cidr",
    "k8s-cluster-cidr",
)
_REPLACES = frozenset({"true", "strict", "probe"})
_SURELY_REPLACES = frozenset({"true", "strict"})


class CiliumConfig:
    """The options of one node, read once."""

    __slots__ = ("_kernel", "_options", "devices", "networks", "spans")

    def __init__(self, cilium: Cilium, kernel: str | None = None) -> None:
        """Take the options, and the kernel's version where it is known."""
        self._kernel = kernel
        self._options = cilium.options
        self.spans: tuple[Span, ...] = (cilium.span,) if cilium.span is not None else ()
        self.networks = tuple(
            prefix for name in _CIDR_OPTIONS for prefix in _prefixes(self._known(name))
        )
        """Destinations that pods reach with their own address."""
        self.devices = frozenset(re.findall(r"[^\s,'\"\[\]]+", self._known("devices")))
        """The native devices; empty: Cilium finds them."""

    def masquerades(self, choices: Choices) -> bool:
        """Tell whether BPF translates the source of what pods send out of the cluster."""
        return self._flag(choices, "enable-bpf-masquerade") and self._flag(
            choices, "enable-ipv4-masquerade", default="true"
        )

    def replaces_kube_proxy(self, choices: Choices) -> bool:
        """Tell whether sockets reach services by BPF."""
        return self._resolve(choices, "kube-proxy-replacement", "false") in _REPLACES

    def routes_endpoints(self, choices: Choices) -> bool:
        """Tell whether each pod has a route of its own, so that the kernel delivers to it."""
        return self._flag(choices, "enable-endpoint-routes")

    def tunnels(self, choices: Choices) -> bool:
        """Tell whether pods of other nodes are reached through a tunnel."""
        if "routing-mode" in self._options:
            return self._resolve(choices, "routing-mode", "tunnel") != "native"
        return self._resolve(choices, "tunnel", "vxlan") != "disabled"

    def bypasses_host(self, choices: Choices) -> bool:
        """Tell whether what pods send skips the host's stack and netfilter (BPF host routing)."""
        if not self.masquerades(choices):
            return False
        stated = self._options.get("enable-host-legacy-routing")
        if (
            stated is None
            and self._resolve(choices, "kube-proxy-replacement", "false") not in _SURELY_REPLACES
        ):
            return False
        return choices.resolve(_legacy_routing(stated, self._kernel)) != "true"

    def evidence(self, *names: str) -> tuple[Span, ...]:
        """Return the lines that state options."""
        facts = (self._options.get(name) for name in names)
        spans = tuple(
            fact.span for fact in facts if isinstance(fact, Known) and fact.span is not None
        )
        return spans or self.spans

    def _known(self, name: str) -> str:
        fact = self._options.get(name)
        return fact.value if isinstance(fact, Known) else ""

    def _resolve(self, choices: Choices, name: str, default: str) -> str:
        fact = self._options.get(name)
        if fact is None:
            return default
        return choices.resolve(fact).lower()

    def _flag(self, choices: Choices, name: str, default: str = "false") -> bool:
        return self._resolve(choices, name, default) == "true"


def _legacy_routing(stated: Fact[str] | None, kernel: str | None) -> Fact[str]:
    if stated is not None:
        return stated
    found = re.match(r"(\d+)\.(\d+)", kernel or "")
    recent = found is not None and (int(found[1]), int(found[2])) >= (5, 10)
    legacy = Option("true", "what pods send passes the host's stack and netfilter")
    direct = Option("false", "BPF host routing: what pods send skips the host's netfilter")
    ask = "cilium status --verbose | grep 'Host Routing'"
    options = (direct, legacy) if recent else (legacy, direct)
    return Unknown("enable-host-legacy-routing in Cilium's configuration", ask, options)


def _prefixes(text: str) -> list[Prefix]:
    found = []
    for word in re.findall(r"[0-9.]+/[0-9]+", text):
        try:
            found.append(Prefix.parse(word))
        except ValueError:
            continue
    return found
