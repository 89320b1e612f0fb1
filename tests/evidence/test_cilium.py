"""Cilium's options, wherever people show them."""

from __future__ import annotations

import pytest

from podpath.evidence.cilium.config import read_config, recognise_config
from podpath.evidence.cilium.flags import parse_flags
from podpath.evidence.cilium.status import read_status, recognise_status
from podpath.evidence.kubernetes.records import CiliumOptionRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import FOLDER, block, load_console, read

SHOWN = [
    (
        'apiVersion: v1\ndata:\n  enable-bpf-masquerade: "true"\n  tunnel: vxlan\nkind: ConfigMap\n'
        "metadata:\n  name: cilium-config"
    ),
    (
        "Name:         cilium-config\n\nData\n====\nenable-bpf-masquerade:\n----\ntrue\n\ntunnel:\n"
        "----\nvxlan"
    ),
    (
        "level=info msg=\"  --enable-bpf-masquerade='true'\" subsys=daemon\n"
        "level=info msg=\"  --tunnel='vxlan'\" subsys=daemon"
    ),
    (
        "enable-bpf-masquerade                      true\n"
        "tunnel                                     vxlan"
    ),
    '{"enable-bpf-masquerade":"true","tunnel":"vxlan"}',
    '  enable-bpf-masquerade: "true"\n  tunnel: vxlan',
]


def _options(reading: Reading) -> dict[str, str]:
    return {one.key: one.value for one in reading.records if isinstance(one, CiliumOptionRecord)}


@pytest.mark.parametrize("text", SHOWN)
def test_shapes(text: str) -> None:
    """YAML, `describe`, the agent's log, `config view`, JSON and a grep of them give the same
    options.
    """
    assert recognise_config(block(text))
    assert {"enable-bpf-masquerade": "true", "tunnel": "vxlan"} == _options(
        read_config(block(text))
    )


def test_recorded() -> None:
    """The whole ConfigMap in JSON is read, its own name left out."""
    options = _options(read(load_console(FOLDER / "cluster" / "cilium-config-json.txt")))
    assert ("false", "vxlan", 12) == (
        options["enable-bpf-masquerade"],
        options["tunnel"],
        len(options),
    )


def test_values_of_the_chart() -> None:
    """Helm's names are mapped to the ConfigMap's keys."""
    text = "bpf:\n  masquerade: true\nkubeProxyReplacement: probe\nfuture:\n  option: 5"
    assert {
        "enable-bpf-masquerade": "true",
        "kube-proxy-replacement": "probe",
        "future.option": "5",
    } == _options(read_config(block(text, "helm get values cilium -n kube-system")))


def test_other_yaml_is_not_cilium() -> None:
    """A manifest of something else is not recognised."""
    assert not recognise_config(
        block(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n  - port: 80"
        )
    )


INSTALL = (
    "cilium install --kube-proxy-replacement=probe --helm-set "
    "ipam.operator.clusterPoolIPv4PodCIDR=172.16.0.0/16 "
    "--helm-set bpf.masquerade=true --version=v1.11.17"
)
UPGRADE = (
    "helm upgrade cilium cilium/cilium --version 1.12.1 --set "
    "bpf.masquerade=true,tunnel=disabled --set-string devices='{a,b}'"
)
COMMANDS = [
    (INSTALL,
     {
         "kube-proxy-replacement": "probe", "cluster-pool-ipv4-cidr": "172.16.0.0/16",
         "enable-bpf-masquerade": "true", "version": "1.11.17",
     }),
    (UPGRADE,
     {
         "version": "1.12.1", "enable-bpf-masquerade": "true", "tunnel": "disabled",
         "devices": "a,b",
     }),
    ("cilium config set enable-bpf-masquerade false", {"enable-bpf-masquerade": "false"}),
    (
        "cilium-agent --tunnel=vxlan --enable-bpf-masquerade",
        {"tunnel": "vxlan", "enable-bpf-masquerade": "true"},
    ),
    ("helm install prometheus --set a=b", {}),
    ("cilium status", {}),
]  # fmt: skip


@pytest.mark.parametrize(("command", "options"), COMMANDS)
def test_command_lines(command: str, options: dict[str, str]) -> None:
    """Options on a command line are mapped, too."""
    assert options == {flag.key: flag.value for flag in parse_flags(command)}


def test_status() -> None:
    """`cilium status` says how masquerading and routing are done."""
    text = """\
KVStore:                Ok   Disabled
KubeProxyReplacement:   Probe   [eth0 10.0.2.15 (Direct Routing)]
Cilium:                 Ok   1.11.17 (v1.11.17-ab)
Host Routing:           Legacy
Masquerading:           BPF   [eth0]   172.16.0.0/16 [IPv4: Enabled, IPv6: Disabled]"""
    assert recognise_status(block(text))
    assert {
        "kube-proxy-replacement": "probe", "version": "1.11.17", "devices": "eth0",
        "enable-host-legacy-routing": "true", "enable-bpf-masquerade": "true",
        "enable-ipv4-masquerade": "true", "enable-ipv6-masquerade": "false",
    } == _options(read_status(block(text)))  # fmt: skip
