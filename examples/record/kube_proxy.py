"""The rules that kube-proxy (iptables mode) keeps on a node, for `iptables-restore`, with its own way of naming chains."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

FILTER_HOOKS = (
    ("INPUT", "-m conntrack --ctstate NEW", "kubernetes load balancer firewall", "KUBE-PROXY-FIREWALL"),
    ("INPUT", "", "kubernetes health check service ports", "KUBE-NODEPORTS"),
    ("INPUT", "-m conntrack --ctstate NEW", "kubernetes externally-visible service portals", "KUBE-EXTERNAL-SERVICES"),
    ("INPUT", "", "", "KUBE-FIREWALL"),
    ("FORWARD", "-m conntrack --ctstate NEW", "kubernetes load balancer firewall", "KUBE-PROXY-FIREWALL"),
    ("FORWARD", "", "kubernetes forwarding rules", "KUBE-FORWARD"),
    ("FORWARD", "-m conntrack --ctstate NEW", "kubernetes service portals", "KUBE-SERVICES"),
    ("FORWARD", "-m conntrack --ctstate NEW", "kubernetes externally-visible service portals", "KUBE-EXTERNAL-SERVICES"),
    ("OUTPUT", "-m conntrack --ctstate NEW", "kubernetes load balancer firewall", "KUBE-PROXY-FIREWALL"),
    ("OUTPUT", "-m conntrack --ctstate NEW", "kubernetes service portals", "KUBE-SERVICES"),
    ("OUTPUT", "", "", "KUBE-FIREWALL"),
)
"""Jumps from the base chains of the filter table: chain, matches, comment, target."""

FILTER_RULES = """\
-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" \
-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
"""

NAT_RULES = """\
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A Service with one TCP port."""

    name: str
    """`namespace/name:port`."""
    address: str
    port: int
    endpoints: tuple[str, ...]
    """`ADDRESS:PORT` each."""

    @property
    def chain(self) -> str:
        """Name the service's chain as kube-proxy does."""
        return "KUBE-SVC-" + chain_hash(self.name + "tcp")

    def endpoint_chain(self, endpoint: str) -> str:
        """Name an endpoint's chain as kube-proxy does."""
        return "KUBE-SEP-" + chain_hash(self.name + "tcp" + endpoint)


def chain_hash(text: str) -> str:
    """Hash as kube-proxy does (`portProtoHash`): sixteen characters of the base32 of SHA-256."""
    return base64.b32encode(hashlib.sha256(text.encode("ascii")).digest()).decode("ascii")[:16]


def emit_rules(services: Sequence[Service], cluster: str) -> str:
    """Give the whole of kube-proxy's rules as `iptables-restore --noflush` takes them; `cluster` is the pods' prefix."""
    return emit_filter() + emit_nat(services, cluster)


def emit_filter() -> str:
    """Give the filter table."""
    lines = ["*filter"]
    lines += [f":{name} - [0:0]" for name in dict.fromkeys(target for *_, target in FILTER_HOOKS)]
    for chain, matches, comment, target in FILTER_HOOKS:
        note = f'-m comment --comment "{comment}"' if comment else ""
        lines.append(" ".join(part for part in (f"-A {chain}", matches, note, f"-j {target}") if part))
    return "\n".join(lines) + "\n" + FILTER_RULES + "COMMIT\n"


def emit_nat(services: Sequence[Service], cluster: str) -> str:
    """Give the nat table: portals, one chain for each service, one for each endpoint."""
    chains = ["KUBE-SERVICES", "KUBE-POSTROUTING", "KUBE-MARK-MASQ", "KUBE-NODEPORTS"]
    rules: list[str] = []
    for service in services:
        chains.append(service.chain)
        rules += portal_rules(service, cluster)
        for endpoint in service.endpoints:
            chain = service.endpoint_chain(endpoint)
            chains.append(chain)
            note = f'-m comment --comment "{service.name}"'
            rules += [
                f"-A {chain} -s {endpoint.partition(':')[0]}/32 {note} -j KUBE-MARK-MASQ",
                f"-A {chain} -p tcp {note} -m tcp -j DNAT --to-destination {endpoint}",
            ]
    nodeports = (
        '-A KUBE-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" '
        "-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS"
    )
    declared = "".join(f":{chain} - [0:0]\n" for chain in chains)
    return "*nat\n" + declared + NAT_RULES + "\n".join([*rules, nodeports]) + "\nCOMMIT\n"


def portal_rules(service: Service, cluster: str) -> list[str]:
    """Give a service's line in KUBE-SERVICES and its own chain: each endpoint with the same chance."""
    where = f'-d {service.address}/32 -p tcp -m comment --comment "{service.name} cluster IP" -m tcp --dport {service.port}'
    rules = [f"-A KUBE-SERVICES {where} -j {service.chain}", f"-A {service.chain} ! -s {cluster} {where} -j KUBE-MARK-MASQ"]
    for index, endpoint in enumerate(service.endpoints):
        left = len(service.endpoints) - index
        chance = f"-m statistic --mode random --probability {1 / left:.11f} " if left > 1 else ""
        note = f'-m comment --comment "{service.name} -> {endpoint}"'
        rules.append(f"-A {service.chain} {note} {chance}-j {service.endpoint_chain(endpoint)}")
    return rules
