"""A setting is stated and convicts; who needs it stands in prose, which says no more than that it
matters.
"""

from __future__ import annotations

import pytest

from podpath.diagnosis.diagnose import diagnose
from tests.checks.pasted import ticket_of

OUT = "No container gets out to the Internet any more."
PODS = "Pods reach nothing outside the cluster."
POSTROUTING = (
    "# iptables -t nat -L POSTROUTING -n\nChain POSTROUTING (policy ACCEPT)\n"
    "target     prot opt source               destination\n"
    "MASQUERADE  all  --  172.17.0.0/16        0.0.0.0/0"
)
DOCKER = (
    "# iptables -S FORWARD\n-P FORWARD DROP\n-A FORWARD -o docker0 -j DOCKER\n"
    "-A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
    "-A FORWARD -i docker0 ! -o docker0 -j ACCEPT\n-A FORWARD -i docker0 -o docker0 -j ACCEPT"
)
BRIDGE = "$ cat /proc/sys/net/bridge/bridge-nf-call-iptables\n{}"
PUBLISHED = "A container cannot call another one by the port that Docker publishes on the host"
RP = "# sysctl -a | grep rp_filter\nnet.ipv4.conf.all.rp_filter = 0\n{} = 1"
STRICT = RP.format("net.ipv4.conf.lxc1a2b.rp_filter")
LOOSE = STRICT.replace("all.rp_filter = 0", "all.rp_filter = 2")
OWN_ROUTES = "# cilium config view | grep endpoint-routes\nenable-endpoint-routes    {}"
IPV6 = "# sysctl net.ipv6.conf.all.forwarding\nnet.ipv6.conf.all.forwarding = {}"


def findings(prose: str, block: str) -> dict[str, bool]:
    """Return the checks that report something, and which are certain."""
    found = diagnose(ticket_of(f"{prose}\n\n```\n{block}\n```\n")).findings
    return {one.check: one.certainty == 1 for one in found}


@pytest.mark.parametrize(
    ("prose", "block", "check"),
    [
        (OUT, "$ sysctl net.ipv4.conf.docker0.forwarding\nnet.ipv4.conf.docker0.forwarding = 0",
         "device-forwarding"),
        (OUT, "$ sysctl -a | grep forwarding\nnet.ipv4.conf.all.forwarding = 0",
         "forwarding-switched-off"),
        (f"{PODS} The cluster-cidr is 10.244.0.0/16.", POSTROUTING, "masquerade-coverage"),
        (f"{PODS} Each pod gets an address of 10.32.0.0/12.", POSTROUTING,
         "masquerade-coverage"),
        ("Pods of different nodes cannot reach each other.", DOCKER, "forward-not-accepted"),
        (f"{PUBLISHED}; from outside it works.", BRIDGE.format(0), "bridge-calls-disabled"),
        ("With Cilium, probes of pods time out.", f"{OWN_ROUTES.format('false')}\n{STRICT}",
         "cilium-device-filtered"),
        ("Pods with IPv6 addresses reach nothing outside by IPv6.", IPV6.format(0),
         "ipv6-not-forwarded"),
    ],
)  # fmt: skip
def test_a_stated_fact_and_whom_it_is_about(prose: str, block: str, check: str) -> None:
    """The range of pods, the engine, the family, who is behind the host: each comes from a
    sentence.
    """
    assert findings(prose, block).get(check)


@pytest.mark.parametrize(
    ("prose", "block", "check"),
    [
        ("The host cannot resolve names.",
         "$ sysctl net.ipv4.conf.docker0.forwarding\nnet.ipv4.conf.docker0.forwarding = 0",
         "device-forwarding"),
        (OUT, "$ sysctl net.ipv4.conf.wlan0.forwarding\nnet.ipv4.conf.wlan0.forwarding = 0",
         "device-forwarding"),
        (f"{PODS} The cluster-cidr is 172.17.0.0/16.", POSTROUTING, "masquerade-coverage"),
        (f"{PODS} The cluster-cidr is 203.0.113.0/24.", POSTROUTING, "masquerade-coverage"),
        (f"{PODS} The service network is 10.96.0.0/12.", POSTROUTING, "masquerade-coverage"),
        ("Containers of Docker cannot reach each other.", DOCKER, "forward-not-accepted"),
        (f"{PUBLISHED}; from outside it works.", BRIDGE.format(1), "bridge-calls-disabled"),
        (f"{PUBLISHED}.", BRIDGE.format(0), "bridge-calls-disabled"),
        ("With Cilium, probes of pods time out.", STRICT, "cilium-device-filtered"),
        ("With Cilium, probes of pods time out.", f"{OWN_ROUTES.format('true')}\n{STRICT}",
         "cilium-device-filtered"),
        ("With Cilium, probes of pods time out.", f"{OWN_ROUTES.format('false')}\n{LOOSE}",
         "cilium-device-filtered"),
        ("With Calico, probes of pods time out.", RP.format("net.ipv4.conf.cali1a2b.rp_filter"),
         "cilium-device-filtered"),
        ("Pods with IPv6 addresses reach nothing outside by IPv6.", IPV6.format(1),
         "ipv6-not-forwarded"),
        ("Pods reach nothing outside.", IPV6.format(0), "ipv6-not-forwarded"),
    ],
)  # fmt: skip
def test_the_other_half_is_missing(prose: str, block: str, check: str) -> None:
    """Another value, another end, a range that is translated or needs no translation."""
    assert not findings(prose, block).get(check)


def test_a_file_says_what_is_wanted_and_not_what_is_in_force() -> None:
    """It is possible, with the file's line behind its name."""
    found = findings(
        OUT, "$ grep -r forward /etc/sysctl.d/\n/etc/sysctl.d/9.conf:net.ipv4.ip_forward = 0"
    )

    assert found == {"forwarding-switched-off": False}
