"""Rulesets as programs write them, against the real kernel: kube-proxy's nftables mode, firewalld,
and NAT by hand.
"""

from __future__ import annotations

import pytest

from podpath.net.addresses import Address
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import bridged_pods
from tests.kernel.native import IN, LOCAL, OUT, hold

pytestmark = pytest.mark.kernel("nft", "conntrack")

SERVICE = "tcp 10.1.0.2:40000 > 10.96.0.10:80 from pod1"

KUBE_PROXY = """
table ip kube-proxy {
	comment "rules for kube-proxy"
	set cluster-ips {
		type ipv4_addr
		comment "Active ClusterIPs"
		elements = { 10.96.0.10, 10.96.0.11, 10.96.0.12 }
	}
	set nodeport-ips {
		type ipv4_addr
		elements = { 172.31.0.10 }
	}
	map no-endpoint-services {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 10.96.0.11 . tcp . 80 comment "default/empty" : goto reject-chain }
	}
	map firewall-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
	}
	map service-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 10.96.0.10 . tcp . 80 comment "default/web" : goto service-ABC-default/web/tcp/,
			10.96.0.12 . udp . 53 : goto service-DEF-default/dns/udp/ }
	}
	map service-nodeports {
		type inet_proto . inet_service : verdict
		elements = { tcp . 30080 : goto external-ABC-default/web/tcp/ }
	}
	chain filter-prerouting-pre-dnat {
		type filter hook prerouting priority dstnat - 10; policy accept;
		ct state new counter jump firewall-check
	}
	chain filter-output-pre-dnat {
		type filter hook output priority dstnat - 10; policy accept;
		ct state new counter jump firewall-check
	}
	chain filter-input {
		type filter hook input priority filter; policy accept;
		ct state new counter jump nodeport-endpoints-check
		ct state new counter jump service-endpoints-check
	}
	chain filter-forward {
		type filter hook forward priority filter; policy accept;
		ct state new counter jump service-endpoints-check
		ct state new counter jump cluster-ips-check
	}
	chain filter-output {
		type filter hook output priority filter; policy accept;
		ct state new counter jump service-endpoints-check
		ct state new counter jump cluster-ips-check
	}
	chain nat-output {
		type nat hook output priority dstnat; policy accept;
		counter jump services
	}
	chain nat-postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		counter jump masquerading
	}
	chain nat-prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		counter jump services
	}
	chain cluster-ips-check {
		ip daddr @cluster-ips counter reject comment "Reject traffic to invalid ports of ClusterIPs"
	}
	chain firewall-check {
		counter ip daddr . meta l4proto . th dport vmap @firewall-ips
	}
	chain mark-for-masquerade {
		counter meta mark set meta mark | 0x00004000
	}
	chain masquerading {
		meta mark & 0x00004000 == 0x00000000 counter return
		counter meta mark set meta mark ^ 0x00004000
		counter masquerade fully-random
	}
	chain nodeport-endpoints-check {
		ip daddr @nodeport-ips counter
	}
	chain reject-chain {
		counter reject
	}
	chain service-endpoints-check {
		counter ip daddr . meta l4proto . th dport vmap @no-endpoint-services
	}
	chain services {
		counter ip daddr . meta l4proto . th dport vmap @service-ips
		ip daddr @nodeport-ips counter meta l4proto . th dport vmap @service-nodeports
	}
	chain external-ABC-default/web/tcp/ {
		counter jump mark-for-masquerade
		counter goto service-ABC-default/web/tcp/
	}
	chain service-ABC-default/web/tcp/ {
		ip saddr != 10.1.0.0/16 counter jump mark-for-masquerade
		counter numgen random mod 2 vmap { 0 : goto endpoint-1, 1 : goto endpoint-2 }
	}
	chain service-DEF-default/dns/udp/ {
		counter numgen random mod 1 vmap { 0 : goto endpoint-3 }
	}
	chain endpoint-1 {
		ip saddr 10.1.0.2 counter jump mark-for-masquerade
		meta l4proto tcp counter dnat to 10.1.0.2:8080
	}
	chain endpoint-2 {
		ip saddr 10.1.0.3 counter jump mark-for-masquerade
		meta l4proto tcp counter dnat to 10.1.0.3:8080
	}
	chain endpoint-3 {
		meta l4proto udp counter dnat to 10.1.0.3:8080
	}
}
"""  # noqa: E501

