"""The reflector in the agent: as nobody on the node, asked by a real validator in both families,
and no node suffers from it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from podpath_protect.agent.keeper import KeeperContext, KeeperStatus
from podpath_protect.reflect.keeper import UNKNOWN, make_body
from podpath_protect.reflect.options import ReflectOptions
from podpath_protect.validate.sockets import SocketEnd
from tests.kube.following import until
from tests.protect.pods import Pod, linkerd, pod, run
from tests.protect.reflect.agents import REFLECT, fetch, reflecting_agent


@pytest.fixture
def bare() -> Iterator[Pod]:
    """Provide a pod without any rule."""
    with pod() as made:
        yield made


@pytest.mark.kernel("iptables-nft-restore", "setpriv", "ss")
def test_the_agent_proves_inbound_redirection_to_a_pod(bare: Pod) -> None:
    """With [reflect] alone and no capability, both families and a skipped port are proven; missing
    rules are found; it counts.
    """
    ask = ("--reflector", "10.9.0.1,fd00:9::1", "--skip-inbound-ports", "9090", "--timeout", "5s")
    with reflecting_agent(bare.node, REFLECT, POD_IPS="10.9.0.1,fd00:9::1"):
        until(lambda: "reflect_listening 1" in fetch(bare.node, "/metrics"), "it listens")
        bare.restore(*linkerd(9090, inbound=False))
        missing = bare.validate(*ask)
        bare.restore(*linkerd(9090))
        proven = bare.validate(*ask)
        until(
            lambda: 'reflect_connections_total{fate="accepted"} 8' in fetch(bare.node, "/metrics"),
            "it counts",
        )
        metrics, ready = fetch(bare.node, "/metrics"), json.loads(fetch(bare.node, "/readyz"))

    assert (63, {4: "failed", 6: "failed"}) == (missing.code, missing.states("inbound"))
    assert (0, {4: "passed", 6: "passed"}) == (proven.code, proven.states("inbound"))
    assert {4: "passed", 6: "passed"} == proven.states("skipped-inbound")
    assert 'podpath_protect_reflect_requests_total{outcome="served"} 4' in metrics
    assert {"ready": True, "degraded": False, "why": ""} == ready["parts"]["reflect"]


@pytest.mark.kernel("iptables-nft-restore", "setpriv", "ss")
def test_who_comes_over_the_uplink_is_not_served(bare: Pod) -> None:
    """The same asker, behind the device of the node's default route: it is no pod of this node, and
    hears nothing.
    """
    bare.restore(*linkerd())
    run("ip", "-n", bare.node, "route", "add", "default", "via", "10.9.0.2")
    with reflecting_agent(bare.node, REFLECT, POD_IP="10.9.0.1"):
        until(lambda: "reflect_listening 1" in fetch(bare.node, "/metrics"), "it listens")
        answer = bare.validate("--reflector", "10.9.0.1", "--families", "4", "--timeout", "5s")
        until(
            lambda: (
                'reflect_requests_total{outcome="foreign"} 0' not in fetch(bare.node, "/metrics")
            ),
            "it counts",
        )

    assert {4: "untested"} == answer.states("inbound")


@pytest.mark.parametrize(
    ("listen", "why"),
    [
        ((SocketEnd("192.0.2.77", 15105),), "cannot listen at 192.0.2.77:15105"),
        ((SocketEnd("pod", 15105),), UNKNOWN),
    ],
)
def test_an_address_that_is_not_there_makes_no_node_unready(
    listen: tuple[SocketEnd, ...], why: str
) -> None:
    """It is told, tried again, and ready all the same: pods start without that proof."""
    heard: list[KeeperStatus] = []
    context = KeeperContext(heard.append)
    thread = threading.Thread(target=make_body(ReflectOptions(listen=listen), {}), args=(context,))
    thread.start()
    until(lambda: bool(heard), "it reports")
    context.stop()
    thread.join(60)
    assert not thread.is_alive()
    context.close()

    assert (True, True) == (heard[0].ready, heard[0].degraded)
    assert heard[0].why.startswith(why)
    assert any(
        sample.name == "reflect_listening" and sample.value == 0 for sample in heard[0].samples
    )
