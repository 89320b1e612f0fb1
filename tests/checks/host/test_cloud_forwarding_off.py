"""Instances that may not forward."""

from __future__ import annotations

import pytest

from podpath.checks.host.cloud_forwarding_off import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
$ aws ec2 describe-instances
{{
  "Instances": [
    {{
      "InstanceId": "i-1",
      {attribute}
    }}
  ]
}}
```
"""


@pytest.mark.parametrize(
    "attribute", ['"SourceDestCheck": true', '"canIpForward": false', '"enableIPForwarding": false']
)
def test_an_attribute_that_closes_is_quoted(attribute: str) -> None:
    """It is the default, so it is possible only."""
    (found,) = check(case_of_document(TICKET.format(attribute=attribute)))

    assert (0.8, attribute) == (found.certainty, found.evidence[0].text.strip())


@pytest.mark.parametrize(
    "attribute",
    [
        '"SourceDestCheck": false',
        '"canIpForward": true',
        '"port_security_enabled": true, "ip_address": "10.0.0.9"',
    ],
)
def test_an_attribute_that_opens_is_right(attribute: str) -> None:
    """Forwarding is allowed, or an address."""
    assert not list(check(case_of_document(TICKET.format(attribute=attribute))))


def test_a_port_without_other_addresses() -> None:
    """OpenStack drops what is not of the port."""
    assert list(
        check(
            case_of_document(
                TICKET.format(
                    attribute='"port_security_enabled": true,\n "allowed_address_pairs": ""'
                )
            )
        )
    )


def test_a_table_of_openstack() -> None:
    """Its client prints attributes in two columns."""
    text = """
```
$ openstack port show p1
+-----------------------+-------+
| Field                 | Value |
+-----------------------+-------+
| allowed_address_pairs |       |
| device_owner          | compute:nova |
| port_security_enabled | True  |
+-----------------------+-------+
```
"""
    (found,) = check(case_of_document(text))

    assert "port_security_enabled | True" in found.evidence[0].text


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [("SourceDestCheck", "true", [0.8]), ("SourceDestCheck", "false", []), ("Other", "true", [])],
)
def test_a_value_in_a_block_of_its_attribute(
    attribute: str, value: str, expected: list[float]
) -> None:
    """As one attribute alone is described."""
    block = f'"{attribute}": {{\n        "Value": {value}\n      }}'
    found = check(case_of_document(TICKET.format(attribute=block)))

    assert expected == [one.certainty for one in found]
