"""Whole calls suggested in the editor: a comment gives one, accepting it leaves a grounded call with its import."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from callground.caller.code_suggestions import CodeCaller
from callground.text.lines import LineIndex
from editor import PATIENCE, SETTINGS, Editor
from profiles import capabilities

pytestmark = pytest.mark.skipif(
    CodeCaller().unavailable() is not None, reason=f"no suggestions here: {CodeCaller().unavailable()}"
)

MAIL = '''"""Mail."""


class Mailer:
    """Sends mail."""

    def __init__(self, host: str) -> None:
        self.host = host

    def send_message(self, recipient: str, subject: str) -> bool:
        """Send one message to a recipient."""
        return bool(recipient)

    def close(self) -> None:
        """Close the connection."""


def load_config(path: str) -> dict[str, str]:
    """Read the configuration file."""
    return {}
'''
MAIN = '''"""Main."""

from mail import Mailer


def run(path: str, recipient: str, subject: str) -> None:
    """Run it."""
    mailer = Mailer("localhost")
    # Load the config from the path
    print(config)


def send(mailer: Mailer, recipient: str, subject: str) -> None:
    # Send the message to the recipient

'''


async def start(editor: Editor, main: str = MAIN, **settings: Any) -> str:
    (editor.root / "mail.py").write_text(MAIL, encoding="utf-8")
    (editor.root / "main.py").write_text(main, encoding="utf-8")
    await editor.start(options={**SETTINGS, **settings})
    uri = editor.open("main.py")
    # Once this is answered, the workspace is indexed or about to be.
    await asyncio.wait_for(
        editor.client.workspace_execute_command_async(lsp.ExecuteCommandParams("callground.verify", [uri])), PATIENCE
    )
    return uri


async def inline(
    editor: Editor,
    uri: str,
    offset: int,
    kind: lsp.InlineCompletionTriggerKind = lsp.InlineCompletionTriggerKind.Invoked,
) -> list[lsp.InlineCompletionItem]:
    answer = await asyncio.wait_for(
        editor.client.text_document_inline_completion_async(
            lsp.InlineCompletionParams(
                lsp.InlineCompletionContext(kind),
                lsp.TextDocumentIdentifier(uri),
                editor.position(editor.texts[uri], offset),
            )
        ),
        PATIENCE,
    )
    return list(answer.items if isinstance(answer, lsp.InlineCompletionList) else answer or [])


def under(text: str, comment: str) -> int:
    """The end of a comment's line."""
    return text.index(comment) + len(comment)


async def accept(editor: Editor, uri: str, item: lsp.InlineCompletionItem) -> str:
    """Do what an editor does: put the text in, run the command, apply what the server asks for."""
    index = LineIndex(editor.texts[uri])
    assert item.range is not None
    assert isinstance(item.insert_text, str)
    assert item.command is not None
    start = index.offset(item.range.start.line + 1, item.range.start.character, editor.encoding)
    end = index.offset(item.range.end.line + 1, item.range.end.character, editor.encoding)
    editor.splice("main.py", start, end, item.insert_text)
    accepted = await asyncio.wait_for(
        editor.client.workspace_execute_command_async(
            lsp.ExecuteCommandParams(item.command.command, item.command.arguments)
        ),
        PATIENCE,
    )
    assert accepted is True
    return editor.texts[uri]


