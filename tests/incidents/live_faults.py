"""Rehearses every known fault on the real kernel, and prints what came of it as JSON.

    python -m tests.incidents.live_faults FOLDER

Each is built, tried, broken, tried, collected into a bundle, diagnosed from that alone, mended by
the diagnosis' own commands (by the incident's where the diagnosis proposes none), and tried again.
It moves into namespaces of its own, so it is a program of its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TypedDict

from podpath.library.diagnosis import DiagnosisResult, diagnose
from podpath.node.node import HOST
from podpath_lab.apply import apply, enter_private_world, run
from podpath_lab.incidents.incident import Incident
from podpath_lab.incidents.registry import INCIDENTS
from podpath_lab.rehearsal import StagedNode, build_stage
from podpath_lab.script import ScriptCommand


class Rehearsed(TypedDict):
    """What came of one incident."""

    works: str
    """What the client saw before anything was broken."""
    broken: str
    verdict: str
    check: str
    proven: list[str]
    """How far each proposed repair of the first finding is proven."""
    mended_by: str
    """`diagnosis` or `incident`: whose commands were run."""
    mended: str


def rehearse(incident: Incident, folder: Path) -> Rehearsed:
    """Live through one incident."""
    stage = build_stage(incident)
    try:
        works = stage.probe(0).application
        stage.collect(folder / incident.name / "good", broken=False)
        apply(incident.broken_by)
        broken = stage.probe(1).application
        bundle = folder / incident.name / "bad"
        stage.collect(bundle, broken=True)
        probe = incident.asked(2)
        answer = diagnose(bundle, (probe,))
        mended_by = _mend(stage, incident, answer)
        first = answer.findings[0] if answer.findings else None
        return Rehearsed(
            works=works, broken=broken, verdict=answer.verdict, check=first.check if first else "",
            proven=[repair.proven for repair in first.repairs] if first else [],
            mended_by=mended_by, mended=stage.probe(3).application,
        )  # fmt: skip
    finally:
        stage.close()


def _mend(stage: StagedNode, incident: Incident, answer: DiagnosisResult) -> str:
    repairs = answer.findings[0].repairs if answer.findings else ()
    if not repairs or incident.only_mended_by_hand:
        apply(incident.mended_by)
        return "incident"
    for command in repairs[0].commands:
        if not command.startswith(
            "modprobe "
        ):  # the kernel of the tests has its modules loaded already
            run(ScriptCommand(("sh", "-c", command), netns=HOST))
    for netns in stage.node.namespaces:
        run(ScriptCommand(("ip", "-n", netns, "neigh", "flush", "all"), netns=HOST))
    return "diagnosis"


def main() -> None:
    """Rehearse all incidents, their bundles in the folder that is named."""
    enter_private_world()
    sys.stdout.write(
        json.dumps(
            {name: rehearse(incident, Path(sys.argv[1])) for name, incident in INCIDENTS.items()}
        )
    )


if __name__ == "__main__":
    main()
