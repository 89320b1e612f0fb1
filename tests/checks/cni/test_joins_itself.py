"""Joins at the joining machine's own address."""

from __future__ import annotations

import pytest

from podpath.checks.cni.joins_itself import LIKELY, check
from tests.assembly.evidence_text import case_of_document

JOIN = """
```
{prompt}kubeadm join 10.0.2.15:6443 --token 9s8d7f.1c2b3a4d5e6f7a8b
error: Get "https://10.0.2.15:6443/api/v1": dial tcp 10.0.2.15:6443: connect: connection refused
```
```
{other}ip -br addr
lo               UNKNOWN        127.0.0.1/8
enp0s3           UP             {address}/24
```
"""


@pytest.mark.parametrize(
    ("prompt", "other", "address", "certainties"),
    [
        ("root@kw2:~# ", "root@kw2:~# ", "10.0.2.15", [1.0]),
        ("root@kw2:~# ", "root@kw2:/etc# ", "10.0.2.15", [1.0]),
        ("root@kw2:~# ", "$ ", "10.0.2.15", [LIKELY]),
        ("root@kw2:~# ", "root@kw1:~# ", "10.0.2.15", []),
        ("# ", "# ", "10.0.2.15", [LIKELY]),
        ("vagrant@ubuntu:~$ ", "vagrant@ubuntu:~$ ", "10.0.2.15", [LIKELY]),
        ("root@kw2:~# ", "root@kw2:~# ", "10.0.2.16", []),
    ],
)
def test_an_address_of_the_machine_itself(
    prompt: str, other: str, address: str, certainties: list[float]
) -> None:
    """It is certain where the prompts before both commands name one machine."""
    case = case_of_document(JOIN.format(prompt=prompt, other=other, address=address))

    assert certainties == [finding.certainty for finding in check(case)]
