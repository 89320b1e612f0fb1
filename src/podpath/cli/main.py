"""The command line's front door: which commands there are, and the one boundary where every error
ends as one clear line.

A command's module is imported when it is called, so that `podpath --help` reads none of the
evidence readers.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, NoReturn, cast

import click

from podpath.library.memory import SELDOM
from podpath.net.errors import MissingExtra, PodpathError
from podpath.version import __version__

USAGE = 2
"""The exit code of a usage error and of evidence that cannot be read."""
INTERRUPTED = 130
BROKEN_PIPE = 141
TRACEBACK = "PODPATH_TRACEBACK"
"""Set to anything, it shows where an internal error came from."""
PLUGIN = "kubectl-podpath"
"""What kubectl looks for in PATH (`kubectl-podpath.exe` on Windows)."""
COMPLETING = "_PODPATH_COMPLETE"
"""Set in the environment where a shell asks for completions."""
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""NumPy's library of matrices, which nothing here uses, starts a thread for each core as it is
loaded: 50 ms on two.
"""


class CommandEntry(NamedTuple):
    """One command: where its code is and what `--help` says of it."""

    module: str
    summary: str
    distribution: str = ""
    """What has to be installed beside the core to have it; empty where it comes with the core."""

    @property
    def is_own(self) -> bool:
        """Whether its code is podpath's own, and takes the defaults that a file sets."""
        return self.module.startswith("podpath.")


COMMANDS: dict[str, CommandEntry] = {
    "diagnose": CommandEntry(
        "podpath.cli.diagnose",
        "Name what broke the path, quote the lines that say so, and give the fix.",
    ),
    "why": CommandEntry(
        "podpath.cli.why",
        "Say why one end in a cluster cannot reach another, across the nodes between them.",
    ),
    "trace": CommandEntry(
        "podpath.cli.trace",
        "Follow one connection through the node, packet by packet and step by step.",
    ),
    "watch": CommandEntry(
        "podpath.cli.watch",
        "Watch the kernel drop packets, and name the rule, route, sysctl or device that did it.",
        distribution="podpath-live",
    ),
    "diff": CommandEntry(
        "podpath.cli.diff",
        "Name the smallest difference that explains why one node works and another does not.",
    ),
    "check": CommandEntry(
        "podpath.cli.check",
        (
            "Check a node against flows that must and must not connect, also with a change not "
            "made yet."
        ),
    ),
    "capture": CommandEntry(
        "podpath.cli.capture",
        "Show what captures alone reveal: losses, untranslated replies, wrong MACs, black holes.",
    ),
    "timeline": CommandEntry(
        "podpath.cli.timeline",
        "Show what changed in the window in which it broke, and what that led to.",
    ),
    "snapshot": CommandEntry(
        "podpath.cli.snapshot", "Collect this node and its pods' namespaces into a bundle."
    ),
    "lab": CommandEntry(
        "podpath_lab.command",
        "Rebuild a node on the real kernel: twins, known faults, agreement with the model.",
        distribution="podpath-lab",
    ),
    "protect": CommandEntry(
        "podpath_protect.cli.protect",
        "Keep the path from breaking: validator, CNI chain, sysctls, pod repair, agent.",
        distribution="podpath-protect",
    ),
    "mcp": CommandEntry(
        "podpath_mcp.command",
        "Serve these answers to an assistant over the Model Context Protocol.",
        distribution="podpath-mcp",
    ),
    "ui": CommandEntry(
        "podpath_ui.command",
        "Ask in the browser: follow a connection, try a change, compare nodes.",
        distribution="podpath-ui",
    ),
    "learn": CommandEntry(
        "podpath_lab.learn.command",
        "Find known faults by yourself, on the real kernel, with hints and a check.",
        distribution="podpath-lab",
    ),
    "fleet": CommandEntry(
        "podpath_fleet.command",
        "Read, check and diagnose any number of nodes; name those that differ from their peers.",
        distribution="podpath-fleet",
    ),
    "reach": CommandEntry(
        "podpath_fleet.reach_command",
        "Tell what becomes of every flow that pods may try, or what changed for which flows.",
        distribution="podpath-fleet",
    ),
    "checks": CommandEntry("podpath.cli.manual", "List the faults that podpath knows by name."),
    "explain": CommandEntry(
        "podpath.cli.manual",
        "Print the manual page of one fault: what, why, how to confirm, how to fix.",
    ),
    "completion": CommandEntry(
        "podpath.cli.completion", "Print the completion script for bash, zsh or fish."
    ),
}

