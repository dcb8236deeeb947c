"""Any sequence of edits ends in the verdicts that another process finds from nothing.

The files are real modules (the interpreter's own ``wsgiref`` and ``json`` packages, laid into a
workspace under other names) with a client that calls into all of them; every change goes through the workspace the way
an editor's changes do, and only what a change has touched is judged again.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from callground.environment.discover import find_environment
from callground.graph.changes import Change
from callground.graph.invalidation import Tracker
from callground.graph.space import Contents
from callground.graph.workspace import Workspace
from edits import EDITS
from reference import Reference, comparable

EXAMPLES = int(os.environ.get("CALLGROUND_EXAMPLES", "200"))
SHARE = 0.30
"""The least share of examples in which an edit in one file changes a verdict in another."""

PACKAGES = {"wsgiref": "webkit", "json": "jsonkit"}
"""Real packages, and what they are called here: a workspace package with the name of one of the standard library
may mean either, and then nothing is certain."""
NUMBERS = st.integers(0, 10_000)


def real_modules() -> dict[str, str]:
    """The files of the workspace, by their path in it."""
    files: dict[str, str] = {}
    for package, name in PACKAGES.items():
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        for path in sorted(Path(spec.submodule_search_locations[0]).glob("*.py")):
            text = re.sub(
                rf"^(\s*(?:from|import) ){package}\b", rf"\1{name}", path.read_text("utf-8"), flags=re.MULTILINE
            )
            files[f"{name}/{path.name}"] = text
    files["client.py"] = client_of(files)
    return files


def client_of(files: dict[str, str]) -> str:
    """A module that imports and calls everything public in the others, mostly rightly."""
    lines: list[str] = []
    body: list[str] = []
    for name, text in files.items():
        module = name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        lines.append(f"import {module}")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                given = ", ".join(["None"] * (len(node.args.args) - len(node.args.defaults)))
                body.append(f"    {module}.{node.name}({given})")
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                        positional = method.args.args[1:]
                        given = ", ".join(["None"] * (len(positional) - len(method.args.defaults)))
                        body.append(f"    {module}.{node.name}.{method.name}(None{', ' + given if given else ''})")
                        body.append(f"    {module}.{node.name}.missing_{len(body) % 4}(None)")
    chunks = [body[start : start + 12] for start in range(0, len(body), 12)]
    functions = ["\n".join([f"def use_{number}():", *chunk]) for number, chunk in enumerate(chunks)]
    return "\n".join(lines) + "\n\n\n" + "\n\n\n".join(functions) + "\n"


MODULES = real_modules()


def differences(followed: list[Any], fresh: list[Any]) -> list[tuple[Any, Any]]:
    """The verdicts that differ, a few of them."""
    if len(followed) != len(fresh):
        return [(f"{len(followed)} sites", f"{len(fresh)} sites from nothing")]
    return [(one, other) for one, other in zip(followed, fresh, strict=True) if one != other][:3]


class Tally:
    """What all examples together have shown."""

    examples = 0
    across = 0


class Edits(RuleBasedStateMachine):
    """An editor, a disk, and a workspace that follows both."""

    reference: Reference

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="callground-edits-"))
        self.root = self.folder / "project"
        for name, text in MODULES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        environment = find_environment(str(self.root), python=sys.executable, trusted=True)
        # Facts of the environment are kept between examples: what is tested is what follows a change.
        self.workspace = Workspace.open(str(self.root), environment, cache=str(STORE), contents=CONTENTS)
        self.workspace.index(processes=False)
        self.tracker = Tracker(self.workspace)
        self.open: dict[str, str] = {}
        self.shown: dict[str, list[Any]] = {}
        self.crossed = False
        for name in ("client.py", "webkit/handlers.py"):
            self.put(name, MODULES[name])

    # -- what happens after each change, as in the server

    def path(self, name: str) -> str:
        return str(self.root / name)

    def put(self, name: str, text: str | None) -> None:
        if text is None:
            del self.open[name]
            self.shown.pop(name, None)
        else:
            self.open[name] = text
        change = self.workspace.set_overlay(self.path(name), text)
        if text is None:
            self.tracker.forget(self.path(name))
        self.follow(change, name)

    def follow(self, change: Change, name: str) -> None:
        stale = self.tracker.apply(change) | {self.path(name)}
        for other in sorted(self.open):
            if self.path(other) not in stale:
                continue
            verdicts = [comparable(verdict) for verdict in self.tracker.judge(self.path(other))]
            before = self.shown.get(other)
            if other != name and before is not None and before != verdicts:
                self.crossed = True
            self.shown[other] = verdicts

    def on_disk(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*.py"))

    def read(self, name: str) -> str:
        return (self.root / name).read_text("utf-8")

    # -- what people do

    @rule(which=NUMBERS, edit=st.sampled_from(EDITS), number=NUMBERS)
    def edit_a_document(self, which: int, edit: Any, number: int) -> None:
        names = sorted(self.open)
        if not names:
            return
        name = names[which % len(names)]
        note(f"{edit.__name__}({number}) in {name}")
        self.put(name, edit(self.open[name], number))

    @rule(which=NUMBERS)
    def take_it_all_back(self, which: int) -> None:
        names = [name for name in sorted(self.open) if name in MODULES]
        if names:
            self.put(names[which % len(names)], MODULES[names[which % len(names)]])

    @rule(which=NUMBERS)
    def open_a_file(self, which: int) -> None:
        names = [name for name in self.on_disk() if name not in self.open]
        if names:
            name = names[which % len(names)]
            note(f"open {name}")
            self.put(name, self.read(name))

    @rule(which=NUMBERS)
    def close_a_document(self, which: int) -> None:
        names = sorted(self.open)
        if len(names) > 1:
            note(f"close {names[which % len(names)]}")
            self.put(names[which % len(names)], None)

    @rule(which=NUMBERS)
    def save_a_document(self, which: int) -> None:
        names = sorted(self.open)
        if names:
            name = names[which % len(names)]
            note(f"save {name}")
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(self.open[name], "utf-8")
            self.follow(self.workspace.file_changed(self.path(name)), name)

    @rule(which=NUMBERS, edit=st.sampled_from(EDITS), number=NUMBERS)
    def another_program_writes_a_file(self, which: int, edit: Any, number: int) -> None:
        names = self.on_disk()
        if names:
            name = names[which % len(names)]
            note(f"{edit.__name__}({number}) on disk in {name}")
            (self.root / name).write_text(edit(self.read(name), number), "utf-8")
            self.follow(self.workspace.file_changed(self.path(name)), name)

    @rule(
        which=NUMBERS,
        place=st.sampled_from(["webkit/extra.py", "jsonkit.py", "extra.py", "new/part.py", "webkit/util.pyi"]),
    )
    def create_a_file(self, which: int, place: str) -> None:
        texts = sorted(MODULES)
        if place in self.on_disk():
            return
        note(f"create {place} with the text of {texts[which % len(texts)]}")
        (self.root / place).parent.mkdir(parents=True, exist_ok=True)
        (self.root / place).write_text(MODULES[texts[which % len(texts)]], "utf-8")
        self.follow(self.workspace.file_created(self.path(place)), place)

    @rule(which=NUMBERS)
    def delete_a_file(self, which: int) -> None:
        names = self.on_disk()
        if len(names) > 2:
            name = names[which % len(names)]
            note(f"delete {name}")
            os.remove(self.root / name)
            self.follow(self.workspace.file_deleted(self.path(name)), name)

    @rule(
        which=NUMBERS,
        to=st.sampled_from(["webkit/moved.py", "moved.py", "webkit/handlers.py", "jsonkit/encoder.py"]),
    )
    def rename_a_file(self, which: int, to: str) -> None:
        names = [name for name in self.on_disk() if name != to]
        if names and to not in self.on_disk():
            name = names[which % len(names)]
            note(f"rename {name} to {to}")
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            os.rename(self.root / name, self.root / to)
            self.follow(self.workspace.file_changed(self.path(name)), name)
            self.follow(self.workspace.file_changed(self.path(to)), to)

    @rule()
    @precondition(lambda self: len(self.open) > 1)
    def nothing_happens(self) -> None:
        for name in sorted(self.open):
            self.follow(self.workspace.file_changed(self.path(name)), name)

    def teardown(self) -> None:
        if not hasattr(self, "workspace"):
            return
        try:
            paths = {name: self.path(name) for name in self.open}
            expected = self.reference.judge(
                self.root, {paths[name]: text for name, text in self.open.items()}, list(paths.values())
            )
            for name, path in paths.items():
                wrong = differences(self.shown.get(name, []), expected[path])
                assert not wrong, f"{name}: {wrong}"
            Tally.examples += 1
            Tally.across += self.crossed
        finally:
            self.workspace.close()
            shutil.rmtree(self.folder, ignore_errors=True)


STORE = Path()
CONTENTS = Contents()


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[Reference]:
    global STORE
    STORE = tmp_path / "store"
    with Reference() as process:
        yield process


@pytest.mark.slow
def test_edits_end_in_the_verdicts_of_a_fresh_start(reference: Reference) -> None:
    Edits.reference = reference
    Tally.examples = Tally.across = 0
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Edits,
        settings=settings(
            max_examples=EXAMPLES,
            # The same examples in every run that guards a change; the nightly command draws new ones.
            derandomize="CALLGROUND_EXAMPLES" not in os.environ,
            database=None,
            stateful_step_count=10,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    share = Tally.across / max(Tally.examples, 1)
    print(f"in {share:.0%} of {Tally.examples} examples an edit in one file changed a verdict in another")
    assert share >= SHARE
