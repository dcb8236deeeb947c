"""Folders, settings, files, commands, progress, and the end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from editor import PATIENCE, Editor, server_command
from environment_lab import Lab
from profiles import capabilities

API = "def connect(host): ...\n"


def lay(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


async def test_folders_added_and_removed(pushed: Editor, tmp_path: Path) -> None:
    other = tmp_path / "other"
    lay(pushed.root, {"api.py": API})
    lay(other, {"helper.py": "def real(): ...\n", "use.py": "import helper\n\nhelper.unreal()\n"})
    await pushed.start()
    uri = (other / "use.py").as_uri()
    folder = lsp.WorkspaceFolder(uri=other.as_uri(), name="other")
    pushed.client.workspace_did_change_workspace_folders(
        lsp.DidChangeWorkspaceFoldersParams(lsp.WorkspaceFoldersChangeEvent(added=[folder], removed=[]))
    )
    pushed.open(uri, (other / "use.py").read_text())
    await pushed.shows(uri, "unreal")
    pushed.client.workspace_did_change_workspace_folders(
        lsp.DidChangeWorkspaceFoldersParams(lsp.WorkspaceFoldersChangeEvent(added=[], removed=[folder]))
    )
    pushed.replace(uri, "unreal", "real")
    await pushed.shows(uri)


async def test_settings_are_asked_for(pulled: Editor) -> None:
    lay(pulled.root, {"api.py": API})
    pulled.settings = {"callground": {"severity": {"unknown-name": "warning"}}}
    await pulled.start()
    pulled.open("client.py", "unreal()\n")

    report = await pulled.pulls("client.py", "unreal")
    while report.items[0].severity != lsp.DiagnosticSeverity.Warning:
        before = pulled.refreshes
        await pulled.until(lambda before=before: pulled.refreshes > before, "a request to pull again")  # type: ignore[misc]
        report = await pulled.pull("client.py")
    assert "workspace/didChangeConfiguration" in [each.method for each in pulled.registrations]

    pulled.settings = {"callground": {"severity": {"unknown-name": "off"}}}
    before = pulled.refreshes
    pulled.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=None))
    await pulled.until(lambda: pulled.refreshes > before, "a request to pull again")
    await pulled.pulls("client.py")


async def test_settings_are_taken_as_they_are_pushed(pushed: Editor) -> None:
    pushed.capabilities.workspace.configuration = False  # type: ignore[union-attr]
    lay(pushed.root, {"api.py": API})
    await pushed.start()
    pushed.open("client.py", "unreal()\n")
    await pushed.shows("client.py", "unreal")
    pushed.client.workspace_did_change_configuration(
        lsp.DidChangeConfigurationParams(settings={"callground": {"severity": {"unknown-name": "off"}}})
    )
    await pushed.shows("client.py")


async def test_settings_of_the_project_are_followed(pushed: Editor) -> None:
    lay(pushed.root, {"api.py": API, "pyproject.toml": ""})
    await pushed.start()
    pushed.open("client.py", "unreal()\n")
    await pushed.shows("client.py", "unreal")
    lay(pushed.root, {"pyproject.toml": "[tool.callground.severity]\nunknown-name = 'off'\n"})
    pushed.client.workspace_did_change_watched_files(
        lsp.DidChangeWatchedFilesParams([lsp.FileEvent(pushed.uri("pyproject.toml"), lsp.FileChangeType.Changed)])
    )
    await pushed.shows("client.py")


async def test_a_setting_that_cannot_be_used_is_told_once(pushed: Editor) -> None:
    lay(pushed.root, {"api.py": API})
    pushed.settings = {"callground": {"severity": {"no-such-rule": "off"}}}
    await pushed.start()
    pushed.open("client.py", "unreal()\n")
    await pushed.shows("client.py", "unreal")
    await pushed.until(lambda: bool(pushed.client.messages), "a message about the setting")
    pushed.client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=None))
    await asyncio.sleep(0.5)
    assert len(pushed.client.messages) == 1
    assert "no-such-rule" in pushed.client.messages[0].message


async def test_watched_files(pulled: Editor) -> None:
    lay(pulled.root, {"api.py": API})
    await pulled.start()
    await pulled.until(
        lambda: any(each.method == "workspace/didChangeWatchedFiles" for each in pulled.registrations),
        "watchers to be registered",
    )
    pulled.open("client.py", "import api\n\napi.later()\n")
    await pulled.pulls("client.py", "later")
    lay(pulled.root, {"api.py": "def later(): ...\n"})
    pulled.client.workspace_did_change_watched_files(
        lsp.DidChangeWatchedFilesParams([lsp.FileEvent(pulled.uri("api.py"), lsp.FileChangeType.Changed)])
    )
    await pulled.pulls("client.py")


async def test_renames_and_deletions_in_the_editor(pushed: Editor) -> None:
    lay(pushed.root, {"old.py": API})
    await pushed.start()
    pushed.open("client.py", "import new\n\nnew.connect(1)\n")
    await pushed.shows("client.py", "new")
    os.rename(pushed.root / "old.py", pushed.root / "new.py")
    pushed.client.workspace_did_rename_files(
        lsp.RenameFilesParams([lsp.FileRename(pushed.uri("old.py"), pushed.uri("new.py"))])
    )
    await pushed.shows("client.py")
    os.remove(pushed.root / "new.py")
    pushed.client.workspace_did_delete_files(lsp.DeleteFilesParams([lsp.FileDelete(pushed.uri("new.py"))]))
    await pushed.shows("client.py", "new")


async def test_the_command_judges_again(pushed: Editor) -> None:
    lay(pushed.root, {"api.py": API})
    await pushed.start()
    uri = pushed.open("client.py", "import api\n\napi.connect(1)\napi.unreal()\n")
    await pushed.shows("client.py", "unreal")
    assert pushed.result is not None
    commands = pushed.result.capabilities.execute_command_provider
    assert commands is not None
    assert "callground.verify" in commands.commands
    answer = await asyncio.wait_for(
        pushed.client.workspace_execute_command_async(lsp.ExecuteCommandParams("callground.verify", [uri])),
        PATIENCE,
    )
    assert answer[uri]["sites"]["findings"] == 1
    assert answer[uri]["findings"][0]["name"] == "unreal"
    assert answer[uri]["complete"] is True


async def test_progress_is_shown_for_a_long_first_index(pulled: Editor) -> None:
    lay(pulled.root, {f"part_{number}.py": "def f(): ...\n" * 400 for number in range(400)})
    await pulled.start()
    pulled.open("client.py", "import part_1\n\npart_1.f()\n")
    await pulled.until(
        lambda: any(
            type(reports[-1]).__name__ == "WorkDoneProgressEnd"
            for reports in pulled.client.progress_reports.values()
            if reports
        ),
        "progress to end",
    )
    (reports,) = pulled.client.progress_reports.values()
    assert type(reports[0]).__name__ == "WorkDoneProgressBegin"


async def test_the_first_result_comes_before_the_index_is_complete(pushed: Editor) -> None:
    lay(pushed.root, {f"part_{number}.py": "def f(): ...\n" * 300 for number in range(300)})
    await pushed.start(cache=pushed.root.parent / "empty")
    pushed.open("client.py", "class C:\n    def m(self): ...\n\n\ndef f():\n    C().absent()\n")
    await pushed.shows("client.py", "absent")
    published = pushed.published[pushed.uri("client.py")]
    assert not published[0].diagnostics, "at first nobody knows whether a subclass or a patch has it"


async def test_settled_means_that_nothing_is_left_to_do(pushed: Editor) -> None:
    lay(pushed.root, {"api.py": API})
    await pushed.start()
    pushed.open("client.py", "import api\n\napi.connect(1)\napi.unreal()\n")
    await pushed.settle()
    assert pushed.underlined("client.py") == ["unreal"]
    with open(pushed.root / "api.py", "a") as file:
        file.write("\n\ndef unreal(): ...\n")
    await pushed.settle()
    assert pushed.underlined("client.py") == []


async def test_an_orderly_end(pushed: Editor) -> None:
    lay(pushed.root, {"api.py": API})
    await pushed.start()
    pushed.open("api.py")
    assert await pushed.stop() == 0


async def test_the_end_of_the_input_ends_the_server(root: Path) -> None:
    process = subprocess.Popen(server_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(PATIENCE) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
async def test_the_server_ends_when_its_editor_dies(root: Path) -> None:
    editor = Editor(root, capabilities("neovim"))
    parent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        lay(root, {"api.py": API})
        await editor.start(process_id=parent.pid)
        editor.open("api.py")
        await editor.diagnostics("api.py")
        parent.kill()
        parent.wait()
        assert await asyncio.wait_for(editor.process.wait(), PATIENCE) == 1
    finally:
        if parent.poll() is None:
            parent.kill()
        await editor.client.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
async def test_the_index_goes_on_when_its_process_is_killed(pushed: Editor) -> None:
    lay(pushed.root, {f"part_{number}.py": f"def f_{number}(): ...\n" * 500 for number in range(300)})
    lay(pushed.root, {"last.py": "class Z:\n    pass\n"})
    await pushed.start(cache=pushed.root.parent / "empty")
    pushed.open("client.py", "from last import Z\n\n\ndef f():\n    Z().absent()\n")
    killed = 0
    for _ in range(200):
        for child in children(pushed.process.pid):
            try:
                os.kill(child, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                continue
        if killed >= 2 or pushed.underlined("client.py") == ["absent"]:
            break
        await asyncio.sleep(0.02)
    assert killed
    await pushed.shows("client.py", "absent")


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


async def test_a_project_with_an_environment_of_its_own(pushed: Editor, tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    lab = Lab(tmp_path / "lab")
    site = lab.site(lab.venv(pushed.root / "inner" / ".venv"))
    lab.install(site, "tool", "2.0", {"tool.py": "def new(): ...\n"})
    lay(
        pushed.root,
        {
            "pyproject.toml": '[tool.callground.severity]\nunknown-name = "off"\n',
            "inner/pyproject.toml": "",
            "inner/a.py": "import tool\n\ntool.new()\ntool.old()\nunknown_thing()\n",
        },
    )
    await pushed.start(options={"scope": "all"})
    pushed.open("inner/a.py")
    await pushed.shows("inner/a.py", "old")
