"""CNI configurations."""

from __future__ import annotations

import json

from podpath.evidence.kubernetes.cni import read_cni, recognise_cni
from podpath.evidence.kubernetes.records import CniRecord
from podpath.evidence.recognition import recognise
from tests.evidence.consoles import block

LIST = (
    '{"cniVersion":"0.3.1","name":"cbr0","plugins":[\n '
    '{"type":"flannel","delegate":{"hairpinMode":true}},\n {"type":"portmap"}]}'
)


def test_a_list() -> None:
    """A list keeps its plugins in chain order, with all that they are told."""
    assert recognise_cni(block(LIST))
    (record,) = [one for one in read_cni(block(LIST)).records if isinstance(one, CniRecord)]
    assert ("cbr0", "0.3.1", ["flannel", "portmap"], False) == (
        record.name, record.version, [plugin["type"] for plugin in record.plugins], record.single,
    )  # fmt: skip


def test_the_routes_of_its_addresses_are_no_listing_of_routes() -> None:
    """host-local's `routes` have `dst`, as `ip -j route` prints it; the file is a configuration all
    the same.
    """
    bridge = {
        "type": "bridge",
        "ipam": {"type": "host-local", "routes": [{"dst": "0.0.0.0/0"}]},
    }
    text = json.dumps({"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge]}, indent=1)
    found = recognise(block(text))
    assert found is not None
    assert found.name == "CNI configuration"


def test_a_single_plugin() -> None:
    """A `.conf` holds one plugin at its top."""
    (record,) = [
        one for one in read_cni(block('{\n "cniVersion":"0.3.1",\n "name":"cilium",\n'
                                      ' "type":"cilium-cni"\n}')).records
        if isinstance(one, CniRecord)
    ]  # fmt: skip
    assert (True, "cilium-cni") == (record.single, record.plugins[0]["type"])


def test_cut_json_is_a_gap() -> None:
    """JSON with an ellipsis is recognised for what it is, and not read."""
    source = block('{"cniVersion":"0.3.1","plugins":[\n {"type":"flannel"},\n ...')
    assert recognise_cni(source)
    assert not read_cni(source).records
    assert 1 == len(read_cni(source).gaps)
