"""Who somebody is and what they may do, as the API server decides it: a token made for one
listener alone (TokenRequest), whose it is (TokenReview), and what that user may
(SubjectAccessReview).

A token that is bound to an audience opens nothing but that: the API server itself refuses it, and
so does every other listener.
"""

from __future__ import annotations

import msgspec

from podpath.kube.client import Client
from podpath.kube.objects import Struct

SHORTEST_SECONDS = 600
"""What the API server accepts as the life of a token (TokenRequest, `expirationSeconds`)."""


class ServiceAccountName(msgspec.Struct, frozen=True):
    """A service account."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """Spell it as `--account` takes it."""
        return f"{self.namespace}/{self.name}"


class ResourceRight(msgspec.Struct, frozen=True, kw_only=True):
    """One right on a resource of the whole cluster, as RBAC grants it."""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    name: str = ""


class Identity(Struct, frozen=True, gc=False):
    """Who the API server says that somebody is."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class _Token(Struct, frozen=True, gc=False):
    token: str = ""


class _TokenAnswer(Struct, frozen=True, gc=False):
    status: _Token = _Token()


class _Review(Struct, frozen=True, gc=False):
    authenticated: bool = False
    user: Identity = Identity()
    audiences: tuple[str, ...] = ()


class _ReviewAnswer(Struct, frozen=True, gc=False):
    status: _Review = _Review()


class _Decision(Struct, frozen=True, gc=False):
    allowed: bool = False
    denied: bool = False


class _DecisionAnswer(Struct, frozen=True, gc=False):
    status: _Decision = _Decision()


def request_token(client: Client, account: ServiceAccountName, audience: str) -> str:
    """Return a new token of a service account, good for one audience and ten minutes."""
    path = f"/api/v1/namespaces/{account.namespace}/serviceaccounts/{account.name}/token"
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": [audience], "expirationSeconds": SHORTEST_SECONDS},
    }
    return client.create(_TokenAnswer, path, body).status.token


def review_token(client: Client, token: str, audience: str) -> Identity | None:
    """Return whose token it is; None where it is nobody's, or not made for this audience, which
    empty is the server itself.

    A server that knows no audiences leaves them out of its answer: then it has not checked them.
    """
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": token} | ({"audiences": [audience]} if audience else {}),
    }
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    review = client.create(_ReviewAnswer, path, body).status
    meant = not audience or audience in review.audiences
    if review.authenticated and meant and review.user.username:
        return review.user
    return None


def is_allowed(client: Client, identity: Identity, right: ResourceRight) -> bool:
    """Tell whether somebody has a right."""
    attributes = msgspec.to_builtins(right)
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": identity.username,
            "uid": identity.uid,
            "groups": identity.groups,
            "extra": identity.extra,
            "resourceAttributes": {key: value for key, value in attributes.items() if value},
        },
    }
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    decision = client.create(_DecisionAnswer, path, body).status
    return decision.allowed and not decision.denied
