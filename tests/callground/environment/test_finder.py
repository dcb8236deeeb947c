"""Where modules lie: precedence, namespaces, compiled modules, stubs, distributions, changes."""

from __future__ import annotations

import os
import sys
import time
import zipfile

import pytest

from callground.environment import typeshed
from callground.environment.finder import Finder, Roots
from callground.environment.model import Environment, OpenImport, PathEntry
from environment_lab import run, write_files

SUFFIX = ".pyd" if sys.platform == "win32" else ".so"
TAG = f"cpython-{sys.version_info[0]}{sys.version_info[1]}-x86_64-linux-gnu"


def described(*site, version=(3, 11), roots=(), **more):
    return Finder(Environment.described(version=version, site=[str(each) for each in site], **more), roots)


# -- precedence ------------------------------------------------------------------------------


def test_the_workspace_comes_before_the_environment(lab):
    lab.venv()
    write_files(lab.workspace, {"thing.py": ""})
    write_files(lab.site(), {"thing/__init__.py": "", "other.py": ""})
    finder = lab.finder()
    assert finder.locate("thing").path == str(lab.workspace / "thing.py")
    assert finder.locate("thing").origin == "workspace"
    assert finder.locate("other").origin == "third-party"
    assert finder.locate("json").origin == "stdlib"


def test_a_module_that_shadows_the_standard_library_is_ambiguous(lab):
    lab.venv()
    write_files(lab.workspace, {"calendar.py": "", "sys.py": "", "os.py": "", "plain.py": ""})
    finder = lab.finder()
    shadowing = finder.locate("calendar")
    assert shadowing.path == str(lab.workspace / "calendar.py")
    assert shadowing.also  # started from elsewhere, the program gets the standard library's
    # No file takes the place of what is built in or imported at start-up.
    assert finder.locate("sys").kind == "builtin"
    assert finder.locate("os").origin == "stdlib"
    assert finder.locate("plain").also == ()


def test_a_package_before_a_module_before_a_namespace(lab):
    lab.venv()
    write_files(lab.workspace, {"a/__init__.py": "", "a.py": "", "b/x.py": "", "b.py": "", "c/x.py": ""})
    finder = lab.finder()
    assert finder.locate("a").path == str(lab.workspace / "a/__init__.py")
    assert finder.locate("b").path == str(lab.workspace / "b.py")
    assert finder.locate("b.x") is None
    assert finder.locate("c").kind == "namespace"
    assert finder.locate("c.x").path == str(lab.workspace / "c/x.py")


def test_a_regular_package_further_on_beats_a_namespace(lab):
    lab.venv()
    write_files(lab.workspace, {"tool/script.py": "", "data/notes.txt": ""})
    write_files(lab.site(), {"tool/__init__.py": "", "data/__init__.py": ""})
    finder = lab.finder()
    assert finder.locate("data").also == ()
    located = finder.locate("tool")
    assert located.path == str(lab.site() / "tool/__init__.py")
    # pytest or a script may put the folder itself on the path.
    assert located.also == (str(lab.workspace / "tool"),)


def test_case_matters_everywhere(lab):
    lab.venv()
    write_files(lab.site(), {"Thing/__init__.py": "", "Thing/Part.py": ""})
    finder = lab.finder()
    assert finder.locate("Thing.Part") is not None
    assert finder.locate("thing") is None
    assert finder.locate("Thing.part") is None


@pytest.mark.parametrize("name", ["", ".", "a..b", ".a", "a.", "../x", "a/b", "a\0b", "a\\b", "/etc"])
def test_names_that_are_none(lab, name):
    assert lab.finder().locate(name) is None


# -- namespaces ------------------------------------------------------------------------------


