"""`podpath learn`: the lessons on the command line, each step a subcommand; and the guide, which
goes through them on a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podpath.cli.terminal import choose_style
from podpath.net.errors import UsageError

if TYPE_CHECKING:
    from podpath_lab.learn.classroom import Classroom
    from podpath_lab.learn.lessons import Lesson

NOT_YET = 1
HOST = "host"
_WORDS = "shell [NAMESPACE], hint, check [FAULT], solve, next or quit"


@click.group(invoke_without_command=True)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, readable=False),
    hidden=True,
    help="Where the lesson under way is remembered.",
)
@click.pass_context
def learn(context: click.Context, folder: Path | None) -> None:
    """Find faults of a node's network by yourself, on the real kernel: here is a node, it is
    broken, tcpdump, ip and nft are yours.

    Each lesson is a small node with pods in a world of its own: nothing in this machine's network
    is changed, and nothing is left of it after `podpath learn stop`. On a terminal, `podpath learn`
    alone goes through the lessons one by one; the subcommands do the same step by step. Needs root,
    and tcpdump, curl and the lab's programs; what is missing is named.

    \b
    Examples:
      sudo podpath learn
      sudo podpath learn start neighbors
      sudo podpath learn shell                   # on the node; `shell pod1` in a pod
      sudo podpath learn run pod1 -- ip route    # the same without a terminal
      sudo podpath learn hint
      sudo podpath learn check                   # does it work again?
      sudo podpath learn check ip-forward        # or: is this the fault?
      sudo podpath learn solve                   # what podpath says of it
      sudo podpath learn stop

    \b
    Exit codes: 0 done or right, 1 not yet, 2 usage error, no root, or a program is missing.
    """  # noqa: D301  # click wants the backspace itself
    from podpath_lab.learn.classroom import Classroom

    context.obj = Classroom() if folder is None else Classroom(folder)
    if context.invoked_subcommand is not None:
        return
    if not sys.stdin.isatty():
        _list_lessons()
        return
    _require_tools()
    guide(context.obj, _prompt)


def _prompt() -> str:
    """Read what a learner says next; nothing is a word, too."""
    return str(click.prompt("learn", prompt_suffix="> ", default="", show_default=False))


def _require_tools() -> None:
    """Refuse to begin where a learner would lack rights or programs."""
    from podpath_lab.apply import LEARNER_TOOLS, TOOLS, require_lab

    require_lab((*TOOLS, *LEARNER_TOOLS))


@learn.command("list")
def list_lessons() -> None:
    """List the lessons, in the order of learning."""
    _list_lessons()


def _list_lessons() -> None:
    from podpath_lab.learn.lessons import LESSONS

    width = max(map(len, LESSONS))
    for name, lesson in LESSONS.items():
        click.echo(f"{name:<{width}}  {lesson.story.partition('. ')[0].rstrip('.')}.")
    click.echo(f"\nBegin with: sudo podpath learn start {next(iter(LESSONS))}")


@learn.command()
@click.argument("name", required=False)
@click.pass_obj
def start(classroom: Classroom, name: str | None) -> None:
    """Build the node of lesson NAME (the first one by default) and break it."""
    from podpath_lab.learn.lessons import LESSONS

    chosen = name or next(iter(LESSONS))
    if chosen not in LESSONS:
        raise UsageError(f"expected a lesson ({', '.join(LESSONS)}), saw {chosen!r}")
    _require_tools()
    _tell_lesson(chosen, classroom.start(chosen))


def _tell_lesson(name: str, lesson: Lesson) -> None:
    click.echo(f"Lesson: {name}\n\n{lesson.story}\n\n{lesson.drawing}")
    click.echo(f"The connection that has to work again: {lesson.incident.probe}\n")
    click.echo("On the node (`podpath learn shell`), begin with:")
    for command in lesson.first:
        click.echo(f"  {command}")
    click.echo("\nThen: podpath learn hint | check | solve | stop")


@learn.command()
@click.pass_obj
def hint(classroom: Classroom) -> None:
    """Give the next hint."""
    _tell_hint(classroom)


def _tell_hint(classroom: Classroom) -> None:
    number, said = classroom.give_hint()
    hints = classroom.lesson.hints
    click.echo(f"Hint {number} of {len(hints)}: {said}")
    if number == len(hints):
        click.echo("That is the last one; `solve` shows podpath's answer.")


@learn.command()
@click.argument("netns", default=HOST, metavar="[NAMESPACE]")
@click.pass_context
def shell(context: click.Context, netns: str) -> None:
    """Open a shell on the lesson's node, or in another of its namespaces (pod1, world)."""
    from podpath_lab.apply import enter_world
    from podpath_lab.learn.classroom import list_words

    context.exit(enter_world(context.obj.find_process(), list_words(netns, ())))


