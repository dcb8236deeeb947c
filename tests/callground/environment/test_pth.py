"""``.pth`` files and the finders of editable installs: read, never run."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

from environment_lab import run, write_files

SETUPTOOLS_FINDER = """
from __future__ import annotations
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from itertools import chain
from pathlib import Path

MAPPING: dict[str, str] = {mapping!r}
NAMESPACES: dict[str, list[str]] = {namespaces!r}
PATH_PLACEHOLDER = '__editable__.thing-1.0.finder' + ".__path_hook__"

class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        for name, place in MAPPING.items():
            if fullname == name or fullname.startswith(name + "."):
                rest = fullname[len(name):].strip(".").split(".")
                base = Path(place, *[each for each in rest if each])
                for candidate in (base / "__init__.py", base.with_suffix(".py")):
                    if candidate.exists():
                        return spec_from_file_location(fullname, candidate)

def install():
    sys.meta_path.append(_EditableFinder)
"""


def finder_of_setuptools(lab, mapping, namespaces=()):
    """What setuptools writes for ``pip install -e`` of a project without a src layout."""
    text = SETUPTOOLS_FINDER.format(mapping=mapping, namespaces=dict(namespaces))
    lab.install(
        lab.site(),
        "thing",
        "1.0",
        {
            "__editable__.thing-1.0.pth": "import __editable___thing_1_0_finder; __editable___thing_1_0_finder.install()",
            "__editable___thing_1_0_finder.py": text,
        },
    )


def test_setuptools_finder(lab):
    lab.venv()
    project = lab.folder / "checkout"
    write_files(project, {"thing/__init__.py": "", "thing/part.py": "", "single.py": ""})
    finder_of_setuptools(lab, {"thing": str(project / "thing"), "single": str(project / "single")})
    finder = lab.finder()
    assert finder.environment.open_imports == ()
    for name, path in (
        ("thing", "thing/__init__.py"),
        ("thing.part", "thing/part.py"),
        ("single", "single.py"),
    ):
        located = finder.locate(name)
        assert located is not None
        assert located.path == str(project / path)
        assert (located.origin, located.distribution, located.version) == ("third-party", "thing", "1.0")
        real = run(lab.python(), f"import {name}; print({name}.__file__)", cwd=lab.folder).strip()
        assert real == located.path
    assert finder.locate("thing.nothing") is None
    assert finder.import_open("thing.nothing") is None
    assert {"thing", "single"} <= finder.submodules("")
    assert "part" in finder.submodules("thing")


def test_setuptools_namespaces(lab):
    lab.venv()
    project = lab.folder / "checkout"
    write_files(project, {"space/mine/__init__.py": ""})
    write_files(lab.site(), {"space/theirs/__init__.py": ""})
    finder_of_setuptools(lab, {"space.mine": str(project / "space/mine")}, {"space": [str(project / "space")]})
    finder = lab.finder()
    space, mine, theirs = (finder.locate(name) for name in ("space", "space.mine", "space.theirs"))
    assert space is not None
    assert space.kind == "namespace"
    assert mine is not None
    assert mine.path == str(project / "space/mine/__init__.py")
    assert theirs is not None
    assert theirs.path == str(lab.site() / "space/theirs/__init__.py")
    assert finder.submodules("space") == {"mine", "theirs"}


def test_an_editable_install_of_the_workspace_is_the_workspace(lab):
    lab.venv()
    write_files(lab.workspace, {"src/thing/__init__.py": ""})
    write_files(lab.site(), {"_thing.pth": f"{lab.workspace}/src\n"})
    located = lab.finder("src").locate("thing")
    assert located is not None
    assert located.origin == "workspace"
    # Also when nobody said that src/ is a root.
    assert lab.finder().locate("thing").origin == "workspace"


def test_a_plain_path_as_hatchling_uv_and_poetry_write_it(lab):
    lab.venv()
    project = lab.folder / "checkout/src"
    write_files(project, {"thing/__init__.py": ""})
    lab.install(lab.site(), "the-thing", "2.0", {"_the_thing.pth": str(project)})
    located = lab.finder().locate("thing")
    assert located is not None
    assert located.path == str(project / "thing/__init__.py")
    assert (located.origin, located.distribution, located.version) == ("third-party", "the-thing", "2.0")


def test_the_package_editables(lab):
    lab.venv()
    project = lab.folder / "checkout"
    write_files(project, {"thing/__init__.py": "", "thing/part.py": ""})
    lab.install(
        lab.site(),
        "thing",
        "1.0",
        {
            "_thing.pth": "import _editable_impl_thing",
            "_editable_impl_thing.py": "from editables.redirector import RedirectingFinder as F\nF.install()\n"
            f"F.map_module('thing', {str(project / 'thing/__init__.py')!r})\n",
        },
    )
    finder = lab.finder()
    assert finder.locate("thing").path == str(project / "thing/__init__.py")
    assert finder.locate("thing.part").path == str(project / "thing/part.py")
    assert finder.environment.open_imports == ()


def test_scikit_build_core(lab):
    lab.venv()
    project = lab.folder / "checkout"
    write_files(project, {"thing/__init__.py": "", "thing/part.py": ""})
    sources = {
        "thing": str(project / "thing/__init__.py"),
        "thing.part": str(project / "thing/part.py"),
    }
    write_files(
        lab.site(),
        {
            "_thing_editable.pth": "import _thing_editable\n",
            "_thing_editable.py": "import sys\nclass Finder: ...\ndef install(*args): sys.meta_path.insert(0, Finder)\n"
            f"install({sources!r}, {{'thing._core': 'thing/_core.abi3.so'}}, None, False, True)\n",
            "thing/_core.abi3.so": "",
        },
    )
    finder = lab.finder()
    assert finder.locate("thing.part").path == str(project / "thing/part.py")
    core = finder.locate("thing._core")
    assert core is not None
    assert (core.kind, core.path) == ("extension", str(lab.site() / "thing/_core.abi3.so"))


def test_meson_python_builds_on_import(lab):
    lab.venv()
    write_files(
        lab.site(),
        {
            "thing-editable.pth": "import _thing_editable_loader\n",
            "_thing_editable_loader.py": "import sys\ndef install(*args): sys.meta_path.insert(0, args)\n"
            "install('thing', {'thing'}, '/build', ['ninja'], False)\n",
        },
    )
    finder = lab.finder()
    assert finder.locate("thing") is None
    assert "builds and serves them" in (finder.import_open("thing.part") or "")
    assert finder.import_open("another") is None


@pytest.mark.parametrize(
    "line",
    [
        "import os; var = 'X'; os.environ.get(var)",
        "import sys, types, os;has_mfs = sys.version_info > (3, 5);p = os.path.join(sys._getframe(1).f_locals['sitedir'], *('zope',));importlib = has_mfs and __import__('importlib.util');m = types.ModuleType('zope')",
        "import coverage; coverage.process_startup()",
        "import os, sys;exec('if \"COV\" in os.environ:\\n    import sys')",
        "import _virtualenv",
        "import quiet; quiet.start()",
        "import nothing that parses",
    ],
)
def test_harmless_lines(lab, line):
    lab.venv()
    write_files(lab.site(), {"x.pth": line + "\n", "quiet.py": "def start(): print('hello')\n"})
    assert lab.find().open_imports == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("import loud", "loud.py"),
        ("import loud; loud.start()", "loud.py"),
        ("import sys; sys.path.insert(0, '/somewhere')", "runs code that may change imports"),
        ("import site; site.addsitedir('/x')", "runs code that may change imports"),
        ("import os; exec(os.environ['X'])", "runs code that may change imports"),
        ("import sys; exec('sys.meta_path.clear()')", "runs code that may change imports"),
    ],
)
def test_lines_that_make_the_environment_open(lab, line, reason):
    lab.venv()
    write_files(
        lab.site(),
        {"x.pth": line + "\n", "loud.py": "import sys\ndef start(): sys.meta_path.append(object())\n"},
    )
    (opened,) = lab.find().open_imports
    assert reason in opened.reason
    finder = lab.finder()
    assert finder.locate("no_such_module") is None
    assert finder.import_open("no_such_module") == opened.reason


def test_sitecustomize(lab):
    lab.venv()
    write_files(lab.site(), {"sitecustomize.py": "import builtins\n"})
    assert lab.find().open_imports == ()
    write_files(lab.site(), {"sitecustomize.py": "import sys\nsys.path.append('/x')\n"})
    (opened,) = lab.find().open_imports
    assert "sitecustomize.py" in opened.reason


def test_setuptools_serves_distutils(lab):
    lab.venv()
    write_files(
        lab.site(),
        {
            "distutils-precedence.pth": "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; enabled and __import__('_distutils_hack').add_shim();",
            "_distutils_hack/__init__.py": "",
            "setuptools/__init__.py": "",
            "setuptools/_distutils/__init__.py": "",
            "setuptools/_distutils/util.py": "",
        },
    )
    finder = lab.finder()
    assert finder.environment.open_imports == ()
    located = finder.locate("distutils")
    assert located is not None
    copy = str(lab.site() / "setuptools/_distutils")
    if sys.version_info >= (3, 12):
        assert located.search_locations == (copy,)
    else:  # either may be imported: absences in one are no proof
        assert located.also == (copy,)
        assert finder.import_open("distutils.nothing") is not None


def test_odd_files(lab):
    lab.venv()
    write_files(lab.folder, {"a/thing.py": "", "b/other.py": ""})
    (lab.site() / "a.pth").write_bytes(b"\xef\xbb\xbf# comment\r\n\r\n" + f"{lab.folder}/a\r\n".encode())
    (lab.site() / "b.pth").write_bytes(b"\xff\xfe\x00binary\n" + f"{lab.folder}/b\n".encode())
    (lab.site() / "c.pth").mkdir()
    write_files(lab.site(), {".hidden.pth": "import sys; sys.path.clear()\n", "d.pth": "/no/such/folder\n"})
    finder = lab.finder()
    assert finder.locate("thing") is not None
    assert finder.locate("other") is not None
    assert finder.environment.open_imports == ()


def build_editable(lab, backend, project):
    """Build and unpack a real editable wheel with a backend that stands beside the tests; nothing is fetched."""
    wheels = lab.folder / "wheels"
    wheels.mkdir()
    subprocess.run(
        [sys.executable, "-c", f"import {backend} as backend; backend.build_editable({str(wheels)!r})"],
        cwd=project,
        capture_output=True,
        check=True,
    )
    (wheel,) = wheels.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(lab.site())


@pytest.mark.parametrize("layout", ["", "src/"])
def test_a_real_editable_install_by_setuptools(lab, layout):
    setuptools = pytest.importorskip("setuptools", minversion="70.1")  # older ones need "wheel" as well
    assert setuptools
    lab.venv()
    project = lab.folder / "checkout"
    write_files(
        project,
        {
            "pyproject.toml": f"""
                [build-system]
                requires = ["setuptools"]
                build-backend = "setuptools.build_meta"
                [project]
                name = "thing"
                version = "1.0"
                [tool.setuptools]
                packages = ["thing"]
                {f'package-dir = {{"" = "{layout}"}}' if layout else ""}
                """,
            f"{layout}thing/__init__.py": "",
            f"{layout}thing/part.py": "",
            "unrelated/code.py": "",
        },
    )
    build_editable(lab, "setuptools.build_meta", project)
    finder = lab.finder()
    located = finder.locate("thing.part")
    assert located is not None
    assert located.path == str(project / f"{layout}thing/part.py")
    assert (located.distribution, located.version) == ("thing", "1.0")
    assert finder.environment.open_imports == ()
    assert finder.locate("unrelated.code") is None
    real = run(lab.python(), "import thing.part as m; print(m.__file__)", cwd=lab.folder).strip()
    assert real == located.path


@pytest.mark.parametrize("exact", [False, True])
def test_a_real_editable_install_by_hatchling(lab, exact):
    pytest.importorskip("hatchling")
    if exact:
        pytest.importorskip("editables")
    lab.venv()
    project = lab.folder / "checkout"
    write_files(
        project,
        {
            "pyproject.toml": f"""
                [build-system]
                requires = ["hatchling"]
                build-backend = "hatchling.build"
                [project]
                name = "the-thing"
                version = "1.0"
                [tool.hatch.build]
                dev-mode-exact = {str(exact).lower()}
                [tool.hatch.build.targets.wheel]
                packages = ["src/thing"]
                """,
            "src/thing/__init__.py": "",
            "src/thing/part.py": "",
        },
    )
    build_editable(lab, "hatchling.build", project)
    finder = lab.finder()
    located = finder.locate("thing.part")
    assert located is not None
    assert located.path == str(project / "src/thing/part.py")
    assert (located.distribution, located.version) == ("the-thing", "1.0")
    assert finder.environment.open_imports == ()
