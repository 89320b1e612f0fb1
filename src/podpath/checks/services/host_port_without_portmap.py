"""host-port-without-portmap: a pod requests a hostPort, but the CNI configuration has no plugin
that implements it.

What it is
    hostPort is implemented by the plugin `portmap` at the end of the CNI chain (or by Cilium
    itself). Here the configuration is shown in full and has neither.

Why it breaks
    No rule leads from the node's port to the pod: connections to it are refused, though pod and
    node are healthy and kubectl shows the port.

How to confirm
    cat /etc/cni/net.d/*.conflist; iptables -t nat -nL CNI-HOSTPORT-DNAT

How to fix
    Add {"type": "portmap", "capabilities": {"portMappings": true}} to the chain, and recreate the
    pods.

References
    the portmap plugin's page of containernetworking; the documentation's page "Network Plugins"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import PodView, pods
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (
    Category.CNI_CONFIGURATION,
    Category.SERVICE_RULES_MISSING,
)
NAME = "host-port-without-portmap"
LIKELY = 0.8
"""Where nothing shows whether the pod is on the host's network, whose ports are alike."""
ASK = FollowUp(
    "whether the pod is on the host's network",
    "kubectl get pod POD -o jsonpath={.spec.hostNetwork}",
    "it is not: nothing maps the port",
)
BY_THEMSELVES = frozenset(
    {
        "portmap",
        "cilium-cni",
        "kube-ovn",
        "multus",
        "multus-shim",
        "azure-vnet",
        "genie",
        "ovn-k8s-cni-overlay",
    }
)
"""Plugins that map ports, and those that may call one that does."""


def check(case: Case) -> Iterator[Finding]:
    """Report hostPorts of pods where the one network that is shown maps none."""
    networks = [network for network in case.node.cni if network.plugins and not network.fault]
    if len(networks) != 1 or BY_THEMSELVES & set(networks[0].plugins) or networks[0].span is None:
        return
    for pod in pods(case):
        if pod.spec is not None and pod.spec.text_at("hostNetwork") == "true":
            continue
        for container in pod.containers:
            wanted = [port.at("hostPort") for port in container.items_at("ports")] + list(
                container.items_at("hostPorts")
            )
            port = next((port for port in wanted if port is not None), None)
            if port is not None:
                line = networks[0].span
                bare = not container.text_at("name")
                found = _report(
                    pod,
                    port,
                    ", ".join(networks[0].plugins),
                    Span(line.source, line.line, line.line),
                )
                hosted = bare and port.text in {*_list_own(container)}
                yield replace(found, certainty=LIKELY, asks=(ASK,)) if hosted else found
                return


def _list_own(container: Tree) -> Iterator[str]:
    """Yield the ports that a container listens on by its own words."""
    return (port.text_at("containerPort") for port in container.items_at("ports"))


def _report(pod: PodView, port: Tree, plugins: str, line: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{pod.seen.kind} {pod.seen.title} requests hostPort {port.text}, but the CNI chain "
            f"({plugins}) has no portmap."
        ),
        evidence=(port.line, line),
        reasoning=(
            (
                "The runtime passes port mappings to plugins that declare the capability; none "
                "of these does."
            ),
        ),
        breaks=(f"connections to port {port.text} of the node",),
        prevention="Keep portmap in every chain that serves pods with hostPorts.",
        certainty=1.0,
        marks=(port.text,),
    )