def test_a_namespace_over_two_distributions(lab):
    lab.venv()
    lab.install(lab.site(), "space-one", "1.0", {"space/one/__init__.py": ""})
    lab.install(lab.site(), "space-two", "2.0", {"space/two/__init__.py": "", "space/two/deep.py": ""})
    write_files(lab.workspace, {"space/mine/__init__.py": ""})
    finder = lab.finder()
    space = finder.locate("space")
    assert space.kind == "namespace"
    assert space.search_locations == (str(lab.workspace / "space"), str(lab.site() / "space"))
    assert finder.submodules("space") == {"one", "two", "mine"}
    assert finder.locate("space.one").distribution == "space-one"
    assert (finder.locate("space.two.deep").distribution, finder.locate("space.two.deep").version) == (
        "space-two",
        "2.0",
    )
    assert finder.locate("space.mine").origin == "workspace"
    assert finder.locate("space.three") is None
    assert finder.import_open("space.three") is None


@pytest.mark.parametrize(
    "text",
    [
        "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n",
        "__import__('pkg_resources').declare_namespace(__name__)\n",
    ],
)
def test_a_legacy_namespace_over_two_folders(lab, text):
    lab.venv()
    more = lab.folder / "more"
    write_files(lab.site(), {"old/__init__.py": text, "old/one.py": "", "more.pth": f"{more}\n"})
    write_files(more, {"old/__init__.py": text, "old/two.py": ""})
    finder = lab.finder()
    assert finder.locate("old.one") is not None
    assert finder.locate("old.two").path == str(more / "old/two.py")
    assert finder.submodules("old") == {"one", "two"}


def test_two_regular_packages_do_not_merge(lab):
    lab.venv()
    more = lab.folder / "more"
    write_files(lab.site(), {"old/__init__.py": "", "more.pth": f"{more}\n"})
    write_files(more, {"old/__init__.py": "", "old/two.py": ""})
    assert lab.finder().locate("old.two") is None


# -- compiled --------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX extension modules")
@pytest.mark.parametrize(
    ("file", "found"),
    [
        (f"fast.{TAG}.so", True),
        ("fast.abi3.so", True),
        ("fast.so", True),
        ("fast.cpython-27-x86_64-linux-gnu.so", False),
        ("fast.pypy39-pp73-x86_64-linux-gnu.so", False),
        ("fast.cp311-win_amd64.pyd", False),
        ("fast.pyc", True),
        ("fast.txt", False),
        ("faster.so", False),
    ],
)
def test_which_compiled_files_an_interpreter_loads(lab, file, found):
    lab.venv()
    write_files(lab.site(), {f"pkg/{file}": "", "pkg/__init__.py": ""})
    located = lab.finder().locate("pkg.fast")
    assert (located is not None) == found
    if located is not None and file.endswith(".so"):
        assert (located.kind, located.compiled) == ("extension", True)
        assert "fast" in lab.finder().submodules("pkg")


@pytest.mark.skipif(sys.platform == "win32", reason="names of POSIX extension modules")
def test_a_compiled_module_with_its_source_beside_it_is_read_from_the_source(lab):
    lab.venv()
    write_files(lab.site(), {f"pkg/fast.{TAG}.so": "", "pkg/fast.py": "", "pkg/__init__.py": ""})
    located = lab.finder().locate("pkg.fast")
    assert (located.kind, located.path) == ("source", str(lab.site() / "pkg/fast.py"))


def test_builtins_and_names_that_only_sys_modules_knows(lab):
    lab.venv()
    finder = lab.finder()
    assert finder.locate("builtins").kind == "builtin"
    assert finder.locate("__main__") is not None
    assert finder.locate("os.path").path == finder.locate("posixpath").path
    assert finder.locate("xml.parsers.expat.errors").kind == "builtin"
    assert finder.locate("sys.path") is None
    assert finder.import_open("sys.path") is None
    assert (finder.locate("typing.io") is not None) == (sys.version_info < (3, 13))