class Applying(Editor):
    """An editor that applies the edits that it is asked to."""

    def _make_client(self) -> Any:
        client = super()._make_client()

        def apply(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
            for uri, edits in (params.edit.changes or {}).items():
                index = LineIndex(self.texts[uri])
                for edit in edits:
                    start = index.offset(edit.range.start.line + 1, edit.range.start.character, self.encoding)
                    end = index.offset(edit.range.end.line + 1, edit.range.end.character, self.encoding)
                    self.splice("main.py", start, end, edit.new_text)
            return lsp.ApplyWorkspaceEditResult(applied=True)

        client.protocol.fm._features.pop(lsp.WORKSPACE_APPLY_EDIT, None)
        client.feature(lsp.WORKSPACE_APPLY_EDIT)(apply)
        return client


@pytest.fixture
def applying(root: Path) -> Applying:
    return Applying(root, capabilities("neovim"))


async def test_a_comment_gives_the_call_and_accepting_it_brings_the_import(applying: Applying) -> None:
    uri = await start(applying)
    items = await inline(applying, uri, under(MAIN, "# Load the config from the path"))
    assert items, "nothing was suggested"
    assert items[0].insert_text == "\n    config = load_config(path)"
    text = await accept(applying, uri, items[0])
    assert "from mail import Mailer, load_config\n" in text
    assert "    # Load the config from the path\n    config = load_config(path)\n    print(config)\n" in text
    found = await applying.diagnostics("main.py")
    assert found == [], "what was accepted is grounded"
    who = await asyncio.wait_for(
        applying.client.workspace_execute_command_async(lsp.ExecuteCommandParams("callground.provenance", [uri])),
        PATIENCE,
    )
    assert any(each["origin"] == "ai" for each in who), "what was accepted is marked"
    assert await applying.stop() == 0


async def test_the_empty_line_under_a_comment_and_the_beginning_of_a_statement(pushed: Editor) -> None:
    uri = await start(pushed)
    at = under(MAIN, "# Send the message to the recipient") + 1
    assert [item.insert_text for item in await inline(pushed, uri, at)][:1] == [
        "    mailer.send_message(recipient, subject)"
    ]
    pushed.splice("main.py", at, at, "    sent = ")
    items = await inline(pushed, uri, at + len("    sent = "))
    assert [item.insert_text for item in items][:1] == ["    sent = mailer.send_message(recipient, subject)"]


async def test_a_request_that_fits_nothing_gives_nothing(pushed: Editor) -> None:
    main = "from mail import Mailer\n\n\ndef run(mailer: Mailer) -> None:\n    # paint the moon green\n    return\n"
    uri = await start(pushed, main)
    assert await inline(pushed, uri, under(main, "# paint the moon green")) == []


async def test_code_and_directives_are_no_requests(pushed: Editor) -> None:
    main = "from mail import load_config\n\n# noqa: load the config\nvalue = load_config('a')\n# load_config(path)\n"
    uri = await start(pushed, main)
    for text in ("# noqa: load the config", "value = load_config('a')", "# load_config(path)"):
        assert await inline(pushed, uri, under(main, text)) == []


async def test_typing_on_cancels(pushed: Editor) -> None:
    uri = await start(pushed)
    at = under(MAIN, "# Load the config from the path")
    asked = asyncio.create_task(inline(pushed, uri, at, lsp.InlineCompletionTriggerKind.Automatic))
    await asyncio.sleep(0)
    pushed.splice("main.py", at, at, " now")
    assert await asked == [], "the text was another one by then"


async def test_the_setting_switches_it_off(pushed: Editor) -> None:
    uri = await start(pushed, suggestions=False)
    assert await inline(pushed, uri, under(MAIN, "# Load the config from the path")) == []


async def test_the_completion_list_brings_import_signature_and_documentation(pulled: Editor) -> None:
    uri = await start(pulled)
    text = pulled.texts[uri]
    at = under(MAIN, "# Load the config from the path")
    pulled.splice("main.py", at, at, "\n    ")
    answer = await asyncio.wait_for(
        pulled.client.text_document_completion_async(
            lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), pulled.position(pulled.texts[uri], at + 5))
        ),
        PATIENCE,
    )
    assert isinstance(answer, lsp.CompletionList)
    item = next(each for each in answer.items if "load_config" in each.label)
    assert item.detail == "mail.load_config"
    assert isinstance(item.documentation, lsp.MarkupContent)
    assert "load_config(path: str) -> dict[str, str]" in item.documentation.value
    assert "Read the configuration file." in item.documentation.value
    assert [edit.new_text for edit in item.additional_text_edits or []] == [", load_config"]
    assert text in MAIN


async def test_the_command_takes_a_request_in_words(pushed: Editor) -> None:
    uri = await start(pushed)
    at = under(MAIN, "# Send the message to the recipient") + 1
    place = pushed.position(MAIN, at)
    found = await asyncio.wait_for(
        pushed.client.workspace_execute_command_async(
            lsp.ExecuteCommandParams(
                "callground.suggest",
                [uri, {"line": place.line, "character": place.character}, "close the connection"],
            )
        ),
        PATIENCE,
    )
    assert found[0]["call"] == "mailer.close()"
    assert found[0]["callee"] == "mail.Mailer.close"


async def test_line_ends_of_the_file_are_kept(applying: Applying) -> None:
    main = MAIN.replace("\n", "\r\n")
    (applying.root / "mail.py").write_text(MAIL, encoding="utf-8")
    (applying.root / "main.py").write_bytes(main.encode())
    await applying.start(options=SETTINGS)
    uri = applying.open("main.py")
    items = await inline(applying, uri, under(main, "# Load the config from the path"))
    text = await accept(applying, uri, items[0])
    assert "from mail import Mailer, load_config\r\n" in text
    assert "path\r\n    config = load_config(path)\r\n" in text
    assert "\n" not in text.replace("\r\n", "")
    assert await applying.stop() == 0
