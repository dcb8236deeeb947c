"""Faults that models really made, as small programs of ours, each against the library version it was made for.

``tests/data/real_faults.dev.jsonl`` holds one fact a line: the dotted path (or the receiver's class), the wrong name,
the Python and library versions, and how Python refused it.  `programs` turns a fact into programs of several shapes;
`Libraries` brings the wheels into a folder and unpacks them, which is all that reading them statically needs.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from typing import NamedTuple

from callground.config import Config
from callground.environment.discover import find_environment
from callground.environment.model import Environment, PathEntry
from callground.graph.workspace import Workspace
from callground.session import Session
from callground.verdict.model import Finding, Verdict

DATA = Path(__file__).parents[1] / "data" / "real_faults.dev.jsonl"

INSTANCE = "instance_attr"
_HOMES = {"sklearn": "scikit-learn", "PIL": "pillow"}
"""Top-level modules whose distribution has another name."""
_SHORT = {
    "Fraction": "fractions.Fraction",
    "AxesSubplot": "matplotlib.axes._axes.Axes",
    "function": "builtins.function",
    "list": "builtins.list",
}
"""Receivers that old Pythons name without their module."""
_TOO_LARGE = re.compile(r"nvidia|cuda|triton")
_LITERALS = {
    "builtins.ellipsis": "...",
    "builtins.list": "[1, 2]",
    "builtins.function": "len_of",
}


class Fact(NamedTuple):
    """One thing that a model got wrong."""

    id: str
    kind: str
    path: str
    """Dotted path of the module attribute, the import or the callee; for instances of the receiver's class."""
    name: str
    """What is wrong: the attribute, the imported name, the keyword."""
    python: str
    dists: dict[str, str]
    right_names: tuple[str, ...]


class Program(NamedTuple):
    """A small program that holds one fault."""

    shape: str
    text: str
    line: int
    """Where the fault is, 1-based."""


def facts(data: Path = DATA) -> list[Fact]:
    """Every fact of the data."""
    rows = [json.loads(line) for line in data.read_text("utf-8").splitlines() if line.strip()]
    full = {
        row["receiver"].rpartition(".")[2]: row["receiver"]
        for row in rows
        if row["receiver"] and "." in row["receiver"]
    }
    out = []
    for row in rows:
        path = row["path"] or row["receiver"]
        if "." not in path:
            path = _SHORT.get(path) or full[path]
        out.append(
            Fact(row["id"], row["kind"], path, row["name"], row["python"], row["dists"], tuple(row["right_names"]))
        )
    return out


# -- programs


def programs(fact: Fact, name: str = "") -> list[Program]:
    """The fact in several shapes; with another `name` instead of the wrong one."""
    make = {
        INSTANCE: _instances,
        "module_attr": _module_attributes,
        "import_name": _imports,
        "kwarg": _keywords,
        "multiple_values": _keywords,
        "too_many_positional": _positionals,
        "missing_arg": _positionals,
    }[fact.kind]
    return [_program(shape, text) for shape, text in make(fact, name or fact.name)]


def _program(shape: str, text: str) -> Program:
    lines = text.splitlines()
    line = next(i for i, each in enumerate(lines, 1) if "# here" in each)
    return Program(shape, text.replace("  # here", "") + "\n", line)


def _instances(fact: Fact, name: str) -> Iterator[tuple[str, str]]:
    module, _, cls = fact.path.rpartition(".")
    if fact.path in _LITERALS:
        value = _LITERALS[fact.path]
        before = "def len_of(x):\n    return 0\n\n\n" if value == "len_of" else ""
        yield "direct", f"{before}x = {value}\nx.{name}()  # here"
        yield "variable", f"{before}x = {value}\ny = x\ny.{name}()  # here"
        yield "factory", f"{before}def make():\n    return {value}\n\n\nmake().{name}()  # here"
        yield "function", f"{before}def use():\n    x = {value}\n    return x.{name}()  # here"
        return
    made, before = _constructed(fact.path)
    yield "direct", f"{before}x = {made}\nx.{name}()  # here"
    yield "alias", f"from {module} import {cls} as Kind\n\n\ndef use(x: Kind):\n    return x.{name}()  # here"
    yield "variable", f"{before}x = {made}\ny = x\nz = y\nz.{name}()  # here"
    yield "factory", f"{before}def make():\n    return {made}\n\n\nmake().{name}()  # here"
    yield "parameter", f"import {module}\n\n\ndef use(x: {fact.path}):\n    return x.{name}()  # here"


