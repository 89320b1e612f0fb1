"""Snapshots and drops from agents: which node has one that serves, and its bundle, or its stream of
drops, through the API server's pod proxy.

The API server checks that the caller may use the proxy, and takes the caller's credentials off; it
does not check the agent's certificate. So the agent gets a token that is good for it alone, for
ten minutes, and that opens nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from podpath.kube.client import Client, Refused, Stream, Unreachable
from podpath.kube.grants import ResourceRight, ServiceAccountName, request_token
from podpath.kube.snapshots import (
    AGENT_LABELS,
    DROPS_PATH,
    MOST_BYTES,
    NAMESPACE,
    PATH,
    PORT_NAME,
    READER,
    TOKEN_HEADER,
    audience_of,
    right_to,
    right_to_watch,
)
from podpath.sources.kinds import ApiItem
from podpath.sources.objects import ApiObjects, SourceError

SECONDS = 60.0
_SELECTED = dict(part.split("=") for part in AGENT_LABELS.split(","))


class ServingAgent(NamedTuple):
    """An agent that serves snapshots of its node."""

    node: str
    namespace: str
    pod: str
    port: int

    @property
    def path(self) -> str:
        """Return where the API server passes a request for a snapshot on to it."""
        return self.path_of(PATH)

    def path_of(self, path: str) -> str:
        """Return where the API server passes a request for one of its paths on to it."""
        pod = f"https:{self.pod}:{self.port}"
        return f"/api/v1/namespaces/{self.namespace}/pods/{pod}/proxy{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAccess:
    """As whom agents are asked."""

    account: ServiceAccountName = ServiceAccountName(NAMESPACE, READER)
    """The service account whose tokens are borrowed."""
    seconds: float = SECONDS


def find_agents(objects: ApiObjects, namespace: str = NAMESPACE) -> Mapping[str, ServingAgent]:
    """Return the agents that run and serve, by their nodes."""
    found = (
        _read_agent(pod)
        for pod in objects.items.get("pods", ())
        if pod["metadata"].get("namespace") == namespace
    )
    return {agent.node: agent for agent in found if agent is not None}


def _read_agent(pod: ApiItem) -> ServingAgent | None:
    about, spec, status = pod["metadata"], pod.get("spec", {}), pod.get("status", {})
    port = next(_list_ports(spec), None)
    if not _SELECTED.items() <= (about.get("labels") or {}).items() or port is None:
        return None
    if status.get("phase") != "Running" or about.get("deletionTimestamp"):
        return None
    return ServingAgent(
        str(spec.get("nodeName")), str(about["namespace"]), str(about["name"]), port
    )


def _list_ports(spec: ApiItem) -> Iterator[int]:
    for container in spec.get("containers", ()):
        for port in container.get("ports") or ():
            if port.get("name") == PORT_NAME:
                yield int(port["containerPort"])


def read_snapshot(
    client: Client, agent: ServingAgent, asker: AgentAccess = AgentAccess()
) -> bytes:  # frozen
    """Return the bundle of an agent's node, packed; `SourceError` says what is in the way."""
    token = _request_token(client, agent, asker.account)
    try:
        return client.download(
            agent.path, headers={TOKEN_HEADER: token}, most=MOST_BYTES, seconds=asker.seconds
        )
    except Refused as refused:
        raise SourceError(_say_refused(agent, asker.account, refused)) from refused
    except Unreachable as error:
        raise SourceError(f"{agent.node}: the agent's snapshot broke off: {error}") from error


@contextmanager
def open_drops(
    client: Client,
    agent: ServingAgent,
    query: Sequence[tuple[str, str]],
    asker: AgentAccess = AgentAccess(),  # frozen
) -> Iterator[Stream]:
    """Open the stream of an agent's drops for a block; `SourceError` says what is in the way."""
    token = _request_token(client, agent, asker.account)
    path, headers = agent.path_of(DROPS_PATH), {TOKEN_HEADER: token}
    try:
        with client.stream(path, query=query, headers=headers) as stream:
            yield stream
    except Refused as refused:
        right = right_to_watch(agent.node)
        raise SourceError(_say_refused(agent, asker.account, refused, right)) from refused
    except Unreachable as error:
        raise SourceError(f"{agent.node}: the stream of drops broke off: {error}") from error


def _request_token(client: Client, agent: ServingAgent, account: ServiceAccountName) -> str:
    try:
        return request_token(client, account, audience_of(agent.node))
    except Refused as refused:
        raise SourceError(_say_no_token(agent, account, refused)) from refused


def _say_no_token(agent: ServingAgent, account: ServiceAccountName, refused: Refused) -> str:
    if refused.code == 404:
        return (
            f"{agent.node}: expected the service account {account}, saw none: deploy/snapshot "
            "makes it"
        )
    if refused.code != 403:
        return f"{agent.node}: no token for the agent: {refused}"
    rule = (
        f'{{apiGroups: [""], resources: ["serviceaccounts/token"], '
        f'resourceNames: ["{account.name}"], verbs: ["create"]}}'
    )
    return (
        f"{agent.node}: expected the right to create a token of the service account {account}, "
        f"saw 403 Forbidden; the rule that allows it, in a Role of {account.namespace}: {rule}"
    )


def _say_refused(
    agent: ServingAgent,
    account: ServiceAccountName,
    refused: Refused,
    wanted: ResourceRight | None = None,
) -> str:
    if "podpath's agent" in refused.message:
        right = wanted or right_to(agent.node)
        rule = (
            f'{{apiGroups: ["{right.group}"], resources: ["{right.resource}/{right.subresource}"], '
            f'verbs: ["{right.verb}"]}}'
        )
        hint = f"; the rule that allows it, for {account}: {rule}" if refused.code == 403 else ""
        return f"{agent.node}: {refused.message} ({refused.code} {refused.reason}){hint}"
    if refused.code == 403:
        rule = '{apiGroups: [""], resources: ["pods/proxy"], verbs: ["get"]}'
        return (
            f"{agent.node}: expected the right to get pods/proxy, saw 403 Forbidden; "
            f"the rule that allows it, in a Role of {agent.namespace}: {rule}"
        )
    return (
        f"{agent.node}: the API server does not reach port {agent.port} of "
        f"{agent.namespace}/{agent.pod}: {refused.message or refused}"
    )
