"""The objects of a cluster's API as evidence: listed page by page, within a time and a size, and
written as documents that quote line by line.

What the server refuses is said with the verb, the resource and the RBAC rule that would allow it,
all that is lacking at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, NoReturn

from podpath.kube.client import Client, KubeError, Refused, Unreachable
from podpath.net.errors import PodpathError
from podpath.sources.kinds import KINDS, PODS, ApiItem, ApiKind

PAGE = 500
MOST_BYTES = 256 << 20
"""Bytes of answers that are read: 20,000 pods."""
SECONDS = 30.0
LISTED = "podpath/listed"
"""The annotation of a list that says when it was read."""
FORBIDDEN, UNAUTHORIZED, NOT_FOUND, GONE = 403, 401, 404, 410

Told = Callable[[str, float], None]
"""Is told what is being done, and the share that is done."""


class SourceError(PodpathError):
    """A cluster does not give what is needed. The message says what would."""


class LackingRights(SourceError):
    """The server refuses something that nothing can be answered without."""

    def __init__(self, origin: str, kinds: Sequence[ApiKind]) -> None:
        """Say which verbs on which resources, and the rules that allow them."""
        self.kinds = tuple(kinds)
        named = ", ".join(kind.resource for kind in kinds)
        rules = "\n".join(f"  - {spell_rule(kind)}" for kind in kinds)
        super().__init__(
            f"expected the right to list {named}, saw 403 Forbidden for {origin}; "
            f"an admin grants it by these rules of a ClusterRole (deploy/why has them):\n{rules}"
        )


class ApiDocument(NamedTuple):
    """One kind's objects as a text."""

    name: str
    """What answers call it where they quote it: `api/pods.json`."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiObjects:
    """What an API server holds of a cluster."""

    items: Mapping[str, Sequence[ApiItem]]
    """By resource: `pods`."""
    missing: tuple[str, ...] = ()
    """A sentence for each kind that could not be listed, and is not needed for every answer."""

    listed: Mapping[str, float] = field(default_factory=dict)
    """When they were read, by resource, in seconds since the epoch."""

    def documents(self) -> Iterator[ApiDocument]:
        """Yield the objects as evidence, as `kubectl get -o json` prints them."""
        for resource, items in self.items.items():
            listed: dict[str, Any] = {"apiVersion": "v1", "kind": "List"}
            if resource in self.listed:
                moment = datetime.fromtimestamp(self.listed[resource], UTC).isoformat()
                listed["metadata"] = {"annotations": {LISTED: moment}}
            listed["items"] = items
            yield ApiDocument(f"api/{resource}.json", json.dumps(listed, indent=1))


def spell_rule(kind: ApiKind) -> str:
    """Return the RBAC rule for a kind as one line of YAML."""
    parts = (f"{key}: [{', '.join(map(json.dumps, value))}]" for key, value in kind.rule.items())
    return f"{{{', '.join(parts)}}}"


def read_objects(
    client: Client,
    *,
    namespaces: Sequence[str] = (),
    seconds: float = SECONDS,
    told: Told = lambda doing, share: None,  # noqa: ARG005  # nobody listens
) -> ApiObjects:
    """List everything that is needed, of all namespaces or of those that are named."""
    budget = _Budget(time.monotonic() + seconds, seconds)
    listed = time.time()
    told("reading the API", 0.0)
    answers: dict[ApiKind, _KindAnswer] = {}
    try:
        with ThreadPoolExecutor(len(KINDS), "read-api") as pool:
            asked = {
                kind: pool.submit(_try_kind, client, kind, namespaces, budget) for kind in KINDS
            }
            for kind, answer in asked.items():
                answers[kind] = answer.result()
                told("reading the API", len(answers) / (len(KINDS) + 1))
    finally:
        told("reading the API", 1.0)
    _judge(client, answers)
    return ApiObjects(
        listed={kind.resource: listed for kind in KINDS},
        items={
            kind.resource: answer.items
            for kind, answer in answers.items()
            if answer.refused is None
        },
        missing=tuple(
            _say_missing(kind, answer.refused)
            for kind, answer in answers.items()
            if answer.refused is not None
        ),
    )


def read_pods(client: Client, namespace: str, *, seconds: float = SECONDS) -> ApiObjects:
    """List the pods of one namespace; `SourceError` says what would allow it."""
    return ApiObjects(items={PODS.resource: read_kind(client, PODS, namespace, seconds=seconds)})


def read_kind(
    client: Client, kind: ApiKind, *namespaces: str, seconds: float = SECONDS
) -> Sequence[ApiItem]:
    """List the objects of one kind; `SourceError` says what would allow it."""
    budget = _Budget(time.monotonic() + seconds, seconds)
    try:
        return _list_kind(client, kind, namespaces, budget)
    except Refused as refused:
        raise SourceError(_say_missing(kind, refused)) from refused


def read_again(
    client: Client,
    objects: ApiObjects,
    kinds: Sequence[ApiKind],
    *,
    namespaces: Sequence[str] = (),
    seconds: float = SECONDS,
) -> ApiObjects:
    """Return the objects with those of some kinds as they are now; what was read before stays where
    the server does not answer.
    """
    budget = _Budget(time.monotonic() + seconds, seconds)
    items, listed = dict(objects.items), dict(objects.listed)
    for kind in kinds:
        moment = time.time()
        try:
            found = _list_kind(client, kind, namespaces, budget)
        except (KubeError, SourceError):
            continue
        items[kind.resource], listed[kind.resource] = found, moment
    return replace(objects, items=items, listed=listed)


class _KindAnswer(NamedTuple):
    items: Sequence[ApiItem]
    refused: Refused | None = None


class _Budget:
    """How much time and memory is left for all lists together."""

    def __init__(self, until: float, seconds: float) -> None:
        self._until, self._seconds = until, seconds
        self._bytes = 0

    def spend(self, size: int, what: str) -> None:
        """Count an answer; `SourceError` where it is too much."""
        self._bytes += size
        more = "name the namespaces that matter with --namespace"
        if self._bytes > MOST_BYTES:
            raise SourceError(
                f"{what}: expected at most {MOST_BYTES >> 20} MB of objects, saw more; {more}"
            )
        if time.monotonic() > self._until:
            raise SourceError(f"{what}: not read within {self._seconds:.0f} s; {more}")


def _try_kind(
    client: Client, kind: ApiKind, namespaces: Sequence[str], budget: _Budget
) -> _KindAnswer:
    try:
        return _KindAnswer(_list_kind(client, kind, namespaces, budget))
    except Refused as refused:
        if refused.code in {FORBIDDEN, UNAUTHORIZED, NOT_FOUND}:
            return _KindAnswer((), refused)
        raise


def _list_kind(
    client: Client, kind: ApiKind, namespaces: Sequence[str], budget: _Budget
) -> list[ApiItem]:
    found: list[ApiItem] = []
    for namespace in namespaces if kind.namespaced and namespaces else (None,):
        paths = kind.paths(namespace)
        for path in paths:
            try:
                found += _list_whole(client, path, budget)
            except Refused as refused:
                if refused.code != NOT_FOUND or path == paths[-1]:
                    raise
                continue
            break
    return [_name_kind(kind.keep(item), kind) for item in found]


def _name_kind(item: ApiItem, kind: ApiKind) -> ApiItem:
    """Put an object's kind before everything else: servers leave it out within lists."""
    return {"kind": kind.kind} | item


