"""Notebook documents: the cells of one notebook share a namespace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lsprotocol import types as lsp

from callground.text.edits import Edit
from callground.text.lines import LineIndex
from callground.verdict.model import Finding, Range
from callground_server.convert import changes_of, from_range, path_of, to_diagnostic, to_range
from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Outcome
from callground_server.lsp.notebooks import Notebook, moved
from callground_server.lsp.server import Server
from callground_server.lsp.session import Listener

SYNC = lsp.NotebookDocumentSyncOptions(
    notebook_selector=[lsp.NotebookDocumentFilterWithCells(cells=[lsp.NotebookCellLanguage(language="python")])],
    save=True,
)


class Notebooks(Listener):
    """The open notebooks.  Each is one document of the session, made of its cells."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._open: dict[str, Notebook] = {}
        self._notebook_of: dict[str, str] = {}
        self._shown: dict[str, list[lsp.Diagnostic]] = {}

    def owns(self, uri: str) -> bool:
        """Whether a document of the session is a notebook."""
        return uri in self._open

    def is_cell(self, uri: str) -> bool:
        """Whether a URI names a cell of an open notebook."""
        return uri in self._notebook_of

    async def diagnostics(self, uri: str) -> list[lsp.Diagnostic]:
        """The diagnostics of one cell, for a client that pulls."""
        notebook = self._notebook_of.get(uri, "")
        outcome = await self._server.session.current(notebook)
        if outcome is None or notebook not in self._open:
            return []
        return self._by_cell(self._open[notebook], outcome).get(uri, [])

    def judged(self, document: Document, outcome: Outcome) -> None:
        """Publish each cell's part."""
        notebook = self._open.get(document.uri)
        if notebook is None or self._server.session.client.pull:
            return
        by_cell = self._by_cell(notebook, outcome)
        for cell in notebook.cells:
            diagnostics = by_cell.get(cell.uri, [])
            if self._shown.get(cell.uri) != diagnostics:
                self._shown[cell.uri] = diagnostics
                self._publish(cell.uri, diagnostics, cell.version)

    def open(self, notebook: Notebook) -> None:
        """A notebook was opened."""
        self._open[notebook.uri] = notebook
        self._notebook_of.update({cell.uri: notebook.uri for cell in notebook.cells})
        self._server.session.open(Document(notebook.uri, notebook.path, notebook.version, notebook.text()))

    def changed(self, notebook: Notebook) -> None:
        """Cells came, went, moved or have other texts."""
        uris = {cell.uri for cell in notebook.cells}
        for uri in [uri for uri, owner in self._notebook_of.items() if owner == notebook.uri]:
            if uri not in uris:
                self._drop(uri)
        self._notebook_of.update(dict.fromkeys(uris, notebook.uri))
        self._server.session.replace_text(notebook.uri, notebook.version, notebook.text())

    def close(self, uri: str) -> None:
        """A notebook was closed."""
        notebook = self._open.pop(uri, None)
        if notebook is None:
            return
        for cell in notebook.cells:
            self._drop(cell.uri)
        self._server.session.close(uri)

    def get(self, uri: str) -> Notebook | None:
        """An open notebook."""
        return self._open.get(uri)

    def place(self, uri: str, span: lsp.Range) -> tuple[Document, Range] | None:
        """The document that a cell is part of, and a range of the cell in it."""
        notebook = self._open.get(self._notebook_of.get(uri, ""))
        cell = notebook.cell(uri) if notebook is not None else None
        if notebook is None or cell is None:
            return None
        document = self._server.session.document(notebook.uri)
        start = notebook.start_of(uri)
        if document is None or start is None:
            return None
        local = from_range(span, cell.line, self._server.session.client.encoding)
        return document, moved(local, -start)

    def edits(self, document: Document, edits: Sequence[Edit]) -> list[tuple[str, list[lsp.TextEdit]]]:
        """Edits of a notebook's document as edits of its cells; nothing when one of them stands in no cell."""
        notebook = self._open[document.uri]
        encoding = self._server.session.client.encoding
        index = LineIndex(document.text)
        by_cell: dict[str, list[lsp.TextEdit]] = {}
        for edit in sorted(edits):
            line, column = index.position(edit.start)
            end_line, end_column = index.position(edit.end)
            place = notebook.cell_at(line)
            if place is None or notebook.cell_at(end_line) != place:
                return []
            cell, start = place
            span = moved(Range(line, column, end_line, end_column), start)
            by_cell.setdefault(cell.uri, []).append(lsp.TextEdit(to_range(span, cell.line, encoding), edit.text))
        return list(by_cell.items())

    def _drop(self, uri: str) -> None:
        self._notebook_of.pop(uri, None)
        if self._shown.pop(uri, None):
            self._publish(uri, [], None)

    def _publish(self, uri: str, diagnostics: list[lsp.Diagnostic], version: int | None) -> None:
        self._server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
        )

    def _by_cell(self, notebook: Notebook, outcome: Outcome) -> dict[str, list[lsp.Diagnostic]]:
        session = self._server.session
        folder = session.folder(notebook.uri)
        findings: list[Finding] = [v.finding for v in outcome.review.verdicts if v.finding is not None]
        findings += outcome.review.notes
        document = session.document(notebook.uri)
        if document is not None:
            findings = session.findings_in_scope(document, outcome, findings)
        by_cell: dict[str, list[lsp.Diagnostic]] = {}
        for finding in sorted(findings, key=lambda finding: finding.range):
            place = notebook.cell_at(finding.range.line)
            if place is None:
                continue
            cell, start = place
            # Evidence in the notebook itself has no place that an editor could show.
            evidence = finding.evidence_location
            if evidence is not None and evidence[0] == notebook.path:
                evidence = None
            local = replace(finding, range=moved(finding.range, start), evidence_location=evidence)
            by_cell.setdefault(cell.uri, []).append(
                to_diagnostic(
                    local,
                    cell.line,
                    session.client.encoding,
                    other_lines=folder.lines_of if folder is not None else lambda _: lambda _: "",
                    with_related=session.client.related_information,
                    with_code_page=session.client.code_description,
                )
            )
        return by_cell


