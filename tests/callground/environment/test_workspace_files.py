"""Which files belong to a workspace."""

from __future__ import annotations

import builtins
import os

import pytest

from callground.environment import workspace_files
from callground.environment.workspace_files import is_excluded, list_files
from environment_lab import write_files


def listed(folder, files, *, exclude=(), explicit=()):
    write_files(folder, files)
    found = list_files(str(folder), exclude=exclude, explicit=[str(folder / each) for each in explicit])
    assert found.problems == ()
    return [os.path.relpath(path, folder).replace(os.sep, "/") for path in found.python]


FILES = {
    "a.py": "",
    "b.pyi": "",
    "c.pyw": "",
    "d.txt": "",
    "pkg/x.py": "",
    "pkg/deep/y.py": "",
    "out/z.py": "",
}


@pytest.mark.parametrize(
    ("more", "exclude", "gone"),
    [
        ({}, (), set()),
        ({".gitignore": "out/\n"}, (), {"out/z.py"}),
        ({".gitignore": "# c\n\n*.py\n!a.py\n"}, (), {"pkg/x.py", "pkg/deep/y.py", "out/z.py"}),
        ({".gitignore": "/x.py\n"}, (), set()),
        ({".gitignore": "x.py\n"}, (), {"pkg/x.py"}),
        ({"pkg/.gitignore": "/deep/\n"}, (), {"pkg/deep/y.py"}),
        ({".gitignore": "*.py\n", "pkg/.gitignore": "!x.py\n"}, (), {"a.py", "pkg/deep/y.py", "out/z.py"}),
        ({".git/info/exclude": "out/\n", ".git/HEAD": ""}, (), {"out/z.py"}),
        ({".git/info/exclude": "out/\n", ".gitignore": "!out/\n"}, (), set()),
        ({}, ("out",), {"out/z.py"}),
        ({}, ("**/deep/**",), {"pkg/deep/y.py"}),
        ({"pkg/.gitignore": "!x.py\n"}, ("x.py",), {"pkg/x.py"}),
        ({".gitignore": "out/\n"}, ("!out/",), set()),
    ],
)
def test_what_is_left_out(tmp_path, more, exclude, gone):
    expected = {"a.py", "b.pyi", "c.pyw", "pkg/x.py", "pkg/deep/y.py", "out/z.py"} - gone
    assert set(listed(tmp_path, {**FILES, **more}, exclude=exclude)) == expected
    for path in FILES:
        if path.endswith(".py"):
            assert is_excluded(str(tmp_path / path), str(tmp_path), exclude=exclude) == (path in gone)


@pytest.mark.parametrize(
    "files",
    [
        {".git/hook.py": ""},
        {"node_modules/x.py": ""},
        {"__pycache__/x.py": ""},
        {"anything/pyvenv.cfg": "", "anything/lib/x.py": ""},
        {"conda/conda-meta/history": "", "conda/lib/x.py": ""},
        {"lib/site-packages/x.py": ""},
        {".tox/py/x.py": ""},
        {"thing.egg-info/x.py": ""},
        {"build/lib/pkg/x.py": ""},
        {"dist/thing-1.0.whl": "", "dist/x.py": ""},
    ],
)
def test_what_is_never_the_workspace_s_own(tmp_path, files):
    assert listed(tmp_path, files) == []


@pytest.mark.parametrize("files", [{"build/__init__.py": ""}, {"build/make.py": ""}, {"dist/tool.py": ""}])
def test_folders_that_only_sound_like_output(tmp_path, files):
    assert listed(tmp_path, files) == list(files)


def test_a_named_file_is_always_taken(tmp_path):
    files = {".gitignore": "*\n", "a.py": "", "deep/b.py": "", "script": ""}
    assert listed(tmp_path, files, explicit=["a.py", "script"]) == ["a.py", "script"]


def test_a_named_folder_is_searched(tmp_path):
    files = {".gitignore": "x.py\n", "a.py": "", "deep/b.py": "", "deep/x.py": ""}
    assert listed(tmp_path, files, explicit=["deep"]) == ["deep/b.py"]


def test_a_named_path_that_is_not_there_is_a_problem(tmp_path):
    missing = str(tmp_path / "missing.py")
    assert list_files(str(tmp_path), explicit=[missing]).problems == ((missing, "does not exist"),)


def test_rules_of_the_repository_hold_in_a_folder_of_it(tmp_path):
    write_files(tmp_path, {".git/HEAD": "", ".gitignore": "gen/\n", "app/gen/x.py": "", "app/y.py": ""})
    assert list_files(str(tmp_path / "app")).python == (str(tmp_path / "app/y.py"),)


def test_notebooks_stand_apart(tmp_path):
    write_files(tmp_path, {"a.py": "", "n.ipynb": "{}"})
    found = list_files(str(tmp_path))
    assert (found.python, found.notebooks) == ((str(tmp_path / "a.py"),), (str(tmp_path / "n.ipynb"),))


def test_loops_of_links_end(tmp_path):
    write_files(tmp_path, {"a/x.py": ""})
    os.symlink(tmp_path, tmp_path / "a/up")
    os.symlink("self", tmp_path / "self")
    os.symlink(tmp_path / "nowhere.py", tmp_path / "dangling.py")
    found = list_files(str(tmp_path))
    assert [os.path.basename(path) for path in found.python] == ["x.py", "dangling.py"]


def test_a_folder_that_cannot_be_read_is_reported_and_the_rest_is_listed(tmp_path, monkeypatch):
    write_files(tmp_path, {"a.py": "", "closed/b.py": ""})
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)  # a test that runs as root may read everything
    found = list_files(str(tmp_path))
    assert found.python == (str(tmp_path / "a.py"),)
    assert found.problems == ((str(tmp_path / "closed"), "Permission denied"),)


def test_odd_names(tmp_path):
    names = ["mit leerzeichen.py", "ünïcode.py", "quote's.py", "new\nline.py"]
    write_files(tmp_path, dict.fromkeys(names, ""))
    assert {os.path.basename(path) for path in list_files(str(tmp_path)).python} == set(names)


def test_deep_folders(tmp_path):
    path = tmp_path
    for _ in range(150):
        path = path / "d"
    write_files(path, {"x.py": ""})
    assert len(list_files(str(tmp_path)).python) == 1


def test_without_pathspec_there_is_one_message(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "pathspec":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    write_files(tmp_path, {".gitignore": "x.py\n", "x.py": "", "pkg/.gitignore": "y.py\n"})
    found = list_files(str(tmp_path))
    assert found.problems == ((str(tmp_path), workspace_files.MISSING_MESSAGE),)
    assert len(found.python) == 1
