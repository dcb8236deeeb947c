"""What the ``.pth`` files of a site-packages folder add to the search path, read without running them.

A line that names a folder is taken as the interpreter takes it.  A line that starts with ``import`` is code:
it is never run.  The shapes that build tools write for editable installs are understood; a line that mentions
nothing an import could be redirected with is harmless; any other makes the environment open.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from callground.environment.model import OpenImport, PathEntry, Redirect

# Without one of these words code cannot change how imports are answered.
_HOOK_WORDS = re.compile(
    r"\b(?:meta_path|path_hooks|path_importer_cache|addsitedir|addpackage|__path__|import_module|__import__"
    r"|sys\.path|sys\.modules|from\s+sys\s+import|site\.main|exec|eval|compile|runpy|getattr\(\s*sys)\b"
)
# ``exec("literal")`` is as readable as the literal.
_LITERAL_EXEC = re.compile(r"""\bexec\(\s*(?=[rbu]?["'])""")
_SIZE_LIMIT = 1_000_000


class PthContent(NamedTuple):
    """What one folder's ``.pth`` files say."""

    entries: tuple[PathEntry, ...]
    redirects: tuple[Redirect, ...]
    opens: tuple[OpenImport, ...]
    files: tuple[str, ...]


def read_pth_files(site: str) -> PthContent:
    """The content of every ``.pth`` file of the folder `site`, in the order of ``site.py``."""
    entries: list[PathEntry] = []
    redirects: list[Redirect] = []
    opens: list[OpenImport] = []
    files: list[str] = []
    try:
        names = sorted(name for name in os.listdir(site) if name.endswith(".pth") and not name.startswith("."))
    except OSError:
        return PthContent((), (), (), ())
    for name in names:
        path = os.path.join(site, name)
        text = _read(path)
        if text is None:
            continue
        files.append(path)
        for line in text.splitlines():
            line = line.rstrip()
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith(("import ", "import\t")):
                code = _understand(line, site, path)
                entries.extend(code.entries)
                redirects.extend(code.redirects)
                opens.extend(code.opens)
                continue
            target = os.path.abspath(os.path.join(site, line))
            if os.path.exists(target) and all(target != each.path for each in entries):
                entries.append(PathEntry(target, "pth", path))
    return PthContent(tuple(entries), tuple(redirects), tuple(opens), tuple(files))


def read_customize(folders: tuple[str, ...]) -> tuple[OpenImport, ...]:
    """Whether ``sitecustomize`` and ``usercustomize`` of these folders may change imports."""
    opens = []
    for name in ("sitecustomize", "usercustomize"):
        for folder in folders:
            path = os.path.join(folder, name + ".py")
            text = _read(path)
            if text is not None:
                if _HOOK_WORDS.search(text):
                    opens.append(OpenImport(f"{path} may change how imports are answered"))
                break
    return tuple(opens)


def _read(path: str) -> str | None:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _SIZE_LIMIT:
            return None
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def _nothing() -> PthContent:
    return PthContent((), (), (), ())


def _understand(line: str, site: str, pth: str) -> PthContent:
    if "_distutils_hack" in line:
        # setuptools' own copy answers ``import distutils``, also where Python has none any more.
        copy = os.path.join(site, "setuptools", "_distutils")
        if os.path.isdir(copy):
            return _nothing()._replace(redirects=(Redirect("distutils", (copy,), False, pth),))
        return _nothing()
    if "f_locals['sitedir']" in line and "ModuleType" in line:
        # setuptools' ``-nspkg.pth``: declares a namespace package, which its folder shows as well.
        return _nothing()
    try:
        tree = ast.parse(line)
    except (SyntaxError, ValueError, RecursionError):
        return _nothing()  # Python refuses it too, and goes on without it.
    found = _nothing()
    for module in _imported(tree):
        path, text = _module_text(site, module)
        if text is None or module == "_virtualenv":  # virtualenv's own: patches distutils.dist only
            continue
        shape = _editable(module, path, text, site)
        if shape is None and _HOOK_WORDS.search(text):
            shape = _nothing()._replace(opens=(OpenImport(f"{pth} runs {path}"),))
        if shape is not None:
            found = PthContent(
                found.entries + shape.entries,
                found.redirects + shape.redirects,
                found.opens + shape.opens,
                (),
            )
    if _HOOK_WORDS.search(_LITERAL_EXEC.sub("", line)):
        found = found._replace(opens=(*found.opens, OpenImport(f"{pth} runs code that may change imports")))
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _module_text(site: str, module: str) -> tuple[str, str | None]:
    base = os.path.join(site, *module.split("."))
    for path in (base + ".py", os.path.join(base, "__init__.py")):
        text = _read(path)
        if text is not None:
            return path, text
    return "", None


def _editable(module: str, path: str, text: str, site: str) -> PthContent | None:
    """The redirects of a finder that a build tool wrote for an editable install; None if it is none."""
    if not module.startswith(("__editable__", "_editable_")) and not module.endswith(
        ("_editable", "_editable_loader", "_finder")
    ):
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    redirects = [*_setuptools(tree, path), *_editables(tree, path), *_scikit_build(tree, path, site)]
    if redirects:
        return _nothing()._replace(redirects=tuple(redirects))
    names = _meson(tree)
    if names:
        reason = f"{path} builds and serves them on import"
        return _nothing()._replace(opens=(OpenImport(reason, names),))
    return None


def _setuptools(tree: ast.Module, path: str) -> Iterator[Redirect]:
    """``MAPPING`` and ``NAMESPACES`` of ``__editable___NAME_finder.py``."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        else:
            continue
        value = _literal(node.value)
        if not isinstance(value, dict):
            continue
        for key, target in value.items():
            if name == "MAPPING" and isinstance(key, str) and isinstance(target, str):
                yield Redirect(key, (target,), False, path)
            elif name == "NAMESPACES" and isinstance(key, str) and isinstance(target, list):
                yield Redirect(key, tuple(each for each in target if isinstance(each, str)), True, path)


def _editables(tree: ast.Module, path: str) -> Iterator[Redirect]:
    """``F.map_module("name", "path")`` of the package ``editables`` (hatchling, pdm-backend)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "map_module":
            values = [_literal(argument) for argument in node.args]
            if len(values) == 2 and isinstance(values[0], str) and isinstance(values[1], str):
                yield Redirect(values[0], (_without_init(values[1]),), False, path)


def _scikit_build(tree: ast.Module, path: str, site: str) -> Iterator[Redirect]:
    """``install({module: source file}, {module: file in the wheel}, ...)`` of scikit-build-core."""
    for call in _install_calls(tree):
        tables = [_literal(argument) for argument in call.args[:2]]
        if len(tables) != 2 or not all(isinstance(table, dict) for table in tables):
            continue
        for table in tables:
            assert isinstance(table, dict)
            for name, target in table.items():
                if isinstance(name, str) and isinstance(target, str):
                    yield Redirect(name, (_without_init(os.path.join(site, target)),), False, path)


def _meson(tree: ast.Module) -> tuple[str, ...]:
    """Top-level names that meson-python's loader serves: ``install("dist", {"name", ...}, ...)``."""
    for call in _install_calls(tree):
        if len(call.args) >= 2:
            names = _literal(call.args[1])
            if isinstance(names, (set, list, tuple)):
                return tuple(sorted(name for name in names if isinstance(name, str)))
    return ()


def _install_calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Name) and function.id == "install":
                yield node.value


def _without_init(path: str) -> str:
    folder, name = os.path.split(path)
    return folder if name.startswith("__init__.") else path


def _literal(node: ast.expr | None) -> object:
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