NEEDED_TOO: Mapping[str, str] = {
    "podpath-lab": "podpath-live",
    "podpath-protect": "podpath-live",
}
"""What of podpath's own a distribution needs beside the core: in a checkout pip has to be told."""


@contextmanager
def _gathering_no_garbage() -> Iterator[None]:
    """Leave the garbage collector off for a while: it would scan again and again what only
    grows.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _is_installed(entry: CommandEntry) -> bool:
    """Tell whether a command's module can be imported."""
    package = entry.module.partition(".")[0]
    return (
        importlib.util.find_spec(package) is not None
        and importlib.util.find_spec(entry.module) is not None
    )


def _make_refusal(name: str, entry: CommandEntry) -> click.Command:
    """Make a command that takes anything and says what to install, so that help and completion list
    it all the same.
    """
    wanted = entry.distribution
    both = (NEEDED_TOO[wanted], wanted) if wanted in NEEDED_TOO else (wanted,)

    def refuse() -> NoReturn:
        raise MissingExtra(
            f"`podpath {name}` is not part of the core: pip install {wanted}"
            f" (in a checkout: pip install {' '.join(f'./packages/{one}' for one in both)})"
        )

    anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    return click.Command(name, callback=refuse, context_settings=anything, short_help=entry.summary)


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and lists it by the table's words."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401
        table: Mapping[str, CommandEntry],
        **attributes: Any,  # noqa: ANN401
    ) -> None:  # click's
        """Take the table of commands beside what every group takes."""
        super().__init__(*arguments, **attributes)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Return the names in the table's order."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # as above
        """Import a command's module and give the command; None where there is none of that name."""
        entry = self.table.get(cmd_name)
        if entry is None:
            return None
        if entry.distribution and not _is_installed(entry):
            return _make_refusal(cmd_name, entry)
        with _gathering_no_garbage():  # what is imported stays
            module = importlib.import_module(entry.module)
        return cast("click.Command", getattr(module, cmd_name.replace("-", "_")))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; where there is none, name those that are near."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.table, n=2)
            if near:
                hint = f"{error.message} Did you mean {' or '.join(map(repr, near))}?"
                raise click.UsageError(hint, ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # as above
        """Write the commands' list without importing any of them."""
        if not self.table:
            return
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.table.items()])


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Run `podpath COMMAND --help` for a command's options and examples.",
)
@click.version_option(
    __version__, "-V", "--version", prog_name="podpath", message="%(prog)s %(version)s"
)
def podpath() -> None:
    """Explain, down to the line, why a pod on a Kubernetes node cannot reach something.

    Give it whatever evidence you have: a ticket with pasted outputs, a folder or archive of
    collected files, single outputs.

    \b
    Examples:
      podpath diagnose ticket.md
      podpath diagnose node-bundle.tar.gz --probe 'tcp 172.16.0.30 > 104.17.32.82:80'
      kubectl describe pod web-0 | podpath diagnose - node-bundle/
      podpath trace node-bundle/ --probe 'udp 10.244.1.5 > 10.96.0.10:53'

    \b
    Exit codes: 0 nothing wrong found, 1 a fault found, 2 usage error or unreadable input,
    3 undecided for lack of evidence.
    """  # noqa: D301  # click wants the backspace itself


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit; no error leaves it as a traceback."""
    code = run(arguments)
    gc.freeze()  # at its end Python would look for cycles in all that is left, to no use
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    os.environ.setdefault(BLAS_THREADS, "1")
    gc.set_threshold(SELDOM)  # the process lives as long as its case
    if not _prepare_streams():
        return _refuse("standard output is closed")
    out = sys.stdout
    words = list(sys.argv[1:] if arguments is None else arguments)
    if COMPLETING in os.environ:
        from podpath.cli import shell_completion

        shell_completion.register()
    try:
        code = podpath.main(
            words,
            default_map=_read_defaults(words),
            prog_name=name_program(sys.argv[0]),
            standalone_mode=False,
        )
        sys.stdout.flush()
    except click.UsageError as error:
        return _usage(error, words)
    except click.ClickException as error:
        return _refuse(error.format_message())
    except PodpathError as error:
        return _refuse(str(error))
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return _hang_up(BROKEN_PIPE)
    except SystemExit:
        if sys.stdout is out:
            raise  # a shell's completion
        # click's answer to a broken pipe: another stream, and an exit code that would name a fault
        sys.stdout = out
        return _hang_up(BROKEN_PIPE)
    except OSError as error:
        _refuse(_spell_error(error))
        return _hang_up(USAGE)
    except Exception as error:  # noqa: BLE001  # the one boundary: whatever is left is a bug, and still no traceback for the user
        return _internal(error)
    return code if isinstance(code, int) else 0


def _read_defaults(words: Sequence[str]) -> dict[str, Any] | None:
    """Read the defaults of the command that is called from the configuration files; for help, and
    for the shell's completion, none are needed.
    """
    name = next((word for word in words if not word.startswith("-")), "")
    entry = COMMANDS.get(name)
    if entry is None or not entry.is_own or {"-h", "--help"} & {*words}:
        return None
    from podpath.cli import config

    files = tuple(config.find_configs(words))
    command = podpath.get_command(click.Context(podpath), name) if files else None
    if command is None:
        return None
    return {name: config.map_defaults(name, command, files, tuple(COMMANDS))}


def name_program(called: str) -> str:
    """Return how the user calls us: kubectl runs `kubectl-podpath` for `kubectl podpath`."""
    return "kubectl podpath" if os.path.basename(called).startswith(PLUGIN) else "podpath"  # noqa: PTH119  # no Path for a name


def _prepare_streams() -> bool:
    """Let what a stream cannot spell be spelled otherwise, and read a closed input as an empty one;
    False where there is no standard output.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123  # as below
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # it is closed: until the process ends
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    return sys.stdout is not None


