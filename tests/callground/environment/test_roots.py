"""Source roots, names of files, declared distributions."""

from __future__ import annotations

import os

import pytest

from callground.environment.declared import declared_as, declared_distributions
from callground.environment.roots import find_roots, module_name, project_of
from environment_lab import write_files


def roots(folder, files, *, listed=True, extra=()):
    write_files(folder, files)
    python = [str(folder / name) for name in files if name.endswith(".py")] if listed else []
    found = find_roots(str(folder), python, extra)

    def relative(paths):
        return [os.path.relpath(path, folder).replace(os.sep, "/") for path in paths]

    return relative(found.primary), relative(found.scripts), relative(found.folders)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pkg/__init__.py": ""}, ["."]),
        ({"src/pkg/__init__.py": ""}, ["src", "."]),
        ({"lib/pkg/__init__.py": ""}, ["lib", "."]),
        ({"lib/__init__.py": ""}, ["."]),
        ({"setup.cfg": "[options]\npackage_dir =\n    = code\n", "code/pkg/__init__.py": ""}, ["code", "."]),
        ({"setup.cfg": "[options.packages.find]\nwhere = code\n", "code/pkg/__init__.py": ""}, ["code", "."]),
        ({"setup.py": "setup(package_dir={'': 'code'})", "code/pkg/__init__.py": ""}, ["code", "."]),
        ({"setup.py": "setup(packages=find_packages('code'))", "code/pkg/__init__.py": ""}, ["code", "."]),
        (
            {
                "pyproject.toml": '[tool.setuptools]\npackage-dir = {"" = "code"}\n',
                "code/pkg/__init__.py": "",
            },
            ["code", "."],
        ),
        (
            {
                "pyproject.toml": '[tool.setuptools.package-dir]\npkg = "code/pkg"\n',
                "code/pkg/__init__.py": "",
            },
            ["code", "."],
        ),
        (
            {
                "pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["code"]\n',
                "code/pkg/__init__.py": "",
            },
            ["code", "."],
        ),
        (
            {
                "pyproject.toml": '[tool.poetry]\npackages = [{include = "pkg", from = "code"}]\n',
                "code/pkg/__init__.py": "",
            },
            ["code", "."],
        ),
        (
            {
                "pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["a/one", "b/two"]\n',
                "a/one/__init__.py": "",
                "b/two/__init__.py": "",
            },
            ["a", "b", "."],
        ),
        (
            {"pyproject.toml": '[tool.maturin]\npython-source = "code"\n', "code/pkg/__init__.py": ""},
            ["code", "."],
        ),
        (
            {
                "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["code"]\n',
                "code/pkg/__init__.py": "",
            },
            ["code", "."],
        ),
        ({"pyproject.toml": "not = valid = toml"}, ["."]),
        ({"pyproject.toml": '[tool.setuptools]\npackage-dir = "nonsense"\n'}, ["."]),
        # A package is no root, even if a tool's setting says so: its modules would have two names.
        ({"pyproject.toml": '[tool.ruff]\nsrc = ["pkg"]\n', "pkg/__init__.py": ""}, ["."]),
    ],
)
def test_primary_roots(tmp_path, files, expected):
    assert roots(tmp_path, files)[0] == expected


def test_roots_that_the_settings_add_come_first(tmp_path):
    assert roots(tmp_path, {"plugins/x.py": "", "src/a.py": ""}, extra=["plugins"])[0] == [
        "plugins",
        "src",
        ".",
    ]


def test_nested_projects_and_workspace_members(tmp_path):
    primary, _, _ = roots(
        tmp_path,
        {
            "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["packages/old"]\n',
            "packages/one/pyproject.toml": "",
            "packages/one/src/one/__init__.py": "",
            "packages/two/pyproject.toml": "",
            "packages/two/two/__init__.py": "",
            "packages/old/pyproject.toml": "",
            "packages/notes/text.txt": "",
            "services/api/setup.py": "",
            "services/api/api/__init__.py": "",
        },
    )
    assert set(primary) == {
        "packages/one/src",
        "packages/one",
        "packages/two",
        "services/api",
        ".",
    }


def test_members_are_known_before_any_file_is_listed(tmp_path):
    primary, _, _ = roots(
        tmp_path,
        {
            "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
            "packages/one/pyproject.toml": "",
            "packages/one/src/one/__init__.py": "",
        },
        listed=False,
    )
    assert primary == ["packages/one/src", "packages/one", "."]


