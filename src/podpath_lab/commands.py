"""The commands of `podpath lab`: the real kernel as reproducer, teacher and judge."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from podpath.cli.evidence import read_one
from podpath.cli.options import evidence_argument, progress_option
from podpath.cli.progress_line import ProgressLine
from podpath.cli.terminal import choose_style
from podpath.library.case import Case
from podpath.library.diagnosis import DiagnosisResult, diagnose
from podpath.library.given import place_probes
from podpath.library.progress import stage as progress_stage
from podpath.library.reading import read
from podpath.library.replay import BUNDLE, DROP, ReplayedDrop
from podpath.library.replay import replay as ask_again
from podpath.net.counted import Counted
from podpath.net.errors import UsageError
from podpath.net.failures import is_failure
from podpath.net.probe import Probe
from podpath_lab.agree import Tally, list_kinds_here, run_case, run_cases
from podpath_lab.apply import (
    LabError,
    apply,
    enter_private_world,
    has_openvswitch,
    require_lab,
    stop_daemons,
)
from podpath_lab.cases.generate import GeneratedCase, generate_case, generate_mixed
from podpath_lab.cases.shrink import shrink_case
from podpath_lab.drops import DropTracer
from podpath_lab.incidents.incident import Incident
from podpath_lab.incidents.registry import INCIDENTS
from podpath_lab.rehearsal import StagedNode, build_stage
from podpath_lab.replayed import KernelAnswer, replay_packet
from podpath_lab.script import emit_shell, emit_twin
from podpath_lab.text import is_named, render_replay, render_tally, render_twin
from podpath_lab.twin import TwinRun, plan_twin, run_twin

DISAGREES = 1
LONGEST_DROP = 1 << 20
"""Bytes of a kept drop that are read."""


@click.command()
@evidence_argument
@click.option(
    "--probe",
    metavar="P",
    help="The connection to try; by default the first one that fails in the evidence.",
)
@progress_option
def twin(evidence: tuple[str, ...], probe: str | None) -> None:
    """Build the node in the evidence on this kernel, send the probe, and compare what happens with
    the model.

    The name of a built-in incident stands for its broken node's bundle.

    \b
    Examples:
      sudo podpath lab twin node-bundle.tar.gz --probe 'tcp 10.244.1.5 > 10.96.0.1:443'
      sudo podpath lab twin rp-filter-reset

    \b
    Exit codes: 0 the kernel does what the model says, 1 it does not, 2 usage error or no root.
    """  # noqa: D301  # click wants the backspace itself
    require_lab()
    if len(evidence) == 1 and not Path(evidence[0]).exists():
        chosen = INCIDENTS.get(evidence[0])
    else:
        chosen = None
    if chosen is None:
        case = read_one(evidence, progress=ProgressLine())
        asked = _choose_probe(case, probe)
        enter_private_world()
    else:
        enter_private_world()
        case = _break(chosen)
        asked = _choose_probe(case, probe or str(chosen.asked(1)))
    tracer = DropTracer()
    try:
        with progress_stage(ProgressLine(), "building the twin"):
            seen: TwinRun = run_twin(case.node, asked, tracer)
    finally:
        tracer.close()
        stop_daemons()
    click.echo(render_twin(seen), nl=False)
    click.get_current_context().exit(DISAGREES if seen.differences else 0)


@click.command()
@click.argument("kept", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option("--model-only", is_flag=True, help="Ask the model alone; needs no root.")
@progress_option
def replay(kept: Path, *, model_only: bool) -> None:
    """Ask again about a drop that `podpath watch --save` has kept: the model, and this kernel with
    the saved node rebuilt and the saved packet sent into it.

    \b
    Examples:
      podpath lab replay disagreements/1763871432000-NETFILTER_DROP --model-only
      sudo podpath lab replay disagreements/1763871432000-NETFILTER_DROP

    \b
    Exit codes: 0 the model names what the kernel did (in the saved node, and here), 1 it does not,
    2 usage error or no root.
    """  # noqa: D301  # as above
    if not model_only:
        require_lab()
    with (kept / DROP).open("rb") as file:
        document = file.read(LONGEST_DROP)
    found = ask_again(str(kept / BUNDLE), document, ProgressLine())
    answer = None if model_only else _replay_here(found)
    click.echo(render_replay(found, answer), nl=False)
    click.get_current_context().exit(0 if is_named(found, answer) else DISAGREES)


def _replay_here(found: ReplayedDrop) -> KernelAnswer:
    """Send the packet into the node's twin, in a world of our own."""
    heard, netns = found.kept.heard, found.kept.netns
    packet = heard.original or heard.packet
    if packet is None:
        raise AssertionError("a kept drop has a packet")
    # forwarding takes one off before FORWARD
    ttl = packet.ttl if heard.key.reason == "IP_INHDR" else max(packet.ttl, 2)
    device = _find_device(found, heard.key.input)
    enter_private_world()
    tracer = DropTracer()
    try:
        return replay_packet(found.node, netns, device, packet._replace(ttl=ttl), tracer)
    finally:
        tracer.close()
        stop_daemons()


