"""Measures how long a language server takes to name an invented callee, with one raw client for all servers.

    lsp_latency.py --root TREE --venv VENV --file REL [--rounds 15] [--save] [--settings JSON] -- SERVER ...

Opens REL (best about 1,000 lines) of a warm project, then inserts a block of 30 lines in the middle, again and
again, by one incremental didChange, and measures the time from sending it until diagnostics are there that name
this round's own invented callee (pushed, or pulled with textDocument/diagnostic sent at once when the server
announces pulls). The block is taken out again between the rounds. `--save` also sends didSave, for servers that
lint saved files only. The last line is JSON: median, smallest and 90th percentile in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BLOCK = '''
def inserted_{n}(path, retries=3):
    """Read a settings file and merge it with the defaults."""
    import json
    import os.path
    result = {{}}
    for attempt in range(retries):
        try:
            with open(path, encoding="utf-8") as handle:
                data = json.load(handle)
        except OSError:
            continue
        if not isinstance(data, dict):
            raise ValueError("expected a mapping")
        for key, value in data.items():
            if isinstance(value, str):
                value = value.strip()
            elif isinstance(value, list):
                value = [str(item) for item in value]
            elif value is None:
                value = ""
            result[key] = value
        break
    name = os.path.basename(path)
    base, ext = os.path.splitext(name)
    if ext not in (".json", ".conf"):
        result["ext"] = ext
    result["base"] = base
    result["extra"] = invented_callee_{n}(base)
    return result

'''


class Client:
    """JSON-RPC over a server's standard streams; answers what servers commonly ask."""

    def __init__(self, process: asyncio.subprocess.Process, root: str, settings: dict[str, Any]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin, self.stdout = process.stdin, process.stdout
        self.settings = settings
        self.folders = [{"uri": root, "name": "workspace"}]
        self.diagnostics: asyncio.Queue[tuple[float, dict[str, Any]]] = asyncio.Queue()
        self.registered: list[str] = []
        self.last = time.monotonic()
        self._count = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    async def request(self, method: str, params: object, timeout: float = 180) -> dict[str, Any]:
        self._count += 1
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[self._count] = future
        self.send({"id": self._count, "method": method, "params": params})
        return await asyncio.wait_for(future, timeout)

    def section(self, name: str | None) -> Any:
        value: Any = self.settings
        for key in (name or "").split("."):
            if key:
                value = value.get(key, {}) if isinstance(value, dict) else {}
        return value or None

    async def listen(self) -> None:
        while True:
            length = 0
            while (line := await self.stdout.readline()) != b"\r\n":
                if not line:
                    return
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.receive(json.loads(await self.stdout.readexactly(length)))

    def receive(self, message: dict[str, Any]) -> None:
        self.last = time.monotonic()
        method, params = message.get("method"), message.get("params")
        if method is None:
            future = self._waiting.pop(message["id"], None)
            if future is not None and not future.done():
                future.set_result(message)
        elif "id" in message:
            result: Any = None
            if method == "workspace/configuration" and params:
                result = [self.section(item.get("section")) for item in params["items"]]
            elif method == "client/registerCapability" and params:
                self.registered += [r["method"] for r in params["registrations"]]
            elif method == "workspace/workspaceFolders":
                result = self.folders
            self.send({"id": message["id"], "result": result})
        elif method == "textDocument/publishDiagnostics" and params:
            self.diagnostics.put_nowait((time.perf_counter(), params))


class Session:
    """One open document of a running server."""

    def __init__(self, client: Client, uri: str, name: str, timeout: float) -> None:
        self.client = client
        self.uri = uri
        self.name = name
        self.timeout = timeout
        self.pulls = False
        self.version = 1

    def insert(self, line: int, text: str) -> None:
        self.change(line, line, text)

    def change(self, first: int, last: int, text: str) -> None:
        """Replace whole lines."""
        self.version += 1
        place = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
        document = {"uri": self.uri, "version": self.version}
        change = {"range": place, "text": text}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def pull(self) -> asyncio.Task[dict[str, Any]]:
        params = {"textDocument": {"uri": self.uri}}
        return asyncio.create_task(self.client.request("textDocument/diagnostic", params))

    async def until(self, wanted: Callable[[str], bool]) -> tuple[float | None, str]:
        """When diagnostics of the document are as wanted, and whether they were pushed or pulled."""
        end = time.perf_counter() + self.timeout
        pulled: asyncio.Task[dict[str, Any]] | None = None
        while (left := end - time.perf_counter()) > 0:
            if self.pulls and pulled is None:
                pulled = self.pull()
            pushed = asyncio.create_task(self.client.diagnostics.get())
            waiting: set[asyncio.Task[Any]] = {pushed, pulled} if pulled is not None else {pushed}
            done, _ = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if pushed in done:
                at, params = pushed.result()
                if params["uri"].endswith(self.name) and wanted(json.dumps(params["diagnostics"])):
                    return at, "push"
            else:
                pushed.cancel()
            if pulled is not None and pulled in done:
                items = (pulled.result().get("result") or {}).get("items", [])
                pulled = None
                if wanted(json.dumps(items)):
                    return time.perf_counter(), "pull"
                await asyncio.sleep(0.005)
        return None, "timeout"

    async def quiet(self, seconds: float = 4, most: float = 90) -> None:
        """Wait until the server has said nothing for a while."""
        end = time.monotonic() + most
        while time.monotonic() < end and time.monotonic() - self.client.last < seconds:
            await asyncio.sleep(0.3)

    def forget(self) -> None:
        while not self.client.diagnostics.empty():
            self.client.diagnostics.get_nowait()


CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
    },
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {"dynamicRegistration": True},
    },
}


