"""The folders of a workspace that imports start from, read from its metadata and its layout."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Iterable, Iterator, Sequence

from callground.environment.finder import Roots, dotted_name
from callground.environment.toml_files import read_toml, table, texts

_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_CONVENTIONAL = ("src", "lib", "python")


def find_roots(root: str, files: Iterable[str] = (), extra: Iterable[str] = ()) -> Roots:
    """The roots of the workspace `root`.

    Args:
        root: the workspace folder.
        files: absolute paths of its Python files; from them come nested projects and script folders.
        extra: folders that the settings add, relative to `root`; they come first.
    """
    root = os.path.abspath(root)
    primary: dict[str, None] = {}
    for each in extra:
        _add(primary, os.path.join(root, each))
    folders, packages = _folders(files)
    projects = [root, *(folder for folder in sorted(_with_parents(folders, root)) if folder != root)]
    for project in projects:
        if project == root or _is_project(project):
            for folder in project_roots(project):
                _add(primary, folder)
    for member in _workspace_members(root):
        for folder in project_roots(member):
            _add(primary, folder)
    primary.pop(root, None)
    _add(primary, root)  # after everything that is more special
    # A folder without __init__.py is on the path when a file in it is started, or when pytest collects it;
    # so is a folder around packages that no metadata mentions.
    scripts = {folder for folder in folders if folder not in packages}
    scripts |= {os.path.dirname(folder) for folder in packages if os.path.dirname(folder) not in packages}
    return Roots(
        tuple(primary),
        tuple(sorted(folder for folder in scripts if folder not in primary and _below(folder, root))),
        tuple(sorted(folder for folder in packages if folder not in primary)),
    )


def project_roots(project: str) -> Iterator[str]:
    """The source roots that one project's own metadata and layout name, best first."""
    data = read_toml(os.path.join(project, "pyproject.toml"))
    for relative in (*_pyproject_roots(data), *_setup_cfg_roots(project), *_setup_py_roots(project)):
        yield os.path.join(project, relative)
    for name in _CONVENTIONAL:
        folder = os.path.join(project, name)
        # "lib/" and "python/" are also names of packages and of other things.
        if os.path.isdir(folder) and not os.path.isfile(os.path.join(folder, "__init__.py")):
            if name == "src" or _holds_packages(folder):
                yield folder
    yield project


def module_name(path: str, roots: Roots | Sequence[str]) -> str | None:
    """The dotted name of `path` by its place alone: from the innermost root that holds it.

    `Finder.module_of` also makes sure that an import of that name finds this file.
    """
    path = os.path.abspath(path)
    groups = (roots.primary, roots.scripts) if isinstance(roots, Roots) else (tuple(roots),)
    for group in groups:
        for root in sorted(group, key=len, reverse=True):
            name = dotted_name(path, root)
            if name is not None:
                return name
    return None


def project_of(path: str, root: str) -> str:
    """The folder of the project that `path` belongs to: the nearest with project metadata, at most `root`."""
    root = os.path.abspath(root)
    folder = os.path.abspath(path)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    while folder != root and _below(folder, root):
        if _is_project(folder):
            return folder
        folder = os.path.dirname(folder)
    return root


# -- metadata --------------------------------------------------------------------------------


def _pyproject_roots(data: dict[str, object]) -> Iterator[str]:
    setuptools = table(data, "tool", "setuptools")
    yield from _package_dirs(setuptools.get("package-dir"))
    yield from texts(table(setuptools, "packages", "find").get("where"))
    poetry = table(data, "tool", "poetry")
    packages = poetry.get("packages")
    for package in packages if isinstance(packages, list) else ():
        if isinstance(package, dict) and isinstance(package.get("from"), str):
            yield package["from"]
    hatch = table(data, "tool", "hatch", "build")
    for build in (hatch, table(hatch, "targets", "wheel"), table(hatch, "targets", "sdist")):
        yield from texts(build.get("sources"))
        for package in texts(build.get("packages")):
            yield os.path.dirname(package.rstrip("/")) or "."
    yield from texts(table(data, "tool", "hatch", "build", "targets", "wheel").get("dev-mode-dirs"))
    for tool, key in (
        ("maturin", "python-source"),
        ("pdm.build", "package-dir"),
        ("uv.build-backend", "module-root"),
    ):
        yield from texts(table(data, "tool", *tool.split(".")).get(key))
    for package in texts(table(data, "tool", "scikit-build", "wheel").get("packages")):
        yield os.path.dirname(package.rstrip("/")) or "."
    # What the project's own tools are told about imports holds for us too.
    yield from texts(table(data, "tool", "pytest", "ini_options").get("pythonpath"))
    yield from texts(table(data, "tool", "pyright").get("extraPaths"))
    yield from texts(table(data, "tool", "ruff").get("src"))
    for path in texts(table(data, "tool", "mypy").get("mypy_path")):
        yield from (part for part in re.split(r"[:;,]", path.replace("$MYPY_CONFIG_FILE_DIR/", "")) if part)


