"""Editors of two kinds, each with a server of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from editor import Editor
from profiles import capabilities


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of the project."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One store of facts for all tests here: what is read of the environment is the same."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALLGROUND_CACHE_DIR", str(folder))
        yield folder


@pytest_asyncio.fixture
async def pushed(root: Path) -> AsyncIterator[Editor]:
    """Neovim: diagnostics are pushed to it."""
    editor = Editor(root, capabilities("neovim"))
    yield editor
    await leave(editor)


@pytest_asyncio.fixture
async def pulled(root: Path) -> AsyncIterator[Editor]:
    """VS Code: it asks for diagnostics."""
    editor = Editor(root, capabilities("vscode"))
    yield editor
    await leave(editor)


async def leave(editor: Editor) -> None:
    """End the session, if the test has not."""
    if editor.result is not None and editor.process.returncode is None:
        status = await editor.stop()
        assert status == 0