def settings_of(python: str, venv: str, own: dict[str, Any]) -> dict[str, Any]:
    analysis = {"diagnosticMode": "openFilesOnly"}
    return {
        "python": {"pythonPath": python, "defaultInterpreterPath": python, "analysis": analysis},
        "basedpyright": {"analysis": analysis},
        "ty": {"configuration": {"environment": {"python": venv}}},
        **own,
    }


def middle(lines: list[str]) -> int:
    """A line in the middle at which a definition starts."""
    starts = ("def ", "class ", "@")
    return next(
        i
        for i in range(len(lines) // 2, len(lines))
        if lines[i].startswith(starts) and not lines[i - 1].startswith("@")
    )


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    root, venv = options.root.resolve(), Path(os.path.abspath(options.venv))
    path: Path = root / options.file
    text = path.read_text(encoding="utf8")
    lines = text.split("\n")
    at = middle(lines)
    program = os.path.abspath(options.server[0]) if os.path.exists(options.server[0]) else options.server[0]
    process = await asyncio.create_subprocess_exec(
        program,
        *options.server[1:],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=root,
        env={**os.environ, "VIRTUAL_ENV": str(venv), "PATH": f"{venv}/bin:{os.environ['PATH']}"},
        limit=1 << 26,
    )
    python = str(venv / "bin/python")
    settings = settings_of(python, str(venv), json.loads(options.settings))
    client = Client(process, root.as_uri(), settings)
    listener = asyncio.create_task(client.listen())
    answer = await client.request(
        "initialize",
        {
            "processId": os.getpid(),
            "rootUri": root.as_uri(),
            "workspaceFolders": client.folders,
            "initializationOptions": settings.get("init", {"pythonPath": python}),
            "capabilities": CAPABILITIES,
        },
    )
    client.notify("initialized", {})
    client.notify("workspace/didChangeConfiguration", {"settings": settings})
    await asyncio.sleep(1)
    session = Session(client, path.as_uri(), path.name, options.timeout)
    started = time.perf_counter()
    document = {"uri": session.uri, "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    session.pulls = (
        bool(answer["result"]["capabilities"].get("diagnosticProvider"))
        or "textDocument/diagnostic" in client.registered
    )
    await session.until(lambda _: True)
    cold = time.perf_counter() - started
    await session.quiet()

    def save(content: str) -> None:
        if options.save:
            path.write_text(content, encoding="utf8")
            client.notify("textDocument/didSave", {"textDocument": {"uri": session.uri}})

    times: list[float] = []
    how = ""
    for number in range(options.rounds + 1):
        block, callee = BLOCK.format(n=number), f"invented_callee_{number}"
        sent = time.perf_counter()
        session.insert(at, block)
        save("\n".join([*lines[:at], block, *lines[at:]]))
        seen, how = await session.until(lambda found, callee=callee: callee in found)  # type: ignore[misc]
        if number:  # the first round warms up
            times.append((seen - sent) * 1000 if seen else float("inf"))
        session.change(at, at + block.count("\n"), "")
        save(text)
        await session.until(lambda found, callee=callee: callee not in found)  # type: ignore[misc]
        await asyncio.sleep(1.0)
        session.forget()
    process.kill()
    listener.cancel()
    await process.wait()
    return {
        "server": " ".join(os.path.basename(part) for part in options.server),
        "lines": len(lines),
        "cold_ms": round(cold * 1000),
        "median_ms": round(statistics.median(times), 1),
        "min_ms": round(min(times), 1),
        "p90_ms": round(sorted(times)[int(0.9 * len(times))], 1),
        "mode": how,
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--file", required=True, help="relative to the root")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--settings", default="{}", help="JSON, beside the usual settings of the servers")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("server", nargs="+", help="the server's command")
    print(json.dumps(asyncio.run(measure(parser.parse_args()))))


if __name__ == "__main__":
    main()
