"""A described NetworkPolicy has the fields of its API."""

from __future__ import annotations

from podpath.evidence import recognition
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.net.trees import Tree
from tests.evidence.consoles import block

POLICY = """Name:         shop-db
Namespace:    shop
Created on:   2024-06-04 07:12:55 +0000 UTC
Labels:       <none>
Annotations:  <none>
Spec:
  PodSelector:     app=db,tier in (back,store),!old
  Allowing ingress traffic:
    To Port: 5432/TCP
    To Port: metrics/TCP
    From:
      NamespaceSelector: kubernetes.io/metadata.name=web
      PodSelector: <none>
    From:
      IPBlock:
        CIDR: 10.0.0.0/8
        Except: 10.1.0.0/16, 10.2.0.0/16
    ----------
    To Port: <any> (traffic allowed to all ports)
    From: <any> (traffic not restricted by source)
  Allowing egress traffic:
    <none> (Selected pods are isolated for egress connectivity)
  Policy Types: Ingress, Egress"""
ONE_WAY = """Name:         front
Namespace:    shop
Labels:       <none>
Annotations:  <none>
Spec:
  PodSelector:     <none> (Allowing the specific traffic to all pods in this namespace)
  Not affecting ingress traffic
  Allowing egress traffic:
    To Port: 53/UDP
    To: <any> (traffic not restricted by destination)
  Policy Types: Egress"""


def plain(tree: Tree | None) -> object:
    """Return a tree without its places."""
    if tree is None or isinstance(tree.value, str):
        return None if tree is None else tree.value
    if isinstance(tree.value, tuple):
        return [plain(item) for item in tree.value]
    return {name: plain(field) for name, field in tree.value.items()}


def spec_of(text: str) -> object:
    """Return the specification of the one policy that a text describes."""
    reading = recognition.read(block(text))
    assert reading is not None
    assert not reading.gaps
    (record,) = [one for one in reading.records if isinstance(one, ApiObjectRecord)]
    assert record.kind == "NetworkPolicy"
    return plain(record.tree.at("spec"))


def test_rules_peers_and_selectors_are_read() -> None:
    """Each direction has its rules, each rule its ports and peers."""
    ports = [
        {"protocol": "TCP", "port": "5432", "endPort": "<unknown>"},
        {"protocol": "TCP", "port": "metrics"},
    ]
    web = {"matchLabels": {"kubernetes.io/metadata.name": "web"}}
    around = {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "10.2.0.0/16"]}
    tier = {"key": "tier", "operator": "In", "values": ["back", "store"]}
    assert spec_of(POLICY) == {
        "podSelector": {
            "matchLabels": {"app": "db"},
            "matchExpressions": [tier, {"key": "old", "operator": "DoesNotExist"}],
        },
        "ingress": [
            {
                "ports": ports,
                "from": [{"namespaceSelector": web, "podSelector": {}}, {"ipBlock": around}],
            },
            {},
        ],
        "egress": [],
        "policyTypes": ["Ingress", "Egress"],
    }


def test_a_direction_that_is_not_affected_has_no_field() -> None:
    """Nor is it among the types; an empty selector takes all pods."""
    assert spec_of(ONE_WAY) == {
        "podSelector": {},
        "egress": [{"ports": [{"protocol": "UDP", "port": "53", "endPort": "<unknown>"}]}],
        "policyTypes": ["Egress"],
    }


def test_a_description_that_is_cut_has_no_specification() -> None:
    """It would admit less than the policy does."""
    cut = POLICY[: POLICY.index("    ----------")]
    reading = recognition.read(block(cut))
    assert reading is not None
    found = [one for one in reading.records if isinstance(one, ApiObjectRecord)]
    assert all(one.tree.at("spec") is None for one in found)


def test_the_types_are_those_of_their_own_line() -> None:
    """An older kubectl says of a direction that is not affected that pods are isolated."""
    old = ONE_WAY.replace(
        "  Not affecting ingress traffic",
        "  Allowing ingress traffic:\n"
        "    <none> (Selected pods are isolated for ingress connectivity)",
    )
    assert spec_of(old) == spec_of(ONE_WAY)


def test_a_line_that_is_not_read_leaves_the_specification_out() -> None:
    """A rule without its condition would admit more than it does."""
    for shown, unread in (
        ("    From:\n      NamespaceSelector: ", "    From NamespaceSelector: "),
        ("tier in (back,store)", "tier in (back,store"),
        ("To Port: 5432/TCP", "To Ports: 5432/TCP"),
    ):
        text = POLICY.replace(shown, unread)
        assert text != POLICY
        reading = recognition.read(block(text))
        assert reading is not None
        found = [one for one in reading.records if isinstance(one, ApiObjectRecord)]
        assert all(one.tree.at("spec") is None for one in found)


def test_a_port_that_is_not_set_stands_for_all_of_its_protocol() -> None:
    """kubectl spells it `<nil>`."""
    every = spec_of(ONE_WAY.replace("53/UDP", "<nil>/UDP"))
    assert every == {
        "podSelector": {},
        "egress": [{"ports": [{"protocol": "UDP"}]}],
        "policyTypes": ["Egress"],
    }


def test_a_range_of_ports_is_read() -> None:
    """Since v1.30 kubectl shows its end; without it, a port may be the first of a range."""
    ranged = spec_of(ONE_WAY.replace("To Port: 53/UDP", "To Port Range: 53-60/UDP"))
    port = {"protocol": "UDP", "port": "53", "endPort": "60"}
    assert ranged == {
        "podSelector": {},
        "egress": [{"ports": [port]}],
        "policyTypes": ["Egress"],
    }
