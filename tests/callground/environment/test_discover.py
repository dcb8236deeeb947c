"""Which interpreter a workspace gets, and what is said about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from callground.environment.discover import find_environment
from callground.environment.managers import _short_hash
from environment_lab import VERSION, find_uv, write_files


def test_dot_venv_in_the_workspace(lab):
    lab.venv()
    environment = lab.find()
    assert environment.python == lab.python()
    assert environment.how == f".venv in {lab.workspace}"
    assert environment.doubtful is None
    assert environment.notices == ()
    assert environment.site == (str(lab.site()),)
    assert environment.trusted


@pytest.mark.parametrize("name", ["venv", "env", "my-environment"])
def test_other_names(lab, name):
    lab.venv(lab.workspace / name)
    assert lab.find().prefix == str(lab.workspace / name)


def test_two_folders_of_unusual_names_are_no_choice(lab):
    lab.venv(lab.workspace / "one")
    lab.venv(lab.workspace / "two")
    environment = lab.find()
    assert environment.prefix not in (str(lab.workspace / "one"), str(lab.workspace / "two"))
    assert environment.doubtful == "no environment was found for this workspace"


def test_an_explicit_choice_comes_first(lab):
    lab.venv()
    other = lab.venv(lab.folder / "other")
    for choice in (str(other), lab.python(other), os.path.relpath(other, lab.workspace)):
        environment = lab.find(python=choice, VIRTUAL_ENV=str(lab.workspace / ".venv"))
        assert environment.prefix == str(other)
        assert environment.how == "chosen by the setting"


def test_an_explicit_choice_that_is_not_there_makes_doubt(lab):
    lab.venv()
    environment = lab.find(python="/no/such/python")
    assert environment.prefix == str(lab.workspace / ".venv")
    assert environment.doubtful == "/no/such/python does not exist"
    assert environment.notices == ("/no/such/python does not exist",)


def test_a_command_name_is_looked_up(lab):
    other = lab.venv(lab.folder / "other")
    environment = lab.find(python="python", PATH=str(other / "bin"))
    assert environment.prefix == str(other)


def test_the_activated_environment_comes_before_the_workspace_s(lab):
    lab.venv()
    active = lab.venv(lab.folder / "active")
    environment = lab.find(VIRTUAL_ENV=str(active))
    assert environment.prefix == str(active)
    assert "VIRTUAL_ENV" in environment.how


def test_but_not_when_it_is_our_own(lab):
    lab.venv()
    assert lab.find(VIRTUAL_ENV=sys.prefix).prefix == str(lab.workspace / ".venv")


def conda(path: Path) -> Path:
    (path / "bin").mkdir(parents=True)
    (path / "bin/python").write_text("")
    write_files(
        path,
        {
            "conda-meta/python-3.10.2-0.json": "{}",
            "lib/python3.10/os.py": "",
            "lib/python3.10/site-packages/a.py": "",
        },
    )
    return path


def test_conda_s_base_comes_after_the_workspace_s(lab):
    prefix = conda(lab.folder / "conda")
    lab.venv()
    ours = str(lab.workspace / ".venv")
    active = {"trusted": False, "CONDA_PREFIX": str(prefix)}
    assert lab.find(**active, CONDA_DEFAULT_ENV="work").prefix == str(prefix)
    assert lab.find(**active, CONDA_DEFAULT_ENV="base").prefix == ours


def test_a_conda_environment_in_the_workspace(lab):
    prefix = conda(lab.workspace / ".conda")
    environment = lab.find(trusted=False)
    assert environment.prefix == str(prefix)
    assert environment.version == (3, 10, 2)
    assert not environment.builtins_known


def test_a_folder_of_a_repository_takes_the_environment_above(lab):
    lab.venv()
    (lab.workspace / ".git").mkdir()
    inner = lab.workspace / "services/api"
    inner.mkdir(parents=True)
    assert find_environment(str(inner), environ=lab.environ).prefix == str(lab.workspace / ".venv")
    lab.venv(inner / ".venv")
    assert find_environment(str(inner), environ=lab.environ).prefix == str(inner / ".venv")


def test_without_a_repository_nothing_above_counts(lab):
    lab.venv()
    inner = lab.workspace / "inner"
    inner.mkdir()
    assert find_environment(str(inner), environ=lab.environ).prefix != str(lab.workspace / ".venv")


def test_poetry(lab):
    write_files(lab.workspace, {"pyproject.toml": '[tool.poetry]\nname = "My Tool"\n'})
    name = f"my_tool-{_short_hash(os.path.realpath(lab.workspace))}-py{VERSION}"
    made = lab.venv(lab.home / "cache/virtualenvs" / name)
    environment = lab.find(POETRY_CACHE_DIR=str(lab.home / "cache"))
    assert environment.prefix == str(made)
    assert environment.how == "poetry's environment of this project"


def test_pdm(lab):
    made = lab.venv(lab.folder / "made")
    write_files(lab.workspace, {".pdm-python": f"{lab.python(made)}\n"})
    assert lab.find().prefix == str(made)


def test_pdm_without_an_environment(lab):
    lab.venv()
    site = lab.workspace / "__pypackages__" / VERSION / "lib"
    write_files(site, {"thing.py": ""})
    assert lab.find().site == (str(site), str(lab.site()))


def test_hatch(lab):
    write_files(lab.workspace, {"pyproject.toml": '[project]\nname = "My_Tool"\n'})
    made = lab.venv(lab.home / "data/env/virtual/my-tool" / _short_hash(str(lab.workspace)) / "my-tool")
    assert lab.find(HATCH_DATA_DIR=str(lab.home / "data")).prefix == str(made)


def test_pipenv(lab):
    write_files(lab.workspace, {"Pipfile": ""})
    made = lab.venv(lab.home / "envs" / f"workspace-{_short_hash(str(lab.workspace / 'Pipfile'))}")
    assert lab.find(WORKON_HOME=str(lab.home / "envs")).prefix == str(made)


def test_a_venv_file_names_a_folder(lab):
    made = lab.venv(lab.folder / "made")
    write_files(lab.workspace, {".venv": f"{made}\n"})
    assert lab.find().prefix == str(made)


def test_uv_project_environment(lab):
    made = lab.venv(lab.workspace / "deep/env")
    assert lab.find(UV_PROJECT_ENVIRONMENT="deep/env").prefix == str(made)


def test_uv_makes_a_dot_venv(lab):
    uv = find_uv()
    if uv is None:
        pytest.skip("uv is not installed here")
    subprocess.run(
        [uv, "venv", "--offline", "--no-config", "--python", sys.executable], check=True, cwd=lab.workspace,
        capture_output=True,
    )  # fmt: skip
    environment = lab.find()
    assert environment.prefix == str(lab.workspace / ".venv")
    assert environment.version == sys.version_info[:3]


def test_pyenv_s_file_and_shims(lab):
    version = lab.home / ".pyenv/versions/3.9.18"
    write_files(version, {"lib/python3.9/os.py": "", "lib/python3.9/site-packages/a.py": "", "bin/python": ""})
    write_files(lab.home / ".pyenv", {"shims/python": "#!/bin/sh\nexit 1\n", "version": "3.9.18\n"})
    shim = lab.find(python=str(lab.home / ".pyenv/shims/python"), trusted=False)
    assert (shim.prefix, shim.version) == (str(version), (3, 9, 18))
    write_files(lab.workspace, {".python-version": "3.9\n"})
    assert lab.find(trusted=False).prefix == str(version)


def test_nothing_at_all_is_the_servers_own_with_a_notice(lab):
    environment = lab.find()
    assert environment.python == sys.executable
    assert environment.version == sys.version_info[:3]
    assert environment.doubtful == "no environment was found for this workspace"
    assert "set the interpreter or create a virtual environment" in environment.notices[-1]
    assert environment.builtins_known


def test_a_dangling_link_keeps_the_packages_and_says_so(lab):
    folder = lab.venv()
    for path in (folder / "bin").iterdir():
        path.unlink()
    os.symlink(lab.folder / "gone/bin/python3", folder / "bin/python")
    (folder / "pyvenv.cfg").write_text(f"home = {lab.folder}/gone/bin\nversion = {VERSION}.1\n")
    environment = lab.find()
    assert environment.site == (str(lab.site()),)
    assert environment.stdlib  # lent by this program's Python, which has the same version
    assert environment.doubtful is not None
    assert "which does not exist" in environment.doubtful
    assert environment.doubtful in environment.notices
    assert not environment.trusted


def test_a_broken_environment_of_another_version_falls_back_to_typeshed(lab):
    folder = lab.workspace / ".venv"
    write_files(
        folder,
        {
            "pyvenv.cfg": f"home = {lab.folder}/gone\nversion = 3.7.1\n",
            "lib/python3.7/site-packages/a.py": "",
        },
    )
    environment = lab.find()
    assert environment.version == (3, 7, 1)
    assert environment.is_described
    assert environment.doubtful is not None


def test_a_broken_one_without_packages_is_passed_over(lab):
    write_files(lab.workspace / ".venv", {"pyvenv.cfg": "home = /gone\n"})
    environment = lab.find()
    assert environment.python == sys.executable
    assert environment.doubtful is not None
    assert ".venv" in environment.doubtful


def test_python_2_is_not_understood(lab):
    folder = lab.folder / "two"
    write_files(folder, {"bin/python2.7": "", "lib/python2.7/os.py": ""})
    environment = lab.find(python=str(folder / "bin/python2.7"), trusted=False)
    assert environment.doubtful is not None
    assert "only Python 3 is understood" in environment.doubtful


def test_an_unknown_layout_is_asked_when_trusted(lab):
    """A wrapper script, as some distributions and tools put it in front of the interpreter."""
    lab.venv(lab.folder / "real")
    wrapper = lab.folder / "wrapped/python"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec "{lab.python(lab.folder / "real")}" "$@"\n')
    wrapper.chmod(0o755)
    environment = lab.find(python=str(wrapper))
    assert environment.prefix == str(lab.folder / "real")
    untrusted = lab.find(python=str(wrapper), trusted=False)
    assert untrusted.doubtful is not None
    assert "untrusted workspace" in untrusted.doubtful


def test_python_path(lab):
    lab.venv()
    write_files(lab.folder, {"more/thing.py": ""})
    environment = lab.find(PYTHONPATH=os.pathsep.join([str(lab.folder / "more"), "", "/nowhere"]))
    assert environment.search[0].path == str(lab.folder / "more")
    assert environment.search[0].kind == "pythonpath"


def test_the_key_changes_with_what_decides_look_ups(lab):
    lab.venv()
    before = lab.find().key()
    assert lab.find().key() == before
    write_files(lab.folder, {"more/thing.py": ""})
    write_files(lab.site(), {"x.pth": f"{lab.folder}/more\n"})
    assert lab.find().key() != before