def _find_device(found: ReplayedDrop, ifindex: int) -> str:
    """Return the device that a packet came in on; empty for one that the namespace sent."""
    if not ifindex:
        return ""
    links = found.node.namespaces[found.kept.netns].links.items
    name = next((link.name for link in links if link.ifindex == ifindex), None)
    if name is None:
        raise UsageError(f"the saved node has no device of index {ifindex} in {found.kept.netns}")
    return str(name)


@click.command()
@evidence_argument
@click.option(
    "--probe", metavar="P", help="The connection that stand-ins for BPF programs are made for."
)
@progress_option
def script(evidence: tuple[str, ...], probe: str | None) -> None:
    """Print the node in the evidence as a shell script that rebuilds it in network namespaces.

    \b
    Examples:
      podpath lab script node-bundle.tar.gz > node.sh && sudo unshare --mount --net sh node.sh
    """  # noqa: D301  # as above
    case = read_one(evidence, progress=ProgressLine())
    plan = plan_twin(
        case.node,
        _choose_probe(case, probe) if probe or case.facts.attempts else None,
        openvswitch=has_openvswitch(),
    )
    click.echo(emit_shell(plan.twin, plan.standins, plan.wired.notes), nl=False)


@click.command()
@click.argument("name", required=False)
@click.option("--break", "only_break", is_flag=True, help="Stop when it is broken and diagnosed.")
@click.option("--fix", "only_fix", is_flag=True, help="Break and fix it without diagnosing.")
@click.option("--bundle", metavar="DIR", help="Keep the broken node's bundle in this new folder.")
def incident(name: str | None, *, only_break: bool, only_fix: bool, bundle: str | None) -> None:
    """Build a known incident's node, break it, diagnose it from its bundle alone, and fix it.
    Without NAME: list the incidents.

    \b
    Examples:
      podpath lab incident
      sudo podpath lab incident rp-filter-reset
      sudo podpath lab incident stale-conntrack --break --bundle broken/
    """  # noqa: D301  # as above
    if name is None:
        width = max(map(len, INCIDENTS))
        for each in INCIDENTS.values():
            click.echo(f"{each.name:<{width}}  {each.summary}")
        return
    if name not in INCIDENTS:
        raise UsageError(
            f"expected the name of a built-in incident, saw {name!r}; `podpath lab incident` lists "
            "them"
        )
    require_lab()
    enter_private_world()
    chosen = INCIDENTS[name]
    stage = build_stage(chosen)
    try:
        click.echo(f"{chosen.name}: {chosen.summary}\n\n{chosen.probe}")
        _tell("works", stage, 0)
        apply(chosen.broken_by)
        _tell("broken", stage, 1)
        if not only_fix:
            found = diagnose_stage(stage, chosen, bundle)
            click.echo("\n" + found.text(choose_style("auto", verbose=False)))
        if not only_break:
            apply(chosen.mended_by)
            _tell("mended", stage, 2)
    finally:
        stage.close()


def _break(chosen: Incident) -> Case:
    """Build an incident's node, break it, and read its bundle."""
    stage = build_stage(chosen)
    try:
        stage.probe(0)
        apply(chosen.broken_by)
        with tempfile.TemporaryDirectory() as folder:
            stage.collect(Path(folder) / "bundle", broken=True)
            return read(Path(folder) / "bundle")
    finally:
        stage.close()


