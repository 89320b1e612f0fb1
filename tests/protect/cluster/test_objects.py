"""Tests of `cluster.objects`: what the server sends is read, trimmed, and small."""

from __future__ import annotations

import msgspec
import pytest

from podpath.kube.client import Unreachable, decode
from podpath_protect.cluster.objects import KubePod, MetadataFilter
from tests import kube_objects as kube


def read(**more: object) -> KubePod:
    """Read a pod as a server would send it."""
    labels = {"app": "web", "pod-template-hash": "5d9c"}
    sent = kube.pod(
        "web-1",
        namespace="shop",
        init=("validator",),
        labels=labels,
        annotations={"keep": "1", "drop": "2"},
    )
    sent["metadata"] |= {
        "uid": "u-1",
        "resourceVersion": "7",
        "managedFields": [{"manager": "kubelet"}],
    }
    return msgspec.json.decode(msgspec.json.encode(sent | more), type=KubePod)


def test_what_is_judged_is_read() -> None:
    """Names, owner, containers and states are read; what nobody needs is skipped."""
    pod = read(
        status=kube.status(
            "validator", kube.CRASH_LOOP, kube.ended(95, "no rules"), ips=("10.1.0.5", "fd00::5")
        )
    )

    assert ("shop/web-1", ("10.1.0.5", "fd00::5")) == (pod.key, pod.addresses)
    validator = pod.status.init_container_statuses[0]
    assert validator.state.waiting is not None
    assert validator.state.waiting.reason == "CrashLoopBackOff"
    assert validator.last_state.terminated is not None
    assert (95, "no rules") == (
        validator.last_state.terminated.exit_code,
        validator.last_state.terminated.message,
    )


def test_a_pod_without_addresses_has_none() -> None:
    """A pod that was not given an address has none, rather than an empty one."""
    assert read().addresses == ()


def test_trimming_keeps_what_is_asked_for() -> None:
    """Labels and annotations that nobody judges by are not kept; everything else stays."""
    pod = read()
    trimmed = MetadataFilter(labels=frozenset({"app"}), annotations=frozenset({"keep"})).pod(pod)

    assert ({"app": "web"}, {"keep": "1"}) == (
        trimmed.metadata.labels,
        trimmed.metadata.annotations,
    )
    assert ("shop/web-1", "7", pod.spec) == (
        trimmed.key,
        trimmed.metadata.resource_version,
        trimmed.spec,
    )


def test_repeated_words_are_stored_once() -> None:
    """Two pods of one workload share their labels' and containers' words."""
    one, other = (MetadataFilter().pod(read()) for _ in range(2))

    assert one.metadata.labels["app"] is other.metadata.labels["app"]
    assert one.spec.containers[0].name is other.spec.containers[0].name


def test_nulls_are_as_good_as_absent() -> None:
    """Servers write null for what is not set, anywhere: it is read as not there, and wrong kinds
    are refused.
    """
    sent = (
        b'{"metadata":{"name":"w","labels":null,"ownerReferences":null},"spec":{"containers":null},'
        b'"status":{"podIPs":null}}'
    )

    pod = decode(KubePod, sent, "/pods")
    assert ({}, (), ()) == (pod.metadata.labels, pod.spec.containers, pod.addresses)
    with pytest.raises(Unreachable, match="promises"):
        decode(KubePod, b'{"metadata":{"name":null}}', "/pods")
