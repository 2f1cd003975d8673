"""The `abs-gate` command: a group whose commands are imported only when they are called."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Sequence

import click

from abs_gate import __version__
from abs_gate.errors import AbsGateError, Interrupted

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("run", "The whole gate: contracts, verification, sessions, verdict, reports."),
    "sessions": ("sessions", "Only sessions against an agent; no configuration file needed."),
    "diff": ("diff", "What changed between two versions of tool contracts, and whom it breaks."),
    "lint": ("lint", "Faults of tool contracts, and what model providers would refuse."),
    "fingerprint": ("fingerprint", "One line a tool: fingerprint, tool_id, version; the tool set last."),
    "pull": ("pull", "Save a live MCP server's tools as a contract file."),
    "verify": ("verify", "Deterministic verification of tools, providers and adapters."),
    "validate": ("validate", "Every document, configuration, contract and case, without an agent."),
    "report": ("report", "Render a result again."),
    "merge": ("merge", "Merge the results of shards and decide once."),
    "canary": ("canary", "Compare execution records of a baseline and a candidate."),
    "evidence": ("evidence", "The release checklist of a result."),
    "init": ("init", "Write a configuration, an example session, a contract and a workflow."),
    "demo": ("demo", "Play one good and one bad pull request against the embedded agent."),
    "rules": ("rules", "List every rule, or explain one."),
}
"""Command name to its module in `abs_gate.cli.commands` and its summary, so that help imports nothing."""


class LazyGroup(click.Group):
    """Imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"abs_gate.cli.commands.{COMMANDS[cmd_name][0]}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from abs_gate.sources.suggest import did_you_mean

            raise click.UsageError(f"There is no command `{args[0]}`.{did_you_mean(args[0], COMMANDS)}", ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="abs-gate", message="%(prog)s %(version)s")
def cli() -> None:
    """Gate releases of AI agents.

    Exit codes: 0 passed, 1 failed, 2 wrong configuration or usage, 3 could not be verified.
    """


def run_cli(arguments: Sequence[str]) -> int:
    """Run the command line and give its exit code."""

    def call() -> int:
        code = cli.main(args=list(arguments), prog_name="abs-gate", standalone_mode=False)
        return code if isinstance(code, int) else 0

    return guarded(call, debug="--debug" in arguments or os.environ.get("ABS_GATE_DEBUG") == "1")


def guarded(call: Callable[[], int], *, debug: bool) -> int:
    """Call it; a user's mistake becomes readable lines and an exit code, never a traceback."""
    from abs_gate.cli import output

    try:
        return call()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as wrong:
        output.error(wrong.format_message())
        if isinstance(wrong, click.UsageError) and wrong.ctx is not None:
            output.error(f"Try `{wrong.ctx.command_path} --help`.")
        return 2
    except (click.exceptions.Abort, KeyboardInterrupt):
        output.error("Cancelled.")
        return 130
    except Interrupted as stop:
        output.error(str(stop))
        return stop.signal_exit_code
    except BrokenPipeError:
        # The reader of our output went away; what it did not read cannot be shown anywhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as fault:
        if debug:
            import traceback

            # Through the one writer and not as Python would: texts of others stand in it, and the exit code is ours.
            output.error(traceback.format_exc())
        if isinstance(fault, AbsGateError):
            output.error(str(fault))
            return fault.exit_code
        output.error(
            f"Internal fault in abs-gate {__version__}: {type(fault).__name__}: {fault}\n"
            "This is a bug in abs-gate, not in your agent, and no verdict was given. Run it with --debug to see more."
        )
        return 70


def main() -> int:
    """Run the `abs-gate` script; gives its exit code."""
    # What is loaded stays until the end: looking for garbage in it over and over costs a third of a large comparison.
    gc.set_threshold(20_000, 20, 50)
    return run_cli(sys.argv[1:])
