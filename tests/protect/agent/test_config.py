"""The agent's file: a part runs if its section is there, and what cannot be meant is refused with
its line.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.net.tables import TableError
from podpath_protect.agent.config import (
    PARTS,
    AgentConfig,
    Listen,
    listen_address,
    load_config,
    node_name,
    parse_listen,
)

WHOLE = """
node = "worker-1"
[health]
listen = "[::1]:9809"
[log]
level = "debug"
[kubernetes]
grace = "3s"
[sysctl]
profiles = ["cilium"]
poll = "1m"
[[sysctl.key]]
key = "net.ipv4.conf.lxc*.rp_filter"
value = 0
[order]
mode = "fix"
leave_out = ["cilium-input"]
[[order.rule]]
name = "mine"
chain = "FORWARD"
first = "A"
then = ["B"]
[chain]
entry = "/etc/podpath/entry.json"
[repair]
actions = ["label"]
[reflect]
allow = ["10.244.0.0/16"]
[snapshot]
[drops]
watchers = 2
[metrics]
"""


def load(tmp_path: Path, text: str) -> AgentConfig:
    """Read a configuration."""
    path = tmp_path / "agent.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)[0]


def refuse(tmp_path: Path, text: str) -> list[str]:
    """Return the lines of the refusal, without the file's name."""
    with pytest.raises(TableError) as caught:
        load(tmp_path, text)
    return [line.removeprefix(f"{tmp_path}/agent.toml:") for line in str(caught.value).split("\n")]


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    """Every section becomes the options of its part."""
    config = load(tmp_path, WHOLE)

    assert config.parts() == PARTS
    assert config.health.listen == Listen("::1", 9809)
    assert config.sysctl is not None
    assert (config.sysctl.poll, str(config.sysctl.key[0].key)) == (
        60.0,
        "net.ipv4.conf.lxc*.rp_filter",
    )
    assert config.kubernetes is not None
    assert config.kubernetes.grace == 3.0


def test_the_manuals_example_is_a_configuration(tmp_path: Path, repository: Path) -> None:
    """What docs/agent.md shows is read, every key of it."""
    page = (repository / "docs/agent.md").read_text(encoding="utf-8")
    config = load(tmp_path, page.split("```toml\n")[1].split("```")[0])

    assert config.parts() == PARTS


def test_an_empty_section_is_enough(tmp_path: Path) -> None:
    """Defaults are meant to be good; what is not named does not run."""
    assert load(tmp_path, "[sysctl]").parts() == ("sysctl",)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [(
            "1: expected at least one of the sections [sysctl], [order], [chain], [repair], "
            "[reflect], [snapshot], [drops]"
        )]),
        ("[drops]\nwatchers = 1\n", [(
            "1: expected a section [snapshot] beside [drops] with watchers, whom it serves"
        )]),
        ("[sysctl]\n[repair]\n", [(
            "1: expected a section [kubernetes] beside [repair], which speaks to the "
            "API server"
        )]),
        ("[log]\nlevl = 'info'", [(
            "2: expected one of level, format, saw the unknown key `levl`; "
            "`level` is near"
        )]),
        ("[order]\n\n\nmode = 'mend'", ["4: expected one of report, fix, saw a text: 'mend'"]),
        ("[sysctl]\n[[sysctl.key]]\nkey = 'net/../x'\nvalue = 1", [(
            "3: expected a segment of a sysctl key, saw "
            "'..'"
        )]),
        ("[order]\n[health]\nlisten = '0.0.0.0:80'",
         [(
             "3: expected ADDRESS:PORT with one address of this host, `pod:PORT`, or `off`, saw a "
             "text: '0.0.0.0:80'"
         )]),
        ("[sysctl]\nmodules = ['-r']", ["1: expected the name of a kernel module, saw '-r'"]),
        ("[reflect]\nlisten = 'pod'",
         [(
             "2: expected ADDRESS:PORT with one address of this host or `pod:PORT`, or a list of "
             "those, saw 'pod'"
         )]),
        ("[order]\npoll = '10ms'", ["1: expected a poll of 1s or more"]),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, lines: list[str]) -> None:
    """The line, what was expected, what was seen."""
    assert refuse(tmp_path, text) == lines


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """Nobody has to correct a file fault by fault."""
    assert [
        line.partition(":")[0]
        for line in refuse(tmp_path, "nod = 1\n[sysctl]\nmode = 3\n[order]\nx = 1\n")
    ] == [
        "1",
        "3",
        "5",
    ]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"#" * ((1 << 20) + 2)])
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    """Bytes that are no UTF-8, and a file that is far too long."""
    path = tmp_path / "agent.toml"
    path.write_bytes(data)

    with pytest.raises(TableError, match=r"agent\.toml: expected"):
        load_config(path)
    with pytest.raises(TableError, match="No such file"):
        load_config(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "listen"),
    [
        ("127.0.0.1:1", Listen("127.0.0.1", 1)),
        ("pod:9809", Listen("pod", 9809)),
        ("off", Listen("", 0)),
    ],
)
def test_where_to_listen(text: str, listen: Listen) -> None:
    """One address, the pod's own, or nowhere."""
    assert parse_listen(text) == listen


@pytest.mark.parametrize(
    "text",
    ["", "9809", ":9809", "[::]:9809", "localhost:9809", "127.0.0.1:99999", "127.0.0.1:x", 9809],
)
def test_a_wildcard_is_no_place_to_listen(text: str | int) -> None:
    """The endpoints are not for the world."""
    with pytest.raises(ValueError, match="ADDRESS:PORT"):
        parse_listen(text)


def test_the_pods_address_and_the_nodes_name_come_from_the_environment() -> None:
    """As the downward API gives them; without them it is said what is missing."""
    assert listen_address(Listen("pod", 1), {"POD_IP": "fd00::7"}) == ("fd00::7", 1)
    assert listen_address(Listen("", 0), {}) is None
    assert node_name(load_minimal(), {"NODE_NAME": "worker-2"}) == "worker-2"
    with pytest.raises(TableError, match="POD_IP"):
        listen_address(Listen("pod", 1), {})


def load_minimal() -> AgentConfig:
    """Return the least that is a configuration."""
    from podpath_protect.order.options import OrderOptions  # noqa: PLC0415  # only here

    return AgentConfig(order=OrderOptions())
