"""`podpath diagnose`: the main job."""

from __future__ import annotations

import click

from podpath.cli.case import parse_probes, place_probes, read_case, read_hosts
from podpath.cli.case_logs import read_chronicle
from podpath.cli.options import Asked, live_option, node_option, output_options, window_options
from podpath.cli.terminal import choose_style, progress
from podpath.diagnosis.diagnose import diagnose as find_causes
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.several_nodes import choose_answer
from podpath.net.provenance import Source
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.json_documents import render_diagnosis_json


@click.command()
@live_option
@node_option
@click.option("--probe", "probes", multiple=True, metavar="P", help="A connection to ask about; may be given more than once.")
@click.option("--good", multiple=True, metavar="EVIDENCE", help="Evidence of a node where it works: what differs is told.")
@window_options
@output_options
def diagnose(  # noqa: PLR0913 - click gives each option as one argument
    evidence: tuple[str, ...],
    probes: tuple[str, ...],
    good: tuple[str, ...],
    *,
    live: bool,
    node: str | None,
    asked: Asked,
    as_json: bool,
    colour: str,
    verbose: bool,
) -> None:
    """Name what broke the path, quote the lines that say so, and give the fix.

    EVIDENCE is any mix of tickets (markdown or text with pasted outputs), single outputs, bundles (folders, .tar.gz,
    .tar.zst) and - for standard input. Connections to explain are found in it: failing attempts, captures, events. Logs among
    it tell what led to the fault; --failed-at, --timeout and --last-ok say when it failed, where they do not.

    \b
    A probe is one line: PROTOCOL SOURCE > DESTINATION[:PORT] [from NETNS | in DEVICE]
      tcp pod/shop/web-0 > svc/shop/api:http
      tcp 172.16.0.30 > 104.17.32.82:80
      udp 10.244.1.5 > 10.96.0.10:53 from pod-a
      icmp 10.0.0.1 > 10.0.0.2 in eth0

    \b
    Examples:
      podpath diagnose ticket.md
      podpath diagnose bundle/ --probe 'tcp 10.244.1.5 > 10.96.0.1:443'
      podpath diagnose bad.tar.gz --good good.tar.gz --json
      sudo podpath diagnose --live --probe 'tcp 10.244.1.5 > 10.96.0.1:443'
      ssh node 'iptables-save -c; ip addr; ip route; sysctl -a' | podpath diagnose - ticket.md

    \b
    Exit codes: 0 nothing wrong found, 1 a fault found, 2 usage error or unreadable input, 3 undecided for lack of evidence.
    """  # noqa: D301  # click wants the backspace itself
    sources: list[Source] = []
    hosts = read_hosts(evidence, parse_probes(probes), sources, live=live, node=node)
    good_case = read_case(good) if good else None
    answers: list[Diagnosis] = []
    for host in hosts:
        case, chronicle = read_chronicle(host.case, sources, asked)
        with progress(f"walking {host.name}".strip()):
            answer = find_causes(case, place_probes(probes, case.node), good_case)
        if chronicle is not None:
            from podpath.diagnosis.history import tell_history  # noqa: PLC0415 - only where there are logs

            answer = tell_history(answer, chronicle)
        answers.append(answer)
    diagnosis = choose_answer([host.name for host in hosts], answers)
    if as_json:
        click.echo(render_diagnosis_json(diagnosis), nl=False)
    else:
        click.echo(render_diagnosis(diagnosis, choose_style(colour, verbose=verbose)), nl=False, color=True)
    click.get_current_context().exit(diagnosis.exit_code)
