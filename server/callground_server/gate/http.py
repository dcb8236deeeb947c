"""``callground serve``: the gate over HTTP.  The one door to Starlette and uvicorn (they come with ``mcp``)."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from callground import __version__
from callground_server.cli.gate import fail
from callground_server.gate.engine import Engine, RequestError, TooSlow

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})
MAX_BYTES = 2_000_000
LIMIT = 20.0


def run_http(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from callground.config import find_root

    token = None
    if options.token_file is not None:
        try:
            with open(options.token_file, encoding="utf-8") as file:
                token = file.read().strip()
        except OSError as error:
            return fail(f"--token-file: {error.strerror or error}")
        if not token:
            return fail("--token-file: the file is empty")
    if options.host not in LOOPBACK and token is None:
        return fail(f"--host {options.host} is open to others: give a --token-file")
    engine = Engine(
        python=os.path.abspath(options.python) if options.python else None,
        trusted=not options.untrusted,
        root=options.root or find_root(os.getcwd()),
        confined=True,
    )
    try:
        import uvicorn

        app = create_app(
            engine,
            token=token,
            limit=options.limit,
            max_bytes=options.max_bytes,
            hosts=LOOPBACK if options.host in LOOPBACK else None,
        )
    except ImportError:
        return fail("`callground serve` needs Starlette and uvicorn: pip install 'callground[agents]'")
    try:
        listener = socket.create_server(
            (options.host.strip("[]"), options.port),
            family=socket.AF_INET6 if ":" in options.host else socket.AF_INET,
        )
    except OSError as error:
        return fail(f"cannot listen on {options.host}:{options.port}: {error.strerror or error}")
    host = f"[{options.host}]" if ":" in options.host and "[" not in options.host else options.host
    print(f"callground: http://{host}:{listener.getsockname()[1]} serves {engine.root}", flush=True)
    threading.Thread(target=_warm_up, args=(engine,), daemon=True).start()
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listener])
    engine.close()
    return 0


def create_app(
    engine: Engine,
    *,
    token: str | None = None,
    limit: float = LIMIT,
    max_bytes: int = MAX_BYTES,
    hosts: frozenset[str] | None = LOOPBACK,
) -> Starlette:
    """The application.  Raises ImportError without the package."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import HTMLResponse, JSONResponse
    from starlette.routing import Route

    def problem(status: int, message: str) -> Response:
        return JSONResponse({"error": message}, status)

    def refused(request: Request) -> Response | None:
        """Who may not ask: other machines' pages (by the host that they believe in), and who has no token."""
        name = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
        if hosts is not None and name.lower() not in hosts:
            return problem(403, "this host name is not served")
        if token is not None:
            given = request.headers.get("authorization", "")
            if not secrets.compare_digest(given.encode(), f"Bearer {token}".encode()):
                return problem(401, "a bearer token is needed")
        return None

    def route(answer: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            no = refused(request)
            if no is not None:
                return no
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                return problem(415, "the body must be application/json")
            body = b""
            async for part in request.stream():
                body += part
                if len(body) > max_bytes:
                    return problem(413, f"the body is longer than {max_bytes} bytes")
            try:
                data = json.loads(body)
            except (ValueError, RecursionError):
                return problem(400, "the body is not JSON")
            if not isinstance(data, Mapping):
                return problem(400, "the body must be a JSON object")
            try:
                return JSONResponse(await run_in_threadpool(answer, data))
            except RequestError as error:
                return problem(422, str(error))
            except TooSlow as error:
                return problem(503, str(error))

        return endpoint

    def verify(data: Mapping[str, Any]) -> dict[str, Any]:
        return engine.verify(data, limit=limit)

    def related(data: Mapping[str, Any]) -> dict[str, Any]:
        name, number = data.get("name"), data.get("limit", 10)
        if not isinstance(name, str) or not name.strip():
            raise RequestError("`name` must be a string that is not empty")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 100:
            raise RequestError("`limit` must be a number from 1 to 100")
        return engine.related(name, number)

    def suggest(data: Mapping[str, Any]) -> dict[str, Any]:
        return engine.suggest(data)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    async def openapi(_: Request) -> Response:
        return JSONResponse(document())

    async def docs(_: Request) -> Response:
        return HTMLResponse(page(document()))

    return Starlette(
        routes=[
            Route("/verify", route(verify), methods=["POST"]),
            Route("/related", route(related), methods=["POST"]),
            Route("/suggest", route(suggest), methods=["POST"]),
            Route("/healthz", health, methods=["GET"]),
            Route("/openapi.json", openapi, methods=["GET"]),
            Route("/", docs, methods=["GET"]),
        ],
    )


def document() -> dict[str, Any]:
    """The OpenAPI description."""
    text = (resources.files("callground_server.gate") / "openapi.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    found["info"]["version"] = __version__
    return found


def page(description: dict[str, Any]) -> str:
    """The description as a page for people, without anything from elsewhere."""
    from html import escape

    rows = []
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            example = json.dumps(body["example"], indent=2) if "example" in body else ""
            rows.append(
                f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"
                + (f"<pre>{escape(example)}</pre>" if example else "")
            )
    title = escape(description["info"]["title"])
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        "<style>body{font:16px/1.5 system-ui;max-width:46rem;margin:2rem auto;padding:0 1rem}"
        "pre{background:#f4f4f4;padding:1rem;overflow:auto}</style>"
        f"<h1>{title}</h1><p>{escape(description['info']['description'])}</p>"
        f"{''.join(rows)}<p><a href=/openapi.json>openapi.json</a></p></html>"
    )


def _warm_up(engine: Engine) -> None:
    try:
        engine.warm_up()
    except Exception as error:  # noqa: BLE001 - the first question will meet it again, and say so
        print(f"callground: {type(error).__name__}: {error}", file=sys.stderr)