def test_a_zip_on_the_path_is_seen_and_open(lab):
    lab.venv()
    egg = lab.site() / "packed-1.0-py3.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        archive.writestr("packed/__init__.py", "")
        archive.writestr("packed/part.py", "")
        archive.writestr("EGG-INFO/PKG-INFO", "Metadata-Version: 1.0\nName: packed\nVersion: 1.0\n\n")
    write_files(lab.site(), {"easy-install.pth": "./packed-1.0-py3.egg\n"})
    finder = lab.finder()
    assert [finder.locate(name).kind for name in ("packed", "packed.part")] == ["zip", "zip"]
    assert finder.locate("packed").path is None
    assert finder.locate("packed.other") is None
    assert finder.import_open("packed.other") == "packed lies in a zip file"
    assert "part" in finder.submodules("packed")


# -- stubs -----------------------------------------------------------------------------------


def test_a_stub_beside_the_source(lab):
    lab.venv()
    write_files(lab.site(), {"pkg/__init__.py": "", "pkg/__init__.pyi": "", "pkg/a.py": "", "pkg/a.pyi": ""})
    finder = lab.finder()
    assert finder.locate("pkg").stub_path == str(lab.site() / "pkg/__init__.pyi")
    assert finder.locate("pkg.a").stub_path == str(lab.site() / "pkg/a.pyi")


def test_a_stub_package_comes_before_the_stub_beside(lab):
    lab.venv()
    lab.install(lab.site(), "pkg", "1.0", {"pkg/__init__.py": "", "pkg/__init__.pyi": "", "pkg/sub/b.py": ""})
    lab.install(
        lab.site(),
        "types-pkg",
        "1.1",
        {"pkg-stubs/__init__.pyi": "", "pkg-stubs/sub/b.pyi": "", "pkg-stubs/c.pyi": ""},
    )
    finder = lab.finder()
    located = finder.locate("pkg")
    assert located.stub_path == str(lab.site() / "pkg-stubs/__init__.pyi")
    assert (located.distribution, located.version, located.partial_stub) == ("pkg", "1.0", False)
    assert finder.locate("pkg.sub.b").stub_path == str(lab.site() / "pkg-stubs/sub/b.pyi")
    only = finder.locate("pkg.c")
    assert (only.kind, only.importable, only.path) == ("stub", False, None)


def test_a_partial_stub_package(lab):
    lab.venv()
    write_files(
        lab.site(),
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "",
            "pkg/a.pyi": "",
            "pkg/b.py": "",
            "pkg-stubs/__init__.pyi": "",
            "pkg-stubs/b.pyi": "",
            "pkg-stubs/py.typed": "partial\n",
        },
    )
    finder = lab.finder()
    assert (finder.locate("pkg.b").stub_path, finder.locate("pkg.b").partial_stub) == (
        str(lab.site() / "pkg-stubs/b.pyi"),
        True,
    )
    assert (finder.locate("pkg.a").stub_path, finder.locate("pkg.a").partial_stub) == (
        str(lab.site() / "pkg/a.pyi"),
        False,
    )


def test_a_stub_package_without_the_package_is_not_importable(lab):
    lab.venv()
    write_files(lab.site(), {"ghost-stubs/__init__.pyi": "", "ghost-stubs/sub.pyi": ""})
    finder = lab.finder()
    assert finder.locate("ghost").importable is False
    assert finder.locate("ghost.sub").importable is False
    assert "ghost" not in finder.submodules("")


def test_a_stub_only_module_inside_of_a_package(lab):
    lab.venv()
    write_files(lab.site(), {"pkg/__init__.py": "", "pkg/_types.pyi": ""})
    finder = lab.finder()
    assert finder.locate("pkg._types").kind == "stub"
    assert finder.submodules("pkg") == frozenset()


def test_the_standard_library_has_stubs_of_its_own_version(lab):
    lab.venv()
    finder = lab.finder()
    folder = typeshed.bundled().folder
    assert finder.locate("json.decoder").stub_path == os.path.join(folder, "json", "decoder.pyi")
    assert finder.locate("_typeshed").kind == "stub"
    assert finder.locate("winreg" if sys.platform != "win32" else "fcntl").kind == "stub"


