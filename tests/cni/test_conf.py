"""One CNI configuration file: where its parts stand, and how its versions compare."""

from __future__ import annotations

from podpath.cni.conf import ConfFile, Network, parse_network, parse_version


def test_lines_are_those_of_the_keys() -> None:
    """A trouble and a plugin stand at the line of what they are about."""
    text = '{\n "name": "k8s",\n "plugins": [\n  {"type": "bridge"},\n  {"type": "portmap"}\n ]\n}'
    found = parse_network(ConfFile(name="10.conflist", content=text.encode()))

    assert isinstance(found, Network)
    assert [4, 5] == [plugin.line for plugin in found.plugins]


def test_versions_are_numbers() -> None:
    """Missing parts are nought, an empty version is 0.1.0, words are none."""
    assert [(1, 0, 0), (0, 1, 0), None] == [
        parse_version("1"),
        parse_version(""),
        parse_version("v1"),
    ]