FIREWALLD = """
table inet firewalld {
	chain mangle_PREROUTING {
		type filter hook prerouting priority mangle + 10; policy accept;
		meta nfproto ipv4 counter jump mangle_PREROUTING_POLICIES
	}
	chain mangle_PREROUTING_POLICIES {
		iifname "eth0" counter return
		counter
	}
	chain nat_PREROUTING {
		type nat hook prerouting priority dstnat + 10; policy accept;
		counter jump nat_PREROUTING_POLICIES
	}
	chain nat_PREROUTING_POLICIES {
		iifname "eth0" tcp dport 8443 counter dnat ip to 10.1.0.2:80
	}
	chain nat_POSTROUTING {
		type nat hook postrouting priority srcnat + 10; policy accept;
		counter jump nat_POSTROUTING_POLICIES
	}
	chain nat_POSTROUTING_POLICIES {
		iifname "lxc1" oifname "eth0" counter goto nat_POST_public
	}
	chain nat_POST_public {
		meta nfproto ipv4 oifname != "lo" counter masquerade
	}
	chain filter_PREROUTING {
		type filter hook prerouting priority filter + 10; policy accept;
		icmpv6 type { nd-router-advert, nd-neighbor-solicit } accept
		meta nfproto ipv6 fib saddr . mark . iif oif missing drop
		meta nfproto ipv4 fib saddr . iif oif missing counter drop
	}
	chain filter_INPUT {
		type filter hook input priority filter + 10; policy accept;
		ct state { established, related } counter accept
		ct status dnat counter accept
		iifname "lo" counter accept
		ct state invalid counter drop
		counter jump filter_INPUT_POLICIES
		meta nfproto ipv4 counter reject with icmpx admin-prohibited
	}
	chain filter_FORWARD {
		type filter hook forward priority filter + 10; policy accept;
		ct state { established, related } counter accept
		ct status dnat counter accept
		iifname "lo" accept
		ct state invalid counter drop
		ip6 daddr { ::/96, ::ffff:0.0.0.0/96 } reject with icmpv6 addr-unreachable
		counter jump filter_FORWARD_POLICIES
		counter reject with icmpx admin-prohibited
	}
	chain filter_OUTPUT {
		type filter hook output priority filter + 10; policy accept;
		ct state { established, related } counter accept
		oifname "lo" accept
		ip6 daddr { ::/96, 2002::/16 } reject with icmpv6 addr-unreachable
	}
	chain filter_INPUT_POLICIES {
		iifname "eth0" counter jump filter_IN_public
		iifname "eth0" counter reject with icmpx admin-prohibited
	}
	chain filter_IN_public {
		tcp dport 22 ct state { new, untracked } counter accept
		tcp dport { 80, 443 } ct state { new, untracked } counter accept
	}
	chain filter_FORWARD_POLICIES {
		iifname "lxc1" oifname "eth0" counter accept
		iifname "lxc1" counter reject with icmpx admin-prohibited
	}
}
"""


@pytest.mark.parametrize(
    ("probe", "verdict"),
    [
        (SERVICE, "ALWAYS"),
        ("tcp 10.1.0.3:40000 > 10.96.0.10:80 from pod2", "ALWAYS"),
        ("tcp 172.31.0.1:40000 > 172.31.0.10:30080 from world", "ALWAYS"),
        ("tcp 172.31.0.10:40000 > 10.96.0.10:80 from host", "ALWAYS"),
        ("tcp 10.1.0.2:40000 > 10.96.0.11:80 from pod1", "NEVER"),
        ("tcp 10.1.0.2:40000 > 10.96.0.10:81 from pod1", "NEVER"),
        ("tcp 172.31.0.10:40000 > 10.96.0.11:80 from host", "NEVER"),
        ("udp 10.1.0.2:40000 > 10.96.0.12:53 from pod1", "ALWAYS"),
        (OUT, "ALWAYS"),
    ],
)
def test_kube_proxy(probe: str, verdict: str) -> None:
    """Services, node ports, services without endpoints and wrong ports go as kube-proxy's tables
    say.
    """
    assert hold(KUBE_PROXY, probe).verdict == verdict


