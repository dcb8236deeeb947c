"""Reads what an interpreter or a virtual environment is made of from its files, without starting it.

Understands the layouts of CPython on POSIX and Windows (``venv``, ``virtualenv``, ``uv``, pyenv, Debian's
``dist-packages``, conda, frameworks on macOS) and of PyPy.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from callground.environment.model import PathEntry


class Layout(NamedTuple):
    """The parts of one interpreter."""

    python: str | None
    """The executable; None when the folder has none that can be started."""
    version: tuple[int, int, int]
    prefix: str
    base_prefix: str
    base_python: str | None
    """The executable that a virtual environment was made from, links resolved."""
    stdlib: tuple[str, ...]
    """Empty when the base interpreter was not found."""
    site: tuple[str, ...]
    platform: str
    implementation: str
    problem: str | None
    """What is broken, for people."""


_LIB = re.compile(r"^(python|pypy)(\d+)\.(\d+)t?$")
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
_EXECUTABLES = (
    ("bin", "python"),
    ("bin", "python3"),
    ("Scripts", "python.exe"),
    ("bin", "python.exe"),
    ("python.exe",),
    ("bin", "pypy3"),
)


def read_folder(folder: str, environ: Mapping[str, str] | None = None) -> Layout | None:
    """The environment in `folder`: a virtual environment, a conda environment or an installed Python.

    None when it is none of them.
    """
    folder = os.path.abspath(folder)
    config = _config(os.path.join(folder, "pyvenv.cfg"))
    if config is not None:
        return _read_venv(folder, config, environ or {})
    if not _is_installation(folder):
        return None
    python = _executable(folder)
    return read_base(python, folder, environ) if python else None


def read_python(python: str, environ: Mapping[str, str] | None = None) -> Layout | None:
    """The interpreter whose executable is `python`; None when its parts cannot be found from its files."""
    python = os.path.abspath(python)
    folder = os.path.dirname(python)
    for place in (folder, os.path.dirname(folder)):
        config = _config(os.path.join(place, "pyvenv.cfg"))
        if config is not None:
            found = _read_venv(place, config, environ or {})
            return found._replace(python=python) if found and os.path.exists(python) else found
    if not os.path.exists(python):
        return None
    return read_base(python, None, environ)


def read_base(python: str, prefix: str | None, environ: Mapping[str, str] | None = None) -> Layout | None:
    """An interpreter that is no virtual environment."""
    found = _standard_library(python, None)
    if found is None:
        return None
    home, library, version, implementation = found
    prefix = prefix or home
    micro = _micro(home, library, version, python)
    windows = os.path.basename(library) == "Lib"
    sites = [*_user_site(version, environ or {}, windows), *base_sites(home, library, version)]
    return Layout(
        python=python,
        version=(*version, micro),
        prefix=prefix,
        base_prefix=home,
        base_python=os.path.realpath(python),
        stdlib=_library_folders(home, library, version),
        site=tuple(dict.fromkeys(sites)),
        platform="win32" if windows else sys.platform,
        implementation=implementation,
        problem=None,
    )


def _config(path: str) -> dict[str, str] | None:
    """The keys of a ``pyvenv.cfg``, lower case; None when there is no such file."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = file.read(100_000).splitlines()
    except (OSError, ValueError):
        return None
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _read_venv(folder: str, config: dict[str, str], environ: Mapping[str, str]) -> Layout:
    python = _executable(folder)
    problem = None
    if python is None:
        dangling = next((path for path in _candidates(folder) if os.path.islink(path)), None)
        if dangling is not None:
            problem = f"{dangling} points to {os.readlink(dangling)}, which does not exist"
        else:
            problem = f"{folder} has no Python executable"
    version = _config_version(config)
    site = []
    implementation = config.get("implementation", "cpython").lower()
    for path, found in _venv_sites(folder):
        if version is None or found is None or found == version[:2]:
            site.append(path)
            if version is None and found is not None:
                version = (*found, 0)
            if os.sep + "pypy" in path:
                implementation = "pypy"
    home = config.get("home", "")
    base = None
    candidate = ""
    for candidate in _home_pythons(home, config, python, version):
        base = _standard_library(candidate, version[:2] if version else None)
        if base is not None:
            break
    windows = os.path.isdir(os.path.join(folder, "Scripts")) and not os.path.isdir(os.path.join(folder, "bin"))
    platform = "win32" if windows else sys.platform
    if base is None:
        if problem is None:
            problem = f"the Python that {folder} was made from is gone ({home or 'no home in pyvenv.cfg'})"
        return Layout(
            python, version or (0, 0, 0), folder, "", None, (), tuple(site), platform, implementation, problem
        )
    base_home, library, base_version, implementation = base
    if version is None or version[:2] != base_version or not version[2]:
        version = (*base_version, _micro(base_home, library, base_version, candidate))
    if not site:
        problem = problem or f"{folder} has no site-packages folder"
    if config.get("include-system-site-packages", "").lower() == "true":
        site.extend(_user_site(base_version, environ, windows))
        site.extend(base_sites(base_home, library, base_version))
    return Layout(
        python=python,
        version=version,
        prefix=folder,
        base_prefix=base_home,
        base_python=os.path.realpath(candidate) if os.path.exists(candidate) else None,
        stdlib=_library_folders(base_home, library, base_version),
        site=tuple(dict.fromkeys(site)),
        platform=platform,
        implementation=implementation if implementation in ("cpython", "pypy") else "cpython",
        problem=problem,
    )