def diagnose_stage(
    stage: StagedNode, chosen: Incident, bundle: str | None = None
) -> DiagnosisResult:
    """Collect the standing node into a bundle and diagnose that, knowing nothing but the probe."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(bundle) if bundle else Path(folder) / "bundle"
        stage.collect(target, broken=True)
        return diagnose(target, (chosen.asked(),))


def _tell(state: str, stage: StagedNode, attempt: int) -> None:
    click.echo(f"  {state:<7} {stage.probe(attempt).application}")


@click.command()
@click.option("--cases", default=500, show_default=True, metavar="N", help="How many cases.")
@click.option(
    "--seed", type=int, metavar="S", help="The first case's number; drawn at random by default."
)
@click.option(
    "--jobs", default=os.cpu_count() or 1, show_default=True, metavar="J", help="Worker processes."
)
@click.option(
    "--reproducers",
    metavar="DIR",
    help="Write a shell script for each case that differs, reduced to a minimum.",
)
@click.option(
    "--both-families", is_flag=True,
    help="Give each node IPv6 as well, and send most probes by it.",
)  # fmt: skip
@click.option("--mixed", is_flag=True, help="Give every third node IPv6 as well.")
@progress_option
def agree(
    *,
    cases: int,
    seed: int | None,
    jobs: int,
    reproducers: str | None,
    both_families: bool,
    mixed: bool,
) -> None:
    """Generate nodes and probes, and compare what the model predicts with what this kernel does.

    \b
    Exit codes: 0 all cases agree, 1 some differ, 2 usage error or no root.
    """  # noqa: D301  # as above
    require_lab()
    first = secrets.randbelow(1 << 40) if seed is None else seed
    click.echo(f"seeds {first} to {first + cases - 1}")
    kinds = list_kinds_here()
    generate: Callable[[int, str], GeneratedCase] = (
        partial(generate_mixed, kinds=kinds)
        if mixed
        else partial(generate_case, both_families=both_families, kinds=kinds)
    )
    with progress_stage(ProgressLine(), "running cases") as tell:
        numbers = range(first, first + cases)
        tally: Tally = run_cases(
            numbers, jobs, lambda sofar: tell(Counted(sofar.cases, cases)), generate
        )
    click.echo(render_tally(tally), nl=False)
    if reproducers and tally.differing:
        _write_reproducers(tally, Path(reproducers), generate)
    click.get_current_context().exit(DISAGREES if tally.differing else 0)


def _write_reproducers(
    tally: Tally, folder: Path, generate: Callable[[int, str], GeneratedCase]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    enter_private_world()
    tracer = DropTracer()

    def differs(case: GeneratedCase) -> bool:
        try:
            return bool(run_case(case, tracer).differences)
        except LabError:
            return False  # what was taken away is needed to build the node: a gateway's own route

    try:
        for result in tally.differing:
            smallest = shrink_case(generate(result.seed, os.uname().release), differs)
            difference = run_case(smallest, tracer).differences
            shown = (line for each in difference for line in _notes(each.predicted, each.observed))
            sent = str(smallest.probe)
            if smallest.frame is not None:
                sent = f"a frame from {smallest.probe.netns}: {smallest.frame}"
            notes = (f"case {result.seed}: {sent}", *shown)
            (folder / f"{result.seed}.sh").write_text(
                emit_shell(emit_twin(smallest.node), (), notes)
            )
            click.echo(str(folder / f"{result.seed}.sh"))
    finally:
        tracer.close()


def _notes(predicted: str, observed: str) -> list[str]:
    return ["predicted:", *predicted.split("\n"), "observed:", *observed.split("\n")]


def _choose_probe(case: Case, probe: str | None) -> Probe:
    if probe:
        return place_probes((probe,), case.node)[0]
    failing = [attempt.probe for attempt in case.facts.attempts if is_failure(attempt.result)]
    if not failing:
        raise UsageError(
            "the evidence shows no connection that fails; name one: --probe 'tcp 10.0.0.1 > "
            "10.0.0.2:80'"
        )
    return failing[0]