def _constructed(path: str) -> tuple[str, str]:
    """(an expression that makes an instance as programs do, what stands before it)."""
    top = path.partition(".")[0]
    known = {
        "numpy.ndarray": ("np.array([1, 2])", "import numpy as np\n\n"),
        "numpy.matrix": ("np.matrix([[1, 2]])", "import numpy as np\n\n"),
        "pandas.plotting.PlotAccessor": ("pd.DataFrame({'a': [1]}).plot", "import pandas as pd\n\n"),
        "pandas.core.series.Series": ("pd.Series([1, 2])", "import pandas as pd\n\n"),
        "pandas.DataFrame": ("pd.DataFrame({'a': [1]})", "import pandas as pd\n\n"),
        "pandas.Series": ("pd.Series([1, 2])", "import pandas as pd\n\n"),
        "pandas.Index": ("pd.Index([1, 2])", "import pandas as pd\n\n"),
        "matplotlib.axes._axes.Axes": ("plt.figure().add_subplot()", "import matplotlib.pyplot as plt\n\n"),
        "seaborn.axisgrid.FacetGrid": ("sns.FacetGrid(None)", "import seaborn as sns\n\n"),
        "flask.app.Flask": ("flask.Flask(__name__)", "import flask\n\n"),
        "asyncio.unix_events._UnixSelectorEventLoop": (
            "unix_events._UnixSelectorEventLoop()",
            "from asyncio import unix_events\n\n",
        ),
    }
    if path in known:
        return known[path]
    module, _, cls = path.rpartition(".")
    if top == "scipy":
        return f"sparse.{cls}([[1, 0]])", "from scipy import sparse\n\n"
    public = ".".join(part for part in module.split(".") if not part.startswith("_"))
    return f"{cls}()", f"from {public} import {cls}\n\n"


def _module_attributes(fact: Fact, name: str) -> Iterator[tuple[str, str]]:
    module = fact.path.rpartition(".")[0]
    parent, _, last = module.rpartition(".")
    yield "direct", f"import {module}\n\n{module}.{name}()  # here"
    yield "alias", f"import {module} as lib\n\nlib.{name}()  # here"
    yield "variable", f"import {module}\n\nlib = {module}\nlib.{name}()  # here"
    yield "function", f"import {module} as lib\n\n\ndef use(x: int):\n    return lib.{name}(x)  # here"
    yield "import", f"from {module} import {name}  # here"
    yield "base", f"import {module} as lib\n\n\nclass Mine(lib.{name}):  # here\n    pass"
    if parent:
        yield "from", f"from {parent} import {last}\n\n{last}.{name}()  # here"


def _imports(fact: Fact, name: str) -> Iterator[tuple[str, str]]:
    module = fact.path.rpartition(".")[0]
    yield "direct", f"from {module} import {name}  # here"
    yield "alias", f"from {module} import {name} as wanted  # here"
    yield "several", f"from {module} import (  # here\n    {name},\n)"
    yield "function", f"def use(x: int):\n    from {module} import {name}  # here\n\n    return {name}"


def _keywords(fact: Fact, name: str) -> Iterator[tuple[str, str]]:
    """The callee's required arguments are whatever `values` holds."""
    module, _, last = fact.path.rpartition(".")
    name = name.rstrip("=")
    if fact.kind == "kwarg":
        calls = [f"*values, {name}=None"]
    else:
        calls = [", ".join(["None"] * n + [f"{name}=None"]) for n in (1, 2, 3)]
    for i, args in enumerate(calls):
        mark = str(i or "")
        yield f"direct{mark}", f"import {module}\n\nvalues = [None]\n{module}.{last}({args})  # here"
        yield f"from{mark}", f"from {module} import {last}\n\nvalues = [None]\n{last}({args})  # here"
        yield f"alias{mark}", f"from {module} import {last} as call\n\nvalues = [None]\ncall({args})  # here"
        yield f"variable{mark}", f"import {module} as lib\n\nvalues = [None]\ncall = lib.{last}\ncall({args})  # here"
        text = f"import {module} as lib\n\n\ndef use(values: list[int]):\n    return lib.{last}({args})  # here"
        yield f"function{mark}", text


def _positionals(fact: Fact, _name: str) -> Iterator[tuple[str, str]]:
    module, _, last = fact.path.rpartition(".")
    args = "None" if fact.kind == "missing_arg" else ", ".join(["None"] * 12)
    yield "direct", f"import {module}\n\n{module}.{last}({args})  # here"
    yield "from", f"from {module} import {last}\n\n{last}({args})  # here"
    yield "variable", f"import {module} as lib\n\ncall = lib.{last}\ncall({args})  # here"
    yield "function", f"import {module} as lib\n\n\ndef use():\n    return lib.{last}({args})  # here"


# -- libraries


