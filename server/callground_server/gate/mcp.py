"""``callground mcp``: the gate as tools of an agent.  The one door to the package ``mcp``.

Four tools, for the schema of each costs the agent context on every turn.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from typing import Any

from callground import __version__
from callground_server.cli.gate import fail
from callground_server.gate.engine import Engine, RequestError, TooSlow

LIMIT = 30.0
"""Seconds for one question."""

INSTRUCTIONS = (
    "Before you write Python or call a tool, verify it: calls that do not exist or do not fit come back with the "
    "real signatures. Nothing is run."
)


def run_mcp(options: argparse.Namespace) -> int:
    """Serve one client over standard input and output until it leaves."""
    try:
        server = create_server(
            Engine(
                python=os.path.abspath(options.python) if options.python else None,
                trusted=not options.untrusted,
                root=options.root or _project(),
            )
        )
    except ImportError:
        return fail("`callground mcp` needs the package `mcp`: pip install 'callground[agents]'")
    server.run("stdio")
    return 0


def _project() -> str:
    from callground.config import find_root

    return find_root(os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd())


def create_server(engine: Engine) -> Any:
    """The server with its tools.  Raises ImportError without the package."""
    import anyio.to_thread
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations

    server = MCPServer("callground", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    async def ask_about(question: Any) -> dict[str, Any]:
        def run() -> dict[str, Any]:
            try:
                answer: dict[str, Any] = question()
                return answer
            except (RequestError, TooSlow) as error:
                raise ToolError(str(error)) from None

        return await anyio.to_thread.run_sync(run)

    @server.tool(annotations=reads)
    async def verify(
        code: str = "",
        at: str = "",
        path: str = "",
        files: dict[str, str | None] | None = None,
        edits: list[dict[str, Any]] | None = None,
        calls: Any = None,
        tools: Any = None,
        repair: bool = False,
    ) -> dict[str, Any]:
        """Check that the calls in Python code, or calls of tools, exist and fit. Give one of: `code` (with `at`
        "FILE:LINE" as if put in before that line, or `path` as that file's whole text); `files` {path: text} or
        `edits` [{file, old, new}] of a whole plan; `calls` (tool calls in any form) with `tools` (their specs).
        `gate.passed` is the answer, the lists hold what is wrong, with real signatures."""
        given = {
            "code": code,
            "at": at or None,
            "path": path,
            "files": files,
            "edits": edits,
            "calls": calls,
            "tools": tools,
            "repair": repair,
        }
        request = {key: value for key, value in given.items() if value is not None and value != ""}
        if files or edits:
            request["only_new"] = True
        return await ask_about(lambda: engine.verify(request, limit=LIMIT))

    @server.tool(annotations=reads)
    async def signature_of(name: str) -> dict[str, Any]:
        """The real signatures of a function, class or method, by its name or dotted name, in the workspace or an
        installed package."""
        return await ask_about(lambda: engine.signature_of(name))

    @server.tool(annotations=reads)
    async def find_symbol(query: str, limit: int = 10) -> dict[str, Any]:
        """Where the workspace defines something, by a part of its name or words of it."""
        return await ask_about(lambda: engine.find_symbol(query, max(1, min(limit, 50))))

    @server.tool(annotations=reads)
    async def suggest_call(request: str, tools: Any, ask: bool = False) -> dict[str, Any]:
        """One grounded call of one of `tools` (MCP, OpenAI, Anthropic or JSON Schema definitions) for a request in
        words, or null and why. With `ask` the best one even when it is not sure, with what is `missing`."""
        return await ask_about(lambda: engine.suggest({"request": request, "tools": tools, "ask": ask}))

    # Ready before the first question, without keeping the client waiting.
    threading.Thread(target=_warm_up, args=(engine,), daemon=True).start()
    return server


def _warm_up(engine: Engine) -> None:
    try:
        engine.warm_up()
    except Exception as error:  # noqa: BLE001 - the first question will meet it again, and say so
        print(f"callground: {type(error).__name__}: {error}", file=sys.stderr)
