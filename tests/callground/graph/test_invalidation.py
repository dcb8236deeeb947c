"""What a change makes be judged again, and nothing else."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

from callground.config import Config
from callground.environment.model import Environment
from callground.graph.invalidation import Tracker
from callground.graph.space import Contents
from callground.graph.workspace import Workspace

ENVIRONMENT = Environment.described(sys.version_info[:2])
CONTENTS = Contents()
"""What is read of the environment, once for all tests."""

API = """\
import os


class Session:
    def get(self, url):
        return self.send(url)

    def send(self, url):
        return url


def connect(host):
    return Session()


def unrelated():
    return 1
"""
CLIENT = """\
import api


def one():
    return api.connect("host").get("url")


def two():
    return api.Session().post("url")


def three():
    return api.unrelated()


def four():
    return api.missing()
"""


class World:
    """Two open files and the sites that each change has judged."""

    def __init__(self, root: Path, files: dict[str, str]) -> None:
        self.root = root
        for name, text in files.items():
            (root / name).write_text(text, "utf-8")
        self.workspace = Workspace.open(str(root), ENVIRONMENT, cache=str(root / ".cache"), contents=CONTENTS)
        self.workspace.index()
        self.tracker = Tracker(self.workspace)
        for name, text in files.items():
            self.workspace.set_overlay(name, text)
        for name in files:
            self.tracker.judge(self.path(name))

    def path(self, name: str) -> str:
        return str(self.root / name)

    def edit(self, name: str, text: str) -> dict[str, list[str]]:
        """Put another text into a file; the callees judged for it, by file."""
        change = self.workspace.set_overlay(self.path(name), text)
        return self.follow(change, name)

    def follow(self, change: object, name: str) -> dict[str, list[str]]:
        self.tracker.judged_sites.clear()
        stale = self.tracker.apply(change) | {self.path(name)}  # type: ignore[arg-type]
        for path in sorted(stale):
            self.tracker.judge(path)
        judged: dict[str, list[str]] = {}
        for path, callee in self.tracker.judged_sites:
            judged.setdefault(Path(path).name, []).append(callee)
        return {file: sorted(callees) for file, callees in judged.items()}

    def status(self, name: str, callee: str) -> str:
        verdicts = self.tracker.judge(self.path(name))
        return next(verdict.status for verdict in verdicts if verdict.callee == callee)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, {"api.py": API, "client.py": CLIENT})


def test_text_that_moves_is_not_judged_again(world: World) -> None:
    judged = world.edit("client.py", "# a remark\n\n" + CLIENT)
    # The remark belongs to the import below it; findings name lines and near names, so they are judged anew.
    assert judged == {"client.py": ["api", "api.Session().post", "api.missing"]}
    verdicts = world.tracker.judge(world.path("client.py"))
    assert [v.range.line for v in verdicts if v.callee == "api.unrelated"] == [15]


def test_a_new_body_touches_those_who_read_it(world: World) -> None:
    judged = world.edit("api.py", API.replace("return 1", "return [1, 2]"))
    assert "client.py" in judged
    assert "api.connect" not in judged["client.py"]
    assert "api.connect().get" not in judged["client.py"]


def test_a_renamed_function_touches_its_callers(world: World) -> None:
    assert world.status("client.py", "api.unrelated") == "grounded"
    judged = world.edit("api.py", API.replace("def unrelated", "def related"))
    assert "api.unrelated" in judged["client.py"]
    assert "api.connect().get" not in judged["client.py"]
    assert world.status("client.py", "api.unrelated") == "ungrounded"


def test_a_new_function_revives_what_relied_on_its_absence(world: World) -> None:
    assert world.status("client.py", "api.missing") == "ungrounded"
    judged = world.edit("api.py", API + "\n\ndef missing(): ...\n")
    assert "api.missing" in judged["client.py"]
    assert "api.connect().get" not in judged["client.py"]
    assert world.status("client.py", "api.missing") == "grounded"


def test_a_new_method_revives_calls_on_instances(world: World) -> None:
    assert world.status("client.py", "api.Session().post") == "ungrounded"
    judged = world.edit("api.py", API.replace("def send(", "def post(self, url): ...\n\n    def send("))
    assert "api.Session().post" in judged["client.py"]
    assert "api.unrelated" not in judged["client.py"]
    assert world.status("client.py", "api.Session().post") == "grounded"


def test_a_patch_from_a_third_file_silences(world: World) -> None:
    (world.root / "patch.py").write_text("import api\n\napi.missing = print\n")
    judged = world.follow(world.workspace.file_created(world.path("patch.py")), "patch.py")
    assert "api.missing" in judged["client.py"]
    assert world.status("client.py", "api.missing") != "ungrounded"
    (world.root / "patch.py").unlink()
    world.follow(world.workspace.file_deleted(world.path("patch.py")), "patch.py")
    assert world.status("client.py", "api.missing") == "ungrounded"


def test_a_file_that_comes_and_goes_is_followed(tmp_path: Path) -> None:
    world = World(tmp_path, {"client.py": "import later\n\n\ndef f():\n    later.thing()\n"})
    assert world.status("client.py", "later") == "ungrounded"
    (tmp_path / "later.py").write_text("def thing(): ...\n")
    judged = world.follow(world.workspace.file_created("later.py"), "later.py")
    assert judged == {"client.py": ["later", "later.thing"]}
    assert world.status("client.py", "later") == "grounded"
    (tmp_path / "later.py").unlink()
    world.follow(world.workspace.file_deleted("later.py"), "later.py")
    assert world.status("client.py", "later") == "ungrounded"


def test_a_document_that_was_never_saved_counts(tmp_path: Path) -> None:
    world = World(tmp_path, {"client.py": "import later\n\n\ndef f():\n    later.thing()\n"})
    world.edit("later.py", "def thing(): ...\n")
    assert world.status("client.py", "later.thing") == "grounded"
    world.edit("later.py", "def other(): ...\n")
    assert world.status("client.py", "later.thing") == "ungrounded"


def test_a_statement_put_in_parses_one_piece(world: World) -> None:
    before = world.workspace.trees.parsed
    world.edit("client.py", CLIENT + "\n\ndef five():\n    return api.connect('x')\n")
    assert world.workspace.trees.parsed - before <= 2


def test_without_a_change_nothing_is_judged(world: World) -> None:
    assert world.edit("client.py", CLIENT) == {}
    assert world.tracker.counts[world.path("client.py")].kept > 0


def test_an_index_that_becomes_complete_answers_what_was_left_open(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT)
    (tmp_path / "api.py").write_text(API)
    workspace = Workspace.open(str(tmp_path), ENVIRONMENT, cache=str(tmp_path / ".cache"), contents=CONTENTS)
    tracker = Tracker(workspace)
    path = str(tmp_path / "client.py")
    first = {verdict.callee: verdict for verdict in tracker.judge(path)}
    assert first["api.Session().post"].status == "abstained"
    assert first["api.Session().post"].reason == "not-loaded"
    workspace.index(finish=False)
    assert tracker.apply(workspace.finish_index()) == {path}
    second = {verdict.callee: verdict for verdict in tracker.judge(path)}
    assert second["api.Session().post"].status == "ungrounded"


def test_a_package_that_is_upgraded_or_installed_is_seen(tmp_path: Path) -> None:
    site, root = tmp_path / "site", tmp_path / "project"
    site.mkdir()
    root.mkdir()
    (site / "lib.py").write_text("def old(): ...\n")
    (root / "client.py").write_text("import lib\nimport extra\n\nlib.new()\nextra.f()\n")
    environment = Environment.described(sys.version_info[:2], site=[str(site)])
    workspace = Workspace.open(str(root), environment, cache=str(tmp_path / ".cache"))
    workspace.index()
    tracker = Tracker(workspace)
    path = str(root / "client.py")
    first = {verdict.callee: verdict.status for verdict in tracker.judge(path)}
    assert first["lib.new"] == "ungrounded"
    assert first["extra"] != "grounded"
    assert not tracker.apply(workspace.refresh())
    (site / "lib.py").write_text("def old(): ...\ndef new(): ...\n")
    (site / "extra").mkdir()
    (site / "extra" / "__init__.py").write_text("def f(): ...\n")
    assert tracker.apply(workspace.refresh()) == {path}
    second = {verdict.callee: verdict.status for verdict in tracker.judge(path)}
    assert second == {"lib": "grounded", "extra": "grounded", "lib.new": "grounded", "extra.f": "grounded"}


def test_a_file_that_is_newer_than_anybody_knew_is_taken_as_it_is(tmp_path: Path) -> None:
    world = World(tmp_path, {"client.py": "import lib\n\nlib.new()\n"})
    (tmp_path / "lib.py").write_text("def old(): ...\n")
    world.follow(world.workspace.file_created(world.path("lib.py")), "lib.py")
    # It leaves the memory, and changes behind everybody's back.
    world.workspace.space.contents.drop(world.path("lib.py"))
    (tmp_path / "lib.py").write_text("def new(): ...\n")
    world.edit("client.py", "import lib\n\nlib.new()\nlib.new()\n")
    assert world.status("client.py", "lib.new") == "grounded"


def test_whether_anything_differs_is_seen_without_a_change(tmp_path: Path) -> None:
    world = World(tmp_path, {"client.py": CLIENT, "api.py": API})
    world.workspace.refresh()
    assert not world.workspace.looks_different()
    (tmp_path / "api.py").write_text(API + "\n")
    assert world.workspace.looks_different()
    world.workspace.refresh()
    assert not world.workspace.looks_different()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "part.py").write_text("x = 1\n")
    assert world.workspace.looks_different()
    world.workspace.refresh()
    assert not world.workspace.looks_different()
    (tmp_path / "client.py").unlink()
    assert world.workspace.looks_different()
    world.workspace.refresh()
    assert not world.workspace.looks_different()


def test_an_open_document_outlives_its_file(tmp_path: Path) -> None:
    world = World(tmp_path, {"client.py": CLIENT, "api.py": API})
    for name in ("client.py", "api.py"):
        (tmp_path / name).unlink()
    # Nobody has told of it; something else is told.
    (tmp_path / "other.py").write_text("x = 1\n")
    world.follow(world.workspace.file_created(world.path("other.py")), "other.py")
    assert world.status("client.py", "api.missing") == "ungrounded"
    assert world.status("client.py", "api.connect") == "grounded"
    world.follow(world.workspace.refresh(), "client.py")
    assert world.status("client.py", "api.connect") == "grounded"


def test_a_file_that_was_looked_at_before_it_was_there(tmp_path: Path) -> None:
    world = World(tmp_path, {"api.py": API})
    path = world.path("client.py")
    assert world.tracker.judge(path) == []
    (tmp_path / "client.py").write_text(CLIENT)
    change = world.workspace.file_created(path)
    assert path in world.tracker.apply(change)
    assert world.status("client.py", "api.missing") == "ungrounded"


def test_an_environment_that_is_mended_may_be_started(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    number = ".".join(map(str, sys.version_info[:2]))
    (tmp_path / ".venv" / "lib" / f"python{number}" / "site-packages").mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text(f"home = {sys.base_prefix}/bin\nversion = {number}.0\n")
    python.symlink_to(tmp_path / "gone")
    with closing(Workspace.open(str(tmp_path), cache=str(tmp_path / "cache"), trusted=True)) as workspace:
        assert not workspace.environment.trusted, "there is nothing to start"
        workspace.reconfigure(Config(python=sys.executable))
        assert workspace.environment.trusted
    with closing(Workspace.open(str(tmp_path), cache=str(tmp_path / "cache"), trusted=False)) as workspace:
        workspace.reconfigure(Config(python=sys.executable))
        assert not workspace.environment.trusted


def test_a_function_that_is_handed_to_something_may_have_any_attribute(tmp_path: Path) -> None:
    texts = {"client.py": "import api\n\napi.f.mark(1)\n", "api.py": "def f(): ...\ndef g(x): ...\n"}
    world = World(tmp_path, texts)
    assert world.status("client.py", "api.f.mark") == "ungrounded"
    world.edit("api.py", texts["api.py"] + "g(f)\n")
    assert world.status("client.py", "api.f.mark") == "abstained"
    world.edit("api.py", texts["api.py"])
    assert world.status("client.py", "api.f.mark") == "ungrounded"