@learn.command(context_settings={"ignore_unknown_options": True})
@click.argument("netns", metavar="NAMESPACE")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND...")
@click.pass_context
def run(context: click.Context, netns: str, command: tuple[str, ...]) -> None:
    """Run a command in one of the lesson's namespaces (host, pod1, world)."""
    from podpath_lab.apply import enter_world
    from podpath_lab.learn.classroom import list_words

    context.exit(enter_world(context.obj.find_process(), list_words(netns, command)))


@learn.command()
@click.argument("fault", required=False)
@click.pass_context
def check(context: click.Context, fault: str | None) -> None:
    """Try the connection again; or, with FAULT (a name that `podpath checks` lists), say whether
    that is what broke it.
    """
    context.exit(0 if judge(context.obj, fault) else NOT_YET)


def judge(classroom: Classroom, fault: str | None) -> bool:
    """Say whether the connection works again, or whether a fault is the lesson's."""
    from podpath_lab.learn.classroom import is_working

    incident = classroom.lesson.incident
    if fault:
        from podpath.library import manual

        right = manual.checks()[fault].name in incident.checks
        click.echo(f"Right: {incident.summary}" if right else f"Not {fault}.")
        return right
    seen = classroom.try_connection()
    if is_working(seen):
        click.echo(f"It works again. What had happened: {incident.summary}")
        return True
    click.echo(f"Not yet: the client sees {seen!r}.")
    return False


@learn.command()
@click.option("--fix", is_flag=True, help="Run the cure on the lesson's node, too.")
@click.pass_obj
def solve(classroom: Classroom, *, fix: bool) -> None:
    """Show what podpath says of the broken node, from its bundle alone, to compare with what you
    found.
    """
    tell_solution(classroom, fix=fix)


def tell_solution(classroom: Classroom, *, fix: bool) -> None:
    """Print podpath's answer, and the cure; with `fix`, run it."""
    from podpath.library.diagnosis import diagnose
    from podpath_lab.learn.classroom import is_working

    incident, bundle = classroom.lesson.incident, classroom.bundle
    click.echo(f"podpath diagnose {bundle} --probe '{incident.asked()}'\n")
    answer = diagnose(bundle, (str(incident.asked()),))
    click.echo(answer.text(choose_style("auto", verbose=False)))
    click.echo(f"What had happened: {incident.summary}")
    click.echo("What mends it:")
    for command in incident.mended_by:
        click.echo(f"  {command.netns}: {' '.join(command.arguments)}")
        for line in command.stdin.splitlines():
            click.echo(f"      {line}")
    if fix:
        seen = classroom.mend()
        click.echo("It works again." if is_working(seen) else f"The client still sees {seen!r}.")


@learn.command()
@click.pass_obj
def stop(classroom: Classroom) -> None:
    """End the lesson: its world goes, with whatever still runs inside."""
    classroom.stop()
    click.echo("Nothing is left of the lesson.")


def guide(classroom: Classroom, read_line: Callable[[], str]) -> None:
    """Go through the lessons on a terminal; nothing is left of them at the end, however it
    comes.
    """
    from podpath_lab.learn.lessons import LESSONS

    click.echo(f"{len(LESSONS)} lessons. At any time: {_WORDS}.\n")
    for name in LESSONS:
        _tell_lesson(name, classroom.start(name))
        try:
            if not _guide_lesson(classroom, read_line):
                return
        finally:
            classroom.stop()
    click.echo("That was the last lesson.")


def _guide_lesson(classroom: Classroom, read_line: Callable[[], str]) -> bool:
    """Go through one lesson; False where the learner ends it all."""
    from podpath_lab.apply import enter_world
    from podpath_lab.learn.classroom import list_words

    while True:
        word, _, rest = read_line().strip().partition(" ")
        match word:
            case "shell":
                enter_world(classroom.find_process(), list_words(rest or HOST, ()))
            case "hint":
                _tell_hint(classroom)
            case "check":
                if _judge_word(classroom, rest.strip()):
                    click.echo("`solve` shows podpath's answer, `next` goes on.")
            case "solve":
                tell_solution(classroom, fix=False)
            case "next":
                return True
            case "quit":
                return False
            case _:
                click.echo(f"Say {_WORDS}.")


def _judge_word(classroom: Classroom, fault: str) -> bool:
    """Judge as `judge` does; a name that no fault has is said, and the lesson goes on."""
    try:
        return judge(classroom, fault or None)
    except UsageError as error:
        click.echo(str(error))
        return False