def _candidates(folder: str) -> Iterator[str]:
    for parts in _EXECUTABLES:
        yield os.path.join(folder, *parts)


def _executable(folder: str) -> str | None:
    return next((path for path in _candidates(folder) if os.path.isfile(path)), None)


def _config_version(config: dict[str, str]) -> tuple[int, int, int] | None:
    match = _VERSION.match(config.get("version_info") or config.get("version") or "")
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None


def _venv_sites(folder: str) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """(site-packages folder, Python version that its path names)."""
    seen = set()
    for lib in ("lib", "lib64"):
        for name in _names(os.path.join(folder, lib)):
            match = _LIB.match(name)
            path = os.path.join(folder, lib, name, "site-packages")
            real = os.path.realpath(path)
            if match and os.path.isdir(path) and real not in seen:
                seen.add(real)
                yield path, (int(match[2]), int(match[3]))
    for parts in (("Lib", "site-packages"), ("site-packages",)):
        path = os.path.join(folder, *parts)
        real = os.path.realpath(path)
        if os.path.isdir(path) and real not in seen:
            seen.add(real)
            yield path, None


def _home_pythons(
    home: str, config: dict[str, str], python: str | None, version: tuple[int, int, int] | None
) -> Iterator[str]:
    """Executables (perhaps missing ones) from which the base interpreter's library can be found."""
    for key in ("base-executable", "executable"):
        if config.get(key):
            yield config[key]
    if home:
        names = ["python3", "python", "python.exe", "pypy3"]
        if version:
            names.insert(0, f"python{version[0]}.{version[1]}")
        existing = [name for name in names if os.path.exists(os.path.join(home, name))]
        for name in existing or names[:1]:
            yield os.path.join(home, name)
    if python:
        yield os.path.realpath(python)


def _standard_library(python: str, wanted: tuple[int, int] | None) -> tuple[str, str, tuple[int, int], str] | None:
    """(prefix, library folder, version, implementation) of the installation that holds `python`.

    Looks from the executable upwards, before and after links are resolved, as the interpreter does.
    """
    for path in dict.fromkeys((os.path.realpath(python), python)):
        folder = os.path.dirname(path)
        for _ in range(5):
            found = _library_in(folder, os.path.basename(path), wanted)
            if found is not None:
                return (folder, *found)
            above = os.path.dirname(folder)
            if above == folder:
                break
            folder = above
    return None


def _library_in(
    prefix: str, executable: str, wanted: tuple[int, int] | None
) -> tuple[str, tuple[int, int], str] | None:
    if wanted is None:
        match = re.search(r"(\d)\.?(\d+)(?:t?|t?\.exe)$", executable)
        wanted = (int(match[1]), int(match[2])) if match else None
    fitting = []
    for lib in ("lib", "lib64"):
        for name in _names(os.path.join(prefix, lib)):
            match = _LIB.match(name)
            folder = os.path.join(prefix, lib, name)
            if match and os.path.isfile(os.path.join(folder, "os.py")):
                version = (int(match[2]), int(match[3]))
                if wanted is None or version == wanted:
                    implementation = "pypy" if match[1] == "pypy" else "cpython"
                    fitting.append((version, folder, implementation))
    if fitting:
        version, folder, implementation = max(fitting)
        return folder, version, implementation
    windows = os.path.join(prefix, "Lib")
    if "Lib" in _names(prefix) and os.path.isfile(os.path.join(windows, "os.py")):
        found = _windows_version(prefix) or wanted
        if found is not None and (wanted is None or wanted == found):
            return windows, found, "cpython"
    return None


