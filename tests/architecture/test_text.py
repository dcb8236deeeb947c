"""What no file of the project may hold."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
LONGEST = 520


def files() -> list[Path]:
    """The files under version control; where there is no git, those of a source distribution."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(TOP), "ls-files", "-z"], capture_output=True, check=True, timeout=60
        ).stdout.decode()
        return [path for name in listed.split("\0") if name and (path := TOP / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        return [path for path in TOP.rglob("*.py") if not {".venv", "venv"} & set(path.parts)]


FILES = files()


def texts(*suffixes: str):
    for path in FILES:
        if path.suffix in suffixes:
            yield path, path.read_text("utf-8")


def test_no_source_file_is_longer_than_a_room_should_be():
    sources = [
        p for p, _ in texts(".py", ".ts") if p.is_relative_to(TOP / "grounding") or p.is_relative_to(TOP / "server")
    ]
    assert sources
    lengths = {p.relative_to(TOP).as_posix(): p.read_text("utf-8").count("\n") for p in sources}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


# Built from parts, so that this file does not hold them itself.
FORBIDDEN = [
    "/" + "work" + "/",
    "/" + "root" + "/",
    "/" + "home" + "/(?!me/)",
    "py" + r"pi\.org/simple",
    "registry" + r"\.npmjs",
    "deb" + r"\.debian",
    "sub" + "agent",
    r"127\.0\.0\.1:\d+/simple",
]


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_no_file_names_a_machine_or_a_registry(pattern):
    wrong = [
        f"{path.relative_to(TOP).as_posix()}:{text.count(chr(10), 0, match.start()) + 1}"
        for path, text in texts(".py", ".md", ".toml", ".ts", ".json", ".lua", ".txt", ".yml", ".sh", "")
        if path != Path(__file__) and "data" not in path.parts
        for match in re.finditer(pattern, text)
    ]
    assert wrong == []


def test_no_test_is_skipped_without_a_reason():
    for path, text in texts(".py"):
        if path.is_relative_to(TOP / "tests"):
            assert not re.search(r"mark\.(skip|xfail)(?!if)\b(?!\(.*reason)", text), path


def test_every_room_of_the_library_tells_what_it_is_for():
    """Each package folder has a README for those who change it, or is small enough for its docstring."""
    for package in (TOP / "grounding" / "callground", TOP / "server" / "callground_server"):
        for init in package.rglob("__init__.py"):
            text = init.read_text("utf-8")
            assert text.startswith('"""'), init


def test_ci_runs_the_readmes_test_command():
    readme, ci = ((TOP / name).read_text("utf-8") for name in ("README.md", ".ci/run"))
    commands = [line for line in readme.splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    assert commands[1] in ci


def test_every_dependency_has_its_line_in_the_readme():
    pyproject = (TOP / "pyproject.toml").read_text("utf-8")
    listed = re.search(r"\ndependencies = \[(.*?)\n\]", pyproject, re.DOTALL)
    assert listed is not None
    names = re.findall(r'^ +"([\w-]+)', listed[1], re.MULTILINE)
    readme = (TOP / "README.md").read_text("utf-8")
    assert names
    assert [name for name in names if f"| {name} |" not in readme] == []


def test_every_rule_has_its_line_in_the_readme():
    readme = (TOP / "README.md").read_text("utf-8")
    pages = (TOP / "grounding" / "callground" / "rules" / "pages").glob("*.md")
    assert [page.stem for page in pages if f"| `{page.stem}` |" not in readme] == []
