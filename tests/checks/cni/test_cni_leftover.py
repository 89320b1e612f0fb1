"""cni-leftover: the runtime calls the plugin of a network that is no longer installed."""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.checks.cni.cni_leftover import check
from podpath.checks.finding import Finding
from podpath.evidence.recognition import read
from podpath.net.provenance import Source


def find(pod: str) -> list[Finding]:
    """Run the check where Cilium's plugin has no agent and a pod of that name runs."""
    pods = (
        "NAMESPACE     NAME              READY   STATUS    RESTARTS   AGE",
        f"kube-system   {pod}   2/2     Running   0          5m",
    )
    listed = Source(name="ticket.md", command="kubectl get pods -A", lines=pods)
    line = 'plugin type="cilium-cni" name="cilium" failed (add): unable to connect to Cilium daemon'
    said = Source(name="ticket.md", lines=(line,), first_line=10)
    readings = [
        (source, reading) for source in (listed, said) if (reading := read(source)) is not None
    ]
    return list(check(assemble_case(readings)))


def test_another_networks_agents_convict_the_configuration() -> None:
    """The pods that run are Weave's."""
    assert [one.certainty for one in find("weave-net-hhl6k")] == [1.0]


def test_an_agent_of_its_own_is_only_late() -> None:
    """The plugin's own agent is there and does not answer yet: no leftover."""
    assert find("cilium-x7k2p") == []


def test_other_pods_tell_nothing() -> None:
    """Without any network's agent among the pods it may be as well that none was listed."""
    assert find("coredns-5d78c9") == []
