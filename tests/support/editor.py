"""A small editor that drives the language server through pytest-lsp, the way real editors do."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

from cattrs import Converter
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import register_lsp_features

import callground
import callground_server

SETTINGS = {"scope": "all", "python": sys.executable}
"""Every finding, in an environment that is known: tests that are about something else say so."""

PATIENCE = 240.0
"""Seconds to wait for anything: machines that run tests may be starved.  A test that passes waits no longer for it."""


def server_command(*arguments: str) -> list[str]:
    """The server, started as it starts everywhere: isolated, with the workspace on no path."""
    places = [str(Path(module.__file__).parents[1]) for module in (callground, callground_server)]
    start = (
        f"import sys; sys.path[:0] = {places!r}; from callground_server.lsp import main; sys.exit(main(sys.argv[1:]))"
    )
    return [sys.executable, "-I", "-c", start, *arguments]


class Editor:
    """One editor with one server."""

    def __init__(self, root: Path, capabilities: lsp.ClientCapabilities) -> None:
        self.root = root
        self.capabilities = capabilities
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: dict[str, list[lsp.PublishDiagnosticsParams]] = {}
        self.registrations: list[lsp.Registration] = []
        self.refreshes = 0
        self.settings: dict[str, Any] = {}
        self.result: lsp.InitializeResult | None = None
        self.client = self._make_client()
        self._news = asyncio.Event()

    def _make_client(self) -> LanguageClient:
        client = LanguageClient(converter_factory=_converter)
        features = {
            lsp.CLIENT_REGISTER_CAPABILITY: self._register,
            lsp.WORKSPACE_CONFIGURATION: self._configuration,
            lsp.WORKSPACE_DIAGNOSTIC_REFRESH: self._refresh,
            lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: self._publish,
        }
        for method, handler in features.items():
            client.feature(method)(_plain(handler))
        from pytest_lsp.client import DEFAULT_CLIENT_FEATURES

        register_lsp_features(
            client, {name: made for name, made in DEFAULT_CLIENT_FEATURES.items() if name not in features}
        )
        return client

    # -- life

    async def start(
        self,
        *arguments: str,
        folders: list[Path] | None = None,
        options: Any = None,
        cache: Path | None = None,
        process_id: int | None = None,
    ) -> None:
        """Start the server and say who we are."""
        command = server_command(*arguments)
        if cache is not None:
            command += ["--cache-dir", str(cache)]
        environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
        await self.client.start_io(*command, env=environment)
        opened = [self.root] if folders is None else folders
        self.result = await self.client.initialize_session(
            lsp.InitializeParams(
                capabilities=self.capabilities,
                process_id=process_id,
                root_uri=opened[0].as_uri() if opened else None,
                workspace_folders=[lsp.WorkspaceFolder(uri=path.as_uri(), name=path.name) for path in opened],
                # Most tests are about findings, not about who wrote the text.
                initialization_options=SETTINGS if options is None else options,
            )
        )

    async def stop(self) -> int | None:
        """Leave in good order; the server's exit status."""
        await asyncio.wait_for(self.client.shutdown_session(), PATIENCE)
        server = self.client._server
        await self.client.stop()
        return server.returncode if server is not None else None

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server's process."""
        assert self.client._server is not None
        return self.client._server

    # -- what the server asks

    def _register(self, params: lsp.RegistrationParams) -> None:
        self.registrations += params.registrations

    def _configuration(self, params: lsp.ConfigurationParams) -> list[Any]:
        answers = [self.settings.get(item.section or "") for item in params.items]
        return [{**SETTINGS, **answer} if isinstance(answer, dict) else answer for answer in answers]

    def _refresh(self, _: None) -> None:
        self.refreshes += 1
        self._news.set()

    def _publish(self, params: lsp.PublishDiagnosticsParams) -> None:
        self.published.setdefault(params.uri, []).append(params)
        self._news.set()

    # -- what the person does

    def uri(self, name: str) -> str:
        """The URI of a file of the project; a URI is kept."""
        return name if ":" in name else (self.root / name).as_uri()

    def open(self, name: str, text: str | None = None) -> str:
        """Open a file."""
        uri = self.uri(name)
        if text is None:
            text = (self.root / name).read_bytes().decode("utf-8")
        self.texts[uri] = text
        self.versions[uri] = 1
        self.client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri=uri, language_id="python", version=1, text=text))
        )
        return uri

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace the only place where `old` stands, as one incremental edit."""
        uri = self.uri(name)
        text = self.texts[uri]
        assert text.count(old) == 1, (old, text.count(old))
        self.splice(name, text.index(old), text.index(old) + len(old), new)

    def splice(self, name: str, start: int, end: int, new: str) -> None:
        """Replace a range, given as offsets."""
        uri = self.uri(name)
        text = self.texts[uri]
        self.texts[uri] = text[:start] + new + text[end:]
        self.versions[uri] += 1
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri]),
                [
                    lsp.TextDocumentContentChangePartial(
                        range=lsp.Range(self.position(text, start), self.position(text, end)), text=new
                    )
                ],
            )
        )

    def save(self, name: str) -> None:
        """Write the document to its file."""
        uri = self.uri(name)
        (self.root / name).write_bytes(self.texts[uri].encode("utf-8"))
        self.client.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    def close(self, name: str) -> None:
        """Close a document without saving it."""
        uri = self.uri(name)
        del self.texts[uri]
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    @property
    def encoding(self) -> str:
        """What positions count in."""
        assert self.result is not None
        kind = self.result.capabilities.position_encoding
        return str(kind.value if isinstance(kind, lsp.PositionEncodingKind) else kind or "utf-16")

    def position(self, text: str, offset: int) -> lsp.Position:
        """The position of an offset."""
        before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
        line = before.rpartition("\n")[2]
        return lsp.Position(before.count("\n"), units(line, self.encoding))

    # -- what the person sees

    def shown(self, name: str) -> list[lsp.Diagnostic]:
        """The diagnostics that were last pushed for a file."""
        published = self.published.get(self.uri(name))
        return list(published[-1].diagnostics) if published else []

    async def until(self, condition: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
        """Wait until something is so."""
        deadline = asyncio.get_running_loop().time() + patience
        while not condition():
            left = deadline - asyncio.get_running_loop().time()
            assert left > 0, f"waited {patience} s in vain: {what}"
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), min(left, 0.2))
            except asyncio.TimeoutError:
                continue

    async def diagnostics(self, name: str) -> list[lsp.Diagnostic]:
        """The diagnostics pushed for the current version."""
        uri = self.uri(name)

        def current() -> bool:
            published = self.published.get(uri)
            return bool(published) and published[-1].version == self.versions[uri]

        await self.until(current, f"diagnostics of {name}, version {self.versions[uri]}")
        return self.shown(name)

    async def shows(self, name: str, *wanted: str) -> None:
        """Wait until exactly these texts are underlined."""

        def same() -> bool:
            return sorted(self.underlined(name)) == sorted(wanted)

        await self.until(same, f"{wanted} underlined in {name}; shown: {self.shown(name)}")

    def underlined(self, name: str, diagnostics: list[lsp.Diagnostic] | None = None) -> list[str]:
        """The texts that diagnostics stand under."""
        text = self.texts[self.uri(name)]
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        found = []
        for diagnostic in self.shown(name) if diagnostics is None else diagnostics:
            start, end = diagnostic.range.start, diagnostic.range.end
            if start.line != end.line or start.line >= len(lines):
                found.append("(several lines)")
                continue
            found.append(between(lines[start.line], start.character, end.character, self.encoding))
        return found

    async def pulls(self, name: str, *wanted: str) -> Any:
        """Pull as often as the server asks for it, until exactly these texts are underlined; the last report."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while True:
            before = self.refreshes
            report = await self.pull(name)
            found = sorted(self.underlined(name, report.items))
            if found == sorted(wanted):
                return report
            left = deadline - asyncio.get_running_loop().time()
            assert left > 0, f"waited in vain: {wanted} underlined in {name}; found {found}"
            await self.until(lambda before=before: self.refreshes > before, f"a request to pull {name} again", left)  # type: ignore[misc]

    async def pull(self, name: str, previous: str | None = None) -> Any:
        """Ask for the diagnostics of a file, and again when the server is behind, as editors do."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while True:
            asked = self.client.text_document_diagnostic_async(
                lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(self.uri(name)), previous_result_id=previous)
            )
            try:
                return await asyncio.wait_for(asked, PATIENCE)
            except JsonRpcException as error:
                behind = error.code == lsp.LSPErrorCodes.ServerCancelled.value
                if not behind or asyncio.get_running_loop().time() > deadline:
                    raise

    async def settle(self) -> None:
        """Wait until the server has nothing left to do; there is no other limit than the test's own."""
        answer = await self.client.protocol.send_request_async("callground/settle", {})
        assert answer.settled


def _converter() -> Converter:
    """lsprotocol's own cannot read the server's notebook selector."""
    converter = default_converter()
    hints = get_type_hints(lsp.NotebookDocumentFilterWithCells)
    converter.register_structure_hook(hints["notebook"], lambda value, _: value)
    return converter


def _plain(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function: pygls marks its handlers, which methods do not allow."""

    def call(params: Any) -> Any:
        return handler(params)

    return call


def units(text: str, encoding: str) -> int:
    """How long a text is in the units of an encoding."""
    if encoding == "utf-8":
        return len(text.encode("utf-8"))
    if encoding == "utf-16":
        return len(text.encode("utf-16-le")) // 2
    return len(text)


def between(line: str, start: int, end: int, encoding: str) -> str:
    """The part of a line between two positions."""
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    data = line.encode(encoding if encoding == "utf-8" else f"{encoding}-le")
    return data[start * width : end * width].decode(encoding if encoding == "utf-8" else f"{encoding}-le")
