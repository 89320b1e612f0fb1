"""Objects as YAML and JSON."""

from __future__ import annotations

from podpath.evidence.formats import CERTAIN, LIKELY, NO
from podpath.evidence.kubernetes.manifest import read_manifest, recognise_manifest
from podpath.evidence.kubernetes.records import ApiObjectRecord, PodRecord, ServiceRecord
from tests.evidence.consoles import block, uncovered

LIST = """apiVersion: v1
items:
- apiVersion: v1
  kind: Service
  metadata:
    name: web
    namespace: shop
  spec:
    clusterIP: 10.96.0.20
    ports:
    - port: 80
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-0
  spec:
    nodeName: node1
  status:
    podIP: 10.244.1.5
kind: List"""
CONFIG = """apiVersion: v1
kind: ConfigMap
metadata:
  name: kube-flannel-cfg
data:
  cni-conf.json: |
    {"name": "cbr0", "plugins": [{"type": "flannel"}]}
  net-conf.json: |
    {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}
  Corefile: |
    .:53 {
        forward . 8.8.8.8
    }"""


def objects(text: str) -> list[ApiObjectRecord]:
    """Read the objects of a text."""
    return [one for one in read_manifest(block(text)).records if isinstance(one, ApiObjectRecord)]


def test_a_list_is_taken_apart() -> None:
    """Each object stands by itself; services and pods are said as records of walks, too."""
    assert CERTAIN == recognise_manifest(block(LIST))
    assert [("Service", "shop", "web"), ("Pod", "", "web-0")] == [
        (one.kind, one.namespace, one.name) for one in objects(LIST)
    ]
    records = read_manifest(block(LIST)).records
    (service,) = [one for one in records if isinstance(one, ServiceRecord)]
    (pod,) = [one for one in records if isinstance(one, PodRecord)]
    assert (["10.96.0.20"], "10.244.1.5", "node1") == (
        [str(one) for one in service.addresses],
        str(pod.address),
        pod.node,
    )


def test_files_in_a_config_map_are_objects() -> None:
    """What a ConfigMap holds is read as what it is."""
    kinds = {one.kind for one in objects(CONFIG)}
    assert {"ConfigMap", "CniConfiguration", "FlannelNetConf", "Corefile"} == kinds


def test_a_fragment_says_what_it_is() -> None:
    """A part of an object is known by fields that only its kind has."""
    text = "spec:\n  podSelector: {}\n  policyTypes:\n  - Ingress"
    assert LIKELY == recognise_manifest(block(text))
    assert ["NetworkPolicy"] == [one.kind for one in objects(text)]


def test_json_of_an_object() -> None:
    """JSON gives the same as YAML."""
    text = '{\n  "apiVersion": "v1",\n  "kind": "Node",\n  "metadata": {"name": "node1"}\n}'
    assert CERTAIN == recognise_manifest(block(text))
    assert [("Node", "node1")] == [(one.kind, one.name) for one in objects(text)]


def test_another_yaml_is_none() -> None:
    """A playbook is no object of Kubernetes."""
    assert NO == recognise_manifest(block("- hosts: all\n  tasks:\n  - name: x\n    shell: y"))


def test_a_line_that_is_no_field_is_a_gap() -> None:
    """Prose within an object does not lose the rest."""
    reading = read_manifest(
        block("apiVersion: v1\nkind: Node\n!! and so on\nmetadata:\n  name: node1")
    )
    assert 1 == len(reading.gaps)
    assert ["node1"] == [one.name for one in reading.records if isinstance(one, ApiObjectRecord)]


def test_what_stands_between_the_items_of_a_list_is_not_lost() -> None:
    """No object tells of it, and so a heading does."""
    source = block("[web]\n\x1b[31mred\x1b[0m\n]", "kubectl get pods -o yaml")

    assert [] == uncovered(source, read_manifest(source))