def test_without_typeshed_the_sources_have_to_do(lab, monkeypatch):
    monkeypatch.setattr(typeshed, "bundled", lambda: None)
    assert typeshed.unavailable() == typeshed.MISSING_MESSAGE
    lab.venv()
    finder = lab.finder()
    assert finder.locate("json").stub_path is None
    assert finder.locate("json").kind == "source"
    assert finder.locate("_typeshed") is None


# -- described environments ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "version", "kind"),
    [
        ("asyncore", (3, 11), "assumed"),
        ("asyncore", (3, 12), None),
        ("tomllib", (3, 10), None),
        ("tomllib", (3, 11), "assumed"),
        ("distutils.util", (3, 11), "assumed"),
        ("distutils.util", (3, 12), None),
        ("email.mime.text", (3, 6), "assumed"),
        ("email.nothing", (3, 11), None),
        ("sys", (3, 9), "builtin"),
        ("os.path", (3, 9), "assumed"),
        ("_typeshed", (3, 11), "stub"),
        ("zoneinfo", (3, 8), None),
        ("no_such_module", (3, 11), None),
    ],
)
def test_the_standard_library_of_another_version(name, version, kind):
    finder = described(version=version)
    located = finder.locate(name)
    assert (located.kind if located else None) == kind
    if kind is not None:
        assert located.origin == "stdlib"
        assert located.stub_path


def test_an_unlisted_module_of_a_described_standard_library_stays_open():
    finder = described()
    assert finder.locate("email.nothing") is None
    assert finder.import_open("email.nothing") is not None
    assert finder.import_open("no_such_module") is None


def test_an_unpacked_wheel_for_another_python(lab):
    site = lab.folder / "unpacked"
    lab.install(site, "thing", "0.1", {"thing/__init__.py": "", "thing/core.cpython-36m-x86_64-linux-gnu.so": ""})
    finder = described(site, version=(3, 6), platform="linux")
    located = finder.locate("thing")
    assert (located.origin, located.distribution, located.version) == ("third-party", "thing", "0.1")
    assert finder.locate("thing.core").kind == "extension"
    assert described(site, version=(3, 9), platform="linux").locate("thing.core") is None
    assert {"thing", "os"} <= finder.submodules("")
    assert "mime" in finder.submodules("email")


def test_unknown_builtins_are_assumed_not_denied(lab):
    """In an untrusted workspace nobody asks the interpreter what is compiled into it."""
    stdlib = lab.folder / "lib"
    write_files(stdlib, {"os.py": "", "json/__init__.py": ""})
    environment = Environment(
        python="/x/python", version=(3, 11, 0), search=(PathEntry(str(stdlib), "stdlib"),), platform="linux"
    )
    finder = Finder(environment)
    assert finder.locate("math").kind == "assumed"
    assert finder.locate("asyncore") is not None  # 3.11 has it
    assert finder.locate("no_such_module") is None


# -- distributions ---------------------------------------------------------------------------


def test_distributions_by_their_metadata(lab):
    lab.venv()
    lab.install(lab.site(), "PyYAML", "6.0", {"yaml/__init__.py": "", "_yaml/__init__.py": ""})
    lab.install(lab.site(), "six", "1.16", {"six.py": ""})
    write_files(
        lab.site(),
        {
            "Old_Egg-1.2-py3.9.egg-info/PKG-INFO": "Metadata-Version: 1.0\nName: Old.Egg\nVersion: 1.2\n\n",
            "Old_Egg-1.2-py3.9.egg-info/top_level.txt": "oldegg\n",
            "oldegg/__init__.py": "",
            "bare/__init__.py": "",
        },
    )
    finder = lab.finder()

    def owner(name):
        found = finder.distribution_of(name)
        return (found.name, found.version) if found else None

    assert owner("yaml") == ("PyYAML", "6.0")
    assert owner("six") == ("six", "1.16")
    assert owner("oldegg") == ("Old.Egg", "1.2")
    assert owner("bare") is None
    assert owner("json") is None
    assert owner("no_such_module") is None
    assert finder.import_names("pyyaml") == {"yaml", "_yaml"}
    assert finder.installed("py-yaml") is None
    assert finder.installed("old_egg").version == "1.2"


