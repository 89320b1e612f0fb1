"""A container that asks for its neighbor by the host's address, held against what translates
sources.
"""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.hairpin import check
from tests.checks.pasted import ticket_of

SAID = "A container on lxcbr0 asks for 192.168.50.2:80 and gets no answer; from outside it works."
LEADS = (
    "-A PREROUTING -d 192.168.50.2/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.3.7"
)
KEEPS = "-A POSTROUTING -s 10.0.3.0/24 ! -d 10.0.3.0/24 -j MASQUERADE"
TICKET = """\
{said}

```
# iptables-save -t nat
*nat
:PREROUTING ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
{leads}
{keeps}
COMMIT
```
"""


@pytest.mark.parametrize(
    ("change", "certainties"),
    [
        ({}, [0.8]),
        ({"keeps": f"{KEEPS}\n-A POSTROUTING -d 10.0.3.7/32 -j MASQUERADE"}, []),
        ({"keeps": KEEPS.replace("! -d 10.0.3.0/24 ", "")}, []),
        ({"keeps": KEEPS.replace("10.0.3", "10.0.4")}, []),
        ({"leads": LEADS.replace("--dport 80", "--dport 81")}, []),
        ({"leads": LEADS.replace("192.168.50.2", "192.168.50.3")}, []),
        ({"said": "A client outside asks for 192.168.50.2:80 and gets no answer."}, []),
    ],
    ids=["kept", "translated", "whole", "other-network", "port", "address", "outside"],
)
def test_a_neighbor_that_is_led_to_answers_directly(
    change: dict[str, str], certainties: list[float]
) -> None:
    """Possible: where bridged packets pass iptables, the answer is translated back."""
    text = TICKET.format(**{"said": SAID, "leads": LEADS, "keeps": KEEPS, **change})

    assert certainties == [one.certainty for one in check(ticket_of(text))]
