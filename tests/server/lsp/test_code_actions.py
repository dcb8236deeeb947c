"""Quick fixes and hovers as an editor sees them: applied, and the file judged again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from callground.text.lines import LineIndex
from editor import PATIENCE, Editor
from fix_cases import ACTIONS, SHOP
from profiles import capabilities


async def start(editor: Editor, files: dict[str, str]) -> None:
    for name, text in files.items():
        (editor.root / name).write_text(text, encoding="utf-8")
    await editor.start(options={"python": sys.executable, "scope": "all"})


def applied(editor: Editor, edit: lsp.WorkspaceEdit) -> dict[str, str]:
    """The texts after an edit; what the client did not announce must not be in it."""
    texts: dict[str, str] = {}
    announced = editor.capabilities.workspace.workspace_edit if editor.capabilities.workspace else None
    if edit.document_changes is not None:
        assert announced is not None
        assert announced.document_changes
        for change in edit.document_changes:
            assert isinstance(change, lsp.TextDocumentEdit)
            if change.text_document.uri in editor.versions:
                assert change.text_document.version == editor.versions[change.text_document.uri]
            texts[change.text_document.uri] = with_edits(editor, change.text_document.uri, change.edits)
    for uri, edits in (edit.changes or {}).items():
        texts[uri] = with_edits(editor, uri, edits)
    return texts


def with_edits(editor: Editor, uri: str, edits: Any) -> str:
    text = editor.texts[uri]
    index = LineIndex(text)

    def offset(place: lsp.Position) -> int:
        return index.offset(place.line + 1, place.character, editor.encoding)

    for edit in sorted(edits, key=lambda e: (offset(e.range.start), offset(e.range.end)), reverse=True):
        new = edit.snippet.value if isinstance(edit, lsp.SnippetTextEdit) else edit.new_text
        text = text[: offset(edit.range.start)] + new + text[offset(edit.range.end) :]
    return text


async def actions(editor: Editor, name: str, word: str, only: list[str] | None = None) -> list[lsp.CodeAction]:
    uri = editor.uri(name)
    text = editor.texts[uri]
    start = text.rindex(word)
    span = lsp.Range(editor.position(text, start), editor.position(text, start + len(word)))
    found = await asyncio.wait_for(
        editor.client.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(uri),
                span,
                lsp.CodeActionContext(diagnostics=editor.shown(name), only=only),
            )
        ),
        PATIENCE,
    )
    assert all(isinstance(action, lsp.CodeAction) for action in found or [])
    return list(found or [])  # type: ignore[arg-type]


async def resolved(editor: Editor, action: lsp.CodeAction) -> lsp.WorkspaceEdit:
    if action.edit is None:
        action = await asyncio.wait_for(editor.client.code_action_resolve_async(action), PATIENCE)
    assert action.edit is not None
    return action.edit


@pytest.mark.parametrize("case", ACTIONS, ids=[case[0] for case in ACTIONS])
async def test_applied_and_judged_again(pushed: Editor, case: tuple[str, str, str, str, str, bool]) -> None:
    _, before, word, title, after, preferred = case
    await start(pushed, {"shop.py": SHOP, "a.py": before})
    pushed.open("a.py")
    await pushed.diagnostics("a.py")
    offered = await actions(pushed, "a.py", word)
    chosen = next((a for a in offered if a.title.startswith(title)), None)
    assert chosen is not None, [a.title for a in offered]
    assert bool(chosen.is_preferred) == preferred
    assert chosen.kind == lsp.CodeActionKind.QuickFix
    texts = applied(pushed, await resolved(pushed, chosen))
    assert texts == {pushed.uri("a.py"): after}
    pushed.splice("a.py", 0, len(before), after)
    assert await pushed.diagnostics("a.py") == []


async def test_at_most_one_is_preferred(pushed: Editor) -> None:
    await start(pushed, {"shop.py": SHOP, "a.py": ACTIONS[0][1]})
    pushed.open("a.py")
    await pushed.diagnostics("a.py")
    offered = await actions(pushed, "a.py", "fetch_page")
    assert [a.is_preferred for a in offered].count(True) == 1
    assert offered[0].is_preferred


async def test_an_editor_with_snippets_gets_places_to_fill_in(root: Path) -> None:
    announced = capabilities("vscode")
    assert announced.workspace is not None
    assert announced.workspace.workspace_edit is not None
    announced.workspace.workspace_edit.snippet_edit_support = True
    editor = Editor(root, announced)
    await start(editor, {"shop.py": SHOP, "a.py": "import shop\n\nshop.load_items()\n"})
    editor.open("a.py")
    await editor.pull("a.py")
    offered = await actions(editor, "a.py", "load_items")
    chosen = next(a for a in offered if a.title.startswith("Add the required"))
    assert chosen.edit is None, "it can be resolved later"
    edit = await resolved(editor, chosen)
    assert "shop.load_items(path=${1:path}, kind=${2:kind})" in applied(editor, edit)[editor.uri("a.py")]
    assert await editor.stop() == 0


async def test_an_action_of_another_version_is_not_resolved(pulled: Editor) -> None:
    await start(pulled, {"shop.py": SHOP, "a.py": ACTIONS[0][1]})
    pulled.open("a.py")
    await pulled.pull("a.py")
    (chosen, *_) = await actions(pulled, "a.py", "fetch_page")
    pulled.splice("a.py", 0, 0, "# new\n")
    again = await asyncio.wait_for(pulled.client.code_action_resolve_async(chosen), PATIENCE)
    assert again.edit is None


async def test_fix_all(pushed: Editor) -> None:
    before = "import json\nimport shop\n\nshop.Client().fetch_page(json.stringify(1))\nshop.qwertz_uiop()\n"
    await start(pushed, {"shop.py": SHOP, "a.py": before})
    pushed.open("a.py")
    await pushed.diagnostics("a.py")
    assert all(a.kind == lsp.CodeActionKind.QuickFix for a in await actions(pushed, "a.py", "qwertz_uiop"))
    (chosen,) = await actions(pushed, "a.py", "import", only=["source.fixAll"])
    assert chosen.kind == "source.fixAll.callground"
    texts = applied(pushed, await resolved(pushed, chosen))
    assert texts[pushed.uri("a.py")] == (
        "import json\nimport shop\n\nshop.Client().fetch(json.dumps(1))\nshop.qwertz_uiop()\n"
    )


async def test_a_method_created_in_another_file(pushed: Editor) -> None:
    await start(pushed, {"shop.py": SHOP, "a.py": "import shop\n\nshop.Client().qwertz_uiop(1)\n"})
    pushed.open("a.py")
    pushed.open("shop.py")
    await pushed.diagnostics("a.py")
    offered = await actions(pushed, "a.py", "qwertz_uiop")
    chosen = next(a for a in offered if a.title.startswith("Create method"))
    texts = applied(pushed, await resolved(pushed, chosen))
    assert "    def qwertz_uiop(self, number):\n" in texts[pushed.uri("shop.py")]
    pushed.splice("shop.py", 0, len(SHOP), texts[pushed.uri("shop.py")])
    await pushed.shows("a.py")


async def test_nothing_is_offered_where_nothing_is_wrong(pushed: Editor) -> None:
    await start(pushed, {"shop.py": SHOP, "a.py": "import shop\n\nshop.Client().fetch('x')\n"})
    pushed.open("a.py")
    await pushed.diagnostics("a.py")
    assert await actions(pushed, "a.py", "fetch") == []


async def test_hover_says_what_is_missing_and_what_may_be_meant(pushed: Editor) -> None:
    await start(pushed, {"shop.py": SHOP, "a.py": ACTIONS[0][1]})
    pushed.open("a.py")
    await pushed.diagnostics("a.py")

    async def hover(word: str) -> lsp.Hover | None:
        text = pushed.texts[pushed.uri("a.py")]
        place = pushed.position(text, text.rindex(word) + 1)
        return await asyncio.wait_for(
            pushed.client.text_document_hover_async(
                lsp.HoverParams(lsp.TextDocumentIdentifier(pushed.uri("a.py")), place)
            ),
            PATIENCE,
        )

    shown = await hover("fetch_page")
    assert shown is not None
    assert isinstance(shown.contents, lsp.MarkupContent)
    text = shown.contents.value
    assert "class `shop.Client` has no member `fetch_page`" in text
    assert "shop.py:1" in text
    assert "```python\nfetch(path, *, retries=2)\n```" in text
    assert "Fetch one page." in text
    assert "shop.py:2" in text
    assert await hover("import") is None


async def test_a_fix_in_a_notebook_cell(pulled: Editor) -> None:
    (pulled.root / "shop.py").write_text(SHOP, encoding="utf-8")
    await pulled.start()
    uri, cells = (pulled.root / "n.ipynb").as_uri(), ["import shop\n", "x = 1\nshop.read_items('x', 1)\n"]
    names = [f"{uri}#cell{n}" for n in range(2)]
    pulled.client.notebook_document_did_open(
        lsp.DidOpenNotebookDocumentParams(
            lsp.NotebookDocument(
                uri, "jupyter-notebook", 1, [lsp.NotebookCell(lsp.NotebookCellKind.Code, name) for name in names]
            ),
            [lsp.TextDocumentItem(n, "python", 1, t) for n, t in zip(names, cells, strict=True)],
        )
    )
    pulled.texts.update(zip(names, cells, strict=True))
    await pulled.pulls(names[1], "read_items")
    offered = await actions(pulled, names[1], "read_items")
    texts = applied(pulled, await resolved(pulled, offered[0]))
    assert texts == {names[1]: "x = 1\nshop.load_items('x', 1)\n"}
