"""The server process after any sequence of edits shows what a fresh server shows of the final state.

Protocol in, diagnostics out, for an editor that is pushed to and for one that pulls, with the server's
children killed now and then.  Sequences are made from numbers: a failure names its own.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import random
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from callground.text.edits import difference
from editor import Editor
from edits import EDITS
from profiles import capabilities

SEQUENCES = int(os.environ.get("CALLGROUND_SEQUENCES", "10"))
"""For both kinds of editor together; the nightly command asks for a thousand."""
STEPS = 10
FIRST = int(os.environ.get("CALLGROUND_FIRST_SEQUENCE", "0"))

CLIENT = """\
import webkit.handlers
import webkit.headers
from webkit import simple_server, util
from webkit.validate import validator


def serve(app):
    server = simple_server.make_server("localhost", 8000, validator(app))
    headers = webkit.headers.Headers([])
    headers.add_header("X", "y")
    headers.missing_1()
    handler = webkit.handlers.SimpleHandler(None, None, None, {})
    handler.run(app)
    handler.close()
    handler.missing_2(headers)
    util.guess_scheme({})
    util.shift_path_info({}, 1)
    return server.get_app()
"""


def modules() -> dict[str, str]:
    spec = importlib.util.find_spec("wsgiref")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(spec.submodule_search_locations[0])
    files = {}
    for path in sorted(folder.glob("*.py")):
        # Under another name: a package that may also be the standard library's is never certain.
        text = re.sub(r"^(\s*(?:from|import) )wsgiref\b", r"\1webkit", path.read_text("utf-8"), flags=re.MULTILINE)
        files[f"webkit/{path.name}"] = text
    return {**files, "client.py": CLIENT}


MODULES = modules()


class World:
    """One project, the editor that works in it, and a random person."""

    def __init__(self, root: Path, kind: str, number: int) -> None:
        self.random = random.Random(number)
        self.kind = kind
        self.root = root
        self.log: list[str] = []
        for name, text in MODULES.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.editor = self.new_editor()

    def new_editor(self) -> Editor:
        editor = Editor(self.root, capabilities(self.kind))
        editor.settings = {"callground": {"scope": "all"}}
        return editor

    def names(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*.py"))

    def opened(self) -> list[str]:
        return [
            name for name in [*MODULES, "extra.py", "webkit/moved.py"] if self.editor.uri(name) in self.editor.texts
        ]

    async def step(self) -> None:
        actions = [self.edit, self.edit, self.edit, self.edit, self.back, self.open, self.close, self.save]
        actions += [self.write, self.create, self.delete, self.rename, self.kill, self.wait]
        action = self.random.choice(actions)
        await action()

    def say(self, what: str) -> None:
        self.log.append(what)

    # -- what the person does

    async def edit(self) -> None:
        name = self.random.choice(self.opened())
        made = self.random.choice(EDITS)
        number = self.random.randrange(10_000)
        self.say(f"{made.__name__}({number}) in {name}")
        self.put(name, made(self.editor.texts[self.editor.uri(name)], number))

    async def back(self) -> None:
        name = self.random.choice(self.opened())
        if name in MODULES:
            self.say(f"{name} as it was")
            self.put(name, MODULES[name])

    def put(self, name: str, text: str) -> None:
        """The change as an editor sends it: the part between what both texts share."""
        old = self.editor.texts[self.editor.uri(name)]
        if old == text:
            return
        edit = difference(old, text)
        assert edit is not None
        self.editor.splice(name, *edit)

    async def open(self) -> None:
        closed = [name for name in self.names() if name not in self.opened() and name in {*MODULES, "extra.py"}]
        if closed:
            name = self.random.choice(closed)
            self.say(f"open {name}")
            self.editor.open(name)

    async def close(self) -> None:
        if len(self.opened()) > 1:
            name = self.random.choice(self.opened())
            self.say(f"close {name}")
            self.editor.close(name)

    async def save(self) -> None:
        name = self.random.choice(self.opened())
        self.say(f"save {name}")
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        self.editor.save(name)

    async def write(self) -> None:
        name = self.random.choice(self.names())
        made = self.random.choice(EDITS)
        number = self.random.randrange(10_000)
        self.say(f"{made.__name__}({number}) on disk in {name}")
        (self.root / name).write_text(made((self.root / name).read_text("utf-8"), number), "utf-8")
        self.tell(name, lsp.FileChangeType.Changed)

    async def create(self) -> None:
        if "extra.py" not in self.names():
            self.say("create extra.py")
            (self.root / "extra.py").write_text(self.random.choice(sorted(MODULES.values())), "utf-8")
            self.tell("extra.py", lsp.FileChangeType.Created)

    async def delete(self) -> None:
        if len(self.names()) > 3:
            name = self.random.choice(self.names())
            self.say(f"delete {name}")
            os.remove(self.root / name)
            self.tell(name, lsp.FileChangeType.Deleted)

    async def rename(self) -> None:
        name, to = self.random.choice(self.names()), "webkit/moved.py"
        if to not in self.names():
            self.say(f"rename {name} to {to}")
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            os.rename(self.root / name, self.root / to)
            self.tell(name, lsp.FileChangeType.Deleted)
            self.tell(to, lsp.FileChangeType.Created)

    async def kill(self) -> None:
        if sys.platform != "linux":
            return
        pid = self.editor.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children:
            self.say("kill a child")
            try:
                os.kill(int(self.random.choice(children)), signal.SIGKILL)
            except ProcessLookupError:
                return

    async def wait(self) -> None:
        await asyncio.sleep(self.random.random() * 0.3)

    def tell(self, name: str, kind: lsp.FileChangeType) -> None:
        """A watcher's news.  Sometimes there is none, and the server has to look by itself."""
        if self.random.random() < 0.8:
            self.editor.client.workspace_did_change_watched_files(
                lsp.DidChangeWatchedFilesParams([lsp.FileEvent(self.editor.uri(name), kind)])
            )

    # -- what is seen

    async def seen(self, editor: Editor, name: str) -> list[Any]:
        items = (await editor.pull(name)).items if self.kind == "vscode" else editor.shown(name)
        # What an edit breaks elsewhere is a finding of that edit: a fresh server has not seen any.
        return sorted(plain(item) for item in items if not item.message.startswith("this edit breaks"))

    async def wrong(self, expected: dict[str, list[Any]]) -> dict[str, tuple[list[Any], list[Any]]]:
        """What the editor sees when its server has nothing left to do, and should not; and what it should."""
        await self.editor.settle()
        wrong = {}
        for name, wanted in expected.items():
            found = await self.seen(self.editor, name)
            if found != wanted:
                wrong[name] = (
                    [item for item in found if item not in wanted],
                    [item for item in wanted if item not in found],
                )
        return wrong

    async def fresh(self) -> dict[str, list[Any]]:
        """What a new server shows of the state that there is now."""
        texts = {name: self.editor.texts[self.editor.uri(name)] for name in self.opened()}
        editor = self.new_editor()
        await editor.start()
        for name, text in texts.items():
            editor.open(name, text)
        await editor.settle()
        expected = {name: await self.seen(editor, name) for name in texts}
        await editor.stop()
        return expected


