"""The stubs of the standard library."""

from __future__ import annotations

import os
import sys

import pytest

from callground.environment import typeshed
from callground.environment.typeshed import Typeshed
from environment_lab import write_files

VERSIONS = """
# a comment
both: 3.0-
gone: 3.0-3.11  # a comment
late: 3.12-
both.sub: 3.13-
broken
broken: x-y
"""


@pytest.fixture
def small(tmp_path):
    write_files(
        tmp_path,
        {
            "VERSIONS": VERSIONS,
            "both/__init__.pyi": "",
            "both/sub.pyi": "",
            "both/other.pyi": "",
            "gone.pyi": "",
            "late.pyi": "",
        },
    )
    return Typeshed(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "version", "listed"),
    [
        ("both", (3, 8), True),
        ("both.other", (3, 8), True),
        ("both.sub", (3, 12), False),
        ("both.sub", (3, 13), True),
        ("gone", (3, 11), True),
        ("gone", (3, 12), False),
        ("gone.anything", (3, 12), False),
        ("late", (3, 11), False),
        ("late", (3, 20), True),
        ("unknown", (3, 11), None),
        ("broken", (3, 11), None),
    ],
)
def test_versions(small, name, version, listed):
    assert small.listed(name, version) is listed


def test_paths(small, tmp_path):
    assert small.stub_path("both", (3, 8)) == str(tmp_path / "both/__init__.pyi")
    assert small.stub_path("both.other", (3, 8)) == str(tmp_path / "both/other.pyi")
    assert small.stub_path("both.sub", (3, 8)) is None
    assert small.stub_path("both.nothing", (3, 8)) is None
    assert small.submodules("both", (3, 12)) == {"other"}
    assert small.submodules("both", (3, 13)) == {"other", "sub"}
    assert small.submodules("", (3, 12)) == {"both", "late"}


def test_the_bundled_one_is_current_and_its_code_is_not_imported():
    bundled = typeshed.bundled()
    assert bundled is not None
    assert typeshed.unavailable() is None
    assert bundled.listed("asyncore", (3, 11)) is True
    assert bundled.listed("asyncore", (3, 12)) is False
    path = bundled.stub_path("collections.abc", (3, 12))
    assert path is not None
    assert os.path.isfile(path)
    assert "typeshed_client" not in sys.modules