def test_what_installed_distributions_require(lab):
    lab.venv()
    metadata = "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\nRequires-Dist: Some_Dep>=2\n"
    metadata += "Requires-Dist: extra.dep; extra == 'x'\n\nRequires-Dist: not-me\n"
    write_files(
        lab.site(),
        {
            "thing-1.0.dist-info/METADATA": metadata,
            "old-1.0.egg-info/PKG-INFO": "Name: old\nVersion: 1.0\n\n",
            "old-1.0.egg-info/requires.txt": "six\n\n[extra]\nlxml>=3\n",
        },
    )
    finder = lab.finder()
    thing, required = finder.required_by("thing")
    assert (thing.name, thing.version) == ("thing", "1.0")
    assert required == {"some-dep", "extra-dep"}
    assert finder.required_by("old.part")[1] == {"six", "lxml"}
    assert finder.required_by("nobody") is None


def test_the_same_distribution_twice_counts_once(lab):
    lab.venv()
    lab.install(lab.site(), "thing", "1.0", {"thing/__init__.py": ""})
    lab.install(lab.site(), "thing", "2.0", {"thing/__init__.py": ""})
    assert lab.finder().locate("thing").distribution == "thing"


# -- openness --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("import sys\nsys.modules['pkg.made'] = object()\n", True),
        ("import sys\nsys.modules[__name__ + '.made'] = object()\n", True),
        ("__path__.append('/elsewhere')\n", True),
        ("__path__ = ['/elsewhere']\n", True),
        ("import sys\nsys.meta_path.append(object())\n", True),
        ("import sys\nif sys.modules['pkg'] == 1: pass\n", False),
        ("import sys\nsys.modules[__name__] = object()\n", False),
        ("x = 1\n", False),
    ],
)
def test_packages_that_make_their_submodules(lab, text, is_open):
    lab.venv()
    write_files(lab.site(), {"pkg/__init__.py": text})
    finder = lab.finder()
    assert finder.locate("pkg.made") is None
    assert (finder.import_open("pkg.made") is not None) == is_open


def test_import_hooks_of_some_names_only():
    environment = Environment(
        python=None, version=(3, 11, 0), open_imports=(OpenImport("built on import", ("thing",)),)
    )
    finder = Finder(environment)
    assert finder.import_open("thing.part") == "built on import"
    assert finder.import_open("other") is None


def test_scripts_find_their_siblings(lab):
    lab.venv()
    write_files(
        lab.workspace,
        {
            "tools/run.py": "",
            "tools/helper.py": "",
            "pkg/__init__.py": "",
            "pkg/sibling.py": "",
            "tools/attr.py": "",
        },
    )
    write_files(lab.site(), {"attr/__init__.py": ""})
    roots = Roots((str(lab.workspace),), (str(lab.workspace / "tools"),), (str(lab.workspace / "pkg"),))
    finder = Finder(lab.find(), roots)
    assert finder.locate("helper").path == str(lab.workspace / "tools/helper.py")
    assert finder.locate("helper").origin == "workspace"
    assert finder.locate("attr").path == str(lab.site() / "attr/__init__.py")
    assert finder.locate("attr").also == (str(lab.workspace / "tools/attr.py"),)
    assert finder.locate("sibling") is None
    assert "a script there can import" in finder.import_open("sibling")
    assert finder.import_open("stranger") is None


def test_two_projects_of_a_repository_with_one_name(lab):
    lab.venv()
    write_files(lab.workspace, {"a/app/__init__.py": "", "b/app/__init__.py": "", "b/app/only.py": ""})
    finder = lab.finder("a", "b", ".")
    located = finder.locate("app")
    assert located.path == str(lab.workspace / "a/app/__init__.py")
    assert located.also == (str(lab.workspace / "b/app/__init__.py"),)
    assert finder.locate("app.only") is None
    assert "may also be" in finder.import_open("app.only")
    assert finder.module_of(str(lab.workspace / "b/app/only.py")) == "b.app.only"


