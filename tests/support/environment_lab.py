"""Real virtual environments, and folders that look like environments of other makers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import venv
from collections.abc import Mapping
from pathlib import Path

from callground.environment.discover import find_environment
from callground.environment.finder import Finder, Roots
from callground.environment.model import Environment

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Lay files below `root`; indentation that all lines share is taken away."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


class Lab:
    """A workspace and an environment in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        self.environ = {"HOME": str(self.home), "PATH": os.environ.get("PATH", "")}

    def venv(self, path: Path | None = None) -> Path:
        """A virtual environment of the Python that runs the tests; ``.venv`` in the workspace by default."""
        path = path or self.workspace / ".venv"
        venv.EnvBuilder(symlinks=os.name != "nt", with_pip=False).create(path)
        return path

    def site(self, path: Path | None = None) -> Path:
        """The site-packages folder of a virtual environment."""
        path = path or self.workspace / ".venv"
        if os.name == "nt":
            return path / "Lib" / "site-packages"
        return path / "lib" / f"python{VERSION}" / "site-packages"

    def python(self, path: Path | None = None) -> str:
        path = path or self.workspace / ".venv"
        return str(path / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))

    def install(self, site: Path, name: str, version: str, files: Mapping[str, str], **metadata: str) -> None:
        """Lay a distribution as pip lays it, RECORD included."""
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        write_files(site, files)
        written = {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nA description.\n",
            **{f"{info}/{key}": text for key, text in metadata.items()},
        }
        record = "".join(f"{each},,\n" for each in (*files, *written, f"{info}/RECORD"))
        write_files(site, {**written, f"{info}/RECORD": record})

    def find(self, *, python: str | None = None, trusted: bool = True, **environ: str) -> Environment:
        return find_environment(
            str(self.workspace), python=python, trusted=trusted, environ={**self.environ, **environ}
        )

    def finder(self, *roots: str, scripts: tuple[str, ...] = (), trusted: bool = True) -> Finder:
        folders = tuple(str(self.workspace / root) for root in roots or (".",))
        folders = tuple(os.path.normpath(each) for each in folders)
        return Finder(
            self.find(trusted=trusted),
            Roots(folders, tuple(str(self.workspace / each) for each in scripts)),
        )


def run(python: str, code: str, *, cwd: Path, stdin: str = "", isolated: bool = True) -> str:
    """What a real interpreter prints; it runs the environment's .pth files, as a user's program does."""
    flags = ["-I"] if isolated else []
    return subprocess.run(
        [python, *flags, "-c", code], input=stdin, capture_output=True, text=True, check=True, cwd=cwd
    ).stdout


def find_uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return shutil.which("uv") or (str(beside) if beside.exists() else None)


def other_pythons() -> list[tuple[str, tuple[int, int, int]]]:
    """(executable, version) of the other interpreters on the path and below pyenv's folder."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [str(path) for path in sorted(pyenv.glob("versions/3.*/bin/python"))]
    candidates += [found for minor in range(8, 16) if (found := shutil.which(f"python3.{minor}"))]
    known: dict[tuple[int, int, int], str] = {}
    for python in candidates:
        code = "import sys; print(*sys.version_info[:3], sys.executable)"
        answer = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            major, minor, micro, executable = answer.stdout.split(maxsplit=3)
            version = (int(major), int(minor), int(micro))
            if version >= (3, 8) and version[:2] != sys.version_info[:2]:
                known.setdefault(version, executable.strip())
    return [(python, version) for version, python in sorted(known.items())]
