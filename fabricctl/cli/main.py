"""Entry point: the command tree, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import errno
import gc
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import typer

from fabricctl import __version__
from fabricctl.cli import findings as findings_commands
from fabricctl.cli import identify as identify_commands
from fabricctl.cli import node as node_commands
from fabricctl.cli import panel as panel_commands
from fabricctl.cli import plan as plan_commands
from fabricctl.cli import schema as schema_commands
from fabricctl.cli import site as site_commands
from fabricctl.cli import verify_cabling as verify_commands
from fabricctl.cli import work_order as work_order_commands
from fabricctl.cli.bmc import group as bmc_group
from fabricctl.cli.console import say
from fabricctl.cli.ironic import group as ironic_group
from fabricctl.cli.maas import group as maas_group
from fabricctl.errors import EXIT_BUG, EXIT_INTERRUPTED, EXIT_USAGE, FabricctlError, InputError

EXIT_BROKEN_PIPE = 141
"""What a shell shows for a program ended by SIGPIPE: the reader of our output went away."""

app = typer.Typer(
    name="fabricctl",
    help="From crates to a fabric you can train on: the intended InfiniBand cabling against what is really there.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # rich's help imports a Markdown parser and a syntax highlighter: 0.2 s for a frame
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 as planned, 1 findings, 2 wrong usage or input, 3 could not tell, 130 interrupted.",
)
verify_commands.register(app)
identify_commands.register(app)
app.add_typer(plan_commands.app, name="plan")
app.add_typer(panel_commands.app, name="panel")
app.add_typer(site_commands.app, name="site")
app.add_typer(work_order_commands.app, name="work-order")
app.add_typer(findings_commands.app, name="findings")
node_commands.register(app)
app.add_typer(bmc_group.app, name="bmc")
app.add_typer(ironic_group.app, name="ironic")
app.add_typer(maas_group.app, name="maas")
schema_commands.register(app)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"fabricctl {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback with an error. May stand anywhere on the line.")
    ] = False,
) -> None:
    """Where options of every command live."""


def run() -> None:
    """Run the command line and exit."""
    # What a command reads it keeps to its end: looking for garbage in it again and again took a seventh of the CPU time
    # of a harvest of 511 BMCs and freed nothing.
    gc.set_threshold(100_000, 50, 100)
    arguments = [word for word in sys.argv[1:] if word != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1 or bool(os.environ.get("FABRICCTL_DEBUG"))
    sys.exit(main(arguments, debug=debug))


def main(arguments: list[str], *, debug: bool = False) -> int:
    """Run a command line and return its exit code.

    :param debug: show every error's traceback, and those that cost one BMC only; exit codes are the same.
    """
    with _logged() if debug else nullcontext():
        return _run(arguments, debug=debug)


@contextmanager
def _logged() -> Iterator[None]:
    """What is logged for those who debug goes to standard error while the block runs."""
    import logging

    logger, handler = logging.getLogger("provision"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        result = app(args=arguments, standalone_mode=False)
        sys.stdout.flush()
    except FabricctlError as exc:
        if debug:
            traceback.print_exc()
        for error in _each(exc):
            say(str(error))
        return exc.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as exc:  # typer's own answer to a reader that went away is exit code 1: "findings" here
        if isinstance(exc.__context__, BrokenPipeError):
            return _reader_gone()
        raise
    except Exception as exc:  # noqa: BLE001 - whatever it is, it ends in a line and an exit code
        if debug:
            traceback.print_exc()
        return _other(exc)
    code = result if isinstance(result, int) else 0
    if code == EXIT_INTERRUPTED:  # some versions of typer turn Ctrl-C into an exit code without a word
        say("interrupted")
    return code


def _reader_gone() -> int:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_BROKEN_PIPE


def _each(exc: FabricctlError) -> list[FabricctlError]:
    """Errors that carry several (a site file with five mistakes) say them all, one line each."""
    errors: Any = getattr(exc, "errors", None)
    return list(errors) if errors and all(isinstance(error, InputError) for error in errors) else [exc]


def _other(exc: Exception) -> int:
    """A full disk; usage errors of the command-line library (click or typer's copy of it); else a bug of ours."""
    if isinstance(exc, OSError) and exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        say(f"the output cannot be written: {exc.strerror}")
        return EXIT_USAGE
    show = getattr(exc, "format_message", None)
    if show is None:
        say(
            f"internal error: {type(exc).__name__}: {exc} (a bug of fabricctl: run again with --debug and report it)"
        )
        return EXIT_BUG
    context = getattr(exc, "ctx", None)
    text = show()
    if (
        "NoArgs" in type(exc).__name__ or not text
    ):  # no arguments at all: the library's "error" is the help text
        typer.echo(context.get_help() if context is not None else text)
        return EXIT_USAGE
    where = context.command_path if context is not None else "fabricctl"
    say(f"{' '.join(text.split())} (see {where} --help)")
    return EXIT_USAGE