def register(server: Server) -> None:
    """Keep notebooks in step with the editor."""
    session = server.session
    notebooks = Notebooks(server)
    session.notebooks = notebooks
    session.listeners.append(notebooks)

    @server.handles(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenNotebookDocumentParams) -> None:
        item = params.notebook_document
        texts = {document.uri: _cell(document) for document in params.cell_text_documents}
        cells = [
            texts[cell.document]
            for cell in item.cells
            if cell.document in texts and cell.kind == lsp.NotebookCellKind.Code
        ]
        notebooks.open(Notebook(item.uri, path_of(item.uri), item.version, cells))

    @server.handles(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeNotebookDocumentParams) -> None:
        notebook = notebooks.get(params.notebook_document.uri)
        if notebook is None:
            return
        notebook.version = params.notebook_document.version
        cells = params.change.cells
        if cells is not None:
            if cells.structure is not None:
                _restructure(notebook, cells.structure)
            for content in cells.text_content or ():
                document = notebook.cell(content.document.uri)
                if document is not None:
                    document.apply(changes_of(content.changes), content.document.version, session.client.encoding)
        notebooks.changed(notebook)

    @server.handles(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseNotebookDocumentParams) -> None:
        notebooks.close(params.notebook_document.uri)


def _cell(document: lsp.TextDocumentItem) -> Document:
    return Document(document.uri, path_of(document.uri), document.version, document.text, document.language_id)


def _restructure(notebook: Notebook, structure: lsp.NotebookDocumentCellChangeStructure) -> None:
    known = {cell.uri: cell for cell in notebook.cells}
    known.update({document.uri: _cell(document) for document in structure.did_open or ()})
    array = structure.array
    added = [
        known[cell.document]
        for cell in array.cells or ()
        if cell.document in known and cell.kind == lsp.NotebookCellKind.Code
    ]
    notebook.cells[array.start : array.start + array.delete_count] = added
    closed = {document.uri for document in structure.did_close or ()}
    if closed:
        notebook.cells = [cell for cell in notebook.cells if cell.uri not in closed]
