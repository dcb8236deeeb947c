"""One store of facts for all tests here."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALLGROUND_CACHE_DIR", str(folder))
        yield folder
