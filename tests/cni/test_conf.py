"""One CNI configuration file: where its parts stand, and how its versions compare."""

from __future__ import annotations

import pytest

from podpath.cni.conf import ConfFile, ConfProblem, Network, parse_network, parse_version


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


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ('"mtu": 1e999', "the number 1e999 is larger than a float64"),
        (f'"mtu": {"9" * 400}', f"the number {'9' * 40} is larger"),
        (f'"mtu": {"9" * 5000}', f"the number {'9' * 40} is larger"),
        ('"x": {"y": [-1.7976931348623159e308]}', "the number -1.7976931348623159e308 is larger"),
        (f'"mtu": {"9" * 300}', ""),
        ('"mtu": 1.7976931348623157e308', ""),
        ('"mtu": 1e-999', ""),
        ('"prevResult": 3', "the prevresult of plugin 1 has not the shape"),
        ('"prevResult": null', ""),
    ],
)
@pytest.mark.parametrize("form", ["list", "single"])
def test_what_encoding_json_refuses_loads_nowhere(form: str, more: str, fault: str) -> None:
    """A number that no float64 can be ends the load of the whole file, wherever it stands, and so
    does a plugin's typed key of another shape (libcni 1.3.0, Go 1.27, gave these verdicts).
    """
    plugin = f'{{"cniVersion": "1.0.0", "name": "n", "type": "bridge", {more}}}'
    text = plugin if form == "single" else f'{{"name": "n", "plugins": [{plugin}]}}'
    name = "10.conf" if form == "single" else "10.conflist"
    found = parse_network(ConfFile(name=name, content=text.encode()))

    if fault:
        assert isinstance(found, ConfProblem)
        assert fault.removeprefix("the ") in found.why
    else:
        assert isinstance(found, Network), found
