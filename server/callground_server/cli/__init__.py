"""The command line: ``callground check`` and every other command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from callground import __version__

if TYPE_CHECKING:
    import argparse

EXIT_GROUNDED = 0
EXIT_UNGROUNDED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141


GATE = {
    "verify": "ask before you write: code at a place, or calls of tools",
    "suggest": "one grounded call for a request in words, or none",
    "hook": "answer an agent's hook before an edit is written",
    "mcp": "run the MCP server on standard input and output",
    "serve": "the gate over HTTP, on this machine",
    "daemon": "start, stop or ask the process that keeps graphs warm",
}
"""Commands whose options are told by `callground COMMAND --help`."""


def build_parser() -> argparse.ArgumentParser:
    """Every command and option, with its help."""
    # Here, so that a hook, which answers before an agent's every edit, need not wait for it.
    import argparse

    from callground.config import SCOPES

    parser = argparse.ArgumentParser(
        prog="callground",
        description="Checks each call in Python code against what really exists.",
    )
    parser.add_argument("--version", action="version", version=f"callground {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    check = commands.add_parser(
        "check",
        help="check the calls of files and folders",
        description="Check every call of PATHS (default: the workspace). "
        "Exit status: 0 grounded, 1 a call was proven wrong, 2 usage, or nothing could be checked.",
    )
    check.add_argument("paths", nargs="*", metavar="PATHS", help="files and folders")
    check.add_argument(
        "--scope",
        choices=SCOPES,
        help="all calls (default), those on lines changed since HEAD, or those on lines that an AI wrote",
    )
    check.add_argument("--since", metavar="REV", help="only lines that differ from the merge base with REV")
    _where(check)
    check.add_argument("--format", choices=("text", "json", "sarif", "github"), default="text", help="default: text")
    check.add_argument("--baseline", metavar="FILE", help="findings in that file are accepted: report what is new")
    check.add_argument("--write-baseline", metavar="FILE", help="accept what is found today")
    check.add_argument("--no-daemon", action="store_true", help="do not ask a running daemon")
    check.add_argument("--strict", action="store_true", help="fail when a file could not be read or parsed")
    check.add_argument("--stdin-filename", metavar="F", help="check the text on standard input as if it were file F")
    check.add_argument("--verdicts", action="store_true", help="with --format json: every verdict too")
    check.add_argument("--explain", metavar="FILE:LINE", help="print how each call on the line was decided")
    check.add_argument("--no-progress", action="store_true", help="no progress bar, not even on a terminal")

    fix = commands.add_parser(
        "fix",
        help="repair the calls that can only be meant in one way",
        description="List the certain repairs of PATHS (default: the workspace); each was checked on the patched "
        "text. Exit status: 0 nothing is wrong (any more), 1 something is, 2 usage, or nothing could be checked.",
    )
    fix.add_argument("paths", nargs="*", metavar="PATHS", help="files and folders")
    fix.add_argument("--diff", action="store_true", help="print the changes as a patch")
    fix.add_argument("--write", action="store_true", help="write the changes to the files")
    fix.add_argument("--scope", choices=SCOPES, help="as in `check`; default: all")
    fix.add_argument("--since", metavar="REV", help="only lines that differ from the merge base with REV")
    _where(fix)
    fix.add_argument("--no-progress", action="store_true", help="no progress bar, not even on a terminal")

    related = commands.add_parser("related", help="definitions of the workspace with a like name")
    related.add_argument("name", metavar="NAME", help="a name; only its last part counts")
    locate = commands.add_parser("locate", help="definitions of the workspace, by a part of their name or words")
    locate.add_argument("text", nargs="+", metavar="TEXT", help="a part of a name, words, or a dotted path")
    for asking, limit in ((related, 10), (locate, 20)):
        asking.add_argument("--limit", type=int, default=limit, metavar="N", help=f"default: {limit}")
        _where(asking)
        asking.add_argument("--no-progress", action="store_true", help="no progress bar")

    provenance = commands.add_parser("provenance", help="print who wrote the lines of a file, and how it is known")
    provenance.add_argument("file", metavar="FILE")
    provenance.add_argument("--root", metavar="DIR", help="the workspace; default: found from FILE upwards")
    provenance.add_argument("--format", choices=("text", "json"), default="text", help="default: text")

    rule = commands.add_parser("rule", help="print a rule's page")
    rule.add_argument("code", nargs="?", metavar="CODE", help="the code that stands in a finding's brackets")
    rule.add_argument("--all", action="store_true", help="print every rule's page")

    cache = commands.add_parser("cache", help="show or clear what is kept on disk between runs")
    cache.add_argument("action", choices=("info", "clear"))

    from callground_server.cli.distill import add_parser as add_distill

    add_distill(commands)

    schema = commands.add_parser(
        "schema", help="print the contract of `check --format json`, of the gate, or of `suggest`"
    )
    schema.add_argument("what", nargs="?", choices=("report", "gate", "suggest"), default="report")
    doctor = commands.add_parser("doctor", help="print the environment that would be used, and why")
    _where(doctor)
    commands.add_parser("lsp", help="run the language server on standard input and output")
    commands.add_parser("nvim-path", help="print the folder for Neovim's runtime path")
    for name, text in GATE.items():
        commands.add_parser(name, help=text)
    return parser


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--python", metavar="PATH", help="interpreter or virtual environment whose packages count")
    parser.add_argument("--root", metavar="DIR", help="the workspace; default: found from PATHS upwards")
    parser.add_argument("--untrusted", action="store_true", help="never start the workspace's own interpreter or tools")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["lsp"]:
        # The server owns standard input and output from here on, and has options of its own.
        from callground_server.lsp import main as serve

        return serve(given[1:])
    if given and given[0] in GATE:
        from callground_server.cli.gate import main as gate

        return _guarded(lambda: gate(given))
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding cannot show is escaped, not a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        options = build_parser().parse_args(given)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else EXIT_USAGE
    return _guarded(lambda: _dispatch(options))


def _guarded(command: Callable[[], int]) -> int:
    try:
        return command()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`) has gone: end quietly, and keep the interpreter from flushing into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE


def _dispatch(options: argparse.Namespace) -> int:
    # Imported per command: `callground rule` need not load the checker, nor `check` the server.
    if options.command == "check":
        from callground_server.cli.warm import ask_daemon

        served = ask_daemon(options)
        if served is None:
            from callground_server.cli.check import run

            served = run(options)
        status = served
    elif options.command == "provenance":
        from callground_server.cli.authorship import run_provenance

        status = run_provenance(options)
    elif options.command == "rule":
        from callground_server.cli.pages import print_rules

        status = print_rules(options.code, every=options.all)
    elif options.command == "fix":
        from callground_server.cli.fix import run as fix

        status = fix(options)
    elif options.command in ("related", "locate"):
        from callground_server.cli.names import run_locate, run_related

        status = run_related(options) if options.command == "related" else run_locate(options)
    elif options.command == "distill":
        from callground_server.cli.distill import run as distill

        status = distill(options)
    elif options.command == "schema":
        from callground_server.cli.pages import print_schema

        status = print_schema(options.what)
    elif options.command == "nvim-path":
        from callground_server.cli.pages import print_nvim_path

        status = print_nvim_path()
    elif options.command == "cache":
        from callground_server.cli.cache import run_cache

        status = run_cache(options.action)
    else:
        from callground_server.cli.doctor import run_doctor

        status = run_doctor(options)
    sys.stdout.flush()
    return status