@pytest.mark.parametrize(
    ("probe", "verdict"),
    [
        (SERVICE, "SOMETIMES"),
        ("tcp 172.31.0.1:40000 > 172.31.0.10:30080 from world", "ALWAYS"),
        ("tcp 172.31.0.10:40000 > 10.96.0.10:80 from host", "ALWAYS"),
        ("tcp 10.1.0.2:40000 > 10.96.0.11:80 from pod1", "NEVER"),
        ("udp 10.1.0.2:40000 > 10.96.0.12:53 from pod1", "ALWAYS"),
    ],
)
def test_kube_proxy_on_a_bridge(probe: str, verdict: str) -> None:
    """br_netfilter runs native chains, too; a pod that is its own endpoint needs hairpin mode."""
    assert hold(KUBE_PROXY, probe, shape=bridged_pods).verdict == verdict


@pytest.mark.parametrize(
    ("probe", "verdict"),
    [
        (OUT, "ALWAYS"),
        (IN, "ALWAYS"),
        ("tcp 172.31.0.1:40000 > 172.31.0.10:81 from world", "NEVER"),
        ("tcp 172.31.0.1:40000 > 172.31.0.10:8443 from world", "ALWAYS"),
        ("tcp 172.31.0.1:40000 > 10.1.0.2:80 from world", "NEVER"),
        ("tcp 10.1.0.2:40000 > 10.1.0.3:80 from pod1", "NEVER"),
        ("tcp 10.1.0.2:40000 > 172.31.0.10:80 from pod1", "NEVER"),
        (LOCAL, "ALWAYS"),
    ],
)
def test_firewalld(probe: str, verdict: str) -> None:
    """Zones, policies, masquerade and forwarded ports go as firewalld's table says."""
    assert hold(FIREWALLD, probe).verdict == verdict


def test_firewalld_refuses_a_source_without_a_way_back() -> None:
    """A source that routes elsewhere fails the reverse path filter of the table."""

    def prepare(host: DraftNetns) -> None:
        host.add_route("172.31.0.1", "lxc2", scope="link")

    assert hold(FIREWALLD, IN, prepare=prepare).verdict == "NEVER"


@pytest.mark.parametrize(
    "rule",
    [
        "tcp dport 80 counter dnat to 10.1.0.3:8080",
        "ip daddr 10.96.0.10 counter dnat to 10.1.0.3",
        "meta l4proto tcp counter dnat ip to ip daddr map { 10.96.0.10 : 10.1.0.3 }",
        (
            "meta l4proto tcp counter dnat ip addr . port to ip daddr . tcp dport map { 10.96.0.10 "
            ". 80 : 10.1.0.3 . 8080 }"
        ),
        "tcp dport 80 counter redirect to :8080",
        "ip daddr 10.96.0.10 counter meta mark set 0x1 goto later",
    ],
)
def test_destination_nat(rule: str) -> None:
    """Every spelling of dnat and redirect gives the connection the same end as in the kernel."""
    text = f"""
    table ip t {{
        chain later {{ meta mark 0x1 counter dnat to 10.1.0.3; }}
        chain pre {{ type nat hook prerouting priority dstnat
            {rule}
            counter
        }}
    }}
    """
    assert hold(text, SERVICE).verdict == "ALWAYS"


@pytest.mark.parametrize(
    "rule",
    [
        "oifname eth0 counter masquerade", "ip saddr 10.1.0.0/16 counter snat to 172.31.0.10",
        "meta l4proto tcp counter snat to 172.31.0.10:50000-50001",
        "oif eth0 counter snat to ip saddr map { 10.1.0.2 : 172.31.0.10 }",
        "ip saddr 10.9.0.0/16 counter masquerade",
    ],
)  # fmt: skip
def test_source_nat(rule: str) -> None:
    """Every spelling of snat and masquerade gives the packet the same source as in the kernel."""
    text = (
        f"table ip t {{ chain post {{ type nat hook postrouting priority srcnat; {rule}; counter; "
        f"}}\n}}"
    )
    assert hold(text).verdict == "ALWAYS"


def test_native_and_iptables_nat_chains_share_a_dispatcher() -> None:
    """A native chain of an earlier priority translates first, and iptables' chain is not asked any
    more.
    """

    def prepare(host: DraftNetns) -> None:
        host.table("nat", "nft")
        assert Address.parse("10.96.0.10").family == 4

    text = (
        "table ip t { chain pre { type nat hook prerouting priority -110; ip daddr 10.96.0.10 "
        "counter dnat to 10.1.0.3; }\n}"
    )
    assert hold(text, SERVICE, prepare=prepare).verdict == "ALWAYS"
