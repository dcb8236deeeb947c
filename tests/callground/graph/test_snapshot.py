"""A snapshot stays what it is, and by-name questions see exactly its files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from callground.environment.model import Environment
from callground.graph.interface import Module, NotLoaded
from callground.graph.snapshot import Snapshot
from callground.graph.workspace import Workspace

T = TypeVar("T")


def ask(snapshot: Snapshot, question: Callable[[], T]) -> T:
    """The answer, with what it needs loaded."""
    for _ in range(300):
        try:
            return question()
        except NotLoaded as missing:
            snapshot.space.load(missing.module)
    raise AssertionError("loading never ends")


def module(snapshot: Snapshot, name: str) -> Module | None:
    return ask(snapshot, lambda: snapshot.module(name))


def project(root: Path, files: dict[str, str], *, index: bool = True) -> Workspace:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    workspace = Workspace.open(str(root), Environment.described((3, 11)), cache=str(root / ".cache"))
    if index:
        workspace.index()
    return workspace


def names(snapshot: Snapshot, name: str) -> list[str]:
    return [f"{entry.module}:{row.qualname}" for entry, row in snapshot.definitions(name)]


def test_a_module_that_was_not_read_is_asked_for(tmp_path: Path) -> None:
    snapshot = project(tmp_path, {"a.py": "x = 1\n"}).snapshot()
    with pytest.raises(NotLoaded) as caught:
        snapshot.module("a")
    assert caught.value.module == "a"
    snapshot.space.load("a")
    found = snapshot.module("a")
    assert found is not None
    assert found.origin == "workspace"
    assert found.source is not None
    assert found.source.text == "x = 1\n"


def test_an_absent_module_is_none_once_it_was_looked_for(tmp_path: Path) -> None:
    snapshot = project(tmp_path, {"a.py": ""}).snapshot()
    assert module(snapshot, "b") is None
    assert not ask(snapshot, lambda: snapshot.exists("b"))
    assert ask(snapshot, lambda: snapshot.exists("a"))


def test_an_older_snapshot_keeps_its_world(tmp_path: Path) -> None:
    workspace = project(tmp_path, {"a.py": "def old(): ...\n", "b.py": ""})
    before = workspace.snapshot()
    assert module(before, "b") is not None
    workspace.set_overlay("a.py", "def new(): ...\n")
    (tmp_path / "c.py").write_text("def old(): ...\n")
    os.remove(tmp_path / "b.py")
    workspace.files_changed([str(tmp_path / "c.py"), str(tmp_path / "b.py")])
    after = workspace.snapshot()

    assert names(before, "old") == ["a:old"]
    assert names(before, "new") == []
    # It is gone from the disk, so it may have left the memory too; it is never said to be absent.
    assert before.exists("b")
    assert names(after, "old") == ["c:old"]
    assert names(after, "new") == ["a:new"]
    assert module(after, "b") is None
    assert module(after, "c") is not None


def test_without_a_change_the_snapshot_is_the_same(tmp_path: Path) -> None:
    workspace = project(tmp_path, {"a.py": "x = 1\n"})
    first = workspace.snapshot()
    workspace.set_overlay("a.py", None)
    assert not workspace.file_changed("a.py")
    assert workspace.snapshot() is first


def test_stores_and_subclasses_know_aliases_and_documents(tmp_path: Path) -> None:
    workspace = project(
        tmp_path,
        {
            "base.py": "class Base: ...\n",
            "one.py": "from base import Base as B\n\nclass One(B): ...\n",
            "two.py": "import base\nAlias = base.Base\nclass Two(Alias): ...\nclass Three(base.Base[int]): ...\n",
            "patch.py": "import base\nbase.Base.extra = 1\n",
        },
    )
    snapshot = workspace.snapshot()
    assert snapshot.classes_with_base("Base") == (("one", "One"), ("two", "Three"), ("two", "Two"))
    assert [(name, row.receiver) for name, row in snapshot.stores("extra")] == [("patch", "base.Base")]
    workspace.set_overlay("one.py", "class One: ...\n")
    workspace.set_overlay("patch.py", "\n\nimport base as b\nb.Base.extra = 1\n")
    snapshot = workspace.snapshot()
    assert snapshot.classes_with_base("Base") == (("two", "Three"), ("two", "Two"))
    assert [(row.receiver, row.line) for _, row in snapshot.stores("extra")] == [("b.Base", 4)]


def test_submodules_are_bound_by_imports_anywhere_in_the_workspace(tmp_path: Path) -> None:
    workspace = project(
        tmp_path,
        {
            "pkg/__init__.py": "from . import near\n",
            "pkg/near.py": "from .deep import thing\n",
            "pkg/deep.py": "thing = 1\n",
            "pkg/far.py": "",
            "pkg/other.py": "",
            "use.py": "def later():\n    import pkg.far\n",
        },
    )
    snapshot = workspace.snapshot()

    def bound(name: str) -> bool:
        return ask(snapshot, lambda: snapshot.imported_anywhere(name))

    assert bound("pkg.near")
    assert bound("pkg.deep")
    assert bound("pkg.far")
    assert not bound("pkg.other")


def test_a_supposed_text_changes_nothing_but_its_own_snapshot(tmp_path: Path) -> None:
    workspace = project(tmp_path, {"a.py": "def real(): ...\n"})
    snapshot = workspace.snapshot()
    new = str(tmp_path / "pkg" / "made.py")
    supposed = snapshot.with_overlay({str(tmp_path / "a.py"): "def other(): ...\n", new: "def made(): ...\n"})
    assert names(supposed, "real") == []
    assert names(supposed, "made") == ["pkg.made:made"]
    assert module(supposed, "pkg.made") is not None
    package = module(supposed, "pkg")
    assert package is not None
    assert package.submodules == {"made"}
    assert names(snapshot, "real") == ["a:real"]
    assert module(snapshot, "pkg.made") is None
    assert names(workspace.snapshot(), "real") == ["a:real"]


def test_a_file_that_is_supposed_to_be_gone_is_gone(tmp_path: Path) -> None:
    workspace = project(tmp_path, {"a.py": "def real(): ...\n", "b.py": ""})
    supposed = workspace.snapshot().with_overlay({str(tmp_path / "a.py"): None})
    assert module(supposed, "a") is None
    assert module(supposed, "b") is not None
    assert names(supposed, "real") == []


def test_a_document_that_is_no_file_yet_can_be_imported(tmp_path: Path) -> None:
    workspace = project(tmp_path, {"a.py": ""})
    assert module(workspace.snapshot(), "fresh") is None
    change = workspace.set_overlay("fresh.py", "def f(): ...\n")
    assert "fresh" in change.modules
    assert module(workspace.snapshot(), "fresh") is not None
    change = workspace.set_overlay("fresh.py", None)
    assert "fresh" in change.modules
    assert module(workspace.snapshot(), "fresh") is None


def test_a_loose_file_goes_by_its_path(tmp_path: Path) -> None:
    workspace = project(tmp_path, {"my-script.py": "x = 1\n"})
    path = str(tmp_path / "my-script.py")
    snapshot = workspace.snapshot()
    assert snapshot.module_of_path(path) is None
    found = module(snapshot, path)
    assert found is not None
    assert found.name == path
    workspace.set_overlay("untitled:Untitled-1", "y = 1\n")
    found = module(workspace.snapshot(), "untitled:Untitled-1")
    assert found is not None
    assert found.source is not None
    assert found.source.text == "y = 1\n"


def test_trees_are_parsed_once_per_text(tmp_path: Path) -> None:
    workspace = project(tmp_path, {"a.py": "x = 1\n\n\ndef f():\n    return x\n", "b.py": "x = 1\n"})
    snapshot = workspace.snapshot()
    a, b = module(snapshot, "a"), module(snapshot, "b")
    assert a is not None
    assert a.source is not None
    assert b is not None
    assert b.source is not None
    before = workspace.trees.parsed
    trees = [snapshot.tree(a.source, number) for number in range(len(a.source.facts.pieces))]
    assert all(tree is not None for tree in trees)
    assert [snapshot.tree(a.source, number) for number in range(len(trees))] == trees
    assert workspace.trees.parsed == before + len(trees)