class Libraries:
    """Wheels of many versions, unpacked side by side below one folder that is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def site(self, fact: Fact) -> list[str]:
        """The folders that stand for site-packages: the fact's distributions and what these require."""
        wanted = dict(fact.dists)
        top = fact.path.partition(".")[0]
        home = _HOMES.get(top, top)
        if top not in sys.stdlib_module_names and home not in wanted:
            wanted[home] = ""
        pinned = {_plain(name): version for name, version in wanted.items()}
        found: dict[str, Path] = {}
        pending = [(name, f"=={version}" if version else "") for name, version in pinned.items()]
        while pending:
            name, specifier = pending.pop()
            if name in found or _TOO_LARGE.search(name):
                continue
            if pinned.get(name):
                specifier = f"=={pinned[name]}"
            unpacked = self._unpacked(name, specifier, fact.python)
            if unpacked is None:
                continue
            found[name] = unpacked
            pending += _requirements(unpacked, fact.python)
        return [str(path) for path in found.values()]

    def _unpacked(self, name: str, specifier: str, python: str) -> Path | None:
        """Where a distribution lies; None when there is no wheel of it."""
        safe = re.sub(r"[^\w.=<>!~,-]", "", specifier) or "any"
        place = self.folder / python / name / safe.replace("<", "lt").replace(">", "gt")
        if (place / ".missing").exists():
            return None
        if not (place / ".complete").exists():
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory() as folder:
                # The last release of that Python: many wheels want 3.7.1 or newer.
                options = ["--only-binary=:all:", "--python-version", f"{python}.16"]
                problem = _download(folder, name + specifier, options)
                if problem:
                    # A source distribution is as good to read where it is all there is.
                    problem = _download(folder, name + specifier, ["--no-binary", name])
                if problem or not _unpack(Path(folder), place):
                    (place / ".missing").write_text(problem)
                    return None
            (place / ".complete").touch()
        return place


def _download(folder: str, requirement: str, options: list[str]) -> str:
    """Have pip bring one distribution; what it said when it could not."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *options, "-d", folder, requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr[-2000:] or "nothing came" if done.returncode else ""


def _unpack(folder: Path, place: Path) -> bool:
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(place)
        return True
    for archive_name in (*folder.glob("*.tar.gz"), *folder.glob("*.zip")):
        inner = folder / "source"
        shutil.unpack_archive(archive_name, inner)
        top = next(inner.iterdir())
        for child in (top / "src" if (top / "src").is_dir() else top).iterdir():
            if (child / "__init__.py").is_file():
                shutil.copytree(child, place / child.name)
        return True
    return False


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements(unpacked: Path, python: str) -> list[tuple[str, str]]:
    """(name, specifier) of what a distribution requires on that Python, extras left aside."""
    metadata = next(unpacked.glob("*.dist-info/METADATA"), None)
    if metadata is None:
        return []
    out = []
    for line in HeaderParser().parsestr(metadata.read_text("utf-8", "replace")).get_all("Requires-Dist") or []:
        requirement, _, marker = line.partition(";")
        match = re.match(r"\s*([\w.-]+)\s*(?:\[[^\]]*\])?\s*\(?([^()]*)\)?\s*$", requirement)
        if match is not None and _holds(marker, python):
            out.append((_plain(match[1]), match[2].replace(" ", "")))
    return out


def _holds(marker: str, python: str) -> bool:
    """Whether an environment marker holds on Linux with that Python; good enough for these few packages."""
    if "extra" in marker or re.search(
        r"(?:sys_platform|platform_system|os_name)\s*==\s*['\"](?!linux|Linux|posix)", marker
    ):
        return False
    version = tuple(map(int, python.split(".")))
    for op, text in re.findall(r"python_version\s*(<=|>=|<|>|==)\s*['\"]([\d.]+)['\"]", marker):
        other = tuple(map(int, text.split(".")[:2]))
        holds = {
            "<": version < other,
            ">": version > other,
            "<=": version <= other,
            ">=": version >= other,
            "==": version == other,
        }[op]
        if not holds:
            return False
    return True


# -- checking


def environment(python: str, site: list[str]) -> Environment:
    """The environment of these folders: with the Python that runs this where it is that version, else described."""
    version = tuple(map(int, python.split(".")))
    if version == sys.version_info[:2]:
        here = find_environment(str(Path(__file__).parent), python=sys.executable, trusted=True)
        kept = tuple(entry for entry in here.search if entry.kind == "stdlib")
        from dataclasses import replace

        return replace(here, search=kept + tuple(PathEntry(path, "site") for path in site), redirects=())
    return Environment.described((version[0], version[1]), "linux", site)


def open_session(root: Path, python: str, site: list[str], cache: Path | None = None) -> Session:
    """A session over programs that lie in `root`."""
    config = Config()
    found = environment(python, site)
    workspace = Workspace.open(str(root), found, config, cache=str(cache) if cache is not None else None)
    return Session(str(root), workspace, config)


def found_at(fact: Fact, program: Program, verdicts: list[Verdict], name: str = "") -> Finding | None:
    """The finding that names the fault, if there is one."""
    name = (name or fact.name).rstrip("=")
    for verdict in verdicts:
        finding = verdict.finding
        if finding is None or finding.severity != "error":
            continue
        near = finding.range.line - 1 <= program.line <= finding.range.end_line
        if fact.kind in ("too_many_positional", "missing_arg"):
            if near and finding.kind == "arity":
                return finding
        elif near and name in re.split(r"\W+", finding.name):
            return finding
    return None
