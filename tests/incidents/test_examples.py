"""The recorded incidents: podpath names the cause on the bad node, by ticket and by bundle, and
nothing on the good one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.command import podpath

INCIDENTS = Path(__file__).resolve().parents[2] / "examples" / "incidents"


class Incident(NamedTuple):
    """One recorded incident and what must be said of it."""

    name: str
    checks: tuple[str, ...]
    """Names that the cause may have: one of the faults on the chain that broke the path."""
    deciding: str
    """The line that decides, as a pattern over any of the forms that it is recorded in."""


RECORDED = (
    Incident("host-disconnect", ("enslaved-route", "foreign-arp"), r"169\.254\.0\.0.*ens3f0"),
    Incident(
        "kube-proxy-before-cilium",
        ("chain-order",),
        r"DROP.*ctstate INVALID|ctstate INVALID -j DROP",
    ),
    Incident("rp-filter-reset", ("rp-filter",), r"net\.ipv4\.conf\.all\.rp_filter = 1"),
    Incident("br-netfilter-off", ("br-netfilter",), r"net\.bridge\.bridge-nf-call-iptables = 0"),
)
BAD = [(incident, form) for incident in RECORDED for form in ("ticket.md", "bundle")]


def diagnosis(path: Path, exit_code: int) -> dict[str, Any]:
    """Diagnose a path and give the JSON; the exit code must be the expected one."""
    done = podpath("diagnose", "--json", path)
    assert (exit_code, "") == (done.returncode, done.stderr), done.stdout[:2000]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def assert_cause(incident: Incident, answer: dict[str, Any]) -> None:
    """Require that the first finding is the cause and quotes the line that decides."""
    cause = answer["findings"][0]

    assert cause["severity"] == "cause"
    assert cause["check"] in incident.checks
    assert [quote for quote in cause["evidence"] if re.search(incident.deciding, quote["text"])]


def test_every_recorded_incident_is_tested() -> None:
    """A folder beside the others has its row here."""
    assert {incident.name for incident in RECORDED} == {
        path.name for path in INCIDENTS.iterdir() if path.is_dir()
    }


@pytest.mark.parametrize(
    ("incident", "form"), BAD, ids=lambda value: value if isinstance(value, str) else value.name
)
def test_the_cause_is_named_on_the_bad_node(incident: Incident, form: str) -> None:
    """The first finding is the cause, and quotes the line that decides."""
    assert_cause(incident, diagnosis(INCIDENTS / incident.name / form, exit_code=1))


@pytest.mark.parametrize(
    ("incident", "form"), BAD, ids=lambda value: value if isinstance(value, str) else value.name
)
def test_the_text_quotes_the_deciding_line(incident: Incident, form: str) -> None:
    """What a person reads has the same line as the JSON."""
    done = podpath("diagnose", INCIDENTS / incident.name / form)

    assert re.search(incident.deciding, done.stdout)
    assert done.returncode == 1


@pytest.mark.parametrize("incident", RECORDED, ids=lambda incident: incident.name)
def test_nothing_is_found_on_the_good_twin(incident: Incident) -> None:
    """On the same node with nothing changed but the cause nothing is found; all that forbids the
    all-clear was not recorded, or is what Cilium's programs may enforce.
    """
    answer = diagnosis(INCIDENTS / incident.name / "good", exit_code=3)

    assert answer["findings"] == []
    unmodelled = {one["says"] for one in answer["forbids"] if one["kind"] == "NotModelled"}
    kinds = {one["kind"] for one in answer["forbids"]}
    assert kinds <= {"NothingWalked", "NotShown", "NotModelled"}
    assert all("Cilium's policy programs" in text for text in unmodelled)


@pytest.mark.parametrize(
    ("incident", "form"), BAD, ids=lambda value: value if isinstance(value, str) else value.name
)
def test_every_line_of_the_evidence_is_quoted_as_it_stands(incident: Incident, form: str) -> None:
    """A quote's file and line number lead to its text."""
    answer = diagnosis(INCIDENTS / incident.name / form, exit_code=1)
    for quote in answer["findings"][0]["evidence"]:
        lines = Path(quote["source"]).read_text(encoding="utf-8").splitlines()
        quoted = quote["text"].splitlines()

        assert [
            line.rstrip() for line in lines[quote["line"] - 1 : quote["line"] - 1 + len(quoted)]
        ] == [line.rstrip() for line in quoted]
