"""What whoever may create pods can write, given to all that the agent reads of it: annotations,
variables, termination messages, the kernel's files and rules of a namespace, datagrams, requests
and CNI configurations.

Nothing raises, and what comes out is bounded and harmless: addresses, numbers, printable words.
"""

from __future__ import annotations

import ipaddress
from typing import Any

import msgspec
from msgspec import structs

from podpath.cni.conf import ConfFile
from podpath_protect.agent.health import Answer, Endpoints, answer
from podpath_protect.chain.editing import LIST, ChainedPlugin, EditingError, chain, list_entries
from podpath_protect.cluster.objects import EnvironmentVariable, KubePod
from podpath_protect.plain import plain
from podpath_protect.reflect.messages import emit, parse_answer, parse_ask
from podpath_protect.repair.judgement import judge
from podpath_protect.repair.namespaces import parse_addresses
from podpath_protect.repair.policy import Policy
from podpath_protect.repair.redirect import (
    ANNOTATIONS,
    NOBODY_CAN_BE,
    VARIABLES,
    asked,
    render_restore,
)
from podpath_protect.repair.rules import find_redirect, parse_nat
from podpath_protect.repair.serving import parse_declared, parse_listening

LONGEST_RULES = 40_000
"""Letters of what would be written into a pod's namespace."""
_GOOD = Answer(good=True, body="")
_ENDPOINTS = Endpoints(live=lambda: _GOOD, ready=lambda: _GOOD, metrics=lambda: "")
_PROXIES = ("linkerd-proxy", "istio-proxy")
_VALIDATORS = ("linkerd-network-validator", "istio-validation", "podpath-validate")
_KEYS, _NAMES = sorted(ANNOTATIONS), sorted(VARIABLES)
_ENTRY = ChainedPlugin("mesh-cni", {"type": "mesh-cni"})
_POLICY = Policy(annotations=("sidecar.istio.io/status",))


class Harm(AssertionError):
    """What a tenant wrote did what it must not."""


def read_tenant(data: bytes) -> None:
    """Read bytes as everything that a tenant writes; the first of them draws what stands beside."""
    text = data[1:].decode("utf-8", "replace")
    _read_pod(_make_pod(data[0] if data else 0, text))
    _read_namespace(text)
    _read_bytes(data)


def _make_pod(draw: int, text: str) -> KubePod:
    """Return a pod of a mesh whose annotation, variable and termination message are a text."""
    ended = {"exitCode": 95 + draw % 3, "message": text}
    validator = _VALIDATORS[draw % len(_VALIDATORS)]
    status: dict[str, Any] = {
        "name": validator,
        "state": {"waiting": {"reason": text}},
        "lastState": {"terminated": ended},
    }
    made = {
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "u",
            "labels": {"app": text},
            "annotations": {_KEYS[draw % len(_KEYS)]: text},
        },
        "spec": {"containers": [{"name": "app"}, {"name": _PROXIES[draw % len(_PROXIES)]}]},
        "status": {"phase": "Pending", "initContainerStatuses": [status]},
    }
    pod = msgspec.convert(made, KubePod)
    variable = EnvironmentVariable(name=_NAMES[draw % len(_NAMES)], value=text)
    proxy = structs.replace(pod.spec.containers[1], env=(variable,))
    containers = (pod.spec.containers[0], proxy)
    return structs.replace(pod, spec=structs.replace(pod.spec, containers=containers))


def _read_pod(pod: KubePod) -> None:
    redirect = asked(pod)
    if redirect is None:
        raise Harm("a pod with a proxy asks for nothing")
    written = render_restore(redirect, 4) + render_restore(redirect, 6)
    if not written.isascii() or len(written) > LONGEST_RULES:
        raise Harm(f"rules that nobody means: {written[:200]!r}")
    if not 0 <= redirect.proxy_uid < NOBODY_CAN_BE:
        raise Harm(f"a user that nobody can be: {redirect.proxy_uid}")
    judge(pod, _POLICY)


def _read_namespace(text: str) -> None:
    for address in parse_addresses(text, text):
        ipaddress.ip_address(address)
    sockets = (*parse_listening(text), *parse_declared(text))
    for socket in sockets:
        ipaddress.ip_address(socket.address)
    chains = parse_nat(text, "iptables-save")
    for base in ("OUTPUT", "PREROUTING"):
        find_redirect(chains, base, 4140)
    if not plain(text).isprintable():
        raise Harm("a control character is left")


def _read_bytes(data: bytes) -> None:
    request = parse_ask(data)
    if request is not None and parse_ask(emit(request)) != request:
        raise Harm("a request is another when it is read again")
    parse_answer(data)
    if not answer(data, _ENDPOINTS).startswith(b"HTTP/1.0 "):
        raise Harm("an answer that is none of HTTP")
    try:
        edit = chain(ConfFile(name="10-net.conflist", content=data), _ENTRY)
    except EditingError:
        return
    made = ConfFile(name=edit.name, content=edit.content)
    if not edit.name.endswith(LIST) or len(list_entries(made, _ENTRY.type)) != 1:
        raise Harm("what is chained is not in the chain, or twice")