def _list_whole(client: Client, path: str, budget: _Budget) -> list[ApiItem]:
    """Read all pages; where a page's version expired in between, once more from the beginning."""
    try:
        return list(_list_pages(client, path, budget))
    except Refused as refused:
        if refused.code != GONE:
            raise
        return list(_list_pages(client, path, budget))


def _list_pages(client: Client, path: str, budget: _Budget) -> Iterator[ApiItem]:
    query = {"limit": str(PAGE)}
    while True:
        answer = client.request("GET", path, query=query)
        budget.spend(len(answer), path)
        page = _decode_page(answer, path)
        yield from page.items
        if not page.rest:
            return
        query["continue"] = page.rest


class _Page(NamedTuple):
    items: list[ApiItem]
    rest: str
    """Where the next page begins; empty for the last one."""


def _decode_page(answer: bytes, path: str) -> _Page:
    try:
        content: Any = json.loads(answer)
        items = content.get("items") or []
        rest = content.get("metadata", {}).get("continue") or ""
    except (ValueError, AttributeError, RecursionError) as error:
        raise Unreachable(f"{path}: the answer is not what the API promises: {error}") from error
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Unreachable(f"{path}: the answer is not what the API promises: no list of objects")
    return _Page(items, str(rest))


def _judge(client: Client, answers: Mapping[ApiKind, _KindAnswer]) -> None:
    """Refuse to go on where something is refused that every answer needs."""
    refused = {kind: answer.refused for kind, answer in answers.items() if answer.refused}
    if any(each.code == UNAUTHORIZED for each in refused.values()):
        _refuse_credentials(client)
    lacking = [kind for kind in refused if kind.required]
    if lacking:
        forbidden = [kind for kind in refused if refused[kind].code == FORBIDDEN]
        raise LackingRights(client.access.origin, forbidden or lacking)


def _refuse_credentials(client: Client) -> NoReturn:
    raise SourceError(
        f"{client.access.server} does not accept the credentials of {client.access.origin} "
        "(401 Unauthorized): sign in again, or name another kubeconfig with --kubeconfig"
    )


def _say_missing(kind: ApiKind, refused: Refused) -> str:
    if refused.code == NOT_FOUND:
        return f"{kind.resource}: this API server has none"
    return f"{kind.resource}: 403 Forbidden; the rule that allows it: {spell_rule(kind)}"