def plain(item: lsp.Diagnostic) -> tuple[Any, ...]:
    """What a person sees of a diagnostic."""
    span = item.range
    place = (span.start.line, span.start.character, span.end.line, span.end.character)
    related = tuple(
        (Path(each.location.uri).name, each.location.range.start.line, each.message)
        for each in item.related_information or ()
    )
    # The near names are left out: they may come from files that have nothing to do with the fault, and what
    # is shown already is not searched for again when such a file changes.
    return (*place, item.code, item.message.partition("\nDid you mean")[0], related)


async def run(root: Path, kind: str, number: int) -> None:
    root.mkdir()
    world = World(root, kind, number)
    await world.editor.start()
    world.editor.open("client.py")
    world.editor.open("webkit/handlers.py")
    for _ in range(STEPS):
        await world.step()
    expected = await world.fresh()
    wrong = await world.wrong(expected)
    assert not wrong, f"sequence {number} ({kind}): {world.log}\nshown, but not by a fresh server; and missing: {wrong}"
    assert await world.editor.stop() == 0
    shutil.rmtree(root)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["neovim", "vscode"])
async def test_sequences_end_as_a_fresh_server_does(tmp_path: Path, kind: str) -> None:
    for number in range(FIRST, FIRST + SEQUENCES // 2):
        await run(tmp_path / f"p{number}", kind, number)
