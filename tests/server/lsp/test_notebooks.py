"""Notebooks: cells share a namespace; magics and top-level await are no errors."""

from __future__ import annotations

import ast

import pytest
from lsprotocol import types as lsp

from callground_server.lsp.documents import Document
from callground_server.lsp.notebooks import Notebook, python_of
from editor import Editor, units

CELLS = {
    "a line magic": ("%matplotlib inline\nx = 1", "pass\nx = 1"),
    "a shell command": ("!pip install x\nx = 1", "pass\nx = 1"),
    "help": ("len?\n?len\nx = 1", "pass\npass\nx = 1"),
    "in a block": ("if x:\n    !ls\n    %cd ..", "if x:\n    pass\n    pass"),
    "an assignment": ("files = !ls\nhere = %pwd", "files = eval('None')\nhere = eval('None')"),
    "a cell magic of another language": ("%%bash\nls -l\necho $x", "#%%bash\n#ls -l\n#echo $x"),
    "a cell magic around Python": ("%%time\nf(1)", "#%%time\nf(1)"),
    "a remainder is none": ("x = 7 % 3\ny = '''\n%d\n'''", "x = 7 % 3\ny = '''\n%d\n'''"),
    "continued": ("!ls \\\n  -l\nx = 1", "pass\n#  -l\nx = 1"),
    "await": ("await f()\nasync with g() as h: pass", "await f()\nasync with g() as h: pass"),
}


@pytest.mark.parametrize("name", CELLS)
def test_what_is_python_of_a_cell(name: str) -> None:
    text, expected = CELLS[name]
    found = python_of(text)
    assert found == expected
    assert found.count("\n") == text.count("\n")
    ast.parse(found)


def test_lines_are_found_again_in_their_cells() -> None:
    cells = [Document(f"cell:{n}", "", 1, text) for n, text in enumerate(["a = 1\nb = 2", "c = 3", ""])]
    notebook = Notebook("nb:1", "/nb.ipynb", 1, cells)
    lines = notebook.text().split("\n")
    for cell in cells:
        for number, line in enumerate(cell.text.split("\n")):
            if line:
                found = notebook.cell_at(lines.index(line) + 1)
                assert found is not None
                assert found[0] is cell
                assert lines.index(line) - found[1] == number
    assert notebook.cell_at(1) is None, "the preamble is in no cell"


class Book:
    """A notebook in an editor."""

    def __init__(self, editor: Editor, name: str, cells: list[str]) -> None:
        self.editor = editor
        self.uri = (editor.root / name).as_uri()
        self.cells = [f"{self.uri}#cell{number}" for number in range(len(cells))]
        self.texts = dict(zip(self.cells, cells, strict=True))
        self.version = 1
        for uri, text in self.texts.items():
            editor.texts[uri] = text
        editor.client.notebook_document_did_open(
            lsp.DidOpenNotebookDocumentParams(
                lsp.NotebookDocument(self.uri, "jupyter-notebook", 1, [self._cell(uri) for uri in self.cells]),
                [lsp.TextDocumentItem(uri, "python", 1, text) for uri, text in self.texts.items()],
            )
        )

    @staticmethod
    def _cell(uri: str) -> lsp.NotebookCell:
        return lsp.NotebookCell(lsp.NotebookCellKind.Code, uri)

    def edit(self, number: int, old: str, new: str) -> None:
        uri = self.cells[number]
        text = self.texts[uri]
        start = text.index(old)
        self.texts[uri] = self.editor.texts[uri] = text.replace(old, new, 1)
        self.version += 1
        change = lsp.TextDocumentContentChangePartial(
            range=lsp.Range(self.editor.position(text, start), self.editor.position(text, start + len(old))),
            text=new,
        )
        self._send(
            lsp.NotebookDocumentCellChanges(
                text_content=[
                    lsp.NotebookDocumentCellContentChanges(
                        lsp.VersionedTextDocumentIdentifier(self.version, uri), [change]
                    )
                ]
            )
        )

    def insert(self, at: int, text: str) -> None:
        uri = f"{self.uri}#new{self.version}"
        self.cells.insert(at, uri)
        self.texts[uri] = self.editor.texts[uri] = text
        self.version += 1
        self._send(
            lsp.NotebookDocumentCellChanges(
                structure=lsp.NotebookDocumentCellChangeStructure(
                    lsp.NotebookCellArrayChange(at, 0, [self._cell(uri)]),
                    did_open=[lsp.TextDocumentItem(uri, "python", 1, text)],
                )
            )
        )

    def remove(self, at: int) -> None:
        uri = self.cells.pop(at)
        self.version += 1
        self._send(
            lsp.NotebookDocumentCellChanges(
                structure=lsp.NotebookDocumentCellChangeStructure(
                    lsp.NotebookCellArrayChange(at, 1), did_close=[lsp.TextDocumentIdentifier(uri)]
                )
            )
        )

    def _send(self, cells: lsp.NotebookDocumentCellChanges) -> None:
        self.editor.client.notebook_document_did_change(
            lsp.DidChangeNotebookDocumentParams(
                lsp.VersionedNotebookDocumentIdentifier(self.version, self.uri),
                lsp.NotebookDocumentChangeEvent(cells=cells),
            )
        )


async def test_cells_share_a_namespace(pulled: Editor) -> None:
    (pulled.root / "api.py").write_text("def connect(host): ...\n")
    await pulled.start()
    book = Book(
        pulled, "book.ipynb", ["%load_ext x\nimport api", "api.connect(1)\n'😀'; api.unreal(2)", "await api.connect(3)"]
    )
    for cell, expected in zip(book.cells, [[], ["unreal"], []], strict=True):
        await pulled.pulls(cell, *expected)
    (found,) = (await pulled.pull(book.cells[1])).items
    assert found.range.start == lsp.Position(1, units("'😀'; api.", "utf-16"))


async def test_cells_that_are_edited_added_and_removed(pulled: Editor) -> None:
    (pulled.root / "api.py").write_text("def connect(host): ...\n")
    await pulled.start()
    book = Book(pulled, "book.ipynb", ["import api", "api.connect(1)\nhelper()"])
    await pulled.pulls(book.cells[1], "helper")
    book.insert(1, "def helper(): ...")
    await pulled.pulls(book.cells[2])
    book.edit(1, "helper", "other")
    await pulled.pulls(book.cells[2], "helper")
    book.edit(1, "other", "helper")
    await pulled.pulls(book.cells[2])
    book.remove(1)
    await pulled.pulls(book.cells[1], "helper")


async def test_a_closed_notebook_has_nothing(pulled: Editor) -> None:
    await pulled.start()
    book = Book(pulled, "book.ipynb", ["unreal()"])
    await pulled.pulls(book.cells[0], "unreal")
    pulled.client.notebook_document_did_close(
        lsp.DidCloseNotebookDocumentParams(
            lsp.NotebookDocumentIdentifier(book.uri),
            [lsp.TextDocumentIdentifier(uri) for uri in book.cells],
        )
    )
    await pulled.pulls(book.cells[0])
