"""Tests of `protect.repair.redirect`: what a pod asks for is read from proxy and annotations, and
written as rules.
"""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from podpath_protect.cluster.objects import EnvironmentVariable, SecurityContext
from podpath_protect.repair.redirect import (
    ANNOTATIONS,
    LINKERD_LISTENS,
    MULTIPORT,
    NOBODY_CAN_BE,
    VARIABLES,
    PodRedirect,
    asked,
    render_restore,
    render_undo,
)
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


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="0123456789,:-./ ٣", max_size=60),
    st.sampled_from(
        ["9" * 5000, "1," * 40_000, "\ud800", "4294967295", "-1", "1e9", "10.0.0.0/99"]
    ),
)


@given(st.sampled_from(sorted(ANNOTATIONS)), HOSTILE, st.sampled_from(sorted(VARIABLES)), HOSTILE)
def test_no_annotation_is_too_strange(key: str, value: str, name: str, told: str) -> None:
    """Whatever a pod's author writes, it is read, bounded, or a fault that keeps the pod from being
    mended; what is written of it are words of numbers.
    """
    for kind in (LINKERD, ISTIO):
        made = pod(annotations={key: value.encode("utf-8", "replace").decode()}, **kind)
        proxy = structs.replace(
            made.spec.containers[1], env=(EnvironmentVariable(name=name, value=told),)
        )
        spec = structs.replace(made.spec, containers=(made.spec.containers[0], proxy))
        redirect = asked(structs.replace(made, spec=spec))
        assert redirect is not None
        text = render_restore(redirect, 4) + render_restore(redirect, 6)
        assert 0 <= redirect.proxy_uid < NOBODY_CAN_BE
        assert text.isascii()
        assert len(redirect.unmodelled) < 100_000
        assert len(text) < 40_000


def test_a_user_of_five_thousand_digits_is_a_fault() -> None:
    """A number that is no user's keeps the pod from being mended, and does no more than that."""
    for value in ("9" * 5000, "4294967295", "٣", "root"):
        assert "proxy-uid" in of(LINKERD, proxy_uid=value).unmodelled
    assert ("", 0) == (of(LINKERD, proxy_uid="0").unmodelled, of(LINKERD, proxy_uid="0").proxy_uid)


def test_what_the_proxys_container_says_counts() -> None:
    """Its ports, addresses and user are read from what the injector wrote; without, the mesh's
    defaults stand.
    """
    made = pod(annotations={"config.linkerd.io/proxy-uid": "9"}, **LINKERD)
    proxy = structs.replace(
        made.spec.containers[1],
        env=(
            EnvironmentVariable(name=LINKERD_LISTENS[0], value="127.0.0.1:5140,[::1]:5140"),
            EnvironmentVariable(name=LINKERD_LISTENS[1], value="[::]:5143"),
        ),
        security_context=SecurityContext(run_as_user=7),
    )
    spec = structs.replace(made.spec, containers=(made.spec.containers[0], proxy))
    redirect = asked(structs.replace(made, spec=spec))

    assert redirect is not None
    assert (5140, 5143, 7) == (redirect.outbound, redirect.inbound, redirect.proxy_uid)
    assert {"127.0.0.1", "::1", "::"} == {each.address for each in redirect.declared}


def test_undoing_names_the_chains_that_are_written() -> None:
    """What is taken back are the jumps that were added and the chains that were written; those that
    stood before get their rules again.
    """
    redirect = of(LINKERD)
    line = "-A PROXY_INIT_OUTPUT -o lo -j RETURN"

    text = render_undo(redirect, 4, frozenset({"OUTPUT"}), {"PROXY_INIT_OUTPUT": (line,)})

    assert [
        "*nat",
        "-D PREROUTING -p tcp -j PROXY_INIT_REDIRECT",
        "-F PROXY_INIT_REDIRECT",
        "-F PROXY_INIT_OUTPUT",
        line,
        "-X PROXY_INIT_REDIRECT",
        "COMMIT",
    ] == text.splitlines()
