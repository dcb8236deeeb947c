"""What our own clients hear: status, documents' counts, marks, changes since HEAD, explanations."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

from lsprotocol import types as lsp

from callground_server.features.extras import range_of, wanted

MODULE = "def real(a):\n    return a\n"
USER = "import tools\n\ntools.real(1)\ntools.invented(1)\n"


def test_only_who_asks_is_told():
    assert wanted({"callground": {"status": True, "provenance": False}}) == {"status"}
    assert wanted(None) == wanted({"other": 1}) == wanted({"callground": True}) == frozenset()


def test_broken_ranges_are_none():
    assert range_of({"start": {"line": 0, "character": 1}, "end": {"line": 2, "character": 3}}) is not None
    for broken in (None, {}, {"start": 1, "end": 2}, {"start": {"line": -1, "character": 0}, "end": {}}):
        assert range_of(broken) is None


async def heard(editor: Any, method: str) -> list[Any]:
    messages: list[Any] = []
    editor.client.feature(method)(lambda params: messages.append(params))
    return messages


async def command(editor: Any, name: str, *arguments: Any) -> Any:
    return await asyncio.wait_for(
        editor.client.workspace_execute_command_async(lsp.ExecuteCommandParams(name, list(arguments))), 30
    )


async def test_status_counts_and_marks(pushed, root):
    (root / "tools.py").write_text(MODULE)
    (root / "user.py").write_text(USER)
    editor = pushed
    editor.capabilities.experimental = {"callground": {"status": True, "provenance": True}}
    counted = await heard(editor, "callground/documentStatus")
    marked = await heard(editor, "callground/provenance")
    status = await heard(editor, "callground/status")
    await editor.start()
    uri = editor.open("user.py")
    await editor.until(lambda: bool(counted) and counted[-1].complete, "counts")
    assert (counted[-1].grounded, counted[-1].ungrounded, counted[-1].version) == (1, 1, 1)
    await editor.until(lambda: any(not f.indexing for m in status for f in m.folders), "an index that is complete")

    line = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 17}}
    editor.client.protocol.notify(
        "callground/didInsert", {"uri": uri, "version": 1, "range": line, "origin": "ai", "tool": "probe"}
    )
    await editor.until(lambda: bool(marked), "a mark")
    (shown,) = marked[-1].ranges
    assert (shown.origin, shown.tool, shown.range.start.line) == ("ai", "probe", 3)
    editor.replace("user.py", "import tools\n", "import tools\n\n")
    await editor.until(lambda: marked[-1].version == 2, "the mark after an edit")
    assert marked[-1].ranges[0].range.start.line == 4
    line = {"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 0}}
    editor.client.protocol.notify("callground/mark", {"uri": uri, "ranges": [line], "origin": "human"})
    await editor.until(lambda: [r.origin for r in marked[-1].ranges] == ["human"], "the mark of a person")


async def test_nobody_else_hears_of_it(pushed, root):
    (root / "user.py").write_text(USER)
    editor = pushed
    counted = await heard(editor, "callground/documentStatus")
    await editor.start()
    editor.open("user.py")
    await editor.diagnostics("user.py")
    await command(editor, "callground.verify")
    assert counted == []


async def test_changes_since_head_and_explanations(pushed, root):
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=root, check=True, capture_output=True
        )

    git("init", "-q")
    (root / "tools.py").write_text(MODULE)
    (root / "old.py").write_text("import tools\ntools.older()\n")
    (root / "user.py").write_text("import tools\n\ntools.older()\n")
    git("add", ".")
    git("commit", "-qm", "x")
    (root / "user.py").write_text("import tools\n\ntools.older()\ntools.invented(1)\n")
    (root / "new.py").write_text(USER)
    editor = pushed
    await editor.start()
    uri = editor.open("user.py")
    # Until the index is complete the answer says "not loaded yet".
    await editor.settle()
    answer = await command(editor, "callground.checkChanges")
    found = {name.rpartition("/")[2]: [f["message"] for f in files] for name, files in _plain(answer)["files"].items()}
    assert {name: len(messages) for name, messages in found.items()} == {"user.py": 1, "new.py": 1}
    assert "invented" in found["user.py"][0]
    editor.replace("user.py", "tools.invented(1)", "tools.invented(1)\ntools.unsaved(1)")
    answer = await command(editor, "callground.checkChanges")
    assert len(_plain(answer)["files"][uri]) == 2
    text = await command(editor, "callground.explain", uri, 3)
    assert "invented" in text
    assert "ungrounded" in text
    assert await command(editor, "callground.explain", uri) is None


def _plain(value: Any) -> Any:
    from callground_server.features.extras import plain

    return plain(value)


async def test_a_doubtful_environment_is_one_notice_and_no_red_file(pushed, root):
    missing = [f"zz_missing_{letter}" for letter in "abcdef"]
    (root / "user.py").write_text("".join(f"import {name}\n" for name in missing))
    (root / "other.py").write_text(f"import {missing[0]}\nimport json\n\njson.nothing()\n")
    editor = pushed
    editor.capabilities.experimental = {"callground": {"status": True}}
    status = await heard(editor, "callground/status")
    await editor.start()
    editor.open("user.py")
    editor.open("other.py")

    def doubted() -> bool:
        folders = [f for m in status[-1:] for f in m.folders]
        return any(f.environment is not None and f.environment.doubtful for f in folders)

    await editor.until(doubted, "the doubt")
    await editor.shows("other.py", "nothing")
    await editor.shows("user.py")
    (notice,) = [m.message for m in editor.client.messages if "doubtful" in m.message]
    assert "6 of the " in notice
    assert "zz_missing_a" in notice