def test_vendored_packages_count_as_scripts_do(lab):
    lab.venv()
    write_files(lab.workspace, {"pkg/_vendor/space/part/__init__.py": "", "pkg/_vendor/data/x.txt": ""})
    finder = lab.finder(scripts=("pkg/_vendor",))
    assert finder.locate("space").kind == "namespace"
    assert finder.locate("space.part").origin == "workspace"
    assert finder.locate("data") is None


# -- names of files --------------------------------------------------------------------------


def test_names_of_files(lab):
    lab.venv()
    write_files(
        lab.workspace,
        {
            "src/pkg/__init__.py": "",
            "src/pkg/mod.py": "",
            "src/pkg/mod.pyi": "",
            "tool.py": "",
            "my-scripts/job.py": "",
            "my-scripts/not-a-name.py": "",
            "os.py": "",
        },
    )
    finder = lab.finder("src", ".", scripts=("my-scripts",))

    def name(path):
        return finder.module_of(str(lab.workspace / path))

    assert name("src/pkg/__init__.py") == "pkg"
    assert name("src/pkg/mod.py") == "pkg.mod"
    assert name("src/pkg/mod.pyi") == "pkg.mod"
    assert name("tool.py") == "tool"
    assert name("my-scripts/job.py") == "job"
    assert name("my-scripts/not-a-name.py") is None
    assert name("os.py") is None  # nobody can import it
    assert finder.module_of("/elsewhere/x.py") is None
    assert finder.module_of(finder.locate("json").path) == "json"


# -- changes ---------------------------------------------------------------------------------


def test_an_installation_is_noticed(lab):
    lab.venv()
    finder = lab.finder()
    assert finder.locate("thing") is None
    before = finder.stamp()
    assert finder.stamp() == before
    assert finder.refresh() is False
    time.sleep(0.02)
    lab.install(lab.site(), "thing", "1.0", {"thing/__init__.py": ""})
    assert finder.stamp() != before
    assert finder.refresh() is True
    assert finder.locate("thing").version == "1.0"
    assert finder.refresh() is False


def test_a_change_right_after_the_listing_is_not_lost(lab):
    lab.venv()
    finder = lab.finder()
    write_files(lab.workspace, {"a.py": ""})
    assert finder.locate("b") is None
    write_files(lab.workspace, {"b.py": ""})  # perhaps within the same tick of the file system's clock
    finder.refresh()
    assert finder.locate("b") is not None


def test_a_new_pth_file_changes_the_stamp(lab):
    lab.venv()
    finder = lab.finder()
    before = finder.stamp()
    time.sleep(0.02)
    write_files(lab.site(), {"x.pth": "/x\n"})
    assert finder.stamp() != before


def test_the_stamp_is_cheap(lab):
    lab.venv()
    finder = lab.finder()
    for name in sys.stdlib_module_names:
        finder.locate(name)
    start = time.perf_counter()
    for _ in range(20):
        finder.stamp()
    assert (time.perf_counter() - start) / 20 < 0.02


def test_the_interpreter_agrees_about_the_workspace(lab):
    """One layout with everything in it, against a real interpreter with the same path."""
    lab.venv()
    write_files(
        lab.workspace,
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "",
            "pkg/sub/b.py": "",
            "lone.py": "",
            "space/x.py": "",
            "both/__init__.py": "",
            "both.py": "",
        },
    )
    write_files(lab.site(), {"space/y.py": "", "lone/__init__.py": "", "third.py": ""})
    finder = lab.finder()
    names = ["pkg", "pkg.a", "pkg.sub", "pkg.sub.b", "lone", "space", "space.x", "space.y", "both", "third"]
    code = (
        "import importlib, sys\n"
        f"sys.path.insert(0, {str(lab.workspace)!r})\n"
        f"for n in {names!r}: print(getattr(importlib.import_module(n), '__file__', None))"
    )
    real = run(lab.python(), code, cwd=lab.folder).splitlines()
    assert [str(finder.locate(name).path) for name in names] == real
