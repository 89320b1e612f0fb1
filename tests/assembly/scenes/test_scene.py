"""Where, and on which host, outputs were taken."""

from __future__ import annotations

from podpath.assembly.scenes.scene import name_netns
from podpath.node.case import Case
from podpath.node.node import HOST
from tests.assembly.evidence_text import (
    Output,
    alternative_of,
    case_of,
    case_of_document,
    known,
    options_of,
    spell_route,
)

RP_FILTER = "net.ipv4.conf.all.rp_filter"


def test_namespaces_and_name(recorded: Case) -> None:
    """Each namespace that a command was run in is one of the model, and the prompt names the
    node.
    """
    assert list(recorded.node.namespaces) == [HOST, "cni-5ad1"]
    assert recorded.node.name == "worker-3"
    assert not any(netns.inferred for netns in recorded.node.namespaces.values())


def test_namespaces_do_not_mix() -> None:
    """The same key in two namespaces is two facts."""
    case = case_of(
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0"),
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 1", netns="cni-7"),
    )
    assert known(case.node.namespaces[HOST].sysctls[RP_FILTER]) == "0"
    assert known(case.node.namespaces["cni-7"].sysctls[RP_FILTER]) == "1"


def test_evidence_of_good_hosts_only_is_taken_as_it_is() -> None:
    """Where every output is labeled as of a good host, the case is about that host."""
    case = case_of(Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0", label="On a good host:"))
    assert known(case.node.host.sysctls[RP_FILTER]) == "0"


def test_outputs_of_another_good_host() -> None:
    """What is said to work and was typed on a host of its own shows that host, and nothing of this
    one.
    """
    case = case_of_document(f"""
    node-b fails:

    ```
    root@node-b:~# ip route
    default via 10.1.0.1 dev eth0
    ```

    node-a is fine:

    ```
    root@node-a:~# ip route
    default via 10.1.0.2 dev eth0
    root@node-a:~# sysctl {RP_FILTER}
    {RP_FILTER} = 0
    ```
    """)
    assert case.node.name == "node-b"
    assert [spell_route(route) for route in case.node.host.routes.items] == [
        "default via 10.1.0.1 dev eth0"
    ]
    assert options_of(case.node.host.sysctls[RP_FILTER])[-1] == "0"
    assert alternative_of(case, "routes").good


def test_two_names_of_one_host() -> None:
    """Without a word about which works, outputs at two prompts are of one host: articles spell its
    name differently.
    """
    case = case_of_document("""
    ```
    root@node:~# ip route
    default via 10.1.0.1 dev eth0
    root@node1:~# sysctl net.ipv4.ip_forward
    net.ipv4.ip_forward = 1
    ```
    """)
    assert known(case.node.host.sysctls["net.ipv4.ip_forward"]) == "1"


def test_host_network_pods_show_the_host() -> None:
    """What is run in a pod of the node's own network is run on the node."""
    assert [name_netns(name) for name in (None, "host", "pid 1", "cilium-7xk2p", "kube-proxy-abcde", "web-0", "pid 12")] == [  # noqa: E501
        "host", "host", "host", "host", "host", "web-0", "pid 12",
    ]  # fmt: skip
