"""Corefiles."""

from __future__ import annotations

from podpath.evidence.formats import CERTAIN, NO
from podpath.evidence.kubernetes.corefile import read_corefile, recognise_corefile
from podpath.evidence.kubernetes.records import ApiObjectRecord
from tests.evidence.consoles import block

TEXT = """.:53 {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
    }
    forward . 8.8.8.8 # upstream
}
example.org:53 {
    forward . 10.0.0.1
}"""


def test_server_blocks_with_their_plugins() -> None:
    """Each block has its zones and the words of its plugins; options in braces are none."""
    assert CERTAIN == recognise_corefile(block(TEXT))
    (record,) = [
        one for one in read_corefile(block(TEXT)).records if isinstance(one, ApiObjectRecord)
    ]
    found = [
        (
            item.text_at("zones"),
            [[word.text for word in plugin.items] for plugin in item.items_at("plugins")],
        )
        for item in record.tree.items
    ]

    assert [".:53", "example.org:53"] == [zones for zones, _ in found]
    assert ["forward", ".", "8.8.8.8"] == found[0][1][-1]
    assert ["errors", "kubernetes", "forward"] == [words[0] for words in found[0][1]]


def test_a_server_of_another_kind_is_none() -> None:
    """A block of nginx has other words."""
    assert NO == recognise_corefile(block("server {\n  listen 80;\n  location / {\n  }\n}"))
