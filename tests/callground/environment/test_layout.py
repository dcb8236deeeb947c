"""Interpreters read from their files: layouts of several makers, as folders with nothing that could run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from callground.environment.layout import read_folder, read_python
from environment_lab import VERSION, find_uv, run, write_files


def executable(path: Path) -> Path:
    """A file where an interpreter would be.  It fails the test if anybody runs it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    return path


def test_debian(tmp_path):
    usr = tmp_path / "usr"
    real = executable(usr / "bin/python3.9")
    os.symlink("python3.9", usr / "bin/python3")
    write_files(usr, {"lib/python3.9/os.py": "", "lib/python3.10/os.py": ""})
    for name in (
        "lib/python3.9/lib-dynload",
        "lib/python3/dist-packages",
        "local/lib/python3.9/dist-packages",
    ):
        (usr / name).mkdir(parents=True)
    layout = read_python(str(usr / "bin/python3"))
    assert layout is not None
    assert layout.version == (3, 9, 0)
    assert layout.base_python == os.path.realpath(real)
    assert layout.stdlib == (str(usr / "lib/python3.9"), str(usr / "lib/python3.9/lib-dynload"))
    assert layout.site == (
        str(usr / "local/lib/python3.9/dist-packages"),
        str(usr / "lib/python3/dist-packages"),
    )


def test_a_venv_of_debian_with_system_packages(tmp_path):
    usr = tmp_path / "usr"
    executable(usr / "bin/python3.9")
    write_files(usr, {"lib/python3.9/os.py": "", "lib/python3/dist-packages/apt.py": ""})
    folder = tmp_path / "venv"
    write_files(
        folder,
        {
            "pyvenv.cfg": f"home = {usr}/bin\ninclude-system-site-packages = true\nversion = 3.9.2\n",
            "lib/python3.9/site-packages/a.py": "",
        },
    )
    (folder / "bin").mkdir()
    os.symlink(usr / "bin/python3.9", folder / "bin/python")
    layout = read_folder(str(folder))
    assert layout is not None
    assert layout.problem is None
    assert layout.version == (3, 9, 2)
    assert layout.prefix == str(folder)
    assert layout.base_prefix == str(usr)
    assert layout.site == (
        str(folder / "lib/python3.9/site-packages"),
        str(usr / "lib/python3/dist-packages"),
    )


def test_windows(tmp_path):
    base = tmp_path / "Python312"
    executable(base / "python.exe")
    write_files(
        base,
        {
            "Lib/os.py": "",
            "DLLs/_socket.pyd": "",
            "python312.dll": "",
            "include/patchlevel.h": '#define PY_VERSION  "3.12.4"\n',
        },
    )
    folder = tmp_path / "venv"
    write_files(folder, {"pyvenv.cfg": f"home = {base}\nversion = 3.12.4\n", "Lib/site-packages/a.py": ""})
    executable(folder / "Scripts/python.exe")
    layout = read_folder(str(folder))
    assert layout is not None
    assert (layout.problem, layout.platform, layout.version) == (None, "win32", (3, 12, 4))
    assert layout.stdlib == (str(base / "DLLs"), str(base / "Lib"))
    assert layout.site == (str(folder / "Lib/site-packages"),)
    assert layout.python == str(folder / "Scripts/python.exe")


def test_conda(tmp_path):
    folder = tmp_path / "envs/science"
    executable(folder / "bin/python3.11")
    os.symlink("python3.11", folder / "bin/python")
    write_files(
        folder,
        {
            "conda-meta/python-3.11.9-h955ad1f_0.json": "{}",
            "lib/python3.11/os.py": "",
            "lib/python3.11/site-packages/a.py": "",
        },
    )
    layout = read_folder(str(folder))
    assert layout is not None
    assert layout.version == (3, 11, 9)
    assert layout.site == (str(folder / "lib/python3.11/site-packages"),)


def test_a_framework_of_macos_is_found_through_its_links(tmp_path):
    framework = tmp_path / "Cellar/python@3.12/3.12.3/Frameworks/Python.framework/Versions/3.12"
    executable(framework / "bin/python3.12")
    write_files(framework, {"lib/python3.12/os.py": "", "lib/python3.12/site-packages/a.py": ""})
    (tmp_path / "bin").mkdir()
    os.symlink(framework / "bin/python3.12", tmp_path / "bin/python3")
    layout = read_python(str(tmp_path / "bin/python3"))
    assert layout is not None
    assert layout.version == (3, 12, 3)
    assert layout.stdlib == (str(framework / "lib/python3.12"),)


def test_pypy(tmp_path):
    executable(tmp_path / "bin/pypy3")
    write_files(tmp_path, {"lib/pypy3.10/os.py": "", "lib/pypy3.10/site-packages/a.py": ""})
    layout = read_python(str(tmp_path / "bin/pypy3"))
    assert layout is not None
    assert (layout.implementation, layout.version[:2]) == ("pypy", (3, 10))


def test_nothing_there(tmp_path):
    assert read_folder(str(tmp_path)) is None
    assert read_python(str(tmp_path / "bin/python")) is None
    executable(tmp_path / "bin/python")
    assert read_python(str(tmp_path / "bin/python")) is None


@pytest.mark.parametrize("what", ["home", "link", "executable", "site"])
def test_a_broken_venv_says_what_is_broken(lab, what):
    folder = lab.venv()
    config = folder / "pyvenv.cfg"
    if what == "home":
        gone = lab.folder / "gone"
        lines = [f"home = {gone}", f"version = {VERSION}.1"]
        config.write_text("\n".join(lines))
        for path in (folder / "bin").iterdir():
            path.unlink()
        (folder / "bin/python").write_text("")
    elif what == "link":
        for path in (folder / "bin").iterdir():
            path.unlink()
        os.symlink(lab.folder / "gone/bin/python3", folder / "bin/python")
        config.write_text(f"home = {lab.folder}/gone/bin\nversion = {VERSION}.1\n")
    elif what == "executable":
        for path in (folder / "bin").iterdir():
            path.unlink()
    else:
        lab.site().rename(lab.folder / "elsewhere")
    layout = read_folder(str(folder))
    assert layout is not None
    assert layout.problem is not None
    assert {
        "home": "is gone",
        "link": "which does not exist",
        "executable": "has no Python executable",
        "site": "has no site-packages",
    }[what] in layout.problem


def test_an_environment_that_uv_made(lab):
    uv = find_uv()
    if uv is None:
        pytest.skip("uv is not installed here")
    folder = lab.workspace / ".venv"
    subprocess.run(
        [uv, "venv", "--offline", "--no-config", "--python", sys.executable, str(folder)],
        check=True,
        capture_output=True,
    )
    layout = read_folder(str(folder))
    assert layout is not None
    assert layout.problem is None
    assert layout.version == sys.version_info[:3]
    real = run(lab.python(), "import sys; print(*sys.path, sep='\\n')", cwd=lab.folder).splitlines()
    assert [*layout.stdlib, *layout.site] == [path for path in real if os.path.exists(path)]
