"""Small files of configuration."""

from __future__ import annotations

from podpath.evidence.formats import NO
from podpath.evidence.kubernetes.files import FORMATS
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.net.trees import Tree
from tests.evidence.consoles import block

RESOLV, SUBNET, NET_CONF = FORMATS


def only(text: str) -> tuple[str, Tree]:
    """Read the one object of a text by the format that recognises it."""
    (found,) = [row for row in FORMATS if row.recognise(block(text))]
    (record,) = [one for one in found.read(block(text)).records if isinstance(one, ApiObjectRecord)]
    return record.kind, record.tree


def test_resolv_conf() -> None:
    """Name servers in their order, the last search list, every option."""
    kind, tree = only(
        "# made by hand\nnameserver 10.96.0.10\nnameserver 1.1.1.1\nsearch a.b c\nsearch d\n"
        "options ndots:5 edns0"
    )
    words = {name: [item.text for item in field.items] for name, field in tree.fields.items()}

    assert "ResolvConf" == kind
    assert {
        "nameservers": ["10.96.0.10", "1.1.1.1"],
        "search": ["d"],
        "options": ["ndots:5", "edns0"],
    } == words


def test_subnet_env() -> None:
    """Flannel's variables by their names."""
    kind, tree = only("FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.1.1/24")
    assert ("SubnetEnv", "10.244.1.1/24") == (kind, tree.text_at("FLANNEL_SUBNET"))


def test_net_conf() -> None:
    """Flannel's network and backend."""
    kind, tree = only('{\n "Network": "10.244.0.0/16",\n "Backend": {"Type": "vxlan"}\n}')
    assert ("FlannelNetConf", "vxlan") == (kind, tree.text_at("Backend", "Type"))


def test_prose_about_a_file_is_none() -> None:
    """A sentence with the word nameserver is no resolv.conf."""
    text = "the nameserver was changed\nthen we waited\nand nothing else happened"
    assert [NO, NO, NO] == [row.recognise(block(text)) for row in FORMATS]
