"""The commands of the gate: their options, apart from those of the other commands, so that they start at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Run one of the gate's commands; the exit status."""
    name, *rest = arguments
    if name == "hook":
        from callground_server.cli.hook import run_hook

        return run_hook(rest)
    parser = PARSERS[name]()
    try:
        options = parser.parse_args(rest)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else 2
    if name == "verify":
        from callground_server.cli.verify import run_verify

        return run_verify(options)
    if name == "suggest":
        from callground_server.cli.suggest import run_suggest

        return run_suggest(options)
    if name == "daemon":
        from callground_server.cli.daemon import run_daemon

        return run_daemon(options)
    if name == "mcp":
        from callground_server.gate.mcp import run_mcp

        return run_mcp(options)
    from callground_server.gate.http import run_http

    return run_http(options)


def where(parser: argparse.ArgumentParser) -> None:
    """The options that say which workspace and which environment."""
    parser.add_argument("--root", metavar="DIR", help="the workspace; default: found upwards")
    parser.add_argument("--python", metavar="PATH", help="interpreter or environment whose packages count")
    parser.add_argument("--untrusted", action="store_true", help="never start the workspace's own interpreter or tools")


def verify_parser() -> argparse.ArgumentParser:
    """``callground verify``."""
    parser = argparse.ArgumentParser(
        prog="callground verify",
        description="Ask before you write: is this code, or are these calls of tools, grounded? Prints the "
        "report as JSON (`callground schema`). Exit status: 0 it passes the gate, 1 it does not, 2 usage.",
    )
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="code, a plan or an answer; default: standard input"
    )
    parser.add_argument("--at", metavar="FILE:LINE", help="judge it as if it were put in before that line")
    parser.add_argument("--as", dest="path", metavar="FILE", help="judge it as the whole text of that file")
    parser.add_argument("--tools", metavar="TOOLS.json", help="the tools that there are; the input is calls of them")
    parser.add_argument("--calls", action="store_true", help="the input is calls of tools (of the workspace)")
    parser.add_argument("--repair", action="store_true", help="apply the certain repairs, and give the text back")
    parser.add_argument("--verdicts", action="store_true", help="every verdict too")
    parser.add_argument("--format", choices=("json", "text"), default="json", help="default: json")
    parser.add_argument("--batch", metavar="FILE.jsonl", help="one JSON request a line, one answer a line")
    parser.add_argument("--no-daemon", action="store_true", help="do not ask a running daemon")
    where(parser)
    return parser


def suggest_parser() -> argparse.ArgumentParser:
    """``callground suggest``."""
    parser = argparse.ArgumentParser(
        prog="callground suggest",
        description="One grounded call for a request in words, or none and why. "
        "Exit status: 0 a call, 1 none, 2 usage.",
    )
    parser.add_argument("text", nargs="?", metavar="TEXT", help="what is to be done; `-` reads standard input")
    parser.add_argument("--tools", metavar="TOOLS.json", help="the tools that there are, in any form of definition")
    parser.add_argument("--at", metavar="FILE:LINE", help="a call of the workspace's functions, written at that line")
    parser.add_argument("--batch", metavar="FILE.jsonl", help="one JSON request a line, one answer a line")
    parser.add_argument("--ask", action="store_true", help="the best call also when it is not sure or not complete")
    parser.add_argument(
        "--alpha", type=float, metavar="SHARE", help="of calls that may be of the wrong tool; default: 0.1"
    )
    parser.add_argument("--delta", type=float, metavar="SHARE", help="chance that it is more; default: 0.05")
    parser.add_argument("--explain", action="store_true", help="what the decision rests on")
    parser.add_argument("--json", action="store_true", help="the answer as JSON (`callground schema suggest`)")
    parser.add_argument("--no-daemon", action="store_true", help="do not ask a running daemon")
    where(parser)
    return parser


def daemon_parser() -> argparse.ArgumentParser:
    """``callground daemon``."""
    parser = argparse.ArgumentParser(
        prog="callground daemon",
        description="Keeps graphs warm for hooks and `verify`. Hooks start it by themselves; it ends after half an "
        "hour without a question.",
    )
    parser.add_argument("action", choices=("start", "stop", "status", "run"))
    parser.add_argument("--near", metavar="PATH", help=argparse.SUPPRESS)
    parser.add_argument("--idle", type=float, default=1800.0, metavar="SECONDS", help=argparse.SUPPRESS)
    return parser


def mcp_parser() -> argparse.ArgumentParser:
    """``callground mcp``."""
    parser = argparse.ArgumentParser(
        prog="callground mcp",
        description="An MCP server on standard input and output: verify, signature_of, find_symbol, suggest_call.",
    )
    where(parser)
    return parser


def serve_parser() -> argparse.ArgumentParser:
    """``callground serve``."""
    parser = argparse.ArgumentParser(
        prog="callground serve", description="The gate over HTTP, for one workspace, on this machine only."
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", type=int, default=8710, help="default: 8710; 0 for any that is free")
    parser.add_argument("--token-file", metavar="FILE", help="a bearer token that every request must carry")
    parser.add_argument("--limit", type=float, default=20.0, metavar="SECONDS", help="for one request")
    parser.add_argument("--max-bytes", type=int, default=2_000_000, metavar="N", help="of one request")
    where(parser)
    return parser


PARSERS = {
    "verify": verify_parser,
    "suggest": suggest_parser,
    "daemon": daemon_parser,
    "mcp": mcp_parser,
    "serve": serve_parser,
}


def fail(message: str) -> int:
    """Say what is wrong with the command."""
    print(f"callground: {message}", file=sys.stderr)
    return 2
