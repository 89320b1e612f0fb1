"""Diagnoses by the library."""

from __future__ import annotations

import json

from podpath.library.diagnosis import diagnose
from podpath.library.given import Pasted
from podpath.library.reading import read
from podpath.library.when import When
from tests.library.samples import LOG, NO_FORWARDING, PROBE, RP_FILTER, SECOND_NODE

GOOD = Pasted(NO_FORWARDING.text.replace("= 0", "= 1"), "good.txt")


def test_cause_of_a_recorded_ticket() -> None:
    """The first finding is the cause, with its lines; connections and gaps are at hand."""
    answer = diagnose(RP_FILTER / "ticket.md")

    assert ("fault", 1, "rp-filter") == (answer.verdict, answer.exit_code, answer.findings[0].check)
    assert "net.ipv4.conf.all.rp_filter = 1" in {span.text for span in answer.findings[0].evidence}
    assert (len(answer.conversations), answer.questions) == (3, answer.diagnosis.questions)
    assert answer.gaps == answer.diagnosis.gaps


def test_probe_and_healthy_counterpart() -> None:
    """A probe is walked, and what differs from a node where it works is told."""
    answer = diagnose(read(NO_FORWARDING), [PROBE], good=GOOD)

    assert "ip-forward" == answer.findings[0].check
    assert "good.txt" in answer.json()


def test_answer_is_of_the_node_at_fault() -> None:
    """Of two nodes the one where something is wrong is told about, wherever its evidence stands."""
    answer = diagnose([SECOND_NODE, NO_FORWARDING], [PROBE])

    assert ("node1", "ip-forward") == (answer.diagnosis.node, answer.findings[0].check)


def test_logs_tell_what_led_to_it() -> None:
    """Logs among the evidence are joined with the diagnosis."""
    when = When(failed_at="03:13:59", timeout="10s", now="2025-03-12T04:00:00Z")
    answer = diagnose([RP_FILTER / "ticket.md", LOG], when=when)

    assert any("tuned" in line for line in answer.findings[0].history)


SESSION = """\
The tenant says that it fails.

```
root@k6:~# tcpdump -ni cali9ab0 tcp port 5432
10:40:00.118241 IP 10.8.8.20.53318 > 10.8.9.77.5432: Flags [S], seq 10, win 64860, length 0
10:40:00.118290 IP 10.8.9.77.5432 > 10.8.8.20.53318: Flags [S.], seq 20, ack 11, win 64308, length 0
10:40:00.118602 IP 10.8.8.20.53318 > 10.8.9.77.5432: Flags [.], ack 1, win 507, length 0
10:40:00.118809 IP 10.8.8.20.53318 > 10.8.9.77.5432: Flags [P.], seq 1:9, ack 1, win 507, length 8
10:40:00.119571 IP 10.8.9.77.5432 > 10.8.8.20.53318: Flags [P.], seq 1:2, ack 9, win 503, length 1
```
"""


def test_a_session_that_a_capture_shows_is_not_said_to_fail() -> None:
    """Where the walk ends elsewhere, it lacks a fact: in words as in JSON."""
    found = diagnose(Pasted(SESSION, "ticket.md"))
    said = " ".join(found.text().split())

    assert "works, as the evidence shows" in said
    assert "never works" not in said
    assert ["UNDECIDED"] == [one["verdict"] for one in json.loads(found.json())["conversations"]]
