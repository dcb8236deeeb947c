"""Scope ``ai`` over the wire: what is typed stays unmarked, what is put in is marked, and what others say counts."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from callground.facts.store import Store
from callground.provenance.records.hook import mark_change
from editor import Editor

TOOLS = "def real(a):\n    return a\n"
USER = "import tools\n\ntools.older(1)\n"
INSERTED = "\n\ndef added(rows):\n    first = tools.invented(rows, 1)\n    return tools.real(first)\n"
AI = {"scope": "ai"}


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


async def started(editor: Editor, *, options: Any = AI, repository: bool = False, cache: Path | None = None) -> None:
    (editor.root / "tools.py").write_text(TOOLS)
    (editor.root / "user.py").write_text(USER)
    if repository:
        git(editor.root, "init", "-q")
        git(editor.root, "add", ".")
        git(editor.root, "commit", "-qm", "x")
    await editor.start(options=options, cache=cache)


def append(editor: Editor, text: str, name: str = "user.py") -> None:
    end = len(editor.texts[editor.uri(name)])
    editor.splice(name, end, end, text)


async def typed(editor: Editor, text: str, name: str = "user.py") -> None:
    for key in text:
        append(editor, key, name)
        await asyncio.sleep(0.002)


async def command(editor: Editor, name: str, *arguments: Any) -> Any:
    return await asyncio.wait_for(
        editor.client.workspace_execute_command_async(lsp.ExecuteCommandParams(name, list(arguments))), 30
    )


async def quiet(editor: Editor, name: str = "user.py") -> list[str]:
    """What is shown when everything has been looked at."""
    await command(editor, "callground.verify", editor.uri(name))
    await asyncio.sleep(0.6)
    return sorted(editor.underlined(name))


def span(editor: Editor, text: str, name: str = "user.py") -> dict[str, Any]:
    whole = editor.texts[editor.uri(name)]
    start = whole.index(text)
    ends = [editor.position(whole, offset) for offset in (start, start + len(text))]
    return {
        key: {"line": end.line, "character": end.character} for key, end in zip(("start", "end"), ends, strict=True)
    }


async def test_inserted_is_marked_and_typed_is_not(pushed: Editor) -> None:
    await started(pushed)
    pushed.open("user.py")
    assert await quiet(pushed) == []
    await typed(pushed, "tools.typed_wrong(2)\n")
    assert await quiet(pushed) == []
    append(pushed, INSERTED)
    await pushed.shows("user.py", "invented")
    start = pushed.texts[pushed.uri("user.py")].index(INSERTED)
    pushed.splice("user.py", start, start + len(INSERTED), "")
    await pushed.shows("user.py")
    pushed.splice("user.py", start, start, INSERTED)
    await pushed.shows("user.py", "invented")


async def test_scopes_are_settings(pushed: Editor) -> None:
    await started(pushed, options={"scope": "all"})
    pushed.open("user.py")
    append(pushed, INSERTED)
    await pushed.shows("user.py", "invented", "older")


async def test_scope_changed_is_what_differs_from_head(pushed: Editor) -> None:
    await started(pushed, options={"scope": "changed"}, repository=True)
    pushed.open("user.py")
    assert await quiet(pushed) == []
    await typed(pushed, "tools.typed_wrong(2)\n")
    await pushed.shows("user.py", "typed_wrong")


async def test_a_client_that_pulls(pulled: Editor) -> None:
    await started(pulled)
    pulled.open("user.py")
    assert list((await pulled.pull("user.py")).items) == []
    append(pulled, INSERTED)
    deadline = time.monotonic() + 20
    while True:
        items = (await pulled.pull("user.py")).items
        if items or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    assert pulled.underlined("user.py", items) == ["invented"]


async def test_the_growing_statement_is_not_judged(pushed: Editor) -> None:
    await started(pushed)
    pushed.open("user.py")
    await pushed.diagnostics("user.py")
    text = "tools.invented(1, 2)\ntools.other(3, 4)\n"
    for number in range(0, len(text), 5):
        append(pushed, text[number : number + 5])
        await asyncio.sleep(0.03)
    shown = {tuple(sorted(pushed.underlined("user.py", list(p.diagnostics)))) for p in pushed.published[pushed.uri("user.py")]
             if p.version == pushed.versions[pushed.uri("user.py")]}  # fmt: skip
    await pushed.shows("user.py", "invented", "other")
    assert ("other",) not in shown


async def test_marks_by_hand_and_the_whole_file(pushed: Editor) -> None:
    await started(pushed)
    uri = pushed.open("user.py")
    assert await quiet(pushed) == []
    assert await command(pushed, "callground.markAsAi", uri, span(pushed, "tools.older(1)")) is True
    await pushed.shows("user.py", "older")
    (known,) = await command(pushed, "callground.provenance", uri)
    assert (known["origin"], known["source"]) == ("ai", "by-hand")
    assert await command(pushed, "callground.markAsMine", uri, [span(pushed, "tools.older(1)")]) is True
    await pushed.shows("user.py")
    assert await command(pushed, "callground.checkFile", uri) == 1
    await pushed.shows("user.py", "older")
    await command(pushed, "callground.checkFile", uri, False)
    await pushed.shows("user.py")


def did_insert(editor: Editor, uri: str, text: str, origin: str, version: int) -> None:
    params = {"uri": uri, "version": version, "range": span(editor, text), "origin": origin, "tool": "plugin"}
    editor.client.protocol.notify("callground/didInsert", params)


async def test_a_plugin_says_what_it_put_in(pushed: Editor) -> None:
    """Before the edit has arrived, with it, and after the next one."""
    await started(pushed)
    uri = pushed.open("user.py")
    await typed(pushed, "tools.by_plugin(1)\n")
    version = pushed.versions[uri]
    did_insert(pushed, uri, "tools.by_plugin(1)", "ai", version)
    await pushed.shows("user.py", "by_plugin")
    place = span(pushed, "tools.by_plugin(1)")
    pushed.replace("user.py", "import tools\n", "import tools\n\n\n")
    params = {"uri": uri, "version": version, "range": place, "origin": "human"}
    pushed.client.protocol.notify("callground/didInsert", params)
    await pushed.shows("user.py")
    line = len(pushed.texts[uri].split("\n")) - 1
    later = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 15}}
    params = {"uri": uri, "version": pushed.versions[uri] + 1, "range": later, "origin": "ai"}
    pushed.client.protocol.notify("callground/didInsert", params)
    append(pushed, "tools.ghosty(1)\n")
    await pushed.shows("user.py", "ghosty")


async def test_broken_messages_are_ignored(pushed: Editor) -> None:
    await started(pushed)
    uri = pushed.open("user.py")
    for params in ({}, {"uri": 3}, {"uri": uri}, {"uri": uri, "range": 7, "origin": "ai"}, {"uri": uri, "origin": "x"}):
        pushed.client.protocol.notify("callground/didInsert", params)
    assert await command(pushed, "callground.markAsAi", uri, None) is False
    assert await command(pushed, "callground.markAsAi") in (None, False)
    assert await quiet(pushed) == []


async def test_a_file_reopened_unchanged_keeps_its_marks(pushed: Editor, tmp_path: Path) -> None:
    await started(pushed, cache=tmp_path / "cache")
    pushed.open("user.py")
    append(pushed, INSERTED)
    await pushed.shows("user.py", "invented")
    pushed.save("user.py")
    await quiet(pushed)
    assert await pushed.stop() == 0
    again = Editor(pushed.root, pushed.capabilities)
    await again.start(options=AI, cache=tmp_path / "cache")
    again.open("user.py")
    await again.shows("user.py", "invented")
    await again.stop()


async def test_an_agent_writes_the_file_and_git_does_not(pushed: Editor) -> None:
    await started(pushed, repository=True)
    pushed.open("user.py")
    assert await quiet(pushed) == []
    path = pushed.root / "user.py"

    def reload() -> None:
        # As Neovim does it: closed and opened again.
        pushed.close("user.py")
        pushed.open("user.py")

    path.write_text(USER + INSERTED)
    reload()
    await pushed.shows("user.py", "invented")
    git(pushed.root, "stash")
    reload()
    await pushed.shows("user.py")
    path.write_text(USER + "tools.by_a_person(1)\n")
    git(pushed.root, "commit", "-qam", "other")
    await asyncio.sleep(1.2)  # as git's own marks are read to the second
    git(pushed.root, "checkout", "-q", "-b", "topic", "HEAD~1")
    reload()
    assert await quiet(pushed) == []
    await asyncio.sleep(0.1)
    git(pushed.root, "checkout", "-q", "main")
    reload()
    assert await quiet(pushed) == []


async def test_an_agent_writes_a_file_that_nobody_has_open(pushed: Editor) -> None:
    await started(pushed, repository=True)
    pushed.open("tools.py")
    await quiet(pushed, "tools.py")
    (pushed.root / "user.py").write_text(USER + INSERTED)
    os.utime(pushed.root / "user.py")
    await asyncio.sleep(3.0)
    pushed.open("user.py")
    await pushed.shows("user.py", "invented")


async def test_lines_that_differ_from_head_are_news_until_they_are_committed(pushed: Editor) -> None:
    await started(pushed, repository=True)
    (pushed.root / "user.py").write_text(USER + "tools.real(tools.fresh(1))\n")
    pushed.open("user.py")
    await pushed.shows("user.py", "fresh")
    git(pushed.root, "commit", "-qam", "more")
    await command(pushed, "callground.verify", pushed.uri("user.py"))
    await asyncio.sleep(3)
    # Still a finding: its mark stays.
    assert pushed.underlined("user.py") == ["fresh"]


async def test_a_hook_has_marked_the_text(pushed: Editor, tmp_path: Path) -> None:
    await started(pushed, cache=tmp_path / "cache")
    text = USER + INSERTED
    with Store(tmp_path / "cache") as store:
        mark_change(store, USER, text, "agent")
    (pushed.root / "user.py").write_text(text)
    uri = pushed.open("user.py")
    await pushed.shows("user.py", "invented")
    known = await command(pushed, "callground.provenance", uri)
    assert {(row["source"], row["tool"]) for row in known} == {("hook", "agent")}


@pytest.mark.parametrize("switch", ["edits", "client"])
async def test_signals_can_be_switched_off(pushed: Editor, switch: str) -> None:
    await started(pushed, options={"scope": "ai", "provenance": {switch: False}})
    uri = pushed.open("user.py")
    append(pushed, INSERTED)
    shown = await quiet(pushed)
    did_insert(pushed, uri, "tools.older(1)", "ai", pushed.versions[uri])
    assert (shown, await quiet(pushed)) == (([], ["older"]) if switch == "edits" else (["invented"], ["invented"]))