def test_folders_of_scripts_and_of_tests(tmp_path):
    _, scripts, folders = roots(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/sub/__init__.py": "",
            "tests/conftest.py": "",
            "tests/unit/test_x.py": "",
            "examples/demo/app/__init__.py": "",
            "tools/run.py": "",
        },
    )
    # tests/ and tests/unit without __init__.py: pytest puts each on the path.
    assert scripts == ["examples/demo", "tests", "tests/unit", "tools"]
    assert folders == ["examples/demo/app", "pkg", "pkg/sub"]


def test_names_by_place(tmp_path):
    found = find_roots(str(tmp_path), [])
    write_files(tmp_path, {"src/pkg/mod.py": "", "src/pkg/__init__.py": "", "top.py": ""})
    found = find_roots(str(tmp_path), [])
    assert module_name(str(tmp_path / "src/pkg/mod.py"), found) == "pkg.mod"
    assert module_name(str(tmp_path / "src/pkg/__init__.py"), found) == "pkg"
    assert module_name(str(tmp_path / "top.py"), found) == "top"
    assert module_name(str(tmp_path / "not-a-name.py"), found) is None
    assert module_name("/elsewhere/x.py", found) is None


def test_the_project_of_a_file(tmp_path):
    write_files(tmp_path, {"a/pyproject.toml": "", "a/deep/x.py": "", "b/x.py": ""})
    assert project_of(str(tmp_path / "a/deep/x.py"), str(tmp_path)) == str(tmp_path / "a")
    assert project_of(str(tmp_path / "b/x.py"), str(tmp_path)) == str(tmp_path)
    assert project_of("/elsewhere/x.py", str(tmp_path)) == str(tmp_path)


# -- what is declared ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"pyproject.toml": "[project]\ndependencies = [\"Requests[socks]>=2; python_version>'3'\"]\n"},
            ["requests"],
        ),
        ({"pyproject.toml": '[project.optional-dependencies]\ndev = ["a_b.c==1"]\n'}, ["a-b-c"]),
        ({"pyproject.toml": '[dependency-groups]\ntest = ["pytest", {include-group = "x"}]\n'}, ["pytest"]),
        (
            {"pyproject.toml": '[build-system]\nrequires = ["setuptools>=61", "numpy @ https://x"]\n'},
            ["numpy", "setuptools"],
        ),
        (
            {
                "pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.9"\nflask = "*"\n'
                '[tool.poetry.group.dev.dependencies]\nblack = {version = "1"}\n'
            },
            ["black", "flask"],
        ),
        (
            {"requirements.txt": "# c\nflask==2  # x\n-e .\n--index-url http://x\nDjango>=3\n"},
            ["django", "flask"],
        ),
        ({"requirements-dev.txt": "-r more.txt\npytest\n", "more.txt": "attrs\n"}, ["attrs", "pytest"]),
        ({"requirements/base.txt": "celery\n", "requirements/test.in": "mock\n"}, ["celery", "mock"]),
        ({"requirements.txt": "-e git+https://x/y.git#egg=the_egg\n-r requirements.txt\n"}, ["the-egg"]),
        (
            {"setup.cfg": "[options]\ninstall_requires =\n    six\n[options.extras_require]\nx = lxml\n"},
            ["lxml", "six"],
        ),
        (
            {"setup.py": "setup(install_requires=['six>=1', \"lxml\"], extras_require={'a': ['b']})"},
            ["b", "lxml", "six"],
        ),
        ({"Pipfile": '[packages]\nflask = "*"\n[dev-packages]\npytest = "*"\n'}, ["flask", "pytest"]),
        (
            {"environment.yml": "name: x\ndependencies:\n  - python=3.9\n  - numpy=1.2\n  - pip:\n    - flask\n"},
            ["flask", "numpy"],
        ),
        ({"pyproject.toml": "broken"}, []),
        ({}, []),
    ],
)
def test_declared_distributions(tmp_path, files, expected):
    write_files(tmp_path, files)
    assert sorted(declared_distributions(str(tmp_path))) == expected


@pytest.mark.parametrize(
    ("name", "declared", "expected"),
    [
        ("yaml", ["pyyaml"], "pyyaml"),
        ("PIL.Image", ["pillow"], "pillow"),
        ("dateutil", ["python-dateutil"], "python-dateutil"),
        ("google.cloud.storage", ["google-cloud-storage"], "google-cloud-storage"),
        ("my_thing.part", ["my-thing"], "my-thing"),
        ("requests", ["flask"], None),
        ("request", ["requests"], None),
    ],
)
def test_which_declared_distribution_an_import_means(name, declared, expected):
    assert declared_as(name, declared) == expected
