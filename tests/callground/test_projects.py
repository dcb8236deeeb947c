"""Several projects in one repository, each with an environment of its own."""

from __future__ import annotations

import pytest

from callground.projects import check_projects, project_of
from callground.session import Session
from environment_lab import Lab, write_files


@pytest.fixture
def repository(tmp_path):
    """Two projects and a script beside them; `tool` is version 1 in one environment and version 2 in the other."""
    lab = Lab(tmp_path)
    for name, version, member in (("one", "1.0", "old"), ("two", "2.0", "new")):
        project = lab.workspace / name
        write_files(project, {"pyproject.toml": "", f"{name}/__init__.py": "import tool\n\ntool.old()\ntool.new()\n"})
        lab.install(lab.site(lab.venv(project / ".venv")), "tool", version, {"tool.py": f"def {member}(): ...\n"})
    write_files(lab.workspace, {"script.py": "import json\n\njson.nothing()\n", "three/pyproject.toml": ""})
    return lab


def test_each_project_in_its_own_environment(repository):
    with Session.open(str(repository.workspace), cache=str(repository.folder / "cache")) as session:
        report = check_projects(session, session.select().targets)
    assert [(e.finding.owner, e.finding.name, e.finding.message.partition("(")[2][:8]) for e in report.findings] == [
        ("tool", "new", "tool 1.0"),
        ("json", "nothing", "Python 3"),
        ("tool", "old", "tool 2.0"),
    ]
    projects = report.to_json()["projects"]
    assert [p["root"] for p in projects] == ["one", "two"]
    assert all(f"{p['root']}/.venv" in p["python"].replace("\\", "/") for p in projects)
    assert report.environment.python not in [p["python"] for p in projects]


def test_a_chosen_interpreter_is_the_one_for_all(repository):
    python = repository.python(repository.workspace / "one" / ".venv")
    with Session.open(str(repository.workspace), python=python, cache=str(repository.folder / "cache")) as session:
        report = check_projects(session, session.select().targets)
    assert report.projects == ()
    assert [e.finding.name for e in report.findings if e.finding.owner == "tool"] == ["new", "new"]


def test_only_projects_with_an_environment_count(repository):
    root = str(repository.workspace)
    assert project_of(str(repository.workspace / "one" / "deep" / "a.py"), root) == str(repository.workspace / "one")
    assert project_of(str(repository.workspace / "three" / "a.py"), root) is None
    assert project_of(str(repository.workspace / "script.py"), root) is None
    assert project_of(str(repository.workspace / "one" / "a.py"), str(repository.workspace / "one")) is None