def _windows_version(prefix: str) -> tuple[int, int] | None:
    for name in _names(prefix):
        match = re.match(r"^python(3)(\d+)t?\.(?:dll|zip|_pth)$", name, re.IGNORECASE)
        if match:
            return int(match[1]), int(match[2])
    header = _patchlevel(os.path.join(prefix, "include", "patchlevel.h"))
    return header[:2] if header else None


def _library_folders(home: str, library: str, version: tuple[int, int]) -> tuple[str, ...]:
    """What the interpreter puts on its path for the standard library, as far as it exists."""
    digits = f"{version[0]}{version[1]}"
    candidates = [os.path.join(os.path.dirname(library), f"python{digits}.zip")]
    if os.path.basename(library) == "Lib":
        candidates = [os.path.join(home, f"python{digits}.zip"), os.path.join(home, "DLLs"), library]
    else:
        candidates += [library, os.path.join(library, "lib-dynload")]
        other = library.replace(f"{os.sep}lib{os.sep}", f"{os.sep}lib64{os.sep}")
        if other != library and not os.path.samefile(library, other) if os.path.isdir(other) else False:
            candidates.append(os.path.join(other, "lib-dynload"))
    return tuple(path for path in candidates if os.path.exists(path))


def base_sites(home: str, library: str, version: tuple[int, int]) -> tuple[str, ...]:
    """The site folders of an installation, in ``site.py``'s order, as far as they exist."""
    if os.path.basename(library) == "Lib":
        candidates = [os.path.join(library, "site-packages")]
    else:
        folder = os.path.basename(library)
        candidates = [os.path.join(library, "site-packages"), os.path.join(home, "site-packages")]
        for lib in ("lib", "lib64"):
            candidates.append(os.path.join(home, lib, folder, "site-packages"))
        # Debian: packages of the system and those that an administrator installs beside them.
        candidates += [
            os.path.join(home, "local", "lib", folder, "dist-packages"),
            os.path.join(home, "local", "lib", folder, "site-packages"),
            os.path.join(home, "lib", f"python{version[0]}", "dist-packages"),
            os.path.join(library, "dist-packages"),
        ]
    found: dict[str, str] = {}
    for path in candidates:
        if os.path.isdir(path):
            found.setdefault(os.path.realpath(path), path)
    return tuple(found.values())


def _user_site(version: tuple[int, int], environ: Mapping[str, str], windows: bool) -> tuple[str, ...]:
    """The user's own site folder, when there is one."""
    if environ.get("PYTHONNOUSERSITE"):
        return ()
    dotted, digits = f"{version[0]}.{version[1]}", f"{version[0]}{version[1]}"
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    base = environ.get("PYTHONUSERBASE", "")
    candidates = []
    if windows and environ.get("APPDATA"):
        candidates.append(os.path.join(environ["APPDATA"], "Python", f"Python{digits}", "site-packages"))
    if base or home:
        base = base or os.path.join(home, ".local")
        candidates.append(os.path.join(base, "lib", f"python{dotted}", "site-packages"))
    if home and sys.platform == "darwin":
        candidates.append(os.path.join(home, "Library", "Python", dotted, "lib", "python", "site-packages"))
    return tuple(path for path in candidates if os.path.isdir(path))


def _micro(home: str, library: str, version: tuple[int, int], python: str) -> int:
    dotted = f"{version[0]}.{version[1]}"
    for folder in (
        os.path.join(home, "include", os.path.basename(library)),
        os.path.join(home, "include", f"python{dotted}"),
        os.path.join(home, "include"),
    ):
        found = _patchlevel(os.path.join(folder, "patchlevel.h"))
        if found and found[:2] == version:
            return found[2]
    for name in _names(os.path.join(home, "conda-meta")):
        match = re.match(rf"^python-{re.escape(dotted)}\.(\d+)-", name)
        if match:
            return int(match[1])
    match = re.search(rf"\b{re.escape(dotted)}\.(\d+)", os.path.realpath(python))
    return int(match[1]) if match else 0


def _patchlevel(path: str) -> tuple[int, int, int] | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(r'#define\s+PY_VERSION\s+"(\d+)\.(\d+)\.(\d+)', file.read(20_000))
    except OSError:
        return None
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _is_installation(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "conda-meta")) or _executable(folder) is not None


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []


def search_entries(layout: Layout) -> tuple[PathEntry, ...]:
    """The plain entries of the search path, without what ``.pth`` files add."""
    return (
        *(PathEntry(path, "stdlib") for path in layout.stdlib),
        *(PathEntry(path, "site") for path in layout.site),
    )
