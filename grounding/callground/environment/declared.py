"""Which distributions a project's metadata declares, whether or not they are installed."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Iterable, Iterator

from callground.environment.distributions import normalised
from callground.environment.toml_files import read_toml, table, texts

_NAME = re.compile(r"^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:[\[<>=!~;@,(]|$|\s)")
_REQUIREMENTS = re.compile(r"^(?:.*[-_.])?(?:requirements?|reqs?|constraints)(?:[-_.].*)?\.(?:txt|in)$", re.I)
_FOLDERS = ("requirements", "requires", "reqs")

# Distributions whose import name cannot be guessed from their own: asked only for what is *not* installed,
# so that a declared package is not taken for an invented one.  Installed ones tell it by their metadata.
_OTHER_NAMES = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "git": "gitpython",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "multipart": "python-multipart",
    "mysqldb": "mysqlclient",
    "openssl": "pyopenssl",
    "pil": "pillow",
    "pkg_resources": "setuptools",
    "psycopg2": "psycopg2-binary",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "socketio": "python-socketio",
    "telegram": "python-telegram-bot",
    "usb": "pyusb",
    "win32api": "pywin32",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}


def declared_distributions(root: str) -> dict[str, str]:
    """Normalised names of the distributions that the project in `root` declares -> the file that says so."""
    found: dict[str, str] = {}

    def add(requirements: Iterable[str], path: str) -> None:
        for requirement in requirements:
            match = _NAME.match(requirement)
            if match:
                found.setdefault(normalised(match[1]), path)

    path = os.path.join(root, "pyproject.toml")
    add(_pyproject(read_toml(path)), path)
    path = os.path.join(root, "setup.cfg")
    add(_setup_cfg(path), path)
    path = os.path.join(root, "setup.py")
    add(_setup_py(path), path)
    path = os.path.join(root, "Pipfile")
    pipfile = read_toml(path)
    for name in ("packages", "dev-packages"):
        add(table(pipfile, name), path)
    for path in _requirement_files(root):
        add(_requirements(path, set()), path)
    for name in ("environment.yml", "environment.yaml"):
        path = os.path.join(root, name)
        add(_conda(path), path)
    return found


def declared_as(import_name: str, declared: Iterable[str]) -> str | None:
    """The declared distribution that the module `import_name` probably comes from, None if none fits.

    For packages that are not installed; of an installed one the metadata tells its import names.
    """
    top = import_name.partition(".")[0]
    names = set(declared)
    plain = normalised(top)
    candidates = [
        plain,
        _OTHER_NAMES.get(top.lower(), ""),
        f"python-{plain}",
        f"py{plain}",
        f"{plain}-python",
    ]
    for candidate in candidates:
        if candidate and candidate in names:
            return candidate
    # Parts of a namespace package: google-cloud-storage is imported as google.cloud.storage.
    parts = import_name.split(".")
    for end in range(len(parts), 1, -1):
        if normalised("-".join(parts[:end])) in names:
            return normalised("-".join(parts[:end]))
    return next((name for name in sorted(names) if len(parts) > 1 and name.startswith(plain + "-")), None)


def _pyproject(data: dict[str, object]) -> Iterator[str]:
    project = table(data, "project")
    yield from texts(project.get("dependencies"))
    for group in table(project, "optional-dependencies").values():
        yield from texts(group)
    for group in table(data, "dependency-groups").values():
        yield from texts(group)
    yield from texts(table(data, "build-system").get("requires"))
    poetry = table(data, "tool", "poetry")
    tables = [table(poetry, "dependencies"), table(poetry, "dev-dependencies")]
    tables += [table(group, "dependencies") for group in table(poetry, "group").values() if isinstance(group, dict)]
    for each in tables:
        yield from (name for name in each if name.lower() != "python")
    yield from texts(table(data, "tool", "uv").get("dev-dependencies"))
    for group in table(data, "tool", "pdm", "dev-dependencies").values():
        yield from texts(group)
    for env in table(data, "tool", "hatch", "envs").values():
        if isinstance(env, dict):
            yield from texts(env.get("dependencies"))
            yield from texts(env.get("extra-dependencies"))
    pixi = table(data, "tool", "pixi")
    yield from table(pixi, "dependencies")
    yield from table(pixi, "pypi-dependencies")


def _setup_cfg(path: str) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return
    for key in ("install_requires", "setup_requires", "tests_require"):
        yield from parser.get("options", key, fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        for _, value in parser.items("options.extras_require"):
            yield from value.splitlines()


def _setup_py(path: str) -> Iterator[str]:
    """Requirement strings in the lists of a setup.py, by its text: it is never run."""
    text = _text(path)
    for match in re.finditer(r"(?:install|setup|tests|extras)_requires?\s*=\s*([\[{])", text):
        closing = {"[": "]", "{": "}"}[match[1]]
        end = text.find(closing + ",", match.end())
        body = text[match.end() : end if end >= 0 else match.end() + 5000]
        for literal in re.finditer(r"(['\"])([^'\"\n]+)\1(\s*:)?", body):
            if not literal[3]:  # the name of an extra
                yield literal[2]


def _requirement_files(root: str) -> list[str]:
    found = []
    for folder in (root, *(os.path.join(root, name) for name in _FOLDERS)):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            inside = folder != root and name.endswith((".txt", ".in"))
            if inside or _REQUIREMENTS.match(name):
                found.append(os.path.join(folder, name))
    return found


def _requirements(path: str, seen: set[str]) -> Iterator[str]:
    if path in seen or len(seen) > 50:
        return
    seen.add(path)
    for line in _text(path).splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        include = re.match(r"^(?:-r|--requirement)[=\s]\s*(.+)$", line)
        if include:
            yield from _requirements(os.path.normpath(os.path.join(os.path.dirname(path), include[1])), seen)
        elif line.startswith(("-e", "--editable")) or "://" in line.partition(" ")[0]:
            egg = re.search(r"#egg=([\w.-]+)", line)
            if egg:
                yield egg[1]
        elif line and not line.startswith("-"):
            yield line


def _conda(path: str) -> Iterator[str]:
    """Names out of a conda environment file: its lists only, line by line."""
    inside = False
    for line in _text(path).splitlines():
        if re.match(r"^\S", line):
            inside = line.startswith("dependencies:")
        elif inside:
            match = re.match(r"^\s*-\s*(?:[\w.-]+::)?['\"]?([\w.-]+)", line)
            if match and match[1] not in ("pip", "python"):
                yield match[1]


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return file.read(1_000_000)
    except OSError:
        return ""
