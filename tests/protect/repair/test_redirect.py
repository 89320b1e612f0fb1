"""Tests of `protect.repair.redirect`: what a pod asks for is read from proxy and annotations, and
written as rules.
"""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from podpath_protect.repair.redirect import MULTIPORT, PodRedirect, asked, render_restore
from tests.protect.repair.pods import pod

Kind = dict[str, Any]
LINKERD: Kind = {"containers": ("app", "linkerd-proxy")}
ISTIO: Kind = {"containers": ("app", "istio-proxy")}


def of(kind: Kind, **annotations: str) -> PodRedirect:
    """Read what a pod with a mesh's proxy and annotations asks for."""
    prefix = "config.linkerd.io/" if kind is LINKERD else "traffic.sidecar.istio.io/"
    redirect = asked(
        pod(
            annotations={
                prefix + key.replace("_", "-"): value for key, value in annotations.items()
            },
            **kind,
        )
    )
    assert redirect is not None
    return redirect


def test_a_pod_without_a_proxy_asks_for_nothing() -> None:
    """Whatever its annotations say: no proxy, no redirection."""
    assert asked(pod(annotations={"config.linkerd.io/proxy-uid": "7"})) is None


def test_linkerds_defaults() -> None:
    """linkerd's ports and user, its own ports left alone."""
    redirect = of(LINKERD)

    assert (4140, 4143, 2102) == (redirect.outbound, redirect.inbound, redirect.proxy_uid)
    assert (("4190", "4191"), ()) == (redirect.skip_inbound, redirect.skip_outbound)


def test_linkerds_annotations() -> None:
    """Skipped ports with ranges, skipped networks of both families, another user, other ports of
    its own.
    """
    redirect = of(
        LINKERD,
        skip_outbound_ports="25, 3306-3310",
        skip_inbound_ports="22",
        skip_subnets="10.0.0.0/8,fd00::/8",
        proxy_uid="5000",
        admin_port="9999",
    )

    assert (("25", "3306:3310"), ("4190", "9999", "22")) == (
        redirect.skip_outbound,
        redirect.skip_inbound,
    )
    assert (("10.0.0.0/8", "fd00::/8"), 5000, "") == (
        redirect.skip_subnets,
        redirect.proxy_uid,
        redirect.unmodelled,
    )


def test_istios_annotations() -> None:
    """istio's exclusions are read; its own ports are left alone."""
    redirect = of(
        ISTIO,
        excludeOutboundPorts="25",
        excludeInboundPorts="22",
        excludeOutboundIPRanges="169.254.169.254/32",
    )

    assert (15001, 15006, 1337) == (redirect.outbound, redirect.inbound, redirect.proxy_uid)
    assert ("25",) == redirect.skip_outbound
    assert "22" in redirect.skip_inbound
    assert "15090" in redirect.skip_inbound
    assert ("169.254.169.254/32",) == redirect.skip_subnets


def test_a_native_sidecar_is_seen() -> None:
    """A proxy that is an init container (with restartPolicy Always) asks as well."""
    assert asked(pod({"waiting": {}}, validator="istio-proxy")) is not None


@pytest.mark.parametrize(
    ("kind", "annotations", "named"),
    [
        (LINKERD, {"skip_outbound_ports": "25,http"}, "http"),
        (LINKERD, {"skip_inbound_ports": "70000"}, "70000"),
        (LINKERD, {"skip_inbound_ports": "20-10"}, "20-10"),
        (LINKERD, {"skip_subnets": "10.0.0.0/8; reboot"}, "reboot"),
        (ISTIO, {"includeOutboundIPRanges": "10.0.0.0/8"}, "includeOutboundIPRanges"),
        (ISTIO, {"includeInboundPorts": "80"}, "includeInboundPorts"),
        (ISTIO, {"kubevirtInterfaces": "net1"}, "kubevirtInterfaces"),
    ],
)
def test_what_is_not_modelled_is_named(kind: Kind, annotations: dict[str, str], named: str) -> None:
    """What the rules here would not give, and what cannot be read, is named, so that nothing is
    half mended.
    """
    assert named in of(kind, **annotations).unmodelled


def test_istios_tproxy_is_not_modelled() -> None:
    """A pod that asks for TPROXY is not given REDIRECT."""
    redirect = asked(pod(annotations={"sidecar.istio.io/interceptionMode": "TPROXY"}, **ISTIO))

    assert redirect is not None
    assert "TPROXY" in redirect.unmodelled


def test_annotations_are_never_passed_on_as_they_are() -> None:
    """Whatever an author writes into an annotation, nothing of it but ports and networks reaches
    the rules.
    """
    evil = of(
        LINKERD,
        skip_outbound_ports="25\n-A OUTPUT -j ACCEPT",
        skip_subnets="0/0 -j ACCEPT",
        proxy_uid="0 -j ACCEPT",
    )

    assert "ACCEPT" not in render_restore(evil, 4)
    assert 2102 == evil.proxy_uid


def test_jumps_that_are_there_are_not_made_twice() -> None:
    """Where a base chain jumps to the mesh's chain already, only the chain is written."""
    text = render_restore(of(LINKERD), 4, frozenset({"OUTPUT"}))

    assert "-A OUTPUT" not in text
    assert "-A PREROUTING -p tcp -j PROXY_INIT_REDIRECT" in text


def test_ports_are_grouped_as_one_match_takes_them() -> None:
    """Thirty ports and a range make matches of fifteen each, a range counting two."""
    redirect = of(
        LINKERD, skip_outbound_ports=",".join(str(port) for port in range(1, 30)) + ",8000-9000"
    )
    groups = [
        line
        for line in render_restore(redirect, 4).splitlines()
        if line.startswith("-A PROXY_INIT_OUTPUT -p tcp -m multiport")
    ]
    sizes = [sum(2 if ":" in port else 1 for port in line.split()[7].split(",")) for line in groups]

    assert [15, 14, 2] == sizes
    assert max(sizes) <= MULTIPORT


@pytest.mark.kernel("iptables-nft-restore", "ip6tables-nft-restore", "unshare")
@pytest.mark.parametrize("kind", [LINKERD, ISTIO], ids=["linkerd", "istio"])
@pytest.mark.parametrize("family", [4, 6])
def test_the_kernel_takes_every_rule(kind: Kind, family: int) -> None:
    """In a namespace of its own the kernel takes all rules, with every kind of exclusion, and a
    second time just as well.
    """
    ranges = (
        {"skip_subnets": "10.0.0.0/8,fd00::/8"}
        if kind is LINKERD
        else {"excludeOutboundIPRanges": "10.0.0.0/8,fd00::/8"}
    )
    ports = (
        {"skip_outbound_ports": "25,8000-9000"}
        if kind is LINKERD
        else {"excludeOutboundPorts": "25,8000-9000"}
    )
    redirect = of(kind, **ranges, **ports)
    program = "iptables-nft-restore" if family == 4 else "ip6tables-nft-restore"
    first, again = (
        render_restore(redirect, family),
        render_restore(redirect, family, frozenset({"OUTPUT", "PREROUTING"})),
    )
    script = (
        f"{program} --noflush <<'A'\n{first}A\n{program} --noflush "
        f"<<'B'\n{again}B\n{program.replace('restore', 'save')} -t nat"
    )
    done = subprocess.run(
        ["unshare", "--net", "sh", "-ec", script], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)
    rules = [line for line in done.stdout.splitlines() if line.startswith("-A ")]
    assert (
        len(rules) == len(set(rules)) == sum(line.startswith("-A ") for line in first.splitlines())
    )