def _complain(message: str) -> None:
    from podpath.report.escape import escape  # only where there is something to complain about

    with suppress(OSError):  # nobody can be told that nobody can be told
        click.echo("\n".join(f"podpath: {escape(line)}" for line in message.split("\n")), err=True)


def _refuse(message: str) -> int:
    _complain(message)
    return USAGE


def _usage(error: click.UsageError, words: Sequence[str]) -> int:
    """Say what is wrong with the command line, and whose help tells more; without a command, the
    help itself.
    """
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        with suppress(OSError):  # as in `_complain`
            click.echo(error.format_message(), err=True)
        return USAGE
    if error.ctx is not None:
        path = error.ctx.command_path
    else:
        called = (word for word in words[:1] if word in COMMANDS)
        path = " ".join((name_program(sys.argv[0]), *called))
    return _refuse(f"{error.format_message()}\nrun `{path} --help` for what is accepted")


def _spell_error(error: OSError) -> str:
    """Spell an error of the system as its own tools do: the file, where it is about one, and its
    words.
    """
    reason = (error.strerror or str(error)).lower()
    if error.filename is None:
        return reason
    return f"{error.filename}: {reason}"


def _hang_up(code: int) -> int:
    """Let what is not written go, so that the interpreter's end does not fail once more, and leave
    with a code.

    The reader of our output has gone (`podpath diagnose ... | head`), or the disk is full.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    return code


def _internal(error: Exception) -> int:
    if isinstance(error, MemoryError):
        return _refuse("out of memory: give less evidence at once, or a lower --max-size")
    import traceback  # takes 3 ms to load

    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""  # noqa: PTH119  # no Path for a name
    return _refuse(
        f"this is a bug in podpath, not in the evidence: {type(error).__name__}: {error}{where}\n"
        f"please report it with the evidence; {TRACEBACK}=1 shows where it came from"
    )


if __name__ == "__main__":
    main()
