"""`abs-gate pull`: save a live MCP server's tools as a contract file."""

from __future__ import annotations

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import common


@click.command()
@click.option("--mcp-command", metavar="COMMAND", help="Command line of a server on standard input and output.")
@click.option("--mcp-url", metavar="URL", help="Address of a server over streamable HTTP.")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="Header for --mcp-url; repeatable.")
@click.option("--env", "names", multiple=True, metavar="NAME", help="Variable passed on to the server; repeatable.")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=30.0, show_default=True, help="Seconds in all.")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="The contract file to write.")
@common
def command(
    mcp_command: str | None,
    mcp_url: str | None,
    headers: tuple[str, ...],
    names: tuple[str, ...],
    timeout: float,
    output: str,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Write the tools of a live MCP server to a file that diffs well.

    The server is told only what it needs: no environment but PATH and the like, and what --env names.
    Needs pip install 'abs-gate[mcp]'.
    """
    from abs_gate.drivers.mcp_client import pull_tools, write_snapshot
    from abs_gate.reports.figures import count_of

    if (mcp_command is None) == (mcp_url is None):
        raise click.UsageError("Give either --mcp-command or --mcp-url.")
    pulled = pull_tools(
        command=mcp_command,
        url=mcp_url,
        headers=dict(_header(each) for each in headers),
        environment_names=names,
        timeout_s=timeout,
    )
    out.data(write_snapshot(pulled), output)
    if not quiet:
        out.error(f"{count_of(len(pulled.tools), 'tool')} of {mcp_url or 'the server'} written to {output}.")
    return 0


def _header(text: str) -> tuple[str, str]:
    from abs_gate.settings import values

    try:
        ((name, value),) = values.headers((text,)).items()
    except ValueError as problem:
        raise click.UsageError(f"--header: {problem}") from None
    return name, value
