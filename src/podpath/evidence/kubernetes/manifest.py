"""Objects as YAML or JSON: `kubectl get -o yaml|json`, `calicoctl get -o yaml`, files for `kubectl
apply`, kubeadm's.

Lists are taken apart; what a ConfigMap holds as a file (a Corefile, kube-proxy's configuration,
flannel's network) becomes an object of its own, as does what an annotation holds of the last
`kubectl apply`, where the object's own fields are cut away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.kubernetes.corefile import grow_corefile
from podpath.evidence.kubernetes.picked import Pick, parse_whole
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.kubernetes.spoken import services_and_pods
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.trees import lines_of, read_embedded, read_tree
from podpath.net.provenance import Source
from podpath.net.trees import Tree

LISTED = "podpath/listed"
"""The annotation by which a list that podpath read says when that was."""
_KIND = re.compile(
    r"\s*(?:- )?\"?(?:kind\"?:\s*\"?[A-Z]\w+|apiVersion\"?:\s*\"?[\w./-]+)\"?,?\s*(?:#.*)?$"
)
_FIELD = re.compile(
    r"\s*(?:- )?\"?(?P<key>metadata|spec|status|data|selector|matchLabels|ports|targetPort|"
    r"containerPort|hostPort|nodePort|clusterIP|podSelector|namespaceSelector|policyTypes|ingress|"
    r"egress|hostNetwork|dnsPolicy|dnsConfig|containers|podCIDR|nodeSelector|"
    r"externalTrafficPolicy|internalTrafficPolicy|sessionAffinity|trafficPolicy|mtls|subsets|"
    r"addresses|endpoints|annotations|labels|readinessProbe|livenessProbe|networking|podSubnet|"
    r"serviceSubnet|clusterCIDR|strictARP|natOutgoing|ipipMode|vxlanMode|"
    r"cidr|blockSize|loadBalancer|externalIPs|ipFamilies|ipFamilyPolicy|externalName|"
    r"containerStatuses|podIP|nodeName)\"?:"
)
_KEYED = re.compile(r"\s*(?:- )?\"?[A-Za-z][\w./-]*\"?:(?:\s|$)")
_SHAPED = re.compile(r"\s*(?:- )*(?:\"?[\w./-]+\"?:(?:\s|$)|- \S|[{}\[\]],?$|#|\"|\.{3})")
_HOLDS = re.compile(r":\s+[|>][+-]?\d?\s*$")
_COREFILE = re.compile(r"\s+\"?Corefile\"?:\s*[|>]")
_CNI_KEYS = re.compile(r"cni[-_](?:network_config|conf(?:ig)?(?:\.json)?)|\S*\.conflist?")


def recognise_manifest(source: Source) -> int:
    """Recognize objects by their kind and version, and parts of one by fields that only they
    have.
    """
    lines = sample(source)
    kinds = sum(_KIND.match(line) is not None for line in lines)
    shaped = _count_shaped(lines)
    if kinds >= 2 and shaped >= 0.6 * len(lines):
        return CERTAIN
    if lines and lines[0].lstrip().startswith("{") and '"apiVersion"' in lines[0]:
        return CERTAIN
    if any(map(_COREFILE.match, lines)) and shaped >= 0.8 * len(lines):
        return LIKELY
    if parse_whole(source.command or "") is not None and shaped == len(lines) > 0:
        return CERTAIN if any(map(_KEYED.match, lines)) else NO
    keys = {found["key"] for found in map(_FIELD.match, lines) if found is not None}
    return LIKELY if (len(keys) >= 2 or (kinds and keys)) and shaped >= 0.8 * len(lines) else NO


def _count_shaped(lines: Sequence[str]) -> int:
    """Return how many lines are structure, or text that a field holds (`Corefile: |`)."""
    shaped, held = 0, -1
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if held >= 0 and indent > held:
            shaped += 1
            continue
        held = indent if _HOLDS.search(line) else -1
        shaped += _SHAPED.match(line) is not None
    return shaped


def read_manifest(source: Source) -> Reading:
    """Read every object; lines that are no part of the text's structure are gaps."""
    ledger = LineLedger(source)
    lines = (
        ledger.lines
        if not source.lines or not source.lines[0].lstrip().startswith("{")
        else source.lines
    )
    grown = read_tree(source, lines, source.first_line)
    for index in grown.unread:
        if not ledger.elide(index):
            ledger.unread(index, "a field of an object")
    asked = parse_whole(source.command or "")
    for tree in grown.trees:
        for record in _name_fragments(objects_of(tree), asked):
            first, last = record.span.line, record.span.last_line
            ledger.span(first - source.first_line, last - source.first_line)
            ledger.add(record)
            for spoken in services_and_pods(record):
                ledger.add(spoken)
    for index, line in enumerate(ledger.lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("an object of an API")


def _name_fragments(
    records: Iterator[ApiObjectRecord], asked: Pick | None
) -> Iterator[ApiObjectRecord]:
    """Yield the objects, those that a filter left without kind and name as parts of the one that
    the command asks for.
    """
    for record in records:
        whole = record.tree.at("kind") is not None or record.tree.at("metadata") is not None
        if asked is None or whole or record.kind not in {"", asked.kind}:
            yield record
        else:
            yield _place_fragment(record, asked)


def _place_fragment(record: ApiObjectRecord, asked: Pick) -> ApiObjectRecord:
    """Return fields without what stands above them, put where their object has them."""
    kind, tree = asked.kind, record.tree
    held = [name for name in ("spec", "status", "data") if tree.at(name) is not None]
    if kind == "ConfigMap" and asked.name == "kube-proxy":
        kind = "KubeProxyConfiguration"
        tree = _below(tree, "ipvs") if tree.at("strictARP") is not None else tree
    elif not held and kind != "ConfigMap":
        tree = _place_fields(tree)
    return ApiObjectRecord(
        span=record.span, kind=kind, namespace=asked.namespace, name=asked.name, tree=tree
    )


def _place_fields(tree: Tree) -> Tree:
    """Return fields below `spec`, and qualified names (`projectcalico.org/IPv4Address`), which
    only labels and annotations have, below both of these.
    """
    named = {name: field for name, field in tree.fields.items() if "/" in name}
    rest = {name: field for name, field in tree.fields.items() if name not in named}
    placed: dict[str, Tree] = {"spec": Tree(value=rest, span=tree.span)} if rest else {}
    if named:
        pairs = Tree(value=named, span=tree.span)
        both = {"labels": pairs, "annotations": pairs}
        placed["metadata"] = Tree(value=both, span=tree.span)
    return Tree(value=placed or {"spec": tree}, span=tree.span)


def _below(tree: Tree, name: str) -> Tree:
    """Return fields with all of them under a name, too."""
    return Tree(value={**tree.fields, name: tree}, span=tree.span)


def objects_of(tree: Tree, namespace: str = "") -> Iterator[ApiObjectRecord]:
    """Yield the objects of a tree: itself, or those that it lists, and those that they hold."""
    if tree.items:
        for item in tree.items:
            yield from objects_of(item, namespace)
        return
    kind = tree.text_at("kind") or _guess_kind(tree)
    if kind.endswith("List") and tree.at("items") is not None:
        yield from _listing_of(tree)
        for item in tree.items_at("items"):
            for record in objects_of(item, namespace):
                yield record if record.kind else _rename(record, kind.removesuffix("List"))
        return
    name = tree.text_at("metadata", "name") or tree.text_at("name")
    space = tree.text_at("metadata", "namespace") or namespace
    yield ApiObjectRecord(span=tree.span, kind=kind, namespace=space, name=name, tree=tree)
    if kind == "ConfigMap":
        yield from _files_of(tree, space)


def _listing_of(tree: Tree) -> Iterator[ApiObjectRecord]:
    """Yield when a list was read, where it says so."""
    notes = tree.at("metadata", "annotations")
    if notes is not None and notes.at(LISTED) is not None:
        yield ApiObjectRecord(span=notes.line, kind="ApiListing", namespace="", name="", tree=notes)


def _rename(record: ApiObjectRecord, kind: str) -> ApiObjectRecord:
    return ApiObjectRecord(
        span=record.span, kind=kind, namespace=record.namespace, name=record.name, tree=record.tree
    )


def _guess_kind(tree: Tree) -> str:
    """Say what a fragment without its kind is, by fields that only that kind has; empty where none
    tells.
    """
    spec = tree.at("spec") or tree
    if spec.at("podSelector") is not None or _has_peers(spec):
        return "NetworkPolicy"
    if spec.at("clusterIP") is not None or (
        spec.at("selector") is not None and spec.at("ports") is not None
    ):
        return "Service"
    if spec.at("containers") is not None and (
        spec.at("nodeName") is not None or spec.at("dnsPolicy") is not None
    ):
        return "Pod"
    if tree.at("data", "Corefile") is not None:
        return "ConfigMap"
    if tree.at("subsets") is not None:
        return "Endpoints"
    if spec.at("ipvs") is not None and spec.at("mode") is not None:
        return "KubeProxyConfiguration"
    if spec.at("natOutgoing") is not None and spec.at("cidr") is not None:
        return "IPPool"
    if tree.at("Network") is not None and tree.at("Backend") is not None:
        return "FlannelNetConf"
    return ""


def _has_peers(spec: Tree) -> bool:
    """Tell whether rules name whom they let in or out, as only those of a NetworkPolicy do."""
    rules = [*spec.items_at("egress"), *spec.items_at("ingress")]
    peers = [peer for rule in rules for way in ("to", "from") for peer in rule.items_at(way)]
    return any(
        peer.at(key) is not None
        for peer in peers
        for key in ("podSelector", "namespaceSelector", "ipBlock")
    )


def _files_of(tree: Tree, namespace: str) -> Iterator[ApiObjectRecord]:
    """Yield the configurations that a ConfigMap holds as texts."""
    data = tree.at("data")
    name = tree.text_at("metadata", "name")
    for key, value in () if data is None else data.fields.items():
        if key == "Corefile" and value.text:
            grown = grow_corefile(lines_of(value), value.span)
            yield ApiObjectRecord(
                span=value.span, kind="Corefile", namespace=namespace, name=name, tree=grown
            )
        elif "\n" in value.text or value.text.lstrip().startswith("{"):
            for part in read_embedded(value).trees:
                kind = part.text_at("kind") or _kind_of_file(key, part)
                if kind:
                    yield ApiObjectRecord(
                        span=part.span, kind=kind, namespace=namespace, name=name, tree=part
                    )


def _kind_of_file(key: str, tree: Tree) -> str:
    if key == "net-conf.json":
        return "FlannelNetConf"
    if _CNI_KEYS.fullmatch(key):
        return "CniConfiguration"
    return "MetalLBConfig" if tree.at("address-pools") is not None else _guess_kind(tree)


FORMAT = Format("kubectl get -o yaml", recognise_manifest, read_manifest)
