"""Statements of any language of configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.configuration.statements import read_statements, unquote


def told(text: str) -> list[tuple[tuple[str, ...], str, str]]:
    """Return the path, name and value of each statement."""
    return [
        (one.path, one.name, one.value) for one in read_statements(text.strip("\n").split("\n"))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('export A="b c"\nD = e # why', [((), "A", "b c"), ((), "D", "e")], id="assignments"),  # noqa: E501
        pytest.param("[Match]\nName=eth0\n[Network]\nDHCP=yes",
                     [(("Match",), "Name", "eth0"), (("Network",), "DHCP", "yes")], id="sections"),
        pytest.param('zone "a" {\n  type master; file "x";\n};\n// end',
                     [(('zone "a"',), "type", "master"), (('zone "a"',), "file", "x")], id="semicolons"),  # noqa: E501
        pytest.param("listen-on { 127.0.0.1; };", [(("listen-on",), "127.0.0.1", "")], id="a block in a line"),  # noqa: E501
        pytest.param((
            "vrrp_instance V {\n  state MASTER\n  virtual_ipaddress {\n    10.0.0.9\n"
            "  }\n}"
        ),
                     [(("vrrp_instance V",), "state", "MASTER"), (("vrrp_instance V", "virtual_ipaddress"), "10.0.0.9", "")],  # noqa: E501
                     id="braces, ended by lines"),
        pytest.param("iface br0 inet static\naddress 10.0.0.2\n\nauto eth0",
                     [((), "iface", "br0 inet static"), (("iface br0 inet static",), "address", "10.0.0.2"),  # noqa: E501
                      ((), "auto", "eth0")],
                     id="stanzas"),
        pytest.param("frontend f\n    bind *:80\nbackend b\n    server s 10.0.0.1:80",
                     [((), "frontend", "f"), (("frontend f",), "bind", "*:80"), ((), "backend", "b"),  # noqa: E501
                      (("backend b",), "server", "s 10.0.0.1:80")], id="indentation"),
        pytest.param((
            "server:\n  interface: "
            "127.0.0.1"
        ), [((), "server", ""), (("server",), "interface", "127.0.0.1")],
                     id="colons"),
        pytest.param((
            "ExecStart=/bin/k3s \\\n"
            "  agent"
        ), [((), "ExecStart", "/bin/k3s agent")], id="a line that goes on"),
        pytest.param("a { /* b 1;\n c 2; */ d 3; }", [(("a",), "d", "3")], id="comments over lines"),  # noqa: E501
    ],
)  # fmt: skip
def test_statements_have_their_blocks(
    text: str, expected: list[tuple[tuple[str, ...], str, str]]
) -> None:
    """Whatever the language, a statement has a name, a value and what it stands in."""
    assert expected == told(text)


def test_a_value_loses_its_own_marks_alone() -> None:
    """Marks round a part of it stay."""
    assert ["a b", '"a" "b"'] == [unquote("'a b'"), unquote('"a" "b"')]


@given(st.lists(st.text(alphabet="ab[]{};=:\"# \\'/*-", max_size=30), max_size=12))
def test_no_text_makes_it_fail(lines: list[str]) -> None:
    """Each statement stands at lines of the text."""
    assert all(0 <= one.first <= one.last < len(lines) for one in read_statements(lines))
