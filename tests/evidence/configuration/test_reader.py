"""Blocks of tickets that are configuration files."""

from __future__ import annotations

from podpath.evidence.configuration.reader import find_settings
from tests.evidence.consoles import block


def test_a_value_knows_its_line_and_its_blocks() -> None:
    """YAML, JSON and statements become one form."""
    yaml = find_settings(
        block(
            "network:\n  ethernets:\n    eth0:\n      addresses: [10.0.0.2/24]\n",
            "cat /etc/netplan/x.yaml",
        )
    )
    assert yaml is not None
    (setting,) = yaml.file.settings
    assert ("netplan", ("network", "ethernets", "eth0"), "addresses", 4) == (
        yaml.file.kind, setting.path, setting.name, setting.span.line,
    )  # fmt: skip
    json = find_settings(
        block('{\n  "bip": "172.17.0.1/16",\n  "mtu": 1400\n}', "cat /etc/docker/daemon.json")
    )
    assert json is not None
    assert [("bip", "172.17.0.1/16", 2), ("mtu", "1400", 3)] == [
        (one.name, one.value, one.span.line) for one in json.file.settings
    ]


def test_logs_lists_and_sentences_are_none() -> None:
    """What has no kind needs a file's name or the signs of a configuration."""
    log = "2024-01-01 10:00:00 a=b\n2024-01-01 10:00:01 c=d"
    assert not any(
        map(
            find_settings,
            (block(log), block("Version: 1\nStatus: open\nName: x"), block("one two\nthree four")),
        )
    )


def test_an_unknown_file_of_variables_is_one() -> None:
    """Half of its lines have signs, and there are three."""
    found = find_settings(block("A=1\nB=2\nC=3"))
    assert found is not None
    assert ("", "", 3) == (found.file.kind, found.file.path, len(found.file.settings))


def test_a_zone_is_read_as_one() -> None:
    """Its records are settings."""
    found = find_settings(block("$TTL 1D\n@ IN SOA a. b. 1 2 3 4 5\n@ IN NS a."))
    assert found is not None
    assert "zone" == found.file.kind


def test_an_attribute_of_a_clouds_tool_is_read_from_one_line() -> None:
    """Compact JSON is the answer of such a command; without one, a line may be a log's."""
    line = '{ "InstanceId": "i-77", "SourceDestCheck": { "Value": true } }'
    asked = find_settings(block(line, "aws ec2 describe-instance-attribute --instance-id i-77"))

    assert asked is not None
    assert ("true", 1) in [(one.value, one.span.line) for one in asked.file.settings]
    assert find_settings(block(line)) is None
    assert find_settings(block("no such instance", "aws ec2 describe-instances")) is None
