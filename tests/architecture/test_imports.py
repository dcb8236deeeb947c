"""Who may import whom.  Read from the syntax of our packages; nothing is imported for it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
LIBRARY = TOP / "grounding" / "callground"
SERVER = TOP / "server" / "callground_server"

# Rooms of the library that need nothing but the standard library.
CORE = [
    "text",
    "source",
    "facts",
    "environment",
    "graph",
    "resolve",
    "verdict",
    "rules",
    "config",
    "provenance",
]

# Other people's packages, each behind its one door.  A door may stand in the core's rooms, for what
# is behind it may be absent; every import of it is made inside a function or under TYPE_CHECKING.
DOORS = {
    "typeshed_client": "environment/typeshed.py",
    "pathspec": "environment/workspace_files.py",
    "rapidfuzz": "repairs/distance.py",
    "jsonschema": "toolcalls/validate.py",
    "referencing": "toolcalls/validate.py",
    "tomli": None,
    "jedi": None,
    "parso": None,
}


def modules(package: Path) -> Iterator[Path]:
    return (path for path in sorted(package.rglob("*.py")))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """(top-level name, line) of each import of a file, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield node.module or "", node.lineno


def who_imports(name: str, package: Path) -> list[str]:
    return [
        path.relative_to(package).as_posix()
        for path in modules(package)
        if any(module == name or module.startswith(name + ".") for module, _ in imports(path))
    ]


@pytest.mark.parametrize("name", ["callground_server", "pygls", "lsprotocol", "asyncio"])
def test_the_library_knows_no_protocol(name):
    assert who_imports(name, LIBRARY) == []


@pytest.mark.parametrize("name", DOORS)
def test_one_door_for_each_package(name):
    users = who_imports(name, LIBRARY) + who_imports(name, SERVER)
    if name == "tomli":
        # It only stands in for tomllib before Python 3.11.
        assert all("tomllib" in (LIBRARY / user).read_text("utf-8") for user in users)
    elif DOORS[name] is not None:
        assert users in ([], [DOORS[name]])
    else:
        assert len(users) <= 1, users


def test_only_the_caller_runs_networks():
    """onnxruntime and tokenizers belong to the caller's room; torch and its kin to the training inside it."""
    for name in ("onnxruntime", "tokenizers"):
        assert all(user.startswith("caller/") for user in who_imports(name, LIBRARY))
        assert who_imports(name, SERVER) == []
    for name in ("torch", "onnx", "safetensors", "transformers"):
        assert all(user.startswith("caller/training/") for user in who_imports(name, LIBRARY))
        assert who_imports(name, SERVER) == []
    for path in modules(LIBRARY):
        if not path.is_relative_to(LIBRARY / "caller" / "training"):
            assert not [m for m, _ in imports(path) if m.startswith("callground.caller.training")], path


def test_the_core_needs_the_standard_library_only():
    allowed = {"callground", *sys.stdlib_module_names}
    doors = {path for path in DOORS.values() if path}
    strangers = [
        f"{path.relative_to(LIBRARY).as_posix()}:{line}: {module}"
        for room in CORE
        for path in modules(LIBRARY / room)
        for module, line in imports(path)
        if module.partition(".")[0] not in allowed
        and not (path.relative_to(LIBRARY).as_posix() in doors or module == "tomli")
    ]
    assert strangers == []


@pytest.mark.parametrize("door", [d for d in DOORS.values() if d])
def test_what_is_behind_a_door_may_be_absent(door):
    """Nothing at the top level of the module imports the package."""
    tree = ast.parse((LIBRARY / door).read_text("utf-8"))
    top = [
        name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    ]
    assert not {name.partition(".")[0] for name in top} & set(DOORS)


def test_only_the_protocol_layer_knows_lsp_types():
    users = who_imports("lsprotocol", SERVER)
    assert all(user == "convert.py" or user.startswith(("features/", "lsp/")) for user in users), users


def test_the_command_line_starts_without_the_server():
    """``callground check`` loads neither pygls nor lsprotocol."""
    for path in modules(SERVER / "cli"):
        assert not {m.partition(".")[0] for m, _ in imports(path)} & {"pygls", "lsprotocol"}, path


def test_rules_know_no_graph():
    for path in modules(LIBRARY / "rules"):
        for module, line in imports(path):
            assert not module.startswith(("callground.graph", "callground.resolve")), f"{path}:{line}"


def test_no_pickle_anywhere():
    """What lies on disk must not be able to run code."""
    for package in (LIBRARY, SERVER):
        for name in ("pickle", "marshal", "shelve", "dill"):
            assert who_imports(name, package) == []