def _package_dirs(value: object) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    for package, folder in value.items():
        if not isinstance(package, str) or not isinstance(folder, str):
            continue
        if not package:
            yield folder
            continue
        # {"pkg": "src/pkg"} names a root when the folder ends like the package.
        parts = folder.rstrip("/").split("/")
        names = package.split(".")
        if parts[-len(names) :] == names:
            yield "/".join(parts[: -len(names)]) or "."


def _setup_cfg_roots(project: str) -> Iterator[str]:
    parser = _ini(os.path.join(project, "setup.cfg"))
    for line in parser.get("options", "package_dir", fallback="").splitlines():
        package, equals, folder = line.partition("=")
        if equals:
            yield from _package_dirs({package.strip(): folder.strip()})
    where = parser.get("options.packages.find", "where", fallback="").strip()
    if where:
        yield where
    for section in ("tool:pytest", "pytest"):
        yield from parser.get(section, "pythonpath", fallback="").split()
    yield from _ini(os.path.join(project, "pytest.ini")).get("pytest", "pythonpath", fallback="").split()


def _setup_py_roots(project: str) -> Iterator[str]:
    """``package_dir={"": "src"}`` and ``find_packages("src")`` of a setup.py, by their text: it is never
    run."""
    try:
        with open(os.path.join(project, "setup.py"), encoding="utf-8", errors="replace") as file:
            text = file.read(200_000)
    except OSError:
        return
    for match in re.finditer(r"package_dir\s*=\s*\{\s*(['\"])\1\s*:\s*(['\"])([^'\"]+)\2", text):
        yield match[3]
    for match in re.finditer(r"find_(?:namespace_)?packages\(\s*(?:where\s*=\s*)?(['\"])([^'\"]+)\1", text):
        yield match[2]


def _ini(path: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return configparser.ConfigParser(interpolation=None)
    return parser


def _workspace_members(root: str) -> Iterator[str]:
    """The members of a uv workspace."""
    workspace = table(read_toml(os.path.join(root, "pyproject.toml")), "tool", "uv", "workspace")
    excluded = {path for pattern in texts(workspace.get("exclude")) for path in _glob(root, pattern)}
    for pattern in texts(workspace.get("members")):
        for path in _glob(root, pattern):
            if path not in excluded and _is_project(path):
                yield path


def _glob(root: str, pattern: str) -> list[str]:
    """Folders below `root` that a member pattern names; only ``*`` and ``?`` within one part, and ``**``."""
    found = [root]
    for part in pattern.strip("/").split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            return []
        expression = re.compile(re.escape(part).replace(r"\*", ".*").replace(r"\?", ".") + r"\Z")
        deeper = []
        for folder in found:
            for name in _subfolders(folder):
                if expression.match(name):
                    deeper.append(os.path.join(folder, name))
        found = deeper
    return found


def _subfolders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(each.name for each in entries if each.is_dir() and not each.name.startswith("."))
    except OSError:
        return []


# -- layout ----------------------------------------------------------------------------------


def _folders(files: Iterable[str]) -> tuple[set[str], set[str]]:
    """(folders that hold Python files, those of them that are regular packages)."""
    folders: set[str] = set()
    packages: set[str] = set()
    for path in files:
        folder, name = os.path.split(path)
        folders.add(folder)
        if name == "__init__.py":
            packages.add(folder)
    return folders, packages


def _with_parents(folders: Iterable[str], root: str) -> set[str]:
    found: set[str] = set()
    for folder in folders:
        while _below(folder, root) and folder not in found:
            found.add(folder)
            folder = os.path.dirname(folder)
    return found


def _is_project(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in _PROJECT_FILES)


def _holds_packages(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name, "__init__.py")) for name in _subfolders(folder)) or any(
        name.endswith(".py") for name in os.listdir(folder)
    )


def _add(roots: dict[str, None], folder: str) -> None:
    folder = os.path.normpath(folder)
    if os.path.isdir(folder) and not _inside_package(folder):
        roots.setdefault(folder)


def _inside_package(folder: str) -> bool:
    """A package folder is no root, whatever a setting of some tool says: its modules would get two names."""
    return os.path.isfile(os.path.join(folder, "__init__.py"))


def _below(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)
